/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a contest of strategies over the seeds of a scenario. */
#include "tune/contest.h"

#include <math.h>
#include <stdlib.h>

#include "tune/expected.h"

bool tune_contest_rows(struct tune_contest *contest, const struct lab_result *result, struct sim_error *error)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct lab_limits *limits = &scenario->limits;
    const struct lab_strategy_result *none = &result->strategies[0];
    double bytes = (double)(none->open_bytes.sum + none->closed_bytes.sum);
    double rows = (double)(none->open_rows.sum + none->closed_rows.sum);
    if (!(rows > 0))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no row comes within the run, so there is nothing to tune; raise arrivals.rate "
                        "or duration",
                        scenario->path);
    struct tune_rows *out = &contest->rows;
    *out = (struct tune_rows){.rows = result->rows,
                              .keys = result->keys,
                              .mean_bytes = bytes / rows,
                              .mean_payload = bytes / rows,
                              .lasts_ns = result->end_ns - result->start_ns,
                              .limit_rows = (double)INFINITY};
    const struct lab_metric *payload = lab_metrics_find(&none->metrics, "writes.payload_bytes");
    if (payload != NULL && payload->value > 0)
        out->mean_payload = payload->value / rows;
    out->busiest_rows =
        none->open_rows.most > none->closed_rows.most ? none->open_rows.most : none->closed_rows.most;
    out->busiest_bytes =
        none->open_bytes.most > none->closed_bytes.most ? none->open_bytes.most : none->closed_bytes.most;
    if (out->lasts_ns < 1)
        out->lasts_ns = 1;
    if (limits->partition_rows != 0)
        out->limit_rows = (double)limits->partition_rows;
    if (limits->partition_bytes != 0)
        out->limit_rows = fmin(out->limit_rows, floor((double)limits->partition_bytes / out->mean_bytes));
    /* If the limit is less than a row, a partition still has one row. */
    out->limit_rows = fmax(out->limit_rows, 1);
    return true;
}

static bool fly(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                struct sim_error *error)
{
    char label[] = "unbucketed";
    struct lab_strategy unbucketed = {.label = label};
    struct lab_scenario scenario;
    struct lab_result *result;
    if (bk_strategy_unbucketed(&unbucketed.settings.strategy) != BK_OK)
        return false;
    tune_scenario_of(contest->scenario, &unbucketed, 1, contest->scenario->seed, 1, &scenario);
    const bool is_cluster = scenario.engine == LAB_ENGINE_CLUSTER;
    /* The race has no need of another run if `unbucketed` competes. Reads do not affect the number of rows,
     * so where each of them is drawn, they are left out, and the run is for nothing else. */
    const bool is_whole = is_cluster || !scenario.reads.present || scenario.reads.are_expected;
    if (!is_whole)
        scenario.reads = (struct lab_reads){0};
    const struct lab_run_context run = {.progress = progress, .no_latencies = true};
    bool is_fine = lab_run_in(&scenario, threads, &run, &result, error);
    if (!is_fine && progress != NULL && lab_is_stopped(progress))
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    struct tune_seen seen;
    is_fine = is_fine && tune_contest_rows(contest, result, error);
    if (is_fine && is_whole) {
        is_fine = tune_see(result->strategies, &result->prices, contest->race.terms.share, &seen, error);
        tune_kept_bytes(contest->kept,
                        tune_memory_job(&unbucketed, scenario.seed, is_cluster ? TUNE_STOPS_EARLY : 1), &seen,
                        sizeof seen);
    }
    if (is_fine && contest->scenario->trace_path != NULL)
        is_fine = tune_growth_of_run(contest->scenario, result, contest->race.terms.confidence,
                                     &contest->growth, error);
    lab_result_destroy(result);
    return is_fine;
}

static enum tune_sharing sharing_of(const struct lab_scenario *scenario)
{
    const enum lab_engine engine = tune_engine(scenario, 1);
    return engine == LAB_ENGINE_CLUSTER   ? TUNE_SHARES_NOTHING
           : engine == LAB_ENGINE_THINNED ? TUNE_SHARES_KEYS
           : scenario->trace_path != NULL ? TUNE_SHARES_THREADS
                                          : TUNE_SHARES_ROWS;
}

bool tune_contest_begin(struct tune_contest *contest, const struct lab_scenario *scenario,
                        const struct lab_tune *terms, uint32_t threads, struct lab_progress *progress,
                        struct sim_error *error)
{
    *contest =
        (struct tune_contest){.scenario = scenario,
                              .led = SIZE_MAX,
                              .kept = tune_kept_create(),
                              .stops_early = true,
                              .race = {.terms = *terms,
                                       .sharing = sharing_of(scenario),
                                       .draws_sizes = scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT,
                                       .watch = tune_watch_lab,
                                       .drops = true,
                                       .recommended = SIZE_MAX}};
    if ((contest->kept != NULL || sim_fail_memory(error)) && fly(contest, threads, progress, error) &&
        tune_candidates(contest, error))
        return true;
    tune_contest_clear(contest);
    return false;
}

static bool has_any_stopped_over(const struct tune_race *race)
{
    bool is_any = false;
    for (size_t i = 0; !is_any && i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        is_any =
            entrant->status == TUNE_FAILS && !tune_loses_rows(entrant->failed) && tune_stopped_over(entrant);
    }
    return is_any;
}

/* Runs the race. The refusal, if no setting is within the limits, names the one of which the fewest
 * partitions are above them. So those that stopped at one run again, to the end, but not those that lose
 * rows. */
