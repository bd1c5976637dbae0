/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: what its commands share.
 *
 * A command is a table entry: its name, its options (from which both the parser and `--help` are made) and a
 * function that returns the exit code. An error that is filled in is printed by main(), one line to stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

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
    size_t least, most; /* arguments beside the options */
    int (*run)(const struct cli_args *args, struct sim_error *error);
};

#define CLI_ANY_NUMBER SIZE_MAX

extern const struct cli_command cli_run, cli_odds, cli_token, cli_bucket_of, cli_runs, cli_show, cli_report,
    cli_replay, cli_init, cli_fuzz, cli_cql, cli_tune, cli_diff, cli_check;
extern const struct cli_command cli_import, cli_export, cli_sweep, cli_merge;

/* All of them: of this table are the program, its manual and what shells complete made. */
#define CLI_COMMAND_COUNT 18
extern const struct cli_command *const cli_commands[CLI_COMMAND_COUNT];

/* Options that several commands have. */
#define CLI_OPTION_DB                                                                                        \
    {                                                                                                        \
        "db", "FILE", "the run database (default bucketlab.db)"                                              \
    }
#define CLI_OPTION_OUT                                                                                       \
    {                                                                                                        \
        "out", "DIR", "folder of the pictures (default bucketlab-out)"                                       \
    }
#define CLI_OPTION_JOBS                                                                                      \
    {                                                                                                        \
        "jobs", "N", "worker threads (default: as many as processors)"                                       \
    }
#define CLI_OPTION_JSON                                                                                      \
    {                                                                                                        \
        "json", NULL, "machine output on stdout, nothing else there"                                         \
    }
#define CLI_OPTION_QUIET                                                                                     \
    {                                                                                                        \
        "quiet", NULL, "no progress on stderr"                                                               \
    }
#define CLI_OPTION_FORMAT                                                                                    \
    {                                                                                                        \
        "format", "F,...", "png, svg, pdf or html; repeatable (default png)"                                 \
    }

/* --- options.c */

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
 * None has a line break in it. */
bool cli_overrides(const struct cli_args *args, struct lab_override **out, size_t *count,
                   struct sim_error *error);
/* The synopsis, the options and an example. */
void cli_help(const struct cli_command *command, FILE *stream);

/* --- text.c */

/* Writes text with '?' for bytes that are not UTF-8 and for characters that may not be shown
 * (sim_text_step()), so that a name cannot steer the terminal. */
void cli_print_text(FILE *stream, const char *text);
/* The same for text of several lines, whose line breaks stay. */
void cli_print_lines(FILE *stream, const char *text);
/* Writes text as one word for a POSIX shell; returns its size. A character takes at most four bytes, and
 * three are for the quotes and the end. */
size_t cli_quote(const char *text, char *buffer);
/* The same to a stream, each part of it as cli_print_text() writes it. */
void cli_print_quoted(FILE *stream, const char *text);
/* Columns of a terminal that text takes as cli_print_text() writes it: two a wide character, none a combining
 * one. */
size_t cli_text_width(const char *text);
/* A space and text to stdout, which stands at `column`; broken at spaces so that lines end by column 80.
 * Returns the column after it. */
size_t cli_print_wrapped(const char *text, size_t column);
/* The same, with `indent` spaces at the start of further lines. */
size_t cli_print_indented(const char *text, size_t column, size_t indent);
/* The same from column 0 to the end of the line. */
void cli_print_paragraph(const char *text);

#define CLI_NUMBER_SIZE 32
/* Three significant digits in at most `width` columns (4 or more): "12345", "123k", "1.23M". */
void cli_compact(double value, size_t width, char *buffer);
/* "999B", "1.23MB"; 1 KB is 1000 B. At most 6 columns. */
void cli_compact_bytes(double value, char *buffer);
/* The shortest of "10d", "36h", "90m", "1500ms" that is exact. */
void cli_duration(int64_t duration_ns, char *buffer);
/* The shortest of "512KB", "1MB" that is exact. */
void cli_size(uint64_t bytes, char *buffer);
/* 1555200 -> "1,555,200". */
void cli_grouped(uint64_t value, char *buffer);

#endif
