/* SPDX-License-Identifier: MIT */
/* BK_GUARDED: a row is placed only by a committed grant (docs/strategies.md). A committed state determines
 * the bucket of every time from BEFORE up to, but not including, UNTIL, and stays correct however old a copy
 * of it is. So a row needs a request only if it is later than the agent's newest copy of the state (then the
 * grant is extended), or older than the copy covers (then the starts of older buckets are looked up). Only
 * one operation on a key makes these requests at a time. The others are parked and resume when that operation
 * has ended, whether it succeeded or not. With a greatest age, no grant extends beyond a line, and a row
 * beyond the line of the newest grant rolls the key before it is put. */
#include <string.h>

#include "protocol.h"

#define WAIT_DOUBLINGS_MAX 6u
/* The last time that can be granted; see bk_agent_saturating_add(). */
#define UNTIL_LAST (INT64_MAX - 1)

enum guarded_step {
    GUARDED_READ = STEP_OF_PROTOCOL, /* reads the state at SERIAL */
    GUARDED_EXTEND,                  /* extends the grant beyond the row */
    GUARDED_KEEP_START,              /* stores a start before the roll removes it from the state */
    GUARDED_ROLL,
    GUARDED_OLD_START, /* reads the start of a bucket older than those in the state */
    GUARDED_ADD,       /* adds the row's weight to the counter of its bucket, */
    GUARDED_TOTAL,     /* then reads that counter */
    STEP_OF_GUARDED
};

/* Uses the newest state that any operation of the agent has learned. */
static void recall(const struct bk_agent *agent, struct operation *operation)
{
    const struct known *cached = bk_agent_cache_peek(agent, operation->key);
    if (cached != NULL)
        operation->known = *cached;
}

/* The other three requests concern only one row. */
static bool asks(const struct operation *operation)
{
    return operation->step >= GUARDED_READ && operation->step <= GUARDED_ROLL;
}

/* Returns the line at which the newest bucket ends. It is the same for all grants of that bucket. */
static int64_t last_line(const struct bk_agent *agent, const struct operation *operation)
{
    int64_t until_ns = operation->known.columns[BK_GUARDED_UNTIL];
    return bk_agent_line_above(agent, until_ns > INT64_MIN ? until_ns - 1 : until_ns);
}

static bool is_served(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    (void)now_ns;
    recall(agent, operation);
    if (operation->known.mask == 0)
        return false;
    int64_t until_ns = operation->known.columns[BK_GUARDED_UNTIL];
    /* If the grants cover all times of the range, all of its buckets are known. */
    bool is_range = operation->is_read && operation->query.kind == BK_QUERY_RANGE;
    if (is_range && operation->query.until_ns <= until_ns)
        return true;
    /* A full bucket that ends at a line is rolled by the first row beyond the line, so that the next bucket
     * is not empty. */
    if (operation->is_placed)
        return operation->known.columns[BK_GUARDED_BUCKET] != operation->bucket ||
               until_ns == last_line(agent, operation);
    if (!operation->is_read)
        return operation->row.time_ns < until_ns;
    /* A row acknowledged before the read began has a time of at most one clock bound beyond its agent's
     * clock, and that clock is at most two bounds ahead of this one. */
    return bk_agent_saturating_add(operation->row.time_ns, 3, agent->config.clock_bound_ns) < until_ns;
}

/* Looks up the starts of older buckets, downwards from `bucket`, which ended at before_ns and is the highest
 * one that the row may belong to. */
static void look_up(struct operation *operation, int64_t bucket, int64_t before_ns)
{
    operation->bucket = bucket;
    operation->end_ns = before_ns;
    bk_operation_go(operation, bucket == 0 ? STEP_PUT : GUARDED_OLD_START);
}

static void proceed(struct bk_agent *agent, struct operation *operation)
{
    const int64_t *known = operation->known.columns;
    int64_t time_ns = operation->row.time_ns;
    operation->start_is_kept = false;
    if (operation->is_read) {
        bk_agent_start_reader(agent, operation, known[BK_GUARDED_BUCKET]);
    } else if (operation->is_placed) {
        bk_operation_finish(
            operation,
            BK_OPERATION_OK); /* another operation has rolled the key, or a line will end the bucket */
    } else if (time_ns >= known[BK_GUARDED_BEFORE]) {
        operation->bucket = known[BK_GUARDED_BUCKET] - (time_ns < known[BK_GUARDED_START]);
        bk_operation_go(operation, STEP_PUT);
    } else {
        look_up(operation, known[BK_GUARDED_BUCKET] - 2, known[BK_GUARDED_BEFORE]);
    }
}

/* Returns whether a row without a bucket is beyond the line of the newest bucket; then it rolls the key. */
static bool is_beyond_line(const struct bk_agent *agent, const struct operation *operation)
{
    return operation->known.mask != 0 && !operation->is_read && !operation->is_placed &&
           operation->row.time_ns >= last_line(agent, operation);
}

