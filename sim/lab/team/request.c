/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes, sends and serves requests of a run to other ranks. */
#include "lab/request.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/archive.h"
#include "kernel/text.h"
#include "lab/result_make.h"

#define REQUEST_KIND UINT64_C(0x72657175657374)

/* A call, whose progress is added to the progress of this rank. */
struct follow {
    struct lab_progress *progress;
    uint64_t done, rows; /* as reported so far */
};

uint32_t lab_team_threads(const struct lab_team *team, uint32_t rank)
{
    return team->threads > 0 ? team->threads : ranks_threads(team->ranks, rank);
}

const struct lab_team *lab_team_for(const struct lab_scenario *scenario,
                                    const struct lab_run_context *context)
{
    bool is_shared = context->progress != NULL && context->event_trace == NULL &&
                     scenario->trace_path == NULL && lab_team_count(context->team) > 1;
    return is_shared ? context->team : NULL;
}

static bool is_stopped(const void *context)
{
    const struct follow *follow = context;
    return lab_is_stopped(follow->progress);
}

static void note(void *context, uint64_t done, uint64_t rows)
{
    struct follow *follow = context;
    if (follow->progress == NULL)
        return;
    atomic_fetch_add_explicit(&follow->progress->done, done - follow->done, memory_order_relaxed);
    atomic_fetch_add_explicit(&follow->progress->rows, rows - follow->rows, memory_order_relaxed);
    follow->done = done;
    follow->rows = rows;
}

bool lab_team_ask(const struct lab_team *team, const struct lab_team_call *call,
                  struct lab_progress *progress, struct ranks_bytes *answer, struct sim_error *error)
{
    struct follow follow = {.progress = progress};
    const struct ranks_call asked = {.rank = call->rank,
                                     .service = call->service,
                                     .request = &call->request,
                                     .at_once = lab_team_threads(team, call->rank),
                                     .context = &follow,
                                     .is_stopped = is_stopped,
                                     .note = note};
    return ranks_call(team->ranks, &asked, answer, error);
}

static void watch(void *context, bool is_to_stop, uint64_t *done, uint64_t *rows)
{
    struct lab_progress *progress = context;
    if (is_to_stop)
        progress->stop = true;
    *done = atomic_load_explicit(&progress->done, memory_order_relaxed);
    *rows = atomic_load_explicit(&progress->rows, memory_order_relaxed);
}

void lab_team_attend(struct ranks_task *task, struct lab_progress *progress)
{
    ranks_watch(task, watch, progress);
}

void lab_team_done(struct ranks_task *task)
{
    ranks_watch(task, NULL, NULL);
}

struct lab_order lab_order_of(const struct lab_scenario *scenario)
{
    return (struct lab_order){scenario->path, scenario->text, scenario->overrides, scenario->seed};
}

static void archive_request(struct lab_request *request, struct sim_archive *archive)
{
    sim_archive_text(archive, &request->path);
    sim_archive_text(archive, &request->text);
    sim_archive_text(archive, &request->overrides);
    sim_archive_u64(archive, &request->seed);
    sim_archive_u64(archive, &request->part);
    sim_archive_u64(archive, &request->end);
}

bool lab_request_make(const struct lab_order *order, uint64_t part, uint64_t end, struct ranks_bytes *out,
                      struct sim_error *error)
{
    struct sim_archive archive;
    struct lab_request request = {.path = sim_text_copy(order->path),
                                  .text = sim_text_copy(order->text),
                                  .overrides = sim_text_copy(order->overrides),
                                  .seed = order->seed,
                                  .part = part,
                                  .end = end};
    *out = (struct ranks_bytes){0};
    bool is_fine =
        (request.path != NULL && request.text != NULL && request.overrides != NULL) || sim_fail_memory(error);
    if (is_fine) {
        sim_archive_begin_save(&archive, REQUEST_KIND);
        archive_request(&request, &archive);
        is_fine = sim_archive_finish_save(&archive, &out->data, &out->size, error);
    }
    lab_request_clear(&request);
    return is_fine;
}

bool lab_request_read(const struct ranks_bytes *bytes, struct lab_request *out,
                      struct lab_scenario **scenario, struct sim_error *error)
{
    struct sim_archive archive;
    *out = (struct lab_request){0};
    *scenario = NULL;
    if (!sim_archive_begin_load(&archive, bytes->data, bytes->size, REQUEST_KIND, error))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "a request came damaged; start the same command again");
    archive_request(out, &archive);
    return sim_archive_finish_load(&archive, error) &&
           lab_scenario_again(out->path, out->text, out->overrides, NULL, 0, out->seed, scenario, error);
}

void lab_request_clear(struct lab_request *request)
{
    free(request->path);
    free(request->text);
    free(request->overrides);
}

bool lab_answer_begin_load(struct sim_archive *archive, const struct ranks_bytes *answer,
                           struct sim_error *error)
{
    return sim_archive_begin_load(archive, answer->data, answer->size, LAB_ANSWER_KIND, NULL) ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "an answer came damaged from another rank; start the same command again");
}

bool lab_answer_finish_load(struct sim_archive *archive, struct sim_error *error)
{
    struct sim_error inner = {0};
    if (sim_archive_finish_load(archive, &inner))
        return true;
    if (inner.class == SIM_ERROR_INPUT)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "an answer came damaged from another rank; start the same command again");
    *error = inner;
    return false;
}

bool lab_team_run(const struct lab_team *team, uint32_t rank, const struct lab_order *order,
                  struct lab_progress *progress, struct lab_result **out, char **overrides,
                  struct sim_error *error)
{
    struct lab_team_call call = {.rank = rank, .service = LAB_SERVICE_RUN};
    return lab_team_result(team, &call, order, 0, progress, out, overrides, error);
}

bool lab_team_result(const struct lab_team *team, struct lab_team_call *call, const struct lab_order *order,
                     size_t part, struct lab_progress *progress, struct lab_result **out, char **overrides,
                     struct sim_error *error)
{
    struct sim_archive archive;
    struct ranks_bytes answer = {0};
    *out = NULL;
    *overrides = NULL;
    bool is_fine = lab_request_make(order, part, part + 1, &call->request, error) &&
                   lab_team_ask(team, call, progress, &answer, error) &&
                   lab_answer_begin_load(&archive, &answer, error);
    if (is_fine) {
        *out = calloc(1, sizeof **out);
        if (*out == NULL)
            sim_archive_fail_memory(&archive);
        else
            lab_result_archive(*out, &archive);
        sim_archive_text(&archive, overrides);
        is_fine = lab_answer_finish_load(&archive, error);
    }
    if (!is_fine) {
        lab_result_destroy(*out);
        free(*overrides);
        *out = NULL;
        *overrides = NULL;
    }
    free(call->request.data);
    free(answer.data);
    return is_fine;
}

bool lab_serve_result(struct ranks_task *task, const struct ranks_bytes *bytes, lab_team_work *work,
                      struct ranks_bytes *answer, struct sim_error *error)
{
    struct lab_progress progress = {0};
    struct lab_request request;
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    struct sim_archive archive;
    lab_team_attend(task, &progress);
    bool is_fine = lab_request_read(bytes, &request, &scenario, error) &&
                   work(scenario, &request, &progress, &result, error);
    lab_team_done(task);
    if (is_fine) {
        sim_archive_begin_save(&archive, LAB_ANSWER_KIND);
        lab_result_archive(result, &archive);
        sim_archive_text(&archive, &scenario->overrides);
        is_fine = sim_archive_finish_save(&archive, &answer->data, &answer->size, error);
    }
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    lab_request_clear(&request);
    return is_fine;
}
