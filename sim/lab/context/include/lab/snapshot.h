/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots: the state of a run under way, kept by the caller, so that the run can go on after it was
 * stopped or killed, and comes to what it would have come to.
 *
 * A run has parts that know nothing of each other: in the cluster engine each strategy's run, in the stream
 * engine what each worker has done. Each part puts its state as a whole when it is due, at a moment of its
 * own; the newest takes the place of the older one. A run goes on from any set of states: a part of which
 * none was kept begins anew, which costs time and nothing else.
 *
 * Whoever wants none has `snapshots` of lab_run_context NULL, and pays for one test now and then. */
#ifndef LAB_SNAPSHOT_H
#define LAB_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/archive.h"
#include "lab/context.h"
#include "lab/scenario.h"

/* What was kept of a part. */
struct lab_kept {
    uint32_t part;
    const unsigned char *data; /* the caller's; they outlive the run */
    size_t size;
};

struct lab_snapshots {
    /* Raised by the caller, from any thread, when it wants states: each part puts one at its next safe point.
     * When the run is to stop, each puts one, too, before it does. */
    _Atomic uint32_t wish;
    /* From any thread, also from several at once. The state takes the place of those of all parts p with
     * p % parts == part. What goes wrong is the caller's to tell: the run goes on. NULL in place of data: the
     * state could not be made for want of memory. */
    void (*put)(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size);
    void *context;
    const struct lab_kept *kept; /* what the run goes on from, in order of parts, none twice */
    size_t kept_count;
    uint64_t events_each; /* of the cluster engine: a safe point after so many events; 0: as many as cost it
                             nothing */
};

/* Whether a part is to put its state now: there was a wish since the one that it has last heard of, in *heard
 * (at first 0), or the run is to stop. */
static inline bool lab_snapshot_is_due(const struct lab_run_context *context, uint32_t *heard)
{
    if (context->snapshots == NULL)
        return false;
    uint32_t wish = atomic_load_explicit(&context->snapshots->wish, memory_order_relaxed);
    bool is_due = wish != *heard || lab_run_is_stopped(context);
    *heard = wish;
    return is_due;
}
/* Whether the run is to stop where nothing of it is kept: at once, in the middle of anything. Where something
 * is, it stops at a safe point, which lab_run_is_stopped() tells. */
static inline bool lab_is_abandoned(const struct lab_run_context *context)
{
    return lab_run_is_stopped(context) && context->snapshots == NULL;
}

/* A state to save: begin, archive the part, put. `parts`: how many the run has now. */
void lab_snapshot_begin(const struct lab_scenario *scenario, struct sim_archive *archive);
void lab_snapshot_put(const struct lab_run_context *context, uint32_t part, uint32_t parts,
                      struct sim_archive *archive);
/* A state to go on from: *is_there says whether one was kept of this part; then the archive is ready to load,
 * and ends by sim_archive_finish_load(). False as sim_archive_begin_load(). */
bool lab_snapshot_find(const struct lab_run_context *context, const struct lab_scenario *scenario,
                       uint32_t part, struct sim_archive *archive, bool *is_there, struct sim_error *error);
/* Whether a state that was kept can be gone on from, as far as its outside tells: SIM_ERROR_ENVIRONMENT when
 * it is damaged, so that this part alone has to begin anew; SIM_ERROR_INPUT when it is of another kind of
 * machine, of another scenario, or of another version. */
bool lab_snapshot_check(const struct lab_scenario *scenario, const struct lab_kept *kept,
                        struct sim_error *error);
/* A number that changes with each byte of the files that the scenario reads, a trace or what was observed; 0
 * when there are none. SIM_ERROR_INPUT when one cannot be read. */
bool lab_snapshot_sources(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error);

#endif
