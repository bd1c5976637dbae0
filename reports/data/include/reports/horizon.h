/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a table without buckets will do. */
#ifndef REPORTS_HORIZON_H
#define REPORTS_HORIZON_H

#include <stdbool.h>
#include <stdint.h>

/* Where it will do for another year, no buckets are needed yet. */
#define REPORT_ENOUGH_DAYS 365.0

struct report_horizon {
    double days_left;    /* of unbucketed within the limits, from the end of the run; infinity: for ever; NaN:
                            none */
    double doubles_days; /* in which the rate of a trace doubles; infinity: it does not grow */
    bool is_trace;
    uint64_t limit_rows, limit_bytes; /* 0: none */
    double rows_most, bytes_most;     /* of its largest partition at the end of the run */
};

#endif
