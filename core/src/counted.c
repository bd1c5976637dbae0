/* SPDX-License-Identifier: MIT */
/* Counts a row that fired, and plans the write of the state row for it. */
#include "calendar.h"
#include "protocol.h"

/* Returns the start of the newest bucket; INT64_MIN for a key without a state. */
static int64_t start_of(const struct bk_agent *agent, const struct known *known)
{
    if (known->mask == 0)
        return INT64_MIN;
    bool is_dated = agent->config.coordination == BK_THREE_STATE && known->columns[BK_NEXT_CHANGE] != 0;
    return known->columns[is_dated ? BK_NEXT_CHANGE : BK_LAST_CHANGE];
}

int64_t bk_counted_line(const struct bk_agent *agent, const struct known *known)
{
    return bk_agent_line_above(agent, start_of(agent, known));
}

static bool is_beyond(const struct bk_agent *agent, const struct known *known, int64_t time_ns)
{
    if (!bk_counted_has_lines(agent))
        return false;
    int64_t line_ns = bk_counted_line(agent, known);
    return line_ns < INT64_MAX && time_ns >= line_ns;
}

/* The next bucket begins at the line that ends the newest one or, if the key had no rows for several lines,
 * at the last line before the row. With three states, the times between these lines belong to a bucket that
 * stays empty, so that the two dates of the state determine the bucket of each time. */
static void plan_line(const struct bk_agent *agent, struct operation *operation)
{
    const struct known *known = &operation->known;
    int64_t *next = operation->next.columns, line_ns = bk_counted_line(agent, known);
    bool is_new = known->mask == 0, is_dated = agent->config.coordination == BK_THREE_STATE && !is_new;
    bool has_slept = is_new || bk_agent_line_above(agent, line_ns) <= operation->row.time_ns;
    int64_t start_ns = has_slept ? bk_agent_line_at(agent, operation->row.time_ns) : line_ns;
    operation->next = *known;
    operation->next.mask = BIT(BK_BUCKET) | BIT(BK_LAST_CHANGE) | BIT(is_dated ? BK_NEXT_CHANGE : BK_COUNTER);
    next[BK_BUCKET] += is_new ? 0 : 1 + (is_dated && has_slept);
    if (is_dated) {
        next[BK_LAST_CHANGE] = has_slept ? line_ns : start_of(agent, known);
        next[BK_NEXT_CHANGE] = start_ns != 0 ? start_ns : 1; /* 0 means that there is none */
    } else {
        next[BK_COUNTER] = is_new ? 0 : bk_counted_stored_as(agent, operation, 0);
        next[BK_LAST_CHANGE] = start_ns;
    }
}

/* operation->known may be a cached copy, on which a plain write must not be based, so the state is read
 * first. A counter column is read for its base; with three states, the reset reads it later. */
bool bk_counted_cross_line(struct bk_agent *agent, struct operation *operation)
{
    const struct known *known = &operation->known;
    if (!is_beyond(agent, known, operation->row.time_ns))
        return false;
    enum bk_counter counter = agent->config.counter;
    bool has_total = operation->step == COUNTED_TOTAL;
    bool is_read = has_total || operation->step == STEP_LOOK || operation->step == COUNTED_FRESH;
    if (known->columns[BK_BUCKET] > BUCKET_LAST - 2) {
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
    } else if (counter != BK_COUNTER_LWT && !is_read) {
        bk_operation_go(operation, COUNTED_FRESH);
    } else if (counter == BK_COUNTER_COLUMN && agent->config.coordination != BK_THREE_STATE &&
               known->mask != 0 && !has_total) {
        bk_operation_go(operation, COUNTED_TOTAL);
    } else {
        plan_line(agent, operation);
        bk_operation_go(operation, COUNTED_WRITE);
    }
    return true;
}

void bk_counted_route(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (!bk_counted_crosses_line(agent, operation))
        bk_operation_route_newest(agent, operation, now_ns);
}

void bk_counted_weigh(const struct bk_agent *agent, struct operation *operation)
{
    uint64_t weight = bk_weight_of(bk_agent_settings(agent, operation->row.time_ns), &operation->row);
    operation->weight = weight < WEIGHT_MAX ? (int64_t)weight : WEIGHT_MAX;
    operation->fired = weight > 0;
}

void bk_counted_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    bk_counted_weigh(agent, operation);
    bk_operation_find_bucket(agent, operation, now_ns);
}

void bk_counted_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
    if (cached == NULL) {
        bk_operation_go(operation, STEP_LOOK);
        return;
    }
    operation->known = *cached;
    bk_agent_start_reader(agent, operation, cached->columns[BK_BUCKET]);
}

void bk_counted_placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
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

bool bk_counted_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                     bool *is_changing)
{
    const struct known *known = bk_agent_cache_find(agent, now_ns, key);
    if (known == NULL || is_beyond(agent, known, now_ns))
        return false;
    *bucket = known->columns[BK_BUCKET];
    *is_changing = known->columns[BK_NEXT_CHANGE] != 0 && now_ns < known->columns[BK_NEXT_CHANGE];
    return true;
}

