/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When partitions exceed a limit, in sentences. */
#ifndef REPORTS_HORIZON_TEXT_H
#define REPORTS_HORIZON_TEXT_H

#include "lab/result.h"
#include "reports/arena.h"
#include "reports/horizon.h"

/* "You need no buckets yet: ... Come back when ..."; "" where they are needed within a year. */
const char *report_no_buckets(const struct report_horizon *horizon, struct report_arena *arena);
/* That of a run, which has a strategy. */
struct report_horizon report_horizon_of(const struct lab_result *result);
/* That of a run by its metrics horizon.*, and when the first partition of each of its strategies exceeds a
 * limit; "" where the run has none of these. */
const char *report_horizons(const struct lab_result *result, struct report_arena *arena);

#endif
