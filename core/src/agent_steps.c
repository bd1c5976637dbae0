/* SPDX-License-Identifier: MIT */
/* What an operation does next. A write goes: find the bucket, put the row, acknowledge; then, when the row
 * fires, count it, and roll the key when the count is full. A read goes: find the newest bucket, then ask as
 * the read plan says. */
#include <string.h>

#include "agent.h"

/* A compare-and-set that has lost this often in a row is given up: somebody else counts fast enough. */
#define CAS_TRIES_MAX 64u

#define BIT(column) (1u << (column))

static void go(struct operation *operation, enum step step);
static void finish(struct operation *operation, enum bk_operation_status status);
static void route_by(struct bk_agent *agent, struct operation *operation, const struct known *known);
static void start_reader(struct bk_agent *agent, struct operation *operation, int64_t bucket);
static void ask_next_rows(struct operation *operation);
static void after_put(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void plan_reset(const struct bk_agent *agent, struct operation *operation);
static void plan_count(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void plan_lock(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void plan_roll(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void take_applied(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome);
static void take_not_applied(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                             const struct bk_outcome *outcome);
static void take_failure(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         bool is_unknown);
static void learn(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                  const struct bk_outcome *outcome);
static void keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static int64_t count_of(const struct bk_agent *agent, const struct operation *operation);
static bool is_lock_step(enum step step);

void bk_agent_begin_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (agent->config.strategy.kind != BK_PROBABILISTIC) {
        struct bk_route route;
        bk_route(&agent->config.strategy, NULL, &operation->row, &route);
        operation->bucket = route.bucket;
        go(operation, STEP_PUT);
        return;
    }
    operation->fired = bk_fires(&agent->config.strategy, &operation->row);
    const struct known *known = bk_agent_cache_find(agent, now_ns, operation->key);
    if (known != NULL)
        route_by(agent, operation, known);
    else
        go(operation, STEP_ROUTE_READ);
}

void bk_agent_begin_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (agent->config.strategy.kind == BK_PROBABILISTIC) {
        const struct known *known = bk_agent_cache_find(agent, now_ns, operation->key);
        if (known != NULL)
            start_reader(agent, operation, known->columns[BK_BUCKET]);
        else
            go(operation, STEP_ROUTE_READ);
        return;
    }
    struct bk_route route;
    bk_route(&agent->config.strategy, NULL, &operation->row, &route);
    start_reader(agent, operation, agent->config.strategy.kind == BK_COUNT ? route.bucket : 0);
}

int64_t bk_agent_bucket_at(const struct bk_agent_config *config, const struct known *known, int64_t time_ns)
{
    int64_t bucket = known->columns[BK_BUCKET], next_change_ns = known->columns[BK_NEXT_CHANGE];
    bool is_before = config->coordination == BK_THREE_STATE && next_change_ns != 0 &&
                     time_ns < next_change_ns && bucket > 0;
    return is_before ? bucket - 1 : bucket;
}

bool bk_agent_is_changing(const struct known *known, int64_t time_ns)
{
    return known->columns[BK_NEXT_CHANGE] != 0 && time_ns < known->columns[BK_NEXT_CHANGE];
}

void bk_agent_take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                           const struct bk_outcome *outcome)
{
    switch (outcome->kind) {
    case BK_OUTCOME_APPLIED:
        take_applied(agent, operation, now_ns, outcome);
        break;
    case BK_OUTCOME_NOT_APPLIED:
        take_not_applied(agent, operation, now_ns, outcome);
        break;
    default:
        take_failure(agent, operation, now_ns, outcome->kind != BK_OUTCOME_REFUSED);
    }
}

void bk_agent_fill_action(const struct bk_agent *agent, const struct operation *operation,
                          struct bk_action *out)
{
    bool by_lwt = agent->config.counter == BK_COUNTER_LWT;
    out->is_retry = operation->is_retry;
    switch (operation->step) {
    case STEP_ROUTE_READ:
    case STEP_FRESH_READ:
    case STEP_LOCKED_READ:
        out->kind = BK_ACT_READ_STATE;
        out->serial = by_lwt && operation->step != STEP_ROUTE_READ;
        break;
    case STEP_PUT:
        out->kind = BK_ACT_PUT_ROW;
        break;
    case STEP_ADD:
        out->kind = BK_ACT_ADD_COUNTER;
        break;
    case STEP_TOTAL:
        out->kind = BK_ACT_READ_COUNTER;
        break;
    case STEP_RESET:
    case STEP_COUNT:
    case STEP_ROLL:
        out->kind = by_lwt ? BK_ACT_CAS_STATE : BK_ACT_WRITE_STATE;
        /* A new row gets all of its columns at once. */
        out->mask = operation->known.mask == 0 ? COLUMNS_ALL : operation->next.mask;
        out->if_mask = by_lwt && operation->known.mask != 0 ? operation->if_mask : 0;
        memcpy(out->columns, operation->next.columns, sizeof out->columns);
        memcpy(out->expected, operation->known.columns, sizeof out->expected);
        break;
    case STEP_LOCK:
    case STEP_LOCK_STALE:
    case STEP_UNLOCK:
        out->kind = BK_ACT_CAS_LOCK;
        out->mask = BIT(BK_LOCK_OWNER) | BIT(BK_LOCK_UNTIL);
        out->if_mask = operation->step == STEP_LOCK ? 0 : out->mask;
        memcpy(out->columns, operation->next.columns, sizeof out->columns);
        out->expected[BK_LOCK_OWNER] = operation->lock[BK_LOCK_OWNER];
        out->expected[BK_LOCK_UNTIL] = operation->lock[BK_LOCK_UNTIL];
        break;
    case STEP_ROWS: {
        struct bk_reader reader = operation->reader;
        out->kind = BK_ACT_READ_ROWS;
        bk_read_next(&reader, &out->step);
        break;
    }
    case STEP_DONE:
    case STEP_FREE:
        out->kind = BK_ACT_DONE;
        out->status = operation->status;
        out->fired = operation->fired;
        out->counted = operation->counted;
        out->rows_found = operation->reader.rows_found;
        out->partitions_asked = operation->reader.partitions_asked;
        break;
    }
}

static void go(struct operation *operation, enum step step)
{
    operation->step = step;
    operation->tries = 0;
    operation->is_retry = false;
}

static void finish(struct operation *operation, enum bk_operation_status status)
{
    go(operation, STEP_DONE);
    operation->status = status;
}

static void route_by(struct bk_agent *agent, struct operation *operation, const struct known *known)
{
    operation->known = *known;
    operation->bucket = bk_agent_bucket_at(&agent->config, known, operation->row.time_ns);
    go(operation, STEP_PUT);
}

static void start_reader(struct bk_agent *agent, struct operation *operation, int64_t bucket)
{
    struct bk_key_state state;
    memset(&state, 0, sizeof state);
    state.bucket = bucket;
    enum bk_status status =
        bk_read_latest(&agent->config.strategy, &state, operation->row.time_ns, operation->birth_ns,
                       operation->row.bytes, operation->plan, &operation->reader);
    if (status == BK_OK)
        ask_next_rows(operation);
    else
        finish(operation, BK_OPERATION_REFUSED); /* a stored bucket that no strategy makes */
}

static void ask_next_rows(struct operation *operation)
{
    struct bk_read_step step;
    if (bk_read_next(&operation->reader, &step))
        go(operation, STEP_ROWS);
    else
        finish(operation, BK_OPERATION_OK);
}

static void after_put(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    operation->ack_due = true;
    operation->status = BK_OPERATION_OK;
    if (agent->config.strategy.kind != BK_PROBABILISTIC) {
        finish(operation, BK_OPERATION_OK);
        return;
    }
    int64_t next_change_ns = operation->known.columns[BK_NEXT_CHANGE];
    bool reset_is_due =
        agent->config.coordination == BK_THREE_STATE && next_change_ns != 0 && now_ns >= next_change_ns;
    if (operation->fired && agent->config.counter == BK_COUNTER_LWT)
        plan_count(agent, operation, now_ns);
    else if (operation->fired)
        go(operation, STEP_FRESH_READ);
    else if (reset_is_due && agent->config.counter == BK_COUNTER_COLUMN)
        go(operation, STEP_TOTAL);
    else if (reset_is_due)
        plan_reset(agent, operation);
    else
        finish(operation, BK_OPERATION_OK);
}

/* Post-change, and the row does not fire: whoever touches the key first sets the counter back, perhaps
 * several do. */
static void plan_reset(const struct bk_agent *agent, struct operation *operation)
{
    operation->next = operation->known;
    operation->next.columns[BK_COUNTER] = agent->config.counter == BK_COUNTER_COLUMN ? operation->total : 0;
    operation->next.columns[BK_LAST_CHANGE] = operation->known.columns[BK_NEXT_CHANGE];
    operation->next.columns[BK_NEXT_CHANGE] = 0;
    operation->next.mask = BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE) | BIT(BK_NEXT_CHANGE);
    operation->if_mask = BIT(BK_BUCKET) | BIT(BK_NEXT_CHANGE);
    go(operation, STEP_RESET);
}

