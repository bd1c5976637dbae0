/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a table without buckets stays within the limits. */
#ifndef REPORTS_HORIZON_H
#define REPORTS_HORIZON_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/result.h"

/* If that is at least a year, no buckets are needed yet. */
#define REPORT_ENOUGH_DAYS 365.0

struct report_horizon {
    double days_left;    /* days after the end of the run for which `unbucketed` stays within the limits;
                            infinity: without end; NaN: it exceeds them already */
    double doubles_days; /* days in which the rate of a trace doubles; infinity: it does not grow */
    bool is_trace;
    uint64_t limit_rows, limit_bytes; /* 0: none */
    double rows_most, bytes_most;     /* size of its largest partition at the end of the run */
};

/* The horizon of a run with at least one strategy. */
struct report_horizon report_horizon_of(const struct lab_result *result);

#endif
