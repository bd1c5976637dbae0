/* SPDX-License-Identifier: MIT */
/* What an operation does next. A write goes: find the bucket, put the row, acknowledge; then, when the row
 * fires, count it, and roll the key when the count is full. A read goes: find the newest bucket, then ask as
 * the read plan says. */
#include <string.h>

#include "agent.h"

static void route_by(struct bk_agent *agent, struct operation *operation, const struct known *known,
                     int64_t now_ns);
static bool is_forgotten(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns);
static void after_put(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static bool reset_is_due(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns);
static void reset_if_due(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void take_count(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void take_applied(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome);
static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct known *state);
static void take_current(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct known *state);
static void take_failure(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         bool is_unknown);
static void repeat(struct operation *operation, int64_t at_ns, bool sleeps);
static bool may_repeat(const struct bk_agent *agent, const struct operation *operation, int64_t at_ns,
                       bool is_unknown);
static void give_up(struct bk_agent *agent, struct operation *operation);
static void keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static uint32_t written_mask(const struct operation *operation);
static void remember(struct bk_agent *agent, uint64_t key, int64_t now_ns, const struct known *known);

void bk_agent_begin_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_agent_is_numbered(&agent->config)) {
        bk_agent_number_write(agent, operation);
        return;
    }
    if (agent->config.source == BK_SOURCE_MEMORY) {
        bk_agent_own_write(agent, operation, now_ns);
        return;
    }
    if (!bk_kind_fires(agent->config.strategy.kind) && !bk_agent_is_summed(&agent->config)) {
        struct bk_route route;
        bk_history_route(&agent->config.history, NULL, &operation->row, &route);
        operation->bucket = route.bucket;
        bk_agent_go(operation, STEP_PUT);
        return;
    }
    uint64_t weight = bk_weight(bk_agent_settings(agent, operation->row.time_ns), &operation->row);
    operation->weight = weight < WEIGHT_MAX ? (int64_t)weight : WEIGHT_MAX;
    operation->fired = weight > 0;
    if (agent->config.coordination == BK_GUARDED) {
        bk_agent_guarded_write(agent, operation, now_ns);
        return;
    }
    const struct known *known = bk_agent_cache_find(agent, now_ns, operation->key);
    if (known != NULL)
        route_by(agent, operation, known, now_ns);
    else
        bk_agent_go(operation, STEP_ROUTE_READ);
}

void bk_agent_begin_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (agent->config.coordination == BK_GUARDED) {
        bk_agent_guarded_go_on(agent, operation, now_ns);
        return;
    }
    /* Others may have begun a bucket since this agent looked: a reader asks where the newest one is. */
    if (agent->config.source != BK_SOURCE_EXTERNAL) {
        bool is_counter = agent->config.source == BK_SOURCE_COUNTER;
        bk_agent_go(operation, is_counter ? STEP_NUMBER_TOTAL : STEP_ROUTE_READ);
        return;
    }
    if (bk_kind_fires(agent->config.strategy.kind)) {
        const struct known *known = bk_agent_cache_find(agent, now_ns, operation->key);
        if (known == NULL) {
            bk_agent_go(operation, STEP_ROUTE_READ);
            return;
        }
        operation->known = *known;
        bk_agent_start_reader(agent, operation, known->columns[BK_BUCKET]);
        return;
    }
    struct bk_route route;
    bk_route(&agent->config.strategy, NULL, &operation->row, &route);
    bk_agent_start_reader(agent, operation, agent->config.strategy.kind == BK_COUNT ? route.bucket : 0);
}

/* In a three-state change the row's own time decides, also once somebody has reset the counter and so moved
 * the change time to last_change: a row that was taken before it and routed after it still goes to the old
 * bucket. */
int64_t bk_agent_bucket_at(const struct bk_agent_config *config, const struct known *known, int64_t time_ns)
{
    int64_t bucket = known->columns[BK_BUCKET], next_ns = known->columns[BK_NEXT_CHANGE];
    if (config->coordination != BK_THREE_STATE || bucket == 0)
        return bucket;
    if (next_ns != 0 && time_ns >= next_ns)
        return bucket;
    if (next_ns != 0)
        bucket--;
    return time_ns >= known->columns[BK_LAST_CHANGE] || bucket == 0 ? bucket : bucket - 1;
}

bool bk_agent_is_changing(const struct known *known, int64_t time_ns)
{
    return known->columns[BK_NEXT_CHANGE] != 0 && time_ns < known->columns[BK_NEXT_CHANGE];
}