/* The row fired: what is to be written, given the state as known. */
static void plan_count(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct bk_agent_config *config = &agent->config;
    const int64_t *known = operation->known.columns;
    bool by_column = config->counter == BK_COUNTER_COLUMN;
    int64_t count = count_of(agent, operation);
    struct known *next = &operation->next;
    *next = operation->known;
    next->mask = 0;
    operation->if_mask = BIT(BK_BUCKET) | BIT(BK_COUNTER) | BIT(BK_NEXT_CHANGE);
    bool is_waiting = config->coordination == BK_THREE_STATE && known[BK_NEXT_CHANGE] != 0;
    if (is_waiting && now_ns >= known[BK_NEXT_CHANGE]) {
        /* Post-change: the reset, with this row's increment on top. */
        count = 1;
        next->columns[BK_COUNTER] = by_column ? operation->total - 1 : count;
        next->columns[BK_LAST_CHANGE] = known[BK_NEXT_CHANGE];
        next->columns[BK_NEXT_CHANGE] = 0;
        next->mask = BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE) | BIT(BK_NEXT_CHANGE);
        is_waiting = false;
    } else if (!by_column) {
        next->columns[BK_COUNTER] = count;
        next->mask = BIT(BK_COUNTER);
    }
    bool is_full = count > 0 && (uint64_t)count >= config->strategy.of.probabilistic.threshold && !is_waiting;
    if (is_full && config->coordination == BK_SINGLE) {
        next->columns[BK_BUCKET] = known[BK_BUCKET] + 1;
        next->columns[BK_COUNTER] = by_column ? operation->total : 0;
        next->columns[BK_LAST_CHANGE] = now_ns;
        next->mask |= BIT(BK_BUCKET) | BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE);
    } else if (is_full && config->coordination == BK_THREE_STATE) {
        next->columns[BK_BUCKET] = known[BK_BUCKET] + 1;
        next->columns[BK_NEXT_CHANGE] = now_ns + config->lead_ns;
        next->mask |= BIT(BK_BUCKET) | BIT(BK_NEXT_CHANGE);
    }
    if (next->mask != 0) {
        enum step step = operation->step;
        uint32_t tries = operation->tries;
        go(operation, STEP_COUNT);
        operation->tries = step == STEP_COUNT ? tries : 0; /* conditional updates that lost count on */
    } else if (is_full && config->coordination == BK_LOCKED) {
        plan_lock(agent, operation, now_ns);
    } else {
        finish(operation, BK_OPERATION_OK);
    }
}

