/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run database: SQLite in WAL mode, STRICT tables, `user_version` for migrations.
 *
 * A run is written in one transaction or not at all. Views that a person can query in the sqlite3 shell:
 * `runs`, `strategy_metrics` (run, label, metric, value), `partition_histogram` (run, label, state, unit,
 * size, partitions). Errors are SIM_ERROR_ENVIRONMENT with the database's name and a cure: locked, read-only,
 * not a database, made by a newer version, disk full, corrupt. A database that is refused is left untouched,
 * byte for byte. A store is one thread's at a time. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "lab/result.h"

struct store;

enum store_mode {
    STORE_READ,  /* must exist; never written */
    STORE_WRITE, /* when missing made with its first run, when older migrated */
};

bool store_open(const char *path, enum store_mode mode, struct store **out, struct sim_error *error);
void store_close(struct store *store); /* NULL is fine */

/* What the caller knows about a run in addition to its result. */
struct store_run_info {
    int64_t run;    /* number; set by store_save_run() */
    int64_t number; /* that it is to have, which was given to it before; 0: the next */
    const char *scenario_path, *scenario_text, *overrides;
    const char *version;    /* of the program */
    int64_t created_unix_s; /* wall clock, for people */
    int64_t elapsed_ms;
};

/* Stores a run whole; sets info->run. */
bool store_save_run(struct store *store, struct store_run_info *info, const struct lab_result *result,
                    struct sim_error *error);
/* run 0: the newest. A missing run is SIM_ERROR_INPUT and names the runs there are. The result is the
 * caller's; the strings of *info live until store_close() or the next load. info may be NULL. */
bool store_load_run(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                    struct sim_error *error);

struct store_tune;
/* Stores the run of the front of `tune` and with it the answer (docs/cli.md), both or neither; sets
 * info->run. What was kept of this tune goes (store/outcomes.h). */
bool store_tune_save(struct store *store, const struct store_tune *tune, struct store_run_info *info,
                     const struct lab_result *result, const char *answer, struct sim_error *error);
/* *answer is the caller's; NULL when the run has none. */
bool store_tune_load(struct store *store, int64_t run, char **answer, struct sim_error *error);

struct store_run_row {
    int64_t run;
    char *scenario_name;
    uint64_t seed, digest, rows;
    int64_t created_unix_s, elapsed_ms;
    int64_t strategy_count;
    int64_t expects, expects_failed;
    char *version;
    int64_t sweep;      /* that the run is a job of; 0: of none */
    int64_t sweep_runs; /* runs of this sweep in all */
};
/* Newest first. The rows are freed by store_runs_free(). */
bool store_list_runs(struct store *store, struct store_run_row **out, size_t *count, struct sim_error *error);
/* The same with one row a sweep, its newest run. */
bool store_list_folded(struct store *store, struct store_run_row **out, size_t *count,
                       struct sim_error *error);
void store_runs_free(struct store_run_row *rows, size_t count);

/* A run of a sample: the same scenario, overrides and version, and another seed. */
struct store_seed {
    uint64_t seed;
    int64_t run; /* of several with this seed the newest */
};
/* The sample that a run belongs to, itself included, in order of seeds; malloc'ed, the caller's. A scenario
 * that reads a trace is the same at the same path only. */
bool store_list_seeds(struct store *store, int64_t run, struct store_seed **out, size_t *count,
                      struct sim_error *error);
/* The figures of one strategy of a run, added to *out, whose items are the caller's; none of a label that the
 * run does not have. */
bool store_load_metrics(struct store *store, int64_t run, const char *label, struct lab_metrics *out,
                        struct sim_error *error);

/* How many stored runs are looks of `watch` (lab/drift.h) at this strategy of this run. The database is
 * there. */
bool store_count_looks(struct store *store, int64_t run, const char *label, uint64_t *out,
                       struct sim_error *error);

#endif