void bk_agent_take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                           const struct bk_outcome *outcome)
{
    enum step step = operation->step;
    bool reads_state = step == STEP_ROUTE_READ || step == STEP_FRESH_READ || step == STEP_LOCKED_READ;
    bool is_lock = step == STEP_LOCK || step == STEP_LOCK_STALE || step == STEP_UNLOCK;
    bool is_conditional = (step == STEP_COUNT || step == STEP_RESET || step == STEP_ROLL) &&
                          agent->config.counter == BK_COUNTER_LWT;
    struct known state;
    if (step > STEP_PARKED) {
        if (step <= STEP_NUMBER_TAKE)
            bk_agent_number_outcome(agent, operation, now_ns, outcome);
        else if (step <= STEP_SUM_FRESH)
            bk_agent_sum_outcome(agent, operation, now_ns, outcome);
        else
            bk_agent_own_outcome(agent, operation, now_ns, outcome);
        return;
    }
    if (step >= STEP_GRANT_READ) {
        bk_agent_guarded_outcome(agent, operation, now_ns, outcome);
        return;
    }
    bool is_possible = bk_agent_read_known(outcome, operation->asked_ns, &state);
    if (outcome->kind == BK_OUTCOME_APPLIED && !reads_state)
        take_applied(agent, operation, now_ns, outcome);
    else if (outcome->kind == BK_OUTCOME_APPLIED && is_possible)
        take_state(agent, operation, now_ns, &state);
    else if (outcome->kind == BK_OUTCOME_NOT_APPLIED && is_lock)
        bk_agent_lock_denied(agent, operation, now_ns, outcome);
    else if (outcome->kind == BK_OUTCOME_NOT_APPLIED && is_conditional && is_possible)
        take_current(agent, operation, now_ns, &state);
    else
        /* Also a state that no strategy makes, and a condition that failed where none was named. */
        take_failure(agent, operation, now_ns, (unsigned)outcome->kind >= BK_OUTCOME_UNKNOWN);
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
    case STEP_NUMBER_ADD:
        out->kind = BK_ACT_ADD_COUNTER;
        out->amount = operation->step == STEP_ADD ? operation->weight : 1;
        break;
    case STEP_TOTAL:
    case STEP_NUMBER_TOTAL:
        out->kind = BK_ACT_READ_COUNTER;
        break;
    case STEP_RESET:
    case STEP_COUNT:
    case STEP_ROLL:
        out->kind = by_lwt ? BK_ACT_CAS_STATE : BK_ACT_WRITE_STATE;
        out->mask = written_mask(operation);
        /* A failed condition gives back the columns that it names, so it names them all. */
        out->if_mask = by_lwt ? operation->known.mask : 0;
        memcpy(out->columns, operation->next.columns, sizeof out->columns);
        if (by_lwt)
            memcpy(out->expected, operation->known.columns, sizeof out->expected);
        break;
    case STEP_LOCK:
    case STEP_LOCK_STALE:
    case STEP_UNLOCK:
        out->kind = BK_ACT_CAS_LOCK;
        out->mask = BIT(BK_LOCK_OWNER) | BIT(BK_LOCK_UNTIL);
        out->if_mask = operation->step == STEP_LOCK ? 0 : out->mask;
        out->columns[BK_LOCK_OWNER] = operation->next.columns[BK_LOCK_OWNER];
        out->columns[BK_LOCK_UNTIL] = operation->next.columns[BK_LOCK_UNTIL];
        out->expected[BK_LOCK_OWNER] = operation->lock[BK_LOCK_OWNER];
        out->expected[BK_LOCK_UNTIL] = operation->lock[BK_LOCK_UNTIL];
        break;
    case STEP_ROWS: {
        struct bk_reader reader = operation->reader.reader;
        out->kind = BK_ACT_READ_ROWS;
        bk_read_next(&reader, &out->step);
        break;
    }
    case STEP_DONE:
        out->kind = BK_ACT_DONE;
        out->status = operation->status;
        out->fired = operation->fired;
        out->counted = operation->counted;
        out->rows_found = bk_history_rows_found(&operation->reader);
        out->partitions_asked = bk_history_partitions_asked(&operation->reader);
        out->partitions_spared = operation->reader.reader.partitions_spared;
        out->order = operation->reader.reader.order;
        break;
    default:
        if (operation->step > STEP_PARKED)
            bk_agent_sum_fill(agent, operation, out);
        else
            bk_agent_guarded_fill(operation, out);
        break;
    }
}

