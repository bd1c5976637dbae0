/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command, and the arguments that it was given.
 *
 * A command is a table entry: its name, its options (from which both the parser and `--help` are made) and a
 * function that returns the exit code. An error that is filled in is printed by main(), one line to stderr.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernel/error.h"
#include "lab/scenario.h"
#include "lab/team.h"

struct cli_option {
    const char *name;     /* without the dashes; NULL ends a table */
    const char *argument; /* what stands for its value in the help; NULL: a flag */
    const char *help;     /* one line, the default in brackets */
};

struct cli_args;

struct cli_command {
    const char *name;
    const char *arguments; /* "SCENARIO...", as in the synopsis */
    const char *summary;   /* one line */
    const char *example;   /* command lines, each ended by a line break */
    const struct cli_option *options;
    size_t least, most; /* arguments in addition to the options */
    int (*run)(const struct cli_args *args, struct sim_error *error);
};

#define CLI_ANY_NUMBER SIZE_MAX

/* Options that several commands have. */
#define CLI_OPTION_DB                                                                                        \
    {                                                                                                        \
        "db", "FILE", "the run database (default bucketlab.db)"                                              \
    }
#define CLI_OPTION_OUT                                                                                       \
    {                                                                                                        \
        "out", "DIR", "folder of the charts (default bucketlab-out)"                                         \
    }
#define CLI_OPTION_JOBS                                                                                      \
    {                                                                                                        \
        "jobs", "N", "worker threads (default: as many as processors)"                                       \
    }
#define CLI_OPTION_JSON                                                                                      \
    {                                                                                                        \
        "json", NULL, "JSON on stdout, and nothing else there"                                               \
    }
#define CLI_OPTION_QUIET                                                                                     \
    {                                                                                                        \
        "quiet", NULL, "no progress on stderr"                                                               \
    }
#define CLI_OPTION_FORMAT                                                                                    \
    {                                                                                                        \
        "format", "F,...", "png, svg, pdf or html; repeatable (default png)"                                 \
    }

/* Reads argv (argv[0] is the command's name). On false the error is SIM_ERROR_INPUT; *out is freed by
 * cli_args_free() in either case. */
bool cli_args_parse(const struct cli_command *command, int argc, char **argv, struct cli_args **out,
                    struct sim_error *error);
void cli_args_free(struct cli_args *args);
size_t cli_argument_count(const struct cli_args *args);
const char *cli_argument(const struct cli_args *args, size_t index);
/* Whether an option was given. */
bool cli_has(const struct cli_args *args, const char *name);
/* The last value given, or `fallback`. */
const char *cli_value(const struct cli_args *args, const char *name, const char *fallback);
/* The index-th value given, in order; NULL when there are fewer. */
const char *cli_value_at(const struct cli_args *args, const char *name, size_t index);
/* The last value as a whole number from least to most; *out keeps what it holds when there is none. */
bool cli_whole(const struct cli_args *args, const char *name, uint64_t least, uint64_t most, uint64_t *out,
               struct sim_error *error);
bool cli_whole_parse(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out,
                     struct sim_error *error);
/* The first argument: "N" or "last" (0 in *out). */
bool cli_run_number(const struct cli_args *args, int64_t *out, struct sim_error *error);
bool cli_run_parse(const char *text, int64_t *out, struct sim_error *error);
bool cli_jobs(const struct cli_args *args, uint32_t *out, struct sim_error *error);
/* The ranks that this program is rank 0 of; NULL: it is alone. Who reads the arguments lends them. */
void cli_args_lend(struct cli_args *args, struct ranks *ranks);
/* The other ranks, with as many threads each as cli_jobs() has for this one. */
bool cli_team(const struct cli_args *args, struct lab_team *out, struct sim_error *error);
/* Every --set, in order; free() does for the list, the texts are the arguments'.
 * None has a line break in it. There is room behind them for those that other options stand for. */
#define CLI_OVERRIDES_MORE 4
bool cli_overrides(const struct cli_args *args, struct lab_override **out, size_t *count,
                   struct sim_error *error);
/* The synopsis, the options and an example. */
void cli_help(const struct cli_command *command, FILE *stream);

#endif
