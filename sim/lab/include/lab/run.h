/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a scenario: every strategy over the same rows.
 *
 * The result is a function of the scenario alone: not of the number of workers, the machine or the time of
 * day. */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lab/result.h"
#include "lab/scenario.h"

/* Written by the workers, read by whoever draws a progress bar; relaxed order. */
struct lab_team;

struct lab_progress {
    _Atomic uint64_t done;  /* in the units of `total` */
    _Atomic uint64_t total; /* rows expected of a made workload, bytes of a trace; 0 until known */
    _Atomic uint64_t rows;
    _Atomic bool stop;                 /* set by the caller: the run ends soon with an error and no result */
    const struct lab_progress *parent; /* its `stop` counts too; NULL: nobody's */
    const struct lab_team *team;       /* other ranks that may do parts of the run; NULL: there are none */
    struct lab_snapshots *snapshots;   /* NULL: none are kept (lab/snapshot.h) */
};

static inline bool lab_is_stopped(const struct lab_progress *progress)
{
    while (progress != NULL && !atomic_load_explicit(&progress->stop, memory_order_relaxed))
        progress = progress->parent;
    return progress != NULL;
}

/* Who wants to hear what happens in a cluster run, a line an event, virtual time first. Strategies then run
 * one after the other. */
struct lab_story {
    void *context;
    void (*line)(void *context, const char *text);
    const char *key;      /* this key's events alone, and the faults; NULL: everything */
    uint64_t first, last; /* numbers of the events to tell of raw, from 1; 0: none. "event N: what it is", and
                             then what it means */
};

/* Whether a run would be refused for what only the engine knows to be too much, as far as that is known
 * before it: SIM_ERROR_INPUT. */
bool lab_run_check(const struct lab_scenario *scenario, struct sim_error *error);
/* jobs: worker threads, at least 1; progress may be NULL. On failure *out is NULL. An expectation that does
 * not hold is no failure: it stands in the result. An expectation on a metric that the run does not have is
 * SIM_ERROR_INPUT. */
bool lab_run(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
             struct lab_result **out, struct sim_error *error);
/* The same with a listener; story may be NULL. */
bool lab_run_told(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
                  const struct lab_story *story, struct lab_result **out, struct sim_error *error);

#endif
