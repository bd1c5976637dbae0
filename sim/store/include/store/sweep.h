/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep in the run database: each of its jobs is a stored run; jobs are stored in batches.
 *
 * A batch is one transaction. Several processes may work on one sweep in one database: a batch adds only the
 * jobs that are not stored yet, so the run of each job is stored once. A batch is refused when a job is
 * already stored with another digest. The first batch creates the sweep. */
#ifndef STORE_SWEEP_H
#define STORE_SWEEP_H

#include "lab/sweep.h"
#include "store/store.h"

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

#endif
