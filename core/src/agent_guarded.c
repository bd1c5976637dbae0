/* SPDX-License-Identifier: MIT */
/* Guarded: a row is placed by a committed grant alone (docs/guarded.md).
 *
 * A state that was ever committed tells for all times from BEFORE to before UNTIL which bucket they belong
 * to, and it stays right however old the copy is. So a row needs the database only when it is later than the
 * newest copy that the agent holds (then the grant is extended), or older than what the copy covers (then the
 * starts of older buckets are looked up). Of all operations on one key a single one asks for it at a time;
 * the others are parked, ask nothing, and go on when it has ended, however it did. */
#include <string.h>

#include "agent.h"

#define WAIT_DOUBLINGS_MAX 6u
/* The last time that can be granted; see bk_agent_later(). */
#define UNTIL_LAST (INT64_MAX - 1)

static void recall(const struct bk_agent *agent, struct operation *operation);
static void proceed(struct bk_agent *agent, struct operation *operation);
static void look_up(struct operation *operation, int64_t bucket, int64_t before_ns);
static void take_start(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct bk_outcome *outcome);
static enum step question_of(const struct operation *operation);
static void ask(struct bk_agent *agent, struct operation *operation, enum step step, int64_t now_ns);
static void plan_extension(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static int64_t granted_until(const struct bk_agent *agent, const struct operation *operation,
                             int64_t from_ns);
static void plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void take_state(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct known *state);
static void learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                  int64_t now_ns);
static bool read_state(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out);
static void fail(const struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown);
static int64_t pause_of(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns,
                        bool is_unknown);

void bk_agent_guarded_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t latest_ns = bk_agent_later(now_ns, 1, agent->config.clock_bound_ns);
    if (operation->row.time_ns > latest_ns || operation->row.time_ns >= UNTIL_LAST)
        bk_agent_finish(operation, BK_OPERATION_REFUSED);
    else
        bk_agent_guarded_go_on(agent, operation, now_ns);
}

void bk_agent_guarded_go_on(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (bk_agent_guarded_is_served(agent, operation))
        proceed(agent, operation);
    else
        ask(agent, operation, question_of(operation), now_ns);
}

bool bk_agent_guarded_may_roll(const struct bk_agent *agent, struct operation *operation)
{
    recall(agent, operation);
    return operation->known.columns[BK_GUARDED_BUCKET] == operation->bucket;
}

void bk_agent_guarded_roll(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    operation->tries = operation->lost = 0;
    bk_agent_guarded_go_on(agent, operation, now_ns);
}

bool bk_agent_guarded_is_served(const struct bk_agent *agent, struct operation *operation)
{
    recall(agent, operation);
    if (operation->known.mask == 0)
        return false;
    int64_t until_ns = operation->known.columns[BK_GUARDED_UNTIL];
    /* What is certified of all times of a range tells all of its buckets. */
    bool is_range = operation->is_read && operation->query.kind == BK_QUERY_RANGE;
    if (is_range && operation->query.until_ns <= until_ns)
        return true;
    if (operation->is_placed)
        return operation->known.columns[BK_GUARDED_BUCKET] != operation->bucket;
    if (!operation->is_read)
        return operation->row.time_ns < until_ns;
    /* What was acknowledged before the read began has a time of at most a bound beyond its agent's clock,
     * which is at most two bounds ahead of this one. */
    return bk_agent_later(operation->row.time_ns, 3, agent->config.clock_bound_ns) < until_ns;
}

void bk_agent_guarded_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                              const struct bk_outcome *outcome)
{
    struct known state;
    bool is_applied = outcome->kind == BK_OUTCOME_APPLIED;
    bool is_unknown = (unsigned)outcome->kind >= BK_OUTCOME_UNKNOWN;
    bool is_conditional = operation->step == STEP_EXTEND || operation->step == STEP_GRANT_ROLL;
    if (is_applied && operation->step == STEP_OLD_START) {
        take_start(agent, operation, now_ns, outcome);
    } else if (is_applied && operation->step == STEP_KEEP_START) {
        operation->start_is_kept = true;
        operation->tries = 0;
        bk_agent_guarded_go_on(agent, operation, now_ns);
    } else if (is_applied && is_conditional) {
        learn(agent, operation, &operation->next, now_ns);
        bk_agent_guarded_go_on(agent, operation, now_ns);
    } else if (is_applied && read_state(outcome, operation->asked_ns, &state)) {
        take_state(agent, operation, now_ns, &state);
    } else if (outcome->kind == BK_OUTCOME_NOT_APPLIED && is_conditional &&
               read_state(outcome, operation->asked_ns, &state) && state.mask != 0) {
        learn(agent, operation, &state, now_ns);
        if (++operation->lost < CAS_TRIES_MAX)
            bk_agent_guarded_go_on(agent, operation, now_ns);
        else
            bk_agent_finish(operation, operation->is_placed ? BK_OPERATION_OK : BK_OPERATION_REFUSED);
    } else {
        fail(agent, operation, now_ns, is_unknown);
    }
}

