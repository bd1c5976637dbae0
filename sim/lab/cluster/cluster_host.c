/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agents' host. In: rows, reads, replies, timeouts, ticks. Kept: the core's agents, and a record of each
 * operation. Out: their actions as requests to the mock cluster, and every step as an event (events.h). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "history.h"
#include "idgen.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/scenario.h"

/* For what is called in two places but most often in one, which is on the path of every row. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A tag consists of the agent, the operation and a serial number. */
#define TAG(agent, operation, serial) ((uint64_t)(agent) << 48 | (uint64_t)(operation) << 32 | (serial))
/* Bytes of all agents' caches from which their memory uses large pages. */
#define LARGE_CACHES ((size_t)4 << 20)
/* The most memory of all agents of a strategy, in bytes. */
#define MEMORY_MAX ((size_t)8 << 30)

/* In a cache with four times as many entries as keys, no key evicts another: Fibonacci hashing spreads
 * consecutive numbers so evenly that a set gets at most three. */
static uint32_t useful_entries(const struct lab_cluster_run *run)
{
    uint64_t asked = run->scenario->agents.cache_entries, enough = (uint64_t)run->key_count * 4;
    return (uint32_t)(asked < enough ? asked : enough);
}

/* Clears the operations that were not used before. */
static void clear_operations(struct lab_host_agent *agent, uint32_t count)
{
    for (; agent->operations_met < count; agent->operations_met++)
        agent->operations[agent->operations_met] = (struct lab_host_operation){0};
}

/* Returns whether the agent begins with its checkpoint. One that was made with different settings is not
 * used.
 */
static bool start_agent(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    struct bk_agent_config config = lab_agent_config(run, number);
    bool is_kept = agent->goes_back && agent->checkpoint != NULL &&
                   bk_agent_load(agent->memory, bk_agent_size(&config), &config, agent->checkpoint,
                                 agent->checkpoint_bytes, &agent->agent) == BK_OK &&
                   bk_agent_change(agent->agent, &agent->history) == BK_OK;
    if (!is_kept) {
        enum bk_status status = bk_agent_init(agent->memory, bk_agent_size(&config), &config, &agent->agent);
        assert(status == BK_OK);
        (void)status;
    }
    agent->is_up = true;
    agent->restart = 0;
    agent->keys_seen = 0;
    return is_kept;
}

/* The bytes from one agent's memory to the next, in whole lines of the cache. */
static size_t agent_bytes(const struct bk_agent_config *config)
{
    return (bk_agent_size(config) + SIM_LINE_BYTES - 1) / SIM_LINE_BYTES * SIM_LINE_BYTES;
}

static void create_agent(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    struct bk_agent_config config = run->config;
    config.agent_id = (uint64_t)number + 1;
    assert(bk_agent_check(&config) == BK_OK);
    agent->memory = run->agents_memory + number * agent_bytes(&config);
    /* One more than it uses, so that equal numbers of two agents are not in the same set of the processor's
     * cache. */
    agent->operations = &run->operations[number * ((size_t)run->operation_count + 1)];
    if (run->replay != NULL) /* a history may use any operation number */
        clear_operations(agent, run->operation_count);
    agent->history = run->config.history;
    start_agent(run, number);
    lab_agent_draw_clock(run, number);
}

/* If a clock was set back, it may show a time before the last change. The new settings then apply from just
 * after that change. */
static void add(struct bk_history *history, int64_t from_ns, const struct bk_strategy *strategy)
{
    int64_t last_ns = history->eras[history->count - 1].from_ns;
    enum bk_status status = bk_history_change(history, from_ns > last_ns ? from_ns : last_ns + 1, strategy);
    assert(status == BK_OK);
    (void)status;
}

/* Adds the later changes whose dates are known in advance. */
static void add_dated(const struct lab_cluster_run *run, uint32_t change, struct bk_history *history)
{
    const struct lab_change *changes = run->strategy->settings.changes;
    for (; change < run->strategy->settings.change_count && !lab_change_is_deployed(&changes[change]);
         change++)
        add(history, lab_until(run->start_ns, changes[change].at_ns), &changes[change].strategy);
}

