/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep in the run database: its jobs, each a stored run, kept in batches.
 *
 * A batch is one transaction. It adds the jobs that are not there yet, whoever added those that are: several
 * programs may work on one sweep in one database, and each job's run is kept once. A run of a job that is
 * there with another digest is refused. The first batch makes the sweep. */
#ifndef STORE_SWEEP_H
#define STORE_SWEEP_H

#include "lab/sweep.h"
#include "store/store.h"

struct store_sweep;

/* Of a store that is open; sweep, store and texts outlive *out. path: where the scenario is found again;
 * version: the program's. A sweep that another version of the program began is SIM_ERROR_INPUT. Which jobs
 * are done is read here, and again with each batch. */
bool store_sweep_open(struct store *store, const struct lab_sweep *sweep, const char *path,
                      const char *version, struct store_sweep **out, struct sim_error *error);
void store_sweep_close(struct store_sweep *sweep); /* NULL is fine */

/* From any thread, at any time. */
bool store_sweep_is_done(const struct store_sweep *sweep, uint64_t job);
uint64_t store_sweep_done(const struct store_sweep *sweep);
/* Number of the sweep in the database; 0: none of its jobs is there yet. */
int64_t store_sweep_number(const struct store_sweep *sweep);

struct store_job {
    uint64_t job;
    struct lab_result *result;
    char *overrides; /* all of the run's, one a line */
    int64_t created_unix_s, elapsed_ms;
};

/* Keeps these jobs, all or none. SIM_ERROR_CHECK names a job that is there with another digest. A database
 * that was removed or replaced since it was opened is SIM_ERROR_ENVIRONMENT. */
bool store_sweep_keep(struct store_sweep *sweep, const struct store_job *jobs, size_t count,
                      struct sim_error *error);
/* Reads again which jobs are done, as what others took away is not seen otherwise; *digest is that over all
 * that are, in the order of jobs (lab_sweep_digest_add()). */
bool store_sweep_digest(struct store_sweep *sweep, uint64_t *digest, struct sim_error *error);

/* What is told of the jobs that are done, in their order; false ends it, with the error set. */
struct store_sweep_visitor {
    void *context;
    /* One figure; NaN where the run has none. The texts are those of the call. */
    bool (*metric)(void *context, uint64_t job, const char *label, const char *name, double value,
                   struct sim_error *error);
    /* Told before the figures, once for each job of which an expectation failed. */
    bool (*failed)(void *context, uint64_t job, struct sim_error *error);
};
/* names: a JSON list of the metrics that are wanted; NULL: all. */
bool store_sweep_visit(struct store_sweep *sweep, const char *names,
                       const struct store_sweep_visitor *visitor, struct sim_error *error);

#endif
