/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all commands have: texts and tables for a terminal, their options, their files, their scenarios. */
#ifndef CLI_BASE_H
#define CLI_BASE_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernel/error.h"
#include "lab/scenario.h"
#include "lab/schema.h"
#include "lab/team.h"
#include "reports/output.h"
#include "reports/reports.h"
#include "store/store.h"

/* --- texts and numbers on a terminal: without control characters, wrapped, in few columns. */

/* Prints text, with '?' for bytes that are not UTF-8 and for characters that must not be displayed
 * (sim_text_step()), so that a name cannot control the terminal. */
void cli_print_text(FILE *stream, const char *text);
/* As cli_print_text(), but keeps line breaks. */
void cli_print_lines(FILE *stream, const char *text);
/* A line of two parts, the second as by cli_print_text(). */
void cli_print_line(FILE *stream, const char *before, const char *text);
/* Text quoted as one word for a POSIX shell, if it must be; the caller must free it. */
char *cli_quoted(const char *text);
/* Appends a space and the quoted word to a command line that is malloc'ed. */
char *cli_line_with(char *line, const char *word);
/* The lines of a text, whose last may have a line break; the caller must g_strfreev() them. */
char **cli_lines(const char *text);
/* The number of terminal columns of text as cli_print_text() prints it: two for a wide character, none for a
 * combining one. */
size_t cli_text_width(const char *text);
/* Prints a label that begins at column `indent`, filled up to `columns`; a label that is wider has its own
 * line. */
void cli_print_label(FILE *stream, const char *label, size_t columns, size_t indent);
/* The columns of the terminal that a stream is connected to; 80 when it is none, or they are not known. */
size_t cli_terminal_columns(FILE *stream);
/* The columns of lines on it: cli_terminal_columns(), but from 80 to 120. */
size_t cli_line_columns(FILE *stream);
/* Prints a space and text to stdout, which is at `column`, wrapped at spaces so that lines have at most
 * cli_line_columns(). Returns the column after the text. */
