/* SPDX-License-Identifier: MIT */
/* BK_SINGLE, BK_LOCKED, BK_THREE_STATE: protocols with a counter of the rows that fired, stored next to the
 * bucket in the state row. (guarded weighs rows in the same way, but counts them elsewhere.)
 *
 * A row that fired is counted once it is stored. With BK_COUNTER_RMW the state is read again and written back
 * with the row's weight added. With BK_COUNTER_LWT it is updated by compare-and-set, first from the cached
 * copy. With BK_COUNTER_NATIVE the row is added to a counter column, whose total is then read; the state row
 * has the total at the last roll. Each protocol decides what is written then, and how the bucket is raised.
 *
 * With a greatest age, the state has the time at which the newest bucket began, and thereby the line at which
 * it ends. A row with a time at or after that line, and the first row of a key, write the state before the
 * row is put, by the same steps. So whatever copy of the state an agent has, no row after a bucket's line is
 * put into that bucket. */
#include "protocol.h"

enum counted_step {
    COUNTED_FRESH = STEP_OF_PROTOCOL, /* reads the state again, before counting */
    COUNTED_ADD,                      /* BK_COUNTER_NATIVE: adds the row's weight */
    COUNTED_TOTAL,                    /* BK_COUNTER_NATIVE: reads the total */
    COUNTED_WRITE,                    /* writes the counter, and the roll if it is due */
    STEP_OF_COUNTED                   /* the first step of the protocol itself */
};
/* Their actions, for the tables of the three protocols. */
#define COUNTED_ACTIONS                                                                                      \
    {BK_ACT_READ_STATE, STRICT_BY_COUNTER}, {BK_ACT_ADD_COUNTER, PLAIN}, {BK_ACT_READ_COUNTER, PLAIN},       \
    {                                                                                                        \
        BK_ACT_WRITE_STATE, STRICT_BY_COUNTER                                                                \
    }

/* If the first settings have no greatest age, later ones have none either. */
static bool counted_has_lines(const struct bk_agent *agent)
{
    return agent->config.history.eras[0].strategy.max_age_ns != 0;
}

/* Returns the start of the newest bucket; INT64_MIN for a key without a state. */
static int64_t start_of(const struct bk_agent *agent, const struct known *known)
{
    if (known->mask == 0)
        return INT64_MIN;
    bool is_dated =
        agent->config.coordination == BK_THREE_STATE && known->columns[BK_COLUMN_NEXT_CHANGE] != 0;
    return known->columns[is_dated ? BK_COLUMN_NEXT_CHANGE : BK_COLUMN_LAST_CHANGE];
}

static int64_t counted_line(const struct bk_agent *agent, const struct known *known)
{
    return bk_agent_line_above(agent, start_of(agent, known));
}

static bool is_beyond(const struct bk_agent *agent, const struct known *known, int64_t time_ns)
{
    if (!counted_has_lines(agent))
        return false;
    int64_t line_ns = counted_line(agent, known);
    return line_ns < INT64_MAX && time_ns >= line_ns;
}

/* a - b with wrap-around, for totals and bases that a faulty host reports. */
static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The count since the last roll, without this row. */
static int64_t counted_before_row(const struct bk_agent *agent, const struct operation *operation)
{
    int64_t stored = operation->known.columns[BK_COLUMN_COUNTER];
    return agent->config.counter == BK_COUNTER_NATIVE ? minus(operation->total, stored) : stored;
}

static int64_t counted_with_row(const struct bk_agent *agent, const struct operation *operation)
{
    int64_t count = counted_before_row(agent, operation);
    if (agent->config.counter == BK_COUNTER_NATIVE)
        return count; /* the row's increment was added before the total was read */
    return count > WEIGHT_MAX - operation->weight ? WEIGHT_MAX : count + operation->weight;
}

/* The value of the state's counter when the count of the bucket is `count`: at most WEIGHT_MAX, like all that
 * is stored, whatever total the host reports. */