bool lab_agents_create(struct lab_cluster_run *run, struct sim_error *error)
{
    const struct lab_agents *agents = &run->scenario->agents;
    if (run->strategy->settings.is_idgen)
        return lab_idgen_create(run, error);
    run->agent_count = agents->count;
    uint32_t share = LAB_OPERATIONS_ALL / agents->count;
    run->operation_count = share > LAB_OPERATIONS_MAX   ? LAB_OPERATIONS_MAX
                           : share < LAB_OPERATIONS_MIN ? LAB_OPERATIONS_MIN
                                                        : share;
    if (agents->operations != 0)
        run->operation_count = agents->operations;
    run->agents = sim_memory_zeroed(agents->count * sizeof *run->agents);
    if (run->agents == NULL)
        return sim_fail_memory(error);
    run->config = (struct bk_agent_config){
        .strategy = run->strategy->settings.strategy,
        .coordination = run->strategy->settings.coordination,
        .counter = run->strategy->settings.counter,
        .source = run->strategy->settings.source,
        .lease_rows = run->strategy->settings.lease_rows,
        .every_rows = run->strategy->settings.every_rows,
        .every_ns = run->strategy->settings.every_ns,
        .remember_keys = run->strategy->settings.reading.remembers_empty ? useful_entries(run) : 0,
        .late_ns = run->strategy->settings.reading.late_ns,
        .lead_ns = run->strategy->settings.lead_ns,
        .cache_ttl_ns = agents->cache_ttl_ns,
        .operations = run->operation_count,
        .retries = agents->retries,
        .counter_retries = agents->counter_retries,
        .retry_backoff_ns = 10 * SIM_MS,
        .lock_lasts_ns = run->strategy->settings.lock_lasts_ns,
        .lock_backoff_ns = run->strategy->settings.lock_backoff_ns,
        .grant_ns = run->strategy->settings.grant_ns,
        .clock_bound_ns = agents->clock_bound_ns,
        .agent_id = 1,
    };
    run->config.cache_entries = lab_keeps_state(run) ? useful_entries(run) : 1;
    bool is_made = lab_regimes_make(run->strategy, run->start_ns, &run->regimes);
    assert(is_made);
    (void)is_made;
    bk_history_begin(&run->strategy->settings.strategy, &run->config.history);
    add_dated(run, 0, &run->config.history);
    run->has_own_times = wl_has_own_times(&run->scenario->workload);
    run->row_last.until_ns = INT64_MIN;
    run->put = (struct cass_statement){.kind = CASS_WRITE_ROW,
                                       .consistency = run->scenario->consistency.write,
                                       .ttl_ns = run->scenario->row_ttl_ns,
                                       .timestamp_us = INT64_MIN};
    size_t bytes = bk_agent_size(&run->config) + run->operation_count * sizeof(struct lab_host_operation);
    if (bytes > MEMORY_MAX / agents->count)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: %u agents with caches of %u entries take %.0f GB; lower cache_entries, or count",
                        run->scenario->path, agents->count, run->config.cache_entries,
                        (double)bytes * agents->count / 1e9);
    /* One block, so that the entries of a few keys in all caches are in few pages. */
    bytes = agents->count * agent_bytes(&run->config);
    /* Most of an agent's operations are never used. Large pages would take memory for them, too. */
    struct bk_agent_config caches = run->config;
    caches.operations = 1;
    bool is_large = agents->count * bk_agent_size(&caches) >= LARGE_CACHES;
    run->agents_memory = is_large ? sim_memory_take(bytes) : aligned_alloc(SIM_LINE_BYTES, bytes);
    run->operations = aligned_alloc(SIM_LINE_BYTES, agents->count * ((size_t)run->operation_count + 1) *
                                                        sizeof *run->operations);
    if (run->agents_memory == NULL || run->operations == NULL)
        return sim_fail_memory(error);
    for (uint32_t i = 0; i < agents->count; i++)
        create_agent(run, i);
    return true;
}

void lab_agents_destroy(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; run->agents != NULL && i < run->agent_count; i++)
        free(run->agents[i].checkpoint);
    free(run->agents);
    free(run->agents_memory);
    free(run->operations);
}

void lab_agent_draw_clock(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_agents *settings = &run->scenario->agents;
    struct sim_random draws;
    sim_random_init(&draws, run->scenario->seed, SIM_CLOCK, number);
    double offset = 2 * sim_random_unit(&draws) - 1, drift = 2 * sim_random_unit(&draws) - 1;
    run->agents[number].offset_ns = (int64_t)(offset * (double)settings->clock_offset_ns);
    run->agents[number].drift_ppb = (int64_t)(drift * settings->clock_drift * 1e9);
}

/* A key that the agent meets first. With more keys than the sets of its cache hold, at least one was evicted.
 */
SIM_OUT_OF_LINE static void meet_key(struct lab_cluster_run *run, struct lab_host_agent *agent, uint64_t seen)
{
    uint32_t held = (run->config.cache_entries + 3) / 4 * 4;
    agent->keys_seen = seen;
    run->oracles.verdict.probes[LAB_PROBE_EVICTION] +=
        lab_keeps_state(run) && (uint32_t)__builtin_popcountll(seen) > held;
}

static ALWAYS_INLINE struct lab_host_operation *
begun(struct lab_cluster_run *run, struct lab_host_agent *agent, uint32_t number, uint32_t key)
{
    clear_operations(agent, number + 1);
    struct lab_host_operation *operation = &agent->operations[number];
    uint32_t serial = operation->serial;
    if (SIM_UNLIKELY(operation->uses_all))
        memset(operation, 0, sizeof *operation);
    else /* compilers clear so few bytes without a call */
        memset(operation, 0, offsetof(struct lab_host_operation, beyond));
    operation->serial = serial;
    operation->is_active = true;
    operation->key = key;
    operation->bucket = LAB_UNPLACED;
    operation->action = BK_ACT_DONE; /* it has requested nothing */
    operation->outcome.kind = BK_OUTCOME_APPLIED;
    operation->heard_ns = operation->turn_ns = operation->begun_ns = sim_queue_now(&run->queue);
    run->operations_active++;
    uint64_t seen = agent->keys_seen | UINT64_C(1) << (key & 63);
    if (SIM_UNLIKELY(seen != agent->keys_seen))
        meet_key(run, agent, seen);
    return operation;
}

