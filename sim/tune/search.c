/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds pairs of bits and threshold within a risk. */
#include "tune/search.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>

#include "lab/binomial.h"

#define TIE (256 * DBL_EPSILON) /* as in odds.c: the tolerance for the error of a tail */

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

struct tune_candidate tune_candidate_of(const struct tune_goal *goal, uint64_t one_in, uint64_t threshold)
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
        out->candidates[out->candidate_count++] = tune_candidate_of(goal, fit->one_in, threshold);
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
    out->recommended = tune_candidate_of(goal, out->fits[0].one_in, out->fits[0].best);
    return true;
}

void tune_found_free(struct tune_found *found)
{
    free(found->fits);
    free(found->candidates);
    *found = (struct tune_found){.is_counted = true};
}