static int64_t counted_stored_as(const struct bk_agent *agent, const struct operation *operation,
                                 int64_t count)
{
    int64_t stored = agent->config.counter == BK_COUNTER_NATIVE ? minus(operation->total, count) : count;
    return stored > WEIGHT_MAX ? WEIGHT_MAX : stored;
}

static bool counted_may_roll(const struct bk_agent *agent, const struct operation *operation, int64_t count)
{
    return bk_operation_is_full(agent, operation, count) &&
           operation->known.columns[BK_COLUMN_BUCKET] < BUCKET_LAST;
}

/* Whether the row is in the newest bucket. A row in an older bucket neither counts for a new bucket nor
 * closes it, so no bucket without rows is closed. With a greatest age, no row counts if the state row, which
 * has the line, is missing. */
static bool counted_stands_here(const struct bk_agent *agent, const struct operation *operation)
{
    bool is_known = operation->known.mask != 0 || counted_line(agent, &operation->known) == INT64_MAX;
    return is_known && operation->bucket >= operation->known.columns[BK_COLUMN_BUCKET];
}

/* Plans to write the known state with this row counted; with a counter column, nothing. */
static void counted_plan(const struct bk_agent *agent, struct operation *operation, int64_t count)
{
    operation->next = operation->known;
    operation->next.mask = 0;
    if (agent->config.counter == BK_COUNTER_NATIVE)
        return;
    operation->next.columns[BK_COLUMN_COUNTER] = count;
    operation->next.mask = BIT(BK_COLUMN_COUNTER);
}

/* The same for a row in the newest bucket, and sets *count to the new count. Any other row ends the
 * operation; then returns false. */
static bool counted_plan_row(struct bk_agent *agent, struct operation *operation, int64_t *count)
{
    *count = counted_with_row(agent, operation);
    operation->adds = counted_stands_here(agent, operation);
    if (operation->adds)
        counted_plan(agent, operation, *count);
    else
        bk_operation_finish(operation, BK_OPERATION_OK);
    return operation->adds;
}

/* With a greatest age, the change is dated before the line that ends the newest bucket, whatever the clock
 * says now. */
static void counted_plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t start_ns = start_of(agent, &operation->known), line_ns = bk_agent_line_above(agent, start_ns);
    if (line_ns < INT64_MAX)
        now_ns = now_ns < start_ns ? start_ns : now_ns < line_ns ? now_ns : line_ns - 1;
    operation->next = operation->known;
    operation->next.columns[BK_COLUMN_BUCKET]++;
    operation->next.columns[BK_COLUMN_COUNTER] = counted_stored_as(agent, operation, 0);
    operation->next.columns[BK_COLUMN_LAST_CHANGE] = now_ns;
    operation->next.mask = BIT(BK_COLUMN_BUCKET) | BIT(BK_COLUMN_COUNTER) | BIT(BK_COLUMN_LAST_CHANGE);
}

static void counted_write_plan(struct operation *operation)
{
    if (operation->next.mask != 0)
        bk_operation_go(operation, COUNTED_WRITE);
    else
        bk_operation_finish(operation, BK_OPERATION_OK);
}

/* An applied conditional write also proves the columns that it did not write. After a plain write, those are
 * still as old as before. */
static void counted_keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct known known = operation->next;
    if (agent->config.counter == BK_COUNTER_LWT) {
        known.learned_ns = operation->asked_ns;
    } else {
        const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
        if (cached != NULL)
            known = *cached;
        for (unsigned i = 0; i < BK_COLUMNS; i++) {
            if (bk_operation_written_mask(operation) & BIT(i))
                known.columns[i] = operation->next.columns[i];
        }
    }
    known.mask = COLUMNS_ALL;
    bk_operation_learn(agent, operation, &known, now_ns);
}

