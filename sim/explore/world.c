/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The world: in come settings and a state; out go the states that can follow. It keeps what world.h draws:
 * pools of agents, stores, requests and answers, and a memo of what each event makes of them. */
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/private/lab.h"
#include "kernel/grow.h"
#include "kernel/random.h"
#include "kernel/table.h"

#define KEY      1u
#define LATE_MAX 6u

/* An operation of an agent, as its host knows it. */
enum phase { IDLE, ASKED, ANSWERED };
struct slot {
    uint8_t is_used, is_read, number, phase;
    uint8_t must, seen; /* of a read: the rows acknowledged before it began, and those that it found */
    uint8_t requests;   /* how many it has made */
    uint8_t unused;
    uint32_t action, outcome;
};
struct agent {
    int64_t deadline_ns;
    int8_t offset; /* of its clock, in ticks */
    uint8_t unused[3];
    uint32_t checkpoint;
    struct slot slots[OPERATIONS_MAX];
};
struct judged_store {
    struct stored store;
    uint32_t broken, unused;
};
struct late {
    uint32_t actions[LATE_MAX]; /* numbers + 1, in the order of their hashes */
};

/* Equal items have one number. Only the holder of the lock adds items, and an item never moves. */
struct pool {
    size_t size;
    uint32_t count, capacity;
    char *items; /* reserved, and taken from the system when it is used first */
    uint64_t *hashes;
    struct sim_table index; /* of numbers + 1 */
};
enum pool_name { AGENTS, CHECKPOINTS, STORES, LATES, ACTIONS, ANSWERS, NOTES, POOLS };

enum memo_kind { STEP = 1, EFFECT, NOTED };
struct memo {
    _Atomic uint64_t key; /* 0: none */
    uint64_t value;
};

struct space {
    struct rules rules;
    struct pool pools[POOLS];
    struct memo *memo;
    uint64_t memo_count, memo_mask;
    void *memory; /* of the agent under way */
    size_t memory_size;
    pthread_mutex_t lock;
    _Atomic uint32_t probes;
    uint32_t requests;                /* the most of an operation */
    uint64_t waits;                   /* a digest of how long agents wait, a step each */
    bool is_broken;                   /* a table could not grow */
    _Atomic bool is_full, is_crowded; /* of a pool; the memo needs more room */
    char refusal[128];                /* the core refused a call: an error of the explorer */
};

/* --- Pools. */
static const void *item(const struct space *space, enum pool_name name, uint32_t number)
{
    return space->pools[name].items + (size_t)number * space->pools[name].size;
}

static const struct stored *store_at(const struct space *space, uint32_t number)
{
    return item(space, STORES, number);
}

static const struct agent *agent_at(const struct space *space, uint32_t number)
{
    return item(space, AGENTS, number);
}

static const struct bk_action *action_at(const struct space *space, uint32_t number)
{
    return item(space, ACTIONS, number);
}

static uint64_t hash_at(const struct space *space, enum pool_name name, uint32_t number)
{
    return space->pools[name].hashes[number];
}

static uint64_t hash_of(const void *bytes, size_t size)
{
    uint64_t hash = size;
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, size - at < 8 ? size - at : 8);
        hash = sim_mix64(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    }
    return sim_mix64(hash);
}

/* Returns the item's number. When the pool is full or memory runs out, the search is to end. `hash` is of the
 * item's contents, without numbers of other pools, so that it does not depend on the order of the search. */
static uint32_t put(struct space *space, enum pool_name name, const void *bytes, uint64_t hash)
{
    struct pool *pool = &space->pools[name];
    const uint32_t key = (uint32_t)(hash >> 32);
    const struct sim_slot *slot = sim_table_first(&pool->index, key);
    for (; slot->index != 0; slot = sim_table_next(&pool->index, slot))
        if (pool->hashes[slot->index - 1] == hash &&
            memcmp(item(space, name, slot->index - 1), bytes, pool->size) == 0)
            return slot->index - 1;
    if (pool->count == pool->capacity || space->is_broken) {
        atomic_store(&space->is_full, true);
        return 0;
    }
    memcpy(pool->items + (size_t)pool->count * pool->size, bytes, pool->size);
    pool->hashes[pool->count] = hash;
    sim_table_put(&pool->index, key, ++pool->count);
    return pool->count - 1;
}

static uint32_t put_store(struct space *space, const struct stored *store)
{
    const struct judged_store judged = {*store, explore_judge(&space->rules, store, NULL), 0};
    return put(space, STORES, &judged, hash_of(store, sizeof *store));
}

/* Adds a request to a set of late ones. */
static void add_late(struct space *space, struct late *late, uint32_t moved)
{
    for (unsigned at = 0; at < LATE_MAX && moved != 0; at++) {
        const uint32_t there = late->actions[at];
        if (there != 0 && hash_at(space, ACTIONS, moved - 1) >= hash_at(space, ACTIONS, there - 1))
            continue;
        late->actions[at] = moved;
        moved = there;
    }
    if (moved != 0)
        atomic_store(&space->is_full, true);
}