static bool race(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                 struct sim_error *error)
{
    bool is_fine = tune_race_run(&contest->race, threads, progress, error);
    if (!is_fine || contest->race.recommended != SIZE_MAX || !has_any_stopped_over(&contest->race))
        return is_fine;
    contest->stops_early = false;
    contest->race.is_second = true;
    return tune_race_run(&contest->race, threads, progress, error);
}

/* A run that stopped early may have cost this many times as much until then as it costs in the end, or this
 * many times less. */
#define COST_DRIFT 1.25

/* Returns the cost of a setting that failed early: of the rows before that, but at least its bound. */
static double cost_until_cut(const struct tune_entrant *entrant)
{
    return fmax(entrant->seen->cost_so_far, entrant->cost_least);
}

/* Returns whether a setting that failed costs less than the recommended one, or may, if it failed early. */
static bool is_cheap_failure(const struct tune_race *race, const struct tune_entrant *entrant)
{
    if (entrant->status != TUNE_FAILS || entrant->is_endless)
        return false;
    const double most = tune_mean_of(&race->entrants[race->recommended], TUNE_COST);
    /* The bound has the expected number of reads, which a run may miss. */
    return tune_is_cut(entrant->seen)
               ? entrant->cost_least < most * TUNE_AS_CHEAP && entrant->seen->cost_so_far < most * COST_DRIFT
               : tune_mean_of(entrant, TUNE_COST) * TUNE_AS_CHEAP < most;
}

/* Returns the cheap setting that failed early and cost the most until then, unless another cheap one that
 * failed costs as much. */
static struct tune_entrant *next_cut(const struct tune_race *race)
{
    struct tune_entrant *next = NULL;
    double known = 0;
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (!is_cheap_failure(race, entrant))
            continue;
        if (!tune_is_cut(entrant->seen)) {
            known = fmax(known, tune_mean_of(entrant, TUNE_COST));
            continue;
        }
        bool is_next = next == NULL || cost_until_cut(entrant) > cost_until_cut(next);
        for (size_t j = 0; is_next && j < race->count; j++)
            is_next = !tune_is_divided_into(entrant, &race->entrants[j]) ||
                      !is_cheap_failure(race, &race->entrants[j]);
        if (is_next)
            next = entrant;
    }
    return next != NULL && cost_until_cut(next) * COST_DRIFT > known ? next : NULL;
}

/* Of the settings that failed, the answer names the most expensive one that costs less than the recommended
 * one, with its figures. So those that may be this one run again if they failed early. */
static bool finish_cheap(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                         struct sim_error *error)
{
    const bool stops_early = contest->stops_early;
    struct tune_entrant *entrant;
    bool is_fine = true;
    contest->stops_early = false;
    while (is_fine && (entrant = next_cut(&contest->race)) != NULL)
        is_fine = tune_watch_at(contest, &entrant->strategy, 1, contest->scenario->seed, 1, threads, progress,
                                entrant->seen, error);
    contest->stops_early = stops_early;
    return is_fine;
}

bool tune_contest_run(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error)
{
    contest->memory = tune_kept_memory(contest->kept, contest->memory);
    contest->race.context = contest;
    contest->race.runs_after = tune_runs_after(contest);
    return race(contest, threads, progress, error) &&
           (contest->race.recommended == SIZE_MAX || finish_cheap(contest, threads, progress, error)) &&
           (contest->race.recommended == SIZE_MAX || (tune_margins(contest, threads, progress, error) &&
                                                      tune_contest_lead(contest, threads, progress, error)));
}

struct tune_horizon tune_horizon_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct tune_outlook outlook = {contest->scenario, contest->growth, tune_contest_days(contest),
                                         contest->rows.busiest_rows, contest->rows.busiest_bytes};
    struct tune_horizon horizon = {.days = (double)NAN, .over_most = (double)NAN};
    if (entrant->seeds == 0 || tune_is_cut(&entrant->seen[entrant->seeds - 1]))
        return horizon;
    struct lab_facts facts = {.partitions = entrant->seen[0].partitions, .over = entrant->seen[0].over};
    uint64_t rows = 0, bytes = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        horizon.partitions += (double)entrant->seen[i].partitions / entrant->seeds;
        rows = entrant->seen[i].rows_most > rows ? entrant->seen[i].rows_most : rows;
        bytes = entrant->seen[i].bytes_most > bytes ? entrant->seen[i].bytes_most : bytes;
    }
    horizon.over = tune_mean_of(entrant, TUNE_OVER) * horizon.partitions;
    tune_expected_of(contest->scenario, &entrant->strategy.settings, (double)contest->rows.rows,
                     (double)contest->rows.keys, 1, &facts);
    horizon.days =
        tune_first_over_days(&outlook, &entrant->strategy.settings, &facts, (double)NAN, rows, bytes);
    return horizon;
}

const char *tune_contest_best(const struct tune_contest *contest, enum bk_kind kind)
{
    for (size_t i = 0; i < contest->margin_count; i++) {
        const struct lab_strategy *strategy = &contest->race.entrants[contest->margins[i].entrant].strategy;
        if (kind == BK_KIND_COUNT || strategy->settings.strategy.kind == kind)
            return strategy->label;
    }
    return NULL;
}

void tune_contest_clear(struct tune_contest *contest)
{
    tune_race_clear(&contest->race);
    tune_kept_destroy(contest->kept);
    contest->kept = NULL;
    free(contest->margins);
    contest->margins = NULL;
    contest->margin_count = 0;
}