/* The next bucket begins at the line that ends the newest one or, if the key had no rows for several lines,
 * at the last line before the row. With three states, the times between these lines belong to a bucket that
 * stays empty, so that the two dates of the state determine the bucket of each time. */
static void plan_line(const struct bk_agent *agent, struct operation *operation)
{
    const struct known *known = &operation->known;
    int64_t *next = operation->next.columns, line_ns = counted_line(agent, known);
    bool is_new = known->mask == 0, is_dated = agent->config.coordination == BK_THREE_STATE && !is_new;
    bool has_slept = is_new || bk_agent_line_above(agent, line_ns) <= operation->row.time_ns;
    int64_t start_ns = has_slept ? bk_agent_line_at(agent, operation->row.time_ns) : line_ns;
    operation->next = *known;
    operation->next.mask = BIT(BK_COLUMN_BUCKET) | BIT(BK_COLUMN_LAST_CHANGE) |
                           BIT(is_dated ? BK_COLUMN_NEXT_CHANGE : BK_COLUMN_COUNTER);
    next[BK_COLUMN_BUCKET] += is_new ? 0 : 1 + (is_dated && has_slept);
    if (is_dated) {
        next[BK_COLUMN_LAST_CHANGE] = has_slept ? line_ns : start_of(agent, known);
        next[BK_COLUMN_NEXT_CHANGE] = start_ns != 0 ? start_ns : 1; /* 0 means that there is none */
    } else {
        next[BK_COLUMN_COUNTER] = is_new ? 0 : counted_stored_as(agent, operation, 0);
        next[BK_COLUMN_LAST_CHANGE] = start_ns;
    }
}

/* Whether the row's time is at or after the line of the newest bucket; if so, the operation writes the next
 * bucket first. operation->known may be a cached copy, on which a plain write must not be based, so the state
 * is read first. A counter column is read for its base; with three states, the reset reads it later. */
static bool counted_cross_line(struct bk_agent *agent, struct operation *operation)
{
    const struct known *known = &operation->known;
    if (!is_beyond(agent, known, operation->row.time_ns))
        return false;
    enum bk_counter counter = agent->config.counter;
    bool has_total = operation->step == COUNTED_TOTAL;
    bool is_read = has_total || operation->step == STEP_LOOK || operation->step == COUNTED_FRESH;
    if (known->columns[BK_COLUMN_BUCKET] > BUCKET_LAST - 2) {
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
    } else if (counter != BK_COUNTER_LWT && !is_read) {
        bk_operation_go(operation, COUNTED_FRESH);
    } else if (counter == BK_COUNTER_NATIVE && agent->config.coordination != BK_THREE_STATE &&
               known->mask != 0 && !has_total) {
        bk_operation_go(operation, COUNTED_TOTAL);
    } else {
        plan_line(agent, operation);
        bk_operation_go(operation, COUNTED_WRITE);
    }
    return true;
}

static void counted_route(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (!counted_cross_line(agent, operation))
        bk_operation_route_newest(agent, operation, now_ns);
}

static void counted_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    bk_operation_weigh(agent, operation);
    bk_operation_find_bucket(agent, operation, now_ns);
}

static void counted_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
    if (cached == NULL) {
        bk_operation_go(operation, STEP_LOOK);
        return;
    }
    operation->known = *cached;
    bk_agent_start_reader(agent, operation, cached->columns[BK_COLUMN_BUCKET]);
}

static void counted_placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    /* Another operation may have rolled the key in the meantime; then the cache has the new state. */
    const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
    if (cached != NULL)
        operation->known = *cached;
    if (!operation->fired)
        return;
    operation->lost = operation->recounts = 0; /* these counted the attempts at the line */
    /* With LWT no read is needed first: the condition of the update fails if the copy is outdated. */
    if (agent->config.counter == BK_COUNTER_LWT)
        bk_protocol(agent)->count(agent, operation, now_ns);
    else
        bk_operation_go(operation, COUNTED_FRESH);
}

