/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs keys on other ranks: for each rank, a thread of this process waits for the rank's results. A rank
 * requests tasks repeatedly, so a fast rank does more. Its shares of the work shrink towards the end, so that
 * all ranks end together (guided self-scheduling, Polychronopoulos and Kuck 1987). */
#include <pthread.h>
#include <stdlib.h>

#include "kernel/thread.h"
#include "lab/request.h"
#include "lab/ring.h"
#include "lab/stored.h"
#include "stream_synthetic.h"

/* A share is at most 1/PARTS_A_RANK of a rank's equal part of all work, and 1/PARTS_OF_REST of its equal part
 * of the keys left; but at least LEAST_WORK rows, so that it is worth a message. */
#define PARTS_A_RANK  16
#define PARTS_OF_REST 8
#define LEAST_WORK    65536

struct lab_far_keys {
    struct lab_stream_crew *crew;
    const struct lab_team *team;
    struct hand {
        struct lab_far_keys *far;
        struct ranks_bytes answer;
        struct sim_error error;
        uint32_t rank;
        pthread_t thread;
    } * hands;
    uint32_t count;
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the end of a share that begins with this task. No later key has more rows than its first one. */
static uint64_t share_end(const struct lab_far_keys *far, uint64_t task)
{
    const struct wl_workload *workload = &far->crew->scenario->workload;
    const uint64_t ranks = lab_team_count(far->team), key = lab_task_begin(task);
    const double part = sim_zipf_share(&workload->popularity, key),
                 left = (double)(workload->key_count - key);
    const double rows = workload->rate_per_s * ((double)workload->duration_ns * 1e-9) * part;
    double keys = least(1 / (PARTS_A_RANK * (double)ranks * part), left / (PARTS_OF_REST * (double)ranks));
    double worth = LEAST_WORK / (rows + LAB_KEY_ROWS);
    keys = least(keys > worth ? keys : worth, left);
    uint64_t end = lab_task_of(key + (uint64_t)keys);
    return end > task ? end : task + 1;
}

/* Assigns tasks to another rank. It gets more tasks per request than a local thread, because a request takes
 * time. */
static void share(void *context, uint64_t *begin, uint64_t *end)
{
    const struct lab_far_keys *far = context;
    struct lab_stream_crew *crew = far->crew;
    uint64_t from = atomic_load(&crew->next_task), to;
    do {
        to = from < crew->task_count ? share_end(far, from) : from;
    } while (!atomic_compare_exchange_weak(&crew->next_task, &from, to));
    *begin = from;
    *end = to;
}

/* Initialises a result for loading. The caller must call lab_stream_result_clear() even if this fails. */
static bool begin_found(const struct lab_stream_crew *crew, struct lab_stream_result *out,
                        struct sim_error *error)
{
    const struct lab_scenario *scenario = crew->scenario;
    int64_t start_ns = scenario->workload.start_ns, end_ns = start_ns + scenario->workload.duration_ns;
    out->tallies = calloc(scenario->strategy_count, sizeof *out->tallies);
    bool ok = out->tallies != NULL;
    for (size_t i = 0; ok && i < scenario->strategy_count; i++) {
        ok = lab_stream_tally_init(scenario, crew->ring, &out->tallies[i]);
        if (!ok)
            break;
        lab_slices_begin(&out->tallies[i].slices, start_ns, end_ns);
        if (out->tallies[i].stored != NULL)
            lab_stored_begin(out->tallies[i].stored, start_ns, end_ns);
    }
    return ok || sim_fail_memory(error);
}

static void archive_found(const struct lab_stream_crew *crew, struct lab_stream_result *found,
                          struct sim_archive *archive)
{
    sim_archive_u64(archive, &found->rows);
    sim_archive_u64(archive, &found->keys);
    for (size_t i = 0; i < crew->scenario->strategy_count; i++)
        lab_tally_archive(&found->tallies[i], archive, cass_ring_node_count(crew->ring));
}

static bool load(const struct lab_stream_crew *crew, const struct ranks_bytes *answer,
                 struct lab_stream_result *out, struct sim_error *error)
{
    struct sim_archive archive;
    if (!begin_found(crew, out, error) || !lab_answer_begin_load(&archive, answer, error))
        return false;
    archive_found(crew, out, &archive);
    return lab_answer_finish_load(&archive, error);
}

static bool add(const struct lab_stream_crew *crew, const struct ranks_bytes *answer,
                struct lab_stream_result *out, struct sim_error *error)
{
    struct lab_stream_result found = {.rows = 0};
    bool is_fine = load(crew, answer, &found, error);
    for (size_t i = 0; is_fine && i < crew->scenario->strategy_count; i++)
        lab_tally_move(&out->tallies[i], &found.tallies[i], cass_ring_node_count(crew->ring));
    out->rows += found.rows;
    out->keys += found.keys;
    lab_stream_result_clear(&found, crew->scenario->strategy_count);
    return is_fine;
}

/* The thread of one rank. If the rank fails, the run ends. */
static void *work(void *argument)
{
    struct hand *hand = argument;
    struct lab_far_keys *far = hand->far;
    const struct lab_order order = lab_order_of(far->crew->scenario);
    struct lab_team_call call = {
        .rank = hand->rank, .service = LAB_SERVICE_KEYS, .share = share, .context = far};
    bool is_fine =
        lab_request_make(&order, lab_team_threads(far->team, hand->rank), 0, &call.request, &hand->error) &&
        lab_team_ask(far->team, &call, far->crew->context->progress, &hand->answer, &hand->error);
    if (!is_fine)
        atomic_store(&far->crew->next_task, far->crew->task_count);
    free(call.request.data);
    return NULL;
}

struct lab_far_keys *lab_far_keys_begin(struct lab_stream_crew *crew)
{
    const struct lab_team *team = lab_team_for(crew->scenario, crew->context);
    struct lab_far_keys *far = team == NULL ? NULL : calloc(1, sizeof *far);
    if (far == NULL)
        return NULL;
    far->crew = crew;
    far->team = team;
    far->hands = calloc(lab_team_count(team), sizeof *far->hands);
    for (uint32_t rank = 1; far->hands != NULL && rank < lab_team_count(team); rank++) {
        struct hand *hand = &far->hands[far->count];
        hand->far = far;
        hand->rank = rank;
        if (sim_thread_start(&hand->thread, work, hand) != 0)
            break;
        far->count++;
    }
    return far;
}

/* One answer after the other is unpacked, to save memory. */
bool lab_far_keys_end(struct lab_far_keys *far, struct lab_stream_result *out, struct sim_error *error)
{
    bool ok = true;
    if (far == NULL)
        return true;
    for (uint32_t i = 0; i < far->count; i++) {
        struct hand *hand = &far->hands[i];
        pthread_join(hand->thread, NULL);
        if (ok && hand->error.class != SIM_ERROR_NONE)
            ok = sim_fail(error, hand->error.class, "%s", hand->error.text);
        ok = ok && add(far->crew, &hand->answer, out, error);
        free(hand->answer.data);
    }
    free(far->hands);
    free(far);
    return ok;
}

static bool work_here(struct ranks_task *task, const struct lab_scenario *scenario, uint32_t threads,
                      struct ranks_bytes *answer, struct sim_error *error)
{
    struct lab_progress progress = {0};
    const struct lab_run_context context = {.progress = &progress};
    struct lab_stream_result found;
    struct sim_archive archive;
    struct cass_ring *ring;
    if (!lab_ring_create(scenario, &ring, error))
        return false;
    lab_team_attend(task, &progress);
    bool ok = lab_stream_shares(scenario, ring, threads, &context, task, &found, error);
    lab_team_done(task);
    if (ok) {
        const struct lab_stream_crew crew = {.scenario = scenario, .ring = ring};
        sim_archive_begin_save(&archive, LAB_ANSWER_KIND);
        archive_found(&crew, &found, &archive);
        ok = sim_archive_finish_save(&archive, &answer->data, &answer->size, error);
        lab_stream_result_clear(&found, scenario->strategy_count);
    }
    cass_ring_destroy(ring);
    return ok;
}

bool lab_serve_keys(struct ranks_task *task, const struct ranks_bytes *bytes, struct ranks_bytes *answer,
                    struct sim_error *error)
{
    struct lab_request request;
    struct lab_scenario *scenario;
    bool is_fine = lab_request_read(bytes, &request, &scenario, error) &&
                   work_here(task, scenario, request.threads, answer, error);
    lab_scenario_destroy(scenario);
    lab_request_clear(&request);
    return is_fine;
}
