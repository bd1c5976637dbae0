/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a trace grows: its rate is taken for r e^(gt). Whole weeks are compared, since days and weekends have
 * cycles of their own: each week of the later half with the one so many weeks before it. The logarithms of
 * these ratios are a sample, and g is their mean over the time between; it counts as growth when its interval
 * lies above 0. So four weeks are needed, and a stream that shrinks, or that only fluctuates, does not grow.
 */
#ifndef TUNE_GROWTH_H
#define TUNE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/result.h"
#include "lab/scenario.h"

enum { TUNE_GROWTH_WEEKS = 4 };

struct tune_growth {
    uint64_t weeks; /* whole ones of the trace; below TUNE_GROWTH_WEEKS nothing is known */
    double per_day; /* g; 0: the trace does not grow, or nobody knows */
};

/* Of rows by week, oldest first. */
struct tune_growth tune_growth_of(const uint64_t *weeks, uint64_t count, double confidence);
/* Reads the scenario's trace; of rows in [start_ns, end_ns). */
bool tune_growth_read(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                      double confidence, struct tune_growth *out, struct sim_error *error);
/* The same of a run over it, which may have counted the rows itself. */
bool tune_growth_of_run(const struct lab_scenario *scenario, const struct lab_result *result,
                        double confidence, struct tune_growth *out, struct sim_error *error);
/* In how many days the rate doubles; infinity: it does not grow. */
double tune_growth_doubles(const struct tune_growth *growth);
/* After how many days from the start the stream has had so many times the rows, or its rate so many times
 * the mean rate, of its first `days`. */
double tune_growth_rows_at(const struct tune_growth *growth, double days, double times);
double tune_growth_rate_at(const struct tune_growth *growth, double days, double times);

#endif