static bool counted_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                         bool *is_changing)
{
    const struct known *known = bk_agent_cache_find(agent, now_ns, key);
    if (known == NULL || is_beyond(agent, known, now_ns))
        return false;
    *bucket = known->columns[BK_COLUMN_BUCKET];
    *is_changing =
        known->columns[BK_COLUMN_NEXT_CHANGE] != 0 && now_ns < known->columns[BK_COLUMN_NEXT_CHANGE];
    return true;
}

/* Whether a conditional write of the counter was not applied, since another agent's was; if so, learns the
 * current state from the outcome. */
static bool counted_has_lost(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                             const struct bk_outcome *outcome)
{
    struct known state;
    if (outcome->kind != BK_OUTCOME_NOT_APPLIED || agent->config.counter != BK_COUNTER_LWT ||
        !bk_operation_read_known(outcome, operation->asked_ns, &state))
        return false;
    bk_operation_learn(agent, operation, &state, now_ns);
    operation->lost++;
    return true;
}

/* The write of the state failed. A conditional update of unknown outcome may have been applied, so the same
 * condition may fail now: the agent reads the state before the next try. */
static void fail_to_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          bool is_unknown)
{
    bool may_have_counted = is_unknown && agent->config.counter == BK_COUNTER_LWT;
    if (may_have_counted && operation->recounts < agent->config.counter_retries) {
        operation->recounts++;
        bk_operation_go(operation, COUNTED_FRESH);
        return;
    }
    uint32_t retries = may_have_counted ? 0 : agent->config.retries;
    bk_operation_try_again_or_end(agent, operation, now_ns, is_unknown, retries);
}

/* Handles the outcome of the steps of a row that crosses a line. The row is refused when its last try has
 * failed. After a write of unknown outcome the state is read again, since other agents may have changed it
 * since. */
static void take_line(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                      const struct bk_outcome *outcome)
{
    const struct protocol *protocol = bk_protocol(agent);
    struct known state;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED, is_unknown = bk_outcome_is_unknown(outcome);
    bool is_write = operation->step == COUNTED_WRITE;
    if (operation->step == COUNTED_FRESH && is_applied &&
        bk_operation_read_known(outcome, operation->asked_ns, &state)) {
        bk_operation_learn(agent, operation, &state, now_ns);
        protocol->route(agent, operation, now_ns);
    } else if (operation->step == COUNTED_TOTAL && is_applied) {
        operation->total = outcome->counter;
        protocol->route(agent, operation, now_ns);
    } else if (is_write && is_applied) {
        counted_keep_written(agent, operation, now_ns);
        protocol->route(agent, operation, now_ns);
    } else if (is_write && counted_has_lost(agent, operation, now_ns, outcome)) {
        if (operation->lost < CAS_TRIES_MAX)
            protocol->route(agent, operation, now_ns);
        else
            bk_operation_finish(operation, BK_OPERATION_REFUSED);
    } else if (is_write && is_unknown && operation->recounts < agent->config.retries) {
        operation->recounts++;
        bk_operation_go(operation, COUNTED_FRESH);
    } else if ((is_write && is_unknown) ||
               !bk_operation_try_again(agent, operation, now_ns, is_unknown, agent->config.retries)) {
        bk_agent_cache_forget(agent, operation->key);
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
    }
}

