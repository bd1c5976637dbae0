/* SPDX-License-Identifier: MIT */
/* The protocols that count the rows of a bucket after they are stored, after a number of rows or an interval:
 * all rows each time (BK_SOURCE_SCAN), or only those newer than the last counted one
 * (BK_SOURCE_INCREMENTAL). */
#include "bucketing/hash.h"
#include "protocol.h"

#define PLACE (BIT(BK_PLACE_TIME) | BIT(BK_PLACE_ID))

enum sum_step {
    SUM_ROWS = STEP_OF_PROTOCOL, /* counts the rows of the bucket, or those since the last count */
    SUM_FRESH, /* BK_SOURCE_SCAN: reads the state again, in case another agent has raised the bucket */
    SUM_STORE,
    STEP_OF_SUM
};

static void forget_last(struct known *known)
{
    known->columns[BK_SUM_TIME] = INT64_MIN;
    known->columns[BK_SUM_ID] = INT64_MIN;
}

/* Uses the settings of the time of the operation's row. */
static bool is_enough(const struct bk_agent *agent, const struct operation *operation, uint64_t rows)
{
    return rows >= bk_agent_settings(agent, operation->row.time_ns)->of.count.rows;
}

/* When the cache evicts a key, the agent forgets how many rows it has stored since the last count, and when
 * that was. A key that returns to the cache therefore starts with a random number of rows below every_rows.
 * So the probability that n rows pass without a count is at most exp(-n / every_rows), whatever is in the
 * cache. If counts are due by time, the first row after an eviction counts. */
static bool count_is_due(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns)
{
    const struct bk_agent_config *config = &agent->config;
    struct local_count evicted = {.is_cold = true}, *local = bk_agent_cache_local(agent, operation->key);
    if (local == NULL)
        local = &evicted;
    bool is_cold = local->is_cold;
    if (!local->is_counted)
        local->counted_ns = now_ns;
    if (is_cold && config->every_rows != 0) {
        uint64_t mix = bk_murmur3_128_u64(operation->row.id ^ (uint64_t)operation->row.time_ns).h1;
        local->rows = mix % config->every_rows;
    }
    local->is_counted = true;
    local->is_cold = false;
    local->rows++;
    bool by_rows = config->every_rows != 0 && local->rows >= config->every_rows;
    bool by_time = config->every_ns != 0 &&
                   (is_cold || now_ns < local->counted_ns ||
                    (uint64_t)now_ns - (uint64_t)local->counted_ns >= (uint64_t)config->every_ns);
    if (!by_rows && !by_time)
        return false;
    local->rows = 0;
    local->counted_ns = now_ns;
    return true;
}

static void placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
    if (cached != NULL)
        operation->known = *cached;
    if (operation->known.mask == 0)
        forget_last(&operation->known);
    /* Rows of older buckets are not counted any more. */
    if (operation->bucket == operation->known.columns[BK_COLUMN_BUCKET] &&
        count_is_due(agent, operation, now_ns))
        bk_operation_go(operation, SUM_ROWS);
}

static void plan_sum(const struct bk_agent *agent, struct operation *operation,
                     const struct bk_outcome *outcome)
{
    const int64_t *known = operation->known.columns;
    /* Protects against a faulty host that reports a negative or a huge sum. */
    int64_t counted = known[BK_COLUMN_COUNTER] > 0 ? known[BK_COLUMN_COUNTER] : 0,
            room = INT64_MAX - 1 - counted;
    int64_t sum = counted + (outcome->rows < (uint64_t)room ? (int64_t)outcome->rows : room);
    operation->next = operation->known;
    operation->next.mask = COLUMNS_ALL;
    operation->next.columns[BK_COLUMN_COUNTER] = sum;
    operation->next.columns[BK_SUM_TIME] = outcome->columns[BK_PLACE_TIME];
    operation->next.columns[BK_SUM_ID] = outcome->columns[BK_PLACE_ID];
    if (known[BK_COLUMN_BUCKET] < BUCKET_LAST && is_enough(agent, operation, (uint64_t)sum)) {
        operation->next.columns[BK_COLUMN_BUCKET]++;
        operation->next.columns[BK_COLUMN_COUNTER] = 0;
        forget_last(&operation->next);
    }
    bk_operation_go(operation, SUM_STORE);
}

