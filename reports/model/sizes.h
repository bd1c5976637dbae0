/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a histogram of sizes that have a rule of their own: the axes and the exact distribution. */
#ifndef REPORTS_SIZES_H
#define REPORTS_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "bins.h"
#include "reports/format.h"
#include "reports/model.h"
#include "tune/odds.h"

/* Fewer closed partitions than this, and the distribution says nothing about them. */
#define REPORT_CLOSED_MIN 100u

/* A log axis over the bins, with a number at each decade that has room for one. */
void report_sizes_x_axis(struct report_arena *arena, const struct report_bins *bins, enum report_unit unit,
                         struct report_axis *out);
/* From 0 to a little above top, numbers at 0 and at one to four round values. */
void report_sizes_y_axis(struct report_arena *arena, double top, struct report_axis *out);

/* Gives the panels of a histogram, whose bars count, one axis of counts; those in per cent share another.
 * Returns whether counts are on a log scale, which then holds for bars and curves. */
bool report_counts_scale(struct report_arena *arena, struct report_panel *panels, size_t count,
                         const char *title);

/* The exact distribution of a probabilistic strategy's closed partitions. */
struct tune_distribution report_sizes_distribution_of(const struct bk_strategy *strategy);
/* That distribution as expected partitions per bin, of `closed` partitions. At the middle
 * of a bin that is the bin's own expectation; between, that of a bin moved along the axis. */
void report_sizes_distribution(struct report_arena *arena, const struct bk_strategy *strategy,
                               const struct report_bins *bins, uint64_t closed, struct report_panel *panel);
/* How many of `closed` partitions the distribution expects with more than `from` and up to `to` rows. */
double report_sizes_expected(const struct bk_strategy *strategy, uint64_t from, uint64_t to, uint64_t closed);
/* What the reader must know before comparing bars and distribution; "" where there is nothing to say. */
const char *report_sizes_note(struct report_arena *arena, const struct lab_strategy_result *strategy);

#endif
