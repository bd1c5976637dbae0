/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine over a made workload: workers take keys from one counter, and their tallies add up. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "thin.h"

/* The first keys of a Zipf law are worth a task each; of the many quiet ones some go at a time. */
#define BUSY_KEYS       1024u
#define QUIET_KEYS_TASK 64u
/* What beginning and ending a key takes, in rows: for the progress alone. */
#define KEY_ROWS 64u

struct crew {
    const struct lab_scenario *scenario;
    const struct cass_ring *ring;
    struct lab_progress *progress;
    _Atomic uint64_t next_key;
};

struct member {
    struct crew *crew;
    struct lab_worker *worker;
    struct lab_lane *lanes;
    struct lab_key key;     /* under way */
    struct lab_thin *thins; /* one a lane; NULL: every row is drawn */
    pthread_t thread;
    bool is_running;
};

static double expected_work(const struct wl_workload *workload);
static bool member_init(struct member *member, struct crew *crew, struct sim_error *error);
static bool prepare_thins(struct member *member);
static void *member_work(void *argument);
static void work_on_key(struct member *member, uint64_t key_index);
static void draw_rows(struct member *member, const struct lab_key_name *name);

bool lab_stream_made(const struct lab_scenario *scenario, const struct cass_ring *ring, uint32_t jobs,
                     struct lab_progress *progress, struct lab_stream_result *out, struct sim_error *error)
{
    memset(out, 0, sizeof *out);
    struct crew crew = {.scenario = scenario, .ring = ring, .progress = progress};
    if (progress != NULL)
        atomic_store(&progress->total, (uint64_t)expected_work(&scenario->workload));
    if (jobs > scenario->workload.key_count)
        jobs = (uint32_t)scenario->workload.key_count;
    struct member *members = calloc(jobs, sizeof *members);
    out->tallies = calloc(scenario->strategy_count, sizeof *out->tallies);
    bool ok = (members != NULL && out->tallies != NULL) || sim_fail_memory(error);
    for (size_t i = 0; ok && i < scenario->strategy_count; i++)
        ok = lab_stream_tally_init(scenario, ring, &out->tallies[i]) || sim_fail_memory(error);
    for (uint32_t i = 0; ok && i < jobs; i++)
        ok = member_init(&members[i], &crew, error);

    /* The calling thread is the first worker; one that cannot be started leaves its share to the others. */
    for (uint32_t i = 1; ok && i < jobs; i++)
        members[i].is_running = pthread_create(&members[i].thread, NULL, member_work, &members[i]) == 0;
    if (ok)
        member_work(&members[0]);
    for (uint32_t i = 1; members != NULL && i < jobs; i++) {
        if (members[i].is_running)
            pthread_join(members[i].thread, NULL);
    }
    if (ok && lab_worker_is_stopped(members[0].worker))
        ok = lab_fail_stopped(error);

    out->start_ns = scenario->workload.start_ns;
    out->end_ns = scenario->workload.start_ns + scenario->workload.duration_ns;
    for (uint32_t i = 0; members != NULL && i < jobs; i++) {
        for (size_t j = 0; ok && j < scenario->strategy_count; j++)
            lab_tally_merge(&out->tallies[j], &members[i].worker->tallies[j], cass_ring_node_count(ring));
        if (ok) {
            out->rows += members[i].worker->rows;
            out->keys += members[i].worker->keys;
        }
        for (size_t j = 0; members[i].lanes != NULL && j < scenario->strategy_count; j++)
            lab_lane_clear(&members[i].lanes[j]);
        free(members[i].lanes);
        free(members[i].thins);
        lab_key_clear(&members[i].key);
        lab_worker_destroy(members[i].worker);
    }
    free(members);
    if (!ok)
        lab_stream_result_clear(out, scenario->strategy_count);
    return ok;
}

/* Keys are unequal, so that their number says little about the time left; rows say most of it. */
static double expected_work(const struct wl_workload *workload)
{
    double rows = workload->rate_per_s * ((double)workload->duration_ns * 1e-9);
    return rows + (double)KEY_ROWS * (double)workload->key_count;
}