static uint32_t put_late(struct space *space, const struct late *late)
{
    uint64_t hash = 1;
    for (unsigned at = 0; at < LATE_MAX && late->actions[at] != 0; at++)
        hash = sim_mix64(hash + hash_at(space, ACTIONS, late->actions[at] - 1));
    pthread_mutex_lock(&space->lock);
    const uint32_t number = put(space, LATES, late, hash);
    pthread_mutex_unlock(&space->lock);
    return number;
}

static void meet(struct space *space, uint32_t probes)
{
    if ((probes & ~atomic_load_explicit(&space->probes, memory_order_relaxed)) != 0)
        atomic_fetch_or(&space->probes, probes);
}

/* --- Effects on stores. */
static bool changes_state(enum bk_action_kind kind)
{
    return kind == BK_ACT_WRITE_STATE || kind == BK_ACT_CAS_STATE;
}

static bool has_effect(enum bk_action_kind kind)
{
    return changes_state(kind) || kind == BK_ACT_PUT_ROW || kind == BK_ACT_ADD_COUNTER ||
           kind == BK_ACT_WRITE_START || kind == BK_ACT_CAS_LOCK;
}

/* Returns the numbers of the store and, above them, of the answer. */
static uint64_t compute_effect(struct space *space, uint32_t number, uint32_t request)
{
    struct stored store = *store_at(space, number);
    struct answer answer;
    memset(&answer, 0, sizeof answer);
    meet(space, explore_perform(&space->rules, &store, action_at(space, request), &answer));
    return put_store(space, &store) | (uint64_t)put(space, ANSWERS, &answer, hash_of(&answer, sizeof answer))
                                          << 32;
}

/* What the store gets besides a note: that an operation may have failed, and that its state is lost. */
#define MAY_FAIL   (UINT32_C(1) << 30)
#define STATE_GONE (UINT32_C(1) << 31)

static uint32_t compute_noted(struct space *space, uint32_t number, uint32_t what)
{
    struct stored store = *store_at(space, number);
    const struct note *note = item(space, NOTES, what & (MAY_FAIL - 1));
    if (note->taken != 0)
        store.times[store.taken++] = (int64_t)note->taken * EXPLORE_TICK_NS;
    store.acknowledged |= note->acknowledged;
    store.missed |= note->missed;
    store.refused |= note->refused;
    store.told += note->told;
    store.stuck |= note->stuck;
    if ((what & MAY_FAIL) == 0) {
        store.failed |= note->failed;
        store.uncounted |= note->uncounted;
    }
    if (what & STATE_GONE) {
        store.has_state = 0;
        memset(store.state, 0, sizeof store.state);
    }
    return put_store(space, &store);
}

/* --- Steps of agents. */
/* What happens, as a number: kind, tick, operation and a number that depends on the kind. */
static uint32_t event_of(enum explore_move_kind kind, unsigned tick, unsigned operation, uint32_t number)
{
    return (uint32_t)kind << 28 | tick << 24 | operation << 22 | number;
}

static int64_t clock_of(const struct agent *agent, unsigned tick)
{
    return EXPLORE_FIRST_NS + ((int64_t)tick + agent->offset) * EXPLORE_TICK_NS;
}

static void abandon(const struct space *space, struct slot *slot, unsigned operation, struct note *note)
{
    if (slot->phase == ASKED && has_effect(action_at(space, slot->action)->kind) &&
        space->rules.config.may >> EXPLORE_LATE & 1)
        note->late[operation] = slot->action + 1;
    slot->phase = IDLE;
}

static void end_operation(const struct rules *rules, struct slot *slot, const struct bk_action *action,
                          struct note *note)
{
    const uint8_t row = (uint8_t)(1u << slot->number);
    const bool is_fine = action->status == BK_OPERATION_OK;
    note->failed |= !is_fine;
    if (slot->is_read && is_fine)
        note->missed |= slot->must & (uint8_t)~slot->seen;
    if (!slot->is_read && action->status == BK_OPERATION_REFUSED)
        note->refused |= row;
    if (!slot->is_read && is_fine && action->fired) {
        note->told = (uint8_t)(note->told + (rules->has_column && action->counted));
        note->uncounted |= rules->is_certain && !action->counted ? row : 0;
    }
    memset(slot, 0, sizeof *slot);
}

static void take_actions(struct space *space, struct bk_agent *core, struct agent *agent, struct note *note)
{
    struct bk_action action;
    memset(&action, 0, sizeof action);
    while (bk_agent_next(core, &action)) {
        struct slot *slot = &agent->slots[action.operation];
        if (action.kind == BK_ACT_ACK) {
            note->acknowledged |= (uint8_t)(1u << slot->number);
            continue;
        }
        if (action.kind == BK_ACT_DONE) {
            end_operation(&space->rules, slot, &action, note);
            continue;
        }
        action.operation = 0;
        action.ticket = 0;
        slot->action = put(space, ACTIONS, &action, hash_of(&action, sizeof action));
        slot->phase = ASKED;
        slot->outcome = 0;
        note->stuck |= ++slot->requests > REQUESTS_MAX;
        if (slot->requests > space->requests)
            space->requests = slot->requests;
    }
}

