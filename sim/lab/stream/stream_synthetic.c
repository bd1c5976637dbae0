/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine with a synthetic workload: workers take keys from a shared counter, and their tallies are
 * added. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/thread.h"
#include "stream_synthetic.h"

/* If there are more reads than this per row, batches are shorter. */
#define READS_A_ROW 16

bool lab_stream_synthetic(const struct lab_scenario *scenario, const struct cass_ring *ring, uint32_t jobs,
                          const struct lab_run_context *context, struct lab_stream_result *out,
                          struct sim_error *error)
{
    return lab_stream_shares(scenario, ring, jobs, context, NULL, out, error);
}

static uint64_t next_task(struct lab_stream_crew *crew)
{
    if (crew->shares == NULL)
        return atomic_fetch_add_explicit(&crew->next_task, 1, memory_order_relaxed);
    uint64_t number = crew->task_count;
    pthread_mutex_lock(&crew->lock);
    if (crew->share_begin < crew->share_end ||
        ranks_share(crew->shares, &crew->share_begin, &crew->share_end))
        number = crew->share_begin++;
    pthread_mutex_unlock(&crew->lock);
    return number;
}

/* Takes the next task. Tasks that were in progress when the run was resumed come first. */
static bool take_task(struct lab_member *member)
{
    struct lab_stream_crew *crew = member->crew;
    while (!member->now.task.is_begun && member->waiting_count > 0) {
        struct lab_stint before = member->now;
        lab_stint_settle(&before);
        member->now = member->waiting[--member->waiting_count];
        lab_stint_merge(&member->now, &before, crew);
        lab_stint_clear(&before, crew->scenario->strategy_count);
    }
    struct lab_task *task = &member->now.task;
    while (!task->is_begun) {
        uint64_t number = next_task(crew);
        if (number >= crew->task_count)
            return false;
        task->number = number;
        task->next_key = lab_task_begin(number);
        task->is_begun = crew->taken == NULL || !lab_bit(crew->taken, number);
    }
    return true;
}

/* At a safe point with a pending request: saves the state if a snapshot is requested. Returns whether the run
 * must stop. */
static bool is_to_stop(struct lab_member *member)
{
    if (lab_worker_is_stopped(member->now.worker))
        return true;
    lab_member_put(member);
    return false;
}

static void begin_key(struct lab_stint *stint, const struct lab_key_name *name)
{
    struct lab_task *task = &stint->task;
    const struct lab_scenario *scenario = stint->worker->scenario;
    const struct wl_workload *workload = &scenario->workload;
    const double share = sim_zipf_share(&workload->popularity, name->index);
    lab_key_begin(&task->key, scenario, name->index, share, workload->start_ns);
    lab_lanes_begin(task->lanes, stint->worker, share, workload->start_ns);
    if (task->thins == NULL)
        wl_rows_init(&task->rows, workload, name->index);
    else
        lab_thin_begin(&task->walk, stint->worker, task->thins, name);
    task->is_under_way = true;
    task->has_all_rows = false;
}

/* Performs the reads before the next row. The rows of the batch are drawn already, so a state that is saved
 * here, or after this because of a stop, draws them again. */
static bool read_before(struct lab_member *member, int64_t time_ns, const struct wl_rows *rows_before)
{
    struct lab_task *task = &member->now.task;
    struct lab_worker *worker = member->now.worker;
    const struct wl_rows rows_after = task->rows;
    while (lab_key_reads(&task->key, task->lanes, worker, time_ns)) {
        if (!lab_worker_is_wanted(worker))
            continue;
        task->rows = *rows_before;
        if (is_to_stop(member))
            return false;
        task->rows = rows_after;
    }
    return true;
}

static bool draw_rows(struct lab_member *member, const struct lab_key_name *name)
{
    struct lab_worker *worker = member->now.worker;
    struct lab_task *task = &member->now.task;
    const struct wl_workload *workload = &worker->scenario->workload;
    const size_t most = member->crew->batch_rows;
    bool is_constant = workload->row_bytes.kind == SIM_SIZE_CONSTANT;
    uint64_t bytes_each = is_constant ? (uint64_t)workload->row_bytes.a : 0;
    const struct wl_columns columns = {.times_ns = worker->times_ns,
                                       .ids = worker->wants_ids ? worker->ids : NULL,
                                       .bytes = is_constant ? NULL : worker->bytes,
                                       .late_ns = wl_has_late(workload) ? worker->late_ns : NULL};
    const int64_t end_ns = workload->start_ns + workload->duration_ns;
    size_t count;
    do {
        const struct wl_rows before = task->rows;
        count = wl_rows_next(&task->rows, end_ns, most, &columns);
        size_t fewer = lab_key_batch_rows(&task->key, worker->times_ns, count);
        bool is_cut = fewer < count;
        if (is_cut) {
            task->rows = before;
            count = wl_rows_next(&task->rows, end_ns, fewer, &columns);
        }
        if (count > 0 && !read_before(member, worker->times_ns[0], &before))
            return false;
        lab_key_rows(&task->key, task->lanes, worker, name, count, bytes_each);
        lab_worker_tell(worker, count, count);
        task->has_all_rows = count < most && !is_cut;
        if (lab_worker_is_wanted(worker) && is_to_stop(member))
            return false;
    } while (!task->has_all_rows);
    return true;
}