void bk_agent_go(struct operation *operation, enum step step)
{
    operation->step = step;
    operation->tries = 0;
    operation->is_retry = false;
}

void bk_agent_finish(struct operation *operation, enum bk_operation_status status)
{
    bk_agent_go(operation, STEP_DONE);
    operation->status = status;
}

int64_t bk_agent_later(int64_t now_ns, uint64_t times, int64_t span_ns)
{
    const int64_t last_ns = INT64_MAX - 1; /* the one after it means never */
    if (span_ns == 0)
        return now_ns;
    if (times > (uint64_t)(last_ns / span_ns))
        return last_ns;
    int64_t wait_ns = (int64_t)times * span_ns;
    return now_ns > last_ns - wait_ns ? last_ns : now_ns + wait_ns;
}

static void route_by(struct bk_agent *agent, struct operation *operation, const struct known *known,
                     int64_t now_ns)
{
    operation->known = *known;
    operation->bucket = bk_agent_bucket_at(&agent->config, known, operation->row.time_ns);
    if (is_forgotten(agent, operation, now_ns))
        bk_agent_finish(operation, BK_OPERATION_REFUSED);
    else
        bk_agent_go(operation, STEP_PUT);
}

/* The state keeps the dates of its last two buckets, and between two dates lies a lead at least. So a row
 * that has waited for longer than that, and is older by more than that than both, may belong further down.
 * (One that has not waited has a clock that is behind, and goes to the oldest bucket that is known.) */
static bool is_forgotten(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns)
{
    const int64_t *known = operation->known.columns;
    uint64_t lead_ns = (uint64_t)agent->config.lead_ns;
    int64_t time_ns = operation->row.time_ns;
    return agent->config.coordination == BK_THREE_STATE && operation->bucket > 0 && lead_ns > 0 &&
           now_ns > time_ns && (uint64_t)now_ns - (uint64_t)time_ns > lead_ns &&
           known[BK_LAST_CHANGE] > time_ns && (uint64_t)known[BK_LAST_CHANGE] - (uint64_t)time_ns > lead_ns;
}

static void after_put(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    operation->ack_due = operation->is_placed = true;
    bk_agent_finish(operation, BK_OPERATION_OK);
    bk_agent_forget_empty(agent, operation->key, operation->bucket);
    if (bk_agent_is_summed(&agent->config))
        bk_agent_sum_after_put(agent, operation, now_ns);
    if (!bk_kind_fires(agent->config.strategy.kind))
        return;
    if (agent->config.coordination == BK_GUARDED) {
        if (operation->fired)
            bk_agent_go(operation, STEP_ADD);
        return;
    }
    /* What other operations have learned meanwhile: one of them may have reset the key. */
    const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
    if (cached != NULL)
        operation->known = *cached;
    bool is_due = reset_is_due(agent, operation, now_ns);
    if (operation->fired && agent->config.counter == BK_COUNTER_LWT)
        bk_agent_plan_count(agent, operation, now_ns);
    else if (operation->fired)
        bk_agent_go(operation, STEP_FRESH_READ);
    else if (is_due && agent->config.counter == BK_COUNTER_LWT)
        bk_agent_plan_reset(agent, operation); /* its condition tells whether the copy still holds */
    else if (is_due)
        bk_agent_go(operation, STEP_FRESH_READ);
}

static bool reset_is_due(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns)
{
    int64_t change_ns = operation->known.columns[BK_NEXT_CHANGE];
    return agent->config.coordination == BK_THREE_STATE && change_ns != 0 && now_ns >= change_ns;
}

/* By the state as it was just read: the cached one may be from before somebody else's reset, and a second one
 * would take what has been counted since. */
static void reset_if_due(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (!reset_is_due(agent, operation, now_ns))
        bk_agent_finish(operation, BK_OPERATION_OK);
    else if (agent->config.counter == BK_COUNTER_COLUMN)
        bk_agent_go(operation, STEP_TOTAL);
    else
        bk_agent_plan_reset(agent, operation);
}

/* BK_GUARDED: the counter of the row's bucket, with the row's own increment in it. */
static void take_count(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_agent_is_full(agent, operation, operation->total))
        bk_agent_guarded_roll(agent, operation, now_ns);
    else
        bk_agent_finish(operation, BK_OPERATION_OK);
}

