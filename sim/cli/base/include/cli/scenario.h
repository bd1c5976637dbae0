/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a command comes to its scenario, and warns about it. */
#ifndef CLI_SCENARIO_H
#define CLI_SCENARIO_H

#include <jansson.h>
#include <stdio.h>

#include "cli/command.h"
#include "lab/scenario.h"
#include "lab/schema.h"
#include "store/store.h"

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

/* --- --sample FILE: measures how well a user's rows compress, and sets `row.compression` of the scenario to
 * that ratio. It is stored with the run, so the file is not needed again */

#define CLI_OPTION_SAMPLE                                                                                    \
    "sample", "FILE",                                                                                        \
        "rows of the table as CSV, as COPY TO writes them WITH\n"                                            \
        "HEADER = TRUE: they are compressed as Cassandra does it,\n"                                         \
        "and the ratio becomes row.compression"

#define CLI_SAMPLE_TEXT_SIZE 48

/* If --sample is given, appends an override to those of cli_overrides(), which have room for it, and raises
 * *count. Its text is in `text`, which must have CLI_SAMPLE_TEXT_SIZE bytes. Prints the result to stderr,
 * unless --quiet is given. */
bool cli_sample_override(const struct cli_args *args, const char *scenario_path, const uint64_t *seed,
                         struct lab_override *overrides, size_t *count, char *text, struct sim_error *error);

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

/* Prints one line per warning. Returns false when out of memory. */
bool cli_warnings_print(FILE *stream, const struct lab_scenario *scenario, struct sim_error *error);
/* Prints a line for each of the scenario's files whose last line has no line break, since the file may be
 * truncated, even within a number. Not for gzip files, in which truncation is detected. */
void cli_warnings_files(FILE *stream, const struct lab_scenario *scenario);
void cli_warnings_file(FILE *stream, const char *path);
/* The warnings as a JSON array; NULL when out of memory. */
json_t *cli_warnings_json(const struct lab_scenario *scenario);

#endif