struct lab_host_operation *lab_agent_begun(struct lab_cluster_run *run, uint32_t agent, uint32_t number,
                                           uint32_t key)
{
    struct lab_host_operation *operation = begun(run, &run->agents[agent], number, key);
    operation->uses_all = true;
    return operation;
}

/* --- Rows that wait. With agents.queue an agent writes the rows of a key one after another, as if under a
 * lock of its process; rows of other agents do not wait for these. A row that waits has not arrived yet: it
 * gets its number, its time and its bucket when its turn comes. */

/* The link to the row of the key that is under way in the agent; 0 is in the link if there is none. */
static uint32_t *under_way(const struct lab_cluster_run *run, uint32_t agent, uint32_t key)
{
    uint32_t *link = &run->turns.keys[key];
    while (*link != 0 && run->turns.items[*link - 1].agent != agent)
        link = &run->turns.items[*link - 1].other;
    return link;
}

int64_t lab_agent_waited(const struct lab_cluster_run *run, uint32_t agent, uint32_t key)
{
    const uint32_t turn = run->turns.keys == NULL ? 0 : *under_way(run, agent, key);
    return turn == 0 ? 0 : sim_queue_now(&run->queue) - run->turns.items[turn - 1].since_ns;
}

static void free_turn(struct lab_turns *turns, uint32_t turn)
{
    turns->items[turn - 1].next = turns->free;
    turns->free = turn;
}

/* The row of the key that is under way in the agent has ended. */
static void end_turn(struct lab_cluster_run *run, uint32_t agent, uint32_t key)
{
    uint32_t *link = under_way(run, agent, key);
    const uint32_t turn = *link;
    if (turn == 0) /* the history says when rows begin */
        return;
    const struct lab_turn *ended = &run->turns.items[turn - 1];
    if (ended->waiting > 0) {
        lab_push_event(run, sim_queue_now(&run->queue),
                       &(struct sim_event){LAB_EVENT_TURN, agent, key, ended->serial});
        return;
    }
    *link = ended->other;
    free_turn(&run->turns, turn);
}

/* Puts a row into the queue of its key and agent. Returns whether it is the first, and so under way. */
static bool begin_turn(struct lab_cluster_run *run, uint32_t agent, uint32_t key,
                       const struct lab_arrival *row)
{
    struct lab_turns *turns = &run->turns;
    uint32_t turn = turns->free;
    if (turn == 0 && !sim_grow(&turns->items, &turns->capacity, turns->count + 1, sizeof *turns->items)) {
        run->out_of_memory = true;
        return false;
    }
    if (turn == 0)
        turn = (uint32_t)++turns->count;
    else
        turns->free = turns->items[turn - 1].next;
    turns->items[turn - 1] = (struct lab_turn){
        .row = *row, .since_ns = sim_queue_now(&run->queue), .serial = ++turns->serial, .agent = agent};
    uint32_t *link = under_way(run, agent, key);
    if (*link == 0) {
        *link = turn;
        lab_histogram_add(&turns->waited, 0, 1, 1);
        return true;
    }
    struct lab_turn *first = &turns->items[*link - 1];
    *(first->waiting == 0 ? &first->next : &turns->items[first->last - 1].next) = turn;
    first->last = turn;
    turns->most = ++first->waiting > turns->most ? first->waiting : turns->most;
    turns->waiting[key]++;
    run->operations_active++;
    return false;
}

/* Takes the first row that waits behind a row that has ended. */
static struct lab_turn take_turn(struct lab_cluster_run *run, uint32_t *link, uint32_t key)
{
    struct lab_turns *turns = &run->turns;
    const uint32_t turn = *link;
    const struct lab_turn ended = turns->items[turn - 1];
    struct lab_turn *next = &turns->items[ended.next - 1];
    *link = ended.next;
    next->other = ended.other;
    next->last = ended.last;
    next->waiting = ended.waiting - 1;
    free_turn(turns, turn);
    turns->waiting[key]--;
    run->operations_active--;
    return *next;
}

void lab_agent_arrive(struct lab_cluster_run *run, uint32_t agent, uint32_t key,
                      const struct lab_arrival *row)
{
    if (SIM_UNLIKELY(run->turns.keys != NULL) && agent != UINT32_MAX) {
        const uint32_t turn = *under_way(run, agent, key);
        if (turn != 0 && run->turns.items[turn - 1].waiting == run->scenario->agents.queue) {
            run->refused_busy++;
            agent = UINT32_MAX;
        } else if (!begin_turn(run, agent, key, row)) {
            return;
        }
    }
    lab_agent_write(run, agent, key, row);
}

void lab_agent_turn(struct lab_cluster_run *run, const struct sim_event *event)
{
    const uint32_t agent = event->target, key = (uint32_t)event->a;
    uint32_t *link = under_way(run, agent, key);
    if (*link == 0 || run->turns.items[*link - 1].serial != event->b || lab_agent_waits(run, event))
        return; /* the agent has crashed since, or is paused */
    struct lab_turn turn = take_turn(run, link, key);
    turn.row.time_ns = sim_queue_now(&run->queue);
    lab_histogram_add(&run->turns.waited, (uint64_t)(turn.row.time_ns - turn.since_ns), 1, 1);
    lab_agent_write(run, agent, key, &turn.row);
}

