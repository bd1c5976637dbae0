/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command, and its arguments.
 *
 * A command is a table entry: its name, its options and a function that returns whether it succeeded. The
 * table of options is also what the parser, `--help` and the completions of shells follow: which option takes
 * a value, which values there are, and with which other option it applies. main() prints the error as one
 * line to stderr, and returns its class, or 128 + the signal that ended the command, as the exit code. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernel/error.h"
#include "lab/scenario.h"
#include "lab/team.h"

struct cli_option {
    const char *name;     /* without the dashes; NULL ends a table */
    const char *argument; /* placeholder of its value in the help; NULL: a flag. "open|closed": one of these
                             values; "png|svg,...": a list of them */
    const char *help;     /* one line, the default in brackets. One that begins with "with --NAME: " applies
                             only with that option */
};

struct cli_args {
    const struct cli_command *command;
    const char **arguments;
    size_t count; /* of arguments */
    struct cli_given *given;
    size_t given_count;
    const char *database;        /* --db */
    bool is_json, is_quiet;      /* --json, --quiet */
    uint32_t jobs;               /* --jobs: threads of this rank */
    struct lab_team team;        /* all ranks, each with that number of threads */
    struct cli_signals *signals; /* see cli/execute.h */
};

struct cli_command {
    const char *name;
    const char *arguments;            /* "SCENARIO...", as in the synopsis */
    const char *summary;              /* one line */
    const char *example;              /* command lines, each with a line break */
    const struct cli_option *options; /* without --json, --quiet and --help */
    bool has_no_json;
    size_t least, most; /* number of arguments in addition to the options */
    bool (*run)(const struct cli_args *args, struct sim_error *error);
};

#define CLI_ANY_NUMBER SIZE_MAX

/* Options that several commands have. */
#define CLI_OPTION_DB     "db", "FILE", "the run database (default bucketlab.db)"
#define CLI_OPTION_OUT    "out", "DIR", "folder of the charts (default bucketlab-out)"
#define CLI_OPTION_JOBS   "jobs", "N", "worker threads (default: as many as processors)"
#define CLI_OPTION_SEED   "seed", "N", "use this seed instead of the scenario's"
#define CLI_OPTION_SET    "set", "PATH=VALUE", "change one field of the scenario; repeatable"
#define CLI_OPTION_FORMAT "format", "png|svg|pdf|html,...", "repeatable (default png)"

/* The options of a command, in order, also those that all have; NULL after the last. */
const struct cli_option *cli_option_at(const struct cli_command *command, size_t index);
/* Parses argv, where argv[0] is the command's name; ranks: NULL when there are no others. On false the error
 * is SIM_ERROR_INPUT. The caller must call cli_args_free() in either case. */
bool cli_args_parse(const struct cli_command *command, int argc, char **argv, struct ranks *ranks,
                    struct cli_args *out, struct sim_error *error);
void cli_args_free(struct cli_args *args);
/* NULL when there are fewer arguments. */
const char *cli_argument(const struct cli_args *args, size_t index);
/* Whether an option was given. */
bool cli_has(const struct cli_args *args, const char *name);
/* The last value given for an option, or `fallback` when there is none. */
const char *cli_value(const struct cli_args *args, const char *name, const char *fallback);
/* The index-th value given for an option, in order; NULL when there are fewer. */
const char *cli_value_at(const struct cli_args *args, const char *name, size_t index);
/* Whether this is the value of an option that has a fixed set of them; of a list, whether it is in one of the
 * lists. */
bool cli_chooses(const struct cli_args *args, const char *name, const char *value);
/* Fails with SIM_ERROR_INPUT when both options were given. */
bool cli_exclude(const struct cli_args *args, const char *one, const char *other, struct sim_error *error);
/* Parses the last value of an option as a whole number from least to most; *out is unchanged when there is
 * none. */
bool cli_whole(const struct cli_args *args, const char *name, uint64_t least, uint64_t most, uint64_t *out,
               struct sim_error *error);
bool cli_whole_parse(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out,
                     struct sim_error *error);
/* Parses two whole numbers, as in "1/4" or "1..1000". */
bool cli_pair(const char *text, const char *between, uint64_t *first, uint64_t *second);
/* Parses the value of --NAME, a duration of at least least_ns. */
bool cli_duration(const struct cli_args *args, const char *name, int64_t least_ns, int64_t *out_ns,
                  struct sim_error *error);
/* Parses the number of a run, or "last", which sets *out to 0. */
bool cli_run_parse(const char *text, int64_t *out, struct sim_error *error);
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
#define CLI_COMMAND_COUNT 24
extern const struct cli_command *const cli_commands[CLI_COMMAND_COUNT];
/* What another rank does for rank 0. */
extern lab_team_service *const cli_services[LAB_SERVICES];
extern lab_team_service cli_sweep_serve, cli_campaign_serve; /* run jobs of a sweep, seeds of a campaign */
/* `bucketlab complete -- WORD...`, which the completions of shells call: prints what can be offered for the
 * last word. */
void cli_complete(int count, char **words);
extern const struct cli_command cli_bucket_of, cli_check, cli_cql, cli_diff, cli_explore, cli_export,
    cli_fuzz, cli_ids, cli_import, cli_init, cli_judge, cli_merge, cli_odds, cli_replay, cli_report, cli_run,
    cli_runs, cli_show, cli_sweep, cli_token, cli_trace, cli_tune, cli_watch, cli_why;

#endif
