/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command, and its arguments.
 *
 * A command is a table entry: its name, its options (which determine both the parser and `--help`) and a
 * function that returns the exit code. If that function fills the error, main() prints it as one line to
 * stderr. */
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
    const char *argument; /* placeholder of its value in the help; NULL: a flag */
    const char *help;     /* one line, the default in brackets */
};

struct cli_args;

struct cli_command {
    const char *name;
    const char *arguments; /* "SCENARIO...", as in the synopsis */
    const char *summary;   /* one line */
    const char *example;   /* command lines, each with a line break */
    const struct cli_option *options;
    size_t least, most; /* number of arguments in addition to the options */
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

/* Parses argv, where argv[0] is the command's name. On false the error is SIM_ERROR_INPUT. The caller must
 * free *out with cli_args_free() in either case. */
bool cli_args_parse(const struct cli_command *command, int argc, char **argv, struct cli_args **out,
                    struct sim_error *error);
void cli_args_free(struct cli_args *args);
size_t cli_argument_count(const struct cli_args *args);
const char *cli_argument(const struct cli_args *args, size_t index);
/* Whether an option was given. */
bool cli_has(const struct cli_args *args, const char *name);
/* The last value given for an option, or `fallback` when there is none. */
const char *cli_value(const struct cli_args *args, const char *name, const char *fallback);
/* The index-th value given for an option, in order; NULL when there are fewer. */
const char *cli_value_at(const struct cli_args *args, const char *name, size_t index);
/* Parses the last value of an option as a whole number from least to most; *out is unchanged when there is
 * none. */
bool cli_whole(const struct cli_args *args, const char *name, uint64_t least, uint64_t most, uint64_t *out,
               struct sim_error *error);
bool cli_whole_parse(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out,
                     struct sim_error *error);
/* Parses the value of --NAME, a duration of at least a millisecond. */
bool cli_duration_option(const struct cli_args *args, const char *name, int64_t *out_ns,
                         struct sim_error *error);
/* Parses the first argument, the number of a run, or "last", which sets *out to 0. */
bool cli_run_number(const struct cli_args *args, int64_t *out, struct sim_error *error);
bool cli_run_parse(const char *text, int64_t *out, struct sim_error *error);
bool cli_jobs(const struct cli_args *args, uint32_t *out, struct sim_error *error);
/* Sets the ranks for cli_team(); NULL: there are no other ranks. main() calls it after the arguments were
 * parsed. */
void cli_args_lend(struct cli_args *args, struct ranks *ranks);
/* The other ranks, each with the number of threads that cli_jobs() returns for this one. */
bool cli_team(const struct cli_args *args, struct lab_team *out, struct sim_error *error);
/* Lists the values of --set in order. The caller must free the list; the texts are owned by args, and have no
 * line breaks. The list has room for CLI_OVERRIDES_MORE further overrides, for other options that act like
 * --set. */
#define CLI_OVERRIDES_MORE 4
bool cli_overrides(const struct cli_args *args, struct lab_override **out, size_t *count,
                   struct sim_error *error);
/* Fails with SIM_ERROR_INPUT, since `where` ("run 3") has no strategy of this label: names the nearest label,
 * or all. label: NULL when none was given and there are several. */
bool cli_fail_label(const char *where, const char *label, const char *const *labels, size_t count,
                    struct sim_error *error);
/* Prints the synopsis, the options and an example. */
void cli_help(const struct cli_command *command, FILE *stream);

/* The table of all commands, from which the program, its help and its shell completions are made. */
#define CLI_COMMAND_COUNT 23
extern const struct cli_command *const cli_commands[CLI_COMMAND_COUNT];
/* What another rank does for rank 0. */
extern lab_team_service *const cli_services[LAB_SERVICES];
extern lab_team_service cli_sweep_serve, cli_campaign_serve; /* run jobs of a sweep, seeds of a campaign */
/* `bucketlab complete -- WORD...`, which the completions of shells call: prints what can be offered for the
 * last word. */
void cli_complete(int count, char **words);
extern const struct cli_command cli_bucket_of, cli_check, cli_cql, cli_diff, cli_export, cli_fuzz, cli_ids,
    cli_import, cli_init, cli_judge, cli_merge, cli_odds, cli_replay, cli_report, cli_run, cli_runs, cli_show,
    cli_sweep, cli_token, cli_trace, cli_tune, cli_watch, cli_why;

#endif
