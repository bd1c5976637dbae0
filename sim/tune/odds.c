/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact distributions of partition sizes: of the rows of probabilistic ones, and of the bytes of weighted
 * ones; and all pairs of bits and threshold within a risk. */
#include "tune/odds.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "lab/binomial.h"

#define TIE (256 * DBL_EPSILON) /* approximately the error of a tail, 5.7e-14 */

#define FAR_SIGMA 12.0 /* beyond this, a tail is below 1e-30 */

/* --- probabilistic */

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

/* --- weighted */

static void check_weighted(const struct tune_weighted *distribution)
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
    check_weighted(distribution);
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
    check_weighted(distribution);
    return rows_below(distribution, bytes / distribution->row_bytes + (bytes % distribution->row_bytes != 0));
}

double tune_weighted_above(const struct tune_weighted *distribution, uint64_t bytes)
{
    check_weighted(distribution);
    return rows_above(distribution, bytes / distribution->row_bytes);
}

static bool weighted_reaches(const struct tune_weighted *distribution, uint64_t rows, double probability)
{
    if (probability < 0.5)
        return rows_below(distribution, rows + 1) >= probability * (1 - TIE) &&
               rows_below(distribution, rows + 1) > 0;
    return rows_above(distribution, rows) <= (1 - probability) * (1 + TIE);
}

uint64_t tune_weighted_quantile(const struct tune_weighted *distribution, double probability)
{
    check_weighted(distribution);
    assert(probability >= 0 && probability < 1);
    uint64_t most = UINT64_MAX / distribution->row_bytes,
             each = whole_of(distribution) + (chance_of(distribution) > 0);
    uint64_t low = (distribution->threshold - 1) / each,
             high = low + 1; /* fewer than `high` rows are never enough */
    while (high < most && !weighted_reaches(distribution, high, probability)) {
        low = high;
        high = high > most / 2 ? most : 2 * high;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (weighted_reaches(distribution, middle, probability))
            high = middle;
        else
            low = middle;
    }
    return high > most || !weighted_reaches(distribution, high, probability) ? UINT64_MAX
                                                                             : high * distribution->row_bytes;
}

double tune_weighted_increments_per_1000_rows(const struct tune_weighted *distribution)
{
    check_weighted(distribution);
    return whole_of(distribution) > 0 ? 1000 : 1000 * chance_of(distribution);
}

double tune_weighted_stddev_most(const struct tune_weighted *distribution)
{
    return (double)distribution->bytes * sqrt((double)distribution->threshold);
}

/* The standard normal quantile of P(N < k), N Poisson, for large numbers: Peizer and Pratt (1968), here with
 * a relative error below 3 x 10^-8 of both tails. From about 10^5 on GSL loses digits (at 10^6, below the
 * mode, it is wrong by a factor), and above a mean of 10^6 its series do not converge, and GSL aborts. */
#define GSL_ROWS_MOST 3e4
static double poisson_quantile(double mean, double k)
{
    const double t = (k - 0.5) / mean, e = t - 1,
                 g = fabs(e) < 1e-3 ? e * (-1.0 / 3 + e * (1.0 / 6 - e / 10))
                                    : (1 - t * t + 2 * t * log(t)) / (e * e);
    return (k - 1.0 / 3 - mean + 0.02 / k) * sqrt((1 + g) / mean);
}

/* P(N >= k), k >= 1. */
static double poisson_upper(double mean, double k)
{
    return fmax(mean, k) > GSL_ROWS_MOST ? gsl_cdf_ugaussian_Q(poisson_quantile(mean, k))
                                         : gsl_cdf_gamma_P(mean, k, 1);
}

/* P(N < k), k >= 1. */
static double poisson_lower(double mean, double k)
{
    return fmax(mean, k) > GSL_ROWS_MOST ? gsl_cdf_ugaussian_P(poisson_quantile(mean, k))
                                         : gsl_cdf_gamma_Q(mean, k, 1);
}

/* Far out, the first term and a geometric series. */
double tune_poisson_above(double mean, double rows)
{
    const double k = floor(rows) + 1;
    if (!(mean > 0) || !(rows < 1e18))
        return 0;
    const double log_first = k - mean - k * log(k / mean) - 0.5 * log(2 * M_PI * k) - 1 / (12 * k + 1);
    if (k > GSL_ROWS_MOST || mean >= k || log_first > -30)
        return poisson_upper(mean, k);
    return exp(log_first) * (k + 1) / (k + 1 - mean);
}

/* The probabilities of the rows that fit into these bytes sum up to at most mu. The bound is valid if the
 * threshold is at least mu + 1. */
