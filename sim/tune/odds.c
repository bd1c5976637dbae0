/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of the rows of probabilistic and weighted partitions; and all pairs of bits and
 * threshold within a risk. */
#include "tune/odds.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "lab/judgment.h"

#define TIE (256 * DBL_EPSILON) /* approximately the error of a tail, 5.7e-14 */

#define FAR_SIGMA 12.0 /* beyond this, a tail is below 1e-30 */

/* --- the distribution of one partition */

struct tune_distribution tune_weighted(uint64_t bytes, uint64_t threshold, uint64_t row_bytes)
{
    assert(bytes >= 1 && row_bytes >= 1);
    return (struct tune_distribution){
        .p = (double)(row_bytes % bytes) / (double)bytes, .threshold = threshold, .whole = row_bytes / bytes};
}

struct tune_distribution tune_distribution_of(const struct bk_strategy *strategy, uint64_t row_bytes)
{
    if (strategy->kind == BK_KIND_WEIGHTED)
        return tune_weighted(strategy->of.weighted.bytes, strategy->of.weighted.threshold, row_bytes);
    return (struct tune_distribution){.p = lab_chance(strategy),
                                      .threshold = strategy->of.probabilistic.threshold};
}

static void check_distribution(const struct tune_distribution *distribution)
{
    assert(distribution->p >= 0 && distribution->p <= 1 && (distribution->p > 0 || distribution->whole > 0));
    assert(distribution->threshold >= 1);
}

/* The increments that the first `rows` rows make at least, but at most the threshold. */
static uint64_t sure(const struct tune_distribution *distribution, uint64_t rows)
{
    const uint64_t whole = distribution->whole;
    return whole > 0 && rows > distribution->threshold / whole ? distribution->threshold : rows * whole;
}

double tune_below(const struct tune_distribution *distribution, uint64_t rows)
{
    check_distribution(distribution);
    if (rows == 0)
        return 0;
    const uint64_t added = sure(distribution, rows - 1);
    if (added >= distribution->threshold)
        return 1;
    return distribution->p > 0
               ? lab_binomial_upper(rows - 1, distribution->threshold - added, distribution->p)
               : 0;
}

double tune_above(const struct tune_distribution *distribution, uint64_t rows)
{
    check_distribution(distribution);
    const uint64_t added = sure(distribution, rows);
    if (added >= distribution->threshold)
        return 0;
    return distribution->p > 0
               ? lab_binomial_lower(rows, distribution->threshold - added - 1, distribution->p)
               : 1;
}

/* By formulas where a row adds one increment at most. Otherwise sums the tails, from a number of rows that is
 * certainly exceeded. */
static void moments(const struct tune_distribution *distribution, double *mean, double *variance)
{
    const double p = distribution->p, threshold = (double)distribution->threshold;
    check_distribution(distribution);
    if (distribution->whole == 0) {
        *mean = threshold / p;
        *variance = threshold * (1 - p) / (p * p);
        return;
    }
    const double each = (double)distribution->whole + p, near = threshold / each;
    const double far = FAR_SIGMA * sqrt(near * p * (1 - p)) / each + 2;
    const uint64_t from = near > far ? (uint64_t)(near - far) : 0;
    double sum = 0, squares = 0, above;
    for (uint64_t k = 0; (above = tune_above(distribution, from + k)) >= DBL_MIN; k++) {
        sum += above;
        squares += (2 * (double)k + 1) * above;
    }
    *mean = (double)from + sum;
    *variance = fmax(0, squares - sum * sum);
}

double tune_mean_rows(const struct tune_distribution *distribution)
{
    double mean, variance;
    moments(distribution, &mean, &variance);
    return mean;
}

double tune_stddev_rows(const struct tune_distribution *distribution)
{
    double mean, variance;
    moments(distribution, &mean, &variance);
    return sqrt(variance);
}

/* Whether P(N <= rows) >= probability, by the tail that is more precise; 1 - probability is exact for
 * probabilities from 1/2 on. The error of a tail is tolerated, so that a probability that the distribution
 * has exactly (as 1/2 with one bit) is reached at the right number. The largest number reaches any
 * probability, so that a search ends there. */
static bool reaches(const struct tune_distribution *distribution, uint64_t rows, double probability)
{
    if (rows == UINT64_MAX)
        return true;
    if (probability < 0.5)
        return tune_below(distribution, rows + 1) >= probability * (1 - TIE);
    return tune_above(distribution, rows) <= (1 - probability) * (1 + TIE);
}

/* `low` rows are never enough, and `high` are one more. */
uint64_t tune_quantile(const struct tune_distribution *distribution, double probability)
{
    check_distribution(distribution);
    assert(probability >= 0 && probability < 1);
    uint64_t low = (distribution->threshold - 1) / (distribution->whole + (distribution->p > 0)),
             high = low + 1;
    while (!reaches(distribution, high, probability)) {
        low = high;
        high = high > UINT64_MAX / 2 ? UINT64_MAX : 2 * high;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(reaches(distribution, middle, probability) ? &high : &low) = middle;
    }
    return high;
}

double tune_increments_per_1000_rows(const struct tune_distribution *distribution)
{
    check_distribution(distribution);
    return distribution->whole > 0 ? 1000 : 1000 * distribution->p;
}

/* --- rows of any size, and Poisson */

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
double tune_weighted_below_most(uint64_t unit, uint64_t threshold, uint64_t bytes)
{
    const double mu = (double)bytes / (double)unit;
    return mu + 1 > (double)threshold ? 1 : poisson_upper(mu, (double)threshold);
}

/* The probabilities of the rows before the one that exceeds these bytes sum up to mu. */
double tune_weighted_above_about(uint64_t unit, uint64_t threshold, uint64_t bytes, double rest)
{
    const double mu = ((double)bytes - rest) / (double)unit;
    return mu < (double)threshold ? 1 : poisson_lower(mu, (double)threshold);
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

/* The last threshold that holds from `inside`, which does, towards `outside`, which does not: in doubling
 * steps, and then by bisection. */
static uint64_t edge(const struct tune_goal *goal, uint64_t one_in, uint64_t inside, uint64_t outside)
{
    const bool is_up = outside > inside;
    uint64_t gap = is_up ? outside - inside : inside - outside;
    for (uint64_t step = 1; gap > 1; step = step < gap / 2 ? 2 * step : gap / 2) {
        const uint64_t next = is_up ? inside + step : inside - step;
        const bool is_in = holds(goal, one_in, next);
        inside = is_in ? next : inside;
        gap = is_in ? gap - step : step;
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
    fit.first = edge(goal, one_in, fit.best, 0);
    fit.last = edge(goal, one_in, fit.best, goal->rows_max + 1);
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