static enum guarded_step question_of(const struct bk_agent *agent, struct operation *operation)
{
    bool is_beyond = is_beyond_line(agent, operation);
    if (is_beyond && operation->bucket != operation->known.columns[BK_GUARDED_BUCKET]) {
        operation->bucket = operation->known.columns[BK_GUARDED_BUCKET];
        operation->start_is_kept = false;
    }
    if (operation->is_placed || is_beyond)
        /* Bucket 0 starts at INT64_MIN, so its start need not be stored. */
        return operation->bucket >= 2 && !operation->start_is_kept ? GUARDED_KEEP_START : GUARDED_ROLL;
    if (operation->is_read || (operation->known.mask == 0 && !operation->is_new_key))
        return GUARDED_READ;
    return GUARDED_EXTEND;
}

/* Returns the end of a grant that must contain a given time. It is after now, but not after the next line.
 * Lost or timed-out updates mean that agents make more requests than the cluster can answer, so the grant is
 * then longer. */
static int64_t granted_until(const struct bk_agent *agent, const struct operation *operation, int64_t time_ns,
                             int64_t now_ns)
{
    uint32_t failed = operation->tries + operation->lost;
    int64_t until_ns = bk_agent_saturating_add(
        time_ns > now_ns ? time_ns : now_ns,
        UINT64_C(1) << (failed < BK_GRANT_DOUBLINGS_MAX ? failed : BK_GRANT_DOUBLINGS_MAX),
        agent->config.grant_ns);
    int64_t line_ns = bk_agent_line_above(agent, time_ns);
    return until_ns < line_ns ? until_ns : line_ns;
}

/* The row may have waited for a long time, so the grant extends beyond now, for later rows. */
static void plan_extension(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    operation->next = operation->known;
    if (operation->known.mask == 0) {
        operation->next.mask = COLUMNS_ALL;
        operation->next.columns[BK_GUARDED_BUCKET] = 0;
        operation->next.columns[BK_GUARDED_BEFORE] = INT64_MIN;
        operation->next.columns[BK_GUARDED_START] = INT64_MIN;
    }
    operation->next.columns[BK_GUARDED_UNTIL] =
        granted_until(agent, operation, operation->row.time_ns, now_ns);
}

/* The next bucket starts where the grant of the current one ends, or at the line that the row is beyond. No
 * agent can have placed a later row in the current bucket. */
static void plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const int64_t *known = operation->known.columns;
    bool is_placed = operation->is_placed;
    int64_t start_ns = is_placed ? known[BK_GUARDED_UNTIL] : last_line(agent, operation);
    if (start_ns >= UNTIL_LAST || known[BK_GUARDED_BUCKET] >= BUCKET_LAST) {
        /* The range of times or the range of bucket numbers is exhausted. */
        bk_operation_finish(operation, is_placed ? BK_OPERATION_OK : BK_OPERATION_REFUSED);
        return;
    }
    operation->next = operation->known;
    operation->next.columns[BK_GUARDED_BUCKET] = known[BK_GUARDED_BUCKET] + 1;
    operation->next.columns[BK_GUARDED_BEFORE] = known[BK_GUARDED_START];
    operation->next.columns[BK_GUARDED_START] = start_ns;
    operation->next.columns[BK_GUARDED_UNTIL] =
        granted_until(agent, operation, is_placed ? start_ns : operation->row.time_ns, now_ns);
}

static void ask(struct bk_agent *agent, struct operation *operation, enum guarded_step step, int64_t now_ns)
{
    if (!asks(operation) && bk_turns_is_taken(agent, operation)) {
        operation->step = STEP_PARKED;
        return;
    }
    operation->step = step;
    operation->is_retry = false;
    if (step == GUARDED_EXTEND)
        plan_extension(agent, operation, now_ns);
    else if (step == GUARDED_ROLL)
        plan_roll(agent, operation, now_ns);
}

static void resume(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (is_served(agent, operation, now_ns))
        proceed(agent, operation);
    else
        ask(agent, operation, question_of(agent, operation), now_ns);
}

static void begin_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t latest_ns = bk_agent_saturating_add(now_ns, 1, agent->config.clock_bound_ns);
    bk_operation_weigh(agent, operation);
    if (operation->row.time_ns > latest_ns || operation->row.time_ns >= UNTIL_LAST)
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
    else
        resume(agent, operation, now_ns);
}

static void placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    (void)agent, (void)now_ns;
    if (operation->fired)
        bk_operation_go(operation, GUARDED_ADD);
}