static void plan_lock(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    bool is_known = operation->lock_exists;
    uint32_t tries = is_lock_step(operation->step) ? operation->tries : 0;
    go(operation, is_known ? STEP_LOCK_STALE : STEP_LOCK);
    operation->tries = tries;
    operation->next.columns[BK_LOCK_OWNER] = (int64_t)agent->config.agent_id;
    operation->next.columns[BK_LOCK_UNTIL] = now_ns + agent->config.lock_lasts_ns;
}

/* The lock is held and the state was read again. */
static void plan_roll(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct bk_agent_config *config = &agent->config;
    bool by_column = config->counter == BK_COUNTER_COLUMN;
    const int64_t *known = operation->known.columns;
    int64_t count = by_column ? operation->total - known[BK_COUNTER] : known[BK_COUNTER];
    if (count <= 0 || (uint64_t)count < config->strategy.of.probabilistic.threshold) {
        /* Somebody else has rolled. */
        go(operation, STEP_UNLOCK);
        operation->next.columns[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_UNTIL] = 0;
        return;
    }
    operation->next = operation->known;
    operation->next.columns[BK_BUCKET] = known[BK_BUCKET] + 1;
    operation->next.columns[BK_COUNTER] = by_column ? operation->total : 0;
    operation->next.columns[BK_LAST_CHANGE] = now_ns;
    operation->next.mask = BIT(BK_BUCKET) | BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE);
    operation->if_mask = BIT(BK_BUCKET) | BIT(BK_COUNTER);
    go(operation, STEP_ROLL);
}

