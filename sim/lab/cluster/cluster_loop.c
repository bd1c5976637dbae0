/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a scenario's strategies. In: the scenario, and the rows that they share. Kept: per strategy,
 * the run (cluster_run.h) while its event loop passes the events of agents, network, nodes, clocks and faults
 * to their handlers. Out: the result. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/private/lab.h"
#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "history.h"
#include "idgen.h"
#include "kernel/digest.h"
#include "kernel/grow.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/cluster_engine.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/team.h"
#include "oracles.h"

#define PROGRESS_EVENTS 65536u
#define KEYS_A_LOOK     4096u
/* The number of rows that are added to the progress at once, since threads share it. */
#define ROWS_TOLD    256u
#define BYTES_A_LOOK ((size_t)4 << 20)

/* The margin, ten years, at both ends of the range of times. */
#define MARGIN_NS      (3650 * SIM_DAY)
#define QUEUE_CAPACITY 256u /* initial capacity */
/* From this number of keys on, their data does not stay in the processor's caches. */
#define MANY_KEYS 4096u

/* Checks that there is a margin before the first row and after the last one for clocks, timeouts, locks and
 * faults. */
static bool check_times(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                        struct sim_error *error)
{
    return (start_ns > INT64_MIN + MARGIN_NS && end_ns < INT64_MAX - MARGIN_NS) ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "%s: a run with agents has to lie between the years 1688 and 2252; change %s",
                    scenario->path,
                    scenario->trace_path == NULL ? "'start' or 'duration'" : "the times of the trace");
}

/* Clocks may be wrong by their bound in either direction. If a clock jumps further, the reads of its agent
 * fail. */
bool lab_cluster_rows(const struct lab_scenario *scenario, const struct lab_run_context *context,
                      struct lab_rows **out, struct sim_error *error)
{
    int64_t start_ns, end_ns, bound_ns = scenario->agents.clock_bound_ns;
    *out = NULL;
    if (scenario->identifiers.present)
        return true;
    if (!lab_rows_create(scenario, context, out, error))
        return false;
    lab_rows_span(*out, &start_ns, &end_ns);
    if (check_times(scenario, start_ns, end_ns, error) &&
        lab_check_walks(scenario, start_ns - bound_ns, end_ns + bound_ns, error))
        return true;
    lab_rows_destroy(*out);
    *out = NULL;
    return false;
}

/* An allocation that failed because the run was stopped is not reported as out of memory. */
static bool fail_memory(const struct lab_cluster_run *run, struct sim_error *error)
{
    return lab_run_is_stopped(run->context) ? lab_fail_stopped(error) : sim_fail_memory(error);
}

/* --- What the cluster stores. */

static void row_stored(void *context, uint64_t key, int64_t bucket, uint64_t row, int64_t time_ns,
                       int64_t order, uint64_t bytes, uint32_t replica)
{
    struct lab_cluster_run *run = context;
    cluster_emit(run, ROW_STORED, .key = (uint32_t)key, .bucket = bucket, .number = row, .time_ns = time_ns,
                 .value = order, .bytes = bytes, .replica = replica);
}

static void row_copied(void *context, uint64_t key, int64_t bucket, uint64_t row, int64_t time_ns,
                       int64_t order, uint32_t replica)
{
    struct lab_cluster_run *run = context;
    cluster_emit(run, ROW_COPIED, .key = (uint32_t)key, .bucket = bucket, .number = row, .time_ns = time_ns,
                 .value = order, .replica = replica);
}

static void register_changed(void *context, uint64_t name)
{
    struct lab_cluster_run *run = context;
    uint32_t key;
    if (lab_register_is_state(name, &key))
        cluster_emit(run, STATE_WRITTEN, .key = key);
}

static void counter_added(void *context, uint64_t counter, uint64_t row, int64_t delta)
{
    struct lab_cluster_run *run = context;
    cluster_emit(run, COUNTER_ADDED, .bytes = counter, .number = row, .value = delta);
}