/* Done, other than a read of the state. */
static void take_applied(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    switch (operation->step) {
    case STEP_PUT:
        after_put(agent, operation, now_ns);
        break;
    case STEP_ADD:
        operation->counted = true;
        if (agent->config.coordination == BK_GUARDED && !bk_agent_guarded_may_roll(agent, operation))
            bk_agent_finish(operation, BK_OPERATION_OK);
        else
            bk_agent_go(operation, STEP_TOTAL);
        break;
    case STEP_TOTAL:
        operation->total = outcome->counter;
        if (agent->config.coordination == BK_GUARDED)
            take_count(agent, operation, now_ns);
        else if (operation->fired)
            bk_agent_plan_count(agent, operation, now_ns);
        else
            bk_agent_plan_reset(agent, operation);
        break;
    case STEP_COUNT:
        operation->counted = operation->counted || operation->adds;
        keep_written(agent, operation, now_ns);
        if (agent->config.coordination == BK_LOCKED &&
            bk_agent_is_full(agent, operation, operation->known.columns[BK_COUNTER]))
            bk_agent_lock(agent, operation, now_ns);
        else
            bk_agent_finish(operation, BK_OPERATION_OK);
        break;
    case STEP_LOCK:
    case STEP_LOCK_STALE:
        bk_agent_lock_taken(operation);
        break;
    case STEP_ROLL:
        keep_written(agent, operation, now_ns);
        bk_agent_unlock(operation);
        break;
    case STEP_ROWS:
        bk_agent_take_rows(agent, operation, outcome);
        break;
    case STEP_RESET:
        keep_written(agent, operation, now_ns);
        bk_agent_finish(operation, BK_OPERATION_OK);
        break;
    default: /* STEP_UNLOCK */
        bk_agent_finish(operation, BK_OPERATION_OK);
    }
}

/* The state was read. */
static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct known *state)
{
    bk_agent_learn(agent, operation, state, now_ns);
    if (operation->step == STEP_LOCKED_READ)
        bk_agent_plan_roll(agent, operation, now_ns);
    else if (operation->step == STEP_FRESH_READ && !operation->fired)
        reset_if_due(agent, operation, now_ns);
    else if (operation->step == STEP_FRESH_READ && agent->config.counter == BK_COUNTER_COLUMN)
        bk_agent_go(operation, STEP_ADD);
    else if (operation->step == STEP_FRESH_READ)
        bk_agent_plan_count(agent, operation, now_ns);
    else if (operation->is_read)
        bk_agent_start_reader(agent, operation, state->columns[BK_BUCKET]);
    else
        route_by(agent, operation, state, now_ns);
}

/* A conditional write of the state lost; this holds in place of what it named. */
static void take_current(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct known *state)
{
    bk_agent_learn(agent, operation, state, now_ns);
    bool goes_on = ++operation->lost < CAS_TRIES_MAX;
    if (operation->step == STEP_COUNT && goes_on)
        bk_agent_plan_count(agent, operation, now_ns);
    else if (operation->step == STEP_ROLL && goes_on)
        bk_agent_plan_roll(agent, operation, now_ns);
    else if (operation->step == STEP_ROLL)
        bk_agent_unlock(operation);
    else
        bk_agent_finish(operation, BK_OPERATION_OK); /* a reset: somebody else has made it */
}

/* Refused or unknown: the same action again while it may be repeated, else the operation ends as well as it
 * can. */
static void take_failure(struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown)
{
    operation->was_unknown = operation->was_unknown || (is_unknown && operation->step == STEP_PUT);
    int64_t backoff_ns = is_unknown ? 0 : agent->config.retry_backoff_ns;
    int64_t at_ns = bk_agent_later(now_ns, (uint64_t)operation->tries + 1, backoff_ns);
    if (!may_repeat(agent, operation, at_ns, is_unknown)) {
        give_up(agent, operation);
        return;
    }
    if (is_unknown && operation->step == STEP_COUNT && agent->config.counter == BK_COUNTER_LWT) {
        /* What the condition named may hold no longer: look before the next try. */
        operation->recounts++;
        bk_agent_go(operation, STEP_FRESH_READ);
        return;
    }
    repeat(operation, at_ns, backoff_ns > 0);
}

