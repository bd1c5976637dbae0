/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs keys on other ranks, in blocks of tasks: for each of their threads, and for one more, so that a rank
 * need not wait for its next block, a thread of this process requests one block after the other, so a fast
 * rank does more. Blocks shrink towards the end, so that all ranks end together (guided self-scheduling,
 * Polychronopoulos and Kuck 1987). */
#include <pthread.h>
#include <stdlib.h>

#include "kernel/thread.h"
#include "lab/request.h"
#include "lab/ring.h"
#include "stream_synthetic.h"

/* A block is at most 1/PARTS_A_THREAD of a thread's equal part of all work, and 1/PARTS_OF_REST of its equal
 * part of the keys left; but at least LEAST_WORK rows, so that it is worth a message. */
#define PARTS_A_THREAD 16
#define PARTS_OF_REST  8
#define LEAST_WORK     (1 << 19)

struct lab_far_keys {
    struct lab_stream_crew *crew;
    const struct lab_team *team;
    uint64_t threads; /* of all other ranks */
    struct hand {
        struct lab_far_keys *far;
        struct sim_error error;
        uint32_t rank;
        pthread_t thread;
    } * hands;
    size_t count;
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the end of a block that begins with this task. No later key has more rows than its first one. */
static uint64_t block_end(const struct lab_far_keys *far, uint64_t task)
{
    const struct wl_workload *workload = &far->crew->scenario->workload;
    const uint64_t ranks = far->threads + 1, key = lab_task_begin(task);
    const double part = sim_zipf_share(&workload->popularity, key),
                 left = (double)(workload->key_count - key);
    const double rows = workload->rate_per_s * ((double)workload->duration_ns * 1e-9) * part;
    double keys = least(1 / (PARTS_A_THREAD * (double)ranks * part), left / (PARTS_OF_REST * (double)ranks));
    double worth = LEAST_WORK / (rows + LAB_KEY_ROWS);
    keys = least(keys > worth ? keys : worth, left);
    uint64_t end = lab_task_of(key + (uint64_t)keys);
    return end > task ? end : task + 1;
}

/* Takes a block of tasks that are not done yet; false when none is left. A run that resumes finds them
 * between those that are done. */
static bool take_block(const struct lab_far_keys *far, uint64_t *begin, uint64_t *end)
{
    struct lab_stream_crew *crew = far->crew;
    uint64_t seen = atomic_load(&crew->next_task), from, to;
    do {
        from = seen;
        while (from < crew->task_count && crew->before != NULL && lab_bit(crew->before, from))
            from++;
        to = from < crew->task_count ? block_end(far, from) : from;
        for (uint64_t i = from; crew->before != NULL && i < to; i++)
            to = lab_bit(crew->before, i) ? i : to;
        *begin = from;
    } while (!atomic_compare_exchange_weak(&crew->next_task, &seen, to));
    *end = to;
    return *begin < to;
}

static void archive_sum(const struct lab_scenario *scenario, const struct cass_ring *ring,
                        struct lab_stream_result *sum, struct sim_archive *archive)
{
    sim_archive_u64(archive, &sum->rows);
    sim_archive_u64(archive, &sum->keys);
    for (size_t i = 0; i < scenario->strategy_count; i++)
        lab_tally_archive(&sum->tallies[i], archive, cass_ring_node_count(ring));
}

static bool load(const struct lab_stream_crew *crew, const struct ranks_bytes *answer,
                 struct lab_stream_result *out, struct sim_error *error)
{
    struct sim_archive archive;
    if (!lab_stream_sum_init(crew->scenario, crew->ring, out))
        return sim_fail_memory(error);
    if (!lab_answer_begin_load(&archive, answer, error))
        return false;
    archive_sum(crew->scenario, crew->ring, out, &archive);
    return lab_answer_finish_load(&archive, error);
}

static bool add(struct lab_stream_crew *crew, const struct ranks_bytes *answer, uint64_t begin, uint64_t end,
                struct sim_error *error)
{
    struct lab_stream_result found;
    bool is_fine = load(crew, answer, &found, error);
    if (is_fine) {
        pthread_mutex_lock(&crew->lock);
        for (size_t i = 0; i < crew->scenario->strategy_count; i++)
            lab_tally_move(&crew->sum->tallies[i], &found.tallies[i], cass_ring_node_count(crew->ring));
        crew->sum->rows += found.rows;
        crew->sum->keys += found.keys;
        for (uint64_t task = begin; task < end; task++)
            lab_bit_set(crew->done, task);
        lab_crew_added(crew);
        pthread_mutex_unlock(&crew->lock);
    }
    lab_stream_result_clear(&found, crew->scenario->strategy_count);
    return is_fine;
}

/* A thread for a thread of another rank. If a block fails, the run ends. */
static void *work(void *argument)
{
    struct hand *hand = argument;
    struct lab_far_keys *far = hand->far;
    struct lab_stream_crew *crew = far->crew;
    const struct lab_order order = lab_order_of(crew->scenario);
    uint64_t begin, end;
    bool is_fine = true;
    while (is_fine && !lab_run_is_stopped(crew->context) && take_block(far, &begin, &end)) {
        struct lab_team_call call = {.rank = hand->rank, .service = LAB_SERVICE_KEYS};
        struct ranks_bytes answer = {0};
        is_fine = lab_request_make(&order, begin, end, &call.request, &hand->error) &&
                  lab_team_ask(far->team, &call, crew->context->progress, &answer, &hand->error) &&
                  add(crew, &answer, begin, end, &hand->error);
        free(call.request.data);
        free(answer.data);
    }
    if (!is_fine)
        atomic_store(&crew->next_task, crew->task_count);
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
    for (uint32_t rank = 1; rank < lab_team_count(team); rank++)
        far->threads += lab_team_threads(team, rank);
    far->hands = calloc(far->threads + lab_team_count(team), sizeof *far->hands);
    for (uint32_t rank = 1; far->hands != NULL && rank < lab_team_count(team); rank++) {
        for (uint32_t nth = 0; nth <= lab_team_threads(team, rank); nth++) {
            struct hand *hand = &far->hands[far->count];
            *hand = (struct hand){.far = far, .rank = rank};
            if (sim_thread_start(&hand->thread, work, hand) != 0)
                return far;
            far->count++;
        }
    }
    return far;
}

bool lab_far_keys_end(struct lab_far_keys *far, struct sim_error *error)
{
    bool ok = true;
    if (far == NULL)
        return true;
    for (size_t i = 0; i < far->count; i++) {
        struct hand *hand = &far->hands[i];
        pthread_join(hand->thread, NULL);
        if (ok && hand->error.class != SIM_ERROR_NONE)
            ok = sim_fail(error, hand->error.class, "%s", hand->error.text);
    }
    free(far->hands);
    free(far);
    return ok;
}

static bool work_here(struct ranks_task *task, const struct lab_scenario *scenario,
                      const struct lab_request *request, struct ranks_bytes *answer, struct sim_error *error)
{
    struct lab_progress progress = {0};
    const struct lab_run_context context = {.progress = &progress};
    struct lab_stream_result found;
    struct sim_archive archive;
    struct cass_ring *ring;
    if (!lab_ring_create(scenario, &ring, error))
        return false;
    lab_team_attend(task, &progress);
    bool ok = lab_stream_block(scenario, ring, request->part, request->end, &context, &found, error);
    lab_team_done(task);
    if (ok) {
        sim_archive_begin_save(&archive, LAB_ANSWER_KIND);
        archive_sum(scenario, ring, &found, &archive);
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
                   work_here(task, scenario, &request, answer, error);
    lab_scenario_destroy(scenario);
    lab_request_clear(&request);
    return is_fine;
}