/* Grants only grow, so the longer one is the newer one. */
static void learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                  int64_t now_ns)
{
    const struct known *cached = bk_agent_cache_peek(agent, operation->key);
    operation->known = *state;
    operation->known.learned_ns = operation->asked_ns;
    if (cached == NULL || cached->columns[BK_GUARDED_UNTIL] <= state->columns[BK_GUARDED_UNTIL])
        bk_agent_cache_store(agent, now_ns, operation->key, &operation->known);
}

/* Takes the state from an outcome. Returns false if no agent can have stored such a state. */
static bool read_state(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out)
{
    const int64_t *columns = outcome->columns;
    memset(out, 0, sizeof *out);
    out->learned_ns = asked_ns;
    out->mask = outcome->mask & COLUMNS_ALL;
    if (out->mask == 0)
        return true;
    memcpy(out->columns, columns, sizeof out->columns);
    int64_t bucket = columns[BK_GUARDED_BUCKET];
    return out->mask == COLUMNS_ALL && bucket >= 0 && bucket <= BUCKET_LAST &&
           columns[BK_GUARDED_START] < columns[BK_GUARDED_UNTIL] &&
           (bucket > 0) == (columns[BK_GUARDED_START] > columns[BK_GUARDED_BEFORE]) &&
           (bucket > 1) == (columns[BK_GUARDED_BEFORE] > INT64_MIN);
}

/* Contenders that retry immediately or in step would make each other time out without end. So the random wait
 * grows with each try and is at least as long as the last try took. If the clock was set forward meanwhile,
 * that time is wrong, so the wait is limited to little more than the longest grant. */
static int64_t pause_of(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns,
                        bool is_unknown)
{
    uint32_t doublings = operation->tries < WAIT_DOUBLINGS_MAX ? operation->tries : WAIT_DOUBLINGS_MAX;
    int64_t pause_ns = bk_agent_spread(agent, agent->config.retry_backoff_ns, operation->tries);
    pause_ns = bk_agent_saturating_add(0, UINT64_C(1) << doublings, pause_ns);
    if (!is_unknown || pause_ns == 0 || now_ns <= operation->asked_ns)
        return pause_ns;
    int64_t most_ns =
        bk_agent_saturating_add(0, UINT64_C(1) << BK_GRANT_DOUBLINGS_MAX, agent->config.grant_ns);
    uint64_t told_ns = (uint64_t)now_ns - (uint64_t)operation->asked_ns;
    int64_t spent_ns = told_ns < (uint64_t)most_ns ? (int64_t)told_ns : most_ns;
    spent_ns = bk_agent_spread(agent, spent_ns, operation->tries);
    return spent_ns > pause_ns ? spent_ns : pause_ns;
}

/* Handles a refused request or an unknown outcome. After a conditional update of unknown outcome nothing may
 * be assumed about the state: it may be unchanged, it may have changed, or it may change when the update
 * takes effect late, which does no harm. */
static void fail(const struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown)
{
    if (operation->tries >= agent->config.retries) {
        bk_operation_finish(operation, operation->is_placed ? BK_OPERATION_OK : BK_OPERATION_REFUSED);
        return;
    }
    operation->tries++;
    operation->is_retry = true;
    if (is_unknown && (operation->step == GUARDED_EXTEND || operation->step == GUARDED_ROLL)) {
        operation->step = GUARDED_READ;
        operation->is_retry = false;
    }
    int64_t pause_ns = pause_of(agent, operation, now_ns, is_unknown);
    if (pause_ns > 0)
        operation->wake_ns = bk_agent_saturating_add(now_ns, 1, pause_ns);
}

/* The start of a bucket is stored before the key is rolled past it. So a missing or invalid start is treated
 * as a failed read. */
static void take_start(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct bk_outcome *outcome)
{
    int64_t start_ns = outcome->columns[0];
    if ((outcome->mask & 1) == 0 || start_ns >= operation->end_ns)
        fail(agent, operation, now_ns, false);
    else if (start_ns <= operation->row.time_ns)
        bk_operation_go(operation, STEP_PUT);
    else
        look_up(operation, operation->bucket - 1, start_ns);
}

/* Handles a state that was read after the operation had begun. */
static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct known *state)
{
    operation->is_new_key = state->mask == 0;
    if (state->mask != 0)
        learn(agent, operation, state, now_ns);
    if (operation->is_read)
        bk_agent_start_reader(agent, operation,
                              operation->known.mask == 0 ? 0 : operation->known.columns[BK_GUARDED_BUCKET]);
    else
        resume(agent, operation, now_ns);
}

/* The row was counted. If its bucket is known to be no longer the newest, it need not be rolled. */
static void added(struct bk_agent *agent, struct operation *operation)
{
    operation->counted = true;
    recall(agent, operation);
    if (operation->known.columns[BK_GUARDED_BUCKET] == operation->bucket)
        bk_operation_go(operation, GUARDED_TOTAL);
    else
        bk_operation_finish(operation, BK_OPERATION_OK);
}

