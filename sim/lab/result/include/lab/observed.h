/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of what a running Cassandra told: one for each file of the scenario. */
#ifndef LAB_OBSERVED_H
#define LAB_OBSERVED_H

#include "lab/progress.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* Reads the scenario's files, so that a bad one is found before anything is run. *out: observed_count results
 * in the order of the scenario; NULL for none. To be freed by lab_observed_free(), or handed on. */
bool lab_observed_read(const struct lab_scenario *scenario, const struct lab_progress *progress,
                       struct lab_strategy_result **out, struct sim_error *error);
void lab_observed_free(struct lab_strategy_result *results, size_t count); /* NULL is fine */
/* Moves them behind the result's strategies, for which lab_result_begin() left room, and chains their digests
 * to the run's. */
void lab_observed_append(struct lab_result *result, struct lab_strategy_result *results, size_t count);

#endif
