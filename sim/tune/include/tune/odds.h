/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of the rows of a probabilistic partition.
 *
 * Rows are counted up to and including the row whose increment reaches the threshold, so N is negative
 * binomial: P(N > n) = P(Binomial(n, p) < threshold) = I_{1-p}(n - threshold + 1, threshold), the regularised
 * incomplete beta function. The relative error of either tail is at most 1e-10 down to 1e-30. A distribution
 * out of its range is a programming error. */
#ifndef TUNE_ODDS_H
#define TUNE_ODDS_H

#include <stdint.h>

struct tune_distribution {
    double p;           /* chance that a row increments: 0 < p <= 1 */
    uint64_t threshold; /* >= 1 */
};

double tune_mean_rows(const struct tune_distribution *distribution);
double tune_stddev_rows(const struct tune_distribution *distribution);
double tune_below(const struct tune_distribution *distribution, uint64_t rows); /* P(N < rows) */
double tune_above(const struct tune_distribution *distribution, uint64_t rows); /* P(N > rows) */
double tune_pmf(const struct tune_distribution *distribution, uint64_t rows);   /* P(N = rows) */
/* The smallest n with P(N <= n) >= probability, 0 <= probability < 1, searched until its lower neighbour
 * fails; at least the threshold (for 0 too), UINT64_MAX when the distribution reaches beyond. */
uint64_t tune_quantile(const struct tune_distribution *distribution, double probability);
double tune_increments_per_1000_rows(const struct tune_distribution *distribution);

#endif