/* The agent's process is gone, and with it the rows that wait there: no agent stores them. */
static void drop_turns(struct lab_cluster_run *run, uint32_t agent)
{
    for (uint32_t key = 0; run->turns.keys != NULL && key < run->key_count; key++) {
        uint32_t *link = under_way(run, agent, key);
        while (*link != 0 && run->turns.items[*link - 1].waiting > 0) {
            struct lab_turn turn = take_turn(run, link, key);
            turn.row.time_ns = sim_queue_now(&run->queue);
            lab_agent_write(run, UINT32_MAX, key, &turn.row);
        }
        if (*link != 0)
            end_turn(run, agent, key);
    }
}

/* --- Rows that agents take. */

/* No agent is up, or the agent has too many operations under way. */
static __attribute__((cold)) void refuse_row(struct lab_cluster_run *run, uint32_t chosen, int64_t now_ns,
                                             uint32_t key, const struct bk_row *row)
{
    run->refused++;
    run->refused_busy += chosen != UINT32_MAX;
    cluster_emit(run, ROW_REFUSED, .agent = chosen, .key = key, .row = row, .time_ns = now_ns);
}

/* now_ns: the time of the agent's clock. */
static ALWAYS_INLINE void take(struct lab_cluster_run *run, uint32_t chosen, int64_t now_ns,
                               uint32_t key_index, const struct bk_row *row)
{
    struct lab_cluster_key *key = &run->keys[key_index];
    uint64_t number = row->sequence;
    if (number == 0 || row->time_ns < key->birth_ns)
        key->birth_ns = row->time_ns;
    if (chosen == UINT32_MAX) {
        refuse_row(run, chosen, now_ns, key_index, row);
        return;
    }
    struct lab_host_agent *agent = &run->agents[chosen];
    uint32_t operation_number = 0;
    enum bk_status status = bk_agent_write(agent->agent, now_ns, key_index, row, &operation_number);
    if (status == BK_ERROR_BUSY) {
        refuse_row(run, chosen, now_ns, key_index, row);
        if (run->turns.keys != NULL)
            end_turn(run, chosen, key_index);
        return;
    }
    assert(status == BK_OK);
    agent->has_heard = agent->is_paused;
    struct lab_host_operation *operation = begun(run, agent, operation_number, key_index);
    operation->weight = run->config.source == BK_SOURCE_COUNTER;
    if (lab_rows_fire(run))
        operation->weight = bk_weight(lab_agent_strategy(run, chosen, row->time_ns), row);
    operation->fires = operation->weight > 0;
    operation->row = number;
    operation->row_time_ns = row->time_ns;
    operation->row_bytes = lab_row_bytes_at(&run->scenario->row_cost, &run->stamps, row->bytes,
                                            operation->begun_ns, &run->row_last);
    operation->row_id = row->id;
    cluster_emit_of(run, ROW_TAKEN, chosen, operation, .row = row, .time_ns = now_ns);
    lab_agent_pump(run, chosen);
    cluster_emit_of(run, SETTLED, chosen, operation, .number = BK_ACT_DONE);
}

/* Returns the time of a row that arrives: by the clock of the agent or, if no agent is up, its own. */
static inline int64_t time_at(const struct lab_cluster_run *run, uint32_t chosen, int64_t own_ns)
{
    return chosen == UINT32_MAX ? own_ns : lab_agent_clock(run, chosen);
}

void lab_agent_take(struct lab_cluster_run *run, uint32_t chosen, uint32_t key_index,
                    const struct bk_row *row)
{
    take(run, chosen, time_at(run, chosen, row->time_ns), key_index, row);
}

void lab_agent_write(struct lab_cluster_run *run, uint32_t chosen, uint32_t key_index,
                     const struct lab_arrival *arrival)
{
    struct lab_cluster_key *key = &run->keys[key_index];
    uint64_t number = key->rows++;
    run->tally.rows++;
    lab_bytes_add(&key->bytes, arrival->bytes);
    run->keys_met += number == 0;
    int64_t now_ns = time_at(run, chosen, arrival->time_ns);
    int64_t time_ns = now_ns;
    if (SIM_UNLIKELY(run->has_own_times)) {
        int64_t early_ns = lab_rows_early_ns(run->rows, key_index, number);
        time_ns = wl_own_time(&run->scenario->workload, time_ns, arrival->late_ns - early_ns);
    }
    run->tally.late_rows += arrival->late_ns > 0;
    cluster_emit(run, ROW_ARRIVES, .agent = chosen, .key = key_index, .number = number, .arrival = arrival,
                 .time_ns = time_ns);
    struct bk_row row = {time_ns, number, arrival->id, arrival->bytes};
    take(run, chosen, now_ns, key_index, &row);
}

