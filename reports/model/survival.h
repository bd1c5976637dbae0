/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Survival curves: the share of partitions larger than each size. Shared by the chart and its
 * distributions. */
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
    uint64_t each; /* bytes per row, if the chart is in bytes and all rows have the same size; otherwise 1 */
    uint64_t base; /* for charts in bytes: overhead of a partition without its rows */
};

/* Returns false when there is no distribution: for other kinds of strategy, below REPORT_CLOSED_MIN closed
 * partitions, with a greatest age, or when the distribution needs rows of equal size and they are not. */
bool report_survival_distribution_of(struct report_arena *arena, const struct lab_strategy_result *strategy,
                                     bool is_bytes, struct report_survival_distribution *out);
bool report_survival_is_same_distribution(const struct report_survival_distribution *one,
                                          const struct report_survival_distribution *other);
/* The size that at most `share` of the partitions exceed; 0 when it is above 1e18. */
double report_survival_distribution_end(const struct report_survival_distribution *distribution,
                                        double share);
/* Makes a line of the distribution within the axes, down to the share of one in `partitions`. The caller sets
 * `label` and `ink`. */
void report_survival_distribution_line(struct report_arena *arena,
                                       const struct report_survival_distribution *distribution,
                                       double partitions, const struct report_chart *chart,
                                       struct report_line *line);

/* Sets the samples of the line such that it is within half a pixel of the points (in decimal logarithms),
 * clipped at the bottom of the plot. Returns the index of each sample's point, owned by the arena; NULL when
 * out of memory. */
size_t *report_survival_trace(struct report_arena *arena, const struct report_chart *chart,
                              const struct report_point *points, size_t count, struct report_line *line);

#endif
