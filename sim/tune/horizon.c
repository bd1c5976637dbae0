/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the first partition exceeds a limit. In: what a run showed of a strategy, and the distribution of its
 * partitions. Out: days from the first row. */
#include "tune/horizon.h"

#include <math.h>

#include "kernel/time.h"
#include "lab/scenario.h"
#include "lab/metric.h"
#include "tune/expected.h"

/* Expected numbers of partitions over the length of the run up to this mean "never". */
#define NEVER 1e-6

bool tune_rows_stop(const struct lab_scenario *scenario, double days)
{
    return scenario->row_ttl_ns > 0 && (double)scenario->row_ttl_ns <= days * (double)SIM_DAY;
}

/* Returns the ratio of the nearest limit to these rows and bytes; infinity without limits. */
static double room_above(const struct lab_limits *limits, uint64_t rows, uint64_t bytes)
{
    double least = (double)INFINITY;
    if (limits->partition_rows != 0 && rows > 0)
        least = fmin(least, (double)limits->partition_rows / (double)rows);
    if (limits->partition_bytes != 0 && bytes > 0)
        least = fmin(least, (double)limits->partition_bytes / (double)bytes);
    return least;
}

double tune_unbucketed_days(const struct tune_outlook *outlook)
{
    return tune_growth_rows_at(
        &outlook->growth, outlook->days,
        room_above(&outlook->scenario->limits, outlook->busiest_rows, outlook->busiest_bytes));
}

double tune_first_over_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                            const struct lab_facts *facts, double seen_days, uint64_t rows_most,
                            uint64_t bytes_most)
{
    const struct lab_scenario *scenario = outlook->scenario;
    const struct tune_growth *growth = &outlook->growth;
    const enum bk_kind kind = settings->strategy.kind;
    const double days = outlook->days, room = room_above(&scenario->limits, rows_most, bytes_most);
    if (!isnan(seen_days))
        return seen_days;
    if (!lab_kind_ends(kind) && !tune_rows_stop(scenario, days))
        return tune_growth_rows_at(growth, days, room);
    if (scenario->trace_path != NULL && kind == BK_TIME)
        return growth->per_day > 0 ? fmax(days, tune_growth_rate_at(growth, days, room)) : (double)NAN;
    if (!facts->has_distribution)
        return (double)NAN;
    if (facts->expected_most <= NEVER)
        return (double)INFINITY;
    if (!(facts->expected_least > 0) || !isfinite(facts->expected_most))
        return (double)NAN;
    const double expected = (facts->expected_least + facts->expected_most) / 2;
    /* No partition has more rows than its key so far. */
    return fmax(tune_growth_rows_at(growth, days, 1 / expected), tune_unbucketed_days(outlook));
}

static double figure(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? (double)NAN : metric->value;
}

static uint64_t whole(const struct lab_strategy_result *strategy, const char *name)
{
    const double value = figure(strategy, name);
    return isnan(value) ? 0 : (uint64_t)value;
}

static bool add(struct lab_strategy_result *strategy, const char *name, double days)
{
    return isnan(days) || lab_metrics_add(&strategy->metrics, name, fmin(days, LAB_DAYS_MOST));
}

static bool add_all(struct tune_outlook *outlook, const struct lab_result *result,
                    struct lab_strategy_result *strategy)
{
    /* Of the rows that this strategy stored. */
    outlook->busiest_rows = whole(strategy, "keys.rows.max");
    outlook->busiest_bytes = whole(strategy, "keys.bytes.max");
    const struct lab_facts facts = lab_facts_of(result, strategy);
    const double days = tune_first_over_days(
        outlook, &strategy->settings, &facts, figure(strategy, "partitions.first_over_days"),
        whole(strategy, "partitions.all.rows.max"), whole(strategy, "partitions.all.bytes.max"));
    /* If rows expire, the partitions of `unbucketed` may not grow. */
    const double unbucketed =
        tune_rows_stop(outlook->scenario, outlook->days) ? (double)NAN : tune_unbucketed_days(outlook);
    return add(strategy, "horizon.days", days) && add(strategy, "horizon.unbucketed_days", unbucketed) &&
           (outlook->growth.per_day == 0 ||
            add(strategy, "horizon.doubles_days", tune_growth_doubles(&outlook->growth)));
}

bool tune_horizons_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error)
{
    const struct lab_limits *limits = &scenario->limits;
    struct tune_outlook outlook = {
        .scenario = scenario, .days = fmax(1, (double)(result->end_ns - result->start_ns)) / (double)SIM_DAY};
    if (!tune_expected_add(scenario, result, error))
        return false;
    if ((limits->partition_rows == 0 && limits->partition_bytes == 0) || scenario->design.is_given ||
        result->strategy_count == 0 || isnan(figure(&result->strategies[0], "keys.rows.max")))
        return true;
    if (scenario->trace_path != NULL &&
        !tune_growth_of_run(scenario, result, scenario->tune.confidence, &outlook.growth, error))
        return false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_strategy_result *strategy = &result->strategies[i];
        if (strategy->settings.observed == WL_OBSERVED_AUTO && !add_all(&outlook, result, strategy))
            return sim_fail_memory(error);
    }
    return true;
}