static void take_applied(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    switch (operation->step) {
    case STEP_ROUTE_READ:
        learn(agent, operation, now_ns, outcome);
        if (operation->is_read)
            start_reader(agent, operation, operation->known.columns[BK_BUCKET]);
        else
            route_by(agent, operation, &operation->known);
        break;
    case STEP_PUT:
        after_put(agent, operation, now_ns);
        break;
    case STEP_RESET:
        keep_written(agent, operation, now_ns);
        finish(operation, BK_OPERATION_OK);
        break;
    case STEP_FRESH_READ:
        learn(agent, operation, now_ns, outcome);
        if (agent->config.counter == BK_COUNTER_COLUMN)
            go(operation, STEP_ADD);
        else
            plan_count(agent, operation, now_ns);
        break;
    case STEP_ADD:
        operation->counted = true;
        go(operation, STEP_TOTAL);
        break;
    case STEP_TOTAL:
        operation->total = outcome->counter;
        if (operation->fired)
            plan_count(agent, operation, now_ns);
        else
            plan_reset(agent, operation);
        break;
    case STEP_COUNT: {
        operation->counted = true;
        keep_written(agent, operation, now_ns);
        int64_t count = operation->known.columns[BK_COUNTER];
        if (agent->config.coordination == BK_LOCKED && count > 0 &&
            (uint64_t)count >= agent->config.strategy.of.probabilistic.threshold)
            plan_lock(agent, operation, now_ns);
        else
            finish(operation, BK_OPERATION_OK);
        break;
    }
    case STEP_LOCK:
    case STEP_LOCK_STALE:
        operation->lock[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_OWNER];
        operation->lock[BK_LOCK_UNTIL] = operation->next.columns[BK_LOCK_UNTIL];
        go(operation, STEP_LOCKED_READ);
        break;
    case STEP_LOCKED_READ:
        learn(agent, operation, now_ns, outcome);
        plan_roll(agent, operation, now_ns);
        break;
    case STEP_ROLL:
        keep_written(agent, operation, now_ns);
        operation->next.columns[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_UNTIL] = 0;
        go(operation, STEP_UNLOCK);
        break;
    case STEP_ROWS: {
        struct bk_read_step step;
        bk_read_next(&operation->reader, &step);
        bk_read_found(&operation->reader, outcome->rows);
        ask_next_rows(operation);
        break;
    }
    default:
        finish(operation, BK_OPERATION_OK);
    }
}

