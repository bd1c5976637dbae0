/* SPDX-License-Identifier: MIT */
/* The protocols that take a number for a row before they put it: from a counter column (BK_SOURCE_COUNTER),
 * or from the state row by conditional updates, one number (BK_SOURCE_LWT) or many (BK_SOURCE_LEASE) at a
 * time. A number whose row is not stored is lost, and its partition has one row fewer. */
#include "calendar.h"
#include "protocol.h"

enum number_step {
    NUMBER_ADD = STEP_OF_PROTOCOL, /* adds 1 to the counter, */
    NUMBER_TOTAL,                  /* then reads the counter, whose value is the row's number */
    NUMBER_READ,                   /* reads the state at SERIAL */
    NUMBER_TAKE,                   /* takes numbers, by an update with a condition on those given so far */
    STEP_OF_NUMBER
};

/* For a counter column. Its settings cannot change, because that requires a state that all agents read. */
static int64_t bucket_of(const struct bk_agent *agent, int64_t number)
{
    struct bk_row row = {.sequence = (uint64_t)number};
    struct bk_placement route;
    bk_route_whole(&agent->config.strategy, NULL, &row, &route);
    return route.bucket;
}

/* In a forged checkpoint, numbers may be outside the range of their filling, so the result is limited. */
static int64_t bucket_in(const struct filling *filling, int64_t number)
{
    if (filling->rows == 0 || number < filling->first)
        return filling->bucket;
    int64_t more = (number - filling->first) / filling->rows;
    return more < BUCKET_LAST - filling->bucket ? filling->bucket + more : BUCKET_LAST;
}

static void place(struct operation *operation, int64_t bucket)
{
    operation->bucket = bucket;
    bk_operation_go(operation, STEP_PUT);
}

/* Returns the first number of a bucket if the settings never changed; -1 if it exceeds all numbers. */
static int64_t first_unchanged(const struct bk_agent *agent, int64_t bucket)
{
    uint64_t rows = agent->config.history.eras[0].strategy.of.count.rows;
    return (uint64_t)bucket > INT64_MAX / rows ? -1 : (int64_t)((uint64_t)bucket * rows);
}

/* Returns the bucket that the next numbers fill, by the settings of the row's time. If the newest bucket has
 * as many rows already, or was not begun by these settings, the next bucket begins. */
static struct filling filling_of(const struct bk_agent *agent, const struct operation *operation)
{
    const int64_t *known = operation->known.columns;
    uint64_t rows = bk_agent_settings(agent, operation->row.time_ns)->of.count.rows;
    struct filling filling = {known[BK_COLUMN_BUCKET], known[BK_NUMBER_FIRST],
                              rows < (uint64_t)INT64_MAX ? (int64_t)rows : INT64_MAX};
    int64_t given = known[BK_COLUMN_COUNTER];
    if (filling.first == 0)
        filling.first = first_unchanged(agent, filling.bucket);
    if (filling.first < 0 || filling.first > given || given - filling.first >= filling.rows) {
        filling.bucket++;
        filling.first = given;
    }
    return filling;
}

/* Plans an update that takes numbers by the current settings, which may change before the numbers are
 * taken. */
static void plan_take(struct bk_agent *agent, struct operation *operation)
{
    int64_t wanted = agent->config.source == BK_SOURCE_LEASE ? (int64_t)agent->config.lease_rows : 1;
    int64_t given = operation->known.columns[BK_COLUMN_COUNTER];
    struct filling filling = filling_of(agent, operation);
    if (given > INT64_MAX - 1 - wanted ||
        (given + wanted - 1 - filling.first) / filling.rows > BUCKET_LAST - filling.bucket) {
        bk_operation_finish(operation, BK_OPERATION_REFUSED); /* the numbers or the buckets are exhausted */
        return;
    }
    int64_t bucket = bucket_in(&filling, given + wanted - 1);
    int64_t first = filling.first + (bucket - filling.bucket) * filling.rows;
    operation->filling = filling;
    operation->next = operation->known;
    operation->next.mask = COLUMNS_ALL;
    operation->next.columns[BK_COLUMN_COUNTER] = given + wanted;
    operation->next.columns[BK_COLUMN_BUCKET] = bucket;
    operation->next.columns[BK_NUMBER_FIRST] = first == first_unchanged(agent, bucket) ? 0 : first;
    operation->step = NUMBER_TAKE;
    operation->is_retry = false;
}

/* The cached state may be of any age, because the update's condition verifies it. A reader may have cached a
 * count that no agent can have stored. */
static void take(struct bk_agent *agent, struct operation *operation)
{
    const struct known *cached = bk_agent_cache_peek(agent, operation->key);
    if (cached == NULL || cached->columns[BK_COLUMN_COUNTER] < 0) {
        bk_operation_go(operation, NUMBER_READ);
        return;
    }
    operation->known = *cached;
    plan_take(agent, operation);
}

static void begin_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    (void)now_ns;
    if (agent->config.source == BK_SOURCE_COUNTER) {
        operation->fired = true; /* every row fires */
        bk_operation_go(operation, NUMBER_ADD);
    } else {
        take(agent, operation);
    }
}

static bool is_served(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct local_count *local = bk_agent_cache_local(agent, operation->key);
    (void)now_ns;
    return local != NULL && local->next < local->end;
}

