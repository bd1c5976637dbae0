/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a profile for cassandra-stress (`user profile=FILE`): the table of a strategy, with writes and reads
 * approximately as in the scenario. The grammar is that of apache/cassandra, tools/stress: StressProfile,
 * OptionDistribution. */
#ifndef CLI_STRESS_H
#define CLI_STRESS_H

#include <stdio.h>

#include "lab/result.h"
#include "lab/scenario.h"

/* Writes the profile of one of the scenario's strategies, for which lab_statements_problem() must be NULL.
 * result: a run of the same scenario with this strategy, for its partition sizes; NULL: the strategy's exact
 * distribution of sizes is used. */
bool cli_stress_write(FILE *stream, const struct lab_scenario *scenario, size_t strategy,
                      const struct lab_result *result, struct sim_error *error);

#endif
