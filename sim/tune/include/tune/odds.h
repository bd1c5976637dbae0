/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of the rows of a probabilistic partition.
 *
 * Rows are counted up to and including the row whose increment reaches the threshold, so N is negative
 * binomial: P(N > n) = P(Binomial(n, p) < threshold) = I_{1-p}(n - threshold + 1, threshold), the regularised
 * incomplete beta function. The relative error of either tail is at most 1e-10 down to 1e-30. A distribution
 * out of its range is a programming error. */
#ifndef TUNE_ODDS_H
#define TUNE_ODDS_H

#include <stdbool.h>
#include <stddef.h>
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

/* P(N > rows) of a Poisson number N of rows; 0 for a mean of 0. */
double tune_poisson_above(double mean, double rows);

/* Every setting of `probabilistic` that keeps a partition's rows within limits, by the exact distribution.
 *
 * A setting is a chance 1 / N that a row increments, and a threshold T. Its risk is f(N, T) = P(rows <
 * rows_min) + P(rows > rows_max) = P(B_m >= T) + P(B_M < T), where B_n is binomial with n draws and that
 * chance, m = rows_min - 1, M = rows_max. A setting holds when its risk is at most the goal's. The search
 * scans nothing, yet finds what a scan over all settings would find:
 *
 * 1. f(N, T + 1) - f(N, T) = P(B_M = T) - P(B_m = T), and the ratio of the two grows with T, by (M - T) /
 *    (m - T) a step (the monotone likelihood ratio; Karlin, Total Positivity, 1968, has it for every such
 *    family). So f first falls with T and then rises: the thresholds that hold are an interval, and
 * bisection on either side of the minimum finds its two edges. The minimum lies between rows_min / N and
 * rows_max / N, as each factor of P(B_M = T) / P(B_m = T) is
 *    (1 - 1 / N) n / (n - T), n from rows_min to M.
 * 2. d f / d N = (T / N) (f(N, T + 1) - f(N, T)), the derivative of a binomial tail. At the best threshold
 *    that is not negative, so the least risk over all T never falls as N grows: if N holds with some
 * threshold, so does every smaller N, and bisection finds the largest N that holds.
 *
 * Computed risks carry the error of a tail. A setting whose risk is that close to the goal's
 * may be judged either way; where neighbouring thresholds differ by less than the error, this can concern
 * several of them. */
#define TUNE_ROWS_MAX   ((uint64_t)INT64_MAX)
#define TUNE_ONE_IN_MAX (UINT64_C(1) << 63)

struct tune_goal {
    uint64_t rows_min, rows_max; /* rows_min <= rows_max, 1 <= rows_max <= TUNE_ROWS_MAX */
    double risk;                 /* the greatest risk allowed, 0 <= risk < 1 */
};

/* The thresholds of one chance. */
struct tune_fit {
    uint64_t one_in;      /* the chance is 1 / one_in */
    uint64_t first, last; /* the range of thresholds that hold; both 0 if none does */
    uint64_t best;        /* the threshold with the least risk */
    double best_risk;
};

/* The values of N to consider: the whole numbers from least to most, 1 <= least <= most <= TUNE_ONE_IN_MAX;
 * or the powers of 2 among them. */
struct tune_chances {
    uint64_t least, most;
    bool powers;
};

struct tune_candidate {
    uint64_t one_in;
    struct tune_distribution distribution;
    double below, above; /* P(rows < rows_min), P(rows > rows_max) */
};

struct tune_found {
    struct tune_fit *fits; /* of the chances that hold, the rarest first; those beyond fits_max left out */
    size_t fit_count;
    struct tune_candidate *candidates; /* all pairs in the order of fits, then of thresholds, up to the list's
                                          length */
    size_t candidate_count;
    uint64_t left_out; /* pairs that hold and are not listed; limited to UINT64_MAX */
    bool is_counted;   /* false: there are more than fits_max such chances, and left_out lacks their pairs */
    struct tune_candidate recommended; /* fewest increments, then least risk; of no meaning without a fit */
    bool has_rarer;                    /* a considered chance is too rare: none of its thresholds holds */
    struct tune_fit rarer;             /* the most frequent of those */
};

/* The probability that a partition is outside the limits. All risks are computed by this one expression.
 * Never 0 for a chance below 1, since no such setting is without risk. */
double tune_risk(const struct tune_distribution *distribution, const struct tune_goal *goal);
/* Whether the risk is at most the goal's, with a tolerance of a tail's relative error (6e-14), so that a
 * goal equal to the exact risk holds. */
bool tune_holds(const struct tune_distribution *distribution, const struct tune_goal *goal);
/* 1 <= one_in <= TUNE_ONE_IN_MAX. */
struct tune_fit tune_fit_thresholds(const struct tune_goal *goal, uint64_t one_in);
/* The rarest of the chances considered that holds with some threshold, as its N; 0 when none does. */
uint64_t tune_rarest(const struct tune_goal *goal, const struct tune_chances *chances);
/* Examines up to fits_max probabilities, at least 1, and lists up to list_max pairs. Returns false when out
 * of memory. The caller must call tune_found_free() in either case. */
bool tune_search(const struct tune_goal *goal, const struct tune_chances *chances, size_t fits_max,
                 size_t list_max, struct tune_found *out);
void tune_found_free(struct tune_found *found);

#endif