static ALWAYS_INLINE void hear(struct lab_cluster_run *run, uint32_t agent,
                               struct lab_host_operation *operation)
{
    const struct lab_host_agent *host = &run->agents[agent];
    const struct bk_outcome *outcome = &operation->outcome;
    int64_t clock_ns = lab_agent_clock(run, agent);
    operation->heard_ns = sim_queue_now(&run->queue);
    if (SIM_LIKELY(operation->action == BK_ACT_PUT_ROW && outcome->kind == BK_OUTCOME_APPLIED)) {
        cluster_emit_of(run, PUT_HEARD, agent, operation, .flag = false);
    } else {
        if (outcome->kind == BK_OUTCOME_APPLIED) {
            operation->done.filled += operation->step_filled;
            operation->done.scanned += operation->step_scanned;
        }
        cluster_emit_of(run, HEARD, agent, operation, .flag = false);
    }
    enum bk_action_kind kind = operation->action;
    bk_agent_report(host->agent, clock_ns, operation->ticket, outcome);
    cluster_emit_of(run, TOLD, agent, operation, .time_ns = clock_ns);
    lab_agent_pump(run, agent);
    cluster_emit_of(run, SETTLED, agent, operation, .number = kind);
}

void lab_agent_hear(struct lab_cluster_run *run, uint32_t agent, uint32_t number)
{
    hear(run, agent, &run->agents[agent].operations[number]);
}

void lab_agent_reply(struct lab_cluster_run *run, const struct sim_event *event)
{
    if (SIM_UNLIKELY(event->a >> 63)) {
        lab_delete_reply(run, event);
        return;
    }
    if (SIM_UNLIKELY(run->agents[event->target].is_paused)) {
        cluster_emit(run, REPLY_CAME, .agent = event->target, .sim = event);
        if (lab_agent_waits(run, event))
            return;
    }
    uint32_t agent = (uint32_t)(event->a >> 48), number = (uint32_t)(event->a >> 32 & 0xffff);
    struct lab_host_operation *operation = &run->agents[agent].operations[number];
    if (SIM_UNLIKELY(operation->serial != (uint32_t)event->a || operation->outstanding == 0)) {
        cass_reply_discard(run->cluster, event->b);
        return;
    }
    struct cass_reply reply;
    cass_reply_take(run->cluster, event->b, &reply);
    if (operation->action != BK_ACT_PUT_ROW || reply.result != CASS_OK)
        lab_reply_add(run, operation, &reply);
    cluster_emit_of(run, REPLIED, agent, operation, .reply = &reply);
    if (--operation->outstanding == 0) {
        sim_queue_cancel(&run->queue, operation->timeout);
        hear(run, agent, operation);
    }
}

void lab_agent_timeout(struct lab_cluster_run *run, const struct sim_event *event)
{
    struct lab_host_operation *operation = &run->agents[event->target].operations[event->a];
    if (operation->serial != (uint32_t)event->b || operation->outstanding == 0 || lab_agent_waits(run, event))
        return;
    operation->outstanding = 0;
    operation->outcome.kind = BK_OUTCOME_UNKNOWN;
    cluster_emit_of(run, GAVE_UP, event->target, operation, .flag = false);
    lab_agent_hear(run, event->target, (uint32_t)event->a);
}

void lab_agent_tick(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    agent->tick = 0;
    if (agent->is_up && !lab_agent_waits(run, &(struct sim_event){.kind = LAB_EVENT_TICK, .target = number}))
        lab_agent_wake(run, number);
}

void lab_agent_wake(struct lab_cluster_run *run, uint32_t number)
{
    int64_t clock_ns = lab_agent_clock(run, number);
    cluster_emit(run, AGENT_WAKES, .agent = number);
    bk_agent_tick(run->agents[number].agent, clock_ns);
    cluster_emit(run, AGENT_TICKED, .agent = number, .time_ns = clock_ns);
    lab_agent_pump(run, number);
}

/* No process is left to hear the answers. An acknowledged row is stored; only its counting is open. */
static void orphan(struct lab_cluster_run *run, uint32_t number, bool is_end)
{
    const struct lab_host_agent *agent = &run->agents[number];
    drop_turns(run, number);
    for (uint32_t i = 0; i < agent->operations_met && run->operations_active > 0; i++) {
        struct lab_host_operation *operation = &agent->operations[i];
        if (!operation->is_active)
            continue;
        operation->is_heard = operation->outstanding == 0 && operation->bucket != LAB_UNPLACED &&
                              operation->action == BK_ACT_PUT_ROW &&
                              operation->outcome.kind == BK_OUTCOME_APPLIED;
        run->unresolved += !operation->is_read && !operation->is_acknowledged;
        run->unresolved_increments += !operation->is_read && operation->is_acknowledged && operation->fires;
        cluster_emit_of(run, LOST, number, operation, .flag = is_end);
        if (operation->outstanding > 0)
            sim_queue_cancel(&run->queue, operation->timeout);
        operation->serial++;
        operation->outstanding = 0;
        operation->is_active = false;
        run->operations_active--;
    }
}

