/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many independent jobs on several threads, and on other ranks.
 *
 * Jobs are taken up in the order of their numbers, and what they made is handed over in that order, one at a
 * time, whichever thread is first: so what is made of it does not depend on the number of threads or ranks.
 * Only a few jobs for each thread are ahead of the slowest, so memory does not grow with their number. */
#ifndef LAB_CREW_H
#define LAB_CREW_H

#include "lab/run.h"
#include "lab/team.h"

struct lab_crew {
    void *context;
    uint64_t count; /* jobs 0 to count - 1 */
    bool is_open;   /* take() ends them, nobody knows when: progress has no total */
    /* Called on any thread, several at once, but once for each job. *made, NULL on entry, is what the job
     * hands over. `progress` is to be given to lab_run(): it ends the job when the crew is to stop. */
    bool (*work)(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error);
    /* Called on any thread, one call at a time, in the order of jobs; owns `made`. With *is_enough set no
     * more are handed over. */
    bool (*take)(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error);
    void (*drop)(void *made); /* what is not handed over any more; NULL is fine */
    /* Ranks that work too, and the same as work() there: it asks the rank, and waits. NULL: this one alone.
     */
    const struct lab_team *team;
    bool (*work_far)(void *context, uint64_t job, uint32_t rank, struct lab_progress *progress, void **made,
                     struct sim_error *error);
};

/* threads: of this rank, at least 1; of them no more are made than there are jobs. progress may be NULL:
 * `total`, `done` and `rows` count jobs, `stop` ends all soon. *taken: how many jobs were handed over. True
 * when all were, or take() had enough, or progress->stop was set; false with the error of the first job, in
 * their order, that failed, or of take(). */
bool lab_crew_run(const struct lab_crew *crew, uint32_t threads, struct lab_progress *progress,
                  uint64_t *taken, struct sim_error *error);

#endif