void bk_agent_guarded_fill(const struct operation *operation, struct bk_action *out)
{
    switch (operation->step) {
    case STEP_GRANT_READ:
        out->kind = BK_ACT_READ_STATE;
        out->serial = true;
        break;
    case STEP_KEEP_START:
        out->kind = BK_ACT_WRITE_START;
        out->bucket = operation->bucket - 1;
        out->mask = 1;
        out->columns[0] = operation->known.columns[BK_GUARDED_BEFORE];
        break;
    case STEP_OLD_START:
        out->kind = BK_ACT_READ_START;
        break;
    default: /* STEP_EXTEND, STEP_GRANT_ROLL */
        out->kind = BK_ACT_CAS_STATE;
        out->mask = COLUMNS_ALL;
        out->if_mask = operation->known.mask;
        memcpy(out->columns, operation->next.columns, sizeof out->columns);
        memcpy(out->expected, operation->known.columns, sizeof out->expected);
        break;
    }
}

bool bk_agent_guarded_view(const struct known *known, int64_t time_ns, int64_t *bucket, bool *is_changing)
{
    const int64_t *columns = known->columns;
    if (time_ns < columns[BK_GUARDED_BEFORE] || time_ns >= columns[BK_GUARDED_UNTIL])
        return false;
    *is_changing = time_ns < columns[BK_GUARDED_START];
    *bucket = columns[BK_GUARDED_BUCKET] - *is_changing;
    return true;
}

/* What other operations have learned meanwhile; never less than this one knows. */
static void recall(const struct bk_agent *agent, struct operation *operation)
{
    const struct known *cached = bk_agent_cache_peek(agent, operation->key);
    if (cached != NULL)
        operation->known = *cached;
}

static void proceed(struct bk_agent *agent, struct operation *operation)
{
    const int64_t *known = operation->known.columns;
    int64_t time_ns = operation->row.time_ns;
    if (operation->is_read) {
        bk_agent_start_reader(agent, operation, known[BK_GUARDED_BUCKET]);
    } else if (operation->is_placed) {
        bk_agent_finish(operation, BK_OPERATION_OK); /* somebody has rolled the key */
    } else if (time_ns >= known[BK_GUARDED_BEFORE]) {
        operation->bucket = known[BK_GUARDED_BUCKET] - (time_ns < known[BK_GUARDED_START]);
        bk_agent_go(operation, STEP_PUT);
    } else {
        look_up(operation, known[BK_GUARDED_BUCKET] - 2, known[BK_GUARDED_BEFORE]);
    }
}

/* Down from the highest bucket that the row may belong to, and that ended before before_ns. */
static void look_up(struct operation *operation, int64_t bucket, int64_t before_ns)
{
    operation->bucket = bucket;
    operation->end_ns = before_ns;
    bk_agent_go(operation, bucket == 0 ? STEP_PUT : STEP_OLD_START);
}

/* Whoever rolled past the bucket had stored its start before, so one that is missing, or that is no start, is
 * a failure to read it. */
static void take_start(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                       const struct bk_outcome *outcome)
{
    int64_t start_ns = outcome->columns[0];
    if ((outcome->mask & 1) == 0 || start_ns >= operation->end_ns)
        fail(agent, operation, now_ns, false);
    else if (start_ns <= operation->row.time_ns)
        bk_agent_go(operation, STEP_PUT);
    else
        look_up(operation, operation->bucket - 1, start_ns);
}

static enum step question_of(const struct operation *operation)
{
    if (operation->is_placed)
        /* Bucket 0 starts with time itself, so nobody has to look that up. */
        return operation->bucket >= 2 && !operation->start_is_kept ? STEP_KEEP_START : STEP_GRANT_ROLL;
    if (operation->is_read || (operation->known.mask == 0 && !operation->is_new_key))
        return STEP_GRANT_READ;
    return STEP_EXTEND;
}

static void ask(struct bk_agent *agent, struct operation *operation, enum step step, int64_t now_ns)
{
    if (!bk_agent_asks(agent, operation) && bk_agent_somebody_asks(agent, operation)) {
        operation->step = STEP_PARKED;
        return;
    }
    operation->step = step;
    operation->is_retry = false;
    if (step == STEP_EXTEND)
        plan_extension(agent, operation, now_ns);
    else if (step == STEP_GRANT_ROLL)
        plan_roll(agent, operation, now_ns);
}

