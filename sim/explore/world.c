/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The world: in come settings and a state; out go the states that can follow, and the guarantees that a state
 * breaks. It keeps what world.h draws: pools of agents, stores, requests and answers, and a memo of what each
 * event makes of them. */
#include "world.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/private/lab.h"
#include "kernel/grow.h"
#include "kernel/random.h"
#include "kernel/table.h"

#define KEY 1u
/* An operation that makes more requests than this in a world of a few rows and faults never ends. */
#define REQUESTS_MAX 30u

/* --- Pools: equal items have one number. Only the holder of the lock adds to them; an item never moves. */
struct pool {
    size_t size;
    uint32_t count, capacity;
    char *items;
    uint64_t *hashes;
    struct sim_table index; /* of numbers + 1 */
    bool is_broken;
};

/* The memory of a pool is reserved, and taken from the system when it is used first. */
static bool pool_make(struct pool *pool, size_t size, uint32_t capacity)
{
    *pool = (struct pool){.size = size, .capacity = capacity};
    pool->items = calloc(capacity, size);
    pool->hashes = calloc(capacity, sizeof *pool->hashes);
    return sim_table_create(&pool->index, &pool->is_broken) && pool->items != NULL && pool->hashes != NULL;
}

static void pool_free(struct pool *pool)
{
    free(pool->items);
    free(pool->hashes);
    free(pool->index.slots);
}

static const void *pool_at(const struct pool *pool, uint32_t number)
{
    return pool->items + (size_t)number * pool->size;
}

static uint64_t hash_of(const void *item, size_t size)
{
    uint64_t hash = size;
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)item + at, size - at < 8 ? size - at : 8);
        hash = sim_mix64(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    }
    return sim_mix64(hash);
}

/* Returns NONE when the pool is full, or memory ran out. `hash` is of the item's contents, without numbers of
 * other pools, so that it does not depend on the order of the search. */
static uint32_t pool_put(struct pool *pool, const void *item, uint64_t hash)
{
    const uint32_t key = (uint32_t)(hash >> 32);
    const struct sim_slot *slot = sim_table_first(&pool->index, key);
    for (; slot->index != 0; slot = sim_table_next(&pool->index, slot)) {
        uint32_t number = slot->index - 1;
        if (pool->hashes[number] == hash && memcmp(pool_at(pool, number), item, pool->size) == 0)
            return number;
    }
    if (pool->count == pool->capacity)
        return NONE;
    memcpy(pool->items + (size_t)pool->count * pool->size, item, pool->size);
    pool->hashes[pool->count] = hash;
    sim_table_put(&pool->index, key, ++pool->count);
    return pool->is_broken ? NONE : pool->count - 1;
}

/* --- What is interned. No struct has padding that is not zeroed. */
/* Registers and rows. A write that takes effect wins over all earlier ones; a late one may take effect, and
 * win, after any later one, as when its coordinator was paused and dates it again (docs/mock.md). */
struct store {
    int64_t state[BK_COLUMNS], lock[2], starts[BUCKETS_MAX], times[EXPLORE_ROWS_MAX];
    uint8_t counters[BUCKETS_MAX];     /* all but guarded use only the first */
    uint8_t buckets[EXPLORE_ROWS_MAX]; /* bit b: the row is stored in bucket b */
    uint8_t has_state, has_lock /* bits of their columns */, has_start /* bit b */, taken;
    uint8_t acknowledged;      /* bit r */
    uint8_t missed, stuck;     /* rows that a read missed; an agent has forgotten an operation */
    uint8_t overtaken;         /* rows that were put after one from beyond the next line had been taken */
    uint8_t refused, given_up; /* rows that were refused; operations that failed although all was well */
    uint8_t told, uncounted;   /* increments that agents know to be stored; rows whose increment none knows */
    uint8_t left[BUCKETS_MAX]; /* buckets that were left: 1, or 2 + its counted rows when these are too few */
    uint8_t unused;
};

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
struct answer {
    struct bk_outcome told;
    uint64_t seen; /* bit r: a read found row r */
};
struct late {
    uint32_t actions[LATE_MAX]; /* numbers + 1, in the order of their hashes */
};
struct effect {
    uint32_t store, answer;
};
/* A change of a store that is not the effect of a request. */
enum store_change {
    STORE_TAKE,
    STORE_ACKNOWLEDGE,
    STORE_MISS,
    STORE_REFUSE,
    STORE_GIVE_UP,
    STORE_COUNT,
    STORE_NOT_COUNT,
    STORE_STUCK,
    STORE_GONE,
    STORE_CHANGES
};
struct step {
    uint32_t agent, late_count;
    uint32_t late[OPERATIONS_MAX];
    uint8_t changes[STORE_CHANGES]; /* what the step tells the store; 0: nothing */
};
struct blob {
    uint64_t size, hash; /* of its checkpoint */
};

struct memo {
    _Atomic uint64_t key; /* 0: none */
    uint32_t value;
};

struct space {
    struct explore_config config;
    struct bk_row rows[EXPLORE_ROWS_MAX]; /* without their times */
    bool is_guarded, reads_are_judged, has_state, all_rows_count;
    bool has_column; /* the counter is a counter column */
    bool is_certain; /* guarded, and no outcome is unknown */
    bool is_in_turn; /* one operation follows the other, and nothing fails */
    unsigned most;   /* rows that a bucket may hold; UINT_MAX: it is not judged */
    uint32_t judged;
    struct pool agents, stores, actions, answers, lates, effects, steps, blobs;
    uint32_t *broken; /* by store */
    char *arena;      /* of checkpoints */
    size_t *places;   /* in the arena, by blob */
    size_t arena_used, arena_size;
    struct memo *memo;
    uint64_t memo_count, memo_mask;
    void *memory; /* of the agent under way */
    size_t memory_size;
    pthread_mutex_t lock;
    _Atomic uint32_t probes;
    uint32_t requests;                /* the most of an operation */
    uint64_t waits;                   /* a digest of how long agents wait, a step each */
    _Atomic bool is_full, is_crowded; /* is_crowded: the memo needs more room */
    char refusal[128];                /* the core refused a call: an error of the explorer */
};

static const struct store *store_at(const struct space *space, uint32_t number)
{
    return pool_at(&space->stores, number);
}

static const struct agent *agent_at(const struct space *space, uint32_t number)
{
    return pool_at(&space->agents, number);
}

static const struct bk_action *action_at(const struct space *space, uint32_t number)
{
    return pool_at(&space->actions, number);
}

static uint32_t kept(struct space *space, uint32_t number)
{
    if (number == NONE)
        atomic_store(&space->is_full, true);
    return number;
}

static void meet(struct space *space, enum explore_probe probe)
{
    if ((atomic_load_explicit(&space->probes, memory_order_relaxed) >> probe & 1) == 0)
        atomic_fetch_or(&space->probes, 1u << probe);
}

/* --- Guarantees: properties of a store. */
/* The bucket in which rows of the newest known time are; with three states the state names the next one
 * before. */
static int64_t newest_left(const struct space *space, const struct store *store)
{
    return store->state[BK_COLUMN_BUCKET] - (space->config.agent.coordination == BK_THREE_STATE);
}

/* What is broken, and, for one of the guarantees, what is wrong. */
struct verdict {
    uint32_t broken;
    enum lab_oracle asked;
    char *text; /* NULL: it is not wanted */
    size_t size;
};