/* The cache and all operations are gone; their requests may still take effect. */
void lab_agent_crash(struct lab_cluster_run *run, uint32_t number, int64_t lasts_ns, bool is_kept)
{
    struct lab_host_agent *agent = &run->agents[number];
    /* Nothing runs after the drain: that means never. */
    int64_t now_ns = sim_queue_now(&run->queue), left_ns = lab_until(run->end_ns, LAB_DRAIN_NS) - now_ns;
    int64_t restart_ns = lasts_ns < left_ns ? now_ns + lasts_ns : INT64_MAX;
    if (agent->is_up || restart_ns > agent->restart_ns) {
        sim_queue_cancel(&run->queue, agent->restart);
        agent->restart = restart_ns < INT64_MAX ? lab_push(run, restart_ns, LAB_EVENT_RESTART, number) : 0;
        agent->restart_ns = restart_ns;
    }
    agent->wants_checkpoint = false;
    if (!agent->is_up)
        return;
    agent->goes_back = is_kept;
    agent->is_up = agent->is_paused = agent->has_heard = false;
    cluster_emit(run, AGENT_STOPPED, .agent = number);
    if (run->idgen != NULL)
        lab_idgen_crash(run, number);
    orphan(run, number, false);
    if (agent->tick != 0)
        sim_queue_cancel(&run->queue, agent->tick);
    agent->tick = 0;
}

void lab_agents_leave(struct lab_cluster_run *run)
{
    if (run->idgen != NULL)
        lab_idgen_leave(run);
    for (uint32_t i = 0; i < run->agent_count; i++) {
        cluster_emit(run, AGENT_STOPPED, .agent = i, .flag = true);
        orphan(run, i, true);
    }
}

void lab_agent_restart(struct lab_cluster_run *run, uint32_t number)
{
    if (run->idgen != NULL) {
        lab_idgen_restart(run, number);
        return;
    }
    bool is_kept = start_agent(run, number);
    cluster_emit(run, AGENT_STARTED, .agent = number, .flag = is_kept, .number = 1);
}

struct bk_agent_config lab_agent_config(const struct lab_cluster_run *run, uint32_t number)
{
    const struct bk_history *history = &run->agents[number].history;
    struct bk_agent_config config = run->config;
    config.agent_id = (uint64_t)number + 1;
    config.history = *history;
    config.strategy = history->eras[history->count - 1].strategy;
    return config;
}

uint32_t lab_choose_agent(const struct lab_cluster_run *run, uint64_t draw)
{
    uint32_t agent = (uint32_t)(draw % run->agent_count);
    for (uint32_t i = 0; i < run->agent_count; i++) {
        if (run->agents[agent].is_up && !run->agents[agent].has_heard)
            return agent;
        agent = agent + 1 < run->agent_count ? agent + 1 : 0;
    }
    return UINT32_MAX;
}

uint32_t lab_choose_agent_of_key(const struct lab_cluster_run *run, uint32_t key, uint64_t draw)
{
    if (run->scenario->agents.by_key)
        draw = sim_hash(run->scenario->seed ^ lab_rows_key_entity(run->rows, key), SIM_AGENT, 0);
    return lab_choose_agent(run, draw);
}

uint32_t lab_choose_agent_of_row(const struct lab_cluster_run *run, uint32_t key, uint64_t row)
{
    uint64_t entity = lab_rows_key_entity(run->rows, key);
    return lab_choose_agent_of_key(run, key, sim_hash(run->scenario->seed ^ entity, SIM_AGENT, row));
}

/* The first put of a row decides its bucket; a retry to another bucket may store it twice. */
static void place_row(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                      int64_t bucket)
{
    cluster_emit_of(run, PLACED, agent, operation, .bucket = bucket);
    operation->is_moved =
        operation->is_moved || (operation->bucket != LAB_UNPLACED && operation->bucket != bucket);
    operation->bucket = bucket;
}

static ALWAYS_INLINE void wait_for_reply(struct lab_cluster_run *run, uint32_t agent,
                                         struct lab_host_operation *operation, uint32_t number)
{
    operation->timeout =
        lab_push_event(run, operation->asked_ns + run->scenario->agents.timeout_ns,
                       &(struct sim_event){LAB_EVENT_TIMEOUT, agent, number, operation->serial});
}

/* An action that puts a row. */
static void put(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                const struct bk_action *action)
{
    lab_action_put(run, operation, action);
    run->tally.retried += action->is_retry;
    place_row(run, agent, operation, action->bucket);
    if (SIM_UNLIKELY(run->replay != NULL)) {
        lab_untold_asked(run, action);
        return;
    }
    cluster_emit_of(run, PUT_SENT, agent, operation, .action = action, .statement = &run->put);
    cass_request(run->cluster, agent, CASS_ANY_NODE, TAG(agent, action->operation, operation->serial),
                 &run->put);
    wait_for_reply(run, agent, operation, action->operation);
}