/* An operation never ends when none of its agent has a request or a time to wait for. */
static bool is_stuck(const struct agent *agent)
{
    bool is_used = false;
    for (unsigned i = 0; i < OPERATIONS_MAX; i++) {
        is_used = is_used || agent->slots[i].is_used;
        if (agent->slots[i].phase != IDLE)
            return false;
    }
    return is_used && agent->deadline_ns == INT64_MAX;
}

/* The hash of an agent's contents: the numbers of its parts are replaced by their hashes. */
static uint64_t hash_agent(const struct space *space, const struct agent *agent)
{
    struct agent bare = *agent;
    uint64_t hash = 0;
    bare.checkpoint = 0;
    for (unsigned i = 0; i < OPERATIONS_MAX; i++) {
        struct slot *slot = &bare.slots[i];
        if (slot->phase != IDLE)
            hash = sim_mix64(hash + hash_at(space, ACTIONS, slot->action) + i);
        if (slot->phase == ANSWERED)
            hash = sim_mix64(hash + hash_at(space, ANSWERS, slot->outcome));
        slot->action = slot->outcome = 0;
    }
    return sim_mix64(hash_of(&bare, sizeof bare) ^ hash_at(space, CHECKPOINTS, agent->checkpoint) ^ hash);
}

static bool refuse(struct space *space, const char *call, enum bk_status status)
{
    if (status == BK_OK)
        return true;
    snprintf(space->refusal, sizeof space->refusal, "%s answers: %s", call, bk_status_text(status));
    atomic_store(&space->is_full, true);
    return false;
}

/* A checkpoint is its size, its bytes, and zeros. */
static uint32_t put_agent(struct space *space, struct bk_agent *core, struct agent *agent)
{
    const struct pool *pool = &space->pools[CHECKPOINTS];
    char *checkpoint = (char *)space->memory + space->memory_size;
    bk_agent_forget_tickets(core);
    const size_t size = bk_agent_state_size(core);
    if (!refuse(space, "bk_agent_save()",
                size + sizeof size > pool->size ? BK_ERROR_MEMORY
                                                : bk_agent_save(core, checkpoint + sizeof size, size)))
        return 0;
    memcpy(checkpoint, &size, sizeof size);
    memset(checkpoint + sizeof size + size, 0, pool->size - sizeof size - size);
    agent->checkpoint = put(space, CHECKPOINTS, checkpoint, hash_of(checkpoint + sizeof size, size));
    agent->deadline_ns = bk_agent_deadline(core);
    return put(space, AGENTS, agent, hash_agent(space, agent));
}

/* The agent in the explorer's memory; NULL when the core refuses its checkpoint. */
static struct bk_agent *load(struct space *space, const struct agent *agent)
{
    const char *checkpoint = item(space, CHECKPOINTS, agent->checkpoint);
    struct bk_agent *core = NULL;
    size_t size;
    memcpy(&size, checkpoint, sizeof size);
    refuse(space, "bk_agent_load()",
           bk_agent_load(space->memory, space->memory_size, &space->rules.config.agent,
                         checkpoint + sizeof size, size, &core));
    return core;
}

static struct bk_agent *start(struct space *space)
{
    struct bk_agent *core = NULL;
    refuse(space, "bk_agent_init()",
           bk_agent_init(space->memory, space->memory_size, &space->rules.config.agent, &core));
    return core;
}

/* The time of a row that an agent takes. */
static int64_t row_time(const struct explore_config *config, uint32_t row, int64_t now_ns)
{
    if (row + 1 < config->rows || config->last_row == EXPLORE_ROW_NOW)
        return now_ns;
    return config->last_row == EXPLORE_ROW_OLD ? EXPLORE_FIRST_NS : now_ns + EXPLORE_TICK_NS;
}

/* The number of a read has three parts: of the read, the rows acknowledged before it, and the newest row. */
static uint32_t read_number(unsigned read, unsigned acknowledged, unsigned newest)
{
    return read | acknowledged << 4 | newest << 16;
}

static bool begin(struct space *space, struct bk_agent *core, struct agent *agent, bool is_read,
                  uint32_t number, int64_t now_ns, struct note *note)
{
    uint32_t operation = 0;
    struct bk_row row = space->rules.rows[is_read ? 0 : number];
    row.time_ns = row_time(&space->rules.config, number, now_ns);
    note->taken = is_read ? 0 : (uint8_t)(row.time_ns / EXPLORE_TICK_NS);
    enum bk_status status = is_read ? bk_agent_read_latest(core, now_ns, KEY, EXPLORE_TICK_NS, number >> 16,
                                                           EXPLORE_ROWS_MAX + 1, BK_PLAN_DEFAULT, &operation)
                                    : bk_agent_write(core, now_ns, KEY, &row, &operation);
    agent->slots[operation] = (struct slot){
        .is_used = true, .is_read = is_read, .number = number & 15, .must = is_read ? number >> 4 & 255 : 0};
    return refuse(space, is_read ? "bk_agent_read_latest()" : "bk_agent_write()", status);
}

