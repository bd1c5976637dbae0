/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of a weighted partition's bytes.
 *
 * If all rows have `row_bytes` bytes, it is exact: with q = floor(row_bytes / bytes) and p = (row_bytes mod
 * bytes) / bytes, a partition has more than n rows if n q + Binomial(n, p) is below the threshold. The
 * relative error is at most 1e-10 for tails down to 1e-30, and at most 1e-9 for the mean and the standard
 * deviation.
 *
 * If rows have any sizes up to `bytes`, in any order that does not depend on their ids, there are bounds: the
 * sum of the probabilities of the rows that fit into x bytes is at most x / bytes, and among all sets of
 * independent events with a given sum of probabilities, the tails that are needed here are largest for a
 * Poisson distribution (Hoeffding 1956, Anderson and Samuels 1967). A distribution out of its range is a
 * programming error. */
#ifndef TUNE_WEIGHTED_H
#define TUNE_WEIGHTED_H

#include <stdint.h>

struct tune_weighted {
    uint64_t bytes;     /* bytes per increment: >= 1 */
    uint64_t threshold; /* >= 1 */
    uint64_t row_bytes; /* >= 1 */
};

double tune_weighted_mean_bytes(const struct tune_weighted *distribution);
double tune_weighted_stddev_bytes(const struct tune_weighted *distribution);
double tune_weighted_below(const struct tune_weighted *distribution, uint64_t bytes); /* P(S < bytes) */
double tune_weighted_above(const struct tune_weighted *distribution, uint64_t bytes); /* P(S > bytes) */
/* Returns the smallest size s with P(S <= s) >= probability, 0 <= probability < 1; UINT64_MAX if it does not
 * fit into 64 bits. */
uint64_t tune_weighted_quantile(const struct tune_weighted *distribution, double probability);
/* Returns the mean number of rows that update a counter per 1000 rows. */
double tune_weighted_increments_per_1000_rows(const struct tune_weighted *distribution);

/* Bounds for any row sizes up to `bytes`; row_bytes is not used. The mean is bytes x threshold. */
double tune_weighted_stddev_most(const struct tune_weighted *distribution);
double tune_weighted_below_most(const struct tune_weighted *distribution,
                                uint64_t bytes); /* >= P(S < bytes) */
double tune_weighted_above_most(const struct tune_weighted *distribution,
                                uint64_t bytes); /* >= P(S > bytes) */
/* Approximates P(S > bytes). `rest` is the mean number of bytes within the limit of the row that exceeds it;
 * for independent sizes b it is E(b^2) / 2 E(b), the mean age of a renewal process. */
double tune_weighted_above_about(const struct tune_weighted *distribution, uint64_t bytes, double rest);

#endif
