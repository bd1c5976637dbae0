/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences about when partitions exceed a limit. */
#ifndef REPORTS_HORIZON_TEXT_H
#define REPORTS_HORIZON_TEXT_H

#include "lab/result.h"
#include "reports/arena.h"
#include "reports/horizon.h"

/* "You need no buckets yet: ... Come back when ..."; "" when buckets are needed within a year. */
const char *report_no_buckets(const struct report_horizon *horizon, struct report_arena *arena);
/* The horizon of a run with at least one strategy. */
struct report_horizon report_horizon_of(const struct lab_result *result);
/* report_no_buckets() of a run, from its metrics horizon.*, and when the first partition of each strategy
 * exceeds a limit; "" when the run has none of these metrics. */
const char *report_horizons(const struct lab_result *result, struct report_arena *arena);

#endif