/* Reports the outcome of a request to the agent. */
static bool report(struct space *space, struct bk_agent *core, struct slot *slot, unsigned operation,
                   enum explore_move_kind kind, int64_t now_ns, struct note *note)
{
    struct bk_outcome outcome = {.kind = kind == EXPLORE_REFUSE ? BK_OUTCOME_REFUSED : BK_OUTCOME_UNKNOWN};
    if (kind == EXPLORE_ANSWER) {
        const struct answer *answer = item(space, ANSWERS, slot->outcome);
        outcome = answer->told;
        slot->seen |= slot->is_read ? (uint8_t)answer->seen : 0;
    }
    if (kind == EXPLORE_GIVE_UP)
        abandon(space, slot, operation, note);
    slot->phase = IDLE;
    slot->action = slot->outcome = 0;
    return refuse(space, "bk_agent_report()", bk_agent_report(core, now_ns, operation + 1, &outcome));
}

static bool happen(struct space *space, struct bk_agent *core, struct agent *agent, uint32_t event,
                   struct note *note)
{
    const enum explore_move_kind kind = (enum explore_move_kind)(event >> 28);
    const unsigned operation = event >> 22 & 3;
    const int64_t now_ns = clock_of(agent, event >> 24 & 15);
    if (kind == EXPLORE_WRITE || kind == EXPLORE_READ)
        return begin(space, core, agent, kind == EXPLORE_READ, event & ((1u << 22) - 1), now_ns, note);
    if (kind == EXPLORE_WAKE)
        return refuse(space, "bk_agent_tick()", bk_agent_tick(core, now_ns));
    if (kind != EXPLORE_DIES)
        return report(space, core, &agent->slots[operation], operation, kind, now_ns, note);
    for (unsigned i = 0; i < OPERATIONS_MAX; i++)
        abandon(space, &agent->slots[i], i, note);
    memset(agent->slots, 0, sizeof agent->slots);
    return true;
}

/* Returns the numbers of the agent and, above them, of the note. */
static uint64_t compute_step(struct space *space, uint32_t number, uint32_t event)
{
    struct agent agent = *agent_at(space, number);
    struct note note;
    memset(&note, 0, sizeof note);
    if (event >> 28 == EXPLORE_EFFECT) {
        struct slot *slot = &agent.slots[event >> 22 & 3];
        slot->phase = ANSWERED;
        slot->outcome = event & ((1u << 22) - 1);
        return put(space, AGENTS, &agent, hash_agent(space, &agent));
    }
    struct bk_agent *core = event >> 28 == EXPLORE_DIES ? start(space) : load(space, &agent);
    if (core == NULL || !happen(space, core, &agent, event, &note))
        return 0;
    take_actions(space, core, &agent, &note);
    number = put_agent(space, core, &agent);
    note.stuck |= is_stuck(&agent);
    space->waits += sim_mix64((uint64_t)(agent.deadline_ns - clock_of(&agent, event >> 24 & 15)));
    return number | (uint64_t)put(space, NOTES, &note, hash_of(&note, sizeof note)) << 32;
}

/* --- The memo. */
static struct memo *memo_place(const struct space *space, uint64_t key)
{
    for (uint64_t at = sim_mix64(key) & space->memo_mask;; at = (at + 1) & space->memo_mask) {
        const uint64_t found = atomic_load_explicit(&space->memo[at].key, memory_order_acquire);
        if (found == 0 || found == key)
            return &space->memo[at];
    }
}

static bool must_stop(const struct space *space)
{
    return atomic_load_explicit(&space->is_full, memory_order_relaxed) ||
           atomic_load_explicit(&space->is_crowded, memory_order_relaxed);
}

static uint64_t compute(struct space *space, uint64_t key)
{
    const uint32_t of = (uint32_t)(key >> 32) & (UINT32_MAX >> 2), what = (uint32_t)key;
    uint64_t value = 0;
    pthread_mutex_lock(&space->lock);
    struct memo *memo = memo_place(space, key);
    if (atomic_load(&memo->key) == key) {
        value = memo->value;
    } else if (!must_stop(space)) {
        value = key >> 62 == STEP     ? compute_step(space, of, what)
                : key >> 62 == EFFECT ? compute_effect(space, of, what)
                                      : compute_noted(space, of, what);
        memo->value = value;
        atomic_store_explicit(&memo->key, key, memory_order_release);
        if (++space->memo_count > space->memo_mask / 4 * 3)
            atomic_store(&space->is_crowded, true);
    }
    pthread_mutex_unlock(&space->lock);
    return value;
}

/* What something makes of an agent or a store: looked up, or computed. When the search is to end, the value
 * has no meaning. */
