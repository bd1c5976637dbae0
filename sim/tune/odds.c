/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of the rows of a probabilistic partition. */
#include "tune/odds.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "lab/binomial.h"

#define TIE (256 * DBL_EPSILON) /* approximately the error of a tail, 5.7e-14 */

static void check_distribution(const struct tune_distribution *distribution)
{
    assert(distribution->p > 0 && distribution->p <= 1);
    assert(distribution->threshold >= 1);
}

double tune_mean_rows(const struct tune_distribution *distribution)
{
    check_distribution(distribution);
    return (double)distribution->threshold / distribution->p;
}

double tune_stddev_rows(const struct tune_distribution *distribution)
{
    check_distribution(distribution);
    return sqrt((double)distribution->threshold * (1 - distribution->p)) / distribution->p;
}

double tune_below(const struct tune_distribution *distribution, uint64_t rows)
{
    check_distribution(distribution);
    return rows <= distribution->threshold
               ? 0
               : lab_binomial_upper(rows - 1, distribution->threshold, distribution->p);
}

double tune_above(const struct tune_distribution *distribution, uint64_t rows)
{
    check_distribution(distribution);
    return rows < distribution->threshold
               ? 1
               : lab_binomial_lower(rows, distribution->threshold - 1, distribution->p);
}

double tune_pmf(const struct tune_distribution *distribution, uint64_t rows)
{
    check_distribution(distribution);
    /* The last row increments the counter, and the rows before it have threshold - 1 increments. */
    return rows < distribution->threshold
               ? 0
               : distribution->p * lab_binomial_pmf(rows - 1, distribution->threshold - 1, distribution->p);
}

/* Returns whether P(N <= rows) >= probability. It uses the tail that is more precise; 1 - probability is
 * exact for probabilities from 1/2 on. The error of a tail is tolerated, so that a probability that the
 * distribution has exactly (as 1/2 with one bit) is reached at the right number. The largest number counts as
 * reaching any probability, so that a search ends there even if the distribution continues. */
static bool reaches(const struct tune_distribution *distribution, uint64_t rows, double probability)
{
    if (rows == UINT64_MAX)
        return true;
    if (probability < 0.5)
        return tune_below(distribution, rows + 1) >= probability * (1 - TIE);
    return tune_above(distribution, rows) <= (1 - probability) * (1 + TIE);
}

/* Approximates the quantile by the Wilson-Hilferty transformation of a gamma distribution with the same mean
 * and variance. The result is at least the threshold. */
static uint64_t guess_quantile(const struct tune_distribution *distribution, double probability)
{
    double mean = tune_mean_rows(distribution);
    double relative = tune_stddev_rows(distribution) / mean;
    double normal = probability > 0 ? gsl_cdf_ugaussian_Pinv(probability) : 0;
    double root = 1 - relative * relative / 9 + normal * relative / 3;
    double rows = mean * root * root * root;
    if (!(rows > (double)distribution->threshold))
        return distribution->threshold;
    return rows < 0x1p64 ? (uint64_t)rows : UINT64_MAX;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Gallops from a guess until the quantile is in (low, high], then bisects. The result is correct even if the
 * guess is bad. */
uint64_t tune_quantile(const struct tune_distribution *distribution, double probability)
{
    check_distribution(distribution);
    assert(probability >= 0 && probability < 1);
    uint64_t least = distribution->threshold;
    if (reaches(distribution, least, probability))
        return least;
    uint64_t low, high;
    uint64_t guess = guess_quantile(distribution, probability);
    uint64_t step = 1;
    if (reaches(distribution, guess, probability)) {
        high = guess;
        low = guess - least > step ? guess - step : least;
        for (; reaches(distribution, low, probability); step *= 2) {
            high = low;
            low = low - least > step ? low - step : least;
        }
    } else {
        low = guess;
        high = add_saturated(guess, step);
        for (; !reaches(distribution, high, probability); step *= 2) {
            low = high;
            high = add_saturated(high, step);
        }
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (reaches(distribution, middle, probability))
            high = middle;
        else
            low = middle;
    }
    return high;
}

double tune_increments_per_1000_rows(const struct tune_distribution *distribution)
{
    check_distribution(distribution);
    return 1000 * distribution->p;
}