/* A condition failed; the outcome tells what holds in its place. */
static void take_not_applied(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                             const struct bk_outcome *outcome)
{
    switch (operation->step) {
    case STEP_COUNT:
        learn(agent, operation, now_ns, outcome);
        if (++operation->tries >= CAS_TRIES_MAX)
            finish(operation, BK_OPERATION_OK);
        else
            plan_count(agent, operation, now_ns);
        break;
    case STEP_LOCK:
    case STEP_LOCK_STALE: {
        int64_t owner = outcome->columns[BK_LOCK_OWNER], until_ns = outcome->columns[BK_LOCK_UNTIL];
        operation->lock_exists = outcome->mask != 0;
        operation->lock[BK_LOCK_OWNER] = owner;
        operation->lock[BK_LOCK_UNTIL] = until_ns;
        if (owner == operation->next.columns[BK_LOCK_OWNER] &&
            until_ns == operation->next.columns[BK_LOCK_UNTIL]) {
            /* An earlier try, told as unknown, had taken it. */
            go(operation, STEP_LOCKED_READ);
        } else if (++operation->tries > agent->config.retries) {
            finish(operation, BK_OPERATION_OK);
        } else {
            plan_lock(agent, operation, now_ns);
            if (owner != 0 && until_ns > now_ns) {
                /* Between half and one and a half of the mean, other for each agent and try, so that
                 * contenders part. */
                uint64_t mix = (agent->config.agent_id + operation->tries) * UINT64_C(0x9e3779b97f4a7c15);
                uint64_t mean = (uint64_t)agent->config.lock_backoff_ns;
                operation->wake_ns = now_ns + (int64_t)(mean / 2 + (mix >> 32) % (mean + 1));
            }
        }
        break;
    }
    case STEP_ROLL:
        learn(agent, operation, now_ns, outcome);
        operation->next.columns[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_UNTIL] = 0;
        go(operation, STEP_UNLOCK);
        break;
    case STEP_RESET:
        learn(agent, operation, now_ns, outcome);
        finish(operation, BK_OPERATION_OK);
        break;
    default:
        finish(operation, operation->status);
    }
}

/* Refused or unknown: the same action again while it may be repeated, else the operation ends as well as it
 * can. */
static void take_failure(struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown)
{
    const struct bk_agent_config *config = &agent->config;
    bool counts =
        operation->step == STEP_ADD || (operation->step == STEP_COUNT && config->counter == BK_COUNTER_LWT);
    uint32_t most = counts && is_unknown ? config->counter_retries : config->retries;
    operation->was_unknown = operation->was_unknown || (is_unknown && operation->step == STEP_PUT);
    if (operation->tries < most) {
        operation->tries++;
        operation->is_retry = true;
        if (counts && is_unknown && operation->step == STEP_COUNT) {
            /* What the condition named may hold no longer: look before the next try. */
            uint32_t tries = operation->tries;
            go(operation, STEP_FRESH_READ);
            operation->tries = tries;
        }
        if (!is_unknown && config->retry_backoff_ns > 0)
            operation->wake_ns = now_ns + (int64_t)operation->tries * config->retry_backoff_ns;
        return;
    }
    switch (operation->step) {
    case STEP_ROUTE_READ:
        finish(operation, BK_OPERATION_REFUSED);
        break;
    case STEP_PUT:
        finish(operation, operation->was_unknown ? BK_OPERATION_UNKNOWN : BK_OPERATION_REFUSED);
        break;
    case STEP_ROWS:
        finish(operation, BK_OPERATION_UNKNOWN);
        break;
    case STEP_LOCKED_READ:
    case STEP_ROLL:
        bk_agent_cache_forget(agent, operation->key);
        operation->next.columns[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_UNTIL] = 0;
        go(operation, STEP_UNLOCK);
        break;
    default:
        /* The row is stored; its increment is lost, or not known. */
        bk_agent_cache_forget(agent, operation->key);
        finish(operation, BK_OPERATION_OK);
    }
}

static void learn(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                  const struct bk_outcome *outcome)
{
    memset(&operation->known, 0, sizeof operation->known);
    if ((outcome->mask & COLUMNS_ALL) != 0) {
        operation->known.mask = COLUMNS_ALL;
        for (unsigned i = 0; i < BK_COLUMN_COUNT; i++)
            operation->known.columns[i] = outcome->mask & BIT(i) ? outcome->columns[i] : 0;
    }
    bk_agent_cache_store(agent, now_ns, operation->key, &operation->known);
}

/* The write is stored, so the agent knows the new state without reading it. */
static void keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    memcpy(operation->known.columns, operation->next.columns, sizeof operation->known.columns);
    operation->known.mask = COLUMNS_ALL;
    bk_agent_cache_store(agent, now_ns, operation->key, &operation->known);
}

/* The count with this row in it. */
static int64_t count_of(const struct bk_agent *agent, const struct operation *operation)
{
    int64_t stored = operation->known.columns[BK_COUNTER];
    return agent->config.counter == BK_COUNTER_COLUMN ? operation->total - stored : stored + 1;
}

static bool is_lock_step(enum step step)
{
    return step == STEP_LOCK || step == STEP_LOCK_STALE;
}
