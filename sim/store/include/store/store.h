/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run database: SQLite in WAL mode, STRICT tables, `user_version` for migrations.
 *
 * A run is written in one transaction or not at all. These views are meant for queries in the sqlite3 shell:
 * `runs`, `strategy_metrics` (run, label, metric, value), `partition_histogram` (run, label, state, unit,
 * size, partitions). Errors are SIM_ERROR_ENVIRONMENT with the database's name and a remedy: locked,
 * read-only, not a database, made by a newer version, disk full, corrupt. A database that is refused is not
 * changed by a single byte. A store may be used by one thread at a time. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "lab/result.h"

struct store;

enum store_mode {
    STORE_READ,  /* the database must exist, and is never written */
    STORE_WRITE, /* a missing database is created with its first run; one of an older version is migrated */
};

bool store_open(const char *path, enum store_mode mode, struct store **out, struct sim_error *error);
void store_close(struct store *store); /* store may be NULL */

/* What the caller knows about a run in addition to its result. */
struct store_run_info {
    int64_t run; /* number; set by store_save_run() */
    const char *scenario_path, *scenario_text, *overrides;
    const char *version;    /* version of the program */
    int64_t created_unix_s; /* wall clock, only for display */
    int64_t elapsed_ms;
    bool has_earlier_digest; /* loaded: placements were digested in another way, so a digest of now differs */
};

/* Stores a run and sets info->run. */
bool store_save_run(struct store *store, struct store_run_info *info, const struct lab_result *result,
                    struct sim_error *error);
/* Loads a run. run: its number; 0: the newest run. A missing run is SIM_ERROR_INPUT, with a text that lists
 * the existing runs. *out is owned by the caller. info may be NULL; its strings live until store_close() or
 * the next load. */
bool store_load_run(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                    struct sim_error *error);

/* What an unfinished command has done, so that the same command need not do it again: the outcomes of the
 * finished runs of `tune SCENARIO`, and the partial result of a run. They are removed when the work ends. */
/* Two digests that identify a work. `identity`: the program's version, the contents of the scenario, and all
 * options; only a work with the same identity uses stored outcomes. `command`: the command line; when a work
 * ends, the outcomes of the same command are removed, even if the scenario or the program has changed
 * since. */
struct store_work {
    uint64_t command, identity;
};
struct store_outcome {
    uint64_t job; /* digest of what, beyond the identity, determines this outcome */
    size_t size;
    unsigned char *bytes; /* opaque */
};

/* Loads the outcomes of this identity, without those whose bytes are damaged. The caller must free *out with
 * store_outcomes_free(). */
bool store_outcomes_load(struct store *store, const struct store_work *work, struct store_outcome **out,
                         size_t *count, struct sim_error *error);
void store_outcomes_free(struct store_outcome *outcomes, size_t count);
/* Stores all of the outcomes or none. */
bool store_outcomes_keep(struct store *store, const struct store_work *work,
                         const struct store_outcome *outcomes, size_t count, struct sim_error *error);
/* Removes the outcomes of this command, and those of this identity. */
bool store_outcomes_forget(struct store *store, const struct store_work *work, struct sim_error *error);

/* Stores the run that `tune` made of the strategies on its front, and its answer as JSON (docs/cli.md), both
 * or neither; sets info->run. Removes the stored outcomes of this tune. */
bool store_tune_save(struct store *store, const struct store_work *tune, struct store_run_info *info,
                     const struct lab_result *result, const char *answer, struct sim_error *error);
/* Loads the answer of a run: *answer is owned by the caller, and NULL when the run has none. */
bool store_tune_load(struct store *store, int64_t run, char **answer, struct sim_error *error);

struct store_run_row {
    int64_t run;
    char *scenario_name;
    uint64_t seed, digest, rows;
    int64_t created_unix_s, elapsed_ms;
    int64_t strategy_count;
    int64_t expects, expects_failed;
    char *version;
    int64_t sweep;      /* number of the sweep of which the run is a job; 0: none */
    int64_t sweep_runs; /* number of runs of this sweep in the database */
};
/* Lists the runs, newest first; folds_sweeps: with only the newest run of each sweep. The caller must free
 * *out with store_runs_free(). */
bool store_list_runs(struct store *store, bool folds_sweeps, struct store_run_row **out, size_t *count,
                     struct sim_error *error);
void store_runs_free(struct store_run_row *rows, size_t count);

/* A run of a sample: the same scenario, overrides and version, and another seed. */
struct store_seed {
    uint64_t seed;
    int64_t run; /* the newest run with this seed */
};
/* Lists the runs of the sample to which a run belongs, including that run, in order of seeds. *out is
 * malloc'ed and owned by the caller. Scenarios that read a trace are the same only when their files have the
 * same path. */
bool store_list_seeds(struct store *store, int64_t run, struct store_seed **out, size_t *count,
                      struct sim_error *error);
/* Appends the metrics of one strategy of a run to *out, whose items are owned by the caller; none when the
 * run has no strategy with this label. */
bool store_load_metrics(struct store *store, int64_t run, const char *label, struct lab_metrics *out,
                        struct sim_error *error);

/* Counts the stored runs of `watch` (lab/drift.h) that looked at this strategy of this run. The database must
 * exist. */
bool store_count_looks(struct store *store, int64_t run, const char *label, uint64_t *out,
                       struct sim_error *error);

#endif
