/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates when the first partition exceeds a limit, if the stream continues at its rate or keeps
 * growing. */
#include <math.h>

#include "lab/gone.h"
#include "lab/judgment.h"
#include "lab/metric.h"
#include "tune/contest.h"

/* Returns the ratio of the nearest limit to these rows and bytes; infinity without limits. */
static double room_above(const struct tune_contest *contest, uint64_t rows, uint64_t bytes)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    double least = (double)INFINITY;
    if (limits->partition_rows != 0 && rows > 0)
        least = fmin(least, (double)limits->partition_rows / (double)rows);
    if (limits->partition_bytes != 0 && bytes > 0)
        least = fmin(least, (double)limits->partition_bytes / (double)bytes);
    return least;
}

/* Returns the ratio of the nearest limit to the largest partition; infinity without limits. */
static double room_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    double least = (double)INFINITY;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        const struct tune_seen *seen = &entrant->seen[i];
        least = fmin(least, room_above(contest, seen->rows_most, seen->bytes_most));
        if (entrant->is_endless) /* only the first seed counts */
            break;
    }
    return least;
}

static double partitions_of(const struct tune_entrant *entrant)
{
    double sum = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        sum += (double)entrant->seen[i].partitions;
    return sum / (double)entrant->seeds;
}

/* Returns when the busiest key has as many rows as a limit allows in a partition: the horizon with all its
 * rows in one. */
static double busiest_days(const struct tune_contest *contest)
{
    return tune_growth_rows_at(&contest->growth, tune_contest_days(contest),
                               room_above(contest, contest->rows.busiest_rows, contest->rows.busiest_bytes));
}

struct tune_horizon tune_horizon_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    struct tune_horizon horizon = {.days = (double)NAN};
    if (entrant->seeds == 0 || tune_is_cut(&entrant->seen[entrant->seeds - 1]))
        return horizon;
    horizon.partitions = partitions_of(entrant);
    const struct tune_growth *growth = &contest->growth;
    double days = tune_contest_days(contest);
    if (entrant->is_endless) {
        /* Partitions that never end grow with their key, so the largest one reaches a limit first. */
        horizon.days = tune_growth_rows_at(growth, days, room_of(contest, entrant));
        horizon.over = tune_mean_of(entrant, TUNE_OVER) * horizon.partitions;
        horizon.over_most = (double)NAN;
        return horizon;
    }
    double seen = tune_mean_of(entrant, TUNE_OVER), share = seen;
    if (entrant->is_fixed && seen == 0) {
        /* For a trace, nothing else is known about the time after its end. */
        bool is_never = entrant->has_distribution && entrant->exact_share == 0;
        bool is_window = entrant->strategy.settings.strategy.kind == BK_TIME;
        if (is_never)
            horizon.days = (double)INFINITY;
        else if (is_window && growth->per_day > 0)
            horizon.days = fmax(days, tune_growth_rate_at(growth, days, room_of(contest, entrant)));
        return horizon;
    }
    if (!(seen > 0)) {
        horizon.is_least = true;
        share = entrant->over.high;
    }
    horizon.over = seen > 0 ? seen * horizon.partitions : 0;
    horizon.over_most = entrant->over.high * horizon.partitions;
    horizon.days =
        share > 0 ? tune_growth_rows_at(growth, days, 1 / (share * horizon.partitions)) : (double)INFINITY;
    /* No partition has more rows than its key so far. Where rows go, the busiest key's are not known. */
    const double first_days = busiest_days(contest);
    if (!horizon.is_least && isfinite(first_days) && !lab_rows_go(contest->scenario))
        horizon.days = fmax(horizon.days, first_days);
    return horizon;
}

static bool add(struct lab_strategy_result *strategy, const char *name, double days)
{
    return isnan(days) || lab_metrics_add(&strategy->metrics, name, fmin(days, LAB_DAYS_MOST));
}

/* Enters the result as if the run were the only seed of a race. */
static bool enter(const struct tune_contest *contest, const struct lab_result *result,
                  const struct lab_strategy_result *strategy, struct tune_seen *seen,
                  struct tune_entrant *out, struct sim_error *error)
{
    const struct lab_score score = lab_score_of(result, strategy);
    *out = (struct tune_entrant){
        .strategy = {.label = strategy->label, .settings = strategy->settings}, .seen = seen, .seeds = 1};
    if (!tune_see(strategy, &result->prices, contest->race.terms.share, seen, error))
        return false;
    tune_entrant_describe(contest, out);
    out->over.high = isnan(score.judgment.share_most) ? score.judgment.share : score.judgment.share_most;
    if (out->has_distribution)
        out->over.high = fmin(out->over.high, out->exact_share);
    return true;
}

static bool add_all(struct tune_contest *contest, const struct lab_result *result,
                    struct lab_strategy_result *strategy, struct sim_error *error)
{
    /* Of the rows that this strategy stored. */
    const struct lab_metric *rows = lab_metrics_find(&strategy->metrics, "keys.rows.max"),
                            *bytes = lab_metrics_find(&strategy->metrics, "keys.bytes.max");
    contest->rows.busiest_rows = rows == NULL ? 0 : (uint64_t)rows->value;
    contest->rows.busiest_bytes = bytes == NULL ? 0 : (uint64_t)bytes->value;
    struct tune_seen seen;
    struct tune_entrant entrant;
    if (strategy->settings.observed != WL_OBSERVED_AUTO)
        return true;
    if (!enter(contest, result, strategy, &seen, &entrant, error))
        return false;
    const struct tune_horizon horizon = tune_horizon_of(contest, &entrant);
    return (add(strategy, "horizon.days", horizon.days) &&
            (isnan(horizon.days) ||
             add(strategy, "horizon.is_least", horizon.is_least && isfinite(horizon.days))) &&
            /* If rows expire, such partitions may not grow. */
            add(strategy, "horizon.unbucketed_days",
                tune_is_bounded(contest) ? (double)NAN : busiest_days(contest)) &&
            (contest->growth.per_day == 0 ||
             add(strategy, "horizon.doubles_days", tune_growth_doubles(&contest->growth)))) ||
           sim_fail_memory(error);
}

bool tune_horizons_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error)
{
    struct tune_contest contest = {.scenario = scenario, .race = {.terms = scenario->tune}};
    const struct lab_limits *limits = &scenario->limits;
    if ((limits->partition_rows == 0 && limits->partition_bytes == 0) || scenario->design.is_given ||
        result->strategy_count == 0 ||
        lab_metrics_find(&result->strategies[0].metrics, "keys.rows.max") == NULL)
        return true;
    bool is_fine = tune_contest_rows(&contest, result, error);
    if (is_fine && scenario->trace_path != NULL)
        is_fine = tune_growth_of_run(scenario, result, contest.race.terms.confidence, &contest.growth, error);
    for (size_t i = 0; is_fine && i < result->strategy_count; i++)
        is_fine = add_all(&contest, result, &result->strategies[i], error);
    return is_fine;
}
