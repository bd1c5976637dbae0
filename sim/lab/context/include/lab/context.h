/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run may use in addition to its scenario: whoever watches it, other ranks, and a place for its
 * snapshots. */
#ifndef LAB_CONTEXT_H
#define LAB_CONTEXT_H

#include "kernel/error.h"
#include "lab/progress.h"

struct lab_snapshots;
struct lab_team;

/* Takes the events of a cluster run, one a line that begins with the virtual time. Strategies then run one
 * after the other. */
struct lab_event_trace {
    void *context;
    void (*line)(void *context, const char *text);
    const char *key;      /* this key's events alone, and the faults; NULL: everything */
    uint64_t first, last; /* numbers of the events to tell of raw, from 1; 0: none. "event N: what it is", and
                             then what it means */
};

/* Each member may be NULL. All of it is the caller's and outlives the run. */
struct lab_run_context {
    struct lab_progress *progress;
    const struct lab_event_trace *event_trace; /* who listens */
    const struct lab_team *team;               /* other ranks that may do parts of the run (lab/team.h) */
    struct lab_snapshots *snapshots;           /* where states of the run are kept (lab/snapshot.h) */
};
static inline bool lab_run_is_stopped(const struct lab_run_context *context)
{
    return lab_is_stopped(context->progress);
}
/* Sets the error of a run that was stopped; returns false. */
static inline bool lab_fail_stopped(struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "stopped before the end; nothing was stored");
}

#endif
