/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Determines which values a shell can complete: by the placeholder in the help, or from a list of a few
 * words. */
#include <assert.h>
#include <string.h>

#include "lab/metric.h"
#include "lab/oracle.h"
#include "lab/setting.h"
#include "manual.h"

struct rule {
    const char *command; /* NULL: any */
    const char *option;
    const char *argument;
    enum manual_offer offer;
    const char *words; /* words that all occur in the option's help or in its placeholder */
};

static const struct rule rules[] = {
    {NULL, "format", "F,...", MANUAL_LIST, "png svg pdf html"},
    {"import", "format", "F", MANUAL_WORDS, "sstablepartitions tablehistograms"},
    {"watch", "format", "F", MANUAL_WORDS, "sstablepartitions tablehistograms"},
    {"watch", "by", "UNIT", MANUAL_WORDS, "bytes rows"},
    {"run", "kinds", "K,...", MANUAL_LIST, "rows reads requests state faults violations"},
    {"run", "trace-format", "F", MANUAL_WORDS, "lines chrome record"},
    {"check", "digest", "exact|ignore", MANUAL_WORDS, "exact ignore"},
    {"export", "state", "S", MANUAL_WORDS, "closed open read all"},
    {"export", "unit", "U", MANUAL_WORDS, "rows bytes partitions"},
    {"token", "type", "T,...", MANUAL_LIST,
     "text blob int bigint uuid timeuuid boolean tinyint smallint timestamp float double"},
    {"tune", "probability", "any", MANUAL_WORDS, "any"},
    {"check", "baseline", "FILE", MANUAL_DATABASES, NULL},
    {"cql", "run", "N", MANUAL_RUNS, NULL},
    {NULL, "db", "FILE", MANUAL_DATABASES, NULL},
    {NULL, NULL, "FILE", MANUAL_FILES, NULL},
    {NULL, NULL, "DIR", MANUAL_FOLDERS, NULL},
};
#define RULE_COUNT (sizeof rules / sizeof rules[0])

static bool applies(const struct rule *rule, const struct cli_command *command,
                    const struct cli_option *option)
{
    return option->argument != NULL && strcmp(rule->argument, option->argument) == 0 &&
           (rule->option == NULL || strcmp(rule->option, option->name) == 0) &&
           (rule->command == NULL || strcmp(rule->command, command->name) == 0);
}

static void list_conditions(char words[MANUAL_WORDS_SIZE])
{
    size_t used = 0;
    for (unsigned i = 0; i < LAB_CONDITION_COUNT && used < MANUAL_WORDS_SIZE; i++)
        used += (size_t)snprintf(words + used, MANUAL_WORDS_SIZE - used, "%s%s", i == 0 ? "" : " ",
                                 lab_condition_name((enum lab_condition)i));
}

static void add_word(void *context, const char *word)
{
    char *words = context;
    size_t used = strlen(words);
    int length = snprintf(words + used, MANUAL_WORDS_SIZE - used, "%s%s", used == 0 ? "" : " ", word);
    assert((size_t)length < MANUAL_WORDS_SIZE - used);
}

static void list_metrics(char words[MANUAL_WORDS_SIZE])
{
    for (size_t i = 0; i < lab_metric_row_count; i++)
        lab_metric_names(&lab_metric_table[i], add_word, words);
}

/* Lists the settings for `--set`, which finds a strategy by its kind: "strategies.hash.buckets=". Groups,
 * changes and labels are left out. */
static void list_settings(char words[MANUAL_WORDS_SIZE])
{
    for (unsigned kind = 0; kind <= LAB_KIND_IDGEN; kind++) {
        for (size_t i = 0; i < lab_setting_count; i++) {
            const struct lab_setting *setting = &lab_setting_table[i];
            char word[MANUAL_TEXT_SIZE];
            if (setting->path == NULL || setting->type >= LAB_SETTING_WAIT ||
                setting->scopes == LAB_OF_CHANGE || (setting->kinds >> kind & 1) == 0)
                continue;
            snprintf(word, sizeof word, "strategies.%s.%s=", lab_kind_name((enum bk_kind)kind),
                     setting->path);
            add_word(words, word);
        }
    }
}

enum manual_offer manual_offer_of(const struct cli_command *command, const struct cli_option *option,
                                  char words[MANUAL_WORDS_SIZE])
{
    words[0] = '\0';
    if (option->argument == NULL)
        return MANUAL_NOTHING;
    if (strcmp(option->argument, "CONDITION") == 0) {
        list_conditions(words);
        return MANUAL_WORDS;
    }
    if (strcmp(option->name, "metric") == 0) {
        list_metrics(words);
        return MANUAL_WORDS;
    }
    if (strcmp(option->argument, "PATH=VALUE") == 0) {
        list_settings(words);
        return MANUAL_FIELDS;
    }
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (!applies(&rules[i], command, option))
            continue;
        if (rules[i].words != NULL)
            snprintf(words, MANUAL_WORDS_SIZE, "%s", rules[i].words);
        return rules[i].offer;
    }
    return MANUAL_NOTHING;
}

enum manual_offer manual_offer_of_arguments(const struct cli_command *command)
{
    const char *text = command->arguments;
    return strstr(text, "SCENARIO") != NULL  ? MANUAL_SCENARIOS
           : strstr(text, "FILE.db") != NULL ? MANUAL_DATABASES
           : strstr(text, "FILE") != NULL    ? MANUAL_FILES
           : strstr(text, "RUN") != NULL     ? MANUAL_RUNS
                                             : MANUAL_NOTHING;
}

const char *manual_offer_name(enum manual_offer offer)
{
    static const char *const names[] = {"nothing", "words",     "list",      "fields", "files",
                                        "folders", "scenarios", "databases", "runs"};
    return names[offer];
}

static bool check_words(const struct rule *rule, const struct cli_option *option)
{
    bool is_fine = true;
    for (const char *word = rule->words; word != NULL && *word != '\0';) {
        char one[32];
        size_t length = strcspn(word, " ");
        snprintf(one, sizeof one, "%.*s", (int)length, word);
        if (strstr(option->help, one) == NULL && strstr(option->argument, one) == NULL) {
            fprintf(stderr, "--%s is to be completed by '%s', of which its help says nothing\n", option->name,
                    one);
            is_fine = false;
        }
        word += length + (word[length] == ' ');
    }
    return is_fine;
}

static bool check_rule(const struct rule *rule)
{
    bool is_met = false, is_fine = true;
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        for (const struct cli_option *option = cli_commands[i]->options; option->name != NULL; option++) {
            if (!applies(rule, cli_commands[i], option))
                continue;
            is_met = true;
            is_fine = check_words(rule, option) && is_fine;
        }
    }
    if (!is_met)
        fprintf(stderr, "no command has the option '%s %s' that is to be completed\n",
                rule->option == NULL ? "any" : rule->option, rule->argument);
    return is_met && is_fine;
}

bool manual_offers_check(void)
{
    bool is_fine = true;
    for (size_t i = 0; i < RULE_COUNT; i++)
        is_fine = check_rule(&rules[i]) && is_fine;
    return is_fine;
}

bool manual_is_repeatable(const struct cli_option *option)
{
    return strstr(option->help, "repeatable") != NULL;
}

void manual_help_line(const struct cli_option *option, char buffer[MANUAL_TEXT_SIZE])
{
    snprintf(buffer, MANUAL_TEXT_SIZE, "%s", option->help);
    for (char *c = buffer; *c != '\0'; c++) {
        if (*c == '\n')
            *c = ' ';
    }
}

void manual_escape(const char *text, const char *special, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (strchr(special, *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
}
