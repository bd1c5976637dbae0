/* SPDX-License-Identifier: MIT */
/* The lock row around a roll: owner and end, both 0 once it was released. A lock that has run out is taken
 * over by naming its owner and end in the condition, so that one contender alone succeeds. */
#include "agent.h"
#include "bucketing/hash.h"

/* A free lock that others were quicker to take this often is left to them. */
#define LOCK_LOST_MAX 64u

static void ask(const struct bk_agent *agent, struct operation *operation, enum step step, int64_t at_ns);
static bool is_at_work(struct bk_agent *agent, const struct operation *operation);

void bk_agent_lock(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (is_at_work(agent, operation)) {
        bk_agent_finish(operation, BK_OPERATION_OK);
        return;
    }
    operation->lost = 0;
    operation->waits = 0;
    ask(agent, operation, STEP_LOCK, now_ns);
}

void bk_agent_lock_taken(struct operation *operation)
{
    operation->lock[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_OWNER];
    operation->lock[BK_LOCK_UNTIL] = operation->next.columns[BK_LOCK_UNTIL];
    bk_agent_go(operation, STEP_LOCKED_READ);
}

void bk_agent_lock_denied(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome)
{
    int64_t owner = outcome->mask != 0 ? outcome->columns[BK_LOCK_OWNER] : 0;
    int64_t until_ns = outcome->mask != 0 ? outcome->columns[BK_LOCK_UNTIL] : 0;
    if (operation->step == STEP_UNLOCK) {
        bk_agent_finish(operation, BK_OPERATION_OK); /* released by an earlier try, or taken over */
        return;
    }
    if (owner == operation->next.columns[BK_LOCK_OWNER] &&
        until_ns == operation->next.columns[BK_LOCK_UNTIL]) {
        bk_agent_lock_taken(operation); /* by an earlier try, told as unknown */
        return;
    }
    bool is_held = owner != 0 && until_ns > now_ns;
    if (is_held ? operation->waits >= agent->config.retries : ++operation->lost >= LOCK_LOST_MAX) {
        bk_agent_finish(operation, BK_OPERATION_OK); /* the next row that fires finds the count full too */
        return;
    }
    int64_t at_ns = now_ns;
    if (is_held) {
        operation->waits++;
        at_ns = bk_agent_later(now_ns, 1,
                               bk_agent_spread(agent, agent->config.lock_backoff_ns, operation->waits));
        operation->wake_ns = at_ns;
    }
    operation->lock[BK_LOCK_OWNER] = owner;
    operation->lock[BK_LOCK_UNTIL] = until_ns;
    /* IF NOT EXISTS takes no lock that still lasts then: it only tells what became of it. */
    bool may_take_over = outcome->mask != 0 && (owner == 0 || until_ns <= at_ns);
    ask(agent, operation, may_take_over ? STEP_LOCK_STALE : STEP_LOCK, at_ns);
}

void bk_agent_unlock(struct operation *operation)
{
    operation->next.columns[BK_LOCK_OWNER] = 0;
    operation->next.columns[BK_LOCK_UNTIL] = 0;
    bk_agent_go(operation, STEP_UNLOCK);
}

static void ask(const struct bk_agent *agent, struct operation *operation, enum step step, int64_t at_ns)
{
    bk_agent_go(operation, step);
    operation->next.columns[BK_LOCK_OWNER] = (int64_t)agent->config.agent_id;
    operation->next.columns[BK_LOCK_UNTIL] = bk_agent_later(at_ns, 1, agent->config.lock_lasts_ns);
}

/* Another operation of this agent is about the key's lock: two of one owner could not be told apart. */
static bool is_at_work(struct bk_agent *agent, const struct operation *operation)
{
    const struct operation *operations = bk_agent_operations(agent);
    for (uint32_t i = 0; i < agent->config.operations; i++) {
        if (&operations[i] != operation && operations[i].key == operation->key &&
            operations[i].step >= STEP_LOCK && operations[i].step <= STEP_UNLOCK)
            return true;
    }
    return false;
}

int64_t bk_agent_spread(const struct bk_agent *agent, int64_t mean_ns, uint32_t nth)
{
    uint64_t mean = (uint64_t)mean_ns;
    uint64_t mix = bk_murmur3_128_u64(agent->config.agent_id ^ (uint64_t)nth << 32).h1;
    uint64_t wait = mean / 2 + mix % (mean + 1);
    return wait < INT64_MAX ? (int64_t)wait : INT64_MAX;
}
