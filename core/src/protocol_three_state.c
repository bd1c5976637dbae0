/* SPDX-License-Identifier: MIT */
/* BK_THREE_STATE: a change of bucket is dated `lead` ahead, so that every agent has read it before its date.
 *
 *     steady        no change is planned; rows that fire are counted
 *     pre-change    the state already names the next bucket, to which rows from the time NEXT_CHANGE on go
 *     post-change   the date has passed; agents that use the key move it to LAST_CHANGE and reset the counter
 *
 * Until the date has passed no further change is planned, so a bucket gets as many rows as its threshold and
 * those that arrive during the lead.
 *
 * A change at a line of a greatest age is dated at the line: all agents know that no row beyond the line
 * belongs to the old bucket, so this change needs no lead. */
#include "protocol.h"

enum three_state_step {
    THREE_STATE_FRESH = STEP_OF_COUNTED, /* a row that does not fire reads the state again, */
    THREE_STATE_TOTAL,                   /* with BK_COUNTER_COLUMN it reads the counter, */
    THREE_STATE_RESET,                   /* and then it resets the counter */
    STEP_OF_THREE_STATE
};

/* Returns the bucket of a row's time. This also works after the counter was reset, which moves the change
 * time to BK_LAST_CHANGE: a row that was accepted before the reset and routed after it still goes to the old
 * bucket. */
static int64_t bucket_at(const struct known *known, int64_t time_ns)
{
    int64_t bucket = known->columns[BK_BUCKET], next_ns = known->columns[BK_NEXT_CHANGE];
    if (bucket == 0)
        return bucket;
    if (next_ns != 0 && time_ns >= next_ns)
        return bucket;
    if (next_ns != 0)
        bucket--;
    return time_ns >= known->columns[BK_LAST_CHANGE] || bucket == 0 ? bucket : bucket - 1;
}

/* The state has the dates of the last two buckets, which are at least one lead apart. So a row that waited
 * for more than a lead and is more than a lead older than both dates may belong to a bucket further down. (A
 * row that did not wait has the time of a slow clock, and goes to the oldest known bucket.) */
OUT_OF_LINE static bool is_forgotten(const struct bk_agent *agent, const struct operation *operation,
                                     int64_t now_ns)
{
    const int64_t *known = operation->known.columns;
    uint64_t lead_ns = (uint64_t)agent->config.lead_ns;
    int64_t time_ns = operation->row.time_ns;
    return operation->bucket > 0 && lead_ns > 0 && (uint64_t)now_ns - (uint64_t)time_ns > lead_ns &&
           known[BK_LAST_CHANGE] > time_ns && (uint64_t)known[BK_LAST_CHANGE] - (uint64_t)time_ns > lead_ns;
}

static void route(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_counted_crosses_line(agent, operation))
        return;
    operation->bucket = bucket_at(&operation->known, operation->row.time_ns);
    if (operation->row.time_ns < now_ns && is_forgotten(agent, operation, now_ns))
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
    else
        bk_operation_go(operation, STEP_PUT);
}

/* Plans to reset the counter to what was counted since the change, whose date has passed. */
static void plan_reset(const struct bk_agent *agent, struct operation *operation, int64_t count)
{
    operation->next = operation->known;
    operation->next.columns[BK_COUNTER] = bk_counted_stored_as(agent, operation, count);
    operation->next.columns[BK_LAST_CHANGE] = operation->known.columns[BK_NEXT_CHANGE];
    operation->next.columns[BK_NEXT_CHANGE] = 0;
    operation->next.mask = BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE) | BIT(BK_NEXT_CHANGE);
}

/* Plans a change, unless a line follows within a lead of its date: that line ends the bucket, and dates stay
 * at least a lead apart. */
static void plan_change(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t change_ns = bk_agent_saturating_add(now_ns, 1, agent->config.lead_ns);
    if (bk_agent_saturating_add(change_ns, 1, agent->config.lead_ns) >
        bk_counted_line(agent, &operation->known))
        return;
    operation->next.columns[BK_BUCKET]++;
    operation->next.columns[BK_NEXT_CHANGE] = change_ns != 0 ? change_ns : 1; /* 0 means that there is none */
    operation->next.mask |= BIT(BK_BUCKET) | BIT(BK_NEXT_CHANGE);
}

