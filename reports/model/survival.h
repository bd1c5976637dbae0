/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Survival curves: the share of partitions larger than each size. What the chart and its distributions share.
 */
#ifndef REPORTS_SURVIVAL_H
#define REPORTS_SURVIVAL_H

#include "reports/model.h"
#include "tune/odds.h"
#include "tune/weighted.h"

/* The exact distribution of a strategy's closed partitions. */
struct report_survival_distribution {
    bool is_weighted;
    struct tune_distribution rows;
    struct tune_weighted weighted;
    uint64_t each; /* bytes of a row, where all rows have as many and the chart counts bytes; else 1 */
    uint64_t base; /* of bytes: what stands around a partition's rows */
};

/* False where there is none: of another kind of strategy, below REPORT_CLOSED_MIN closed partitions, with an
 * age that closes them, or for want of one size of all rows where the distribution needs it. */
bool report_survival_distribution_of(struct report_arena *arena, const struct lab_strategy_result *strategy,
                                     bool is_bytes, struct report_survival_distribution *out);
bool report_survival_is_same_distribution(const struct report_survival_distribution *one,
                                          const struct report_survival_distribution *other);
/* The size that no more than `share` of the partitions exceed; 0 when it is beyond 1e18. */
double report_survival_distribution_end(const struct report_survival_distribution *distribution,
                                        double share);
/* The distribution between the axes' ends as a line, down to the share of one of so many partitions; `label`
 * and `ink` are the caller's. */
void report_survival_distribution_line(struct report_arena *arena,
                                       const struct report_survival_distribution *distribution,
                                       double partitions, const struct report_chart *chart,
                                       struct report_line *line);

/* Puts samples into the line so that it draws the points (in decimal logarithms) to half a pixel, cut at the
 * foot of the plot. Returns which point each sample is, the arena's; NULL when out of memory. */
size_t *report_survival_trace(struct report_arena *arena, const struct report_chart *chart,
                              const struct report_point *points, size_t count, struct report_line *line);

#endif
