/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of a weighted partition's bytes.
 *
 * Where all rows have `row_bytes` bytes it is exact: with q = floor(row_bytes / bytes) and p the rest's
 * chance, a partition has more than n rows when n q + Binomial(n, p) is below the threshold. Tails are right
 * to 1e-10 relative down to 1e-30, mean and standard deviation to 1e-9.
 *
 * Where rows have any sizes up to `bytes`, in any order that does not depend on their ids, there are bounds:
 * the sum of the chances of the rows that fit into x bytes is x / bytes at most, and of independent events
 * with a given sum of chances, in the tails that matter here, the number spreads most when it is a Poisson
 * number (Hoeffding 1956, Anderson and Samuels 1967). A distribution out of its range is an error of
 * programming. */
#ifndef TUNE_WEIGHTED_H
#define TUNE_WEIGHTED_H

#include <stdint.h>

struct tune_weighted {
    uint64_t bytes;     /* for which 1 is added: >= 1 */
    uint64_t threshold; /* >= 1 */
    uint64_t row_bytes; /* >= 1 */
};

double tune_weighted_mean_bytes(const struct tune_weighted *distribution);
double tune_weighted_stddev_bytes(const struct tune_weighted *distribution);
double tune_weighted_below(const struct tune_weighted *distribution, uint64_t bytes); /* P(S < bytes) */
double tune_weighted_above(const struct tune_weighted *distribution, uint64_t bytes); /* P(S > bytes) */
/* The smallest size s with P(S <= s) >= probability, 0 <= probability < 1; UINT64_MAX beyond 64 bits. */
uint64_t tune_weighted_quantile(const struct tune_weighted *distribution, double probability);
/* Rows that update a counter, of 1000. */
double tune_weighted_increments_per_1000_rows(const struct tune_weighted *distribution);

/* Of any sizes up to `bytes`; row_bytes is not looked at. The mean is bytes x threshold. */
double tune_weighted_stddev_most(const struct tune_weighted *distribution);
double tune_weighted_below_most(const struct tune_weighted *distribution,
                                uint64_t bytes); /* >= P(S < bytes) */
double tune_weighted_above_most(const struct tune_weighted *distribution,
                                uint64_t bytes); /* >= P(S > bytes) */
/* About P(S > bytes), where the row that goes beyond has `rest` bytes within them on average: of independent
 * sizes b E(b^2) / 2 E(b), the mean age of a renewal process. */
double tune_weighted_above_about(const struct tune_weighted *distribution, uint64_t bytes, double rest);

#endif