static void count(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count = bk_counted_with_row(agent, operation);
    int64_t next_ns = operation->known.columns[BK_NEXT_CHANGE];
    bool stands_here = bk_counted_stands_here(agent, operation), is_waiting = next_ns != 0;
    operation->adds = stands_here || is_waiting;
    if (!operation->adds) {
        bk_operation_finish(operation, BK_OPERATION_OK);
        return;
    }
    if (is_waiting && now_ns >= next_ns) {
        /* Post-change: reset the counter and add this row's increment. */
        operation->adds = stands_here;
        count = stands_here ? operation->weight : 0;
        plan_reset(agent, operation, count);
        is_waiting = false;
    } else {
        bk_counted_plan(agent, operation, count);
    }
    if (!is_waiting && bk_counted_may_roll(agent, operation, count))
        plan_change(agent, operation, now_ns);
    bk_counted_write_plan(operation);
}

static bool reset_is_due(const struct operation *operation, int64_t now_ns)
{
    int64_t change_ns = operation->known.columns[BK_NEXT_CHANGE];
    return change_ns != 0 && now_ns >= change_ns;
}

static void reset(const struct bk_agent *agent, struct operation *operation)
{
    plan_reset(agent, operation, 0);
    bk_operation_go(operation, THREE_STATE_RESET);
}

static void placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    bk_counted_placed(agent, operation, now_ns);
    if (operation->fired || !reset_is_due(operation, now_ns))
        return;
    if (agent->config.counter == BK_COUNTER_LWT)
        reset(agent, operation); /* the update's condition verifies the cached state */
    else
        bk_operation_go(operation, THREE_STATE_FRESH);
}

static void fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    switch ((enum three_state_step)operation->step) {
    case THREE_STATE_FRESH:
        out->kind = BK_ACT_READ_STATE;
        return;
    case THREE_STATE_TOTAL:
        out->kind = BK_ACT_READ_COUNTER;
        return;
    case THREE_STATE_RESET:
        bk_operation_fill_write(operation, agent->config.counter == BK_COUNTER_LWT, out);
        return;
    case STEP_OF_THREE_STATE:
        break;
    }
    bk_counted_fill(agent, operation, out);
}

/* Resets the counter if that is necessary according to the state that was just read. The cached state may be
 * from before another agent's reset, and a second reset would discard what was counted since. */
static void reset_if_due(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (!reset_is_due(operation, now_ns))
        bk_operation_finish(operation, BK_OPERATION_OK);
    else if (agent->config.counter == BK_COUNTER_COLUMN)
        bk_operation_go(operation, THREE_STATE_TOTAL);
    else
        reset(agent, operation);
}

/* Handles the outcome of one of the three steps of a reset. Returns false if the step failed. */
static bool take_reset(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct bk_outcome *outcome)
{
    struct known state;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    switch ((enum three_state_step)operation->step) {
    case THREE_STATE_FRESH:
        if (!is_applied || !bk_operation_read_known(outcome, operation->asked_ns, &state))
            return false;
        bk_operation_learn(agent, operation, &state, now_ns);
        reset_if_due(agent, operation, now_ns);
        return true;
    case THREE_STATE_TOTAL:
        if (!is_applied)
            return false;
        operation->total = outcome->counter;
        reset(agent, operation);
        return true;
    case THREE_STATE_RESET:
        if (is_applied)
            bk_counted_keep_written(agent, operation, now_ns);
        else if (!bk_counted_has_lost(agent, operation, now_ns, outcome))
            return false;
        bk_operation_finish(operation,
                            BK_OPERATION_OK); /* the reset was made by another agent or by this one */
        return true;
    case STEP_OF_THREE_STATE:
        break;
    }
    return false;
}

static void take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    switch ((enum three_state_step)operation->step) {
    case THREE_STATE_FRESH:
    case THREE_STATE_TOTAL:
    case THREE_STATE_RESET:
        if (!take_reset(agent, operation, now_ns, outcome))
            bk_operation_try_again_or_end(agent, operation, now_ns, bk_outcome_is_unknown(outcome),
                                          agent->config.retries);
        return;
    case STEP_OF_THREE_STATE:
        break;
    }
    bk_counted_outcome(agent, operation, now_ns, outcome);
}

static bool view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                 bool *is_changing)
{
    if (!bk_counted_view(agent, now_ns, key, bucket, is_changing))
        return false;
    *bucket = bucket_at(bk_agent_cache_find(agent, now_ns, key), now_ns);
    return true;
}

const struct protocol bk_protocol_three_state = {
    .write = bk_counted_write,
    .read = bk_counted_read,
    .route = route,
    .placed = placed,
    .fill = fill,
    .outcome = take_outcome,
    .count = count,
    .view = view,
    .step_count = STEP_OF_THREE_STATE,
};
