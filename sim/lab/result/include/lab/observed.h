/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results from sizes that a running Cassandra reported: one for each such file of the scenario. */
#ifndef LAB_OBSERVED_H
#define LAB_OBSERVED_H

#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* Reads the scenario's files; call it before the run, so that an invalid file is found early. *out:
 * observed_count results in the order of the scenario; NULL when there are none. The caller must free them
 * with lab_observed_free(), or pass them to lab_observed_append(). */
bool lab_observed_read(const struct lab_scenario *scenario, const struct lab_progress *progress,
                       struct lab_strategy_result **out, struct sim_error *error);
void lab_observed_free(struct lab_strategy_result *results, size_t count); /* results may be NULL */
/* Moves them to the end of the result's strategies, where lab_result_begin() has reserved room, and chains
 * their digests to the run's. */
void lab_observed_append(struct lab_result *result, struct lab_strategy_result *results, size_t count);

#endif
