/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of the rows of a probabilistic partition. */
#include "tune/odds.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "binomial.h"

#define TIE (256 * DBL_EPSILON) /* about the error of a tail, 5.7e-14 */

static void check_law(const struct tune_law *law);
static bool reaches(const struct tune_law *law, uint64_t rows, double probability);
static uint64_t guess_quantile(const struct tune_law *law, double probability);
static uint64_t add_saturated(uint64_t a, uint64_t b);

double tune_mean_rows(const struct tune_law *law)
{
    check_law(law);
    return (double)law->threshold / law->p;
}

double tune_stddev_rows(const struct tune_law *law)
{
    check_law(law);
    return sqrt((double)law->threshold * (1 - law->p)) / law->p;
}

double tune_below(const struct tune_law *law, uint64_t rows)
{
    check_law(law);
    return rows <= law->threshold ? 0 : tune_binomial_upper(rows - 1, law->threshold, law->p);
}

double tune_above(const struct tune_law *law, uint64_t rows)
{
    check_law(law);
    return rows < law->threshold ? 1 : tune_binomial_lower(rows, law->threshold - 1, law->p);
}

double tune_pmf(const struct tune_law *law, uint64_t rows)
{
    check_law(law);
    /* The last row increments, and those before it have threshold - 1 increments. */
    return rows < law->threshold ? 0 : law->p * tune_binomial_pmf(rows - 1, law->threshold - 1, law->p);
}

/* Gallops from a guess until the quantile lies in (low, high], then halves: a guess may be wrong, the answer
 * not. */
uint64_t tune_quantile(const struct tune_law *law, double probability)
{
    check_law(law);
    assert(probability >= 0 && probability < 1);
    uint64_t least = law->threshold;
    if (reaches(law, least, probability))
        return least;
    uint64_t low, high;
    uint64_t guess = guess_quantile(law, probability);
    uint64_t step = 1;
    if (reaches(law, guess, probability)) {
        high = guess;
        low = guess - least > step ? guess - step : least;
        for (; reaches(law, low, probability); step *= 2) {
            high = low;
            low = low - least > step ? low - step : least;
        }
    } else {
        low = guess;
        high = add_saturated(guess, step);
        for (; !reaches(law, high, probability); step *= 2) {
            low = high;
            high = add_saturated(high, step);
        }
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (reaches(law, middle, probability))
            high = middle;
        else
            low = middle;
    }
    return high;
}

double tune_increments_per_1000_rows(const struct tune_law *law)
{
    check_law(law);
    return 1000 * law->p;
}

static void check_law(const struct tune_law *law)
{
    assert(law->p > 0 && law->p <= 1);
    assert(law->threshold >= 1);
}

/* P(N <= rows) >= probability, by the tail that keeps its digits: 1 - probability is exact from 1/2 on. What
 * a tail's own error may be is forgiven, so that a probability that the law takes exactly (a half, with one
 * bit) is reached where it is taken. The last number reaches everything, so that a search ends there when the
 * law goes beyond. */
static bool reaches(const struct tune_law *law, uint64_t rows, double probability)
{
    if (rows == UINT64_MAX)
        return true;
    if (probability < 0.5)
        return tune_below(law, rows + 1) >= probability * (1 - TIE);
    return tune_above(law, rows) <= (1 - probability) * (1 + TIE);
}

/* The Wilson-Hilferty cube of a gamma law with the same mean and variance; not below the threshold. */
static uint64_t guess_quantile(const struct tune_law *law, double probability)
{
    double mean = tune_mean_rows(law);
    double relative = tune_stddev_rows(law) / mean;
    double normal = probability > 0 ? gsl_cdf_ugaussian_Pinv(probability) : 0;
    double root = 1 - relative * relative / 9 + normal * relative / 3;
    double rows = mean * root * root * root;
    if (!(rows > (double)law->threshold))
        return law->threshold;
    return rows < 0x1p64 ? (uint64_t)rows : UINT64_MAX;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