/* Any other action that needs an outcome. */
SIM_OUT_OF_LINE static void query(struct lab_cluster_run *run, uint32_t agent,
                                  struct lab_host_operation *operation, const struct bk_action *action)
{
    struct cass_statement statement;
    operation->uses_all = true;
    operation->mask = action->mask;
    memcpy(operation->columns, action->columns, sizeof action->columns);
    operation->step_low = action->kind == BK_ACT_READ_ROWS ? action->step.bucket_low : action->bucket;
    operation->step_filled = operation->step_scanned = 0;
    lab_action_statement(run, action, &statement);
    lab_action_count(run, action);
    cluster_emit_of(run, REQUEST_SENT, agent, operation, .action = action, .statement = &statement);
    uint64_t tag = TAG(agent, action->operation, operation->serial);
    if (run->replay != NULL) {
        lab_untold_asked(run, action);
        return;
    }
    if (action->kind == BK_ACT_READ_ROWS) {
        operation->outstanding = (uint32_t)(action->step.bucket_high - action->step.bucket_low) + 1;
        for (int64_t bucket = action->step.bucket_high; bucket >= action->step.bucket_low; bucket--) {
            statement.bucket = bucket;
            cass_request(run->cluster, agent, CASS_ANY_NODE, tag, &statement);
        }
    } else {
        cass_request(run->cluster, agent, CASS_ANY_NODE, tag, &statement);
    }
    wait_for_reply(run, agent, operation, action->operation);
}

static void ask(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                const struct bk_action *action)
{
    operation->serial++;
    operation->requests++;
    operation->action = action->kind;
    operation->ticket = action->ticket;
    operation->rows = 0;
    operation->asked_ns = sim_queue_now(&run->queue);
    if (SIM_UNLIKELY(operation->asked_ns > operation->heard_ns) && !lab_has_failed(operation->outcome.kind))
        operation->turn_ns = operation->asked_ns;
    operation->outcome = (struct bk_outcome){.kind = BK_OUTCOME_APPLIED};
    operation->outstanding = 1;
    if (action->kind == BK_ACT_PUT_ROW)
        put(run, agent, operation, action);
    else
        query(run, agent, operation, action);
}

/* The trap: a client that forgets its first try, and uses the current bucket. The agent itself would keep it,
 * so the host acts as such a client. */
static void ask_elsewhere(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                          const struct bk_action *action)
{
    struct bk_action again = *action;
    int64_t now_ns = lab_agent_clock(run, agent), bucket;
    bool is_changing;
    if (run->config.strategy.kind == BK_KIND_TIME)
        again.bucket = lab_current_bucket(run, (uint32_t)action->key, now_ns) + action->bucket -
                       lab_first_shard(&run->config.strategy, action->bucket);
    else if (lab_rows_fire(run) &&
             bk_agent_view(run->agents[agent].agent, now_ns, action->key, &bucket, &is_changing))
        again.bucket = bucket;
    ask(run, agent, operation, &again);
}

static void acknowledge(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation)
{
    operation->is_acknowledged = true;
    run->keys[operation->key].acknowledged++;
    cluster_emit_of(run, ACKNOWLEDGED, agent, operation, .bucket = operation->bucket);
    if (SIM_UNLIKELY(run->scenario->deletes.share > 0))
        lab_delete_plan(run, operation);
}

static void end_operation(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                          const struct bk_action *action)
{
    if (SIM_LIKELY(!operation->is_read)) {
        run->refused += action->status == BK_OPERATION_REFUSED;
        run->unresolved += action->status == BK_OPERATION_UNKNOWN;
        run->unresolved_increments += operation->is_acknowledged && action->fired && !action->counted;
    }
    cluster_emit_of(run, ENDED, agent, operation, .action = action);
    operation->is_active = false;
    run->operations_active--;
    if (SIM_UNLIKELY(run->turns.keys != NULL) && !operation->is_read)
        end_turn(run, agent, operation->key);
}

static void perform(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                    const struct bk_action *action)
{
    cluster_emit_of(run, ACTED, agent, operation, .action = action);
    if (action->kind == BK_ACT_ACK)
        acknowledge(run, agent, operation);
    else if (action->kind == BK_ACT_DONE)
        end_operation(run, agent, operation, action);
    else if (SIM_UNLIKELY(action->is_retry) && action->kind == BK_ACT_PUT_ROW &&
             run->scenario->agents.retry == LAB_RETRY_ROUTE_AGAIN)
        ask_elsewhere(run, agent, operation, action);
    else
        ask(run, agent, operation, action);
}

static void set_tick(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    int64_t deadline_ns = bk_agent_deadline(agent->agent);
    if (SIM_LIKELY(deadline_ns == INT64_MAX))
        return;
    int64_t now_ns = sim_queue_now(&run->queue), clock_ns = lab_agent_clock(run, number);
    int64_t due_ns = deadline_ns > clock_ns ? lab_until(now_ns, deadline_ns - clock_ns) : now_ns;
    if (agent->tick != 0 && agent->tick_ns <= due_ns)
        return;
    if (agent->tick != 0)
        sim_queue_cancel(&run->queue, agent->tick);
    agent->tick = lab_push(run, due_ns, LAB_EVENT_TICK, number);
    agent->tick_ns = due_ns;
}