static void counted_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                            const struct bk_outcome *outcome)
{
    const struct protocol *protocol = bk_protocol(agent);
    struct known state;
    uint32_t retries = agent->config.retries;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED, is_unknown = bk_outcome_is_unknown(outcome);
    if (!operation->is_placed) {
        take_line(agent, operation, now_ns, outcome);
        return;
    }
    switch ((enum counted_step)operation->step) {
    case COUNTED_FRESH:
        if (!is_applied || !bk_operation_read_known(outcome, operation->asked_ns, &state))
            break;
        bk_operation_learn(agent, operation, &state, now_ns);
        if (agent->config.counter == BK_COUNTER_NATIVE)
            bk_operation_go(operation, COUNTED_ADD);
        else
            protocol->count(agent, operation, now_ns);
        return;
    case COUNTED_ADD:
        /* A second try may count the row twice. */
        retries = is_unknown ? agent->config.counter_retries : retries;
        if (!is_applied)
            break;
        operation->counted = true;
        bk_operation_go(operation, COUNTED_TOTAL);
        return;
    case COUNTED_TOTAL:
        if (!is_applied)
            break;
        operation->total = outcome->counter;
        protocol->count(agent, operation, now_ns);
        return;
    case COUNTED_WRITE:
        if (is_applied) {
            operation->counted = operation->counted || operation->adds;
            counted_keep_written(agent, operation, now_ns);
            if (protocol->written == NULL)
                bk_operation_finish(operation, BK_OPERATION_OK);
            else
                protocol->written(agent, operation, now_ns);
        } else if (!counted_has_lost(agent, operation, now_ns, outcome)) {
            fail_to_write(agent, operation, now_ns, is_unknown);
        } else if (operation->lost < CAS_TRIES_MAX) {
            protocol->count(agent, operation, now_ns);
        } else {
            bk_operation_finish(operation, BK_OPERATION_OK);
        }
        return;
    case STEP_OF_COUNTED:
        break;
    }
    bk_operation_try_again_or_end(agent, operation, now_ns, is_unknown, retries);
}

/* BK_SINGLE: an operation that finds the bucket full begins the next one in the same write, as if there were
 * no other agents. */

static void count_single(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count;
    if (!counted_plan_row(agent, operation, &count))
        return;
    if (counted_may_roll(agent, operation, count))
        counted_plan_roll(agent, operation, now_ns);
    counted_write_plan(operation);
}

static const struct step_action single_actions[] = {COUNTED_ACTIONS};
const struct protocol bk_protocol_single = {
    .write = counted_write,
    .read = counted_read,
    .route = counted_route,
    .placed = counted_placed,
    .actions = single_actions,
    .outcome = counted_outcome,
    .count = count_single,
    .view = counted_view,
    .step_count = STEP_OF_COUNTED,
};

/* BK_LOCKED: an operation that finds the bucket full takes a lock, reads the state again, begins the next
 * bucket if that is still necessary, and releases the lock. The lock row has the owner and the end of the
 * lock, both 0 after a release. An expired lock is taken over by an update whose condition names its owner
 * and end, so that only one contender succeeds. At a line of a greatest age no lock is needed, because all
 * rows beyond the line write the same state. */

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

static void count_locked(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count;
    if (!counted_plan_row(agent, operation, &count))
        return;
    if (operation->next.mask == 0 && counted_may_roll(agent, operation, count))
        begin_roll(agent, operation, now_ns);
    else
        counted_write_plan(operation);
}

static void written(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_operation_is_full(agent, operation, operation->known.columns[BK_COLUMN_COUNTER]))
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
    int64_t count = counted_before_row(agent, operation); /* now including this row */
    /* Another agent has rolled the key, or there is no further bucket, or the lock has expired. */
    if (!counted_may_roll(agent, operation, count) || !counted_stands_here(agent, operation) ||
        now_ns >= operation->lock[BK_LOCK_UNTIL]) {
        release(operation);
        return;
    }
    counted_plan_roll(agent, operation, now_ns);
    bk_operation_go(operation, LOCKED_ROLL);
}