static inline uint64_t result(struct space *space, enum memo_kind kind, uint32_t of, uint32_t what)
{
    const uint64_t key = (uint64_t)kind << 62 | (uint64_t)of << 32 | what;
    const struct memo *memo = memo_place(space, key);
    if (atomic_load_explicit(&memo->key, memory_order_acquire) == key)
        return memo->value;
    return compute(space, key);
}

bool explore_make_room(struct space *space)
{
    struct memo *before = space->memo;
    const uint64_t count = space->memo_mask + 1;
    if (!atomic_load(&space->is_crowded))
        return false;
    struct memo *larger = sim_memory_zeroed(4 * count * sizeof *larger);
    atomic_store(&space->is_full, larger == NULL);
    atomic_store(&space->is_crowded, false);
    if (larger == NULL)
        return false;
    space->memo = larger;
    space->memo_mask = 4 * count - 1;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = atomic_load(&before[i].key);
        if (key != 0) {
            struct memo *memo = memo_place(space, key);
            memo->value = before[i].value;
            atomic_store(&memo->key, key);
        }
    }
    free(before);
    return true;
}

/* --- States. */
/* Puts agent `at`, which has changed, back in order, and returns its place. */
static unsigned sort_agent(const struct space *space, struct world *world, unsigned at)
{
    const uint32_t agent = world->agents[at];
    const uint64_t hash = hash_at(space, AGENTS, agent);
    for (; at > 0 && hash_at(space, AGENTS, world->agents[at - 1]) > hash; at--)
        world->agents[at] = world->agents[at - 1];
    for (; at + 1 < space->rules.config.agents && hash_at(space, AGENTS, world->agents[at + 1]) < hash; at++)
        world->agents[at] = world->agents[at + 1];
    world->agents[at] = agent;
    return at;
}

uint64_t explore_fingerprint(const struct space *space, const struct world *world)
{
    uint64_t hash = (uint64_t)world->tick << 16 | (uint64_t)world->reads << 8 | world->faults;
    hash = sim_mix64(hash ^ hash_at(space, STORES, world->store));
    hash = sim_mix64(hash ^ hash_at(space, LATES, world->late));
    for (unsigned i = 0; i < space->rules.config.agents; i++)
        hash = sim_mix64(hash ^ hash_at(space, AGENTS, world->agents[i]));
    return hash >> 8;
}

/* Whether no operation is under way. */
static bool is_idle(const struct space *space, const struct world *world)
{
    for (unsigned i = 0; i < space->rules.config.agents; i++)
        for (unsigned j = 0; j < OPERATIONS_MAX; j++)
            if (agent_at(space, world->agents[i])->slots[j].is_used)
                return false;
    return true;
}

uint32_t explore_broken(const struct space *space, const struct world *world, struct explore_break *out)
{
    const struct stored *store = store_at(space, world->store);
    uint32_t broken = ((const struct judged_store *)item(space, STORES, world->store))->broken;
    if (out != NULL)
        explore_judge(&space->rules, store, out);
    if (store->has_lock && store->lock[BK_LOCK_OWNER] != 0 && world->faults == 0 && is_idle(space, world)) {
        broken |= 1u << LAB_ORACLE_AVAILABLE;
        if (out != NULL && out->oracle == LAB_ORACLE_AVAILABLE && out->text[0] == '\0')
            snprintf(out->text, sizeof out->text,
                     "the lock is held, although nothing failed and no operation is under way");
    }
    return broken;
}

/* Agents are alike, so only the multiset of their clocks matters. */
size_t explore_roots(struct space *space, struct world *roots)
{
    const bool skews = space->rules.config.may >> EXPLORE_SKEW & 1;
    const unsigned agents = space->rules.config.agents;
    uint32_t fresh[3];
    for (int offset = -1; offset <= 1; offset++) {
        struct agent agent;
        struct bk_agent *core = start(space);
        memset(&agent, 0, sizeof agent);
        agent.offset = (int8_t)offset;
        if (core == NULL)
            return 0;
        fresh[offset + 1] = put_agent(space, core, &agent);
    }
    size_t count = 0;
    for (unsigned combination = 0; combination < 81; combination++) {
        struct world root = {.store = 0};
        unsigned rest = combination, before = 0;
        bool is_new = true;
        for (unsigned i = 0; i < agents; i++, rest /= 3) {
            is_new = is_new && rest % 3 >= before && (skews || rest % 3 == 1);
            before = rest % 3;
            root.agents[i] = fresh[before];
        }
        for (unsigned i = 0; i < agents * agents; i++)
            sort_agent(space, &root, i % agents);
        if (is_new && rest == 0)
            roots[count++] = root;
    }
    return count;
}

/* --- Moves. */
struct moves {
    struct space *space;
    const struct world *from;
    struct move *out;
    size_t count;
};

