/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores the strategies of a run and names the best. */
#include "lab/choice.h"

#include <math.h>
#include <stdint.h>

static double figure(const struct lab_strategy_result *strategy, const char *name, double missing)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? missing : metric->value;
}

double lab_cost_of(const struct lab_strategy_result *strategy)
{
    const double rows = figure(strategy, "writes.rows", 0);
    const double asked =
        figure(strategy, "reads.count", 0) * figure(strategy, "reads.partitions_per_read.mean", 0);
    return rows > 0 ? figure(strategy, "writes.extra_ops_per_1000_rows", 0) + 1000 * asked / rows
                    : (double)NAN;
}

/* Where rows expire, what is left of a partition stops growing. */
static bool is_endless(const struct lab_strategy_result *strategy)
{
    return !strategy->settings.is_idgen &&
           (strategy->settings.strategy.kind == BK_UNBUCKETED ||
            strategy->settings.strategy.kind == BK_HASH) &&
           figure(strategy, "rows.expired", 0) == 0;
}

struct lab_score lab_score_of(const struct lab_result *result, const struct lab_strategy_result *strategy)
{
    const double nothing = (double)NAN;
    const double total = figure(strategy, "partitions.total", 0);
    const double mean = figure(strategy, "partitions.closed.rows.mean", 0);
    struct lab_score score = {.over = nothing, .cost = lab_cost_of(strategy), .cv = nothing};
    if (strategy->settings.observed != WL_OBSERVED_AUTO)
        score.disqualifiers |= LAB_DISQUALIFIER_OBSERVED;
    else if (is_endless(strategy))
        score.disqualifiers |= LAB_DISQUALIFIER_ENDLESS;
    if (figure(strategy, "partitions.over_limit_rows", 0) > 0)
        score.disqualifiers |= LAB_DISQUALIFIER_ROWS;
    if (figure(strategy, "partitions.over_limit_bytes", 0) > 0)
        score.disqualifiers |= LAB_DISQUALIFIER_BYTES;
    if (figure(strategy, "oracle.findable.violations", 0) + figure(strategy, "oracle.newest.violations", 0) >
        0)
        score.disqualifiers |= LAB_DISQUALIFIER_HIDDEN;
    if ((result->limits.partition_rows != 0 || result->limits.partition_bytes != 0) && total > 0)
        score.over = figure(strategy, "partitions.over_limit", 0) / total;
    if (mean > 0)
        score.cv = figure(strategy, "partitions.closed.rows.stddev", 0) / mean;
    return score;
}

/* What is missing is more than anything. */
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
