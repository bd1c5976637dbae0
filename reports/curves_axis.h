/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes for any data: where they begin and end, and the few round numbers that stand at them. */
#ifndef REPORTS_CURVES_AXIS_H
#define REPORTS_CURVES_AXIS_H

#include <stdbool.h>

#include "chart.h"

struct report_extremes {
    double least, most;
    double positive; /* the least value above 0; 0 when there is none */
    bool has_zero;
    bool is_tight; /* a log axis ends where the values do, and not at a round number */
};

/* From a value of the data to a place on the axis. */
struct report_mapping {
    bool is_log;
    double unit; /* linear: of the numbers at the axis, in units of the data */
};

struct report_mapping report_curves_axis_fill(const struct report_curves_axis *axis,
                                              const struct report_extremes *extremes,
                                              struct report_arena *arena, struct report_axis *out);
double report_curves_map(const struct report_mapping *mapping, double value);

#endif
