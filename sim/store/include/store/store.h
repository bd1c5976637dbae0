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
#include "lab/run.h"
#include "lab/sweep.h"

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

/* --- a sweep in the run database: each of its jobs is a stored run; jobs are stored in batches.
 *
 * A batch is one transaction. Several processes may work on one sweep in one database: a batch adds only the
 * jobs that are not stored yet, so the run of each job is stored once. A batch is refused when a job is
 * already stored with another digest. The first batch creates the sweep. */

struct store_sweep;

/* Opens a sweep in an open store, and reads which of its jobs are done; each batch reads this again. sweep,
 * store and both texts must outlive *out. path: the scenario's file; version: the program's version. A sweep
 * that another version of the program began is SIM_ERROR_INPUT. */
bool store_sweep_open(struct store *store, const struct lab_sweep *sweep, const char *path,
                      const char *version, struct store_sweep **out, struct sim_error *error);
void store_sweep_close(struct store_sweep *sweep); /* sweep may be NULL */

/* Whether a job is done, and how many jobs are done. Any thread may call these at any time. */
bool store_sweep_is_done(const struct store_sweep *sweep, uint64_t job);
uint64_t store_sweep_done(const struct store_sweep *sweep);
/* Number of the sweep in the database; 0: none of its jobs is stored yet. */
int64_t store_sweep_number(const struct store_sweep *sweep);

struct store_job {
    uint64_t job;
    struct lab_result *result;
    char *overrides; /* all overrides of the run, one per line */
    int64_t created_unix_s, elapsed_ms;
};

/* Stores these jobs, all or none. Errors: SIM_ERROR_CHECK names a job that is already stored with another
 * digest; SIM_ERROR_ENVIRONMENT when the database was removed or replaced since it was opened. */
bool store_sweep_keep(struct store_sweep *sweep, const struct store_job *jobs, size_t count,
                      struct sim_error *error);
/* Sets *digest to the digest over all jobs that are done, in the order of jobs (lab_sweep_digest_add()). It
 * reads all of these jobs again, since another process may have removed runs. */
bool store_sweep_digest(struct store_sweep *sweep, uint64_t *digest, struct sim_error *error);

/* Callbacks for the jobs that are done, in their order. A callback that returns false, with the error set,
 * ends the visit. */
struct store_sweep_visitor {
    void *context;
    /* Called for each metric; the value is NaN when the run does not have it. The texts are valid during the
     * call. */
    bool (*metric)(void *context, uint64_t job, const char *label, const char *name, double value,
                   struct sim_error *error);
    /* Called once for each job with a failed expectation, before its metrics. */
    bool (*failed)(void *context, uint64_t job, struct sim_error *error);
};
/* Visits the jobs that are done. names: a JSON list of the requested metrics; NULL: all. */
bool store_sweep_visit(struct store_sweep *sweep, const char *names,
                       const struct store_sweep_visitor *visitor, struct sim_error *error);

/* --- baselines: for each scenario, by its name, the run with which later runs are compared, and the range of
 * each metric over other seeds. They are stored in a run database, which may have other runs too. */

/* A metric over the seeds. */
struct store_baseline_metric {
    char *label; /* of the strategy */
    char name[LAB_METRIC_NAME_SIZE];
    uint64_t count; /* number of seeds that have the metric */
    double mean, stddev;
    double low, high; /* -INFINITY and INFINITY: no bound */
};

struct store_baseline {
    struct store_run_info info;
    struct lab_result *result;
    uint64_t seeds;
    struct store_baseline_metric *metrics; /* after a load, sorted by label, then by name, as bytes */
    size_t metric_count;
};

/* Stores the baselines in one transaction: all or none. Each replaces the baseline that its scenario had,
 * together with its run. Sets info.run. */
bool store_baselines_save(struct store *store, struct store_baseline *baselines, size_t count,
                          struct sim_error *error);
/* Sets *is_there to whether the scenario of this name has a baseline; if it has, the caller must clear *out.
 * The strings of out->info live until store_close() or the next load. */
bool store_baseline_load(struct store *store, const char *scenario, struct store_baseline *out,
                         bool *is_there, struct sim_error *error);
/* Frees the contents; a zeroed struct is allowed. */
void store_baseline_clear(struct store_baseline *baseline);

/* --- merges several run databases into one, without losing or duplicating runs.
 *
 * Two runs of the same job of a sweep count as the same run. Other runs are the same when everything stored
 * about them is equal, including the wall clock time. A run that the target has already is not added, so a
 * merge may be repeated. Rows of all tables that refer to a run, directly or indirectly, are copied with
 * it. */

struct store_merged {
    uint64_t added, found; /* number of runs that were added, and that were there already */
};

/* `into` must be open for writing and the sources for reading; all stay open. The merge is one transaction:
 * on failure `into` is unchanged. The sources are never changed. Errors: SIM_ERROR_INPUT for a source that is
 * `into` itself, and for a sweep of two versions of the program; SIM_ERROR_CHECK for a job with two different
 * digests; SIM_ERROR_ENVIRONMENT for a damaged source. progress may be NULL; its `stop` ends the merge with
 * SIM_ERROR_CHECK. */
bool store_merge(struct store *into, struct store *const *sources, size_t count,
                 struct lab_progress *progress, struct store_merged *out, struct sim_error *error);

struct store_sweep_row {
    int64_t sweep;
    char *scenario_name;
    uint64_t identity, jobs, done;
    uint64_t digest; /* digest over the completed jobs: lab_sweep_digest_add() */
};
/* Lists the sweeps in order of their numbers. The caller must free *out with store_sweeps_free(). */
bool store_list_sweeps(struct store *store, struct store_sweep_row **out, size_t *count,
                       struct sim_error *error);
void store_sweeps_free(struct store_sweep_row *rows, size_t count);

#endif