static void breaks(struct verdict *verdict, enum lab_oracle oracle, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void breaks(struct verdict *verdict, enum lab_oracle oracle, const char *format, ...)
{
    verdict->broken |= 1u << oracle;
    if (verdict->text == NULL || verdict->asked != oracle)
        return;
    va_list values;
    va_start(values, format);
    vsnprintf(verdict->text, verdict->size, format, values);
    va_end(values);
}

/* The lowest and the highest bucket that holds a row; -1: none. */
static int lowest_bucket(uint8_t buckets)
{
    return buckets == 0 ? -1 : __builtin_ctz(buckets);
}

static int highest_bucket(uint8_t buckets)
{
    return buckets == 0 ? -1 : 31 - __builtin_clz(buckets);
}

/* Whether a line is after one time and at or before the other. */
static bool is_line_between(const struct space *space, int64_t before_ns, int64_t after_ns)
{
    const int64_t age_ns = space->config.agent.strategy.max_age_ns;
    return age_ns != 0 && before_ns / age_ns < after_ns / age_ns;
}

static void judge_row(const struct space *space, const struct store *store, unsigned x,
                      struct verdict *verdict)
{
    int low = lowest_bucket(store->buckets[x]), top = highest_bucket(store->buckets[x]);
    int newest = (int)store->state[BK_COLUMN_BUCKET];
    if (low != top)
        breaks(verdict, LAB_ORACLE_NO_DUPLICATES, "row %u is in bucket %d and in bucket %d", x, low, top);
    if (space->reads_are_judged && store->missed >> x & 1)
        breaks(verdict, LAB_ORACLE_FINDABLE,
               "row %u in bucket %d was acknowledged before a read began, which missed it", x, low);
    if (space->has_state && store->acknowledged >> x & 1 && low > newest)
        breaks(verdict, LAB_ORACLE_FINDABLE,
               "row %u is acknowledged in bucket %d, and a reader begins at bucket %d", x, low, newest);
    if (store->buckets[x] != 0 && store->refused >> x & 1)
        breaks(verdict, LAB_ORACLE_CONSERVED, "row %u was refused, and is in bucket %d", x, low);
    if (store->buckets[x] == 0 && store->acknowledged >> x & 1)
        breaks(verdict, LAB_ORACLE_CONSERVED, "row %u was acknowledged, and is in no bucket", x);
    for (unsigned y = 0; y < space->config.rows; y++) {
        int below = lowest_bucket(store->buckets[y]);
        if (store->buckets[x] & store->buckets[y] && (store->overtaken >> x & 1) == 0 &&
            is_line_between(space, store->times[x], store->times[y]))
            breaks(verdict, LAB_ORACLE_LINES, "rows %u and %u are in bucket %d, and a line is between them",
                   x, y, low);
        if (below < 0 || below >= top || store->times[y] < store->times[x])
            continue;
        bool is_later = store->times[y] > store->times[x];
        static const char *const format = "row %u is in bucket %d, and row %u, which is %s, in bucket %d";
        if (is_later)
            breaks(verdict, LAB_ORACLE_NEWEST, format, x, top, y, "later", below);
        breaks(verdict, LAB_ORACLE_MONOTONE, format, x, top, y, is_later ? "later" : "of the same time",
               below);
    }
}

static void judge(const struct space *space, const struct store *store, struct verdict *verdict)
{
    for (unsigned x = 0; x < space->config.rows; x++)
        judge_row(space, store, x, verdict);
    for (unsigned bucket = 0; (int64_t)bucket < newest_left(space, store) && bucket < BUCKETS_MAX; bucket++) {
        bool is_empty = true;
        for (unsigned r = 0; r < space->config.rows; r++)
            is_empty = is_empty && (store->buckets[r] >> bucket & 1) == 0;
        if (is_empty)
            breaks(verdict, LAB_ORACLE_NO_GAPS, "bucket %u has no row, and the state names bucket %d", bucket,
                   (int)store->state[BK_COLUMN_BUCKET]);
    }
    for (unsigned bucket = 0; bucket < BUCKETS_MAX; bucket++) {
        unsigned rows = 0;
        if (store->left[bucket] > 1)
            breaks(verdict, LAB_ORACLE_FILLED, "bucket %u was left with only %u counted rows", bucket,
                   store->left[bucket] - 2u);
        for (unsigned r = 0; r < space->config.rows; r++)
            rows += store->buckets[r] >> bucket & (space->all_rows_count || space->config.fires >> r & 1);
        if (rows > space->most)
            breaks(verdict, LAB_ORACLE_BOUNDED, "bucket %u has %u rows, not %u", bucket, rows, space->most);
    }
    unsigned added = 0;
    for (unsigned bucket = 0; bucket < BUCKETS_MAX; bucket++)
        added += store->counters[bucket];
    if (space->has_column && store->told > added)
        breaks(verdict, LAB_ORACLE_CONSERVED, "%u increments are known to be stored, and there are %u",
               store->told, added);
    if (space->is_certain && store->uncounted != 0)
        breaks(verdict, LAB_ORACLE_CONSERVED, "row %d is not known to be counted, and no outcome was unknown",
               lowest_bucket(store->uncounted));
    if (store->given_up != 0)
        breaks(verdict, LAB_ORACLE_AVAILABLE,
               "an operation failed although its requests may be tried %u times",
               space->config.agent.retries + 1);
    if (store->stuck)
        breaks(verdict, LAB_ORACLE_AVAILABLE,
               "an operation never ends: it waits for nothing, or makes more than %u requests", REQUESTS_MAX);
}

static uint32_t put_store(struct space *space, const struct store *store)
{
    uint32_t number = kept(space, pool_put(&space->stores, store, hash_of(store, sizeof *store)));
    struct verdict verdict = {.text = NULL};
    judge(space, store, &verdict);
    if (number != NONE)
        space->broken[number] = verdict.broken & space->judged;
    return number;
}

/* --- Effects of requests on a store. */
/* mask: the columns that the row has. */
static bool holds(const int64_t *row, unsigned mask, const struct bk_action *action)
{
    if (action->if_mask == 0 || mask == 0)
        return action->if_mask == 0 && mask == 0;
    for (unsigned i = 0; i < BK_COLUMNS; i++) {
        bool must_be_null = action->if_null_mask >> i & 1, is_null = (mask >> i & 1) == 0;
        if ((action->if_mask >> i & 1) &&
            (must_be_null != is_null || (!is_null && row[i] != action->expected[i])))
            return false;
    }
    return true;
}

/* The rows that fill a bucket, by the settings of the rows that were taken: none if it has a row from before
 * a line, and one from beyond it was taken. */
static unsigned rows_that_fill(const struct space *space, const struct store *store, unsigned bucket)
{
    const unsigned rows = (unsigned)space->config.threshold, then = (unsigned)space->config.then;
    bool is_changed = false, is_empty = true;
    for (unsigned y = 0; y < store->taken; y++) {
        is_changed = is_changed || store->times[y] > EXPLORE_FIRST_NS;
        is_empty = is_empty && (store->buckets[y] >> bucket & 1) == 0;
        for (unsigned x = 0; x < store->taken; x++)
            if (store->buckets[x] >> bucket & 1 && is_line_between(space, store->times[x], store->times[y]))
                return 0;
    }
    if (is_empty && space->config.agent.strategy.max_age_ns != 0)
        return 0;
    return is_changed && then != 0 && then < rows ? then : rows;
}

/* The buckets below are left: of count all of their rows count, else the acknowledged ones that fired. */
static void leave(const struct space *space, struct store *store, int64_t below)
{
    for (unsigned b = 0; (int64_t)b < below && b < BUCKETS_MAX; b++) {
        unsigned rows = 0;
        if (store->left[b] != 0)
            continue;
        for (unsigned r = 0; r < space->config.rows; r++)
            rows += store->buckets[r] >> b &
                    (space->all_rows_count || ((space->config.fires & store->acknowledged) >> r & 1));
        store->left[b] = (uint8_t)(rows < rows_that_fill(space, store, b) ? 2 + rows : 1);
    }
}

static void write_state(const struct space *space, struct store *store, const struct bk_action *action)
{
    for (unsigned i = 0; i < BK_COLUMNS; i++)
        if (action->mask >> i & 1)
            store->state[i] = action->columns[i];
    store->has_state |= (uint8_t)action->mask;
    /* The state of numbers names the bucket of the last one that was given. */
    if (!space->all_rows_count || space->config.agent.source >= BK_SOURCE_INCREMENTAL)
        leave(space, store, newest_left(space, store));
}

static void compare_and_set(struct space *space, struct store *store, const struct bk_action *action,
                            struct answer *answer)
{
    bool is_lock = action->kind == BK_ACT_CAS_LOCK;
    const unsigned mask = is_lock ? store->has_lock : store->has_state;
    const int64_t *row = is_lock ? store->lock : store->state;
    if (!holds(row, mask, action)) {
        answer->told.kind = BK_OUTCOME_NOT_APPLIED;
        answer->told.mask = mask;
        memcpy(answer->told.columns, row, is_lock ? sizeof store->lock : sizeof store->state);
        meet(space, EXPLORE_PROBE_RACED);
    } else if (is_lock) {
        memcpy(store->lock, action->columns, sizeof store->lock);
        store->has_lock = 3;
    } else {
        write_state(space, store, action);
    }
}

static bool is_in_range(const struct bk_read_step *step, int64_t time_ns)
{
    return time_ns >= step->from_ns && time_ns < step->until_ns;
}

static void read_rows(struct space *space, const struct store *store, const struct bk_read_step *step,
                      struct answer *answer)
{
    for (int64_t bucket = step->bucket_low; bucket <= step->bucket_high; bucket++) {
        unsigned found = 0;
        for (unsigned r = 0; r < space->config.rows && bucket < (int64_t)BUCKETS_MAX; r++) {
            if ((store->buckets[r] >> bucket & 1) == 0)
                continue;
            found++;
            answer->told.saw_older |= store->times[r] < step->from_ns;
            if (!is_in_range(step, store->times[r]))
                continue;
            answer->told.rows++;
            answer->seen |= UINT64_C(1) << r;
        }
        if (found == 0 && bucket - step->bucket_low < 64)
            answer->told.empty |= UINT64_C(1) << (bucket - step->bucket_low);
    }
    if (answer->seen != 0)
        meet(space, EXPLORE_PROBE_READ);
}

/* Rows are counted after a place, in the order of time and then id, as the clustering order has them. */
static void count_rows(const struct space *space, const struct store *store, const struct bk_action *action,
                       struct bk_outcome *told)
{
    const int64_t *after = action->columns;
    for (unsigned r = 0; r < space->config.rows; r++) {
        int64_t time_ns = store->times[r], id = (int64_t)space->rows[r].id;
        bool is_here = action->bucket < (int64_t)BUCKETS_MAX && store->buckets[r] >> action->bucket & 1;
        bool is_after = action->mask == 0 || time_ns > after[BK_PLACE_TIME] ||
                        (time_ns == after[BK_PLACE_TIME] && id > after[BK_PLACE_ID]);
        if (!is_here || !is_after)
            continue;
        bool is_last = told->rows == 0 || time_ns > told->columns[BK_PLACE_TIME] ||
                       (time_ns == told->columns[BK_PLACE_TIME] && id > told->columns[BK_PLACE_ID]);
        told->rows++;
        told->mask = 3;
        if (is_last) {
            told->columns[BK_PLACE_TIME] = time_ns;
            told->columns[BK_PLACE_ID] = id;
        }
    }
}

static void perform(struct space *space, struct store *store, const struct bk_action *action,
                    struct answer *answer)
{
    struct bk_outcome *told = &answer->told;
    size_t bucket = (size_t)action->bucket < BUCKETS_MAX ? (size_t)action->bucket : BUCKETS_MAX - 1;
    size_t counter = space->is_guarded ? bucket : 0;
    told->kind = BK_OUTCOME_APPLIED;
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        for (unsigned r = 0; r < store->taken && store->buckets[action->row.sequence] == 0; r++)
            if (is_line_between(space, action->row.time_ns, store->times[r]))
                store->overtaken |= (uint8_t)(1u << action->row.sequence);
        store->buckets[action->row.sequence] |= (uint8_t)(1u << bucket);
        if (space->is_in_turn)
            leave(space, store, action->bucket);
        break;
    case BK_ACT_READ_STATE:
        told->mask = store->has_state;
        memcpy(told->columns, store->state, sizeof store->state);
        break;
    case BK_ACT_WRITE_STATE:
        write_state(space, store, action);
        break;
    case BK_ACT_CAS_STATE:
    case BK_ACT_CAS_LOCK:
        compare_and_set(space, store, action, answer);
        break;
    case BK_ACT_ADD_COUNTER:
        store->counters[counter] += (uint8_t)action->amount;
        break;
    case BK_ACT_READ_COUNTER:
        told->counter = store->counters[counter];
        break;
    case BK_ACT_READ_START:
        told->mask = store->has_start >> bucket & 1;
        told->columns[0] = told->mask ? store->starts[bucket] : 0;
        break;
    case BK_ACT_WRITE_START:
        store->starts[bucket] = action->columns[0];
        store->has_start |= (uint8_t)(1u << bucket);
        break;
    case BK_ACT_COUNT_ROWS:
        count_rows(space, store, action, told);
        break;
    case BK_ACT_READ_ROWS:
        read_rows(space, store, &action->step, answer);
        break;
    case BK_ACT_ACK:
    case BK_ACT_DONE:
        break;
    }
    if (store->state[BK_COLUMN_BUCKET] > 0 || (action->kind == BK_ACT_PUT_ROW && bucket > 0))
        meet(space, EXPLORE_PROBE_ROLLED);
}

