/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine with a synthetic workload. Tasks of consecutive keys come from a shared counter, of this
 * process or of all ranks; members of a crew, which are threads, work on them and add their tallies to the
 * crew's sum.
 *
 * Each rank takes blocks of tasks, adds the tallies of its blocks, and hands the sum over to rank 0 as a
 * partial result (lab/partial.h), whenever rank 0 is to store one, and at the end. Blocks shrink towards the
 * end, so that all ranks end together (guided self-scheduling, Polychronopoulos and Kuck 1987). */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"
#include "lab/result.h"
#include "stream.h"

/* A block is at most 1/PARTS_A_THREAD of a thread's equal part of all work, and 1/PARTS_OF_REST of its equal
 * part of the keys left; but at least LEAST_WORK rows, so that it is worth a number. */
#define PARTS_A_THREAD 16
#define PARTS_OF_REST  8
#define LEAST_WORK     (1 << 19)

/* The first keys of a Zipf distribution are a task each; of the many keys with few rows, several are one
 * task. */
#define BUSY_KEYS       1024u
#define QUIET_KEYS_TASK 64u
struct member;
struct crew {
    const struct lab_scenario *scenario;
    const struct cass_ring *ring;
    const struct lab_run_context *context;
    size_t batch_rows;
    uint64_t task_count;
    struct lab_joint joint;
    struct block {
        pthread_mutex_t lock;
        uint64_t number, next, end; /* number of the next block; the tasks left of this rank's block */
        uint64_t from;              /* where the next block begins */
        uint64_t threads;           /* of all ranks */
    } block;
    pthread_mutex_t lock;          /* of all members below */
    struct lab_stream_result *sum; /* of the tasks that are done */
    uint64_t *done;                /* bit set of these tasks; changes only at the members' calls of add() */
    uint64_t *before;              /* those that were done when the run was resumed; NULL: none */
    struct member *members;
    uint32_t put; /* the last wish for which the sum was put */
};

struct member {
    struct crew *crew;
    struct lab_worker *worker;
    struct lab_key key;
    uint64_t *done; /* bit set of the finished tasks that are not in the sum yet */
};

static uint64_t task_begin(uint64_t number)
{
    return number < BUSY_KEYS ? number : BUSY_KEYS + (number - BUSY_KEYS) * QUIET_KEYS_TASK;
}
static uint64_t task_of(uint64_t key)
{
    return key < BUSY_KEYS ? key : BUSY_KEYS + (key - BUSY_KEYS) / QUIET_KEYS_TASK;
}
static bool has_bit(const uint64_t *bits, uint64_t index)
{
    return (bits[index / 64] >> (index % 64) & 1) != 0;
}
static void set_bit(uint64_t *bits, uint64_t index)
{
    bits[index / 64] |= UINT64_C(1) << (index % 64);
}
static size_t bit_words(uint64_t count)
{
    return (size_t)(count / 64 + 1);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the end of a block that begins with this task. No later key has more rows than its first one. */
static uint64_t block_end(const struct crew *crew, uint64_t task)
{
    const struct wl_workload *workload = &crew->scenario->workload;
    const uint64_t threads = crew->block.threads, key = task_begin(task);
    const double part = sim_zipf_share(&workload->popularity, key),
                 left = (double)(workload->key_count - key);
    const double rows = workload->rate_per_s * ((double)workload->duration_ns * 1e-9) * part;
    double keys =
        least(1 / (PARTS_A_THREAD * (double)threads * part), left / (PARTS_OF_REST * (double)threads));
    double worth = LEAST_WORK / (rows + LAB_KEY_ROWS);
    keys = least(keys > worth ? keys : worth, left);
    uint64_t end = task_of(key + (uint64_t)keys);
    return end > task ? end : task + 1;
}

/* The next task for this rank; task_count when there is none. */
static uint64_t next_task(struct crew *crew)
{
    struct block *block = &crew->block;
    pthread_mutex_lock(&block->lock);
    if (block->next == block->end && block->from < crew->task_count) {
        const uint64_t wanted = lab_joint_draw(&crew->joint);
        while (wanted < RANKS_CLOSED && block->number <= wanted && block->from < crew->task_count) {
            block->number++;
            block->next = block->from;
            block->end = block->from = block_end(crew, block->next);
        }
        if (wanted >= RANKS_CLOSED || block->number <= wanted) /* it ends, or all blocks are drawn */
            block->next = block->end;
    }
    uint64_t task = block->next == block->end ? crew->task_count : block->next++;
    pthread_mutex_unlock(&block->lock);
    return task;
}

/* Initialises an empty sum. The caller must call lab_stream_result_clear() even if this fails. */
static bool sum_init(const struct lab_scenario *scenario, const struct cass_ring *ring,
                     struct lab_stream_result *out)
{
    *out = (struct lab_stream_result){.tallies = calloc(scenario->strategy_count, sizeof *out->tallies),
                                      .start_ns = scenario->workload.start_ns,
                                      .end_ns = scenario->workload.start_ns + scenario->workload.duration_ns};
    for (size_t i = 0; out->tallies != NULL && i < scenario->strategy_count; i++) {
        if (!lab_stream_tally_init(scenario, ring, &out->tallies[i]))
            return false;
        lab_stream_tally_begin(scenario, &out->tallies[i], out->start_ns, out->end_ns);
    }
    return out->tallies != NULL;
}

/* With the lock held, after tasks were added to the sum: puts it, if a partial result is requested. */
static void added(struct crew *crew)
{
    struct lab_partial *partial = crew->context->partial;
    if (!lab_partial_is_asked(partial, crew->put))
        return;
    crew->put = atomic_load_explicit(&partial->wish, memory_order_relaxed);
    lab_partial_put(partial, crew->scenario, crew->ring, crew->sum, crew->done, bit_words(crew->task_count));
}

/* The sum of another rank, to which its members have added what they have done: saves it there. */
static void archive_sum(void *context, struct sim_archive *archive)
{
    struct crew *crew = context;
    const size_t words = bit_words(crew->task_count);
    struct lab_stream_result found;
    for (size_t i = 0; !archive->is_loading && i < crew->scenario->strategy_count; i++) {
        if (crew->sum->tallies[i].out_of_memory)
            sim_archive_fail_memory(archive);
    }
    if (!archive->is_loading) {
        lab_sum_archive(archive, crew->scenario, crew->ring, crew->sum, crew->done, words);
        return;
    }
    uint64_t *done = calloc(words, sizeof *done);
    if (!sum_init(crew->scenario, crew->ring, &found) || done == NULL)
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
        added(crew);
        pthread_mutex_unlock(&crew->lock);
    }
    lab_stream_result_clear(&found, crew->scenario->strategy_count);
    free(done);
}

