/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run whose keys are shared by several ranks. In: the numbers of blocks, from the counter of all ranks.
 * Each rank adds the tallies of its blocks, and hands the sum over to rank 0 as a partial result
 * (lab/partial.h), whenever rank 0 is to store one, and at the end. Blocks shrink towards the end, so that
 * all ranks end together (guided self-scheduling, Polychronopoulos and Kuck 1987). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lab/ring.h"
#include "stream_synthetic.h"

/* A block is at most 1/PARTS_A_THREAD of a thread's equal part of all work, and 1/PARTS_OF_REST of its equal
 * part of the keys left; but at least LEAST_WORK rows, so that it is worth a number. */
#define PARTS_A_THREAD 16
#define PARTS_OF_REST  8
#define LEAST_WORK     (1 << 19)

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the end of a block that begins with this task. No later key has more rows than its first one. */
static uint64_t block_end(const struct lab_stream_crew *crew, uint64_t task)
{
    const struct wl_workload *workload = &crew->scenario->workload;
    const uint64_t threads = crew->block.threads, key = lab_task_begin(task);
    const double part = sim_zipf_share(&workload->popularity, key),
                 left = (double)(workload->key_count - key);
    const double rows = workload->rate_per_s * ((double)workload->duration_ns * 1e-9) * part;
    double keys =
        least(1 / (PARTS_A_THREAD * (double)threads * part), left / (PARTS_OF_REST * (double)threads));
    double worth = LEAST_WORK / (rows + LAB_KEY_ROWS);
    keys = least(keys > worth ? keys : worth, left);
    uint64_t end = lab_task_of(key + (uint64_t)keys);
    return end > task ? end : task + 1;
}

uint64_t lab_keys_next(struct lab_stream_crew *crew)
{
    struct lab_block *block = &crew->block;
    pthread_mutex_lock(&block->lock);
    if (block->next == block->end && block->from < crew->task_count) {
        const uint64_t wanted = ranks_draw(crew->joint.team->ranks);
        do {
            block->next = block->from;
            block->end = block->from = block_end(crew, block->next);
        } while (block->number++ < wanted && block->from < crew->task_count);
        if (block->number <= wanted) /* the work has fewer blocks */
            block->next = block->end;
    }
    uint64_t task = crew->block.is_over || block->next == block->end ? crew->task_count : block->next++;
    pthread_mutex_unlock(&block->lock);
    return task;
}

static void stop(void *context)
{
    struct lab_stream_crew *crew = context;
    crew->block.is_over = true;
    if (ranks_own(crew->joint.team->ranks) != 0)
        crew->context->progress->stop = true;
}

/* Empties the sum. With the lock held. */
static bool renew(struct lab_stream_crew *crew)
{
    lab_stream_result_clear(crew->sum, crew->scenario->strategy_count);
    memset(crew->done, 0, lab_bit_words(crew->task_count) * sizeof *crew->done);
    return lab_stream_sum_init(crew->scenario, crew->ring, crew->sum);
}

/* The mark is the newest wish of rank 0 for a partial result. On another rank, its members then add what they
 * have done to the sum, as at their ends, and the sum is handed over. */
static bool tend(void *context, uint64_t *mark, struct sim_archive *archive)
{
    struct lab_stream_crew *crew = context;
    struct lab_partial *partial = crew->context->partial;
    if (archive == NULL) {
        *mark = partial == NULL ? 0 : atomic_load_explicit(&partial->wish, memory_order_relaxed);
        return true;
    }
    pthread_mutex_lock(&crew->lock);
    const bool is_any = crew->sum->keys > 0;
    if (is_any) {
        for (size_t i = 0; i < crew->scenario->strategy_count; i++) {
            if (crew->sum->tallies[i].out_of_memory)
                sim_archive_fail_memory(archive);
        }
        lab_sum_archive(archive, crew->scenario, crew->ring, crew->sum, crew->done,
                        lab_bit_words(crew->task_count));
        if (!renew(crew))
            sim_archive_fail_memory(archive);
    }
    crew->put = (uint32_t)*mark; /* so that they do not put it too */
    pthread_mutex_unlock(&crew->lock);
    atomic_store_explicit(&partial->wish, (uint32_t)*mark, memory_order_relaxed);
    return is_any;
}

