/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs strategies on other ranks: for each of their threads, a thread of this process takes a strategy, has
 * it run there, and waits for the result. */
#include "lab/cluster_ranks.h"
#include "cluster_loop.h"
#include "cluster_result.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "cluster_run.h"
#include "kernel/thread.h"
#include "lab/request.h"

struct lab_far_strategies {
    const struct lab_scenario *scenario;
    const struct lab_team *team;
    struct lab_progress *progress;
    _Atomic size_t *next;
    struct lab_result **results;
    struct sim_error *errors;
    struct hand {
        struct lab_far_strategies *far;
        uint32_t rank;
        pthread_t thread;
    } * hands;
    size_t count;
};

static bool ask(const struct lab_far_strategies *far, uint32_t rank, size_t index, struct lab_result **out,
                struct sim_error *error)
{
    const struct lab_order order = lab_order_of(far->scenario);
    struct lab_team_call call = {.rank = rank, .service = LAB_SERVICE_STRATEGY};
    char *overrides; /* this rank has the overrides already */
    bool is_fine = lab_team_result(far->team, &call, &order, index, far->progress, out, &overrides, error);
    free(overrides);
    return is_fine;
}

static void *work(void *argument)
{
    const struct hand *hand = argument;
    const struct lab_far_strategies *far = hand->far;
    for (;;) {
        size_t index = atomic_fetch_add_explicit(far->next, 1, memory_order_relaxed);
        if (index >= far->scenario->strategy_count ||
            !ask(far, hand->rank, index, &far->results[index], &far->errors[index]))
            return NULL;
    }
}

struct lab_far_strategies *lab_far_strategies_begin(const struct lab_scenario *scenario,
                                                    const struct lab_run_context *context,
                                                    _Atomic size_t *next, struct lab_result **results,
                                                    struct sim_error *errors)
{
    const struct lab_team *team = lab_team_for(scenario, context);
    size_t most = scenario->strategy_count - 1; /* one strategy is for this rank */
    struct lab_far_strategies *far = team == NULL ? NULL : calloc(1, sizeof *far);
    if (far == NULL)
        return NULL;
    *far = (struct lab_far_strategies){.scenario = scenario,
                                       .team = team,
                                       .progress = context->progress,
                                       .next = next,
                                       .results = results,
                                       .errors = errors,
                                       .hands = calloc(most + 1, sizeof *far->hands)};
    /* First uses one thread of each rank, then a second one, because there may be fewer strategies than
     * threads. */
    bool is_more = far->hands != NULL;
    for (uint32_t nth = 0; is_more; nth++) {
        is_more = false;
        for (uint32_t rank = 1; rank < lab_team_count(team) && far->count < most; rank++) {
            struct hand *hand = &far->hands[far->count];
            if (lab_team_threads(team, rank) <= nth)
                continue;
            *hand = (struct hand){.far = far, .rank = rank};
            is_more = sim_thread_start(&hand->thread, work, hand) == 0;
            if (!is_more)
                break;
            far->count++;
        }
    }
    return far;
}

void lab_far_strategies_end(struct lab_far_strategies *far)
{
    if (far == NULL)
        return;
    for (size_t i = 0; i < far->count; i++)
        pthread_join(far->hands[i].thread, NULL);
    free(far->hands);
    free(far);
}

/* Runs the strategy that the request names. The result has no other strategy and no digest. */
static bool run_part(const struct lab_scenario *scenario, const struct lab_request *request,
                     struct lab_progress *progress, struct lab_result **out, struct sim_error *error)
{
    const struct lab_run_context context = {.progress = progress};
    const size_t index = request->part;
    struct lab_rows *rows;
    struct sim_error failed = {.class = SIM_ERROR_NONE};
    *out = NULL;
    assert(index < scenario->strategy_count);
    if (!lab_cluster_rows(scenario, &context, &rows, error))
        return false;
    struct lab_cluster_run *run = lab_cluster_run_create(scenario, index, rows, &context, &failed);
    bool ok = failed.class == SIM_ERROR_NONE || sim_fail(error, failed.class, "%s", failed.text);
    ok = ok && (lab_cluster_result_of(scenario, index, run, out) || sim_fail_memory(error));
    lab_cluster_run_destroy(run);
    lab_rows_destroy(rows);
    return ok;
}

bool lab_serve_strategy(struct ranks_task *task, const struct ranks_bytes *bytes, struct ranks_bytes *answer,
                        struct sim_error *error)
{
    return lab_serve_result(task, bytes, run_part, answer, error);
}