/* The tasks that were done before, of a run that resumes. */
static void archive_before(void *context, struct sim_archive *archive)
{
    struct crew *crew = context;
    size_t words = crew->before == NULL ? 0 : bit_words(crew->task_count);
    crew->before = sim_archive_array(archive, crew->before, sizeof *crew->before, &words, SIZE_MAX);
    sim_archive_check(archive, words == 0 || words == bit_words(crew->task_count));
}

/* The stream engine with a synthetic workload: workers take keys from a shared counter, and their tallies are
 * added. */

/* If there are more reads than this per row, batches are shorter. */
#define READS_A_ROW 16

/* Adds the tasks that the member has finished to the crew's sum, and puts the sum if it is requested. */
static void add(struct member *member)
{
    struct crew *crew = member->crew;
    const size_t words = bit_words(crew->task_count);
    pthread_mutex_lock(&crew->lock);
    lab_worker_add(member->worker, crew->ring, crew->sum);
    for (size_t i = 0; i < words; i++) {
        crew->done[i] |= member->done[i];
        member->done[i] = 0;
    }
    added(crew);
    pthread_mutex_unlock(&crew->lock);
}

/* Makes the reads before end_ns. Returns false if the run must stop. */
static bool read_until(struct member *member, int64_t end_ns)
{
    while (lab_key_reads(&member->key, end_ns)) {
        if (lab_worker_is_stopped(member->worker))
            return false;
    }
    return true;
}

static bool draw_rows(struct member *member)
{
    struct lab_worker *worker = member->worker;
    const struct wl_workload *workload = &worker->scenario->workload;
    const size_t most = member->crew->batch_rows;
    bool is_constant = workload->row_bytes.kind == SIM_SIZE_CONSTANT;
    uint64_t bytes_each = is_constant ? (uint64_t)workload->row_bytes.a : 0;
    const struct wl_columns columns = {.times_ns = worker->times_ns,
                                       .ids = worker->wants_ids ? worker->ids : NULL,
                                       .bytes = is_constant ? NULL : worker->bytes,
                                       .late_ns = wl_has_late(workload) ? worker->late_ns : NULL};
    const int64_t end_ns = workload->start_ns + workload->duration_ns;
    struct wl_rows rows;
    size_t count;
    bool has_all_rows;
    wl_rows_init(&rows, workload, member->key.name.index);
    do {
        const struct wl_rows before = rows;
        count = wl_rows_next(&rows, end_ns, most, &columns);
        size_t fewer = lab_key_batch_rows(&member->key, worker->times_ns, count);
        bool is_cut = fewer < count;
        if (is_cut) {
            rows = before;
            count = wl_rows_next(&rows, end_ns, fewer, &columns);
        }
        if (count > 0 && !read_until(member, worker->times_ns[0]))
            return false;
        lab_key_rows(&member->key, count, bytes_each);
        lab_worker_tell(worker, count, count);
        has_all_rows = count < most && !is_cut;
        if (lab_worker_is_stopped(worker))
            return false;
    } while (!has_all_rows);
    return true;
}