void lab_agent_pump(struct lab_cluster_run *run, uint32_t number)
{
    struct bk_action action;
    const struct lab_host_agent *agent = &run->agents[number];
    if (SIM_UNLIKELY(agent->is_paused))
        return;
    while (bk_agent_next(agent->agent, &action)) {
        perform(run, number, &agent->operations[action.operation], &action);
    }
    cluster_emit(run, AGENT_RESTS, .agent = number);
    set_tick(run, number);
    if (SIM_UNLIKELY(agent->wants_checkpoint))
        lab_agent_keep(run, number);
}

/* --- Agents that are paused, and agents that restart from a checkpoint. A paused agent handles one more
 * event, with its clock at that time, and stops before it acts: its actions are sent after the pause. Later
 * events wait until then, in order, and the load balancer sends the agent no more rows and reads. A
 * checkpoint is taken when the agent has no operations, so it restores only knowledge. */

void lab_agent_pause(struct lab_cluster_run *run, uint32_t number, int64_t lasts_ns)
{
    struct lab_host_agent *agent = &run->agents[number];
    int64_t until_ns = lab_until(sim_queue_now(&run->queue), lasts_ns);
    if (!agent->is_up)
        return;
    cluster_emit(run, AGENT_PAUSED, .agent = number);
    if (!agent->is_paused || until_ns > agent->pause_until_ns)
        agent->pause_until_ns = until_ns;
    agent->is_paused = true;
}

void lab_agent_resume(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    if (!agent->is_paused || sim_queue_now(&run->queue) < agent->pause_until_ns)
        return; /* the agent has restarted, or another pause still lasts */
    cluster_emit(run, AGENT_RESUMED, .agent = number, .flag = agent->has_heard);
    agent->is_paused = agent->has_heard = false;
    if (run->idgen != NULL)
        lab_idgen_resume(run, number);
    else
        lab_agent_pump(run, number);
}

bool lab_agent_waits(struct lab_cluster_run *run, const struct sim_event *event)
{
    uint32_t number = event->target;
    struct lab_host_agent *agent = &run->agents[number];
    if (!agent->is_paused)
        return false;
    if (!agent->has_heard) {
        agent->has_heard = true;
        cluster_emit(run, AGENT_HANDLES, .agent = number);
        return false;
    }
    cluster_emit(run, AGENT_WAITS, .agent = number);
    uint64_t handle = lab_push_event(run, agent->pause_until_ns, event);
    if (event->kind == LAB_EVENT_TICK) {
        agent->tick = handle;
        agent->tick_ns = agent->pause_until_ns;
    } else if (event->kind == LAB_EVENT_TIMEOUT && run->idgen != NULL) {
        lab_idgen_waits(run, event, handle);
    } else if (event->kind == LAB_EVENT_TIMEOUT) {
        struct lab_host_operation *operation = &agent->operations[event->a];
        if (operation->serial == (uint32_t)event->b && operation->outstanding > 0)
            operation->timeout = handle;
    }
    return true;
}

void lab_agent_keep(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    agent->wants_checkpoint = agent->is_up;
    for (uint32_t i = 0; i < agent->operations_met; i++) {
        if (!agent->is_up || agent->operations[i].is_active)
            return;
    }
    size_t size = bk_agent_state_size(agent->agent);
    unsigned char *state = realloc(agent->checkpoint, size);
    if (state == NULL) {
        run->out_of_memory = true;
        return;
    }
    bk_agent_save(agent->agent, state, size);
    agent->checkpoint = state;
    agent->checkpoint_bytes = size;
    agent->wants_checkpoint = false;
    cluster_emit(run, AGENT_KEPT, .agent = number);
}

/* --- Settings that change while agents run. A change at a date that all agents know in advance is in their
 * history from the start. A deployment is an event for each agent, which then adopts the new settings, dated
 * by its own clock, or forgets the old ones. */

void lab_deploys_begin(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; i < run->strategy->settings.change_count; i++) {
        const struct lab_change *change = &run->strategy->settings.changes[i];
        if (!lab_change_is_deployed(change))
            continue;
        for (uint32_t agent = 0; agent < run->agent_count; agent++) {
            uint64_t draw = sim_hash(run->scenario->seed, SIM_ROLLOUT, (uint64_t)agent << 8 | i);
            int64_t later_ns = change->rollout_ns > 0 ? (int64_t)(draw % (uint64_t)change->rollout_ns) : 0;
            int64_t at_ns = lab_until(lab_until(run->start_ns, change->at_ns), later_ns);
            lab_push_event(run, at_ns, &(struct sim_event){LAB_EVENT_DEPLOY, agent, i, 0});
        }
    }
}

/* An agent that is down gets the settings when it restarts. */
void lab_deploy(struct lab_cluster_run *run, uint32_t number, uint32_t index)
{
    struct lab_host_agent *agent = &run->agents[number];
    const struct lab_change *change = &run->strategy->settings.changes[index];
    if (change->keeps_old)
        add(&agent->history, lab_agent_clock(run, number), &change->strategy);
    else
        bk_history_begin(&change->strategy, &agent->history);
    add_dated(run, index + 1, &agent->history);
    if (agent->is_up) {
        enum bk_status status = bk_agent_change(agent->agent, &agent->history);
        assert(status == BK_OK);
        (void)status;
    }
    cluster_emit(run, AGENT_DEPLOYED, .agent = number, .number = index);
}