/* A row may have waited; what is granted is for those to come. */
static void plan_extension(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    operation->next = operation->known;
    if (operation->known.mask == 0) {
        operation->next.mask = COLUMNS_ALL;
        operation->next.columns[BK_GUARDED_BUCKET] = 0;
        operation->next.columns[BK_GUARDED_BEFORE] = INT64_MIN;
        operation->next.columns[BK_GUARDED_START] = INT64_MIN;
    }
    int64_t time_ns = operation->row.time_ns;
    operation->next.columns[BK_GUARDED_UNTIL] =
        granted_until(agent, operation, time_ns > now_ns ? time_ns : now_ns);
}

/* Where updates lose or time out, agents ask more often than the cluster can answer: longer grants are asked
 * for less often. */
static int64_t granted_until(const struct bk_agent *agent, const struct operation *operation, int64_t from_ns)
{
    uint32_t failed = operation->tries + operation->lost;
    return bk_agent_later(from_ns,
                          UINT64_C(1) << (failed < BK_GRANT_DOUBLINGS_MAX ? failed : BK_GRANT_DOUBLINGS_MAX),
                          agent->config.grant_ns);
}

/* The next bucket starts where the grant of this one ends: nobody can have placed a later row. */
static void plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const int64_t *known = operation->known.columns;
    int64_t until_ns = known[BK_GUARDED_UNTIL];
    if (until_ns >= UNTIL_LAST || known[BK_GUARDED_BUCKET] >= BUCKET_LAST) {
        bk_agent_finish(operation, BK_OPERATION_OK); /* no time, or no bucket, is left to be granted */
        return;
    }
    operation->next = operation->known;
    operation->next.columns[BK_GUARDED_BUCKET] = known[BK_GUARDED_BUCKET] + 1;
    operation->next.columns[BK_GUARDED_BEFORE] = known[BK_GUARDED_START];
    operation->next.columns[BK_GUARDED_START] = until_ns;
    operation->next.columns[BK_GUARDED_UNTIL] =
        granted_until(agent, operation, until_ns > now_ns ? until_ns : now_ns);
}

/* The state was read, after the operation had begun. */
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
        bk_agent_guarded_go_on(agent, operation, now_ns);
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

/* The state row as the outcome tells it; false when nobody can have stored it. */
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

/* Refused or unknown. After a conditional update whose outcome is unknown nothing may be assumed: what its
 * condition names may hold, or hold no longer, or cease to hold when it takes effect late, which does no
 * harm. */
static void fail(const struct bk_agent *agent, struct operation *operation, int64_t now_ns, bool is_unknown)
{
    if (operation->tries >= agent->config.retries) {
        bk_agent_finish(operation, operation->is_placed ? BK_OPERATION_OK : BK_OPERATION_REFUSED);
        return;
    }
    operation->tries++;
    operation->is_retry = true;
    if (is_unknown && (operation->step == STEP_EXTEND || operation->step == STEP_GRANT_ROLL)) {
        operation->step = STEP_GRANT_READ;
        operation->is_retry = false;
    }
    int64_t pause_ns = pause_of(agent, operation, now_ns, is_unknown);
    if (pause_ns > 0)
        operation->wake_ns = bk_agent_later(now_ns, 1, pause_ns);
}

/* Contenders that come back at once, or in step, would time each other out for ever: they part by more each
 * time, and by as much as the try took at least. A clock that was set forward meanwhile does not tell how
 * long that was, so no wait comes of it that is much longer than the longest grant. */
static int64_t pause_of(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns,
                        bool is_unknown)
{
    uint32_t doublings = operation->tries < WAIT_DOUBLINGS_MAX ? operation->tries : WAIT_DOUBLINGS_MAX;
    int64_t pause_ns = bk_agent_spread(agent, agent->config.retry_backoff_ns, operation->tries);
    pause_ns = bk_agent_later(0, UINT64_C(1) << doublings, pause_ns);
    if (!is_unknown || pause_ns == 0 || now_ns <= operation->asked_ns)
        return pause_ns;
    int64_t most_ns = bk_agent_later(0, UINT64_C(1) << BK_GRANT_DOUBLINGS_MAX, agent->config.grant_ns);
    uint64_t told_ns = (uint64_t)now_ns - (uint64_t)operation->asked_ns;
    int64_t spent_ns = told_ns < (uint64_t)most_ns ? (int64_t)told_ns : most_ns;
    spent_ns = bk_agent_spread(agent, spent_ns, operation->tries);
    return spent_ns > pause_ns ? spent_ns : pause_ns;
}
