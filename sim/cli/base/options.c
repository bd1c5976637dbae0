/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a command's arguments by its table of options, and prints its --help from the same table. Options
 * may be shortened and stand anywhere before "--"; a negative number is no option. */
#define _POSIX_C_SOURCE 200809L
#include "cli/base.h"

#include <assert.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"

#define OPTIONS_MAX  64 /* the most options of a command */
#define LEFT_COLUMNS 19 /* width of an option in the help, unless it is longer */

struct cli_given {
    const struct cli_option *option;
    const char *value; /* NULL for a flag */
};

static const struct cli_option json_option = {"json", NULL, "JSON on stdout, and nothing else there"},
                               quiet_option = {"quiet", NULL, "no progress on stderr"},
                               help_option = {"help", NULL, "this text"};

const struct cli_option *cli_option_at(const struct cli_command *command, size_t index)
{
    const struct cli_option *const common[] = {&json_option, &quiet_option, &help_option, NULL};
    size_t own = 0;
    while (own < index && command->options[own].name != NULL)
        own++;
    if (command->options[own].name != NULL)
        return &command->options[own];
    return common[index - own + command->has_no_json];
}

/* The option with this name, or the only one that begins with it. */
static const struct cli_option *find_option(const struct cli_command *command, const char *name,
                                            struct sim_error *error)
{
    const struct cli_option *found = NULL, *other = NULL;
    const char *names[OPTIONS_MAX + 1];
    size_t count = 0;
    for (const struct cli_option *one; (one = cli_option_at(command, count)) != NULL;) {
        assert(count < OPTIONS_MAX);
        names[count++] = one->name;
        if (strcmp(one->name, name) == 0)
            return one;
        if (name[0] == '\0' || strncmp(one->name, name, strlen(name)) != 0)
            continue;
        other = found == NULL ? other : one;
        found = found == NULL ? one : found;
    }
    const char *near = sim_nearest(name, names, count);
    bool is_stored = false;
    for (size_t i = 0; i < count; i++)
        is_stored |= strcmp(names[i], "db") == 0;
    if (other != NULL)
        sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '--%s' may be '--%s' or '--%s'; write it out", name,
                 found->name, other->name);
    else if (found != NULL)
        return found;
    else if (is_stored && strcmp(name, "no-store") == 0)
        sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: '%s' has no option '--no-store', since it stores its run; use --db FILE to store "
            "it elsewhere",
            command->name);
    else if (near != NULL)
        sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '%s' has no option '--%s'; did you mean '--%s'?",
                 command->name, name, near);
    else
        sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '%s' has no option '--%s'; see 'bucketlab %s --help'",
                 command->name, name, command->name);
    return NULL;
}

/* Takes the option at argv[*at], and its value, which may be the next argument. */
static bool take_option(struct cli_args *args, char **argv, int *at, struct sim_error *error)
{
    const char *command = args->command->name, *text = argv[*at], *value = NULL;
    const bool is_long = text[1] == '-', is_out = text[1] == 'o';
    const struct cli_option *option = strcmp(text, "-h") == 0 ? &help_option : NULL;
    g_autofree char *name = is_long ? g_strndup(text + 2, strcspn(text + 2, "=")) : g_strdup("out");
    if (is_long || is_out)
        option = find_option(args->command, name, error);
    if (option == NULL || (is_out && option->argument == NULL))
        return is_long ? false
                       : sim_fail(error, SIM_ERROR_INPUT,
                                  "bucketlab: '%s' has no option '%s'; all options but -h and -o are long, "
                                  "see 'bucketlab %s --help'",
                                  command, text, command);
    if (is_long && strchr(text, '=') != NULL)
        value = strchr(text, '=') + 1;
    else if (is_out && text[2] != '\0')
        value = text + 2;
    if (option->argument == NULL && value != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s takes no value; write it without '='",
                        option->name);
    if (option->argument != NULL && value == NULL && (value = argv[++*at]) == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: %s%s needs a value (%s); see 'bucketlab %s --help'", is_out ? "-" : "--",
                        is_out ? "o" : option->name, option->argument, command);
    args->given[args->given_count++] = (struct cli_given){option, value};
    return true;
}

static bool take_all(struct cli_args *args, int argc, char **argv, struct sim_error *error)
{
    bool is_closed = false;
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        const bool is_option = text[0] == '-' && text[1] != '\0' && !g_ascii_isdigit(text[1]);
        if (!is_closed && strcmp(text, "--") == 0)
            is_closed = true;
        else if (is_closed || !is_option)
            args->arguments[args->count++] = text;
        else if (!take_option(args, argv, &i, error))
            return false;
    }
    return true;
}

/* Whether a name is one of "open|closed|read". */
static bool is_choice(const char *choices, const char *name, size_t length)
{
    for (size_t size; *choices != '\0' && *choices != ','; choices += size + (choices[size] == '|')) {
        size = strcspn(choices, "|,");
        if (size == length && memcmp(choices, name, size) == 0)
            return true;
    }
    return false;
}