/* Works on a key from its beginning or from where it was interrupted. Returns false if it is interrupted
 * again because the run must stop. */
static bool work_on_key(struct lab_member *member)
{
    struct lab_task *task = &member->now.task;
    struct lab_worker *worker = member->now.worker;
    const struct wl_workload *workload = &worker->scenario->workload;
    const int64_t end_ns = workload->start_ns + workload->duration_ns;
    char text[WL_KEY_NAME_SIZE];
    struct lab_key_name name = {text, wl_key_name(task->next_key, text), task->next_key};
    if (!task->is_under_way)
        begin_key(&member->now, &name);
    if (task->thins == NULL) {
        if (!task->has_all_rows && !draw_rows(member, &name))
            return false;
    } else {
        while (!lab_thin_go(&task->walk, &task->key, task->lanes, worker, task->thins, &name)) {
            if (is_to_stop(member))
                return false;
        }
    }
    while (lab_key_reads(&task->key, task->lanes, worker, end_ns)) {
        if (lab_worker_is_wanted(worker) && is_to_stop(member))
            return false;
    }
    lab_key_end(&task->key, task->lanes, worker, &name, end_ns);
    task->is_under_way = false;
    lab_worker_tell(worker, 0, LAB_KEY_ROWS);
    return true;
}

static void *member_work(void *argument)
{
    struct lab_member *member = argument;
    const uint64_t key_count = member->crew->scenario->workload.key_count;
    while (take_task(member)) {
        struct lab_task *task = &member->now.task;
        uint64_t end = lab_task_begin(task->number + 1);
        end = end < key_count ? end : key_count;
        while (task->next_key < end) {
            if (!work_on_key(member))
                return NULL;
            task->next_key++;
            if (lab_worker_is_wanted(member->now.worker) && is_to_stop(member))
                return NULL;
        }
        task->is_begun = false;
        if (member->done != NULL)
            lab_bit_set(member->done, task->number);
    }
    lab_stint_settle(&member->now);
    lab_worker_tell_rest(member->now.worker);
    /* Other members may continue for a long time. */
    if (member->now.worker->heard != 0)
        lab_member_put(member);
    return NULL;
}

/* Returns false if the run was stopped; then the state of each member was saved. */
static bool work(struct lab_stream_crew *crew, struct lab_member *members, uint32_t jobs)
{
    /* The calling thread is the first worker. The other members do the work of a thread that cannot be
     * started, except for tasks from which the run is resumed. */
    for (uint32_t i = 1; i < jobs; i++)
        members[i].is_running = sim_thread_start(&members[i].thread, member_work, &members[i]) == 0;
    member_work(&members[0]);
    for (uint32_t i = 1; i < jobs; i++) {
        if (members[i].is_running)
            pthread_join(members[i].thread, NULL);
        else
            member_work(&members[i]);
    }
    if (!lab_run_is_stopped(crew->context))
        return true;
    for (uint32_t i = 0; crew->context->snapshots != NULL && i < jobs; i++)
        lab_member_put(&members[i]);
    return false;
}

static bool work_with_others(struct lab_stream_crew *crew, struct lab_member *members, uint32_t jobs,
                             struct lab_stream_result *out, struct sim_error *error)
{
    struct sim_error far_error = {.class = SIM_ERROR_NONE};
    struct lab_far_keys *far = lab_far_keys_begin(crew);
    bool is_done = work(crew, members, jobs), is_far_done = lab_far_keys_end(far, out, &far_error);
    if (!is_done)
        return lab_fail_stopped(error);
    return is_far_done || sim_fail(error, far_error.class, "%s", far_error.text);
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

static void member_clear(struct lab_member *member, size_t lane_count)
{
    lab_stint_clear(&member->now, lane_count);
    for (size_t i = 0; i < member->waiting_count; i++)
        lab_stint_clear(&member->waiting[i], lane_count);
    free(member->waiting);
    free(member->done);
}

bool lab_stream_shares(const struct lab_scenario *scenario, const struct cass_ring *ring, uint32_t jobs,
                       const struct lab_run_context *context, struct ranks_task *shares,
                       struct lab_stream_result *out, struct sim_error *error)
{
    memset(out, 0, sizeof *out);
    const uint64_t key_count = scenario->workload.key_count;
    struct lab_stream_crew crew = {.scenario = scenario,
                                   .ring = ring,
                                   .context = context,
                                   .batch_rows = batch_rows(scenario),
                                   .task_count = lab_task_of(key_count - 1) + 1,
                                   .shares = shares};
    pthread_mutex_init(&crew.lock, NULL);
    if (context->progress != NULL)
        atomic_store(&context->progress->total, (uint64_t)expected_work(&scenario->workload));
    if (jobs > key_count)
        jobs = (uint32_t)key_count;
    struct lab_member *members = calloc(jobs, sizeof *members);
    out->tallies = calloc(scenario->strategy_count, sizeof *out->tallies);
    bool ok = (members != NULL && out->tallies != NULL) || sim_fail_memory(error);
    for (size_t i = 0; ok && i < scenario->strategy_count; i++)
        ok = lab_stream_tally_init(scenario, ring, &out->tallies[i]) || sim_fail_memory(error);
    for (uint32_t i = 0; ok && i < jobs; i++) {
        members[i].crew = &crew;
        members[i].number = i;
        members[i].count = jobs;
        ok = lab_stint_init(&members[i].now, &crew, error);
    }
    ok = ok && lab_crew_go_on(&crew, members, jobs, error) &&
         work_with_others(&crew, members, jobs, out, error);