static struct move *add_move(struct moves *moves, enum explore_move_kind kind, unsigned at,
                             unsigned operation)
{
    struct move *move = &moves->out[moves->count++];
    move->kind = kind;
    move->agent = move->place = (uint8_t)at;
    move->operation = (uint8_t)operation;
    move->to = *moves->from;
    return move;
}

/* Adds the move in which something happens to agent `at`. */
static struct move *add_step(struct moves *moves, enum explore_move_kind kind, unsigned at,
                             unsigned operation, uint32_t number)
{
    struct space *space = moves->space;
    struct move *move = add_move(moves, kind, at, operation);
    struct world *to = &move->to;
    const uint64_t step = result(space, STEP, to->agents[at], event_of(kind, to->tick, operation, number));
    const uint32_t told = (uint32_t)(step >> 32);
    to->agents[at] = (uint32_t)step;
    to->faults =
        (uint8_t)(to->faults + (kind == EXPLORE_GIVE_UP || kind == EXPLORE_REFUSE || kind == EXPLORE_DIES));
    if (told != 0) {
        const struct note *note = item(space, NOTES, told);
        const uint32_t may_fail = to->faults > space->rules.config.agent.retries ? MAY_FAIL : 0;
        struct late late = *(const struct late *)item(space, LATES, to->late);
        to->store = (uint32_t)result(space, NOTED, to->store, told | may_fail);
        for (unsigned i = 0; i < OPERATIONS_MAX; i++)
            add_late(space, &late, note->late[i]);
        to->late = put_late(space, &late);
    }
    move->place = (uint8_t)sort_agent(space, to, at);
    return move;
}

/* Whether another agent has a change of the state under way. */
static bool is_contended(const struct space *space, const struct world *world, unsigned at)
{
    for (unsigned i = 0; i < space->rules.config.agents; i++)
        for (unsigned j = 0; j < OPERATIONS_MAX && i != at; j++) {
            const struct slot *slot = &agent_at(space, world->agents[i])->slots[j];
            if (slot->phase == ASKED && changes_state(action_at(space, slot->action)->kind))
                return true;
        }
    return false;
}

static void move_request(struct moves *moves, unsigned at, unsigned operation)
{
    struct space *space = moves->space;
    const struct world *from = moves->from;
    const struct explore_config *config = &space->rules.config;
    const struct slot *slot = &agent_at(space, from->agents[at])->slots[operation];
    const enum bk_action_kind kind = action_at(space, slot->action)->kind;
    const bool is_asked = slot->phase == ASKED;
    if (is_asked) {
        const uint64_t effect = result(space, EFFECT, from->store, slot->action);
        add_step(moves, EXPLORE_EFFECT, at, operation, (uint32_t)(effect >> 32))->to.store = (uint32_t)effect;
        if (changes_state(kind) && is_contended(space, from, at))
            meet(space, 1u << EXPLORE_PROBE_RACED);
    } else {
        add_step(moves, EXPLORE_ANSWER, at, operation, 0);
    }
    const uint32_t gives_up = is_asked           ? 1u << EXPLORE_LOST | 1u << EXPLORE_LATE
                              : has_effect(kind) ? 1u << EXPLORE_UNKNOWN
                                                 : 0;
    if (from->faults < config->faults && (config->may & gives_up) != 0)
        add_step(moves, EXPLORE_GIVE_UP, at, operation, 0);
    if (from->faults < config->faults && is_asked && config->may >> EXPLORE_REFUSED & 1)
        add_step(moves, EXPLORE_REFUSE, at, operation, 0);
}

static void move_agent(struct moves *moves, unsigned at)
{
    struct space *space = moves->space;
    const struct explore_config *config = &space->rules.config;
    const struct world *from = moves->from;
    const struct agent *agent = agent_at(space, from->agents[at]);
    const struct stored *store = store_at(space, from->store);
    unsigned used = 0;
    for (unsigned i = 0; i < config->agent.operations; i++) {
        used += agent->slots[i].is_used;
        if (agent->slots[i].phase != IDLE)
            move_request(moves, at, i);
    }
    if (used < config->agent.operations && store->taken < config->rows)
        add_step(moves, EXPLORE_WRITE, at, 0, store->taken);
    if (used < config->agent.operations && from->reads < config->reads && store->taken > 0)
        add_step(moves, EXPLORE_READ, at, 0, read_number(from->reads, store->acknowledged, store->taken - 1u))
            ->to.reads++;
    if (agent->deadline_ns <= clock_of(agent, from->tick))
        add_step(moves, EXPLORE_WAKE, at, 0, 0);
    if (used > 0 && (config->may >> EXPLORE_CRASH & 1) && from->faults < config->faults) {
        add_step(moves, EXPLORE_DIES, at, 0, 0);
        meet(space, 1u << EXPLORE_PROBE_CRASHED);
    }
}