size_t cli_print_wrapped(const char *text, size_t column);
/* As cli_print_wrapped(), with `indent` spaces at the beginning of each further line. */
size_t cli_print_indented(const char *text, size_t column, size_t indent);
/* As cli_print_wrapped(), as a paragraph from column 0 with a final line break. */
void cli_print_paragraph(const char *text);
/* Prints "KIND: TEXT": wrapped on a terminal, otherwise as one line. */
void cli_print_notice(FILE *stream, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define CLI_NUMBER_SIZE 32
/* Formats a number with three significant digits in at most `width` columns (4 or more): "12345", "123k",
 * "1.23M". */
void cli_compact(double value, size_t width, char *buffer);
/* Formats bytes in at most 6 columns: "999B", "1.23MB"; 1 KB is 1000 B. */
void cli_compact_bytes(double value, char *buffer);
/* Formats a whole number with separators: 1555200 is "1,555,200". */
void cli_grouped(uint64_t value, char *buffer);
/* Formats a span: "9.2 years", "3.1 days", "40 minutes". */
#define CLI_SPAN_SIZE (CLI_NUMBER_SIZE + 16)
void cli_span(double days, char *buffer);

/* --- one value, printed in every form.
 *
 * A command makes its result once, as a JSON value under the names that the manual documents. --json prints
 * the value itself. A table on the terminal, and a CSV file, are views of the value: a list of columns, each
 * of which names the member of a row that it shows, its heading, and the form of its numbers.
 *
 * Each function takes ownership of the values that it is given. Memory does not run out here (main.c). */

/* A whole number up to 2^53 becomes an integer, any other number a real; null when it is not finite. */
json_t *cli_json_number(double value);
/* A whole number; a string of its digits when it is too large for an integer of JSON. */
json_t *cli_json_whole(uint64_t value);
/* A digest: 16 hexadecimal digits. */
json_t *cli_json_digest(uint64_t value);
/* A text, in which U+FFFD stands for what is not UTF-8; null for NULL. */
json_t *cli_json_words(const char *text);

struct cli_member {
    const char *name;
    json_t *value;
};
/* An object of members: CLI_OBJECT({"seed", cli_json_whole(seed)}, {"label", json_string(label)}). */
#define CLI_OBJECT(...)                                                                                      \
    cli_json_object((const struct cli_member[]){__VA_ARGS__},                                                \
                    sizeof((const struct cli_member[]){__VA_ARGS__}) / sizeof(struct cli_member))
json_t *cli_json_object(const struct cli_member *members, size_t count);
/* Adds a member to an object, or an item to a list, and returns it. */
json_t *cli_json_with(json_t *object, const char *name, json_t *value);
json_t *cli_json_append(json_t *list, json_t *item);

/* Formats a value as one line, with 17 significant digits. The caller must free it. */
char *cli_json_text(const json_t *value);
/* A text in double quotes, as in JSON, in YAML, and in Prometheus' format. The caller must free it. */
char *cli_json_quoted(const char *text);
/* Prints a value as one line, with 17 significant digits, and frees it. */
void cli_json_print(json_t *value);

/* How a value is written. Texts are aligned to the left, numbers to the right; null is "-". */
enum cli_form {
    CLI_LABEL,    /* a text; one that is wider than the table allows has its own line */
    CLI_WORDS,    /* a text */
    CLI_NUMBER,   /* three significant digits in five columns: cli_compact() */
    CLI_SHORT,    /* ... in four columns */
    CLI_BYTES,    /* cli_compact_bytes() */
    CLI_EXACT,    /* all digits */
    CLI_TENTHS,   /* one decimal */
    CLI_PER_1000, /* 1000 times the value */
    CLI_SHARE,    /* in per cent */
    CLI_PART,     /* in per cent, 0% and 100% only if they are exact */
    CLI_MEAN,     /* an object with a mean and its interval, low to high: "12.3k +- 480" */
};

/* A column shows a member of each row, or of the row's member `metrics`. One that no row has is left out. */
struct cli_column {
    const char *title;  /* heading */
    const char *name;   /* of the member */
    enum cli_form form; /* of the value */
    const char *group;  /* heading above this column and its neighbours of the same group; NULL: none */
    const char *per;    /* the value is divided by this member; NULL: by nothing */
    const char *other;  /* the member that is shown where a row does not have `name` */
    const char *legend; /* explains the column; NULL: nothing to explain */
    bool is_rare;       /* left out unless a value is above 0 */
};

/* What a table adds to a cell, or to a row, for which the column is NULL. */
enum cli_mark { CLI_STAR = 1, CLI_BANG = 2, CLI_ALARM = 4, CLI_CHOICE = 8 };

struct cli_table {
    const json_t *rows; /* a list */
    const struct cli_column *columns;
    size_t count;
    const char *lead;               /* text before each line; NULL: none */
    size_t gap;                     /* spaces between columns; 0: one */
    size_t label_least, label_most; /* width of the labels; label_most 0: no limit */
    bool has_choice;                /* two columns before each row are for the mark of the choice */
    /* enum cli_mark, or-ed; NULL: no cell has a mark. */
    unsigned (*marks)(const void *context, const json_t *row, const struct cli_column *column);
    /* Printed below a row; NULL: nothing. */
    void (*below)(const void *context, const json_t *row);
    const void *context;
};

/* Prints the columns in as many blocks as the width of lines requires. */
void cli_table_print(FILE *stream, const struct cli_table *table);
/* Explains the columns that are shown, in one paragraph; false when there is nothing to explain. */
bool cli_table_legend(const struct cli_table *table);
bool cli_table_shows(const struct cli_table *table, const struct cli_column *column);
/* The value of a cell; NaN when it is not a number. */
double cli_table_figure(const json_t *row, const struct cli_column *column);

/* Writes a field of CSV (RFC 4180): nothing for null. Line breaks become "; ", so that a row is one line. A
 * spreadsheet interprets text that begins with = + - @, tab, CR or LF as a formula, even if it is quoted, so
 * the prefix of such a text is an apostrophe, as OWASP recommends ("CSV Injection"); plain numbers such as -5
 * or +1.5e3 have none. */
void cli_csv_value(FILE *stream, const json_t *value);
void cli_csv_text(FILE *stream, const char *text);

#define CLI_RED   "\033[31m"
#define CLI_GREEN "\033[32m"
#define CLI_BOLD  "\033[1;32m" /* bold and green */
#define CLI_PLAIN "\033[0m"
/* Whether to print colours: stdout is a terminal, and neither NO_COLOR nor TERM=dumb is set. */
bool cli_has_colour(void);

/* --- a command, and its arguments.
 *
 * A command is a table entry: its name, its options and a function that returns whether it succeeded. The
 * table of options is also what the parser, `--help` and the completions of shells follow: which option takes
 * a value, which values there are, and with which other option it applies. main() prints the error as one
 * line to stderr, and returns its class, or 128 + the signal that ended the command, as the exit code. */

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
    struct cli_signals *signals; /* see cli/run.h */
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

/* --- the files that a command writes: each appears under its name only when it is complete, and none
 * overwrites one that the command reads. */

/* Checks, before anything is run, that the file of the option --NAME can be written; path may be NULL.
 * Whether it would overwrite an input is checked below. */
bool cli_file_check(const char *name, const char *path, struct sim_error *error);
/* As report_output(), of one file. */
bool cli_file_write(const char *path, const void *text, size_t size, struct sim_error *error);
/* The limits and the first strategies of a scenario that a command writes. */
#define CLI_SCENARIO_LIMITS                                                                                  \
    "limits: # what is too much, and too little, in your view\n"                                             \
    "  partition_rows: 100000\n"                                                                             \
    "  partition_bytes: 100MB\n"                                                                             \
    "  tiny_rows: 24\n"                                                                                      \
    "strategies: # tune tries other numbers too\n"                                                           \
    "  - unbucketed: {}\n"                                                                                   \
    "  - time: {window: 10d}\n"

/* A stream into memory, whose text, which the caller must free, is there when it is closed. */
FILE *cli_memory_open(char **text, size_t *size);
void cli_memory_close(FILE *stream);

/* A file that is written as a stream. Without a stream it is closed. */
struct cli_file {
    const char *path;
    FILE *stream;
    struct report_partial output;
};
bool cli_file_open(struct cli_file *file, const char *path, struct sim_error *error);
/* Gives the file its name if it is whole, otherwise removes it. */
bool cli_file_close(struct cli_file *file, bool is_whole, struct sim_error *error);

/* --- charts and the page: --format and --out */

struct cli_charts {
    bool wanted[REPORT_FORMAT_COUNT];
    bool has_page; /* --format includes html */
    const char *folder;
    struct report_files files[REPORT_FORMAT_COUNT];
    char *page;
};

/* Reads the options, and checks that the folder exists or can be created, without creating it. */
bool cli_charts_read(const struct cli_args *args, struct cli_charts *out, struct sim_error *error);
/* Prints, after an error of drawing, that the runs from first to last are stored, and how to draw their
 * charts again; returns false. */
bool cli_charts_fail(int64_t first, int64_t last, const char *database, struct sim_error *error);
/* Prints the path of each file that was written, one per line, after `prefix`. Returns whether there was
 * one. */
bool cli_charts_print(const struct cli_charts *charts, const char *prefix);
void cli_charts_free(struct cli_charts *charts);

/* Checks that files can be created in the folder: a folder is made in the nearest existing one, and removed.
 */
bool cli_folder_check(const char *folder, struct sim_error *error);

/* --- checks that no file that a command writes is one that it reads, before anything is opened or run.
 *
 * A command adds its inputs, its databases and its outputs, and then makes one check. Two names are the same
 * file when they have the same device and inode (as hard links do), or, for files that do not exist yet, the
 * same path after all symbolic links are resolved. A database is four files, with SQLite's -wal, -shm and
 * -journal */

struct cli_outputs {
    GPtrArray *files; /* NULL: none yet */
};

/* Adds an input. A NULL path is ignored, here and below. `what` describes the input in messages: "the
 * scenario". */
void cli_outputs_input(struct cli_outputs *outputs, const char *what, const char *path);
/* Adds a scenario's file, its trace and its observed files as inputs. */
void cli_outputs_scenario(struct cli_outputs *outputs, const struct lab_scenario *scenario);
/* Adds the database of --OPTION PATH, which is written or only read. */
void cli_outputs_database(struct cli_outputs *outputs, const char *option, const char *path, bool is_written);
/* Adds the output of --OPTION PATH. Pipes, devices and "-" are ignored. */
void cli_outputs_file(struct cli_outputs *outputs, const char *option, const char *path);
/* Adds the charts and the page of a scenario of this name: STEM-anything.EXT and STEM.html in --out, for each
 * requested format. */
void cli_outputs_charts(struct cli_outputs *outputs, const struct cli_charts *charts, const char *scenario);
/* Adds the file that `fuzz` may write: STEM-anything.yaml in --out, where STEM comes from the scenario's
 * name. */
void cli_outputs_finding(struct cli_outputs *outputs, const char *folder, const char *name);
/* Fails with SIM_ERROR_INPUT when an output would overwrite another file of the list. Empties the list. */
bool cli_outputs_check(struct cli_outputs *outputs, struct sim_error *error);

/* --- how a command comes to its scenario, and warns about it */

/* Loads a scenario with the values of --seed, --set and --sample, as far as the command has these options. */
bool cli_scenario_load(const struct cli_args *args, const char *path, struct lab_scenario **out,
                       struct sim_error *error);
/* Fails when two scenarios have one name; why: what is wrong with that, and the remedy. */
bool cli_names_differ(const struct lab_scenario *one, const struct lab_scenario *other, const char *why,
                      struct sim_error *error);
/* The command that repeats a run: "bucketlab run chat.yaml --seed 7 --set arrivals.rate=5/s", which the
 * caller must free. overrides: one per line. */
char *cli_run_line(const char *path, uint64_t seed, const char *overrides);
/* An absolute path, so that a stored run can be repeated from any folder; unchanged if the file does not
 * exist. The caller must free it. */
char *cli_absolute(const char *path);

/* --- the scenario of a stored run. A database may be of unknown origin, so its scenarios read no file
 * outside the folders of the database, of --files, and of the scenario, if that is still there as it was
 * stored */

#define CLI_OPTION_FILES "files", "DIR", "a stored scenario may read the files of this folder too"

/* Applies the run's overrides, and `more`, which may be NULL. SIM_ERROR_INPUT when this version of the
 * program refuses what another version stored, or a file is elsewhere. */
bool cli_scenario_again(const struct cli_args *args, const struct store_run_info *info,
                        const struct lab_override *more, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error);

/* A stored run. */
struct cli_stored {
    struct store *store;
    struct store_run_info info; /* its texts live until cli_stored_close() */
    struct lab_result *result;
};
/* Loads the run of this number, or "last", from --db. The caller must call cli_stored_close() in any case. */
bool cli_stored_open(const struct cli_args *args, const char *run, struct cli_stored *out,
                     struct sim_error *error);
/* Opens and closes a database, so that an invalid one is found before the work. A missing one is not
 * created. */
bool cli_database_check(const char *path, struct sim_error *error);
void cli_stored_close(struct cli_stored *stored);
/* The strategy of this label, or the only one when label is NULL. */
bool cli_stored_find(const struct cli_stored *stored, const char *label,
                     const struct lab_strategy_result **out, struct sim_error *error);
/* What is stored beside the result of a scenario that was run now. The texts are those of the scenario. */
struct store_run_info cli_info_of(const struct lab_scenario *scenario, const char *path, int64_t elapsed_ms);

/* --- what the command line changes in a scenario: --seed, --set, and --sample FILE, which measures how well
 * a user's rows compress, and sets `row.compression` to that ratio. It is stored with the run, so the file is
 * not needed again */

#define CLI_OPTION_SAMPLE                                                                                    \
    "sample", "FILE",                                                                                        \
        "rows of the table as CSV, as COPY TO writes them WITH\n"                                            \
        "HEADER = TRUE: they are compressed as Cassandra does it,\n"                                         \
        "and the ratio becomes row.compression"

struct cli_changes {
    struct lab_override *overrides; /* to be freed by the caller; with room for CLI_OVERRIDES_MORE */
    size_t count;
    const uint64_t *seed; /* NULL: the scenario's own */
    uint64_t own_seed;
    char of_sample[48];
};
/* Reads them, as far as the command has these options. *out must not be moved. */
bool cli_changes_read(const struct cli_args *args, const char *path, struct cli_changes *out,
                      struct sim_error *error);

/* --- a scenario with the single strategy `observed`, so that the output of Cassandra's tools is handled like
 * a run */

/* Makes the scenario of a file, with the --table, --format and --set of args. name: the scenario's name;
 * NULL: derived from the file's. limits: may be NULL. */
bool cli_observed_load(const struct cli_args *args, const char *name, const struct lab_limits *limits,
                       const char *label, const char *path, struct lab_scenario **out,
                       struct sim_error *error);
/* The path of an input: absolute, or that of an open descriptor; "-" is /dev/stdin. The caller must free
 * it. */
char *cli_input_path(const char *name);

/* --- the lint warnings of a scenario before it runs, as text or as JSON */

/* Prints one line per warning. */
void cli_warnings_print(FILE *stream, const struct lab_scenario *scenario);
/* Prints a line for each of the scenario's files whose last line has no line break, since the file may be
 * truncated, even within a number. Not for gzip files, in which truncation is detected. */
void cli_warnings_files(FILE *stream, const struct lab_scenario *scenario);
void cli_warnings_file(FILE *stream, const char *path);
/* The warnings as a JSON array. */
json_t *cli_warnings_json(const struct lab_scenario *scenario);

#endif