    out->start_ns = scenario->workload.start_ns;
    out->end_ns = scenario->workload.start_ns + scenario->workload.duration_ns;
    for (uint32_t i = 0; members != NULL && i < jobs; i++) {
        const struct lab_worker *worker = members[i].now.worker;
        for (size_t j = 0; ok && j < scenario->strategy_count; j++)
            lab_tally_move(&out->tallies[j], &worker->tallies[j], cass_ring_node_count(ring));
        if (ok) {
            out->rows += worker->rows;
            out->keys += worker->keys;
        }
        member_clear(&members[i], scenario->strategy_count);
    }
    free(members);
    free(crew.taken);
    pthread_mutex_destroy(&crew.lock);
    if (!ok)
        lab_stream_result_clear(out, scenario->strategy_count);
    return ok;
}

/* Where the engine is exact, the digests of two keys are computed at once. */
static bool prepare_folds(const struct lab_worker *worker, struct lab_task *task)
{
    for (size_t i = 0; !worker->scenario->is_raced && i < worker->lane_count; i++) {
        if (worker->settings[i].strategy->kind != BK_HASH || worker->settings[i].regimes != NULL)
            continue;
        task->lanes[i].fold = calloc(1, sizeof *task->lanes[i].fold);
        if (task->lanes[i].fold == NULL)
            return false;
    }
    return true;
}

static bool prepare_thins(struct lab_worker *worker, struct lab_task *task)
{
    task->thins = calloc(worker->lane_count, sizeof *task->thins);
    for (size_t i = 0; task->thins != NULL && i < worker->lane_count; i++)
        lab_thin_prepare(&worker->settings[i], (uint64_t)worker->scenario->workload.row_bytes.a, worker,
                         &task->thins[i]);
    return task->thins != NULL;
}

bool lab_stint_init(struct lab_stint *stint, const struct lab_stream_crew *crew, struct sim_error *error)
{
    const struct lab_scenario *scenario = crew->scenario;
    memset(stint, 0, sizeof *stint);
    if (!lab_worker_create(scenario, crew->ring, crew->context, &stint->worker, error) ||
        !lab_worker_start(stint->worker, scenario->workload.start_ns, error))
        return false;
    stint->task.lanes = calloc(scenario->strategy_count, sizeof *stint->task.lanes);
    if (stint->task.lanes == NULL)
        return sim_fail_memory(error);
    return (scenario->engine == LAB_ENGINE_THINNED ? prepare_thins(stint->worker, &stint->task)
                                                   : prepare_folds(stint->worker, &stint->task)) ||
           sim_fail_memory(error);
}

void lab_stint_settle(struct lab_stint *stint)
{
    for (size_t i = 0; i < stint->worker->lane_count; i++)
        lab_lane_settle(&stint->task.lanes[i], &stint->worker->tallies[i]);
}

void lab_stint_clear(struct lab_stint *stint, size_t lane_count)
{
    struct lab_task *task = &stint->task;
    for (size_t i = 0; task->lanes != NULL && i < lane_count; i++)
        lab_lane_clear(&task->lanes[i]);
    free(task->lanes);
    free(task->thins);
    lab_key_clear(&task->key);
    lab_worker_destroy(stint->worker);
    memset(stint, 0, sizeof *stint);
}

void lab_stint_merge(struct lab_stint *into, const struct lab_stint *from, const struct lab_stream_crew *crew)
{
    for (size_t i = 0; i < into->worker->lane_count; i++)
        lab_tally_merge(&into->worker->tallies[i], &from->worker->tallies[i],
                        cass_ring_node_count(crew->ring));
    into->worker->rows += from->worker->rows;
    into->worker->keys += from->worker->keys;
    lab_worker_tell(into->worker, from->worker->untold_rows, from->worker->untold_done);
    into->worker->heard = from->worker->heard;
}
