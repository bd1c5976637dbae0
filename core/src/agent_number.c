/* SPDX-License-Identifier: MIT */
/* A row's number before the row: from a counter column, or from the state row by conditional updates, one or
 * many at a time. A number that was taken and not given to a row that is stored is lost, and its partition
 * stays one row smaller. */
#include "agent.h"

static void take(struct bk_agent *agent, struct operation *operation);
static void plan_take(struct bk_agent *agent, struct operation *operation);
static void taken(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void take_total(struct bk_agent *agent, struct operation *operation, int64_t total);
static void place(const struct bk_agent *agent, struct operation *operation, int64_t number);
static int64_t bucket_of(const struct bk_agent *agent, int64_t number);
static void fail(struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown);

bool bk_agent_is_numbered(const struct bk_agent_config *config)
{
    return config->source == BK_SOURCE_COUNTER || config->source == BK_SOURCE_LWT ||
           config->source == BK_SOURCE_LEASE;
}

void bk_agent_number_write(struct bk_agent *agent, struct operation *operation)
{
    if (agent->config.source == BK_SOURCE_COUNTER) {
        operation->fired = true; /* every row counts */
        bk_agent_go(operation, STEP_NUMBER_ADD);
    } else if (agent->config.source == BK_SOURCE_LEASE && bk_agent_number_is_served(agent, operation)) {
        place(agent, operation, bk_agent_cache_own(agent, operation->key)->next++);
    } else if (agent->config.source == BK_SOURCE_LEASE && bk_agent_somebody_asks(agent, operation)) {
        operation->step = STEP_PARKED;
    } else {
        take(agent, operation);
    }
}

bool bk_agent_number_is_served(const struct bk_agent *agent, const struct operation *operation)
{
    const struct own *own = bk_agent_cache_own(agent, operation->key);
    return own != NULL && own->next < own->end;
}

void bk_agent_number_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                             const struct bk_outcome *outcome)
{
    struct known state;
    enum step step = operation->step;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    bool is_unknown = (unsigned)outcome->kind >= BK_OUTCOME_UNKNOWN;
    bool is_possible =
        bk_agent_read_known(outcome, operation->asked_ns, &state) && state.columns[BK_COUNTER] >= 0;
    if (is_applied && step == STEP_NUMBER_ADD) {
        operation->counted = true;
        bk_agent_go(operation, STEP_NUMBER_TOTAL);
    } else if (is_applied && step == STEP_NUMBER_TOTAL) {
        take_total(agent, operation, outcome->counter);
    } else if (is_applied && step == STEP_NUMBER_TAKE) {
        taken(agent, operation, now_ns);
    } else if (is_applied && is_possible) {
        bk_agent_learn(agent, operation, &state, now_ns);
        plan_take(agent, operation);
    } else if (outcome->kind == BK_OUTCOME_NOT_APPLIED && step == STEP_NUMBER_TAKE && is_possible) {
        bk_agent_learn(agent, operation, &state, now_ns);
        if (++operation->lost < CAS_TRIES_MAX)
            plan_take(agent, operation);
        else
            bk_agent_finish(operation, BK_OPERATION_REFUSED);
    } else {
        fail(agent, operation, now_ns, is_unknown);
    }
}

/* By a copy of any age: the condition tells whether it holds. A reader may have left a count there that
 * nobody can have stored. */
static void take(struct bk_agent *agent, struct operation *operation)
{
    const struct known *cached = bk_agent_cache_peek(agent, operation->key);
    if (cached == NULL || cached->columns[BK_COUNTER] < 0) {
        bk_agent_go(operation, STEP_NUMBER_READ);
        return;
    }
    operation->known = *cached;
    plan_take(agent, operation);
}

static void plan_take(struct bk_agent *agent, struct operation *operation)
{
    int64_t wanted = agent->config.source == BK_SOURCE_LEASE ? (int64_t)agent->config.lease_rows : 1;
    int64_t given = operation->known.columns[BK_COUNTER];
    if (given > INT64_MAX - 1 - wanted) {
        bk_agent_finish(operation, BK_OPERATION_REFUSED); /* no number is left */
        return;
    }
    operation->next = operation->known;
    operation->next.mask = COLUMNS_ALL;
    operation->next.columns[BK_COUNTER] = given + wanted;
    operation->next.columns[BK_BUCKET] = bucket_of(agent, given + wanted - 1);
    operation->step = STEP_NUMBER_TAKE;
    operation->is_retry = false;
}

/* The numbers are this agent's, and nobody else's. */
static void taken(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t first = operation->known.columns[BK_COUNTER];
    struct known stored;
    bk_agent_stored(operation, &stored);
    bk_agent_learn(agent, operation, &stored, now_ns);
    struct own *own =
        agent->config.source == BK_SOURCE_LEASE ? bk_agent_cache_own(agent, operation->key) : NULL;
    if (own != NULL) {
        own->next = first + 1;
        own->end = stored.columns[BK_COUNTER];
    }
    place(agent, operation, first);
}

/* The row's own increment is in it, and perhaps those of others: none of them knows. */
static void take_total(struct bk_agent *agent, struct operation *operation, int64_t total)
{
    int64_t number = total > 0 ? total - 1 : 0;
    if (operation->is_read)
        bk_agent_start_reader(agent, operation, bucket_of(agent, number));
    else
        place(agent, operation, number);
}

static void place(const struct bk_agent *agent, struct operation *operation, int64_t number)
{
    operation->bucket = bucket_of(agent, number);
    bk_agent_go(operation, STEP_PUT);
}

static int64_t bucket_of(const struct bk_agent *agent, int64_t number)
{
    struct bk_row row = {.sequence = (uint64_t)number};
    struct bk_route route;
    bk_route(&agent->config.strategy, NULL, &row, &route);
    return route.bucket;
}

static void fail(struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown)
{
    if (operation->step == STEP_NUMBER_ADD && is_unknown) {
        /* Repeated, it may count twice; left alone, it may not have counted. The total is read in any case.
         */
        if (!bk_agent_try_again(agent, operation, now_ns, is_unknown, agent->config.counter_retries))
            bk_agent_go(operation, STEP_NUMBER_TOTAL);
        return;
    }
    bool is_conditional = operation->step == STEP_NUMBER_TAKE;
    if (!bk_agent_try_again(agent, operation, now_ns, is_unknown, agent->config.retries))
        bk_agent_finish(operation, operation->is_read ? BK_OPERATION_UNKNOWN : BK_OPERATION_REFUSED);
    else if (is_conditional && is_unknown) {
        /* What the condition named may hold no longer, and the numbers may be taken: others are. */
        operation->step = STEP_NUMBER_READ;
        operation->is_retry = false;
    }
}