static bool check_value(const struct cli_given *given, struct sim_error *error)
{
    const char *choices = given->option->argument, *value = given->value;
    if (choices == NULL || strchr(choices, '|') == NULL)
        return true;
    const bool is_list = strchr(choices, ',') != NULL;
    for (size_t size;; value += size + 1) {
        size = is_list ? strcspn(value, ",") : strlen(value);
        if (!is_choice(choices, value, size))
            break;
        if (value[size] == '\0')
            return true;
    }
    GString *list = g_string_new_len(choices, (gssize)strcspn(choices, ","));
    const char *last = strrchr(list->str, '|') + 1;
    g_autofree char *all = g_strdup_printf("%.*s or %s", (int)(last - 1 - list->str), list->str, last);
    g_string_assign(list, all);
    g_string_replace(list, "|", ", ", 0);
    sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: choose %s", given->option->name, given->value,
             list->str);
    g_string_free(list, TRUE);
    return false;
}

/* Checks "with --NAME: " at the beginning of the option's help. */
static bool check_partner(const struct cli_args *args, const struct cli_option *option,
                          struct sim_error *error)
{
    static const char with[] = "with --";
    if (strncmp(option->help, with, strlen(with)) != 0)
        return true;
    const char *name = option->help + strlen(with);
    g_autofree char *partner = g_strndup(name, strcspn(name, ":"));
    return cli_has(args, partner) ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --%s applies only with --%s; add --%s, or leave --%s out", option->name,
                    partner, partner, option->name);
}

static bool check_count(const struct cli_args *args, struct sim_error *error)
{
    const struct cli_command *command = args->command;
    if (args->count < command->least)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '%s' lacks an argument; write 'bucketlab %s %s'",
                        command->name, command->name, command->arguments);
    if (args->count > 0 && command->most == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' takes only options, and '%s' is not one; see 'bucketlab %s --help'",
                        command->name, args->arguments[0], command->name);
    for (size_t i = 0; cli_has(args, "json") && i < args->count; i++) {
        const char *file = args->arguments[i];
        if (g_str_has_suffix(file, ".json") && !g_file_test(file, G_FILE_TEST_EXISTS))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: no file '%s': --json writes to stdout; write '--json > FILE'", file);
    }
    return args->count <= command->most ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: '%s' takes at most %zu argument%s, and '%s' is one too many; "
                    "see 'bucketlab %s --help'",
                    command->name, command->most, command->most == 1 ? "" : "s",
                    args->arguments[command->most], command->name);
}

static bool read_common(struct cli_args *args, struct ranks *ranks, struct sim_error *error)
{
    uint64_t jobs = ranks_threads(ranks, 0);
    args->database = cli_value(args, "db", "bucketlab.db");
    args->is_json = cli_has(args, "json");
    args->is_quiet = cli_has(args, "quiet");
    if (args->database[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --db: no file named; write --db bucketlab.db");
    if (!cli_whole(args, "jobs", 1, RANKS_THREADS_MAX, &jobs, error))
        return false;
    args->jobs = (uint32_t)jobs;
    args->team = (struct lab_team){.ranks = ranks, .threads = cli_has(args, "jobs") ? args->jobs : 0};
    return true;
}

bool cli_args_parse(const struct cli_command *command, int argc, char **argv, struct ranks *ranks,
                    struct cli_args *out, struct sim_error *error)
{
    *out = (struct cli_args){
        .command = command, .given = g_new0(struct cli_given, argc), .arguments = g_new0(const char *, argc)};
    if (!take_all(out, argc, argv, error))
        return false;
    if (cli_has(out, "help"))
        return true;
    for (size_t i = 0; i < out->given_count; i++) {
        if (!check_value(&out->given[i], error) || !check_partner(out, out->given[i].option, error))
            return false;
    }
    return check_count(out, error) && read_common(out, ranks, error);
}

void cli_args_free(struct cli_args *args)
{
    g_free(args->given);
    g_free(args->arguments);
}

const char *cli_argument(const struct cli_args *args, size_t index)
{
    return index < args->count ? args->arguments[index] : NULL;
}

bool cli_has(const struct cli_args *args, const char *name)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, name) == 0)
            return true;
    }
    return false;
}

const char *cli_value(const struct cli_args *args, const char *name, const char *fallback)
{
    for (size_t i = args->given_count; i-- > 0;) {
        if (strcmp(args->given[i].option->name, name) == 0)
            return args->given[i].value;
    }
    return fallback;
}

const char *cli_value_at(const struct cli_args *args, const char *name, size_t index)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0)
            return args->given[i].value;
    }
    return NULL;
}