/* Handles the total of the bucket's counter, which includes the row's own increment. */
static void take_total(struct bk_agent *agent, struct operation *operation, int64_t now_ns, int64_t total)
{
    operation->total = total;
    if (!bk_operation_is_full(agent, operation, total)) {
        bk_operation_finish(operation, BK_OPERATION_OK);
        return;
    }
    operation->tries = operation->lost = 0;
    resume(agent, operation, now_ns);
}

/* The row is stored, and its increment was lost or has an unknown outcome. */
static void fail_to_count(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          bool is_unknown)
{
    bool may_count_twice = operation->step == GUARDED_ADD && is_unknown;
    uint32_t retries = may_count_twice ? agent->config.counter_retries : agent->config.retries;
    if (!bk_operation_try_again(agent, operation, now_ns, is_unknown, retries))
        bk_operation_finish(operation, BK_OPERATION_OK);
}

static void take_applied(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    struct known state;
    switch ((enum guarded_step)operation->step) {
    case GUARDED_READ:
        if (read_state(outcome, operation->asked_ns, &state))
            take_state(agent, operation, now_ns, &state);
        else
            fail(agent, operation, now_ns, false);
        break;
    case GUARDED_EXTEND:
    case GUARDED_ROLL:
        learn(agent, operation, &operation->next, now_ns);
        resume(agent, operation, now_ns);
        break;
    case GUARDED_KEEP_START:
        operation->start_is_kept = true;
        operation->tries = 0;
        resume(agent, operation, now_ns);
        break;
    case GUARDED_OLD_START:
        take_start(agent, operation, now_ns, outcome);
        break;
    case GUARDED_ADD:
        added(agent, operation);
        break;
    case GUARDED_TOTAL:
        take_total(agent, operation, now_ns, outcome->counter);
        break;
    case STEP_OF_GUARDED:
        break;
    }
}

static void take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    struct known state;
    bool is_unknown = bk_outcome_is_unknown(outcome);
    bool is_conditional = operation->step == GUARDED_EXTEND || operation->step == GUARDED_ROLL;
    if (outcome->kind == BK_OUTCOME_APPLIED) {
        take_applied(agent, operation, now_ns, outcome);
    } else if (operation->step == GUARDED_ADD || operation->step == GUARDED_TOTAL) {
        fail_to_count(agent, operation, now_ns, is_unknown);
    } else if (outcome->kind == BK_OUTCOME_NOT_APPLIED && is_conditional &&
               read_state(outcome, operation->asked_ns, &state) && state.mask != 0) {
        learn(agent, operation, &state, now_ns);
        if (++operation->lost < CAS_TRIES_MAX)
            resume(agent, operation, now_ns);
        else
            bk_operation_finish(operation, operation->is_placed ? BK_OPERATION_OK : BK_OPERATION_REFUSED);
    } else {
        fail(agent, operation, now_ns, is_unknown);
    }
}

static void fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    (void)agent;
    if (out->kind != BK_ACT_WRITE_START)
        return;
    out->bucket = operation->bucket - 1;
    out->mask = 1;
    out->columns[0] = operation->known.columns[BK_GUARDED_BEFORE];
}

static bool view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                 bool *is_changing)
{
    const struct known *known = bk_agent_cache_peek(agent, key);
    if (known == NULL || now_ns < known->columns[BK_GUARDED_BEFORE] ||
        now_ns >= known->columns[BK_GUARDED_UNTIL])
        return false;
    *is_changing = now_ns < known->columns[BK_GUARDED_START];
    *bucket = known->columns[BK_GUARDED_BUCKET] - *is_changing;
    return true;
}

static const struct step_action actions[] = {
    [GUARDED_READ - STEP_OF_PROTOCOL] = {BK_ACT_READ_STATE, STRICT},
    [GUARDED_EXTEND - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_STATE, STRICT},
    [GUARDED_KEEP_START - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_START, PLAIN},
    [GUARDED_ROLL - STEP_OF_PROTOCOL] = {BK_ACT_WRITE_STATE, STRICT},
    [GUARDED_OLD_START - STEP_OF_PROTOCOL] = {BK_ACT_READ_START, PLAIN},
    [GUARDED_ADD - STEP_OF_PROTOCOL] = {BK_ACT_ADD_COUNTER, PLAIN},
    [GUARDED_TOTAL - STEP_OF_PROTOCOL] = {BK_ACT_READ_COUNTER, PLAIN},
};
const struct protocol bk_protocol_guarded = {
    .write = begin_write,
    .read = resume,
    .route = resume,
    .placed = placed,
    .actions = actions,
    .fill = fill,
    .outcome = take_outcome,
    .asks = asks,
    .is_served = is_served,
    .resume = resume,
    .view = view,
    .step_count = STEP_OF_GUARDED,
};
