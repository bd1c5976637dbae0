/* SPDX-License-Identifier: MIT */
/* BK_LOCKED: an operation that finds the bucket full takes a lock, reads the state again, begins the next
 * bucket if that is still necessary, and releases the lock. The lock row has the owner and the end of the
 * lock, both 0 after a release. An expired lock is taken over by an update whose condition names its owner
 * and end, so that only one contender succeeds. At a line of a greatest age no lock is needed, because all
 * rows beyond the line write the same state. */
#include "protocol.h"

/* After losing a free lock to other agents this many times, an operation gives up. */
#define LOCK_LOST_MAX 64u

enum locked_step {
    LOCKED_TAKE = STEP_OF_COUNTED, /* takes the lock if there is no lock row */
    LOCKED_TAKE_OVER,              /* takes over the lock row as it was read: released or expired */
    LOCKED_FRESH,                  /* reads the state again */
    LOCKED_ROLL,
    LOCKED_RELEASE,
    STEP_OF_LOCKED
};

static void take_lock(const struct bk_agent *agent, struct operation *operation, enum locked_step step,
                      int64_t at_ns)
{
    bk_operation_go(operation, step);
    operation->next.columns[BK_LOCK_OWNER] = (int64_t)agent->config.agent_id;
    operation->next.columns[BK_LOCK_UNTIL] = bk_agent_saturating_add(at_ns, 1, agent->config.lock_lasts_ns);
}

static void release(struct operation *operation)
{
    operation->next.columns[BK_LOCK_OWNER] = 0;
    operation->next.columns[BK_LOCK_UNTIL] = 0;
    bk_operation_go(operation, LOCKED_RELEASE);
}

/* The bucket is full. Only one operation of an agent may use the lock at a time, because two with the same
 * owner could not be distinguished. */
static void begin_roll(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_turns_is_locking(agent, operation)) {
        bk_operation_finish(operation, BK_OPERATION_OK);
        return;
    }
    operation->lost = 0;
    operation->waits = 0;
    take_lock(agent, operation, LOCKED_TAKE, now_ns);
}

static void count(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count;
    if (!bk_counted_plan_row(agent, operation, &count))
        return;
    if (operation->next.mask == 0 && bk_counted_may_roll(agent, operation, count))
        begin_roll(agent, operation, now_ns);
    else
        bk_counted_write_plan(operation);
}

static void written(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_counted_is_full(agent, operation, operation->known.columns[BK_COUNTER]))
        begin_roll(agent, operation, now_ns);
    else
        bk_operation_finish(operation, BK_OPERATION_OK);
}

static void lock_taken(struct operation *operation)
{
    operation->lock[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_OWNER];
    operation->lock[BK_LOCK_UNTIL] = operation->next.columns[BK_LOCK_UNTIL];
    bk_operation_go(operation, LOCKED_FRESH);
}

/* The lock row did not match the condition. */
static void lock_denied(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                        const struct bk_outcome *outcome)
{
    int64_t owner = outcome->mask != 0 ? outcome->columns[BK_LOCK_OWNER] : 0;
    int64_t until_ns = outcome->mask != 0 ? outcome->columns[BK_LOCK_UNTIL] : 0;
    if (owner == operation->next.columns[BK_LOCK_OWNER] &&
        until_ns == operation->next.columns[BK_LOCK_UNTIL]) {
        lock_taken(operation); /* by an earlier try whose outcome was unknown */
        return;
    }
    bool is_held = owner != 0 && until_ns > now_ns;
    if (is_held ? operation->waits >= agent->config.retries : ++operation->lost >= LOCK_LOST_MAX) {
        bk_operation_finish(operation,
                            BK_OPERATION_OK); /* the next row that fires finds the count full too */
        return;
    }
    int64_t at_ns = now_ns;
    if (is_held) {
        operation->waits++;
        at_ns = bk_agent_saturating_add(
            now_ns, 1, bk_agent_spread(agent, agent->config.lock_backoff_ns, operation->waits));
        operation->wake_ns = at_ns;
    }
    operation->lock[BK_LOCK_OWNER] = owner;
    operation->lock[BK_LOCK_UNTIL] = until_ns;
    /* Otherwise the update with IF NOT EXISTS only finds out the current lock row. */
    bool may_take_over = outcome->mask != 0 && (owner == 0 || until_ns <= at_ns);
    take_lock(agent, operation, may_take_over ? LOCKED_TAKE_OVER : LOCKED_TAKE, at_ns);
}

/* The lock is held and the state was read again. */
static void plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count = bk_counted_before_row(agent, operation); /* now including this row */
    /* Another agent has rolled the key, or there is no further bucket, or the lock has expired. */
    if (!bk_counted_may_roll(agent, operation, count) || !bk_counted_stands_here(agent, operation) ||
        now_ns >= operation->lock[BK_LOCK_UNTIL]) {
        release(operation);
        return;
    }
    bk_counted_plan_roll(agent, operation, now_ns);
    bk_operation_go(operation, LOCKED_ROLL);
}