static void fill_locked(const struct bk_agent *agent, const struct operation *operation,
                        struct bk_action *out)
{
    (void)agent;
    if (out->kind != BK_ACT_CAS_LOCK)
        return;
    out->mask = BIT(BK_LOCK_OWNER) | BIT(BK_LOCK_UNTIL);
    out->if_mask = operation->step != LOCKED_TAKE ? out->mask : 0;
    out->columns[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_OWNER];
    out->columns[BK_LOCK_UNTIL] = operation->next.columns[BK_LOCK_UNTIL];
    out->expected[BK_LOCK_OWNER] = operation->lock[BK_LOCK_OWNER];
    out->expected[BK_LOCK_UNTIL] = operation->lock[BK_LOCK_UNTIL];
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
        counted_keep_written(agent, operation, now_ns);
        release(operation);
        return;
    }
    if (counted_has_lost(agent, operation, now_ns, outcome)) {
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

static void take_locked(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
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
    counted_outcome(agent, operation, now_ns, outcome);
}

static bool is_locking(const struct operation *operation)
{
    return operation->step >= LOCKED_TAKE;
}

/* While the state is read under the lock, operation->next still is the plan that took the lock. */
static bool plans_lock(const struct operation *operation)
{
    return is_locking(operation) && operation->step != LOCKED_ROLL;
}

static const struct step_action locked_actions[] = {
    COUNTED_ACTIONS,
    [LOCKED_TAKE - STEP_OF_PROTOCOL] = {BK_ACT_CAS_LOCK, PLAIN},
    [LOCKED_TAKE_OVER - STEP_OF_PROTOCOL] = {BK_ACT_CAS_LOCK, PLAIN},
    [LOCKED_FRESH - STEP_OF_PROTOCOL] = {BK_ACT_READ_STATE, STRICT_BY_COUNTER},
    [LOCKED_ROLL - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_STATE, STRICT_BY_COUNTER},
    [LOCKED_RELEASE - STEP_OF_PROTOCOL] = {BK_ACT_CAS_LOCK, PLAIN},
};
const struct protocol bk_protocol_locked = {
    .write = counted_write,
    .read = counted_read,
    .route = counted_route,
    .placed = counted_placed,
    .actions = locked_actions,
    .fill = fill_locked,
    .outcome = take_locked,
    .count = count_locked,
    .written = written,
    .is_locking = is_locking,
    .plans_lock = plans_lock,
    .view = counted_view,
    .step_count = STEP_OF_LOCKED,
};

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

enum three_state_step {
    THREE_STATE_FRESH = STEP_OF_COUNTED, /* a row that does not fire reads the state again, */
    THREE_STATE_TOTAL,                   /* with BK_COUNTER_NATIVE it reads the counter, */
    THREE_STATE_RESET,                   /* and then it resets the counter */
    STEP_OF_THREE_STATE
};

/* Returns the bucket of a row's time. This also works after the counter was reset, which moves the change
 * time to BK_COLUMN_LAST_CHANGE: a row that was accepted before the reset and routed after it still goes to
 * the old bucket. */
static int64_t bucket_at(const struct known *known, int64_t time_ns)
{
    int64_t bucket = known->columns[BK_COLUMN_BUCKET], next_ns = known->columns[BK_COLUMN_NEXT_CHANGE];
    if (bucket == 0)
        return bucket;
    if (next_ns != 0 && time_ns >= next_ns)
        return bucket;
    if (next_ns != 0)
        bucket--;
    return time_ns >= known->columns[BK_COLUMN_LAST_CHANGE] || bucket == 0 ? bucket : bucket - 1;
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
           known[BK_COLUMN_LAST_CHANGE] > time_ns &&
           (uint64_t)known[BK_COLUMN_LAST_CHANGE] - (uint64_t)time_ns > lead_ns;
}

static void route_three_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (counted_cross_line(agent, operation))
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
    operation->next.columns[BK_COLUMN_COUNTER] = counted_stored_as(agent, operation, count);
    operation->next.columns[BK_COLUMN_LAST_CHANGE] = operation->known.columns[BK_COLUMN_NEXT_CHANGE];
    operation->next.columns[BK_COLUMN_NEXT_CHANGE] = 0;
    operation->next.mask = BIT(BK_COLUMN_COUNTER) | BIT(BK_COLUMN_LAST_CHANGE) | BIT(BK_COLUMN_NEXT_CHANGE);
}

