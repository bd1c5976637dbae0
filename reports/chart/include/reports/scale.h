/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one scale of charts. An axis has positions: on a log axis the decimal logarithm of a value, otherwise
 * the value in the axis's unit. A scale chooses the ends and the unit, puts the numbers at round values, and
 * maps a value to its position; the layout maps positions to the page. */
#ifndef REPORTS_SCALE_H
#define REPORTS_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "reports/arena.h"
#include "reports/chart.h"

enum report_scale { REPORT_LINEAR, REPORT_LOG };
/* The units of an axis: plain numbers with K, M, G; times in ms, s, min, h or d; shares in %; bytes in B, KB,
 * MB. */
enum report_curves_unit {
    REPORT_UNIT_PLAIN,
    REPORT_UNIT_SECONDS,
    REPORT_UNIT_SHARE,
    REPORT_UNIT_BYTES,
    REPORT_UNIT_COUNT
};
struct report_curves_axis {
    const char *title;
    enum report_curves_unit unit;
    enum report_scale scale;
};

/* The values that an axis must show: from 0 to REPORT_VALUE_MAX. */
struct report_extremes {
    double least, most;
    double positive; /* the smallest value above 0; 0 when there is none */
    bool has_zero;
    bool is_tight;   /* a log axis ends at the extreme values, and not at round numbers */
    bool is_upright; /* the axis is the short y axis of a panel, with room for few numbers */
};
extern const struct report_extremes report_no_extremes;
void report_extremes_meet(struct report_extremes *extremes, double value);

/* Chooses both ends, the unit and the numbers of an axis. */
void report_scale_fill(const struct report_curves_axis *axis, const struct report_extremes *extremes,
                       struct report_arena *arena, struct report_axis *out);
/* Puts numbers on a log axis whose ends are set. */
void report_scale_log(struct report_arena *arena, enum report_curves_unit unit, bool is_upright,
                      struct report_axis *out);
/* Puts numbers on a linear axis whose ends are set: at multiples of 1, 2 or 5 times a power of ten that is at
 * least `step_min`, at most steps_max times along the axis. */
void report_scale_linear(struct report_arena *arena, enum report_curves_unit unit, double steps_max,
                         double step_min, struct report_axis *out);
/* A linear axis of time from low to high, both in seconds; `since` ends its title. */
void report_scale_span(struct report_arena *arena, double low, double high, const char *since,
                       struct report_axis *out);
/* The time axis of a run, in seconds since its start, with numbers at round dates and times of day (UTC). */
void report_scale_dates(struct report_arena *arena, int64_t start_ns, int64_t end_ns,
                        struct report_axis *out);
/* An interval as briefly as possible: "2026-01-03 06:00 to 12:00 UTC", "2026-01-03 to 2026-01-08 UTC". */
const char *report_interval(struct report_arena *arena, int64_t start_ns, int64_t end_ns);

/* The position of a value; minus infinity for 0 on a log axis. */
double report_at(const struct report_axis *axis, double value);
/* The value at a position, in the unit of the axis. */
double report_value_at(const struct report_axis *axis, double at);
/* The position of a value on a log axis: its decimal logarithm, bit-identical on every machine; and the
 * reverse. */
double report_log10(double value);
double report_exp10(double at);

#endif