/* Continues an operation with a lease: with a number that the agent has, or by requesting more numbers. */
static void resume(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (is_served(agent, operation, now_ns)) {
        struct local_count *local = bk_agent_cache_local(agent, operation->key);
        place(operation, bucket_in(&local->filling, local->next++));
    } else if (bk_turns_is_taken(agent, operation)) {
        operation->step = STEP_PARKED;
    } else {
        take(agent, operation);
    }
}

static void begin_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (agent->config.source == BK_SOURCE_COUNTER)
        bk_operation_go(operation, NUMBER_TOTAL);
    else
        bk_operation_look(agent, operation, now_ns);
}

/* The numbers now belong to this agent only. Those of a lease fill buckets by the settings with which the
 * lease was taken, as the state does, and not by the settings of the rows that get the numbers. */
static void taken(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t first = operation->known.columns[BK_COLUMN_COUNTER];
    struct known stored;
    bk_operation_stored(operation, &stored);
    bk_operation_learn(agent, operation, &stored, now_ns);
    struct local_count *local =
        agent->config.source == BK_SOURCE_LEASE ? bk_agent_cache_local(agent, operation->key) : NULL;
    if (local != NULL) {
        local->next = first + 1;
        local->end = stored.columns[BK_COLUMN_COUNTER];
        local->filling = operation->filling;
    }
    place(operation, bucket_in(&operation->filling, first));
}

/* The total includes the row's own increment and possibly those of other agents; this cannot be
 * distinguished. */
static void take_total(struct bk_agent *agent, struct operation *operation, int64_t total)
{
    int64_t number = total > 0 ? total - 1 : 0;
    if (operation->is_read)
        bk_agent_start_reader(agent, operation, bucket_of(agent, number));
    else
        place(operation, bucket_of(agent, number));
}

static void fail(struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown)
{
    if (operation->step == NUMBER_ADD && is_unknown) {
        /* If the increment is repeated, it may count twice; if not, it may not have counted. The total is
         * read in either case. */
        if (!bk_operation_try_again(agent, operation, now_ns, is_unknown, agent->config.counter_retries))
            bk_operation_go(operation, NUMBER_TOTAL);
        return;
    }
    bool is_conditional = operation->step == NUMBER_TAKE;
    if (!bk_operation_try_again(agent, operation, now_ns, is_unknown, agent->config.retries))
        bk_operation_finish(operation, operation->is_read ? BK_OPERATION_UNKNOWN : BK_OPERATION_REFUSED);
    else if (is_conditional && is_unknown) {
        /* The update may have been applied, so the state is read again and different numbers are taken. */
        operation->step = NUMBER_READ;
        operation->is_retry = false;
    }
}

/* The state did not match the condition. */
static void take_current(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct known *state)
{
    bk_operation_learn(agent, operation, state, now_ns);
    if (++operation->lost < CAS_TRIES_MAX)
        plan_take(agent, operation);
    else
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
}

static void take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    struct known state;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    bool is_possible = bk_operation_read_known(outcome, operation->asked_ns, &state) &&
                       state.columns[BK_COLUMN_COUNTER] >= 0;
    switch ((enum number_step)operation->step) {
    case NUMBER_ADD:
        if (!is_applied)
            break;
        operation->counted = true;
        bk_operation_go(operation, NUMBER_TOTAL);
        return;
    case NUMBER_TOTAL:
        if (!is_applied)
            break;
        take_total(agent, operation, outcome->counter);
        return;
    case NUMBER_READ:
        if (!is_applied || !is_possible)
            break;
        bk_operation_learn(agent, operation, &state, now_ns);
        plan_take(agent, operation);
        return;
    case NUMBER_TAKE:
        if (is_applied)
            taken(agent, operation, now_ns);
        else if (outcome->kind == BK_OUTCOME_NOT_APPLIED && is_possible)
            take_current(agent, operation, now_ns, &state);
        else
            break;
        return;
    case STEP_OF_NUMBER:
        break;
    }
    fail(agent, operation, now_ns, bk_outcome_is_unknown(outcome));
}

static bool asks(const struct operation *operation)
{
    return operation->step == NUMBER_READ || operation->step == NUMBER_TAKE;
}

/* For a lease: returns the bucket of the next number that is left. */
static bool view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                 bool *is_changing)
{
    (void)now_ns;
    const struct local_count *local = bk_agent_cache_local(agent, key);
    if (local == NULL || local->next >= local->end)
        return false;
    *bucket = bucket_in(&local->filling, local->next);
    *is_changing = false;
    return true;
}

static const struct step_action actions[] = {
    [NUMBER_ADD - STEP_OF_PROTOCOL] = {BK_ACT_ADD_COUNTER, PLAIN},
    [NUMBER_TOTAL - STEP_OF_PROTOCOL] = {BK_ACT_READ_COUNTER, PLAIN},
    [NUMBER_READ - STEP_OF_PROTOCOL] = {BK_ACT_READ_STATE, STRICT},
    [NUMBER_TAKE - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_STATE, STRICT},
};
const struct protocol bk_protocol_number = {
    .write = begin_write,
    .read = begin_read,
    .route = bk_operation_route_newest,
    .actions = actions,
    .outcome = take_outcome,
    .step_count = STEP_OF_NUMBER,
};

const struct protocol bk_protocol_lease = {
    .write = resume,
    .read = begin_read,
    .route = bk_operation_route_newest,
    .actions = actions,
    .outcome = take_outcome,
    .asks = asks,
    .is_served = is_served,
    .resume = resume,
    .view = view,
    .step_count = STEP_OF_NUMBER,
    .has_local_count = true,
};
