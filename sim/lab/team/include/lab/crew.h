/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs many independent jobs on several threads, and on all ranks of a team.
 *
 * Jobs are started in the order of their numbers, and their results are delivered to take() in that order,
 * one at a time, whichever thread finishes first. So the outcome does not depend on the number of threads or
 * ranks. Only some jobs per thread may be ahead of the slowest job, so memory does not grow with the number
 * of jobs. */
#ifndef LAB_CREW_H
#define LAB_CREW_H

#include "lab/team.h"

struct lab_crew {
    void *context;
    uint64_t count; /* jobs 0 to count - 1 */
    bool is_part;   /* the jobs are parts of a run, and make its progress, which work() does not get */
    bool is_open;   /* take() decides when the jobs end, so progress has no total */
    /* Called once for each job, on any thread, several at the same time. Sets *made, NULL on entry, to the
     * job's result. `progress` must be passed to lab_run(), so that the job ends when the crew must stop. */
    bool (*work)(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error);
    /* Called on any thread, one call at a time, in the order of jobs; takes ownership of `made`. When it sets
     * *is_enough, no more results are delivered. */
    bool (*take)(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error);
    void (*drop)(void *made); /* frees a result that is not delivered; made may be NULL */
    /* The ranks that work on the jobs; NULL: only this one. Rank 0 sends the order, by which each other rank
     * makes the same crew and runs it. It needs no take(): archive() saves its results there, and loads them
     * on rank 0. */
    const struct lab_team *team;
    struct lab_order *order;
    lab_order_more *more;
    void (*archive)(void *context, void **made, struct sim_archive *archive);
};

/* Runs all jobs. threads: the most threads of this rank, at least 1. progress may be NULL; its `total`,
 * `done` and `rows` count jobs, and `stop` ends all jobs soon. *taken: number of jobs whose results were
 * delivered. Returns true when all were delivered, when take() has set *is_enough, or when progress->stop was
 * set; false with the error of take(), or of the first failed job in the order of jobs. */
bool lab_crew_run(const struct lab_crew *crew, uint32_t threads, struct lab_progress *progress,
                  uint64_t *taken, struct sim_error *error);

#endif