double tune_weighted_below_most(const struct tune_weighted *distribution, uint64_t bytes)
{
    double mu = (double)bytes / (double)distribution->bytes;
    return mu + 1 > (double)distribution->threshold ? 1 : poisson_upper(mu, (double)distribution->threshold);
}

/* The probabilities of the rows before the one that exceeds these bytes sum up to mu. */
double tune_weighted_above_about(const struct tune_weighted *distribution, uint64_t bytes, double rest)
{
    double mu = ((double)bytes - rest) / (double)distribution->bytes;
    return mu < (double)distribution->threshold ? 1 : poisson_lower(mu, (double)distribution->threshold);
}

/* The row that exceeds the bytes may have up to distribution->bytes. */
double tune_weighted_above_most(const struct tune_weighted *distribution, uint64_t bytes)
{
    return tune_weighted_above_about(distribution, bytes, (double)distribution->bytes);
}

/* --- the search */

double tune_risk(const struct tune_distribution *distribution, const struct tune_goal *goal)
{
    double risk = tune_below(distribution, goal->rows_min) + tune_above(distribution, goal->rows_max);
    return risk == 0 && distribution->p < 1 ? DBL_TRUE_MIN : risk;
}

bool tune_holds(const struct tune_distribution *distribution, const struct tune_goal *goal)
{
    double most = goal->risk * (1 + TIE);
    /* The risk is a sum whose first term is quicker to compute, and that term alone may exceed the goal. */
    return tune_below(distribution, goal->rows_min) <= most && tune_risk(distribution, goal) <= most;
}

static void check_goal(const struct tune_goal *goal)
{
    assert(goal->rows_min <= goal->rows_max && 1 <= goal->rows_max && goal->rows_max <= TUNE_ROWS_MAX);
    assert(goal->risk >= 0 && goal->risk < 1);
}

static struct tune_distribution distribution_of(uint64_t one_in, uint64_t threshold)
{
    return (struct tune_distribution){.p = 1.0 / (double)one_in, .threshold = threshold};
}

/* Returns whether the next threshold does not lower the risk. If both probabilities underflow, the risk
 * counts as 0. */
static bool is_past_best(const struct tune_goal *goal, double p, uint64_t threshold)
{
    uint64_t before = goal->rows_min > 0 ? goal->rows_min - 1 : 0;
    return lab_binomial_pmf(goal->rows_max, threshold, p) >= lab_binomial_pmf(before, threshold, p);
}

/* Returns the first threshold from which on the risk does not fall. A few more thresholds than those between
 * the limits are examined on both sides, because p is 1 / one_in only up to rounding. */
