/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a command's arguments, and prints its --help from the same table of options. */
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"

#include <assert.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"

#define OPTIONS_MAX  64 /* the most options of a command */
#define LEFT_COLUMNS 19 /* width of an option in the help, unless it is longer */

struct given {
    const struct cli_option *option;
    const char *value; /* NULL for a flag */
};

struct cli_args {
    const struct cli_command *command;
    struct given *given;
    size_t given_count;
    const char **arguments;
    size_t argument_count;
    char **argv; /* a copy in which negative numbers are hidden from getopt */
    char *hidden;
    size_t hidden_size;
    struct ranks *ranks;
};

/* getopt interprets "-5" as an option, but it may be a value, as of `token --type int`. Such arguments are
 * copied with a space before them, which revealed() removes. */
static bool hide_negative_numbers(struct cli_args *args, int argc, char **argv)
{
    size_t size = 1;
    for (int i = 1; i < argc; i++)
        size += strlen(argv[i]) + 2;
    args->argv = calloc((size_t)argc + 1, sizeof *args->argv);
    args->hidden = malloc(size);
    if (args->argv == NULL || args->hidden == NULL)
        return false;
    for (int i = 0; i < argc; i++) {
        args->argv[i] = argv[i];
        if (i == 0 || argv[i][0] != '-' || argv[i][1] < '0' || argv[i][1] > '9')
            continue;
        char *copy = args->hidden + args->hidden_size;
        size_t length = strlen(argv[i]) + 1;
        copy[0] = ' ';
        memcpy(copy + 1, argv[i], length);
        args->hidden_size += length + 1;
        args->argv[i] = copy;
    }
    return true;
}

static const char *revealed(const struct cli_args *args, const char *text)
{
    for (size_t at = 0; at < args->hidden_size; at += strlen(args->hidden + at) + 1) {
        if (text == args->hidden + at)
            return text + 1;
    }
    return text;
}

static bool unknown_option(const struct cli_args *args, const char *text, struct sim_error *error)
{
    const char *name = args->command->name;
    if (strncmp(text, "--", 2) != 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' has no option '%s'; all options but -h and -o are long, see "
                        "'bucketlab %s --help'",
                        name, text, name);
    char word[64];
    snprintf(word, sizeof word, "%s", text + 2);
    word[strcspn(word, "=")] = '\0';
    const char *first = NULL, *names[OPTIONS_MAX + 1];
    size_t count = 0;
    for (const struct cli_option *option = args->command->options; option->name != NULL; option++) {
        assert(count < OPTIONS_MAX);
        names[count++] = option->name;
        if (word[0] == '\0' || strncmp(option->name, word, strlen(word)) != 0)
            continue;
        if (first != NULL)
            return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '--%s' may be '--%s' or '--%s'; write it out",
                            word, first, option->name);
        first = option->name;
    }
    names[count++] = "help";
    const char *near = sim_nearest(word, names, count);
    if (near != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '%s' has no option '--%s'; did you mean '--%s'?",
                        name, word, near);
    return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '%s' has no option '--%s'; see 'bucketlab %s --help'",
                    name, word, name);
}

static size_t option_count(const struct cli_command *command)
{
    size_t count = 0;
    while (command->options[count].name != NULL)
        count++;
    return count;
}

/* The option for which -o is the short form; NULL: the command writes no files. */
static const struct cli_option *out_option(const struct cli_command *command)
{
    const struct cli_option *option = command->options;
    while (option->name != NULL && strcmp(option->name, "out") != 0)
        option++;
    return option->name == NULL ? NULL : option;
}

static bool take_options(struct cli_args *args, int argc, struct sim_error *error)
{
    static const struct cli_option help = {"help", NULL, NULL};
    const struct cli_option *out = out_option(args->command);
    enum { FIRST = 256 };
    size_t count = option_count(args->command);
    struct option *table = calloc(count + 2, sizeof *table);
    if (table == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        table[i] =
            (struct option){args->command->options[i].name,
                            args->command->options[i].argument == NULL ? no_argument : required_argument,
                            NULL, FIRST + (int)i};
    table[count] = (struct option){"help", no_argument, NULL, 'h'};
    opterr = 0;
    bool is_fine = true;
    /* '-': arguments are returned in order among the options, regardless of POSIXLY_CORRECT. */
    for (int at = optind, code;
         is_fine && (code = getopt_long(argc, args->argv, out == NULL ? "-:h" : "-:ho:", table, NULL)) != -1;
         at = optind) {
        if (code == 1) {
            args->arguments[args->argument_count++] = revealed(args, optarg);
        } else if (code == 'h') {
            args->given[args->given_count++].option = &help;
        } else if (code == 'o') {
            args->given[args->given_count++] = (struct given){out, revealed(args, optarg)};
        } else if (code >= FIRST) {
            args->given[args->given_count++] = (struct given){&args->command->options[code - FIRST],
                                                              optarg == NULL ? NULL : revealed(args, optarg)};
        } else if (code == ':' && optopt >= FIRST) {
            const struct cli_option *option = &args->command->options[optopt - FIRST];
            is_fine = sim_fail(error, SIM_ERROR_INPUT,
                               "bucketlab: --%s needs a value (%s); see 'bucketlab %s --help'", option->name,
                               option->argument, args->command->name);
        } else if (code == ':') {
            is_fine = sim_fail(error, SIM_ERROR_INPUT,
                               "bucketlab: -o needs a value (%s); see 'bucketlab %s --help'", out->argument,
                               args->command->name);
        } else if (optopt >= FIRST) {
            is_fine = sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s takes no value; write it without '='",
                               args->command->options[optopt - FIRST].name);
        } else {
            is_fine = unknown_option(args, args->argv[at], error);
        }
    }
    for (; is_fine && optind < argc; optind++)
        args->arguments[args->argument_count++] = revealed(args, args->argv[optind]);
    free(table);
    return is_fine;
}

