/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges a setting by confidence intervals: within the limits, over them, or undecided. */
#include <math.h>

#include "tune/race.h"

/* If the entrant was run with fewer seeds, their results are repeated. */
static struct tune_sample figures_over(const struct tune_entrant *entrant, enum tune_figure figure,
                                       uint32_t seeds)
{
    struct tune_sample sample = {0};
    for (uint32_t i = 0, at = 0; i < seeds; i++, at = at + 1 < entrant->seeds ? at + 1 : 0) {
        const double value = entrant->seen[at].figures[figure];
        if (!isnan(value))
            tune_sample_add(&sample, value);
    }
    return sample;
}

struct tune_sample tune_figures_of(const struct tune_entrant *entrant, enum tune_figure figure)
{
    return figures_over(entrant, figure, entrant->seeds);
}

double tune_mean_over(const struct tune_entrant *entrant, enum tune_figure figure, uint32_t seeds)
{
    const struct tune_sample sample =
        figures_over(entrant, figure, seeds < entrant->seeds ? seeds : entrant->seeds);
    return sample.count == 0 ? (double)NAN : sample.mean;
}

double tune_mean_of(const struct tune_entrant *entrant, enum tune_figure figure)
{
    return tune_mean_over(entrant, figure, entrant->seeds);
}

bool tune_may_replace(const struct tune_entrant *one, const struct tune_entrant *other)
{
    return (one->requirements & ~other->requirements) == 0;
}

/* Computes two intervals, from the shares of the seeds and from all partitions together, and returns their
 * union. A setting whose partitions never end has one seed, and the interval of its partitions. `times`: as
 * if there were this many times as many seeds, with the same results. */
static struct tune_interval share_interval(const struct tune_entrant *entrant, enum tune_figure figure,
                                           uint64_t hits, uint64_t count, uint32_t times, double error_chance)
{
    const struct tune_sample shares = figures_over(entrant, figure, times * entrant->seeds);
    hits *= times;
    count *= times;
    if (entrant->is_fixed && shares.count > 0)
        return (struct tune_interval){shares.mean, shares.mean};
    if (count == 0)
        return (struct tune_interval){0, 1};
    const struct tune_interval all = {lab_share_least(hits, count, 1 - error_chance),
                                      lab_share_most(hits, count, 1 - error_chance)};
    if (entrant->is_endless)
        return all;
    struct tune_interval mean = tune_sample_mean_interval(&shares, 1 - 2 * error_chance);
    return (struct tune_interval){fmax(0, fmin(mean.low, all.low)), fmin(1, fmax(mean.high, all.high))};
}

static struct tune_interval over_interval(const struct tune_entrant *entrant, uint32_t times,
                                          double error_chance)
{
    uint64_t hits = 0, count = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        hits += entrant->seen[i].over;
        count += entrant->seen[i].partitions;
    }
    struct tune_interval interval = share_interval(entrant, TUNE_OVER, hits, count, times, error_chance);
    /* A limit in bytes is converted to rows of mean size, so a full partition may exceed it after all. */
    if (entrant->has_distribution && (hits == 0 || entrant->exact_share > 0))
        interval.high = fmin(interval.high, entrant->exact_share);
    interval.low = fmin(interval.low, interval.high);
    return interval;
}

struct tune_interval tune_over_interval(const struct tune_entrant *entrant, double error_chance)
{
    return over_interval(entrant, 1, error_chance);
}

struct tune_interval tune_tiny_interval(const struct tune_entrant *entrant, double error_chance)
{
    uint64_t hits = 0, count = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        hits += entrant->seen[i].tiny;
        count += entrant->seen[i].closed;
    }
    return share_interval(entrant, TUNE_TINY, hits, count, 1, error_chance);
}

static enum tune_verdict compare(struct tune_interval interval, double most)
{
    return interval.low > most     ? TUNE_VERDICT_FAILS
           : interval.high <= most ? TUNE_VERDICT_HOLDS
                                   : TUNE_VERDICT_OPEN;
}

/* Judges by the standard of lab/judgment.h. If no partition may exceed a limit, a single one is too many; if
 * none did, the number of partitions decides which probability can be excluded. */
