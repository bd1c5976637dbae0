/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The growth of a trace, whose rate is modelled as r e^(gt). Whole weeks are compared, because rates have
 * daily and weekly cycles: each week of the second half with the week half the trace earlier. The logarithms
 * of these ratios are a sample, and g is their mean divided by the time between the weeks. The trace counts
 * as growing if the confidence interval of g is above 0. So at least four weeks are needed, and a stream that
 * shrinks, or only fluctuates, does not grow. */
#ifndef TUNE_GROWTH_H
#define TUNE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/result.h"
#include "lab/scenario.h"

enum { TUNE_GROWTH_WEEKS = 4 };

struct tune_growth {
    uint64_t weeks; /* whole weeks of the trace; below TUNE_GROWTH_WEEKS the growth is not known */
    double per_day; /* g; 0 if the trace does not grow or its growth is not known */
};

/* Returns the growth of a trace. weeks: the rows of each of `count` weeks, oldest first. */
struct tune_growth tune_growth_of(const uint64_t *weeks, uint64_t count, double confidence);
/* Reads the scenario's trace and determines the growth of its rows in [start_ns, end_ns). */
bool tune_growth_read(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                      double confidence, struct tune_growth *out, struct sim_error *error);
/* Determines the growth from a run with the trace, which may have counted the rows by week, so that the trace
 * need not be read again. */
bool tune_growth_of_run(const struct lab_scenario *scenario, const struct lab_result *result,
                        double confidence, struct tune_growth *out, struct sim_error *error);
/* Returns the number of days in which the rate doubles; infinity if it does not grow. */
double tune_growth_doubles(const struct tune_growth *growth);
/* Returns the number of days from the start until the stream has `times` as many rows as in its first `days`;
 * for tune_growth_rate_at(), until its rate is `times` the mean rate of its first `days`. */
double tune_growth_rows_at(const struct tune_growth *growth, double days, double times);
double tune_growth_rate_at(const struct tune_growth *growth, double days, double times);

#endif
