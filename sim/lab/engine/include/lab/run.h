/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a scenario: every strategy over the same rows.
 *
 * The result depends only on the scenario, and not on the number of workers, the machine or the time of
 * day. */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* jobs: number of worker threads, at least 1. progress may be NULL. On failure *out is NULL. A failed
 * expectation is not a failure of the call, but recorded in the result. An expectation on a metric that the
 * run does not have is SIM_ERROR_INPUT. */
bool lab_run(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
             struct lab_result **out, struct sim_error *error);
/* As lab_run(), with all options of a run; context must not be NULL. */
bool lab_run_in(const struct lab_scenario *scenario, uint32_t jobs, const struct lab_run_context *context,
                struct lab_result **out, struct sim_error *error);

/* Refuses (SIM_ERROR_INPUT) an expectation on a metric that no run has, or that no expectation can name, and
 * one whose number has a unit that the metric does not have. Earlier versions accepted these units, so a
 * scenario of lab_scenario_again() may have them. lab_run() calls this first. */
bool lab_expects_check(const struct lab_scenario *scenario, struct sim_error *error);

#endif
