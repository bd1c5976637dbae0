/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands, in the order in which a new user needs them, and what other ranks do.
 *
 * bucketlab complete -- WORD...: what a shell can offer for the last word of a command line. The completions
 * of bash, zsh and fish ask it, so they have the same commands, options and values as --help.
 *
 * The first line is `words`, `nospace` (words that are not followed by a space), or a kind of file that the
 * shell completes itself: `files`, `folders`, `scenarios` or `databases`. Each further line is a word, a tab
 * and its description; after --OPTION= it is only the value. */
#include <inttypes.h>
#include <string.h>

#include "cli/base.h"
#include "lab/metric.h"
#include "lab/oracle.h"
#include "lab/setting.h"
#include "store/store.h"

#define TEXT_SIZE 1024

/* The word to complete: only what follows the head is compared. */
struct typed {
    const char *head, *tail;
};

static void offer(const struct typed *typed, const char *word, const char *about)
{
    char line[TEXT_SIZE];
    if (strncmp(word, typed->tail, strlen(typed->tail)) != 0)
        return;
    snprintf(line, sizeof line, "%s", about);
    for (char *c = line; *c != '\0'; c++)
        *c = *c == '\n' ? ' ' : *c;
    printf("%.*s%s\t%s\n", (int)(typed->tail - typed->head), typed->head, word, line);
}

static void offer_name(void *context, const char *name)
{
    offer(context, name, "");
}

/* The values of "open|closed|read" or "png|svg,...". */
static void offer_choices(struct typed typed, const char *choices)
{
    const char *comma = strrchr(typed.tail, ',');
    g_autofree char *plain = g_strndup(choices, strcspn(choices, ","));
    g_auto(GStrv) words = g_strsplit(plain, "|", -1);
    const bool is_list = strchr(choices, ',') != NULL;
    puts(is_list ? "nospace" : "words");
    if (is_list && comma != NULL)
        typed.tail = comma + 1;
    for (char **word = words; *word != NULL; word++)
        offer(&typed, *word, "");
}

static void offer_commands(const struct typed *typed, bool has_options)
{
    puts("words");
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++)
        offer(typed, cli_commands[i]->name, cli_commands[i]->summary);
    if (!has_options)
        return;
    offer(typed, "help", "print the options of a command");
    offer(typed, "--help", "list the commands");
    offer(typed, "--version", "print the version");
}

/* The settings for `--set`, which finds a strategy by its kind: "strategies.hash.buckets=". Groups, changes
 * and labels are left out. */
static void offer_settings(const struct typed *typed)
{
    puts("nospace");
    for (unsigned kind = 0; kind <= LAB_KIND_IDGEN; kind++) {
        for (size_t i = 0; i < lab_setting_count; i++) {
            const struct lab_setting *setting = &lab_setting_table[i];
            char word[TEXT_SIZE];
            if (setting->path == NULL || setting->type >= LAB_SETTING_WAIT ||
                setting->scopes == LAB_OF_CHANGE || (setting->kinds >> kind & 1) == 0)
                continue;
            snprintf(word, sizeof word, "strategies.%s.%s=", lab_kind_name((enum bk_kind)kind),
                     setting->path);
            offer(typed, word, "");
        }
    }
}

/* The runs of the database of --db. */
static void offer_runs(const struct typed *typed, char **words, int count)
{
    const char *database = "bucketlab.db";
    struct store *store;
    struct store_run_row *rows = NULL;
    size_t row_count = 0;
    struct sim_error ignored;
    for (int i = 0; i < count; i++) {
        if (strncmp(words[i], "--db=", 5) == 0)
            database = words[i] + 5;
        else if (strcmp(words[i], "--db") == 0 && i + 1 < count)
            database = words[i + 1];
    }
    puts("words");
    offer(typed, "last", "the newest run");
    if (!store_open(database, STORE_READ, &store, &ignored))
        return;
    if (store_list_runs(store, true, &rows, &row_count, &ignored)) {
        for (size_t i = 0; i < row_count; i++) {
            char number[24];
            snprintf(number, sizeof number, "%" PRId64, rows[i].run);
            offer(typed, number, rows[i].scenario_name);
        }
    }
    store_runs_free(rows, row_count);
    store_close(store);
}

