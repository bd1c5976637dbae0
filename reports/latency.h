/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line of one operation's latencies: how long at most, by percentile. Percentiles stand on a log axis of
 * what lies beyond them, on which each nine takes the same room: x = -log10(1 - p). */
#ifndef REPORTS_LATENCY_H
#define REPORTS_LATENCY_H

#include "chart.h"
#include "curves_axis.h"

/* A percentile that is marked: 1 of `of` operations takes longer. False behind the last one. */
bool report_percentile(unsigned index, uint64_t *of);
/* "99.9%" of 1000. */
const char *report_percentile_text(struct report_arena *arena, uint64_t of);

struct report_latency {
    const struct lab_strategy_result *strategy;
    enum lab_latency latency;
    const char *noun; /* "write" */
};
/* Steps as the histogram has them, thinned to what can be seen in `width` and `height`, in units of the axes;
 * samples with hints at the percentiles and at the end, where the slowest one is. */
void report_latency_line(const struct report_latency *latency, const struct report_mapping *y, double width,
                         double height, struct report_arena *arena, struct report_line *line);

#endif
