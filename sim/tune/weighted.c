/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of the bytes of a weighted partition. */
#include "tune/weighted.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "lab/binomial.h"

#define TIE       (256 * DBL_EPSILON) /* as in odds.c: the tolerance for the error of a tail */
#define FAR_SIGMA 12.0                /* beyond this, a tail is below 1e-30 */

static void check_distribution(const struct tune_weighted *distribution)
{
    assert(distribution->bytes >= 1 && distribution->threshold >= 1 && distribution->row_bytes >= 1);
}

static uint64_t whole_of(const struct tune_weighted *distribution)
{
    return distribution->row_bytes / distribution->bytes;
}

static double chance_of(const struct tune_weighted *distribution)
{
    return (double)(distribution->row_bytes % distribution->bytes) / (double)distribution->bytes;
}

/* Returns the least number of increments of the first `rows` rows, but at most the threshold. */
static uint64_t sure(const struct tune_weighted *distribution, uint64_t rows)
{
    uint64_t whole = whole_of(distribution);
    return whole > 0 && rows > distribution->threshold / whole ? distribution->threshold : rows * whole;
}

/* P(N > rows). */
static double rows_above(const struct tune_weighted *distribution, uint64_t rows)
{
    uint64_t added = sure(distribution, rows);
    if (added >= distribution->threshold)
        return 0;
    double p = chance_of(distribution);
    return p > 0 ? lab_binomial_lower(rows, distribution->threshold - added - 1, p) : 1;
}

/* Uses the formulas of the negative binomial distribution if it applies. Otherwise sums the tails, starting
 * from a number of rows that is certainly exceeded. */
static void moments(const struct tune_weighted *distribution, double *mean_rows, double *variance_rows)
{
    check_distribution(distribution);
    double p = chance_of(distribution), whole = (double)whole_of(distribution),
           threshold = (double)distribution->threshold;
    if (whole_of(distribution) == 0) {
        *mean_rows = threshold / p;
        *variance_rows = threshold * (1 - p) / (p * p);
        return;
    }
    double each = whole + p, near = threshold / each;
    double far = FAR_SIGMA * sqrt(near * p * (1 - p)) / each + 2;
    uint64_t from = near > far ? (uint64_t)(near - far) : 0;
    double sum = 0, squares = 0;
    for (uint64_t k = 0;; k++) {
        double above = rows_above(distribution, from + k);
        if (above < DBL_MIN)
            break;
        sum += above;
        squares += (2 * (double)k + 1) * above;
    }
    *mean_rows = (double)from + sum;
    *variance_rows = squares - sum * sum > 0 ? squares - sum * sum : 0;
}

double tune_weighted_mean_bytes(const struct tune_weighted *distribution)
{
    double mean_rows, variance_rows;
    moments(distribution, &mean_rows, &variance_rows);
    return mean_rows * (double)distribution->row_bytes;
}

double tune_weighted_stddev_bytes(const struct tune_weighted *distribution)
{
    double mean_rows, variance_rows;
    moments(distribution, &mean_rows, &variance_rows);
    return sqrt(variance_rows) * (double)distribution->row_bytes;
}

/* P(N < rows). */
static double rows_below(const struct tune_weighted *distribution, uint64_t rows)
{
    if (rows == 0)
        return 0;
    uint64_t added = sure(distribution, rows - 1);
    if (added >= distribution->threshold)
        return 1;
    double p = chance_of(distribution);
    return p > 0 ? lab_binomial_upper(rows - 1, distribution->threshold - added, p) : 0;
}

double tune_weighted_below(const struct tune_weighted *distribution, uint64_t bytes)
{
    check_distribution(distribution);
    return rows_below(distribution, bytes / distribution->row_bytes + (bytes % distribution->row_bytes != 0));
}

double tune_weighted_above(const struct tune_weighted *distribution, uint64_t bytes)
{
    check_distribution(distribution);
    return rows_above(distribution, bytes / distribution->row_bytes);
}

static bool reaches(const struct tune_weighted *distribution, uint64_t rows, double probability)
{
    if (probability < 0.5)
        return rows_below(distribution, rows + 1) >= probability * (1 - TIE) &&
               rows_below(distribution, rows + 1) > 0;
    return rows_above(distribution, rows) <= (1 - probability) * (1 + TIE);
}

uint64_t tune_weighted_quantile(const struct tune_weighted *distribution, double probability)
{
    check_distribution(distribution);
    assert(probability >= 0 && probability < 1);
    uint64_t most = UINT64_MAX / distribution->row_bytes,
             each = whole_of(distribution) + (chance_of(distribution) > 0);
    uint64_t low = (distribution->threshold - 1) / each,
             high = low + 1; /* fewer than `high` rows are never enough */
    while (high < most && !reaches(distribution, high, probability)) {
        low = high;
        high = high > most / 2 ? most : 2 * high;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (reaches(distribution, middle, probability))
            high = middle;
        else
            low = middle;
    }
    return high > most || !reaches(distribution, high, probability) ? UINT64_MAX
                                                                    : high * distribution->row_bytes;
}

double tune_weighted_increments_per_1000_rows(const struct tune_weighted *distribution)
{
    check_distribution(distribution);
    return whole_of(distribution) > 0 ? 1000 : 1000 * chance_of(distribution);
}

double tune_weighted_stddev_most(const struct tune_weighted *distribution)
{
    return (double)distribution->bytes * sqrt((double)distribution->threshold);
}

/* The probabilities of the rows that fit into these bytes sum up to at most mu. The bound is valid if the
 * threshold is at least mu + 1. */
double tune_weighted_below_most(const struct tune_weighted *distribution, uint64_t bytes)
{
    double mu = (double)bytes / (double)distribution->bytes;
    return mu + 1 > (double)distribution->threshold ? 1
                                                    : gsl_cdf_gamma_P(mu, (double)distribution->threshold, 1);
}

/* The probabilities of the rows before the one that exceeds these bytes sum up to mu. */
double tune_weighted_above_about(const struct tune_weighted *distribution, uint64_t bytes, double rest)
{
    double mu = ((double)bytes - rest) / (double)distribution->bytes;
    return mu < (double)distribution->threshold ? 1 : gsl_cdf_gamma_Q(mu, (double)distribution->threshold, 1);
}

/* The row that exceeds the bytes may have up to distribution->bytes. */
double tune_weighted_above_most(const struct tune_weighted *distribution, uint64_t bytes)
{
    return tune_weighted_above_about(distribution, bytes, (double)distribution->bytes);
}
