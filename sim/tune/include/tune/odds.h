/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of the rows of a probabilistic or weighted partition.
 *
 * Each row adds `whole` increments, and one more with probability p. Rows are counted up to and including the
 * one whose increments reach the threshold, so P(N > n) = P(n whole + Binomial(n, p) < threshold): for
 * probabilistic, where `whole` is 0, N is negative binomial. A row of weighted adds its bytes / bytes; if all
 * have the same size, whole and p are the quotient and its rest, and the bytes of a partition are N times the
 * size. The relative error of either tail is at most 1e-10 down to 1e-30; of the mean and the standard
 * deviation 1e-9. A distribution out of its range is a programming error. */
#ifndef TUNE_ODDS_H
#define TUNE_ODDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/strategy.h"

struct tune_distribution {
    double p;           /* from 0 to 1; above 0 unless whole is */
    uint64_t threshold; /* >= 1 */
    uint64_t whole;
};

/* Of a probabilistic or weighted strategy; row_bytes: of every row, for weighted. */
struct tune_distribution tune_distribution_of(const struct bk_strategy *strategy, uint64_t row_bytes);
struct tune_distribution tune_weighted(uint64_t bytes, uint64_t threshold, uint64_t row_bytes);

double tune_mean_rows(const struct tune_distribution *distribution);
double tune_stddev_rows(const struct tune_distribution *distribution);
double tune_below(const struct tune_distribution *distribution, uint64_t rows); /* P(N < rows) */
double tune_above(const struct tune_distribution *distribution, uint64_t rows); /* P(N > rows) */
/* The smallest n with P(N <= n) >= probability, 0 <= probability < 1; for 0 the smallest that can be;
 * UINT64_MAX when the distribution reaches beyond. */
uint64_t tune_quantile(const struct tune_distribution *distribution, double probability);
/* The mean number of rows that update a counter. */
double tune_increments_per_1000_rows(const struct tune_distribution *distribution);

/* Bounds for rows of any sizes up to `unit` bytes, the bytes of an increment of weighted, in any order that
 * does not depend on their ids. The sum of the probabilities of the rows that fit into x bytes is at most x /
 * unit, and among all sets of independent events with a given sum of probabilities, the tails that are needed
 * here are largest for a Poisson distribution (Hoeffding 1956, Anderson and Samuels 1967). */
/* At least P(S < bytes). */
double tune_weighted_below_most(uint64_t unit, uint64_t threshold, uint64_t bytes);
/* About P(S > bytes). `rest` is the mean number of bytes within the limit of the row that exceeds it; for
 * independent sizes b it is E(b^2) / 2 E(b), the mean age of a renewal process. With `unit`, which no row
 * exceeds, an upper bound. */
double tune_weighted_above_about(uint64_t unit, uint64_t threshold, uint64_t bytes, double rest);

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
