/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes for any data: their range, and the round numbers of their labels. */
#ifndef REPORTS_CURVES_AXIS_H
#define REPORTS_CURVES_AXIS_H

#include <stdbool.h>

#include "reports/arena.h"
#include "reports/chart.h"
#include "reports/curves.h"

struct report_extremes {
    double least, most;
    double positive; /* the smallest value above 0; 0 when there is none */
    bool has_zero;
    bool is_tight; /* a log axis ends at the extreme values, and not at round numbers */
};

extern const struct report_extremes report_no_extremes;
void report_extremes_meet(struct report_extremes *extremes, double value);
/* Whether a value is valid on an axis. */
bool report_curves_is_fit(const struct report_curves_axis *axis, double value);
/* Returns 0 for a value that is too close to 0, otherwise the value. */
double report_curves_flush(double value);

/* Maps a value of the data to a position on the axis. */
struct report_mapping {
    bool is_log;
    double unit; /* linear axes: the unit of the axis labels, in units of the data */
};

struct report_mapping report_curves_axis_fill(const struct report_curves_axis *axis,
                                              const struct report_extremes *extremes,
                                              struct report_arena *arena, struct report_axis *out);
/* A value by itself, with its unit: "0.21%", "7·10⁻⁸%", "20.5K". */
const char *report_curves_text(enum report_curves_unit unit, double value, struct report_arena *arena);
/* A value with its unit and all of its digits, for a hint: "0.2134%", "20 480", "0.0315 s". */
const char *report_curves_full(enum report_curves_unit unit, double value, struct report_arena *arena);
/* As report_curves_full(), with its confidence interval if it has one: "20.5 (19.75 to 21.25)". */
const char *report_curves_range(enum report_curves_unit unit, double value, double low, double high,
                                struct report_arena *arena);
double report_curves_map(const struct report_mapping *mapping, double value);

#endif