bool lab_cluster_observe(struct lab_cluster_run *run)
{
    if (!cluster_observers_begin(run))
        return false;
    for (uint32_t i = 0; run->idgen == NULL && i < run->agent_count; i++)
        cluster_emit(run, AGENT_STARTED, .agent = i);
    if (run->idgen == NULL)
        cass_observe(run->cluster, &(struct cass_observer){.context = run,
                                                           .row_stored = row_stored,
                                                           .row_copied = row_copied,
                                                           .register_changed =
                                                               lab_keeps_state(run) ? register_changed : NULL,
                                                           .counter_added = counter_added});
    return true;
}

/* Pushes the arrival of the key's next row. */
static inline void push_arrival(struct lab_cluster_run *run, uint32_t key)
{
    int64_t time_ns = run->keys[key].coming.time_ns;
    if (SIM_UNLIKELY(run->replay != NULL))
        return;
    if (SIM_UNLIKELY(!sim_queue_push_source(&run->queue, time_ns, key)))
        run->out_of_memory = true;
}

/* Prefetches the data of the key whose address does not depend on other data. */
static void prefetch_key(const struct lab_cluster_run *run, uint32_t key)
{
    const char *lines = (const char *)&run->keys[key];
    for (size_t i = 0; i < offsetof(struct lab_cluster_key, cursor.is_open); i += SIM_LINE_BYTES)
        __builtin_prefetch(lines + i);
    lines = (const char *)&run->oracles.keys[key];
    for (size_t i = 0; i < sizeof *run->oracles.keys; i += SIM_LINE_BYTES)
        __builtin_prefetch(lines + i);
}

/* Prefetches the data of the agent that will take the row if all agents stay up. */
static void prefetch_agent(const struct lab_cluster_run *run, uint32_t key)
{
    uint32_t agent = lab_choose_agent_of_row(run, key, run->keys[key].rows);
    if (agent != UINT32_MAX)
        bk_agent_prefetch(run->agents[agent].agent, key);
}

/* The callback of the queue for arrivals that will occur soon. With many keys, the data of a key is not in
 * the processor's caches when its row arrives. It is prefetched in three steps, because the addresses depend
 * on each other. With 10^5 keys this saves a third of the time. */
static void lab_prefetch(void *context, const struct sim_event *event, uint32_t buckets)
{
    const struct lab_cluster_run *run = context;
    if (event->kind != LAB_EVENT_ARRIVAL)
        return;
    uint32_t key = event->target;
    if (buckets == 2) {
        prefetch_key(run, key);
        cass_prefetch_register(run->cluster, lab_state_register(key), false);
        return;
    }
    if (buckets == 1) {
        prefetch_agent(run, key);
        cass_prefetch_register(run->cluster, lab_state_register(key), true);
        lab_oracles_prefetch_partition(run, key);
    }
    cass_prefetch_partition(run->cluster, key, run->oracles.keys[key].state_bucket, buckets == 0);
}