bool cli_chooses(const struct cli_args *args, const char *name, const char *value)
{
    const char *given;
    for (size_t i = 0; (given = cli_value_at(args, name, i)) != NULL; i++) {
        g_auto(GStrv) words = g_strsplit(given, ",", -1);
        if (g_strv_contains((const char *const *)words, value))
            return true;
    }
    return false;
}

bool cli_exclude(const struct cli_args *args, const char *one, const char *other, struct sim_error *error)
{
    return !cli_has(args, one) || !cli_has(args, other) ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --%s and --%s exclude each other; leave one of them out", one, other);
}

bool cli_whole_parse(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out,
                     struct sim_error *error)
{
    uint64_t value;
    const char *why = lab_quantity_whole(text, &value);
    if (why != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %s", name, text, why);
    if (value < least || value > most)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --%s %s: out of range; give a whole number from %" PRIu64 " to %" PRIu64,
                        name, text, least, most);
    *out = value;
    return true;
}

bool cli_whole(const struct cli_args *args, const char *name, uint64_t least, uint64_t most, uint64_t *out,
               struct sim_error *error)
{
    const char *text = cli_value(args, name, NULL);
    return text == NULL || cli_whole_parse(name, text, least, most, out, error);
}

bool cli_pair(const char *text, const char *between, uint64_t *first, uint64_t *second)
{
    g_auto(GStrv) parts = g_strsplit(text, between, 2);
    return g_strv_length(parts) == 2 && lab_quantity_whole(parts[0], first) == NULL &&
           lab_quantity_whole(parts[1], second) == NULL;
}

bool cli_duration(const struct cli_args *args, const char *name, int64_t least_ns, int64_t *out_ns,
                  struct sim_error *error)
{
    const char *text = cli_value(args, name, NULL);
    if (text == NULL)
        return true;
    const char *why = lab_quantity_duration(text, out_ns);
    if (why == NULL && *out_ns < least_ns)
        why = "too short; give at least 1ms, as in 10s";
    return why == NULL || sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %s", name, text, why);
}

bool cli_run_parse(const char *text, int64_t *out, struct sim_error *error)
{
    uint64_t value;
    *out = 0;
    if (strcmp(text, "last") == 0)
        return true;
    if (lab_quantity_whole(text, &value) != NULL || value == 0 || value > INT64_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' is not a run; give a number that 'bucketlab runs' lists, or 'last'",
                        text);
    *out = (int64_t)value;
    return true;
}

bool cli_overrides(const struct cli_args *args, struct lab_override **out, size_t *count,
                   struct sim_error *error)
{
    const char *text;
    *out = g_new0(struct lab_override, args->given_count + CLI_OVERRIDES_MORE);
    for (*count = 0; (text = cli_value_at(args, "set", *count)) != NULL; ++*count) {
        (*out)[*count].text = text;
        /* A run's overrides are stored one per line. */
        if (strchr(text, '\n') != NULL) {
            g_clear_pointer(out, g_free);
            return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --set %s: a line break; write it as one line",
                            text);
        }
    }
    return true;
}

bool cli_fail_label(const char *where, const char *label, const char *const *labels, size_t count,
                    struct sim_error *error)
{
    g_autoptr(GString) list = g_string_new("");
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(list, "%s%s", i == 0 ? "" : ", ", labels[i]);
    const char *near = label == NULL ? NULL : sim_nearest(label, labels, count);
    if (label == NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: %s has several strategies; choose one of: %s",
                        where, list->str);
    return near != NULL
               ? sim_fail(error, SIM_ERROR_INPUT, "bucketlab: %s has no strategy '%s'; did you mean '%s'?",
                          where, label, near)
               : sim_fail(error, SIM_ERROR_INPUT, "bucketlab: %s has no strategy '%s'; it has: %s", where,
                          label, list->str);
}

static void print_option(const struct cli_option *option, FILE *stream)
{
    g_autofree char *left =
        g_strconcat("--", option->name, option->argument == NULL ? NULL : " ", option->argument, NULL);
    if (strlen(left) > LEFT_COLUMNS)
        fprintf(stream, "  %s\n%*s", left, LEFT_COLUMNS + 4, "");
    else
        fprintf(stream, "  %-*s  ", LEFT_COLUMNS, left);
    for (const char *c = option->help; *c != '\0'; c++) {
        fputc(*c, stream);
        if (*c == '\n')
            fprintf(stream, "%*s", LEFT_COLUMNS + 4, "");
    }
    fputc('\n', stream);
}

void cli_help(const struct cli_command *command, FILE *stream)
{
    fprintf(stream, "bucketlab %s: %s\n\nusage: bucketlab %s [OPTIONS]%s%s\n\noptions:\n", command->name,
            command->summary, command->name, command->arguments[0] == '\0' ? "" : " ", command->arguments);
    for (size_t i = 0; cli_option_at(command, i) != NULL; i++)
        print_option(cli_option_at(command, i), stream);
    fprintf(stream, "\nexample:\n%s", command->example);
}