static enum tune_verdict judge_over(const struct tune_entrant *entrant, const struct lab_tune *terms,
                                    double error_chance)
{
    if (terms->share == 0 && tune_mean_of(entrant, TUNE_OVER) > 0)
        return TUNE_VERDICT_FAILS;
    return compare(tune_over_interval(entrant, error_chance), terms->risk);
}

static uint64_t violations_of(const struct tune_entrant *entrant)
{
    uint64_t violations = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        violations += entrant->seen[i].violations;
    return violations;
}

double tune_refused_of(const struct tune_entrant *entrant)
{
    double refused = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        refused = fmax(refused, entrant->seen[i].refused);
    return refused;
}

static enum tune_verdict judge_demand(const struct tune_entrant *entrant, const struct lab_tune *terms,
                                      double error_chance, enum tune_demand demand)
{
    struct tune_sample per_read;
    switch (demand) {
    case TUNE_IN_LIMITS:
        return judge_over(entrant, terms, error_chance);
    case TUNE_NOT_TINY:
        if (terms->tiny < 0 || tune_figures_of(entrant, TUNE_TINY).count == 0)
            return TUNE_VERDICT_HOLDS;
        return compare(tune_tiny_interval(entrant, error_chance), terms->tiny);
    case TUNE_FEW_PER_READ:
        per_read = tune_figures_of(entrant, TUNE_PER_READ_P99);
        if (terms->partitions_per_read == 0 || per_read.count == 0)
            return TUNE_VERDICT_HOLDS;
        return compare(tune_sample_mean_interval(&per_read, 1 - 2 * error_chance),
                       terms->partitions_per_read);
    case TUNE_FINDABLE:
        /* A single violation is too many, independent of shares. */
        return violations_of(entrant) > 0 ? TUNE_VERDICT_FAILS : TUNE_VERDICT_HOLDS;
    case TUNE_AVAILABLE:
        return tune_refused_of(entrant) > LAB_REFUSED_MOST ? TUNE_VERDICT_FAILS : TUNE_VERDICT_HOLDS;
    case TUNE_DEMAND_COUNT:
        break;
    }
    return TUNE_VERDICT_HOLDS;
}

enum tune_verdict tune_judge(const struct tune_entrant *entrant, const struct lab_tune *terms,
                             double error_chance, enum tune_demand *demand)
{
    enum tune_verdict verdict = TUNE_VERDICT_HOLDS;
    for (int i = 0; i < TUNE_DEMAND_COUNT; i++) {
        enum tune_verdict part = judge_demand(entrant, terms, error_chance, (enum tune_demand)i);
        if (part < verdict) {
            verdict = part;
            *demand = (enum tune_demand)i;
        }
    }
    return verdict;
}

uint32_t tune_seeds_to_show(const struct tune_entrant *entrant, const struct lab_tune *terms)
{
    const double error_chance = (1 - terms->confidence) / 2;
    for (int i = 0; i < TUNE_DEMAND_COUNT; i++) {
        if (i != TUNE_IN_LIMITS &&
            judge_demand(entrant, terms, error_chance, (enum tune_demand)i) != TUNE_VERDICT_HOLDS)
            return 0;
    }
    if (entrant->seeds == 0)
        return 0;
    for (uint32_t times = terms->seeds / entrant->seeds + 1; times * entrant->seeds <= LAB_TUNE_SEEDS_MAX;
         times++) {
        if (over_interval(entrant, times, error_chance).high <= terms->risk)
            return times * entrant->seeds;
    }
    return 0;
}

/* If the mean share over seeds were at most `most`, the product of share / most over the seeds would have a
 * mean of at most 1, and the probability that it ever reaches 1 / error_chance would be at most error_chance
 * (Ville 1939; for one seed, this is Markov's inequality). */
static bool is_far_above(const struct tune_entrant *entrant, enum tune_figure figure, double most,
                         double error_chance)
{
    double product = 1;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        const double share = entrant->seen[i].figures[figure];
        product *= isnan(share) ? 0 : share / most;
        if (product * error_chance >= 1)
            return true;
    }
    return false;
}

