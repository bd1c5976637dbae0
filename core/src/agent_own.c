/* SPDX-License-Identifier: MIT */
/* One writer counts for itself: what it has put into a key's newest bucket stands in its memory, and when
 * that is enough it raises the bucket in the state row before the next row. After a start, or when the copy
 * has run out and the state tells another bucket, it counts what the bucket holds. While one operation asks,
 * the key's others are parked. */
#include <string.h>

#include "agent.h"

static bool is_counted(const struct bk_agent *agent, const struct operation *operation,
                       const struct own *own);
static struct own *own_of(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns);
static void ask(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct known *state);
static void take_rows(struct bk_agent *agent, struct operation *operation, int64_t now_ns, uint64_t rows);
static void take_raised(struct bk_agent *agent, struct operation *operation, int64_t now_ns);

void bk_agent_own_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_agent_own_is_served(agent, operation, now_ns)) {
        bk_agent_cache_own(agent, operation->key)->rows++;
        operation->bucket = bk_agent_cache_peek(agent, operation->key)->columns[BK_BUCKET];
        bk_agent_go(operation, STEP_PUT);
    } else if (!bk_agent_asks(agent, operation) && bk_agent_somebody_asks(agent, operation)) {
        operation->step = STEP_PARKED;
    } else {
        ask(agent, operation, now_ns);
    }
}

bool bk_agent_own_is_served(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns)
{
    const struct own *own = own_of(agent, operation, now_ns);
    return own != NULL && is_counted(agent, operation, own) &&
           own->rows < agent->config.strategy.of.count.rows;
}

void bk_agent_own_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome)
{
    struct known state;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    bool is_possible = bk_agent_read_known(outcome, operation->asked_ns, &state);
    if (is_applied && operation->step == STEP_OWN_READ && is_possible)
        take_state(agent, operation, now_ns, &state);
    else if (is_applied && operation->step == STEP_OWN_ROWS)
        take_rows(agent, operation, now_ns, outcome->rows);
    else if (is_applied && operation->step == STEP_OWN_RAISE)
        take_raised(agent, operation, now_ns);
    else if (!bk_agent_try_again(agent, operation, now_ns, (unsigned)outcome->kind >= BK_OUTCOME_UNKNOWN,
                                 agent->config.retries))
        bk_agent_finish(operation, BK_OPERATION_REFUSED);
}

/* Rows of the bucket that the state tells: a read may have learned another one. */
static bool is_counted(const struct bk_agent *agent, const struct operation *operation, const struct own *own)
{
    return own->is_counted && own->bucket == bk_agent_cache_peek(agent, operation->key)->columns[BK_BUCKET];
}

/* NULL when the copy of the state has run out. What an operation has asked for itself is good enough for it,
 * however long that took. */
static struct own *own_of(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns)
{
    bool is_fresh = (bk_agent_asks(agent, operation) && operation->lost > 0) ||
                    bk_agent_cache_find(agent, now_ns, operation->key) != NULL;
    return is_fresh ? bk_agent_cache_own(agent, operation->key) : NULL;
}

static void ask(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct own *own = own_of(agent, operation, now_ns);
    if (own == NULL && operation->lost >= CAS_TRIES_MAX) {
        bk_agent_finish(operation, BK_OPERATION_REFUSED); /* other keys take its place in the cache */
        return;
    }
    if (own == NULL) {
        bk_agent_go(operation, STEP_OWN_READ);
        return;
    }
    operation->known = *bk_agent_cache_peek(agent, operation->key);
    if (!is_counted(agent, operation, own)) {
        bk_agent_go(operation, STEP_OWN_ROWS);
        return;
    }
    /* A state row that stands so far back is not made good by one row. */
    if (operation->known.columns[BK_BUCKET] >= BUCKET_LAST || ++operation->recounts > CAS_TRIES_MAX) {
        bk_agent_finish(operation, BK_OPERATION_REFUSED);
        return;
    }
    bk_agent_plan_raise(operation, now_ns);
    bk_agent_go(operation, STEP_OWN_RAISE);
}

/* What was counted still holds when the bucket is the same. */
static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct known *state)
{
    operation->known = *state;
    operation->lost++;
    bk_agent_cache_store(agent, now_ns, operation->key, state);
    bk_agent_own_write(agent, operation, now_ns);
}

static void take_rows(struct bk_agent *agent, struct operation *operation, int64_t now_ns, uint64_t rows)
{
    struct own *own = bk_agent_cache_own(agent, operation->key);
    if (own != NULL) {
        memset(own, 0, sizeof *own);
        own->rows = rows;
        own->bucket = operation->known.columns[BK_BUCKET];
        own->is_counted = true;
        own->is_cold = rows > 0;
    }
    bk_agent_own_write(agent, operation, now_ns);
}

/* Whoever put rows into the bucket before this agent may have gone on to the next one, which then holds rows
 * already. */
static void take_raised(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct own *own = bk_agent_cache_own(agent, operation->key);
    bool is_cold = own == NULL || own->is_cold;
    struct known stored;
    bk_agent_stored(operation, &stored);
    operation->known = stored;
    bk_agent_cache_store(agent, now_ns, operation->key, &stored);
    own = bk_agent_cache_own(agent, operation->key);
    memset(own, 0, sizeof *own);
    own->bucket = stored.columns[BK_BUCKET];
    own->is_counted = !is_cold;
    bk_agent_own_write(agent, operation, now_ns);
}
