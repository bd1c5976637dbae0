/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs all strategies of a scenario with the cluster engine. In: the rows that they share. Each strategy is a
 * job of a crew, on any thread of any rank. Out: their results in one. */
#include "lab/cluster_engine.h"
#include "cluster_loop.h"
#include "cluster_result.h"

#include <assert.h>
#include <stdlib.h>

#include "cluster_run.h"
#include "lab/crew.h"
#include "lab/result_make.h"

struct strategies {
    const struct lab_scenario *scenario;
    const struct lab_rows *rows;
    const struct lab_run_context *context;
    struct lab_result **results; /* one per strategy, of this strategy alone */
};

static void drop(void *made)
{
    lab_result_destroy(made);
}

static bool run_one(void *context, uint64_t index, struct lab_progress *progress, void **made,
                    struct sim_error *error)
{
    const struct strategies *all = context;
    struct sim_error failed = {.class = SIM_ERROR_NONE};
    struct lab_result *result = NULL;
    (void)progress; /* that of the context */
    if (all->results[index] != NULL)
        return true;
    struct lab_cluster_run *run =
        lab_cluster_run_create(all->scenario, index, all->rows, all->context, &failed);
    bool ok = failed.class == SIM_ERROR_NONE || sim_fail(error, failed.class, "%s", failed.text);
    ok = ok && (lab_cluster_result_of(all->scenario, index, run, &result) || sim_fail_memory(error));
    lab_cluster_run_destroy(run);
    *made = result;
    return ok;
}

static bool take(void *context, uint64_t index, void *made, bool *is_enough, struct sim_error *error)
{
    struct strategies *all = context;
    (void)is_enough;
    (void)error;
    if (made != NULL)
        all->results[index] = made;
    return true;
}

static void archive(void *context, void **made, struct sim_archive *archive)
{
    (void)context;
    if (archive->is_loading && (*made = calloc(1, sizeof(struct lab_result))) == NULL)
        sim_archive_fail_memory(archive);
    else
        lab_result_archive(*made, archive);
}

/* On rank 0 all strategies, on another rank those that it draws; that has no result. */
static bool run_all(struct strategies *all, uint32_t jobs, struct sim_error *error)
{
    struct lab_order order = lab_order_of(LAB_SERVICE_STRATEGIES, all->scenario);
    const struct lab_crew crew = {.context = all,
                                  .count = all->scenario->strategy_count,
                                  .is_part = true,
                                  .work = run_one,
                                  .take = take,
                                  .drop = drop,
                                  .team = lab_team_for(all->scenario, all->context),
                                  .order = &order,
                                  .archive = archive};
    uint64_t taken;
    struct lab_progress none = {0};
    struct lab_progress *progress = all->context->progress == NULL ? &none : all->context->progress;
    return lab_crew_run(&crew, jobs, progress, &taken, error) &&
           (taken == crew.count || lab_fail_stopped(error));
}

bool lab_cluster_scenario(const struct lab_scenario *scenario, uint32_t jobs,
                          const struct lab_run_context *context, struct lab_result **out,
                          struct sim_error *error)
{
    const size_t count = scenario->strategy_count;
    struct lab_rows *rows;
    *out = NULL;
    if (!lab_cluster_rows(scenario, context, &rows, error))
        return false;
    struct strategies all = {.scenario = scenario,
                             .rows = rows,
                             .context = context,
                             .results = calloc(count, sizeof *all.results)};
    bool ok = all.results != NULL || sim_fail_memory(error);
    assert(context->known == NULL || context->team == NULL);
    for (size_t i = 0; ok && context->known != NULL && i < count; i++) {
        all.results[i] = context->known[i];
        context->known[i] = NULL;
    }
    ok = ok && run_all(&all, context->event_trace != NULL ? 1 : jobs, error) &&
         (lab_cluster_result(scenario, all.results, out) || sim_fail_memory(error));
    for (size_t i = 0; all.results != NULL && i < count; i++)
        lab_result_destroy(all.results[i]);
    free(all.results);
    lab_rows_destroy(rows);
    return ok;
}

bool lab_serve_strategies(const struct lab_team *team, const struct lab_order *order,
                          struct sim_archive *archive, struct sim_error *error)
{
    struct lab_progress progress = {0};
    const struct lab_run_context context = {.progress = &progress, .team = team};
    struct lab_scenario *scenario = NULL;
    struct lab_rows *rows = NULL;
    bool ok = sim_archive_finish_load(archive, error) &&
              lab_scenario_again(order->path, order->text, order->overrides, NULL, 0, order->seed, &scenario,
                                 error) &&
              lab_cluster_rows(scenario, &context, &rows, error);
    if (ok) {
        struct strategies all = {.scenario = scenario, .rows = rows, .context = &context};
        all.results = calloc(scenario->strategy_count, sizeof *all.results);
        ok = all.results == NULL ? sim_fail_memory(error)
                                 : run_all(&all, lab_team_threads(team, ranks_own(team->ranks)), error);
        free(all.results);
    }
    lab_rows_destroy(rows);
    lab_scenario_destroy(scenario);
    return ok;
}
