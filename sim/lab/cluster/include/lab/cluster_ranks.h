/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs strategies of a cluster run on other ranks. */
#ifndef LAB_CLUSTER_RANKS_H
#define LAB_CLUSTER_RANKS_H

#include <stdatomic.h>

#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "ranks/ranks.h"

/* Lets other ranks take strategies from `next` too, and stores their results and errors by strategy. NULL
 * when there are no other ranks, or no thread could be started. lab_far_strategies_end() waits for the ranks,
 * and accepts NULL. */
struct lab_far_strategies;
struct lab_far_strategies *lab_far_strategies_begin(const struct lab_scenario *scenario,
                                                    const struct lab_run_context *context,
                                                    _Atomic size_t *next, struct lab_result **results,
                                                    struct sim_error *errors);
void lab_far_strategies_end(struct lab_far_strategies *far);
/* Runs one strategy for another rank (LAB_SERVICE_STRATEGY). */
bool lab_serve_strategy(struct ranks_task *task, const struct ranks_bytes *request,
                        struct ranks_bytes *answer, struct sim_error *error);

#endif
