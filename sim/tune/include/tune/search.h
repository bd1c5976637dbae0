/* SPDX-License-Identifier: GPL-3.0-or-later */
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
 * Computed risks carry the error of a tail (tune/odds.h). A setting whose risk is that close to the goal's
 * may be judged either way; where neighbouring thresholds differ by less than the error, this can concern
 * several of them. */
#ifndef TUNE_SEARCH_H
#define TUNE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tune/odds.h"

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
struct tune_candidate tune_candidate_of(const struct tune_goal *goal, uint64_t one_in, uint64_t threshold);
/* Examines up to fits_max probabilities, at least 1, and lists up to list_max pairs. Returns false when out
 * of memory. The caller must call tune_found_free() in either case. */
bool tune_search(const struct tune_goal *goal, const struct tune_chances *chances, size_t fits_max,
                 size_t list_max, struct tune_found *out);
void tune_found_free(struct tune_found *found);

#endif