static bool begin_keys(struct lab_cluster_run *run, struct sim_error *error)
{
    run->keys = lab_keys_memory(run, run->key_count * sizeof *run->keys);
    if (run->scenario->agents.queue > 0) {
        run->turns.keys = lab_keys_memory(run, run->key_count * sizeof *run->turns.keys);
        run->turns.waiting = lab_keys_memory(run, run->key_count * sizeof *run->turns.waiting);
        if (run->turns.keys == NULL || run->turns.waiting == NULL)
            return fail_memory(run, error);
    }
    if (run->keys == NULL || !lab_reads_create(run) ||
        !sim_queue_create_sources(&run->queue, LAB_EVENT_ARRIVAL, run->key_count))
        return fail_memory(run, error);
    if (run->key_count >= MANY_KEYS)
        sim_queue_tell_soon(&run->queue, lab_prefetch, run);
    bool is_named = run->context->event_trace != NULL && run->context->event_trace->key != NULL;
    double busiest = -1;
    for (uint32_t i = 0; i < run->key_count; i++) {
        struct lab_cluster_key *key = &run->keys[i];
        double share = lab_rows_key_share(run->rows, i);
        if (share > busiest) {
            busiest = share;
            run->views_key = i;
        }
        if (i % KEYS_A_LOOK == 0 && lab_run_is_stopped(run->context))
            return lab_fail_stopped(error);
        char name[256];
        lab_rows_key_name(run->rows, i, name, sizeof name);
        if (is_named && strcmp(name, run->context->event_trace->key) == 0)
            run->traced_key = i;
        if (lab_rows_next(run->rows, i, &key->cursor, &key->coming)) {
            run->arrivals_pending++;
            push_arrival(run, i);
        }
        lab_reads_begin(run, i);
    }
    if (run->scenario->row_ttl_ns > 0) {
        run->arrivals_pending++;
        lab_push(run, run->end_ns, LAB_EVENT_END, 0);
    }
    if (is_named && run->traced_key == LAB_NO_KEY)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no key is named '%s'; synthetic keys are key-0 to key-%u", run->scenario->path,
                        run->context->event_trace->key, run->key_count - 1);
    return true;
}

static bool has_no_key(const struct lab_cluster_run *run, struct sim_error *error)
{
    const struct lab_event_trace *trace = run->context->event_trace;
    return trace == NULL || trace->key == NULL ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "%s: no key is named '%s': a run of identifiers has no keys; leave --key out",
                    run->scenario->path, trace->key);
}

static bool begin(struct lab_cluster_run *run, struct sim_error *error)
{
    const struct lab_scenario *scenario = run->scenario;
    struct cass_cluster_config config = scenario->network;
    config.seed = scenario->seed;
    config.client_count = scenario->agents.count;
    enum bk_source source = run->strategy->settings.source;
    bool counts = source == BK_SOURCE_SCAN || source == BK_SOURCE_MEMORY;
    config.keeps_lifetimes = source == BK_SOURCE_INCREMENTAL ||
                             scenario->reads.kinds[LAB_READ_RANGE].rate_per_s > 0 ||
                             (lab_rows_go(scenario) && (counts || scenario->reads.present));
    config.row_cells = (uint32_t)scenario->workload.row_cells;
    if (run->rows != NULL) {
        lab_rows_span(run->rows, &run->start_ns, &run->end_ns);
        if (run->replay != NULL) {
            run->end_ns += run->replay->start_ns - run->start_ns;
            run->start_ns = run->replay->start_ns;
        }
        run->key_count = lab_rows_key_count(run->rows);
    } else {
        run->start_ns = scenario->workload.start_ns;
        run->end_ns = run->start_ns + scenario->workload.duration_ns;
        config.named_columns =
            scenario->agents.count + 1; /* for locks: a client's column has the client's number */
    }
    lab_row_stamps_init(&run->stamps, &scenario->row_cost, run->start_ns);
    lab_disk_windows_init(&run->disk, scenario, run->strategy, run->start_ns, run->end_ns);
    lab_disk_windows_init(&run->key_disk, scenario, NULL, run->start_ns, run->end_ns);
    run->fault_draws = calloc(scenario->fault_count + 1, sizeof *run->fault_draws);
    run->events.marks = malloc(LAB_EVENT_MARKS_MAX * sizeof *run->events.marks);
    run->events.stride = 1;
    run->backups = calloc(scenario->fault_count + 1, sizeof *run->backups);
    if (run->fault_draws == NULL || run->backups == NULL || run->events.marks == NULL ||
        !sim_queue_create(QUEUE_CAPACITY, run->start_ns, &run->queue))
        return sim_fail_memory(error);
    if (scenario->tie_seed != 0)
        sim_queue_shuffle_ties(&run->queue, scenario->tie_seed);
    if (!cass_cluster_create(&config, &run->queue, &run->cluster, error))
        return false;
    run->node_count = cass_node_count(run->cluster);
    size_t place_count = cass_place_count(run->cluster);
    run->places[0] = calloc(place_count, 1);
    run->places[1] = calloc(place_count, 1);
    if (run->places[0] == NULL || run->places[1] == NULL || !lab_tally_init(&run->tally, run->node_count))
        return sim_fail_memory(error);
    if (!lab_agents_create(run, error))
        return false;
    run->traced_key = LAB_NO_KEY;
    if (!lab_cluster_observe(run))
        return fail_memory(run, error);
    if (run->idgen == NULL ? !begin_keys(run, error) : !has_no_key(run, error))
        return false;
    lab_faults_begin(run);
    if (run->idgen != NULL)
        lab_idgen_begin(run);
    else
        lab_deploys_begin(run);
    if (run->out_of_memory)
        return sim_fail_memory(error);
    int64_t longest =
        run->config.lead_ns > run->config.cache_ttl_ns ? run->config.lead_ns : run->config.cache_ttl_ns;
    run->views_period_ns = (longest > SIM_SECOND ? longest : SIM_SECOND) / 40;
    run->views_next_ns =
        run->idgen == NULL && lab_run_has_latencies(run->context) ? run->start_ns : INT64_MAX;
    return true;
}

