/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores the strategies of a run and names the best. */
#include "lab/choice.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static double figure(const struct lab_strategy_result *strategy, const char *name, double missing)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? missing : metric->value;
}

struct lab_cost lab_cost_of(const struct lab_prices *prices, const struct lab_strategy_result *strategy)
{
    const double rows = figure(strategy, "writes.rows", 0);
    const double asked =
        figure(strategy, "reads.count", 0) * figure(strategy, "reads.partitions_per_read.mean", 0);
    struct lab_cost cost = {.write = (double)NAN, .read = (double)NAN};
    if (!(rows > 0))
        return cost;
    if (lab_prices_are_equal(prices))
        return (struct lab_cost){figure(strategy, "writes.extra_ops_per_1000_rows", 0), 1000 * asked / rows};
    cost = (struct lab_cost){0, 0};
    for (size_t i = 0; i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        double count = price->metric == NULL ? asked : figure(strategy, price->metric, 0);
        *(price->metric == NULL ? &cost.read : &cost.write) +=
            lab_price_of(prices, price) * (1000 * count / rows);
    }
    return cost;
}

/* Whether partitions grow without end. If rows expire, the live part of a partition stops growing. */
static bool is_endless(const struct lab_strategy_result *strategy)
{
    return !strategy->settings.is_idgen && !lab_kind_ends(strategy->settings.strategy.kind) &&
           figure(strategy, "rows.expired", 0) == 0;
}

/* Whether every seed makes the same partitions. */
static bool is_certain(const struct lab_result *result, const struct lab_strategy_result *strategy)
{
    enum bk_kind kind = strategy->settings.strategy.kind;
    return strategy->settings.observed != WL_OBSERVED_AUTO ||
           (result->source != NULL && strcmp(result->source, "synthetic") != 0 &&
            strategy->events.stride == 0 && (kind == BK_UNBUCKETED || kind == BK_TIME || kind == BK_COUNT));
}

static unsigned passed_limits(const struct lab_strategy_result *strategy)
{
    return (figure(strategy, "partitions.over_limit_rows", 0) > 0 ? LAB_DISQUALIFIER_ROWS : 0u) |
           (figure(strategy, "partitions.over_limit_bytes", 0) > 0 ? LAB_DISQUALIFIER_BYTES : 0u);
}

/* Judges the limits by the criterion of lab/choice.h. */
static void judge_limits(const struct lab_result *result, const struct lab_strategy_result *strategy,
                         struct lab_score *score)
{
    const struct lab_limits *limits = &result->limits;
    const double over = figure(strategy, "partitions.over_limit", 0);
    const double total = figure(strategy, "partitions.total", 0);
    const double may = limits->over_limit_share, each = 1 - (1 - limits->confidence) / 2;
    if ((limits->partition_rows == 0 && limits->partition_bytes == 0) || !(total > 0))
        return;
    score->over = over / total;
    const bool is_chance = !is_certain(result, strategy), is_above = score->over > may;
    if (is_chance && limits->confidence > 0)
        score->over_most = lab_share_most((uint64_t)over, (uint64_t)total, each);
    if (is_above && may > 0 && is_chance && limits->confidence > 0 &&
        lab_share_least((uint64_t)over, (uint64_t)total, each) <= may)
        score->disqualifiers |= LAB_DISQUALIFIER_OPEN;
    else if (is_above)
        score->disqualifiers |= passed_limits(strategy);
}

double lab_refused_share(const struct lab_strategy_result *strategy)
{
    const double rows = figure(strategy, "writes.rows", 0);
    const double lost = figure(strategy, "writes.refused", 0) + figure(strategy, "writes.unresolved", 0);
    /* The oracle also counts rows that were stored late. */
    const double violations = figure(strategy, "oracle.available.violations", 0);
    return rows > 0 ? (violations < lost ? violations : lost) / rows : 0;
}