static bool changes_state(enum bk_action_kind kind)
{
    return kind == BK_ACT_WRITE_STATE || kind == BK_ACT_CAS_STATE;
}

static bool has_effect(enum bk_action_kind kind)
{
    return changes_state(kind) || kind == BK_ACT_PUT_ROW || kind == BK_ACT_ADD_COUNTER ||
           kind == BK_ACT_WRITE_START || kind == BK_ACT_CAS_LOCK;
}

/* --- The memo. */
enum memo_kind { MEMO_EFFECT = 1, MEMO_STORE, MEMO_STEP };

static uint64_t memo_key(enum memo_kind kind, uint32_t of, uint32_t what)
{
    return (uint64_t)kind << 62 | (uint64_t)of << 32 | what;
}

static uint32_t memo_find(const struct space *space, uint64_t key, uint64_t *slot)
{
    uint64_t at = sim_mix64(key) & space->memo_mask;
    for (;; at = (at + 1) & space->memo_mask) {
        uint64_t found = atomic_load_explicit(&space->memo[at].key, memory_order_acquire);
        if (found == 0 || found == key) {
            *slot = at;
            return found == 0 ? NONE : space->memo[at].value;
        }
    }
}

static void memo_add(struct space *space, uint64_t slot, uint64_t key, uint32_t value)
{
    if (++space->memo_count > space->memo_mask / 4 * 3)
        atomic_store(&space->is_crowded, true);
    space->memo[slot].value = value;
    atomic_store_explicit(&space->memo[slot].key, key, memory_order_release);
}

bool explore_make_room(struct space *space)
{
    if (!atomic_load(&space->is_crowded))
        return false;
    struct memo *before = space->memo, *memo = sim_memory_zeroed(4 * (space->memo_mask + 1) * sizeof *memo);
    atomic_store(&space->is_full, memo == NULL);
    atomic_store(&space->is_crowded, false);
    if (memo == NULL)
        return false;
    const uint64_t count = space->memo_mask + 1;
    space->memo = memo;
    space->memo_mask = 4 * count - 1;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at, key = atomic_load(&before[i].key);
        if (key == 0)
            continue;
        memo_find(space, key, &at);
        memo[at].value = before[i].value;
        atomic_store(&memo[at].key, key);
    }
    free(before);
    return true;
}

