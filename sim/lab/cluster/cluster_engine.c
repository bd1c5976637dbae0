/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs all strategies of a scenario with the cluster engine: each thread, and each other rank, takes one
 * strategy after the other. */
#include "lab/cluster_engine.h"
#include "cluster_loop.h"
#include "cluster_result.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "cluster_run.h"
#include "kernel/thread.h"
#include "lab/cluster_ranks.h"

struct crew {
    const struct lab_scenario *scenario;
    const struct lab_rows *rows;
    const struct lab_run_context *context;
    struct lab_cluster_run **runs; /* one per strategy, created by the thread that takes it, */
    struct lab_result **far;       /* or the result from another rank, or from an earlier run */
    struct sim_error *errors;
    _Atomic size_t next;
};

static void *work(void *argument)
{
    struct crew *crew = argument;
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);
        if (index >= crew->scenario->strategy_count)
            return NULL;
        if (crew->far[index] != NULL)
            continue;
        if (lab_run_is_stopped(crew->context))
            lab_fail_stopped(&crew->errors[index]);
        else
            crew->runs[index] = lab_cluster_run_create(crew->scenario, index, crew->rows, crew->context,
                                                       &crew->errors[index]);
    }
}

bool lab_cluster_scenario(const struct lab_scenario *scenario, uint32_t jobs,
                          const struct lab_run_context *context, struct lab_result **out,
                          struct sim_error *error)
{
    size_t count = scenario->strategy_count;
    struct lab_rows *rows;
    *out = NULL;
    if (!lab_cluster_rows(scenario, context, &rows, error))
        return false;
    struct crew crew = {.scenario = scenario, .rows = rows, .context = context};
    pthread_t threads[LAB_STRATEGIES_MAX];
    bool is_running[LAB_STRATEGIES_MAX] = {false};
    crew.runs = calloc(count, sizeof *crew.runs);
    crew.far = calloc(count, sizeof *crew.far);
    crew.errors = calloc(count, sizeof *crew.errors);
    bool ok = (crew.runs != NULL && crew.far != NULL && crew.errors != NULL) || sim_fail_memory(error);
    struct lab_far_strategies *far = NULL;
    assert(context->known == NULL || context->team == NULL);
    for (size_t i = 0; ok && context->known != NULL && i < count; i++) {
        crew.far[i] = context->known[i];
        context->known[i] = NULL;
    }
    if (context->event_trace != NULL)
        jobs = 1;
    for (uint32_t i = 1; ok && i < jobs && i < count; i++)
        is_running[i] = sim_thread_start(&threads[i], work, &crew) == 0;
    if (ok)
        far = lab_far_strategies_begin(scenario, context, &crew.next, crew.far, crew.errors);
    if (ok)
        work(&crew);
    for (uint32_t i = 1; i < jobs && i < count; i++) {
        if (is_running[i])
            pthread_join(threads[i], NULL);
    }
    lab_far_strategies_end(far);
    for (size_t i = 0; ok && i < count; i++) {
        if (crew.errors[i].class != SIM_ERROR_NONE)
            ok = sim_fail(error, crew.errors[i].class, "%s", crew.errors[i].text);
    }
    if (ok)
        ok = lab_cluster_result(scenario, crew.runs, crew.far, out) || sim_fail_memory(error);
    for (size_t i = 0; crew.runs != NULL && i < count; i++)
        lab_cluster_run_destroy(crew.runs[i]);
    for (size_t i = 0; crew.far != NULL && i < count; i++)
        lab_result_destroy(crew.far[i]);
    free(crew.runs);
    free(crew.far);
    free(crew.errors);
    lab_rows_destroy(rows);
    return ok;
}