struct lab_score lab_score_of(const struct lab_result *result, const struct lab_strategy_result *strategy)
{
    const double nothing = (double)NAN;
    const double mean = figure(strategy, "partitions.closed.rows.mean", 0);
    const struct lab_cost cost = lab_cost_of(&result->prices, strategy);
    struct lab_score score = {
        .over = nothing, .over_most = nothing, .cost = cost.write + cost.read, .cv = nothing};
    if (strategy->settings.observed != WL_OBSERVED_AUTO)
        score.disqualifiers |= LAB_DISQUALIFIER_OBSERVED;
    else if (is_endless(strategy))
        score.disqualifiers |= LAB_DISQUALIFIER_ENDLESS;
    judge_limits(result, strategy, &score);
    if (figure(strategy, "oracle.findable.violations", 0) + figure(strategy, "oracle.newest.violations", 0) >
        0)
        score.disqualifiers |= LAB_DISQUALIFIER_HIDDEN;
    if (lab_refused_share(strategy) > LAB_REFUSED_MOST)
        score.disqualifiers |= LAB_DISQUALIFIER_REFUSED;
    if (mean > 0)
        score.cv = figure(strategy, "partitions.closed.rows.stddev", 0) / mean;
    return score;
}

/* NaN is greater than any number. */
static bool is_less(double one, double other)
{
    return !isnan(one) && (isnan(other) || one < other);
}

size_t lab_choose(const struct lab_result *result, struct lab_score *scores)
{
    size_t cheapest = SIZE_MAX;
    for (size_t i = 0; i < result->strategy_count; i++) {
        scores[i] = lab_score_of(result, &result->strategies[i]);
        if (scores[i].disqualifiers == 0 && !isnan(scores[i].cost) &&
            (cheapest == SIZE_MAX || scores[i].cost < scores[cheapest].cost))
            cheapest = i;
    }
    if (cheapest == SIZE_MAX || result->is_tuned ||
        (result->limits.partition_rows == 0 && result->limits.partition_bytes == 0))
        return SIZE_MAX;
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; i < result->strategy_count; i++) {
        bool is_as_cheap =
            scores[i].disqualifiers == 0 && scores[i].cost <= scores[cheapest].cost * LAB_AS_CHEAP;
        if (is_as_cheap && (chosen == SIZE_MAX || is_less(scores[i].cv, scores[chosen].cv)))
            chosen = i;
    }
    return chosen;
}

/* Indexed by requirement. */
static const struct {
    const char *name, *text;
} requirements[LAB_REQUIREMENT_COUNT] = {
    [LAB_REQUIRES_SEQUENCE] = {"sequence", "a gapless number in each row"},
    [LAB_REQUIRES_FAN_OUT] = {"fan_out", "readers that query all partitions of a key"},
    [LAB_REQUIRES_LEAD] = {"lead", "a lead with bounded caches and clocks"},
    [LAB_REQUIRES_LWT] = {"lwt", "conditional updates (LWT)"},
};

const char *lab_requirement_name(enum lab_requirement requirement)
{
    return (unsigned)requirement < LAB_REQUIREMENT_COUNT ? requirements[requirement].name : "unknown";
}

const char *lab_requirement_text(enum lab_requirement requirement)
{
    return (unsigned)requirement < LAB_REQUIREMENT_COUNT ? requirements[requirement].text : "unknown";
}

uint32_t lab_requirements(const struct lab_settings *settings)
{
    enum bk_kind kind = settings->strategy.kind;
    bool is_count = kind == BK_COUNT, fires = bk_kind_fires(kind);
    bool has_lwt = (is_count && (settings->source == BK_SOURCE_LWT || settings->source == BK_SOURCE_LEASE)) ||
                   (fires && (settings->counter == BK_COUNTER_LWT || settings->coordination == BK_LOCKED ||
                              settings->coordination == BK_GUARDED));
    return (uint32_t)(is_count && settings->source == BK_SOURCE_EXTERNAL) << LAB_REQUIRES_SEQUENCE |
           (uint32_t)(kind == BK_HASH) << LAB_REQUIRES_FAN_OUT |
           (uint32_t)(fires && settings->coordination == BK_THREE_STATE) << LAB_REQUIRES_LEAD |
           (uint32_t)has_lwt << LAB_REQUIRES_LWT;
}