static void move_late(struct moves *moves)
{
    struct space *space = moves->space;
    const struct late *late = item(space, LATES, moves->from->late);
    for (unsigned at = 0; at < LATE_MAX && late->actions[at] != 0; at++) {
        struct world *to = &add_move(moves, EXPLORE_LATE_EFFECT, 0, at)->to;
        struct late rest = *late;
        memmove(rest.actions + at, rest.actions + at + 1, (LATE_MAX - at - 1) * sizeof *rest.actions);
        rest.actions[LATE_MAX - 1] = 0;
        to->store = (uint32_t)result(space, EFFECT, to->store, late->actions[at] - 1);
        to->late = put_late(space, &rest);
        meet(space, 1u << EXPLORE_PROBE_TOOK_LATE);
    }
}

/* Whether an agent has an answer to hear or a wait that is over: it acts before time passes, unless it is
 * paused. */
static bool keeps_waiting(const struct space *space, const struct world *world)
{
    for (unsigned i = 0; i < space->rules.config.agents; i++) {
        const struct agent *agent = agent_at(space, world->agents[i]);
        if (agent->deadline_ns <= clock_of(agent, world->tick))
            return true;
        for (unsigned j = 0; j < OPERATIONS_MAX; j++)
            if (agent->slots[j].phase == ANSWERED)
                return true;
    }
    return false;
}

static void move_time(struct moves *moves)
{
    const struct space *space = moves->space;
    const struct explore_config *config = &space->rules.config;
    const struct world *from = moves->from;
    const bool is_pause = keeps_waiting(space, from);
    const bool is_settled = store_at(space, from->store)->taken == config->rows && from->late == 0 &&
                            from->reads == config->reads && is_idle(space, from);
    const bool may_pause = config->may >> EXPLORE_PAUSE & 1 && from->faults < config->faults;
    if (from->tick == config->ticks || is_settled || (is_pause && !may_pause))
        return;
    struct world *to = &add_move(moves, EXPLORE_TICK, 0, 0)->to;
    to->tick++;
    to->faults = (uint8_t)(to->faults + is_pause);
}

/* Partial order. When an agent with one operation has an answer to hear, all it can do is to hear it, to hear
 * that its outcome is unknown, or to crash. If none of these changes the store, no other agent sees which it
 * was, or when: nothing that others do depends on it, and time does not pass before it. So each path that
 * does something else first leads to the same state as one that does this first, with the same stores in
 * between, and only the agent's moves are tried. What follows an answer is a request, so no circle of states
 * consists of such moves only. Returns whether these are all moves. */
static bool moves_alone(struct moves *moves)
{
    const struct space *space = moves->space;
    const struct explore_config *config = &space->rules.config;
    const struct world *from = moves->from;
    const bool may = config->agent.operations == 1 && (config->may >> EXPLORE_PAUSE & 1) == 0;
    for (unsigned at = 0; at < config->agents && may; at++) {
        if (agent_at(space, from->agents[at])->slots[0].phase != ANSWERED)
            continue;
        bool is_seen = false;
        move_agent(moves, at);
        for (size_t i = 0; i < moves->count; i++)
            is_seen = is_seen || moves->out[i].to.store != from->store;
        if (!is_seen)
            return true;
        moves->count = 0;
    }
    return false;
}

size_t explore_moves(struct space *space, const struct world *from, bool is_whole, struct move *out)
{
    const struct explore_config *config = &space->rules.config;
    struct moves moves = {space, from, out, 0};
    if (!is_whole && moves_alone(&moves))
        return must_stop(space) ? SIZE_MAX : moves.count;
    for (unsigned at = 0; at < config->agents; at++)
        if (at == 0 || from->agents[at] != from->agents[at - 1]) /* equal agents do the same */
            move_agent(&moves, at);
    move_late(&moves);
    if (config->may >> EXPLORE_GONE & 1 && from->faults < config->faults &&
        store_at(space, from->store)->has_state) {
        struct world *to = &add_move(&moves, EXPLORE_STATE_GONE, 0, 0)->to;
        to->faults++;
        to->store = (uint32_t)result(space, NOTED, to->store, STATE_GONE);
    }
    move_time(&moves);
    return must_stop(space) ? SIZE_MAX : moves.count;
}