void bk_counted_fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    bool by_lwt = agent->config.counter == BK_COUNTER_LWT;
    switch ((enum counted_step)operation->step) {
    case COUNTED_FRESH:
        out->kind = BK_ACT_READ_STATE;
        out->serial = by_lwt;
        break;
    case COUNTED_ADD:
        out->kind = BK_ACT_ADD_COUNTER;
        out->amount = operation->weight;
        break;
    case COUNTED_TOTAL:
        out->kind = BK_ACT_READ_COUNTER;
        break;
    case COUNTED_WRITE:
        bk_operation_fill_write(operation, by_lwt, out);
        break;
    case STEP_OF_COUNTED:
        break; /* handled by the protocol */
    }
}

bool bk_counted_has_lost(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
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
        bk_counted_keep_written(agent, operation, now_ns);
        protocol->route(agent, operation, now_ns);
    } else if (is_write && bk_counted_has_lost(agent, operation, now_ns, outcome)) {
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

void bk_counted_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
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
        if (agent->config.counter == BK_COUNTER_COLUMN)
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
            bk_counted_keep_written(agent, operation, now_ns);
            if (protocol->written == NULL)
                bk_operation_finish(operation, BK_OPERATION_OK);
            else
                protocol->written(agent, operation, now_ns);
        } else if (!bk_counted_has_lost(agent, operation, now_ns, outcome)) {
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

/* a - b with wrap-around, for totals and bases that a faulty host reports. */
static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

int64_t bk_counted_before_row(const struct bk_agent *agent, const struct operation *operation)
{
    int64_t stored = operation->known.columns[BK_COUNTER];
    return agent->config.counter == BK_COUNTER_COLUMN ? minus(operation->total, stored) : stored;
}

int64_t bk_counted_with_row(const struct bk_agent *agent, const struct operation *operation)
{
    int64_t count = bk_counted_before_row(agent, operation);
    if (agent->config.counter == BK_COUNTER_COLUMN)
        return count; /* the row's increment was added before the total was read */
    return count > WEIGHT_MAX - operation->weight ? WEIGHT_MAX : count + operation->weight;
}

int64_t bk_counted_stored_as(const struct bk_agent *agent, const struct operation *operation, int64_t count)
{
    return agent->config.counter == BK_COUNTER_COLUMN ? minus(operation->total, count) : count;
}

bool bk_counted_is_full(const struct bk_agent *agent, const struct operation *operation, int64_t count)
{
    return count > 0 && (uint64_t)count >= bk_threshold(bk_agent_settings(agent, operation->row.time_ns));
}

bool bk_counted_may_roll(const struct bk_agent *agent, const struct operation *operation, int64_t count)
{
    return bk_counted_is_full(agent, operation, count) && operation->known.columns[BK_BUCKET] < BUCKET_LAST;
}

bool bk_counted_stands_here(const struct bk_agent *agent, const struct operation *operation)
{
    bool is_known = operation->known.mask != 0 || bk_counted_line(agent, &operation->known) == INT64_MAX;
    return is_known && operation->bucket >= operation->known.columns[BK_BUCKET];
}

void bk_counted_plan(const struct bk_agent *agent, struct operation *operation, int64_t count)
{
    operation->next = operation->known;
    operation->next.mask = 0;
    if (agent->config.counter == BK_COUNTER_COLUMN)
        return;
    operation->next.columns[BK_COUNTER] = count;
    operation->next.mask = BIT(BK_COUNTER);
}

bool bk_counted_plan_row(struct bk_agent *agent, struct operation *operation, int64_t *count)
{
    *count = bk_counted_with_row(agent, operation);
    operation->adds = bk_counted_stands_here(agent, operation);
    if (operation->adds)
        bk_counted_plan(agent, operation, *count);
    else
        bk_operation_finish(operation, BK_OPERATION_OK);
    return operation->adds;
}

/* With a greatest age, the change is dated before the line that ends the newest bucket, whatever the clock
 * says now. */
void bk_counted_plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t start_ns = start_of(agent, &operation->known), line_ns = bk_agent_line_above(agent, start_ns);
    if (line_ns < INT64_MAX)
        now_ns = now_ns < start_ns ? start_ns : now_ns < line_ns ? now_ns : line_ns - 1;
    operation->next = operation->known;
    operation->next.columns[BK_BUCKET]++;
    operation->next.columns[BK_COUNTER] = bk_counted_stored_as(agent, operation, 0);
    operation->next.columns[BK_LAST_CHANGE] = now_ns;
    operation->next.mask = BIT(BK_BUCKET) | BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE);
}

void bk_counted_write_plan(struct operation *operation)
{
    if (operation->next.mask != 0)
        bk_operation_go(operation, COUNTED_WRITE);
    else
        bk_operation_finish(operation, BK_OPERATION_OK);
}

/* An applied conditional write also proves the columns that it did not write. After a plain write, those are
 * still as old as before. */
void bk_counted_keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct known known = operation->next;
    if (agent->config.counter == BK_COUNTER_LWT) {
        known.learned_ns = operation->asked_ns;
    } else {
        const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
        if (cached != NULL)
            known = *cached;
        for (unsigned i = 0; i < BK_COLUMN_COUNT; i++) {
            if (bk_operation_written_mask(operation) & BIT(i))
                known.columns[i] = operation->next.columns[i];
        }
    }
    known.mask = COLUMNS_ALL;
    bk_operation_learn(agent, operation, &known, now_ns);
}
