/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strategies of a cluster run on other ranks. */
#ifndef LAB_CLUSTER_RANKS_H
#define LAB_CLUSTER_RANKS_H

#include <stdatomic.h>

#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "ranks/ranks.h"

/* Other ranks take strategies from `next` too, until there are `count`, and put each result and error into
 * its place; NULL without a team, or a thread. lab_far_strategies_end() waits for them. */
struct lab_far_strategies;
struct lab_far_strategies *lab_far_strategies_begin(const struct lab_scenario *scenario,
                                                    const struct lab_run_context *context,
                                                    _Atomic size_t *next, struct lab_result **results,
                                                    struct sim_error *errors);
void lab_far_strategies_end(struct lab_far_strategies *far);
/* One strategy of another rank's run (LAB_SERVICE_STRATEGY). */
bool lab_serve_strategy(struct ranks_task *task, const struct ranks_bytes *request,
                        struct ranks_bytes *answer, struct sim_error *error);

#endif