static void take(void *context, struct sim_archive *archive)
{
    struct lab_stream_crew *crew = context;
    const size_t words = lab_bit_words(crew->task_count);
    struct lab_stream_result found;
    uint64_t *done = calloc(words, sizeof *done);
    if (!lab_stream_sum_init(crew->scenario, crew->ring, &found) || done == NULL)
        sim_archive_fail_memory(archive);
    else
        lab_sum_archive(archive, crew->scenario, crew->ring, &found, done, words);
    if (sim_archive_is_fine(archive)) {
        pthread_mutex_lock(&crew->lock);
        for (size_t i = 0; i < crew->scenario->strategy_count; i++)
            lab_tally_move(&crew->sum->tallies[i], &found.tallies[i], cass_ring_node_count(crew->ring));
        crew->sum->rows += found.rows;
        crew->sum->keys += found.keys;
        for (size_t i = 0; i < words; i++)
            crew->done[i] |= done[i];
        lab_crew_added(crew);
        pthread_mutex_unlock(&crew->lock);
    }
    lab_stream_result_clear(&found, crew->scenario->strategy_count);
    free(done);
}

void lab_keys_share(struct lab_stream_crew *crew)
{
    const struct lab_team *team = lab_team_for(crew->scenario, crew->context);
    pthread_mutex_init(&crew->block.lock, NULL);
    crew->joint = (struct lab_joint){.team = team,
                                     .context = crew,
                                     .progress = crew->context->progress,
                                     .tend = tend,
                                     .take = take,
                                     .stop = stop};
    crew->block.threads = team == NULL ? 1 : lab_team_all_threads(team);
}

/* The tasks that were done before, of a run that resumes. */
static void archive_before(void *context, struct sim_archive *archive)
{
    struct lab_stream_crew *crew = context;
    size_t words = crew->before == NULL ? 0 : lab_bit_words(crew->task_count);
    crew->before = sim_archive_array(archive, crew->before, sizeof *crew->before, &words, SIZE_MAX);
    sim_archive_check(archive, words == 0 || words == lab_bit_words(crew->task_count));
}

bool lab_keys_begin(struct lab_stream_crew *crew, struct sim_error *error)
{
    struct lab_order order = lab_order_of(LAB_SERVICE_KEYS, crew->scenario);
    return lab_team_begin(crew->joint.team, &order, archive_before, crew, error);
}

bool lab_serve_keys(const struct lab_team *team, const struct lab_order *order, struct sim_archive *archive,
                    struct sim_error *error)
{
    struct lab_progress progress = {0};
    struct lab_partial partial = {0}; /* for the wishes of rank 0 */
    const struct lab_run_context context = {.progress = &progress, .team = team, .partial = &partial};
    struct lab_stream_result sum;
    struct lab_scenario *scenario;
    struct cass_ring *ring = NULL;
    if (!lab_scenario_again(order->path, order->text, order->overrides, NULL, 0, order->seed, &scenario,
                            error))
        return false;
    struct lab_stream_crew crew = {.scenario = scenario,
                                   .context = &context,
                                   .task_count = lab_task_of(scenario->workload.key_count - 1) + 1,
                                   .sum = &sum};
    archive_before(&crew, archive);
    bool is_fine = sim_archive_finish_load(archive, error) && lab_ring_create(scenario, &ring, error);
    if (is_fine) {
        crew.ring = ring;
        is_fine = lab_stream_tasks(&crew, lab_team_threads(team, ranks_own(team->ranks)), error);
        if (is_fine)
            lab_stream_result_clear(&sum, scenario->strategy_count);
    } else {
        free(crew.before);
    }
    cass_ring_destroy(ring);
    lab_scenario_destroy(scenario);
    return is_fine;
}