/* Plans a change, unless a line follows within a lead of its date: that line ends the bucket, and dates stay
 * at least a lead apart. */
static void plan_change(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t change_ns = bk_agent_saturating_add(now_ns, 1, agent->config.lead_ns);
    if (bk_agent_saturating_add(change_ns, 1, agent->config.lead_ns) > counted_line(agent, &operation->known))
        return;
    operation->next.columns[BK_COLUMN_BUCKET]++;
    operation->next.columns[BK_COLUMN_NEXT_CHANGE] =
        change_ns != 0 ? change_ns : 1; /* 0 means that there is none */
    operation->next.mask |= BIT(BK_COLUMN_BUCKET) | BIT(BK_COLUMN_NEXT_CHANGE);
}

static void count_three_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count = counted_with_row(agent, operation);
    int64_t next_ns = operation->known.columns[BK_COLUMN_NEXT_CHANGE];
    bool stands_here = counted_stands_here(agent, operation), is_waiting = next_ns != 0;
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
        counted_plan(agent, operation, count);
    }
    if (!is_waiting && counted_may_roll(agent, operation, count))
        plan_change(agent, operation, now_ns);
    counted_write_plan(operation);
}

static bool reset_is_due(const struct operation *operation, int64_t now_ns)
{
    int64_t change_ns = operation->known.columns[BK_COLUMN_NEXT_CHANGE];
    return change_ns != 0 && now_ns >= change_ns;
}

static void reset(const struct bk_agent *agent, struct operation *operation)
{
    plan_reset(agent, operation, 0);
    bk_operation_go(operation, THREE_STATE_RESET);
}

static void placed_three_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    counted_placed(agent, operation, now_ns);
    if (operation->fired || !reset_is_due(operation, now_ns))
        return;
    if (agent->config.counter == BK_COUNTER_LWT)
        reset(agent, operation); /* the update's condition verifies the cached state */
    else
        bk_operation_go(operation, THREE_STATE_FRESH);
}

/* Resets the counter if that is necessary according to the state that was just read. The cached state may be
 * from before another agent's reset, and a second reset would discard what was counted since. */
static void reset_if_due(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (!reset_is_due(operation, now_ns))
        bk_operation_finish(operation, BK_OPERATION_OK);
    else if (agent->config.counter == BK_COUNTER_NATIVE)
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
            counted_keep_written(agent, operation, now_ns);
        else if (!counted_has_lost(agent, operation, now_ns, outcome))
            return false;
        bk_operation_finish(operation,
                            BK_OPERATION_OK); /* the reset was made by another agent or by this one */
        return true;
    case STEP_OF_THREE_STATE:
        break;
    }
    return false;
}

static void take_three_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
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
    counted_outcome(agent, operation, now_ns, outcome);
}

static bool view_three_state(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                             bool *is_changing)
{
    if (!counted_view(agent, now_ns, key, bucket, is_changing))
        return false;
    *bucket = bucket_at(bk_agent_cache_find(agent, now_ns, key), now_ns);
    return true;
}

static const struct step_action three_state_actions[] = {
    COUNTED_ACTIONS,
    [THREE_STATE_FRESH - STEP_OF_PROTOCOL] = {BK_ACT_READ_STATE, PLAIN},
    [THREE_STATE_TOTAL - STEP_OF_PROTOCOL] = {BK_ACT_READ_COUNTER, PLAIN},
    [THREE_STATE_RESET - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_STATE, STRICT_BY_COUNTER},
};
const struct protocol bk_protocol_three_state = {
    .write = counted_write,
    .read = counted_read,
    .route = route_three_state,
    .placed = placed_three_state,
    .actions = three_state_actions,
    .outcome = take_three_state,
    .count = count_three_state,
    .view = view_three_state,
    .step_count = STEP_OF_THREE_STATE,
};