static bool check_argument_count(const struct cli_args *args, struct sim_error *error)
{
    const struct cli_command *command = args->command;
    if (args->argument_count < command->least)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: '%s' lacks an argument; write 'bucketlab %s %s'",
                        command->name, command->name, command->arguments);
    if (args->argument_count > 0 && command->most == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' takes only options, and '%s' is not one; see 'bucketlab %s --help'",
                        command->name, args->arguments[0], command->name);
    if (args->argument_count > command->most)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' takes at most %zu argument%s, and '%s' is one too many; "
                        "see 'bucketlab %s --help'",
                        command->name, command->most, command->most == 1 ? "" : "s",
                        args->arguments[command->most], command->name);
    return true;
}

bool cli_args_parse(const struct cli_command *command, int argc, char **argv, struct cli_args **out,
                    struct sim_error *error)
{
    struct cli_args *args = *out = calloc(1, sizeof *args);
    if (args == NULL)
        return sim_fail_memory(error);
    args->command = command;
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    args->arguments = calloc((size_t)argc + 1, sizeof *args->arguments);
    if (args->given == NULL || args->arguments == NULL || !hide_negative_numbers(args, argc, argv))
        return sim_fail_memory(error);
    if (!take_options(args, argc, error))
        return false;
    return cli_has(args, "help") || check_argument_count(args, error);
}

void cli_args_free(struct cli_args *args)
{
    if (args == NULL)
        return;
    free(args->given);
    free(args->arguments);
    free(args->argv);
    free(args->hidden);
    free(args);
}

size_t cli_argument_count(const struct cli_args *args)
{
    return args->argument_count;
}

const char *cli_argument(const struct cli_args *args, size_t index)
{
    return index < args->argument_count ? args->arguments[index] : NULL;
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

bool cli_duration_option(const struct cli_args *args, const char *name, int64_t *out_ns,
                         struct sim_error *error)
{
    const char *text = cli_value(args, name, NULL);
    if (text == NULL)
        return true;
    const char *why = lab_quantity_duration(text, out_ns);
    if (why == NULL && *out_ns < SIM_SECOND / 1000)
        why = "too short; give at least 1ms, as in 10s";
    return why == NULL || sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %s", name, text, why);
}

bool cli_run_number(const struct cli_args *args, int64_t *out, struct sim_error *error)
{
    return cli_run_parse(cli_argument(args, 0), out, error);
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

void cli_args_lend(struct cli_args *args, struct ranks *ranks)
{
    args->ranks = ranks;
}

bool cli_jobs(const struct cli_args *args, uint32_t *out, struct sim_error *error)
{
    uint64_t jobs = ranks_threads(args->ranks, 0);
    if (!cli_whole(args, "jobs", 1, RANKS_THREADS_MAX, &jobs, error))
        return false;
    *out = (uint32_t)jobs;
    return true;
}

bool cli_team(const struct cli_args *args, struct lab_team *out, struct sim_error *error)
{
    uint64_t threads = 0;
    *out = (struct lab_team){.ranks = args->ranks};
    if (!cli_whole(args, "jobs", 1, RANKS_THREADS_MAX, &threads, error))
        return false;
    out->threads = (uint32_t)threads;
    return true;
}

bool cli_overrides(const struct cli_args *args, struct lab_override **out, size_t *count,
                   struct sim_error *error)
{
    *count = 0;
    while (cli_value_at(args, "set", *count) != NULL)
        ++*count;
    *out = calloc(*count + CLI_OVERRIDES_MORE, sizeof **out);
    if (*out == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < *count; i++) {
        (*out)[i].text = cli_value_at(args, "set", i);
        /* A run's overrides are stored one per line. */
        if (strchr((*out)[i].text, '\n') != NULL) {
            sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --set %s: a line break; write it as one line",
                     (*out)[i].text);
            free(*out);
            *out = NULL;
            return false;
        }
    }
    return true;
}

bool cli_fail_label(const char *where, const char *label, const char *const *labels, size_t count,
                    struct sim_error *error)
{
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", labels[i]);
    /* The list ends with a complete label. */
    if (used >= sizeof list) {
        list[sizeof list - sizeof ", ..."] = '\0';
        char *end = strrchr(list, ',');
        strcpy(end == NULL ? list : end, ", ...");
    }
    const char *near = label == NULL ? NULL : sim_nearest(label, labels, count);
    if (label == NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: %s has several strategies; choose one of: %s",
                        where, list);
    return near != NULL
               ? sim_fail(error, SIM_ERROR_INPUT, "bucketlab: %s has no strategy '%s'; did you mean '%s'?",
                          where, label, near)
               : sim_fail(error, SIM_ERROR_INPUT, "bucketlab: %s has no strategy '%s'; it has: %s", where,
                          label, list);
}

void cli_help(const struct cli_command *command, FILE *stream)
{
    fprintf(stream, "bucketlab %s: %s\n\nusage: bucketlab %s [OPTIONS]%s%s\n\noptions:\n", command->name,
            command->summary, command->name, command->arguments[0] == '\0' ? "" : " ", command->arguments);
    for (const struct cli_option *option = command->options; option->name != NULL; option++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument == NULL ? "" : " ",
                 option->argument == NULL ? "" : option->argument);
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
    fprintf(stream, "  %-*s  %s\n\nexample:\n%s", LEFT_COLUMNS, "--help", "this text", command->example);
}