bool tune_is_hopeless(struct tune_entrant *entrant, const struct lab_tune *terms, double error_chance)
{
    uint64_t over = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        over += entrant->seen[i].over;
    if (violations_of(entrant) > 0)
        entrant->failed = TUNE_FINDABLE;
    else if ((terms->share == 0 && over > 0) ||
             ((terms->share == 0 || entrant->is_fixed) && tune_mean_of(entrant, TUNE_OVER) > terms->share) ||
             is_far_above(entrant, TUNE_OVER, terms->risk, error_chance))
        entrant->failed = TUNE_IN_LIMITS;
    else if (terms->tiny > 0 && is_far_above(entrant, TUNE_TINY, terms->tiny, error_chance))
        entrant->failed = TUNE_NOT_TINY;
    else if (tune_refused_of(entrant) > LAB_REFUSED_MOST)
        entrant->failed = TUNE_AVAILABLE;
    else
        return false;
    return true;
}

bool tune_stopped_over(const struct tune_entrant *entrant)
{
    bool is_cut = false;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        is_cut |= entrant->seen[i].over > 0 && tune_is_cut(&entrant->seen[i]);
    return is_cut;
}

bool tune_is_within(const struct tune_entrant *entrant, const struct lab_tune *terms,
                    enum tune_demand *demand)
{
    *demand = TUNE_FINDABLE;
    if (violations_of(entrant) > 0)
        return false;
    *demand = TUNE_AVAILABLE;
    if (tune_refused_of(entrant) > LAB_REFUSED_MOST)
        return false;
    *demand = TUNE_IN_LIMITS;
    if (tune_mean_of(entrant, TUNE_OVER) > terms->share || tune_stopped_over(entrant))
        return false;
    *demand = TUNE_NOT_TINY;
    if (terms->tiny >= 0 && tune_mean_of(entrant, TUNE_TINY) > terms->tiny)
        return false;
    *demand = TUNE_FEW_PER_READ;
    return !(terms->partitions_per_read > 0 &&
             tune_mean_of(entrant, TUNE_PER_READ_P99) > terms->partitions_per_read);
}

/* Returns -1 if the first is better, 0 if both are equal on every seed, and 1 if neither is shown. */
static int objective_order(const struct tune_entrant *one, const struct tune_entrant *other,
                           enum tune_figure figure, double error_chance)
{
    struct tune_sample differences = {0};
    uint32_t seeds = one->seeds < other->seeds ? one->seeds : other->seeds, neither = 0, lacks = 0;
    for (uint32_t i = 0; i < seeds; i++) {
        double mine = one->seen[i].figures[figure], its = other->seen[i].figures[figure];
        if (isnan(mine) && isnan(its))
            neither++;
        else if (isnan(mine))
            return 1;
        else if (isnan(its))
            lacks++;
        else
            tune_sample_add(&differences, its - mine);
    }
    if (neither == seeds)
        return 0;
    if (lacks == seeds)
        return -1;
    if (differences.count != seeds)
        return 1;
    if (differences.least == 0 && differences.most == 0)
        return 0;
    return differences.mean > 0 && tune_sample_p_value(&differences) / 2 <= error_chance ? -1 : 1;
}

bool tune_dominates(const struct tune_entrant *one, const struct tune_entrant *other, double error_chance)
{
    /* Compare the means first: this is quick and decides most pairs. */
    if (!tune_is_better(one, other))
        return false;
    bool is_better = false;
    for (int i = 0; i < TUNE_OBJECTIVES; i++) {
        int order = objective_order(one, other, (enum tune_figure)i, error_chance);
        if (order > 0)
            return false;
        is_better |= order < 0;
    }
    return is_better;
}

static int mean_order(const struct tune_entrant *one, const struct tune_entrant *other,
                      enum tune_figure figure)
{
    double mine = tune_mean_of(one, figure), its = tune_mean_of(other, figure);
    if (isnan(mine) || isnan(its))
        return isnan(mine) - isnan(its);
    return (mine > its) - (mine < its);
}

bool tune_is_better(const struct tune_entrant *one, const struct tune_entrant *other)
{
    bool is_better = false;
    for (int i = 0; i < TUNE_OBJECTIVES; i++) {
        int order = mean_order(one, other, (enum tune_figure)i);
        if (order > 0)
            return false;
        is_better |= order < 0;
    }
    return is_better;
}
