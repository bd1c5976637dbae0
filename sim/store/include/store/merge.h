/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several run databases in one, without loss or double.
 *
 * A job of a sweep is the same wherever it was run; another run is the same when all that is kept of it is,
 * wall clock and all. What is there already is not added, so that a merge may be repeated. Every table that
 * belongs to a run, by its references, goes along with it. */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "lab/run.h"
#include "store/store.h"

struct store_merged {
    uint64_t added, found; /* runs: that came in, and that were there already */
};

/* `into` is open for writing, the sources for reading; all are left open. One transaction: on failure `into`
 * is as it was. The sources are never changed. A source that is `into` itself, or a sweep of two versions of
 * the program, is SIM_ERROR_INPUT; a job with two digests SIM_ERROR_CHECK, a damaged source
 * SIM_ERROR_ENVIRONMENT. progress may be NULL; its `stop` ends the merge as SIM_ERROR_CHECK. */
bool store_merge(struct store *into, struct store *const *sources, size_t count,
                 struct lab_progress *progress, struct store_merged *out, struct sim_error *error);

struct store_sweep_row {
    int64_t sweep;
    char *scenario_name;
    uint64_t identity, jobs, done;
    uint64_t digest; /* over what is done, as lab_sweep_digest_add() says */
};
/* By number; freed by store_sweeps_free(). */
bool store_list_sweeps(struct store *store, struct store_sweep_row **out, size_t *count,
                       struct sim_error *error);
void store_sweeps_free(struct store_sweep_row *rows, size_t count);

#endif
