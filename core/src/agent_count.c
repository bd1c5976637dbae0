/* SPDX-License-Identifier: MIT */
/* What is to be written to a key's state, given the state as known: an increment, a roll, a change that is
 * to come, a reset. */
#include "agent.h"

static int64_t count_of(const struct bk_agent *agent, const struct operation *operation);
static int64_t minus(int64_t a, int64_t b);
static void raise_bucket(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);

/* Post-change, and the row does not fire: whoever touches the key first sets the counter back, perhaps
 * several do. */
void bk_agent_plan_reset(const struct bk_agent *agent, struct operation *operation)
{
    operation->next = operation->known;
    operation->next.columns[BK_COUNTER] = agent->config.counter == BK_COUNTER_COLUMN ? operation->total : 0;
    operation->next.columns[BK_LAST_CHANGE] = operation->known.columns[BK_NEXT_CHANGE];
    operation->next.columns[BK_NEXT_CHANGE] = 0;
    operation->next.mask = BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE) | BIT(BK_NEXT_CHANGE);
    bk_agent_go(operation, STEP_RESET);
}

/* The row fired: what is to be written, given the state as known. */
void bk_agent_plan_count(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct bk_agent_config *config = &agent->config;
    const int64_t *known = operation->known.columns;
    bool by_column = config->counter == BK_COUNTER_COLUMN;
    int64_t count = count_of(agent, operation);
    struct known *next = &operation->next;
    *next = operation->known;
    next->mask = 0;
    bool is_waiting = config->coordination == BK_THREE_STATE && known[BK_NEXT_CHANGE] != 0;
    /* A row that went to an older bucket neither counts for a new one nor closes it: so none is closed that
     * holds no row. */
    bool stands_here = operation->bucket >= known[BK_BUCKET];
    operation->adds = stands_here || is_waiting;
    if (!operation->adds) {
        bk_agent_finish(operation, BK_OPERATION_OK);
        return;
    }
    if (is_waiting && now_ns >= known[BK_NEXT_CHANGE]) {
        /* Post-change: the reset, with this row's increment on top. */
        operation->adds = stands_here;
        count = stands_here ? operation->weight : 0;
        next->columns[BK_COUNTER] = by_column ? minus(operation->total, count) : count;
        next->columns[BK_LAST_CHANGE] = known[BK_NEXT_CHANGE];
        next->columns[BK_NEXT_CHANGE] = 0;
        next->mask = BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE) | BIT(BK_NEXT_CHANGE);
        is_waiting = false;
    } else if (!by_column) {
        next->columns[BK_COUNTER] = count;
        next->mask = BIT(BK_COUNTER);
    }
    bool is_full = !is_waiting && bk_agent_is_full(agent, operation, count) && known[BK_BUCKET] < BUCKET_LAST;
    if (is_full && config->coordination != BK_LOCKED)
        raise_bucket(agent, operation, now_ns);
    if (next->mask != 0)
        bk_agent_go(operation, STEP_COUNT);
    else if (is_full)
        bk_agent_lock(agent, operation, now_ns);
    else
        bk_agent_finish(operation, BK_OPERATION_OK);
}

/* The lock was taken and the state was read again. */
void bk_agent_plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    bool by_column = agent->config.counter == BK_COUNTER_COLUMN;
    const int64_t *known = operation->known.columns;
    int64_t count = by_column ? minus(operation->total, known[BK_COUNTER]) : known[BK_COUNTER];
    /* Somebody else has rolled, or no bucket is left, or it took so long that the lock may be another's by
     * now. */
    if (!bk_agent_is_full(agent, operation, count) || operation->bucket < known[BK_BUCKET] ||
        known[BK_BUCKET] >= BUCKET_LAST || now_ns >= operation->lock[BK_LOCK_UNTIL]) {
        bk_agent_unlock(operation);
        return;
    }
    operation->next = operation->known;
    operation->next.columns[BK_BUCKET] = known[BK_BUCKET] + 1;
    operation->next.columns[BK_COUNTER] = by_column ? operation->total : 0;
    operation->next.columns[BK_LAST_CHANGE] = now_ns;
    operation->next.mask = BIT(BK_BUCKET) | BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE);
    bk_agent_go(operation, STEP_ROLL);
}

bool bk_agent_is_full(const struct bk_agent *agent, const struct operation *operation, int64_t count)
{
    return count > 0 && (uint64_t)count >= bk_threshold(bk_agent_settings(agent, operation->row.time_ns));
}

/* A roll at once, or at the change time that every agent learns before it comes. */
static void raise_bucket(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct known *next = &operation->next;
    next->columns[BK_BUCKET]++;
    next->mask |= BIT(BK_BUCKET);
    if (agent->config.coordination == BK_THREE_STATE) {
        int64_t change_ns = bk_agent_later(now_ns, 1, agent->config.lead_ns);
        next->columns[BK_NEXT_CHANGE] = change_ns != 0 ? change_ns : 1; /* 0 would mean none */
        next->mask |= BIT(BK_NEXT_CHANGE);
    } else {
        next->columns[BK_COUNTER] = agent->config.counter == BK_COUNTER_COLUMN ? operation->total : 0;
        next->columns[BK_LAST_CHANGE] = now_ns;
        next->mask |= BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE);
    }
}

/* The count with this row in it. */
static int64_t count_of(const struct bk_agent *agent, const struct operation *operation)
{
    int64_t stored = operation->known.columns[BK_COUNTER];
    if (agent->config.counter == BK_COUNTER_COLUMN)
        return minus(operation->total, stored);
    return stored > WEIGHT_MAX - operation->weight ? WEIGHT_MAX : stored + operation->weight;
}

/* It wraps, for a total or a base that no host has any business to tell. */
static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
