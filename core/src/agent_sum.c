/* SPDX-License-Identifier: MIT */
/* The rows of a bucket counted after they are stored, every so many rows or so long: all of them each time,
 * or those alone that are newer than the last one counted. */
#include "agent.h"
#include "bucketing/hash.h"

#include <string.h>

#define PLACE (BIT(BK_PLACE_TIME) | BIT(BK_PLACE_ID))

static bool count_is_due(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns);
static void take_rows(struct bk_agent *agent, struct operation *operation, const struct bk_outcome *outcome);
static void plan_sum(const struct bk_agent *agent, struct operation *operation,
                     const struct bk_outcome *outcome);
static void plan_raise(struct operation *operation, int64_t now_ns);
static void forget_last(struct known *known);
static bool is_enough(const struct bk_agent *agent, uint64_t rows);

bool bk_agent_is_summed(const struct bk_agent_config *config)
{
    return config->source == BK_SOURCE_INCREMENTAL || config->source == BK_SOURCE_SCAN;
}

void bk_agent_sum_after_put(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
    if (cached != NULL)
        operation->known = *cached;
    if (operation->known.mask == 0)
        forget_last(&operation->known);
    /* What an older bucket got is of no concern any more. */
    if (operation->bucket == operation->known.columns[BK_BUCKET] && count_is_due(agent, operation, now_ns))
        bk_agent_go(operation, STEP_SUM_ROWS);
}

void bk_agent_sum_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome)
{
    struct known state;
    enum step step = operation->step;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    bool is_unknown = (unsigned)outcome->kind >= BK_OUTCOME_UNKNOWN;
    bool is_possible = bk_agent_read_known(outcome, operation->asked_ns, &state);
    bool is_conditional = agent->config.source == BK_SOURCE_INCREMENTAL;
    /* A count that names no last row is one that cannot be gone on from. */
    bool is_count = outcome->rows == 0 || (outcome->mask & PLACE) == PLACE || !is_conditional;
    if (is_applied && step == STEP_SUM_ROWS && is_count) {
        take_rows(agent, operation, outcome);
    } else if (is_applied && step == STEP_SUM_STORE) {
        struct known stored;
        bk_agent_stored(operation, &stored);
        bk_agent_learn(agent, operation, &stored, now_ns);
        bk_agent_finish(operation, BK_OPERATION_OK);
    } else if (is_applied && step == STEP_SUM_FRESH && is_possible) {
        bk_agent_learn(agent, operation, &state, now_ns);
        plan_raise(operation, now_ns);
    } else if (outcome->kind == BK_OUTCOME_NOT_APPLIED && step == STEP_SUM_STORE && is_conditional &&
               is_possible) {
        bk_agent_learn(agent, operation, &state, now_ns); /* somebody has counted further */
        bk_agent_finish(operation, BK_OPERATION_OK);
    } else if (is_conditional && is_unknown && step == STEP_SUM_STORE) {
        bk_agent_cache_forget(agent, operation->key); /* the next count begins with what is stored */
        bk_agent_finish(operation, BK_OPERATION_OK);
    } else if (!bk_agent_try_again(agent, operation, now_ns, is_unknown, agent->config.retries)) {
        bk_agent_cache_forget(agent, operation->key);
        bk_agent_finish(operation, BK_OPERATION_OK); /* the row is stored */
    }
}

void bk_agent_sum_fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    const int64_t *known = operation->known.columns;
    bool is_conditional = agent->config.source != BK_SOURCE_SCAN && agent->config.source != BK_SOURCE_MEMORY;
    switch (operation->step) {
    case STEP_SUM_ROWS:
    case STEP_OWN_ROWS:
        out->kind = BK_ACT_COUNT_ROWS;
        out->bucket = known[BK_BUCKET];
        if (is_conditional && (known[BK_SUM_TIME] != INT64_MIN || known[BK_SUM_ID] != INT64_MIN)) {
            out->mask = PLACE;
            out->columns[BK_PLACE_TIME] = known[BK_SUM_TIME];
            out->columns[BK_PLACE_ID] = known[BK_SUM_ID];
        }
        break;
    case STEP_NUMBER_READ:
        out->serial = true;
        out->kind = BK_ACT_READ_STATE;
        break;
    case STEP_SUM_FRESH:
    case STEP_OWN_READ:
        out->kind = BK_ACT_READ_STATE;
        break;
    default: /* STEP_NUMBER_TAKE, STEP_SUM_STORE, STEP_OWN_RAISE */
        out->kind = is_conditional ? BK_ACT_CAS_STATE : BK_ACT_WRITE_STATE;
        out->mask = operation->known.mask == 0 ? COLUMNS_ALL : operation->next.mask;
        out->if_mask = is_conditional ? operation->known.mask : 0;
        memcpy(out->columns, operation->next.columns, sizeof out->columns);
        if (is_conditional)
            memcpy(out->expected, known, sizeof out->expected);
        break;
    }
}