void explore_tell(struct space *space, const struct world *from, const struct move *move, uint8_t *names,
                  struct explore_step *out)
{
    const enum explore_move_kind kind = move->kind;
    const struct stored *before = store_at(space, from->store), *after = store_at(space, move->to.store);
    const struct agent *agent = agent_at(space, from->agents[move->agent]);
    const struct slot *slot = &agent->slots[move->operation];
    const bool is_late = kind == EXPLORE_LATE_EFFECT;
    memset(out, 0, sizeof *out);
    out->kind = kind;
    out->tick = move->to.tick;
    out->operation = move->operation;
    out->acknowledged = after->acknowledged & ~before->acknowledged;
    out->is_late = kind == EXPLORE_GIVE_UP && move->to.late != from->late;
    if (kind == EXPLORE_WRITE) {
        out->number = before->taken;
        out->row = space->rules.rows[out->number];
        out->row.time_ns = after->times[out->number];
    } else if (kind == EXPLORE_READ) {
        out->number = from->reads;
        out->row.sequence = before->taken - 1u;
    } else if (explore_has_request(kind)) {
        const struct late *late = item(space, LATES, from->late);
        const uint32_t request = is_late ? late->actions[move->operation] - 1 : slot->action;
        const uint32_t answer = kind == EXPLORE_ANSWER
                                    ? slot->outcome
                                    : (uint32_t)(result(space, EFFECT, from->store, request) >> 32);
        out->action = *action_at(space, request);
        out->number = is_late ? 0 : slot->number;
        if (kind != EXPLORE_GIVE_UP && kind != EXPLORE_REFUSE)
            out->outcome = ((const struct answer *)item(space, ANSWERS, answer))->told;
    }
    if (is_late || kind == EXPLORE_TICK || kind == EXPLORE_STATE_GONE)
        return;
    const uint8_t name = names[move->agent];
    out->agent = name;
    out->offset_ns = agent->offset * EXPLORE_TICK_NS;
    memmove(names + move->agent, names + move->agent + 1, EXPLORE_AGENTS_MAX - move->agent - 1);
    memmove(names + move->place + 1, names + move->place, EXPLORE_AGENTS_MAX - move->place - 1);
    names[move->place] = name;
}

/* --- Making a world. */
static bool make_pools(struct space *space)
{
    const struct explore_config *config = &space->rules.config;
    space->memory_size = bk_agent_size(&config->agent);
    const struct {
        size_t size;
        unsigned bits;
    } pools[POOLS] = {[AGENTS] = {sizeof(struct agent), AGENT_BITS(config->agents)},
                      [CHECKPOINTS] = {space->memory_size, AGENT_BITS(config->agents) - 1},
                      [STORES] = {sizeof(struct judged_store), STORE_BITS},
                      [LATES] = {sizeof(struct late), LATE_BITS},
                      [ACTIONS] = {sizeof(struct bk_action), 16},
                      [ANSWERS] = {sizeof(struct answer), 18},
                      [NOTES] = {sizeof(struct note), 18}};
    bool is_made = true;
    for (unsigned i = 0; i < POOLS; i++) {
        struct pool *pool = &space->pools[i];
        pool->size = pools[i].size;
        pool->capacity = 1u << pools[i].bits;
        pool->items = calloc(pool->capacity, pool->size);
        pool->hashes = calloc(pool->capacity, sizeof *pool->hashes);
        is_made = sim_table_create(&pool->index, &space->is_broken) && pool->items != NULL &&
                  pool->hashes != NULL && is_made;
    }
    space->memo_mask = (1u << 16) - 1;
    space->memo = sim_memory_zeroed((space->memo_mask + 1) * sizeof *space->memo);
    space->memory = malloc(2 * space->memory_size); /* and of its checkpoint */
    return is_made && space->memo != NULL && space->memory != NULL;
}

struct space *explore_space(const struct explore_config *config, struct sim_error *error)
{
    struct rules rules;
    if (!explore_rules(config, &rules, error))
        return NULL;
    struct space *space = calloc(1, sizeof *space);
    if (space == NULL) {
        sim_fail_memory(error);
        return NULL;
    }
    space->rules = rules;
    pthread_mutex_init(&space->lock, NULL);
    if (!make_pools(space)) {
        sim_fail_memory(error);
        explore_space_free(space);
        return NULL;
    }
    /* Number 0: nothing is stored, late or told. */
    static const struct stored store;
    static const struct late late;
    static const struct note note;
    put_store(space, &store);
    put_late(space, &late);
    put(space, NOTES, &note, hash_of(&note, sizeof note));
    return space;
}

void explore_space_free(struct space *space)
{
    if (space == NULL)
        return;
    for (unsigned i = 0; i < POOLS; i++) {
        free(space->pools[i].items);
        free(space->pools[i].hashes);
        free(space->pools[i].index.slots);
    }
    free(space->memo);
    free(space->memory);
    pthread_mutex_destroy(&space->lock);
    free(space);
}

/* --- What others want to know. */
void explore_fill(const struct space *space, struct explore_result *out)
{
    const struct pool *actions = &space->pools[ACTIONS];
    out->judged = space->rules.judged;
    out->probes = atomic_load(&space->probes);
    out->requests = space->requests;
    out->request_digest = space->waits;
    for (uint32_t i = 0; i < actions->count; i++)
        out->request_digest += actions->hashes[i];
    out->memories = space->pools[AGENTS].count;
    out->stores = space->pools[STORES].count;
}

bool explore_failed(const struct space *space, struct sim_error *error)
{
    if (!atomic_load(&space->is_full))
        return false;
    if (space->refusal[0] != '\0')
        sim_fail(error, SIM_ERROR_ENVIRONMENT, "the core refused a call of the explorer: %s", space->refusal);
    else
        sim_fail(error, SIM_ERROR_INPUT,
                 "the agents have more different memories than the explorer keeps: fewer rows, agents, ticks "
                 "or faults");
    return true;
}