static bool member_init(struct member *member, struct crew *crew, struct sim_error *error)
{
    member->crew = crew;
    if (!lab_worker_create(crew->scenario, crew->ring, crew->progress, &member->worker, error))
        return false;
    if (!lab_worker_start(member->worker, crew->scenario->workload.start_ns, error))
        return false;
    member->lanes = calloc(crew->scenario->strategy_count, sizeof *member->lanes);
    if (member->lanes == NULL)
        return sim_fail_memory(error);
    return crew->scenario->engine != LAB_ENGINE_THINNED || prepare_thins(member) || sim_fail_memory(error);
}

static bool prepare_thins(struct member *member)
{
    const struct lab_worker *worker = member->worker;
    member->thins = calloc(worker->lane_count, sizeof *member->thins);
    for (size_t i = 0; member->thins != NULL && i < worker->lane_count; i++)
        lab_thin_prepare(&worker->settings[i], (uint64_t)worker->scenario->workload.row_bytes.a,
                         member->crew->progress, &member->thins[i]);
    return member->thins != NULL;
}

static void *member_work(void *argument)
{
    struct member *member = argument;
    struct crew *crew = member->crew;
    uint64_t key_count = crew->scenario->workload.key_count;
    for (;;) {
        uint64_t task =
            atomic_load_explicit(&crew->next_key, memory_order_relaxed) < BUSY_KEYS ? 1 : QUIET_KEYS_TASK;
        uint64_t begin = atomic_fetch_add_explicit(&crew->next_key, task, memory_order_relaxed);
        for (uint64_t key = begin; key < begin + task && key < key_count; key++) {
            work_on_key(member, key);
            if (lab_worker_is_stopped(member->worker))
                return NULL;
        }
        if (begin + task >= key_count)
            break;
    }
    lab_worker_tell_rest(member->worker);
    return NULL;
}

static void work_on_key(struct member *member, uint64_t key_index)
{
    struct lab_worker *worker = member->worker;
    const struct lab_scenario *scenario = worker->scenario;
    const struct wl_workload *workload = &scenario->workload;
    struct lab_key *key = &member->key;
    char text[WL_KEY_NAME_SIZE];
    struct lab_key_name name = {text, wl_key_name(key_index, text), key_index};

    lab_key_begin(key, scenario, key_index, sim_zipf_share(&workload->popularity, key_index),
                  workload->start_ns);
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_lane_begin(&member->lanes[i]);
    if (member->thins == NULL)
        draw_rows(member, &name);
    else
        lab_thin_key(key, member->lanes, worker, member->thins, &name);
    lab_key_end(key, member->lanes, worker, &name, workload->start_ns + workload->duration_ns);
    lab_worker_tell(worker, 0, KEY_ROWS);
}

static void draw_rows(struct member *member, const struct lab_key_name *name)
{
    struct lab_worker *worker = member->worker;
    const struct wl_workload *workload = &worker->scenario->workload;
    bool is_constant = workload->row_bytes.kind == SIM_SIZE_CONSTANT;
    uint64_t bytes_each = is_constant ? (uint64_t)workload->row_bytes.a : 0;
    const struct wl_columns columns = {.times_ns = worker->times_ns,
                                       .ids = worker->ids,
                                       .bytes = is_constant ? NULL : worker->bytes,
                                       .late_ns = wl_has_late(workload) ? worker->late_ns : NULL};
    struct wl_rows rows;
    size_t count;
    wl_rows_init(&rows, workload, name->index);
    do {
        count = wl_rows_next(&rows, workload->start_ns + workload->duration_ns, LAB_BATCH_ROWS, &columns);
        lab_key_rows(&member->key, member->lanes, worker, name, count, bytes_each);
        lab_worker_tell(worker, count, count);
    } while (count == LAB_BATCH_ROWS && !lab_worker_is_stopped(worker));
}