/* Returns false if the run must stop. */
static bool work_on_key(struct member *member, uint64_t index)
{
    struct lab_worker *worker = member->worker;
    const struct wl_workload *workload = &worker->scenario->workload;
    const int64_t end_ns = workload->start_ns + workload->duration_ns;
    char text[WL_KEY_NAME_SIZE];
    lab_key_begin(&member->key, &(struct lab_key_name){text, wl_key_name(index, text), index}, index,
                  sim_zipf_share(&workload->popularity, index), workload->start_ns);
    if (!(member->key.lanes[0].thin == NULL ? draw_rows(member) : lab_thin_key(&member->key)) ||
        !read_until(member, end_ns))
        return false;
    lab_key_end(&member->key, end_ns);
    lab_worker_tell(worker, 0, LAB_KEY_ROWS);
    return !lab_worker_is_stopped(worker);
}

static void work_on_tasks(struct member *member)
{
    struct crew *crew = member->crew;
    const uint64_t key_count = crew->scenario->workload.key_count;
    uint32_t heard = 0;
    for (;;) {
        const uint64_t number = next_task(crew);
        if (number >= crew->task_count)
            break;
        if (crew->before != NULL && has_bit(crew->before, number))
            continue;
        uint64_t end = task_begin(number + 1);
        end = end < key_count ? end : key_count;
        for (uint64_t key = task_begin(number); key < end; key++) {
            if (!work_on_key(member, key))
                return;
        }
        set_bit(member->done, number);
        if (lab_partial_is_asked(crew->context->partial, heard)) {
            heard = atomic_load_explicit(&crew->context->partial->wish, memory_order_relaxed);
            add(member);
        }
    }
    lab_worker_tell_rest(member->worker);
    add(member);
}

static void member_work(void *context, uint32_t thread)
{
    struct crew *crew = context;
    work_on_tasks(&crew->members[thread]);
}

/* Does the tasks with the members. */
static bool work(struct crew *crew, uint32_t jobs, struct sim_error *error)
{
    const struct lab_team *team = lab_team_for(crew->scenario, crew->context);
    struct lab_order order = lab_order_of(LAB_SERVICE_KEYS, crew->scenario);
    crew->block.threads = team == NULL ? 1 : lab_team_all_threads(team);
    crew->joint = (struct lab_joint){.team = team,
                                     .context = crew,
                                     .order = &order,
                                     .more = archive_before,
                                     .progress = crew->context->progress,
                                     .may_end_early = true,
                                     .work = member_work,
                                     .archive = archive_sum};
    struct sim_error failed = {.class = SIM_ERROR_NONE};
    bool is_fine;
    do
        is_fine = lab_joint_run(&crew->joint, jobs, &failed);
    while (is_fine && crew->joint.next < RANKS_CLOSED && !lab_run_is_stopped(crew->context));
    if (lab_run_is_stopped(crew->context)) {
        if (crew->context->partial != NULL && crew->sum->keys > 0)
            lab_partial_put(crew->context->partial, crew->scenario, crew->ring, crew->sum, crew->done,
                            bit_words(crew->task_count));
        return lab_fail_stopped(error);
    }
    return is_fine || sim_fail(error, failed.class, "%s", failed.text);
}

/* Keys differ in size, so their number is a poor estimate of the work; the number of rows is a better one. */
static double expected_work(const struct wl_workload *workload)
{
    double rows = workload->rate_per_s * ((double)workload->duration_ns * 1e-9);
    return rows + (double)LAB_KEY_ROWS * (double)workload->key_count;
}

/* Requests are not checked during a batch, so batches are short if there are many reads per row. */
static size_t batch_rows(const struct lab_scenario *scenario)
{
    double reads_per_s = 0, rows_per_s = scenario->workload.rate_per_s;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        reads_per_s += scenario->reads.kinds[kind].rate_per_s;
    if (reads_per_s <= READS_A_ROW * rows_per_s)
        return LAB_BATCH_ROWS;
    double rows = LAB_BATCH_ROWS * READS_A_ROW * rows_per_s / reads_per_s;
    return rows < 1 ? 1 : (size_t)rows;
}