static void fill_lock(const struct operation *operation, bool may_exist, struct bk_action *out)
{
    out->kind = BK_ACT_CAS_LOCK;
    out->mask = BIT(BK_LOCK_OWNER) | BIT(BK_LOCK_UNTIL);
    out->if_mask = may_exist ? out->mask : 0;
    out->columns[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_OWNER];
    out->columns[BK_LOCK_UNTIL] = operation->next.columns[BK_LOCK_UNTIL];
    out->expected[BK_LOCK_OWNER] = operation->lock[BK_LOCK_OWNER];
    out->expected[BK_LOCK_UNTIL] = operation->lock[BK_LOCK_UNTIL];
}

static void fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    bool by_lwt = agent->config.counter == BK_COUNTER_LWT;
    switch ((enum locked_step)operation->step) {
    case LOCKED_TAKE:
        fill_lock(operation, false, out);
        return;
    case LOCKED_TAKE_OVER:
    case LOCKED_RELEASE:
        fill_lock(operation, true, out);
        return;
    case LOCKED_FRESH:
        out->kind = BK_ACT_READ_STATE;
        out->serial = by_lwt;
        return;
    case LOCKED_ROLL:
        bk_operation_fill_write(operation, by_lwt, out);
        return;
    case STEP_OF_LOCKED:
        break;
    }
    bk_counted_fill(agent, operation, out);
}

static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct bk_outcome *outcome)
{
    struct known state;
    if (outcome->kind == BK_OUTCOME_APPLIED &&
        bk_operation_read_known(outcome, operation->asked_ns, &state)) {
        bk_operation_learn(agent, operation, &state, now_ns);
        plan_roll(agent, operation, now_ns);
    } else if (!bk_operation_try_again(agent, operation, now_ns, bk_outcome_is_unknown(outcome),
                                       agent->config.retries)) {
        bk_agent_cache_forget(agent, operation->key);
        release(operation);
    }
}

static void take_roll(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                      const struct bk_outcome *outcome)
{
    bool is_unknown = bk_outcome_is_unknown(outcome);
    if (outcome->kind == BK_OUTCOME_APPLIED) {
        bk_counted_keep_written(agent, operation, now_ns);
        release(operation);
        return;
    }
    if (bk_counted_has_lost(agent, operation, now_ns, outcome)) {
        if (operation->lost < CAS_TRIES_MAX)
            plan_roll(agent, operation, now_ns);
        else
            release(operation);
        return;
    }
    int64_t backoff_ns = is_unknown ? 0 : agent->config.retry_backoff_ns;
    bool is_still_held =
        bk_agent_saturating_add(now_ns, (uint64_t)operation->tries + 1, backoff_ns) <
        operation->lock[BK_LOCK_UNTIL]; /* otherwise another agent may have the lock by then */
    if (!is_still_held ||
        !bk_operation_try_again(agent, operation, now_ns, is_unknown, agent->config.retries)) {
        bk_agent_cache_forget(agent, operation->key);
        release(operation);
    }
}

static void take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED, is_unknown = bk_outcome_is_unknown(outcome);
    bool is_denied = outcome->kind == BK_OUTCOME_NOT_APPLIED;
    switch ((enum locked_step)operation->step) {
    case LOCKED_TAKE:
    case LOCKED_TAKE_OVER:
        if (is_applied)
            lock_taken(operation);
        else if (is_denied)
            lock_denied(agent, operation, now_ns, outcome);
        else
            bk_operation_try_again_or_end(agent, operation, now_ns, is_unknown, agent->config.retries);
        return;
    case LOCKED_FRESH:
        take_state(agent, operation, now_ns, outcome);
        return;
    case LOCKED_ROLL:
        take_roll(agent, operation, now_ns, outcome);
        return;
    case LOCKED_RELEASE:
        if (is_applied ||
            is_denied) /* denied: an earlier try released the lock, or another agent took it over */
            bk_operation_finish(operation, BK_OPERATION_OK);
        else
            bk_operation_try_again_or_end(agent, operation, now_ns, is_unknown, agent->config.retries);
        return;
    case STEP_OF_LOCKED:
        break;
    }
    bk_counted_outcome(agent, operation, now_ns, outcome);
}

static bool is_locking(const struct operation *operation)
{
    switch ((enum locked_step)operation->step) {
    case LOCKED_TAKE:
    case LOCKED_TAKE_OVER:
    case LOCKED_FRESH:
    case LOCKED_ROLL:
    case LOCKED_RELEASE:
        return true;
    case STEP_OF_LOCKED:
        break;
    }
    return false;
}

/* While the state is read under the lock, operation->next still is the plan that took the lock. */
static bool plans_lock(const struct operation *operation)
{
    return is_locking(operation) && operation->step != LOCKED_ROLL;
}

const struct protocol bk_protocol_locked = {
    .write = bk_counted_write,
    .read = bk_counted_read,
    .route = bk_counted_route,
    .placed = bk_counted_placed,
    .fill = fill,
    .outcome = take_outcome,
    .count = count,
    .written = written,
    .is_locking = is_locking,
    .plans_lock = plans_lock,
    .view = bk_counted_view,
    .step_count = STEP_OF_LOCKED,
};
