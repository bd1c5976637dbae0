/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expectations of a scenario: they are checked before the run, as far as possible, and judged after it.
 */
#ifndef LAB_EXPECTS_H
#define LAB_EXPECTS_H

#include <stdbool.h>

#include "lab/result.h"
#include "lab/scenario.h"

/* Refuses (SIM_ERROR_INPUT) an expectation on a metric that no run has, or that no expectation can name, and
 * one whose number has a unit that the metric does not have. Earlier versions accepted these units, so a
 * scenario of lab_scenario_again() may have them. lab_run() calls this first. */
bool lab_expects_check(const struct lab_scenario *scenario, struct sim_error *error);
/* Adds the judged expectations to the result. Refuses one whose metric the run does not have. */
bool lab_expects_judge(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error);

#endif