static bool member_init(struct member *member, struct crew *crew, struct sim_error *error)
{
    const struct lab_scenario *scenario = crew->scenario;
    member->crew = crew;
    if (!lab_worker_create(scenario, crew->ring, crew->context, &member->worker, error) ||
        !lab_worker_start(member->worker, scenario->workload.start_ns, error))
        return false;
    member->done = calloc(bit_words(crew->task_count), sizeof *member->done);
    return (member->done != NULL && lab_key_init(&member->key, member->worker)) || sim_fail_memory(error);
}

static void member_clear(struct member *member)
{
    free(member->done);
    lab_key_clear(&member->key);
    lab_worker_destroy(member->worker);
}

/* Begins the sum: it is empty, or that of a partial result. */
static bool begin_sum(struct crew *crew, struct sim_error *error)
{
    const struct lab_partial *partial = crew->context->partial;
    const size_t words = bit_words(crew->task_count);
    crew->done = calloc(words, sizeof *crew->done);
    if (!sum_init(crew->scenario, crew->ring, crew->sum) || crew->done == NULL)
        return sim_fail_memory(error);
    if (partial == NULL || partial->kept == NULL)
        return true;
    crew->before = calloc(words, sizeof *crew->before);
    if (crew->before == NULL)
        return sim_fail_memory(error);
    if (!lab_partial_load(partial, crew->scenario, crew->ring, crew->sum, crew->done, words, error))
        return false;
    memcpy(crew->before, crew->done, words * sizeof *crew->done);
    if (crew->context->progress != NULL) {
        atomic_store(&crew->context->progress->done, crew->sum->rows + LAB_KEY_ROWS * crew->sum->keys);
        atomic_store(&crew->context->progress->rows, crew->sum->rows);
    }
    return true;
}

/* Does the tasks of the crew. On failure the sum is cleared. */
static bool run_tasks(struct crew *crew, uint32_t jobs, struct sim_error *error)
{
    const struct lab_scenario *scenario = crew->scenario;
    const uint64_t key_count = scenario->workload.key_count;
    crew->batch_rows = batch_rows(scenario);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_mutex_init(&crew->block.lock, NULL);
    if (jobs > key_count)
        jobs = (uint32_t)key_count;
    struct member *members = crew->members = calloc(jobs, sizeof *members);
    bool ok = begin_sum(crew, error) && (members != NULL || sim_fail_memory(error));
    for (uint32_t i = 0; ok && i < jobs; i++)
        ok = member_init(&members[i], crew, error);
    ok = ok && work(crew, jobs, error);
    for (uint32_t i = 0; members != NULL && i < jobs; i++)
        member_clear(&members[i]);
    free(members);
    free(crew->done);
    free(crew->before);
    pthread_mutex_destroy(&crew->lock);
    pthread_mutex_destroy(&crew->block.lock);
    if (!ok)
        lab_stream_result_clear(crew->sum, scenario->strategy_count);
    return ok;
}

bool lab_stream_synthetic(const struct lab_scenario *scenario, const struct cass_ring *ring, uint32_t jobs,
                          const struct lab_run_context *context, struct lab_stream_result *out,
                          struct sim_error *error)
{
    const uint64_t count = task_of(scenario->workload.key_count - 1) + 1;
    struct crew crew = {
        .scenario = scenario, .ring = ring, .context = context, .task_count = count, .sum = out};
    if (context->progress != NULL)
        atomic_store(&context->progress->total, (uint64_t)expected_work(&scenario->workload));
    return run_tasks(&crew, jobs, error);
}

bool lab_serve_keys(const struct lab_team *team, const struct lab_order *order, struct sim_archive *archive,
                    struct sim_error *error)
{
    struct lab_progress progress = {0};
    const struct lab_run_context context = {.progress = &progress, .team = team};
    struct lab_stream_result sum;
    struct lab_scenario *scenario;
    struct cass_ring *ring = NULL;
    if (!lab_scenario_again(order->path, order->text, order->overrides, NULL, 0, order->seed, &scenario,
                            error))
        return false;
    struct crew crew = {.scenario = scenario,
                        .context = &context,
                        .task_count = task_of(scenario->workload.key_count - 1) + 1,
                        .sum = &sum};
    archive_before(&crew, archive);
    bool is_fine = sim_archive_finish_load(archive, error) && lab_ring_create(scenario, &ring, error);
    if (is_fine) {
        crew.ring = ring;
        is_fine = run_tasks(&crew, lab_team_threads(team, ranks_own(team->ranks)), error);
        if (is_fine)
            lab_stream_result_clear(&sum, scenario->strategy_count);
    } else {
        free(crew.before);
    }
    cass_ring_destroy(ring);
    lab_scenario_destroy(scenario);
    return is_fine;
}