static uint64_t best_threshold(const struct tune_goal *goal, uint64_t one_in)
{
    if (one_in == 1)
        return goal->rows_min > 0 ? goal->rows_min : 1;
    const double p = 1.0 / (double)one_in;
    uint64_t low = goal->rows_min / one_in, high = goal->rows_max / one_in;
    low -= low > 0 ? (low >> 50) + 1 : 0;
    high += (high >> 50) + 2;
    high = high > goal->rows_max ? goal->rows_max : high;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (is_past_best(goal, p, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static bool holds(const struct tune_goal *goal, uint64_t one_in, uint64_t threshold)
{
    const struct tune_distribution distribution = distribution_of(one_in, threshold);
    return tune_holds(&distribution, goal);
}

/* Searches downwards from a threshold that holds to one that does not, in doubling steps, and then
 * bisects. */
static uint64_t lower_edge(const struct tune_goal *goal, uint64_t one_in, uint64_t inside)
{
    uint64_t outside = 0;
    for (uint64_t step = 1; step < inside; step *= 2) {
        if (!holds(goal, one_in, inside - step)) {
            outside = inside - step;
            break;
        }
        inside -= step;
    }
    while (inside - outside > 1) {
        uint64_t middle = outside + (inside - outside) / 2;
        if (holds(goal, one_in, middle))
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

static uint64_t upper_edge(const struct tune_goal *goal, uint64_t one_in, uint64_t inside)
{
    uint64_t outside = goal->rows_max + 1;
    for (uint64_t step = 1; step < outside - inside; step *= 2) {
        if (!holds(goal, one_in, inside + step)) {
            outside = inside + step;
            break;
        }
        inside += step;
    }
    while (outside - inside > 1) {
        uint64_t middle = inside + (outside - inside) / 2;
        if (holds(goal, one_in, middle))
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

struct tune_fit tune_fit_thresholds(const struct tune_goal *goal, uint64_t one_in)
{
    check_goal(goal);
    assert(one_in >= 1 && one_in <= TUNE_ONE_IN_MAX);
    struct tune_fit fit = {.one_in = one_in, .best = best_threshold(goal, one_in)};
    const struct tune_distribution distribution = distribution_of(one_in, fit.best);
    fit.best_risk = tune_risk(&distribution, goal);
    if (!tune_holds(&distribution, goal))
        return fit;
    fit.first = lower_edge(goal, one_in, fit.best);
    fit.last = upper_edge(goal, one_in, fit.best);
    return fit;
}

static bool has_threshold(const struct tune_goal *goal, uint64_t one_in)
{
    return holds(goal, one_in, best_threshold(goal, one_in));
}

/* Returns the exponent of the largest power of 2 that is at most one_in. */
static uint64_t exponent(uint64_t one_in)
{
    uint64_t bits = 0;
    while (one_in >>= 1)
        bits++;
    return bits;
}

/* The candidate probabilities have indices from the highest probability on: the exponents of powers of 2, or
 * the numbers one_in themselves. */
static uint64_t first_index(const struct tune_chances *chances)
{
    bool is_power = (chances->least & (chances->least - 1)) == 0;
    return chances->powers ? exponent(chances->least) + (is_power ? 0 : 1) : chances->least;
}

static uint64_t last_index(const struct tune_chances *chances)
{
    return chances->powers ? exponent(chances->most) : chances->most;
}

static uint64_t chance_at(const struct tune_chances *chances, uint64_t index)
{
    return chances->powers ? UINT64_C(1) << index : index;
}

/* Finds the index of the lowest candidate probability that holds with some threshold. */
static bool rarest(const struct tune_goal *goal, const struct tune_chances *chances, uint64_t *index)
{
    check_goal(goal);
    assert(1 <= chances->least && chances->least <= chances->most && chances->most <= TUNE_ONE_IN_MAX);
    uint64_t low = first_index(chances), last = last_index(chances);
    if (low > last || !has_threshold(goal, chance_at(chances, low)))
        return false;
    for (uint64_t high = last + 1; high - low > 1;) {
        uint64_t middle = low + (high - low) / 2;
        if (has_threshold(goal, chance_at(chances, middle)))
            low = middle;
        else
            high = middle;
    }
    *index = low;
    return true;
}

uint64_t tune_rarest(const struct tune_goal *goal, const struct tune_chances *chances)
{
    uint64_t index;
    return rarest(goal, chances, &index) ? chance_at(chances, index) : 0;
}

static struct tune_candidate candidate_of(const struct tune_goal *goal, uint64_t one_in, uint64_t threshold)
{
    struct tune_candidate candidate = {.one_in = one_in, .distribution = distribution_of(one_in, threshold)};
    candidate.below = tune_below(&candidate.distribution, goal->rows_min);
    candidate.above = tune_above(&candidate.distribution, goal->rows_max);
    return candidate;
}

static void list(const struct tune_goal *goal, const struct tune_fit *fit, size_t list_max,
                 struct tune_found *out)
{
    uint64_t threshold = fit->first;
    for (; threshold <= fit->last && out->candidate_count < list_max; threshold++)
        out->candidates[out->candidate_count++] = candidate_of(goal, fit->one_in, threshold);
    uint64_t rest = fit->last + 1 - threshold;
    out->left_out = rest > UINT64_MAX - out->left_out ? UINT64_MAX : out->left_out + rest;
}

bool tune_search(const struct tune_goal *goal, const struct tune_chances *chances, size_t fits_max,
                 size_t list_max, struct tune_found *out)
{
    *out = (struct tune_found){.is_counted = true};
    uint64_t first = first_index(chances), last = last_index(chances), index;
    bool is_any = rarest(goal, chances, &index);
    out->has_rarer = is_any ? index < last : first <= last;
    if (out->has_rarer)
        out->rarer = tune_fit_thresholds(goal, chance_at(chances, is_any ? index + 1 : first));
    if (!is_any)
        return true;
    out->fits = calloc(fits_max, sizeof *out->fits);
    out->candidates = calloc(list_max + 1, sizeof *out->candidates);
    if (out->fits == NULL || out->candidates == NULL)
        return false;
    for (uint64_t count = index - first + 1; count > 0; count--, index--) {
        if (out->fit_count == fits_max) {
            out->is_counted = false;
            break;
        }
        struct tune_fit fit = tune_fit_thresholds(goal, chance_at(chances, index));
        /* A probability can fail although the next lower one holds only because of the error of a tail. */
        if (fit.first == 0)
            continue;
        out->fits[out->fit_count++] = fit;
        list(goal, &fit, list_max, out);
    }
    out->recommended = candidate_of(goal, out->fits[0].one_in, out->fits[0].best);
    return true;
}

void tune_found_free(struct tune_found *found)
{
    free(found->fits);
    free(found->candidates);
    *found = (struct tune_found){.is_counted = true};
}
