/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges several run databases into one, without losing or duplicating runs.
 *
 * Two runs of the same job of a sweep count as the same run. Other runs are the same when everything stored
 * about them is equal, including the wall clock time. A run that the target has already is not added, so a
 * merge may be repeated. Rows of all tables that refer to a run, directly or indirectly, are copied with
 * it. */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "lab/run.h"
#include "store/store.h"

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
