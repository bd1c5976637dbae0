/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A contest from the pilot to the lead. */
#include "tune/contest.h"

#include <math.h>
#include <stdlib.h>

#include "tune/horizon.h"

static uint64_t most(const struct lab_histogram *open, const struct lab_histogram *closed)
{
    return open->most > closed->most ? open->most : closed->most;
}

/* Sets contest->rows from the only strategy of a run. */
static bool measure(struct tune_contest *contest, const struct lab_result *result, struct sim_error *error)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    const struct lab_strategy_result *all = &result->strategies[0];
    const double bytes = (double)(all->open_bytes.sum + all->closed_bytes.sum);
    const double rows = (double)(all->open_rows.sum + all->closed_rows.sum);
    const struct lab_metric *payload = lab_metrics_find(&all->metrics, "writes.payload_bytes");
    struct tune_rows *out = &contest->rows;
    if (!(rows > 0))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no row comes within the run, so there is nothing to tune; raise arrivals.rate "
                        "or duration",
                        contest->scenario->path);
    *out = (struct tune_rows){
        .rows = result->rows,
        .keys = result->keys,
        .mean_bytes = bytes / rows,
        .mean_payload = payload != NULL && payload->value > 0 ? payload->value / rows : bytes / rows,
        .busiest_rows = most(&all->open_rows, &all->closed_rows),
        .busiest_bytes = most(&all->open_bytes, &all->closed_bytes),
        .lasts_ns = result->end_ns > result->start_ns ? result->end_ns - result->start_ns : 1,
        .limit_rows = limits->partition_rows != 0 ? (double)limits->partition_rows : (double)INFINITY};
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
    const struct lab_run_context run = {.progress = progress, .no_latencies = true};
    if (bk_strategy_unbucketed(&unbucketed.settings.strategy) != BK_OK)
        return false;
    tune_scenario_of(contest->scenario, &unbucketed, 1, contest->scenario->seed, 1, &scenario);
    scenario.reads = (struct lab_reads){0};
    bool is_fine = lab_run_in(&scenario, threads, &run, &result, error);
    if (!is_fine && progress != NULL && lab_is_stopped(progress))
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    is_fine = is_fine && measure(contest, result, error);
    if (is_fine && contest->scenario->trace_path != NULL)
        is_fine =
            tune_growth_of_run(contest->scenario, result, contest->terms.confidence, &contest->growth, error);
    lab_result_destroy(result);
    return is_fine;
}

bool tune_contest_begin(struct tune_contest *contest, const struct lab_scenario *scenario,
                        const struct lab_tune *terms, uint32_t threads, struct lab_progress *progress,
                        struct sim_error *error)
{
    *contest = (struct tune_contest){
        .scenario = scenario, .terms = *terms, .halves = true, .recommended = SIZE_MAX, .led = SIZE_MAX};
    if (fly(contest, threads, progress, error) && tune_candidates(contest, error))
        return true;
    tune_contest_clear(contest);
    return false;
}

/* The setting whose lead is determined: the recommended one or, of those that do not exceed the limits, the
 * one with the least load. */
static size_t leader(const struct tune_contest *contest)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->status > TUNE_NOT_JUDGED || entrant->strategy.settings.coordination != BK_THREE_STATE)
            continue;
        if (i == contest->recommended)
            return i;
        if (best == SIZE_MAX ||
            tune_mean_of(entrant, TUNE_COST) < tune_mean_of(&contest->entrants[best], TUNE_COST))
            best = i;
    }
    return best;
}

static bool find_lead(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error)
{
    contest->led = leader(contest);
    if (contest->led == SIZE_MAX)
        return true;
    struct lab_strategy strategy = contest->entrants[contest->led].strategy;
    struct lab_scenario scenario;
    tune_scenario_of(contest->scenario, &strategy, 1, contest->scenario->seed, 1, &scenario);
    return tune_lead_find(&scenario, 0, TUNE_LEAD_SEEDS, threads, contest->memory, progress, &contest->lead,
                          error);
}

bool tune_contest_run(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error)
{
    if (!tune_race(contest, threads, progress, error))
        return false;
    if (contest->recommended != SIZE_MAX &&
        !(tune_margins(contest, threads, progress, error) && find_lead(contest, threads, progress, error)))
        return false;
    /* The search may end sooner than expected. */
    if (progress != NULL)
        progress->total = progress->done;
    return true;
}

double tune_contest_first_over(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct tune_outlook outlook = {contest->scenario, contest->growth, tune_contest_days(contest),
                                         contest->rows.busiest_rows, contest->rows.busiest_bytes};
    double seen_days = (double)NAN;
    uint64_t rows = 0, bytes = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        const struct tune_seen *seen = &entrant->seen[i];
        seen_days = i == 0 ? seen->figures[TUNE_FIRST_OVER] : fmin(seen_days, seen->figures[TUNE_FIRST_OVER]);
        rows = seen->rows_most > rows ? seen->rows_most : rows;
        bytes = seen->bytes_most > bytes ? seen->bytes_most : bytes;
    }
    return tune_first_over_days(&outlook, &entrant->strategy.settings, &entrant->known, seen_days, rows,
                                bytes);
}

const char *tune_contest_best(const struct tune_contest *contest, enum bk_kind kind)
{
    for (size_t i = 0; i < contest->margin_count; i++) {
        const struct lab_strategy *strategy = &contest->entrants[contest->margins[i].entrant].strategy;
        if (kind == BK_KIND_COUNT || strategy->settings.strategy.kind == kind)
            return strategy->label;
    }
    return NULL;
}

void tune_contest_clear(struct tune_contest *contest)
{
    for (size_t i = 0; i < contest->count; i++) {
        free(contest->entrants[i].strategy.label);
        free(contest->entrants[i].seen);
        lab_result_destroy(contest->entrants[i].result);
    }
    free(contest->entrants);
    free(contest->margins);
    contest->entrants = NULL;
    contest->margins = NULL;
    contest->count = contest->capacity = contest->margin_count = 0;
}
