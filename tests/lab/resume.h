/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that are killed and resumed, and whether two results are equal. */
#ifndef TESTS_LAB_RESUME_H
#define TESTS_LAB_RESUME_H

#include <pthread.h>

#include "kernel/random.h"
#include "lab/run.h"
#include "lab/snapshot.h"

#define RESUME_PARTS_MAX 128

/* Keeps the states of a run in memory, and kills the run after a number of states. */
struct resume_keeper {
    struct lab_progress progress; /* `rows`: of all attempts together */
    struct lab_run_context context;
    struct lab_snapshots snapshots;
    struct lab_kept kept[RESUME_PARTS_MAX];
    pthread_mutex_t lock;
    bool is_kind; /* the run is stopped instead of killed, and its last states are kept */
    bool is_dead;
    uint64_t puts, puts_left;
};

void resume_keeper_init(struct resume_keeper *keeper);
void resume_keeper_clear(struct resume_keeper *keeper);
/* One attempt, which is killed or stopped after `puts` states (0: never). Returns false if it did not end by
 * itself. */
bool resume_attempt(struct resume_keeper *keeper, const struct lab_scenario *scenario, uint32_t jobs,
                    uint64_t puts, struct lab_result **out);
/* Repeats attempts of 1 to puts_most states and 1 to 3 workers, drawn from `random`, until the run ends.
 * Returns the number of attempts. */
unsigned resume_run(const struct lab_scenario *scenario, struct sim_random *random, uint64_t puts_most,
                    bool is_kind, struct lab_result **out);

/* NULL if the complete results are equal, else the name of the difference. */
const char *resume_difference(const struct lab_result *one, const struct lab_result *other);

struct lab_scenario *resume_scenario(const char *text);
struct lab_result *resume_undisturbed(const struct lab_scenario *scenario);

#endif