/* Raises the bucket, unless another agent has raised it since the rows were counted, since a plain write
 * would lower it again. */
static void plan_raise(struct operation *operation, int64_t now_ns)
{
    if (operation->known.columns[BK_COLUMN_BUCKET] != operation->bucket || operation->bucket >= BUCKET_LAST) {
        bk_operation_finish(operation, BK_OPERATION_OK);
        return;
    }
    bk_operation_plan_raise(operation, now_ns);
    bk_operation_go(operation, SUM_STORE);
}

static void take_rows(struct bk_agent *agent, struct operation *operation, const struct bk_outcome *outcome)
{
    if (agent->config.source == BK_SOURCE_INCREMENTAL && outcome->rows > 0)
        plan_sum(agent, operation, outcome);
    else if (agent->config.source == BK_SOURCE_SCAN && is_enough(agent, operation, outcome->rows))
        bk_operation_go(operation, SUM_FRESH);
    else
        bk_operation_finish(operation, BK_OPERATION_OK);
}

static void stored(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct known state;
    bk_operation_stored(operation, &state);
    bk_operation_learn(agent, operation, &state, now_ns);
    bk_operation_finish(operation, BK_OPERATION_OK);
}

/* Handles a conditional update of the sum that was not applied. Returns false if it must be tried again. */
static bool take_lost(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                      const struct bk_outcome *outcome)
{
    struct known state;
    if (outcome->kind == BK_OUTCOME_NOT_APPLIED &&
        bk_operation_read_known(outcome, operation->asked_ns, &state))
        bk_operation_learn(agent, operation, &state, now_ns); /* another agent has counted more rows */
    else if (bk_outcome_is_unknown(outcome))
        bk_agent_cache_forget(agent, operation->key); /* the next count begins from the stored state */
    else
        return false;
    bk_operation_finish(operation, BK_OPERATION_OK);
    return true;
}

static void take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    struct known state;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    bool is_conditional = agent->config.source == BK_SOURCE_INCREMENTAL;
    /* An incremental count must name the last counted row, from which the next count continues. */
    bool is_count = outcome->rows == 0 || (outcome->mask & PLACE) == PLACE || !is_conditional;
    switch ((enum sum_step)operation->step) {
    case SUM_ROWS:
        if (!is_applied || !is_count)
            break;
        take_rows(agent, operation, outcome);
        return;
    case SUM_FRESH:
        if (!is_applied || !bk_operation_read_known(outcome, operation->asked_ns, &state))
            break;
        bk_operation_learn(agent, operation, &state, now_ns);
        plan_raise(operation, now_ns);
        return;
    case SUM_STORE:
        if (is_applied)
            stored(agent, operation, now_ns);
        else if (!is_conditional || !take_lost(agent, operation, now_ns, outcome))
            break;
        return;
    case STEP_OF_SUM:
        break;
    }
    bk_operation_try_again_or_end(agent, operation, now_ns, bk_outcome_is_unknown(outcome),
                                  agent->config.retries); /* the row is stored already */
}

/* An incremental count begins after the last counted row, if there is one. */
static void fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    const int64_t *known = operation->known.columns;
    if (out->kind != BK_ACT_COUNT_ROWS || agent->config.source != BK_SOURCE_INCREMENTAL ||
        (known[BK_SUM_TIME] == INT64_MIN && known[BK_SUM_ID] == INT64_MIN))
        return;
    out->mask = PLACE;
    out->columns[BK_PLACE_TIME] = known[BK_SUM_TIME];
    out->columns[BK_PLACE_ID] = known[BK_SUM_ID];
}

static const struct step_action actions[] = {
    [SUM_ROWS - STEP_OF_PROTOCOL] = {BK_ACT_COUNT_ROWS, PLAIN},
    [SUM_FRESH - STEP_OF_PROTOCOL] = {BK_ACT_READ_STATE, PLAIN},
    [SUM_STORE - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_STATE, STRICT_BY_SOURCE},
};
const struct protocol bk_protocol_sum = {
    .write = bk_operation_find_bucket,
    .read = bk_operation_look,
    .route = bk_operation_route_newest,
    .placed = placed,
    .actions = actions,
    .fill = fill,
    .outcome = take_outcome,
    .step_count = STEP_OF_SUM,
    .has_local_count = true,
};