static uint32_t compute_effect(struct space *space, uint32_t number, uint32_t request)
{
    struct store store = *store_at(space, number);
    struct answer answer;
    memset(&answer, 0, sizeof answer);
    perform(space, &store, action_at(space, request), &answer);
    struct effect effect = {put_store(space, &store),
                            kept(space, pool_put(&space->answers, &answer, hash_of(&answer, sizeof answer)))};
    return kept(space, pool_put(&space->effects, &effect, hash_of(&effect, sizeof effect)));
}

static uint32_t compute_store(struct space *space, uint32_t number, uint32_t what)
{
    struct store store = *store_at(space, number);
    uint8_t value = (uint8_t)(what & 255);
    switch ((enum store_change)(what >> 8)) {
    case STORE_TAKE:
        store.times[store.taken++] = (int64_t)value * EXPLORE_TICK_NS;
        break;
    case STORE_ACKNOWLEDGE:
        store.acknowledged |= value;
        break;
    case STORE_MISS:
        store.missed |= value;
        break;
    case STORE_REFUSE:
        store.refused |= value;
        break;
    case STORE_GIVE_UP:
        store.given_up = 1;
        break;
    case STORE_COUNT:
        store.told += value;
        break;
    case STORE_NOT_COUNT:
        store.uncounted |= value;
        break;
    case STORE_GONE:
        store.has_state = 0;
        memset(store.state, 0, sizeof store.state);
        break;
    case STORE_STUCK:
        store.stuck = 1;
        break;
    case STORE_CHANGES:
        break;
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

static void abandon(const struct space *space, struct slot *slot, struct step *step)
{
    bool is_late = slot->phase == ASKED && has_effect(action_at(space, slot->action)->kind) &&
                   space->config.may >> EXPLORE_LATE & 1;
    if (is_late)
        step->late[step->late_count++] = slot->action;
    slot->phase = IDLE;
}

static void end_operation(const struct space *space, struct slot *slot, const struct bk_action *action,
                          uint8_t *changes)
{
    const uint8_t row = (uint8_t)(1u << slot->number);
    changes[STORE_GIVE_UP] |= action->status != BK_OPERATION_OK;
    if (slot->is_read && action->status == BK_OPERATION_OK)
        changes[STORE_MISS] |= slot->must & (uint8_t)~slot->seen;
    if (!slot->is_read && action->status == BK_OPERATION_REFUSED)
        changes[STORE_REFUSE] |= row;
    if (!slot->is_read && action->fired && action->status == BK_OPERATION_OK) {
        if (space->has_column && action->counted)
            changes[STORE_COUNT]++;
        if (space->is_certain && !action->counted)
            changes[STORE_NOT_COUNT] |= row;
    }
    memset(slot, 0, sizeof *slot);
}

/* Takes all actions. Returns false when a pool is full. */
static bool take_actions(struct space *space, struct bk_agent *core, struct agent *agent, struct step *step)
{
    struct bk_action action;
    memset(&action, 0, sizeof action);
    while (bk_agent_next(core, &action)) {
        struct slot *slot = &agent->slots[action.operation];
        if (action.kind == BK_ACT_ACK)
            step->changes[STORE_ACKNOWLEDGE] |= (uint8_t)(1u << slot->number);
        else if (action.kind == BK_ACT_DONE)
            end_operation(space, slot, &action, step->changes);
        if (action.kind == BK_ACT_ACK || action.kind == BK_ACT_DONE)
            continue;
        action.operation = 0;
        action.ticket = 0;
        slot->action = kept(space, pool_put(&space->actions, &action, hash_of(&action, sizeof action)));
        slot->phase = ASKED;
        slot->outcome = 0;
        step->changes[STORE_STUCK] |= ++slot->requests > REQUESTS_MAX;
        if (slot->requests > space->requests)
            space->requests = slot->requests;
    }
    return !atomic_load(&space->is_full);
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
            hash = sim_mix64(hash + space->actions.hashes[slot->action] + i);
        if (slot->phase == ANSWERED)
            hash = sim_mix64(hash + space->answers.hashes[slot->outcome]);
        slot->action = slot->outcome = 0;
    }
    return sim_mix64(hash_of(&bare, sizeof bare) ^ space->blobs.hashes[agent->checkpoint] ^ hash);
}

static bool refuse(struct space *space, const char *call, enum bk_status status)
{
    if (status == BK_OK)
        return true;
    snprintf(space->refusal, sizeof space->refusal, "%s answers: %s", call, bk_status_text(status));
    atomic_store(&space->is_full, true);
    return false;
}

static uint32_t put_agent(struct space *space, struct bk_agent *core, struct agent *agent)
{
    bk_agent_forget_tickets(core);
    size_t size = bk_agent_state_size(core);
    if (!sim_grow(&space->arena, &space->arena_size, space->arena_used + size, 1))
        return kept(space, NONE);
    char *at = space->arena + space->arena_used;
    bk_agent_save(core, at, size);
    struct blob blob = {size, hash_of(at, size)};
    uint32_t before = space->blobs.count;
    agent->checkpoint = kept(space, pool_put(&space->blobs, &blob, blob.hash));
    if (agent->checkpoint == NONE)
        return NONE;
    if (space->blobs.count > before) {
        space->places[before] = space->arena_used;
        space->arena_used += size;
    } else if (memcmp(space->arena + space->places[agent->checkpoint], at, size) != 0) {
        refuse(space, "two checkpoints have the same hash", BK_ERROR_CHECKPOINT);
        return NONE;
    }
    agent->deadline_ns = bk_agent_deadline(core);
    return kept(space, pool_put(&space->agents, agent, hash_agent(space, agent)));
}

/* The time of a row that an agent takes. */
static int64_t row_time(const struct space *space, uint32_t row, int64_t now_ns)
{
    if (row + 1 < space->config.rows || space->config.last_row == EXPLORE_ROW_NOW)
        return now_ns;
    return space->config.last_row == EXPLORE_ROW_OLD ? EXPLORE_FIRST_NS : now_ns + EXPLORE_TICK_NS;
}

static bool begin(struct space *space, struct bk_agent *core, struct agent *agent, bool is_read,
                  uint32_t number, int64_t now_ns)
{
    uint32_t operation;
    struct bk_row row = space->rows[number & 15];
    row.time_ns = row_time(space, number & 15, now_ns);
    enum bk_status status = is_read ? bk_agent_read_latest(core, now_ns, KEY, EXPLORE_TICK_NS, number >> 16,
                                                           EXPLORE_ROWS_MAX + 1, BK_PLAN_DEFAULT, &operation)
                                    : bk_agent_write(core, now_ns, KEY, &row, &operation);
    if (!refuse(space, is_read ? "bk_agent_read_latest()" : "bk_agent_write()", status))
        return false;
    agent->slots[operation] = (struct slot){
        .is_used = true, .is_read = is_read, .number = number & 15, .must = is_read ? number >> 4 & 255 : 0};
    return true;
}

/* Reports the outcome of a request to the agent. */
static bool report(struct space *space, struct bk_agent *core, struct slot *slot, unsigned operation,
                   enum explore_move_kind kind, int64_t now_ns, struct step *step)
{
    struct bk_outcome outcome = {.kind = kind == EXPLORE_REFUSE ? BK_OUTCOME_REFUSED : BK_OUTCOME_UNKNOWN};
    if (kind == EXPLORE_ANSWER) {
        const struct answer *answer = pool_at(&space->answers, slot->outcome);
        outcome = answer->told;
        slot->seen |= slot->is_read ? (uint8_t)answer->seen : 0;
    }
    if (kind == EXPLORE_GIVE_UP)
        abandon(space, slot, step);
    slot->phase = IDLE;
    slot->action = slot->outcome = 0;
    return refuse(space, "bk_agent_report()", bk_agent_report(core, now_ns, operation + 1, &outcome));
}

static bool happen(struct space *space, struct bk_agent *core, struct agent *agent, uint32_t event,
                   struct step *step)
{
    enum explore_move_kind kind = (enum explore_move_kind)(event >> 28);
    unsigned operation = event >> 22 & 3;
    int64_t now_ns = clock_of(agent, event >> 24 & 15);
    if (kind == EXPLORE_WRITE || kind == EXPLORE_READ)
        return begin(space, core, agent, kind == EXPLORE_READ, event & ((1u << 22) - 1), now_ns);
    if (kind == EXPLORE_WAKE)
        return refuse(space, "bk_agent_tick()", bk_agent_tick(core, now_ns));
    if (kind != EXPLORE_DIES)
        return report(space, core, &agent->slots[operation], operation, kind, now_ns, step);
    for (unsigned i = 0; i < OPERATIONS_MAX; i++) {
        abandon(space, &agent->slots[i], step);
        memset(&agent->slots[i], 0, sizeof agent->slots[i]);
    }
    return true;
}

static struct bk_agent *load(struct space *space, const struct agent *agent)
{
    const struct blob *blob = pool_at(&space->blobs, agent->checkpoint);
    struct bk_agent *core = NULL;
    refuse(space, "bk_agent_load()",
           bk_agent_load(space->memory, space->memory_size, &space->config.agent,
                         space->arena + space->places[agent->checkpoint], blob->size, &core));
    return core;
}

static uint32_t compute_step(struct space *space, uint32_t number, uint32_t event)
{
    struct agent agent = *agent_at(space, number);
    struct step step;
    memset(&step, 0, sizeof step);
    if (event >> 28 == EXPLORE_EFFECT) {
        struct slot *slot = &agent.slots[event >> 22 & 3];
        slot->phase = ANSWERED;
        slot->outcome = event & ((1u << 22) - 1);
        step.agent = kept(space, pool_put(&space->agents, &agent, hash_agent(space, &agent)));
    } else {
        struct bk_agent *core = NULL;
        if (event >> 28 == EXPLORE_DIES)
            refuse(space, "bk_agent_init()",
                   bk_agent_init(space->memory, space->memory_size, &space->config.agent, &core));
        else
            core = load(space, &agent);
        if (core == NULL || !happen(space, core, &agent, event, &step) ||
            !take_actions(space, core, &agent, &step))
            return NONE;
        step.agent = put_agent(space, core, &agent);
        step.changes[STORE_STUCK] |= step.agent != NONE && is_stuck(agent_at(space, step.agent));
        space->waits += sim_mix64((uint64_t)(agent.deadline_ns - clock_of(&agent, event >> 24 & 15)));
    }
    return kept(space, pool_put(&space->steps, &step, hash_of(&step, sizeof step)));
}

/* Looks a change up, or computes it. */
static uint32_t change(struct space *space, enum memo_kind kind, uint32_t of, uint32_t what)
{
    uint64_t slot, key = memo_key(kind, of, what);
    uint32_t found = of == NONE ? NONE : memo_find(space, key, &slot);
    if (found != NONE || of == NONE)
        return found;
    pthread_mutex_lock(&space->lock);
    found = memo_find(space, key, &slot);
    if (found == NONE && !atomic_load(&space->is_full) && !atomic_load(&space->is_crowded)) {
        found = kind == MEMO_EFFECT  ? compute_effect(space, of, what)
                : kind == MEMO_STORE ? compute_store(space, of, what)
                                     : compute_step(space, of, what);
        if (found != NONE)
            memo_add(space, slot, key, found);
    }
    pthread_mutex_unlock(&space->lock);
    return found;
}

/* --- States and their moves. */
static uint64_t hash_at(const struct space *space, uint32_t agent)
{
    return space->agents.hashes[agent];
}

/* Puts agent `at`, which has changed, back in order. */
static void sort_agent(const struct space *space, struct world *world, unsigned at)
{
    uint32_t agent = world->agents[at];
    uint64_t hash = hash_at(space, agent);
    for (; at > 0 && hash_at(space, world->agents[at - 1]) > hash; at--)
        world->agents[at] = world->agents[at - 1];
    for (; at + 1 < space->config.agents && hash_at(space, world->agents[at + 1]) < hash; at++)
        world->agents[at] = world->agents[at + 1];
    world->agents[at] = agent;
}

uint64_t explore_fingerprint(const struct space *space, const struct world *world)
{
    uint64_t hash = (uint64_t)world->tick << 16 | (uint64_t)world->reads << 8 | world->faults;
    hash = sim_mix64(hash ^ space->stores.hashes[world->store]);
    hash = sim_mix64(hash ^ space->lates.hashes[world->late]);
    for (unsigned i = 0; i < space->config.agents; i++)
        hash = sim_mix64(hash ^ hash_at(space, world->agents[i]));
    return hash | (hash == 0);
}

/* Whether no operation is under way. */
static bool is_idle(const struct space *space, const struct world *world)
{
    for (unsigned i = 0; i < space->config.agents; i++)
        for (unsigned j = 0; j < OPERATIONS_MAX; j++)
            if (agent_at(space, world->agents[i])->slots[j].is_used)
                return false;
    return true;
}

/* Whether the lock is held although nothing failed and no operation is under way. */
static bool is_lock_left(const struct space *space, const struct world *world)
{
    const struct store *store = store_at(space, world->store);
    return store->has_lock && store->lock[BK_LOCK_OWNER] != 0 && world->faults == 0 && is_idle(space, world);
}

uint32_t explore_broken(const struct space *space, const struct world *world)
{
    return space->broken[world->store] | (uint32_t)is_lock_left(space, world) << LAB_ORACLE_AVAILABLE;
}

static void add_late(struct space *space, struct world *world, const uint32_t *actions, unsigned count)
{
    struct late late = *(const struct late *)pool_at(&space->lates, world->late);
    for (unsigned i = 0; i < count; i++) {
        uint32_t moved = actions[i] + 1;
        for (unsigned at = 0; at < LATE_MAX && moved != 0; at++) {
            bool is_before = late.actions[at] == 0 ||
                             space->actions.hashes[moved - 1] < space->actions.hashes[late.actions[at] - 1];
            uint32_t there = late.actions[at];
            if (is_before) {
                late.actions[at] = moved;
                moved = there;
            }
        }
        kept(space, moved != 0 ? NONE : 0);
    }
    uint64_t hash = 1;
    for (unsigned at = 0; at < LATE_MAX && late.actions[at] != 0; at++)
        hash = sim_mix64(hash + space->actions.hashes[late.actions[at] - 1]);
    pthread_mutex_lock(&space->lock);
    world->late = kept(space, pool_put(&space->lates, &late, hash));
    pthread_mutex_unlock(&space->lock);
}

struct moves {
    struct space *space;
    const struct world *from;
    struct move *out;
    size_t count;
};

static void change_store(struct space *space, struct world *world, enum store_change kind, uint32_t value)
{
    world->store = change(space, MEMO_STORE, world->store, (uint32_t)kind << 8 | value);
}

/* Adds the move in which something happens to agent `at`. A full pool shows at the end. */
static struct move *add_move(struct moves *moves, enum explore_move_kind kind, unsigned at,
                             unsigned operation, uint32_t number)
{
    struct space *space = moves->space;
    struct move *move = &moves->out[moves->count++];
    *move = (struct move){
        .kind = kind, .agent = (uint8_t)at, .operation = (uint8_t)operation, .to = *moves->from};
    struct world *to = &move->to;
    move->action = agent_at(space, to->agents[at])->slots[operation].action;
    uint32_t found = change(space, MEMO_STEP, to->agents[at], event_of(kind, to->tick, operation, number));
    if (found == NONE)
        return move;
    const struct step *step = pool_at(&space->steps, found);
    to->agents[at] = step->agent;
    to->faults =
        (uint8_t)(to->faults + (kind == EXPLORE_GIVE_UP || kind == EXPLORE_REFUSE || kind == EXPLORE_DIES));
    const bool may_fail = to->faults > space->config.agent.retries;
    for (unsigned i = 0; i < STORE_CHANGES; i++)
        if (step->changes[i] != 0 && !(may_fail && (i == STORE_GIVE_UP || i == STORE_NOT_COUNT)))
            change_store(space, to, (enum store_change)i, step->changes[i]);
    if (step->late_count > 0)
        add_late(space, to, step->late, step->late_count);
    sort_agent(space, to, at);
    return move;
}

/* Whether another agent has a change of the state under way. */
static bool is_contended(const struct space *space, const struct world *world, unsigned at)
{
    for (unsigned i = 0; i < space->config.agents; i++)
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
    const struct explore_config *config = &space->config;
    const struct slot *slot = &agent_at(space, moves->from->agents[at])->slots[operation];
    enum bk_action_kind kind = action_at(space, slot->action)->kind;
    bool is_asked = slot->phase == ASKED, may_fail = moves->from->faults < config->faults;
    if (is_asked) {
        uint32_t number = change(space, MEMO_EFFECT, moves->from->store, slot->action);
        if (number == NONE)
            return;
        const struct effect *effect = pool_at(&space->effects, number);
        add_move(moves, EXPLORE_EFFECT, at, operation, effect->answer)->to.store = effect->store;
        if (changes_state(kind) && is_contended(space, moves->from, at))
            meet(space, EXPLORE_PROBE_RACED);
    } else {
        add_move(moves, EXPLORE_ANSWER, at, operation, 0);
    }
    uint32_t gives_up = is_asked           ? 1u << EXPLORE_LOST | 1u << EXPLORE_LATE
                        : has_effect(kind) ? 1u << EXPLORE_UNKNOWN
                                           : 0;
    if (may_fail && (config->may & gives_up) != 0) {
        struct move *move = add_move(moves, EXPLORE_GIVE_UP, at, operation, 0);
        move->is_late = is_asked && has_effect(kind) && config->may >> EXPLORE_LATE & 1;
    }
    if (may_fail && is_asked && config->may >> EXPLORE_REFUSED & 1)
        add_move(moves, EXPLORE_REFUSE, at, operation, 0);
}

static void move_agent(struct moves *moves, unsigned at)
{
    struct space *space = moves->space;
    const struct explore_config *config = &space->config;
    const struct world *from = moves->from;
    const struct agent *agent = agent_at(space, from->agents[at]);
    const struct store *store = store_at(space, from->store);
    int64_t now_ns = clock_of(agent, from->tick);
    unsigned used = 0;
    for (unsigned i = 0; i < OPERATIONS_MAX; i++) {
        used += agent->slots[i].is_used;
        if (agent->slots[i].phase != IDLE)
            move_request(moves, at, i);
    }
    if (used < config->agent.operations && store->taken < config->rows) {
        struct move *move = add_move(moves, EXPLORE_WRITE, at, 0, store->taken);
        move->row = store->taken;
        change_store(space, &move->to, STORE_TAKE,
                     (uint32_t)(row_time(space, store->taken, now_ns) / EXPLORE_TICK_NS));
    }
    if (used < config->agent.operations && from->reads < config->reads && store->taken > 0) {
        uint32_t number = from->reads | (uint32_t)store->acknowledged << 4 | (store->taken - 1u) << 16;
        struct move *move = add_move(moves, EXPLORE_READ, at, 0, number);
        move->row = from->reads;
        move->to.reads++;
    }
    if (agent->deadline_ns <= now_ns)
        add_move(moves, EXPLORE_WAKE, at, 0, 0);
    if (used > 0 && (config->may >> EXPLORE_CRASH & 1) && from->faults < config->faults) {
        add_move(moves, EXPLORE_DIES, at, 0, 0);
        meet(space, EXPLORE_PROBE_CRASHED);
    }
}

static void move_late(struct moves *moves)
{
    struct space *space = moves->space;
    struct late late = *(const struct late *)pool_at(&space->lates, moves->from->late);
    for (unsigned at = 0; at < LATE_MAX && late.actions[at] != 0; at++) {
        uint32_t rest[LATE_MAX], count = 0, action = late.actions[at] - 1;
        for (unsigned i = 0; i < LATE_MAX && late.actions[i] != 0; i++)
            if (i != at)
                rest[count++] = late.actions[i] - 1;
        uint32_t number = change(space, MEMO_EFFECT, moves->from->store, action);
        if (number == NONE)
            return;
        struct move *move = &moves->out[moves->count++];
        *move = (struct move){
            .kind = EXPLORE_LATE_EFFECT, .operation = (uint8_t)at, .action = action, .to = *moves->from};
        move->to.store = ((const struct effect *)pool_at(&space->effects, number))->store;
        move->to.late = 0;
        add_late(space, &move->to, rest, count);
        meet(space, EXPLORE_PROBE_TOOK_LATE);
    }
}

static bool is_unsettled(const struct space *space, const struct world *world)
{
    return store_at(space, world->store)->taken < space->config.rows || world->late != 0 ||
           world->reads < space->config.reads || !is_idle(space, world);
}

/* Whether an agent has an answer to hear or a wait that is over: it acts before time passes, unless it is
 * paused. */
static bool keeps_waiting(const struct space *space, const struct world *world)
{
    for (unsigned i = 0; i < space->config.agents; i++) {
        const struct agent *agent = agent_at(space, world->agents[i]);
        if (agent->deadline_ns <= clock_of(agent, world->tick))
            return true;
        for (unsigned j = 0; j < OPERATIONS_MAX; j++)
            if (agent->slots[j].phase == ANSWERED)
                return true;
    }
    return false;
}

/* Partial order. When an agent with one operation has an answer to hear, all it can do is to hear it, to hear
 * that its outcome is unknown, or to crash. If none of these changes the store, no other agent sees which it
 * was, or when: nothing that others do depends on it, and time does not pass before it. So each path that
 * does something else first leads to the same state as one that does this first, with the same stores in
 * between, and only the agent's moves are tried. What follows an answer is a request, so no circle of states
 * consists of such moves only. Returns whether these are all moves. */
static bool moves_alone(struct moves *moves)
{
    struct space *space = moves->space;
    const struct world *from = moves->from;
    bool may = space->config.agent.operations == 1 && (space->config.may >> EXPLORE_PAUSE & 1) == 0;
    for (unsigned at = 0; at < space->config.agents && may; at++) {
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

static void move_all(struct moves *moves)
{
    struct space *space = moves->space;
    const struct world *from = moves->from;
    for (unsigned at = 0; at < space->config.agents; at++)
        if (at == 0 || from->agents[at] != from->agents[at - 1]) /* equal agents do the same */
            move_agent(moves, at);
    move_late(moves);
    if (space->config.may >> EXPLORE_GONE & 1 && from->faults < space->config.faults &&
        store_at(space, from->store)->has_state) {
        struct move *move = &moves->out[moves->count++];
        *move = (struct move){.kind = EXPLORE_STATE_GONE, .to = *from};
        move->to.faults++;
        change_store(space, &move->to, STORE_GONE, 0);
    }
    bool is_pause = keeps_waiting(space, from);
    bool may_pause = space->config.may >> EXPLORE_PAUSE & 1 && from->faults < space->config.faults;
    if (from->tick < space->config.ticks && is_unsettled(space, from) && (!is_pause || may_pause)) {
        struct move *move = &moves->out[moves->count++];
        *move = (struct move){.kind = EXPLORE_TICK, .to = *from};
        move->to.tick++;
        move->to.faults += is_pause;
    }
}

size_t explore_moves(struct space *space, const struct world *from, bool is_whole, struct move *out)
{
    struct moves moves = {space, from, out, 0};
    if (is_whole || !moves_alone(&moves))
        move_all(&moves);
    bool must_stop = atomic_load_explicit(&space->is_full, memory_order_relaxed) ||
                     atomic_load_explicit(&space->is_crowded, memory_order_relaxed);
    return must_stop ? SIZE_MAX : moves.count;
}

/* --- Making a world. */
/* Guarantees that a world can judge, by the definitions of docs/oracles.md; each applies to a protocol if the
 * lab judges it there. */
static uint32_t judged_by(const struct explore_config *world)
{
    const struct bk_agent_config *config = &world->agent;
    uint32_t judged = 1u << LAB_ORACLE_NO_DUPLICATES | 1u << LAB_ORACLE_FINDABLE |
                      1u << LAB_ORACLE_AVAILABLE | 1u << LAB_ORACLE_CONSERVED;
    bool is_ordered = bk_kind_fires(config->strategy.kind);
    if (is_ordered)
        judged |= 1u << LAB_ORACLE_NEWEST | 1u << LAB_ORACLE_MONOTONE;
    if (is_ordered || config->source >= BK_SOURCE_INCREMENTAL)
        judged |= 1u << LAB_ORACLE_FILLED |
                  (config->strategy.max_age_ns == 0 ? 1u << LAB_ORACLE_NO_GAPS : 1u << LAB_ORACLE_LINES);
    /* A writer that counts in memory counts a row when it places it, stored or not. */
    if (config->strategy.kind == BK_KIND_COUNT && config->source == BK_SOURCE_MEMORY &&
        (config->operations > 1 || world->faults > config->retries))
        judged &= ~(1u << LAB_ORACLE_FILLED | 1u << LAB_ORACLE_NO_GAPS);
    return judged;
}

static bool is_in_turn(const struct explore_config *config)
{
    return config->agents * config->agent.operations == 1 && config->faults == 0;
}

/* Whether no bucket gets more rows than fill it: with conditional numbers always; with a counter's numbers
 * where one operation follows the other and nothing is unknown; else where nothing fails, too. */
static bool is_bounded(const struct explore_config *config)
{
    const struct bk_agent_config *agent = &config->agent;
    const bool is_count = agent->strategy.kind == BK_KIND_COUNT;
    const bool is_numbered = is_count && (agent->source == BK_SOURCE_LWT || agent->source == BK_SOURCE_LEASE);
    const uint32_t may = config->faults > 0 ? config->may : 0;
    if (is_count && agent->source == BK_SOURCE_COUNTER)
        return config->agents * agent->operations == 1 && (may & ~(1u << EXPLORE_REFUSED)) == 0;
    return (is_in_turn(config) && (is_count || agent->coordination <= BK_LOCKED)) ||
           (is_numbered && config->then == 0 && (may >> EXPLORE_GONE & 1) == 0);
}

/* Gives each row an id with which it fires or does not, as the settings ask. */
static void draw_rows(struct space *space)
{
    const struct bk_strategy *strategy = &space->config.agent.strategy;
    for (unsigned r = 0; r < space->config.rows; r++) {
        struct bk_row *row = &space->rows[r];
        row->sequence = r;
        row->bytes = 1;
        bool fires = space->config.fires >> r & 1 && bk_kind_fires(strategy->kind);
        const uint64_t own = (r + 1) * UINT64_C(0x100000000), ids[] = {own, own + 1, own | UINT64_C(1) << 63};
        for (size_t i = 0; i < sizeof ids / sizeof *ids && (i == 0 || bk_fires(strategy, row) != fires); i++)
            row->id = ids[i];
    }
}

static bool check(const struct explore_config *config, struct sim_error *error)
{
    enum bk_status status = bk_agent_check(&config->agent);
    if (status != BK_OK)
        return sim_fail(error, SIM_ERROR_INPUT, "the agents' settings: %s", bk_status_text(status));
    if (config->agents < 1 || config->agents > EXPLORE_AGENTS_MAX || config->rows < 1 ||
        config->rows > EXPLORE_ROWS_MAX || config->reads > EXPLORE_READS_MAX ||
        config->ticks > EXPLORE_TICKS_MAX || config->faults > EXPLORE_FAULTS_MAX ||
        config->agent.operations > OPERATIONS_MAX)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "a world has 1 to %u agents with 1 to %u operations each, 1 to %u rows, up to %u reads, "
            "up to %u ticks and up to %u faults",
            EXPLORE_AGENTS_MAX, OPERATIONS_MAX, EXPLORE_ROWS_MAX, EXPLORE_READS_MAX, EXPLORE_TICKS_MAX,
            EXPLORE_FAULTS_MAX);
    return true;
}

/* Rows from the first second on follow another threshold. */
static bool change_settings(struct explore_config *config, struct sim_error *error)
{
    struct bk_agent_config *agent = &config->agent;
    struct bk_strategy next = agent->strategy;
    if (next.kind == BK_KIND_WEIGHTED)
        return sim_fail(error, SIM_ERROR_INPUT, "--then: not with `weighted`");
    *(next.kind == BK_KIND_COUNT ? &next.of.count.rows : &next.of.probabilistic.threshold) = config->then;
    enum bk_status status = bk_history_begin(&agent->strategy, &agent->history);
    if (status == BK_OK)
        status = bk_history_change(&agent->history, EXPLORE_FIRST_NS + EXPLORE_TICK_NS, &next);
    if (status == BK_OK)
        status = bk_agent_check(agent);
    return status == BK_OK || sim_fail(error, SIM_ERROR_INPUT, "--then: %s", bk_status_text(status));
}

static bool make_pools(struct space *space)
{
    const uint32_t many = 1u << 21, stores = 1u << STORE_BITS;
    space->memo_mask = (1u << 16) - 1;
    space->memory_size = bk_agent_size(&space->config.agent);
    space->memory = malloc(space->memory_size);
    space->places = calloc(many, sizeof *space->places);
    space->broken = calloc(stores, sizeof *space->broken);
    space->memo = sim_memory_zeroed((space->memo_mask + 1) * sizeof *space->memo);
    return pool_make(&space->agents, sizeof(struct agent), 1u << AGENT_BITS(space->config.agents)) &&
           pool_make(&space->stores, sizeof(struct store), stores) &&
           pool_make(&space->actions, sizeof(struct bk_action), 1u << 16) &&
           pool_make(&space->answers, sizeof(struct answer), 1u << 18) &&
           pool_make(&space->lates, sizeof(struct late), 1u << LATE_BITS) &&
           pool_make(&space->effects, sizeof(struct effect), many) &&
           pool_make(&space->steps, sizeof(struct step), many) &&
           pool_make(&space->blobs, sizeof(struct blob), many) && space->memory != NULL &&
           space->places != NULL && space->broken != NULL && space->memo != NULL;
}

struct space *explore_space(const struct explore_config *config, struct sim_error *error)
{
    if (!check(config, error))
        return NULL;
    struct space *space = calloc(1, sizeof *space);
    if (space == NULL) {
        sim_fail_memory(error);
        return NULL;
    }
    space->config = *config;
    space->is_guarded = config->agent.coordination == BK_GUARDED;
    space->reads_are_judged = space->is_guarded || !bk_kind_fires(config->agent.strategy.kind);
    space->all_rows_count = config->agent.strategy.kind == BK_KIND_COUNT;
    space->has_state = !space->all_rows_count || config->agent.source >= BK_SOURCE_LWT;
    space->judged = judged_by(config);
    space->has_column = space->all_rows_count ? config->agent.source == BK_SOURCE_COUNTER
                                              : config->agent.counter == BK_COUNTER_NATIVE;
    const uint32_t may = config->faults > 0 ? config->may : 0;
    space->is_certain =
        space->is_guarded && (may & (1u << EXPLORE_LOST | 1u << EXPLORE_LATE | 1u << EXPLORE_UNKNOWN)) == 0;
    space->is_in_turn = is_in_turn(config);
    space->judged |= space->is_in_turn ? 1u << LAB_ORACLE_FILLED : 0;
    space->most = !is_bounded(config)                ? UINT_MAX
                  : config->then > config->threshold ? (unsigned)config->then
                                                     : (unsigned)config->threshold;
    space->judged |= space->most != UINT_MAX ? 1u << LAB_ORACLE_BOUNDED : 0;
    pthread_mutex_init(&space->lock, NULL);
    draw_rows(space);
    if (config->then != 0 && !change_settings(&space->config, error)) {
        explore_space_free(space);
        return NULL;
    }
    if (!make_pools(space)) {
        sim_fail_memory(error);
        explore_space_free(space);
        return NULL;
    }
    return space;
}

void explore_space_free(struct space *space)
{
    if (space == NULL)
        return;
    struct pool *pools[] = {&space->agents, &space->stores,  &space->actions, &space->answers,
                            &space->lates,  &space->effects, &space->steps,   &space->blobs};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        pool_free(pools[i]);
    free(space->broken);
    free(space->arena);
    free(space->places);
    free(space->memo);
    free(space->memory);
    pthread_mutex_destroy(&space->lock);
    free(space);
}

/* Agents are alike, so only the multiset of their clocks matters. */
size_t explore_roots(struct space *space, struct world *roots, size_t capacity)
{
    bool skews = space->config.may >> EXPLORE_SKEW & 1;
    struct store store;
    struct late late;
    memset(&store, 0, sizeof store);
    memset(&late, 0, sizeof late);
    struct world root = {.store = put_store(space, &store), .late = pool_put(&space->lates, &late, 1)};
    uint32_t fresh[3];
    for (int offset = -1; offset <= 1; offset++) {
        struct agent agent;
        struct bk_agent *core = NULL;
        memset(&agent, 0, sizeof agent);
        agent.offset = (int8_t)offset;
        if (!refuse(space, "bk_agent_init()",
                    bk_agent_init(space->memory, space->memory_size, &space->config.agent, &core)))
            return 0;
        fresh[offset + 1] = put_agent(space, core, &agent);
    }
    size_t count = 0;
    unsigned combinations = 1;
    for (unsigned i = 0; i < space->config.agents; i++)
        combinations *= skews ? 3 : 1;
    for (unsigned c = 0; c < combinations && count < capacity; c++) {
        bool is_ordered = true;
        unsigned rest = c, before = 0;
        for (unsigned i = 0; i < space->config.agents; i++, rest /= 3) {
            unsigned which = skews ? rest % 3 : 1;
            is_ordered = is_ordered && which >= before;
            before = which;
            root.agents[i] = fresh[which];
        }
        if (!is_ordered)
            continue;
        roots[count] = root;
        for (unsigned i = 0; i < space->config.agents; i++)
            for (unsigned j = 0; j < space->config.agents; j++)
                sort_agent(space, &roots[count], j);
        count++;
    }
    return count;
}

/* --- What others want to know. */
void explore_fill(const struct space *space, struct explore_result *out)
{
    out->judged = space->judged;
    out->probes = atomic_load(&space->probes);
    out->requests = space->requests;
    out->request_digest = space->waits;
    for (uint32_t i = 0; i < space->actions.count; i++)
        out->request_digest += space->actions.hashes[i];
    out->memories = space->agents.count;
    out->stores = space->stores.count;
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

/* A reader takes the rows of higher buckets first, and in a bucket the newest first. Returns the least number
 * of rows for which these are not the newest ones. */
static uint32_t least_read(const struct space *space, const struct store *store)
{
    uint32_t read = 0, newest = 0, count = 0;
    do {
        int by_bucket = -1, by_time = -1;
        for (int r = 0; r < (int)space->config.rows; r++) {
            int bucket = lowest_bucket(store->buckets[r]);
            if (bucket < 0)
                continue;
            int other = by_bucket < 0 ? -1 : lowest_bucket(store->buckets[by_bucket]);
            if ((read >> r & 1) == 0 &&
                (bucket > other || (bucket == other && store->times[r] > store->times[by_bucket])))
                by_bucket = r;
            /* Of rows of the same time, those in higher buckets count as newer. */
            if ((newest >> r & 1) == 0 && (by_time < 0 || store->times[r] > store->times[by_time] ||
                                           (store->times[r] == store->times[by_time] &&
                                            bucket > lowest_bucket(store->buckets[by_time]))))
                by_time = r;
        }
        if (by_bucket < 0 || by_time < 0)
            return 1;
        read |= 1u << by_bucket;
        newest |= 1u << by_time;
        count++;
    } while (read == newest);
    return count;
}

void explore_explain(const struct space *space, const struct world *world, struct explore_break *out)
{
    const struct store *store = store_at(space, world->store);
    struct verdict verdict = {.asked = out->oracle, .text = out->text, .size = sizeof out->text};
    judge(space, store, &verdict);
    if (out->text[0] == '\0' && is_lock_left(space, world))
        breaks(&verdict, LAB_ORACLE_AVAILABLE,
               "the lock is held, although nothing failed and no operation is under way");
    out->newest = out->oracle == LAB_ORACLE_NEWEST ? least_read(space, store) : 1;
}

void explore_tell(const struct space *space, const struct world *from, const struct move *move,
                  uint8_t *names, struct explore_step *out)
{
    memset(out, 0, sizeof *out);
    out->kind = move->kind;
    out->tick = move->to.tick;
    out->operation = move->operation;
    out->number = move->row;
    out->is_late = move->is_late;
    bool is_late = move->kind == EXPLORE_LATE_EFFECT;
    bool is_alone = move->kind == EXPLORE_TICK || move->kind == EXPLORE_STATE_GONE;
    bool has_request = move->kind == EXPLORE_EFFECT || move->kind == EXPLORE_ANSWER ||
                       move->kind == EXPLORE_GIVE_UP || move->kind == EXPLORE_REFUSE || is_late;
    if (has_request)
        out->action = *action_at(space, move->action);
    if (move->kind == EXPLORE_WRITE) {
        out->row = space->rows[move->row];
        out->row.time_ns = store_at(space, move->to.store)->times[move->row];
    }
    if (move->kind == EXPLORE_READ)
        out->row.sequence = store_at(space, from->store)->taken - 1u;
    out->acknowledged =
        store_at(space, move->to.store)->acknowledged & ~store_at(space, from->store)->acknowledged;
    if (move->kind == EXPLORE_EFFECT || is_late) {
        uint64_t slot;
        uint32_t number = memo_find(space, memo_key(MEMO_EFFECT, from->store, move->action), &slot);
        const struct effect *effect = pool_at(&space->effects, number);
        out->outcome = ((const struct answer *)pool_at(&space->answers, effect->answer))->told;
    }
    if (is_late || is_alone)
        return;
    const struct agent *agent = agent_at(space, from->agents[move->agent]);
    if (move->kind == EXPLORE_ANSWER)
        out->outcome =
            ((const struct answer *)pool_at(&space->answers, agent->slots[move->operation].outcome))->told;
    out->agent = names[move->agent];
    out->offset_ns = agent->offset * EXPLORE_TICK_NS;
    if (agent->slots[move->operation].is_used && has_request)
        out->number = agent->slots[move->operation].number;
    /* The name moves as its agent does: to the first place at which `to` has another agent than the rest. */
    unsigned at = move->agent, place = 0;
    for (unsigned rest = at == 0;
         place + 1 < space->config.agents && move->to.agents[place] == from->agents[rest]; place++)
        rest += 1 + (rest + 1 == at);
    uint8_t name = names[at];
    memmove(names + at, names + at + 1, space->config.agents - at - 1);
    memmove(names + place + 1, names + place, space->config.agents - place - 1);
    names[place] = name;
}