/* Adds the rows that have arrived to the progress of the whole run. */
static void tell_rows(struct lab_cluster_run *run)
{
    if (run->context->progress != NULL)
        atomic_fetch_add_explicit(&run->context->progress->rows, run->rows_untold, memory_order_relaxed);
    run->rows_untold = 0;
}

/* A safe point between two events, which occurs at intervals of a number of events. Returns false if the run
 * must stop. */
static bool pause(struct lab_cluster_run *run, struct sim_error *error)
{
    run->pause_at = run->events.events + PROGRESS_EVENTS;
    tell_rows(run);
    return !lab_run_is_stopped(run->context) || lab_fail_stopped(error);
}

static void arrive(struct lab_cluster_run *run, uint32_t index)
{
    struct lab_cluster_key *key = &run->keys[index];
    struct lab_arrival row = key->coming;
    uint64_t waiting = run->turns.keys == NULL ? 0 : run->turns.waiting[index];
    uint32_t agent = lab_choose_agent_of_row(run, index, key->rows + waiting);
    /* What the agent knows of the key is seldom in a near cache: fetched while the key's next row is drawn.
     */
    if (agent != UINT32_MAX)
        bk_agent_prefetch(run->agents[agent].agent, index);
    bool is_last = !lab_rows_next(run->rows, index, &key->cursor, &key->coming);
    lab_agent_arrive(run, agent, index, &row);
    if (SIM_UNLIKELY(++run->rows_untold == ROWS_TOLD))
        tell_rows(run);
    if (!is_last)
        push_arrival(run, index);
    else
        run->arrivals_pending--;
}

static void dispatch(struct lab_cluster_run *run, const struct sim_event *event)
{
    if (SIM_LIKELY(event->kind - CASS_EVENT_FIRST <= CASS_EVENT_LAST - CASS_EVENT_FIRST)) {
        cass_handle(run->cluster, event);
        return;
    }
    if (SIM_UNLIKELY(run->idgen != NULL) && lab_idgen_dispatch(run, event))
        return;
    switch (event->kind) {
    case LAB_EVENT_ARRIVAL:
        arrive(run, event->target);
        break;
    case LAB_EVENT_READ:
        lab_cluster_read(run, event->target, (enum lab_read_kind)event->a);
        break;
    case LAB_EVENT_TIMEOUT:
        lab_agent_timeout(run, event);
        break;
    case LAB_EVENT_TICK:
        lab_agent_tick(run, event->target);
        break;
    case LAB_EVENT_RESTART:
        lab_agent_restart(run, event->target);
        break;
    case LAB_EVENT_FAULT:
        lab_fault_strike(run, event->target);
        break;
    case LAB_EVENT_DEPLOY:
        lab_deploy(run, event->target, (uint32_t)event->a);
        break;
    case LAB_EVENT_END:
        run->arrivals_pending--;
        break;
    case LAB_EVENT_TURN:
        lab_agent_turn(run, event);
        break;
    case LAB_EVENT_KEEP:
        lab_fault_keep(run, event->target);
        break;
    case LAB_EVENT_FAULT_END:
        lab_fault_end(run, event->target);
        break;
    case LAB_EVENT_DELETE:
        lab_delete_send(run, event->target);
        break;
    case LAB_EVENT_DELETE_TIMEOUT:
        lab_delete_timeout(run, event);
        break;
    case CASS_EVENT_REPLY:
        lab_agent_reply(run, event);
        break;
    default:
        assert(event->kind == CASS_EVENT_REPLY);
    }
}

