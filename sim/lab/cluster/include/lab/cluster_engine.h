/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster engine: agents, nodes, clocks and faults in one event queue, with a separate run for each
 * strategy. */
#ifndef LAB_CLUSTER_ENGINE_H
#define LAB_CLUSTER_ENGINE_H

#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"

bool lab_cluster_scenario(const struct lab_scenario *scenario, uint32_t jobs,
                          const struct lab_run_context *context, struct lab_result **out,
                          struct sim_error *error);

#endif
