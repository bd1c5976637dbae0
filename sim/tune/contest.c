/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a contest of strategies over the seeds of a scenario. */
#include "tune/contest.h"

#include <math.h>
#include <stdlib.h>

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
    /* Reads do not affect the number of rows. */
    scenario.reads = (struct lab_reads){0};
    bool is_fine = lab_run(&scenario, threads, progress, &result, error);
    if (!is_fine && progress != NULL && lab_is_stopped(progress))
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    is_fine = is_fine && tune_contest_rows(contest, result, error);
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
    *contest = (struct tune_contest){.scenario = scenario,
                                     .led = SIZE_MAX,
                                     .race = {.terms = *terms,
                                              .sharing = sharing_of(scenario),
                                              .watch = tune_watch_lab,
                                              .drops = true,
                                              .recommended = SIZE_MAX}};
    if (fly(contest, threads, progress, error) && tune_candidates(contest, error))
        return true;
    tune_contest_clear(contest);
    return false;
}

bool tune_contest_run(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error)
{
    contest->race.context = contest;
    contest->race.runs_after = tune_runs_after(contest);
    return tune_race_run(&contest->race, threads, progress, error) &&
           (contest->race.recommended == SIZE_MAX || (tune_margins(contest, threads, progress, error) &&
                                                      tune_contest_lead(contest, threads, progress, error)));
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
    free(contest->margins);
    contest->margins = NULL;
    contest->margin_count = 0;
}