static void offer_values(const struct cli_command *command, const struct cli_option *option,
                         struct typed typed, char **words, int count)
{
    static const char types[] = "text|blob|int|bigint|uuid|timeuuid|boolean|tinyint|smallint|timestamp|float|"
                                "double,...";
    const bool is_database = strcmp(option->name, "db") == 0 ||
                             (strcmp(option->name, "baseline") == 0 && strcmp(command->name, "check") == 0);
    if (strcmp(option->argument, "CONDITION") == 0) {
        puts("words");
        for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++)
            offer(&typed, lab_condition_name((enum lab_condition)i), "");
    } else if (strcmp(option->name, "metric") == 0) {
        puts("words");
        for (size_t i = 0; i < lab_metric_row_count; i++)
            lab_metric_names(&lab_metric_table[i], offer_name, &typed);
    } else if (strcmp(option->argument, "PATH=VALUE") == 0) {
        offer_settings(&typed);
    } else if (strcmp(command->name, "cql") == 0 && strcmp(option->name, "run") == 0) {
        offer_runs(&typed, words, count);
    } else if (strcmp(option->argument, "T,...") == 0) {
        offer_choices(typed, types);
    } else if (strcmp(option->argument, "any") == 0 || strchr(option->argument, '|') != NULL) {
        offer_choices(typed, option->argument);
    } else {
        puts(is_database                             ? "databases"
             : strcmp(option->argument, "FILE") == 0 ? "files"
             : strcmp(option->argument, "DIR") == 0  ? "folders"
                                                     : "words");
    }
}

static void offer_arguments(const struct cli_command *command, const struct typed *typed, char **words,
                            int count)
{
    const char *text = command->arguments;
    const char *kind = strstr(text, "SCENARIO") != NULL  ? "scenarios"
                       : strstr(text, "FILE.db") != NULL ? "databases"
                       : strstr(text, "FILE") != NULL    ? "files"
                                                         : "words";
    if (strcmp(kind, "words") == 0 && strstr(text, "RUN") != NULL)
        offer_runs(typed, words, count);
    else
        puts(kind);
}

/* The option whose value is the last word; NULL: it is none. Sets typed to the value. */
static const struct cli_option *option_of(const struct cli_command *command, char **words, int count,
                                          struct typed *typed)
{
    const char *last = words[count - 1], *equals = strncmp(last, "--", 2) == 0 ? strchr(last, '=') : NULL;
    const char *text = equals != NULL ? last : words[count - 2];
    if (strncmp(text, "--", 2) != 0 || (equals == NULL && strchr(text, '=') != NULL))
        return NULL;
    const size_t length = strcspn(text + 2, "=");
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        if (option->argument == NULL || strlen(option->name) != length ||
            strncmp(option->name, text + 2, length) != 0)
            continue;
        *typed = (struct typed){equals != NULL ? equals + 1 : last, equals != NULL ? equals + 1 : last};
        return option;
    }
    return NULL;
}

void cli_complete(int count, char **words)
{
    struct typed typed = {words[count - 1], words[count - 1]};
    const struct cli_command *command = NULL;
    bool is_closed = false;
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++)
        command = strcmp(cli_commands[i]->name, words[0]) == 0 ? cli_commands[i] : command;
    for (int i = 1; i + 1 < count; i++)
        is_closed = is_closed || strcmp(words[i], "--") == 0;
    if (count == 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
        offer_commands(&typed, count == 1);
        return;
    }
    const struct cli_option *option =
        command == NULL || is_closed ? NULL : option_of(command, words, count, &typed);
    if (command == NULL) {
        puts("words");
    } else if (option != NULL) {
        offer_values(command, option, typed, words + 1, count - 2);
    } else if (typed.tail[0] == '-' && !is_closed) {
        puts("words");
        for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
            g_autofree char *name = g_strconcat("--", option->name, NULL);
            offer(&typed, name, option->help);
        }
    } else {
        offer_arguments(command, &typed, words + 1, count - 2);
    }
}

const struct cli_command *const cli_commands[CLI_COMMAND_COUNT] = {
    &cli_init,   &cli_run,   &cli_why,    &cli_sweep,  &cli_merge, &cli_cql,   &cli_fuzz,  &cli_explore,
    &cli_judge,  &cli_odds,  &cli_tune,   &cli_check,  &cli_runs,  &cli_show,  &cli_diff,  &cli_report,
    &cli_import, &cli_watch, &cli_export, &cli_replay, &cli_ids,   &cli_trace, &cli_token, &cli_bucket_of};

lab_team_service *const cli_services[LAB_SERVICES] = {[LAB_SERVICE_KEYS] = lab_serve_keys,
                                                      [LAB_SERVICE_STRATEGIES] = lab_serve_strategies,
                                                      [LAB_SERVICE_JOBS] = cli_sweep_serve,
                                                      [LAB_SERVICE_SEEDS] = cli_campaign_serve};
