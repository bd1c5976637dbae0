/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots: states of an unfinished run, stored by the caller, so that a run that was stopped or killed can
 * be resumed and ends with the same result.
 *
 * A run has independent parts: in the cluster engine the run of each strategy, in the stream engine the work
 * of each worker. Each part saves its whole state at a different time, and its newest state replaces the
 * older one. A run can be resumed from any set of states: a part without one starts again, which only costs
 * time.
 *
 * Without snapshots, lab_run_context.snapshots is NULL, and the only cost is an occasional test. */
#ifndef LAB_SNAPSHOT_H
#define LAB_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/archive.h"
#include "lab/context.h"
#include "lab/scenario.h"

/* The stored state of a part. */
struct lab_kept {
    uint32_t part;
    const unsigned char *data; /* the caller's; they outlive the run */
    size_t size;
};

struct lab_snapshots {
    /* Incremented by the caller, from any thread, to request states: each part saves one at its next safe
     * point. A part also saves one before it stops. */
    _Atomic uint32_t wish;
    /* Called from any thread, and by several at once. The state replaces those of all parts p with p % parts
     * == part. put() reports its own failures; the run continues. data is NULL when there was no memory for
     * the state. */
    void (*put)(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size);
    void *context;
    const struct lab_kept
        *kept; /* the states from which the run resumes, in order of parts, at most one per part */
    size_t kept_count;
    uint64_t events_each; /* cluster engine: number of events between two safe points; 0: a default with
                             negligible cost */
};

/* Whether a part must save its state now: `wish` has changed since *heard (initially 0), or the run must
 * stop. */
static inline bool lab_snapshot_is_due(const struct lab_run_context *context, uint32_t *heard)
{
    if (context->snapshots == NULL)
        return false;
    uint32_t wish = atomic_load_explicit(&context->snapshots->wish, memory_order_relaxed);
    bool is_due = wish != *heard || lab_run_is_stopped(context);
    *heard = wish;
    return is_due;
}
/* Whether the run must stop immediately, at any point, since its state is not saved. With snapshots it stops
 * at a safe point instead, by lab_run_is_stopped(). */
static inline bool lab_is_abandoned(const struct lab_run_context *context)
{
    return lab_run_is_stopped(context) && context->snapshots == NULL;
}

/* Saves a state: begin, archive the part, put. `parts`: the number of parts of the run. */
void lab_snapshot_begin(const struct lab_scenario *scenario, struct sim_archive *archive);
void lab_snapshot_put(const struct lab_run_context *context, uint32_t part, uint32_t parts,
                      struct sim_archive *archive);
/* Finds the state from which this part resumes. If *is_there, the archive is ready to load; end with
 * sim_archive_finish_load(). Returns false as sim_archive_begin_load() does. */
bool lab_snapshot_find(const struct lab_run_context *context, const struct lab_scenario *scenario,
                       uint32_t part, struct sim_archive *archive, bool *is_there, struct sim_error *error);
/* Whether a stored state can be resumed, judged by its header and checksum: SIM_ERROR_ENVIRONMENT when it
 * is damaged, so that this part must start again; SIM_ERROR_INPUT when it is from another kind of machine,
 * another scenario or another version. */
bool lab_snapshot_check(const struct lab_scenario *scenario, const struct lab_kept *kept,
                        struct sim_error *error);
/* A hash of the files that the scenario reads (a trace, observed sizes); 0 when there are none.
 * SIM_ERROR_INPUT when one cannot be read. */
bool lab_snapshot_sources(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error);

#endif
