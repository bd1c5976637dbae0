/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that are killed and go on, and whether two results are the same. */
#ifndef TESTS_LAB_RESUME_H
#define TESTS_LAB_RESUME_H

#include <pthread.h>

#include "kernel/random.h"
#include "lab/run.h"
#include "lab/snapshot.h"

#define RESUME_PARTS_MAX 128

/* Keeps the states of a run in memory, and kills the run after so many of them. */
struct resume_keeper {
    struct lab_progress progress; /* `rows`: of all the attempts together */
    struct lab_run_context context;
    struct lab_snapshots snapshots;
    struct lab_kept kept[RESUME_PARTS_MAX];
    pthread_mutex_t lock;
    bool is_kind; /* the run is asked to stop, and not killed: what it puts then is kept */
    bool is_dead;
    uint64_t puts, puts_left;
};

void resume_keeper_init(struct resume_keeper *keeper);
void resume_keeper_clear(struct resume_keeper *keeper);
/* One attempt, killed or asked to stop after `puts` states (0: never); false when it was. */
bool resume_attempt(struct resume_keeper *keeper, const struct lab_scenario *scenario, uint32_t jobs,
                    uint64_t puts, struct lab_result **out);
/* Until the run is finished, by attempts of 1 to puts_most states, and of 1 to 3 workers, as `random` has it.
 * Returns how many attempts that took. */
unsigned resume_run(const struct lab_scenario *scenario, struct sim_random *random, uint64_t puts_most,
                    bool is_kind, struct lab_result **out);

/* NULL when all that the results hold is the same, else what is not. */
const char *resume_difference(const struct lab_result *one, const struct lab_result *other);

struct lab_scenario *resume_scenario(const char *text);
struct lab_result *resume_undisturbed(const struct lab_scenario *scenario);

#endif