bool bk_agent_try_again(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                        bool is_unknown, uint32_t retries)
{
    int64_t backoff_ns = is_unknown ? 0 : agent->config.retry_backoff_ns;
    if (operation->tries >= retries)
        return false;
    repeat(operation, bk_agent_later(now_ns, (uint64_t)operation->tries + 1, backoff_ns), backoff_ns > 0);
    return true;
}

static void repeat(struct operation *operation, int64_t at_ns, bool sleeps)
{
    operation->tries++;
    operation->is_retry = true;
    if (sleeps)
        operation->wake_ns = at_ns;
}

static bool may_repeat(const struct bk_agent *agent, const struct operation *operation, int64_t at_ns,
                       bool is_unknown)
{
    const struct bk_agent_config *config = &agent->config;
    if (operation->step == STEP_COUNT && config->counter == BK_COUNTER_LWT && is_unknown)
        return operation->recounts < config->counter_retries;
    if (operation->step == STEP_ADD && is_unknown)
        return operation->tries < config->counter_retries;
    if (operation->step == STEP_ROLL && at_ns >= operation->lock[BK_LOCK_UNTIL])
        return false; /* the lock may be another's by then */
    return operation->tries < config->retries;
}

static void give_up(struct bk_agent *agent, struct operation *operation)
{
    switch (operation->step) {
    case STEP_ROUTE_READ:
        bk_agent_finish(operation, BK_OPERATION_REFUSED);
        break;
    case STEP_PUT:
        bk_agent_finish(operation, operation->was_unknown ? BK_OPERATION_UNKNOWN : BK_OPERATION_REFUSED);
        break;
    case STEP_ROWS:
        bk_agent_finish(operation, BK_OPERATION_UNKNOWN);
        break;
    case STEP_LOCKED_READ:
    case STEP_ROLL:
        bk_agent_cache_forget(agent, operation->key);
        bk_agent_unlock(operation);
        break;
    default:
        /* The row is stored; its increment is lost, or not known. */
        if (agent->config.coordination != BK_GUARDED)
            bk_agent_cache_forget(agent, operation->key);
        bk_agent_finish(operation, BK_OPERATION_OK);
    }
}

bool bk_agent_read_known(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out)
{
    memset(out, 0, sizeof *out);
    out->learned_ns = asked_ns; /* it held then or later */
    if ((outcome->mask & COLUMNS_ALL) == 0)
        return true;
    out->mask = COLUMNS_ALL;
    for (unsigned i = 0; i < BK_COLUMN_COUNT; i++)
        out->columns[i] = outcome->mask & BIT(i) ? outcome->columns[i] : 0;
    return out->columns[BK_BUCKET] >= 0 && out->columns[BK_BUCKET] <= BUCKET_LAST &&
           out->columns[BK_COUNTER] < INT64_MAX;
}

void bk_agent_learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                    int64_t now_ns)
{
    operation->known = *state;
    remember(agent, operation->key, now_ns, state);
}

/* Byte by byte: what lies between the fields stays 0, so that copies of an agent stay alike. */
void bk_agent_stored(const struct operation *operation, struct known *out)
{
    memcpy(out, &operation->next, sizeof *out);
    out->mask = COLUMNS_ALL;
    out->learned_ns = operation->asked_ns;
}

/* The write is stored, so the agent knows the new state without reading it. A conditional one has proved the
 * rest of it too; after a plain one the rest is what was known, and as old as that was. */
static void keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct known known = operation->next;
    if (agent->config.counter == BK_COUNTER_LWT) {
        known.learned_ns = operation->asked_ns;
    } else {
        const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
        if (cached != NULL)
            known = *cached;
        for (unsigned i = 0; i < BK_COLUMN_COUNT; i++) {
            if (written_mask(operation) & BIT(i))
                known.columns[i] = operation->next.columns[i];
        }
    }
    known.mask = COLUMNS_ALL;
    bk_agent_learn(agent, operation, &known, now_ns);
}

/* A new row gets all of its columns at once. */
static uint32_t written_mask(const struct operation *operation)
{
    return operation->known.mask == 0 ? COLUMNS_ALL : operation->next.mask;
}

/* Into the cache, unless the answer was overtaken: buckets only rise, save where a late plain write lowers
 * one, and of that the agent hears when the entry has run out. */
static void remember(struct bk_agent *agent, uint64_t key, int64_t now_ns, const struct known *known)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, key);
    if (cached == NULL || cached->columns[BK_BUCKET] <= known->columns[BK_BUCKET])
        bk_agent_cache_store(agent, now_ns, key, known);
}
