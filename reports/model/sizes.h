/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The axes and the exact distribution of a histogram of sizes. */
#ifndef REPORTS_SIZES_H
#define REPORTS_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "bins.h"
#include "reports/format.h"
#include "reports/model.h"
#include "tune/odds.h"

/* The fewest closed partitions for which the distribution is shown. */
#define REPORT_CLOSED_MIN 100u

/* A log axis over the bins, with a label at each decade that has room for one. */
void report_sizes_x_axis(struct report_arena *arena, const struct report_bins *bins, enum report_unit unit,
                         struct report_axis *out);
/* An axis from 0 to slightly above `top`, with labels at 0 and at one to four round values. */
void report_sizes_y_axis(struct report_arena *arena, double top, struct report_axis *out);

/* Sets the y axes of a histogram's panels: panels with counts share one axis, and panels in per cent share
 * another. Returns whether counts are on a log scale, which then applies to bars and curves. */
bool report_counts_scale(struct report_arena *arena, struct report_panel *panels, size_t count,
                         const char *title);

/* The exact distribution of a probabilistic strategy's closed partitions. */
struct tune_distribution report_sizes_distribution_of(const struct bk_strategy *strategy);
/* Adds the distribution as the expected number of partitions per bin, of `closed` partitions. In the middle
 * of a bin it is the bin's expectation; elsewhere, that of a bin moved along the axis. */
void report_sizes_distribution(struct report_arena *arena, const struct bk_strategy *strategy,
                               const struct report_bins *bins, uint64_t closed, struct report_panel *panel);
/* The expected number of partitions, of `closed`, with more than `from` and at most `to` rows. */
double report_sizes_expected(const struct bk_strategy *strategy, uint64_t from, uint64_t to, uint64_t closed);
/* A caveat for comparing bars with the distribution; "" when there is none. */
const char *report_sizes_note(struct report_arena *arena, const struct lab_strategy_result *strategy);

#endif
