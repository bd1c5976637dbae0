/* SPDX-License-Identifier: MIT */
/* BK_SOURCE_MEMORY: one writer counts for itself. What it has put into a key's newest bucket stands in its
 * memory, and when that is enough it raises the bucket in the state row before the next row. After a start,
 * or when the copy has run out and the state tells another bucket, it counts what the bucket holds. While one
 * operation asks, the key's others are parked. */
#include <string.h>

#include "operation.h"

enum memory_step {
    MEMORY_READ = STEP_OF_PROTOCOL, /* the state */
    MEMORY_ROWS,                    /* what the bucket holds */
    MEMORY_RAISE,
    STEP_OF_MEMORY
};

/* Whatever it asks for, it is for all operations on the key. */
static bool asks(const struct operation *operation)
{
    return operation->step == MEMORY_READ || operation->step == MEMORY_ROWS ||
           operation->step == MEMORY_RAISE;
}

/* Rows of the bucket that the state tells: a read may have learned another one. */
static bool is_counted(const struct bk_agent *agent, const struct operation *operation,
                       const struct local_count *local)
{
    return local->is_counted &&
           local->bucket == bk_agent_cache_peek(agent, operation->key)->columns[BK_BUCKET];
}

/* NULL when the copy of the state has run out. What an operation has asked for itself is good enough for it,
 * however long that took. */
static struct local_count *local_of(const struct bk_agent *agent, const struct operation *operation,
                                    int64_t now_ns)
{
    bool is_fresh = (asks(operation) && operation->lost > 0) ||
                    bk_agent_cache_find(agent, now_ns, operation->key) != NULL;
    return is_fresh ? bk_agent_cache_local(agent, operation->key) : NULL;
}

static bool is_served(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct local_count *local = local_of(agent, operation, now_ns);
    return local != NULL && is_counted(agent, operation, local) &&
           local->rows < bk_agent_settings(agent, operation->row.time_ns)->of.count.rows;
}

static void ask(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct local_count *local = local_of(agent, operation, now_ns);
    if (local == NULL && operation->lost >= CAS_TRIES_MAX) {
        bk_operation_finish(operation, BK_OPERATION_REFUSED); /* other keys take its place in the cache */
        return;
    }
    if (local == NULL) {
        bk_operation_go(operation, MEMORY_READ);
        return;
    }
    operation->known = *bk_agent_cache_peek(agent, operation->key);
    if (!is_counted(agent, operation, local)) {
        bk_operation_go(operation, MEMORY_ROWS);
        return;
    }
    /* A state row that stands so far back is not made good by one row. */
    if (operation->known.columns[BK_BUCKET] >= BUCKET_LAST || ++operation->recounts > CAS_TRIES_MAX) {
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
        return;
    }
    bk_operation_plan_raise(operation, now_ns);
    bk_operation_go(operation, MEMORY_RAISE);
}

static void resume(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (is_served(agent, operation, now_ns)) {
        bk_agent_cache_local(agent, operation->key)->rows++;
        operation->bucket = bk_agent_cache_peek(agent, operation->key)->columns[BK_BUCKET];
        bk_operation_go(operation, STEP_PUT);
    } else if (!asks(operation) && bk_turns_is_taken(agent, operation)) {
        operation->step = STEP_PARKED;
    } else {
        ask(agent, operation, now_ns);
    }
}

/* What was counted still holds when the bucket is the same. */
static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct known *state)
{
    operation->known = *state;
    operation->lost++;
    bk_agent_cache_store(agent, now_ns, operation->key, state);
    resume(agent, operation, now_ns);
}

static void take_rows(struct bk_agent *agent, struct operation *operation, int64_t now_ns, uint64_t rows)
{
    struct local_count *local = bk_agent_cache_local(agent, operation->key);
    if (local != NULL) {
        memset(local, 0, sizeof *local);
        local->rows = rows;
        local->bucket = operation->known.columns[BK_BUCKET];
        local->is_counted = true;
        local->is_cold = rows > 0;
    }
    resume(agent, operation, now_ns);
}

/* Whoever put rows into the bucket before this agent may have gone on to the next one, which then holds rows
 * already. */
static void take_raised(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct local_count *local = bk_agent_cache_local(agent, operation->key);
    bool is_cold = local == NULL || local->is_cold;
    struct known stored;
    bk_operation_stored(operation, &stored);
    operation->known = stored;
    bk_agent_cache_store(agent, now_ns, operation->key, &stored);
    local = bk_agent_cache_local(agent, operation->key);
    memset(local, 0, sizeof *local);
    local->bucket = stored.columns[BK_BUCKET];
    local->is_counted = !is_cold;
    resume(agent, operation, now_ns);
}

static void take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    struct known state;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    switch ((enum memory_step)operation->step) {
    case MEMORY_READ:
        if (!is_applied || !bk_operation_read_known(outcome, operation->asked_ns, &state))
            break;
        take_state(agent, operation, now_ns, &state);
        return;
    case MEMORY_ROWS:
        if (!is_applied)
            break;
        take_rows(agent, operation, now_ns, outcome->rows);
        return;
    case MEMORY_RAISE:
        if (!is_applied)
            break;
        take_raised(agent, operation, now_ns);
        return;
    case STEP_OF_MEMORY:
        break;
    }
    if (!bk_operation_try_again(agent, operation, now_ns, bk_outcome_is_unknown(outcome),
                                agent->config.retries))
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
}

static void fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    (void)agent;
    switch ((enum memory_step)operation->step) {
    case MEMORY_READ:
        out->kind = BK_ACT_READ_STATE;
        break;
    case MEMORY_ROWS:
        out->kind = BK_ACT_COUNT_ROWS;
        out->bucket = operation->known.columns[BK_BUCKET];
        break;
    case MEMORY_RAISE:
        bk_operation_fill_write(operation, false, out);
        break;
    case STEP_OF_MEMORY:
        break;
    }
}

/* The bucket that has room, by a copy of the state that has not run out. */
static bool view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                 bool *is_changing)
{
    const struct known *known = bk_agent_cache_find(agent, now_ns, key);
    const struct local_count *local = known == NULL ? NULL : bk_agent_cache_local(agent, key);
    if (local == NULL || !local->is_counted || local->bucket != known->columns[BK_BUCKET] ||
        local->rows >= bk_agent_settings(agent, now_ns)->of.count.rows)
        return false;
    *bucket = local->bucket;
    *is_changing = false;
    return true;
}

const struct protocol bk_protocol_memory = {
    .write = resume,
    .read = bk_operation_look,
    .route = bk_operation_route_newest,
    .fill = fill,
    .outcome = take_outcome,
    .asks = asks,
    .is_served = is_served,
    .resume = resume,
    .view = view,
    .step_count = STEP_OF_MEMORY,
    .has_local_count = true,
};
