/* SPDX-License-Identifier: MIT */
/* BK_SOURCE_MEMORY: a single writer per key counts the rows in memory. When it has put enough rows into the
 * newest bucket, it raises the bucket in the state row before it puts the next row. After a start, or if the
 * cached state has expired and the new one names a different bucket, it counts the rows that the bucket has.
 * While one operation of a key makes a request, the others are parked. */
#include <string.h>

#include "protocol.h"

enum memory_step {
    MEMORY_READ = STEP_OF_PROTOCOL, /* reads the state */
    MEMORY_ROWS,                    /* counts the rows of the bucket */
    MEMORY_RAISE,
    STEP_OF_MEMORY
};

/* All requests of this protocol serve all operations on the key. */
static bool asks(const struct operation *operation)
{
    return operation->step >= MEMORY_READ;
}

/* Returns whether the local count is of the bucket in the cached state, which a read may have replaced. */
static bool is_counted(const struct bk_agent *agent, const struct operation *operation,
                       const struct local_count *local)
{
    return local->is_counted &&
           local->bucket == bk_agent_cache_peek(agent, operation->key)->columns[BK_COLUMN_BUCKET];
}

/* Returns NULL if the cached state has expired. A state that the operation itself requested is valid for it,
 * however old it is. */
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
        bk_operation_finish(operation,
                            BK_OPERATION_REFUSED); /* other keys keep evicting this one from the cache */
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
    /* One row does not raise a state that is many buckets behind. */
    if (operation->known.columns[BK_COLUMN_BUCKET] >= BUCKET_LAST || ++operation->recounts > CAS_TRIES_MAX) {
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
        operation->bucket = bk_agent_cache_peek(agent, operation->key)->columns[BK_COLUMN_BUCKET];
        bk_operation_go(operation, STEP_PUT);
    } else if (!asks(operation) && bk_turns_is_taken(agent, operation)) {
        operation->step = STEP_PARKED;
    } else {
        ask(agent, operation, now_ns);
    }
}

/* The local count stays valid if the bucket is the same. */
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
        local->bucket = operation->known.columns[BK_COLUMN_BUCKET];
        local->is_counted = true;
        local->is_cold = rows > 0;
    }
    resume(agent, operation, now_ns);
}

/* Another writer that put rows into the bucket before this agent may have continued in the next one, which
 * then has rows already. */
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
    local->bucket = stored.columns[BK_COLUMN_BUCKET];
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

/* Returns the bucket that has room, according to a cached state that has not expired. */
static bool view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                 bool *is_changing)
{
    const struct known *known = bk_agent_cache_find(agent, now_ns, key);
    const struct local_count *local = known == NULL ? NULL : bk_agent_cache_local(agent, key);
    if (local == NULL || !local->is_counted || local->bucket != known->columns[BK_COLUMN_BUCKET] ||
        local->rows >= bk_agent_settings(agent, now_ns)->of.count.rows)
        return false;
    *bucket = local->bucket;
    *is_changing = false;
    return true;
}

static const struct step_action actions[] = {
    [MEMORY_READ - STEP_OF_PROTOCOL] = {BK_ACT_READ_STATE, PLAIN},
    [MEMORY_ROWS - STEP_OF_PROTOCOL] = {BK_ACT_COUNT_ROWS, PLAIN},
    [MEMORY_RAISE - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_STATE, PLAIN},
};
const struct protocol bk_protocol_memory = {
    .write = resume,
    .read = bk_operation_look,
    .route = bk_operation_route_newest,
    .actions = actions,
    .outcome = take_outcome,
    .asks = asks,
    .is_served = is_served,
    .resume = resume,
    .view = view,
    .step_count = STEP_OF_MEMORY,
    .has_local_count = true,
};
