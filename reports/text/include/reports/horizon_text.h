/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences about when partitions exceed a limit. */
#ifndef REPORTS_HORIZON_TEXT_H
#define REPORTS_HORIZON_TEXT_H

#include "lab/result.h"
#include "reports/arena.h"
#include "reports/horizon.h"

/* The limits as text: "100,000 rows or 100 MB"; "" without limits. */
const char *report_limits(const struct lab_limits *limits, struct report_arena *arena);
/* "9.31 years" */
const char *report_days(struct report_arena *arena, double days);
/* "You need no buckets yet: ..."; "" when buckets are needed within a year. */
const char *report_no_buckets(const struct report_horizon *horizon, struct report_arena *arena);
/* The size at which to look again: "50,000 rows, half the limit". */
const char *report_half_limit(const struct report_horizon *horizon, struct report_arena *arena);
/* The horizon of a run with at least one strategy. */
struct report_horizon report_horizon_of(const struct lab_result *result);

#endif