/* The number of the next event that gets a mark or appears in the event trace. */
static uint64_t next_noted(const struct lab_cluster_run *run)
{
    const struct lab_event_log *log = &run->events;
    const struct lab_event_trace *trace = run->context->event_trace;
    uint64_t next = (log->events | (log->stride - 1)) + 1;
    if (trace == NULL || trace->first == 0 || log->events >= trace->last)
        return next;
    uint64_t traced = trace->first > log->events ? trace->first : log->events + 1;
    return traced < next ? traced : next;
}

/* When the marks are full, every other one is removed and the interval is doubled. */
static void note_event(struct lab_cluster_run *run, const struct sim_event *event)
{
    struct lab_event_log *log = &run->events;
    if ((log->events & (log->stride - 1)) == 0 && log->mark_count == LAB_EVENT_MARKS_MAX) {
        for (size_t i = 0; i < LAB_EVENT_MARKS_MAX / 2; i++)
            log->marks[i] = log->marks[2 * i + 1];
        log->mark_count /= 2;
        log->stride *= 2;
    }
    if ((log->events & (log->stride - 1)) == 0)
        log->marks[log->mark_count++] = (uint16_t)log->digest;
    const struct lab_event_trace *trace = run->context->event_trace;
    if (trace != NULL && trace->first != 0 && log->events >= trace->first && log->events <= trace->last)
        cluster_emit(run, NUMBERED, .sim = event, .number = log->events);
}

/* Adds the event to the digest. */
static inline uint64_t log_event(struct lab_event_log *log, int64_t time_ns, const struct sim_event *event)
{
    uint64_t what = sim_mix64(((uint64_t)event->kind << 32 | event->target) + event->a) + event->b;
    log->digest = sim_digest_chain(log->digest, (uint64_t)time_ns * UINT64_C(0x9e3779b97f4a7c15) + what);
    return ++log->events;
}

static bool loop(struct lab_cluster_run *run, struct sim_error *error)
{
    struct sim_event event;
    int64_t time_ns;
    uint64_t noted = next_noted(run);
    const bool *is_broken = cass_cluster_broken(run->cluster);
    cluster_emit(run, RUN_BEGINS, .key = LAB_NO_KEY);
    while (run->arrivals_pending > 0 || run->operations_active > 0) {
        if (SIM_UNLIKELY(run->events.events >= run->pause_at)) {
            if (run->is_over) /* it stops early, and then pauses at once */
                break;
            if (!pause(run, error))
                return false;
        }
        if (!sim_queue_pop(&run->queue, &time_ns, &event) ||
            (run->arrivals_pending == 0 && time_ns > lab_until(run->end_ns, LAB_DRAIN_NS)))
            break;
        if (SIM_UNLIKELY(time_ns >= run->views_next_ns))
            lab_views_sample(run, time_ns);
        if (SIM_UNLIKELY(log_event(&run->events, time_ns, &event) == noted)) {
            note_event(run, &event);
            noted = next_noted(run);
        }
        dispatch(run, &event);
        if (SIM_UNLIKELY(run->out_of_memory || *is_broken))
            return sim_fail_memory(error);
    }
    cluster_emit(run, RUN_ENDS, .key = LAB_NO_KEY);
    if (!run->is_over)
        lab_agents_leave(run);
    if (run->views.key == NULL)
        run->views.count = 0; /* no change was seen, so there is nothing to show */
    tell_rows(run);
    if (run->context->progress != NULL)
        atomic_fetch_add_explicit(&run->context->progress->done, 1, memory_order_relaxed);
    return true;
}