void bk_agent_plan_raise(struct operation *operation, int64_t now_ns)
{
    operation->next = operation->known;
    operation->next.columns[BK_BUCKET]++;
    operation->next.columns[BK_LAST_CHANGE] = now_ns;
    operation->next.mask = BIT(BK_BUCKET) | BIT(BK_LAST_CHANGE);
}

/* When the cache evicts a key, the agent forgets how many rows it has stored since it counted last, and when
 * that was. Back in the cache, a key begins with a random number of rows below every_rows. So each row brings
 * the next count nearer by 1 / every_rows whatever the cache holds: n rows pass without a count at a chance
 * of at most exp(-n / every_rows). By time the first row counts. */
static bool count_is_due(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns)
{
    const struct bk_agent_config *config = &agent->config;
    struct own evicted = {.is_cold = true}, *own = bk_agent_cache_own(agent, operation->key);
    if (own == NULL)
        own = &evicted;
    bool is_cold = own->is_cold;
    if (!own->is_counted)
        own->counted_ns = now_ns;
    if (is_cold && config->every_rows != 0) {
        uint64_t mix = bk_murmur3_128_u64(operation->row.id ^ (uint64_t)operation->row.time_ns).h1;
        own->rows = mix % config->every_rows;
    }
    own->is_counted = true;
    own->is_cold = false;
    own->rows++;
    bool by_rows = config->every_rows != 0 && own->rows >= config->every_rows;
    bool by_time =
        config->every_ns != 0 && (is_cold || now_ns < own->counted_ns ||
                                  (uint64_t)now_ns - (uint64_t)own->counted_ns >= (uint64_t)config->every_ns);
    if (!by_rows && !by_time)
        return false;
    own->rows = 0;
    own->counted_ns = now_ns;
    return true;
}

static void take_rows(struct bk_agent *agent, struct operation *operation, const struct bk_outcome *outcome)
{
    if (agent->config.source == BK_SOURCE_INCREMENTAL && outcome->rows > 0)
        plan_sum(agent, operation, outcome);
    else if (agent->config.source == BK_SOURCE_SCAN && is_enough(agent, outcome->rows))
        bk_agent_go(operation, STEP_SUM_FRESH);
    else
        bk_agent_finish(operation, BK_OPERATION_OK);
}

static void plan_sum(const struct bk_agent *agent, struct operation *operation,
                     const struct bk_outcome *outcome)
{
    const int64_t *known = operation->known.columns;
    /* No host has any business to tell a sum below 0, or one near the end. */
    int64_t counted = known[BK_COUNTER] > 0 ? known[BK_COUNTER] : 0, room = INT64_MAX - 1 - counted;
    int64_t sum = counted + (outcome->rows < (uint64_t)room ? (int64_t)outcome->rows : room);
    operation->next = operation->known;
    operation->next.mask = COLUMNS_ALL;
    operation->next.columns[BK_COUNTER] = sum;
    operation->next.columns[BK_SUM_TIME] = outcome->columns[BK_PLACE_TIME];
    operation->next.columns[BK_SUM_ID] = outcome->columns[BK_PLACE_ID];
    if (known[BK_BUCKET] < BUCKET_LAST && is_enough(agent, (uint64_t)sum)) {
        operation->next.columns[BK_BUCKET]++;
        operation->next.columns[BK_COUNTER] = 0;
        forget_last(&operation->next);
    }
    bk_agent_go(operation, STEP_SUM_STORE);
}

/* Unless somebody else has raised it since the rows were counted: a plain write would lower it again. */
static void plan_raise(struct operation *operation, int64_t now_ns)
{
    if (operation->known.columns[BK_BUCKET] != operation->bucket || operation->bucket >= BUCKET_LAST) {
        bk_agent_finish(operation, BK_OPERATION_OK);
        return;
    }
    bk_agent_plan_raise(operation, now_ns);
    bk_agent_go(operation, STEP_SUM_STORE);
}

static void forget_last(struct known *known)
{
    known->columns[BK_SUM_TIME] = INT64_MIN;
    known->columns[BK_SUM_ID] = INT64_MIN;
}

static bool is_enough(const struct bk_agent *agent, uint64_t rows)
{
    return rows >= agent->config.strategy.of.count.rows;
}