/* Frees everything that the result does not need, so that completed strategies leave their memory to the
 * remaining ones. */
static void release(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; run->keys != NULL && i < run->key_count; i++)
        free(run->keys[i].changes);
    free(run->keys);
    run->keys = NULL;
    lab_reads_destroy(run);
    cluster_observers_end(run);
    lab_agents_destroy(run);
    if (run->cluster != NULL)
        cass_cluster_destroy(run->cluster);
    run->cluster = NULL;
    sim_queue_destroy(&run->queue);
    free(run->fault_draws);
    free(run->backups);
    free(run->active);
    free(run->deletes.items);
    free(run->turns.items);
    free(run->turns.keys);
    free(run->turns.waiting);
    free(run->places[0]);
    free(run->places[1]);
}

static void destroy(struct lab_cluster_run *run)
{
    lab_idgen_destroy(run);
    lab_tally_clear(&run->tally);
    for (int i = 0; i < LAB_LATENCY_COUNT; i++)
        lab_histogram_clear(&run->latency[i]);
    for (int i = 0; i < LAB_READ_KINDS; i++)
        lab_histogram_clear(&run->read_latency[i]);
    lab_histogram_clear(&run->turns.waited);
    free(run->events.marks);
    free(run->views.key);
    free(run->views.items);
    free(run);
}

bool lab_cluster_play(const struct lab_scenario *scenario, size_t index, const struct lab_rows *rows,
                      const struct lab_run_context *context, struct lab_replay *replay,
                      struct lab_result **out, struct sim_error *error)
{
    struct lab_cluster_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return sim_fail_memory(error);
    run->scenario = scenario;
    run->strategy = &scenario->strategies[index];
    run->rows = rows;
    run->context = context;
    run->replay = replay;
    struct sim_error failed = {.class = SIM_ERROR_NONE};
    bool ok = begin(run, &failed) && (replay != NULL ? lab_replay_events(run, &failed) : loop(run, &failed));
    ok = ok && ((cass_cluster_is_sound(run->cluster) && !run->out_of_memory) || sim_fail_memory(&failed));
    if (ok && !run->is_over)
        lab_cluster_tally(run);
    release(run);
    ok = failed.class == SIM_ERROR_NONE || sim_fail(error, failed.class, "%s", failed.text);
    ok = ok && (lab_cluster_result_of(scenario, index, run, out) || sim_fail_memory(error));
    destroy(run);
    return ok;
}

void *lab_keys_memory(const struct lab_cluster_run *run, size_t bytes)
{
    char *memory = sim_memory_take(bytes);
    for (size_t at = 0; memory != NULL && at < bytes; at += BYTES_A_LOOK) {
        if (lab_run_is_stopped(run->context)) {
            free(memory);
            return NULL;
        }
        memset(memory + at, 0, bytes - at < BYTES_A_LOOK ? bytes - at : BYTES_A_LOOK);
    }
    return memory;
}

uint64_t lab_push(struct lab_cluster_run *run, int64_t time_ns, enum lab_event kind, uint32_t target)
{
    return lab_push_event(run, time_ns, &(struct sim_event){.kind = kind, .target = target});
}

/* --- Runs all strategies of a scenario with the cluster engine. In: the rows that they share. Each strategy
 * is a job of a crew, on any thread of any rank. Out: their results in one. */

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
    struct lab_result *result = NULL;
    (void)progress; /* that of the context */
    bool ok = all->results[index] != NULL ||
              lab_cluster_play(all->scenario, index, all->rows, all->context, NULL, &result, error);
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
