/* SPDX-License-Identifier: MIT */
/* The steps that operations of all protocols have in common (look up the state, put the row, read rows, end),
 * and helpers for the protocols' own steps. */
#include <string.h>

#include "bucketing/hash.h"
#include "operation.h"

int64_t bk_agent_saturating_add(int64_t now_ns, uint64_t times, int64_t span_ns)
{
    const int64_t last_ns = INT64_MAX - 1; /* INT64_MAX means never */
    if (span_ns == 0)
        return now_ns;
    if (times > (uint64_t)(last_ns / span_ns))
        return last_ns;
    int64_t wait_ns = (int64_t)times * span_ns;
    return now_ns > last_ns - wait_ns ? last_ns : now_ns + wait_ns;
}

int64_t bk_agent_spread(const struct bk_agent *agent, int64_t mean_ns, uint32_t nth)
{
    uint64_t mean = (uint64_t)mean_ns;
    uint64_t mix = bk_murmur3_128_u64(agent->config.agent_id ^ (uint64_t)nth << 32).h1;
    uint64_t wait = mean / 2 + mix % (mean + 1);
    return wait < INT64_MAX ? (int64_t)wait : INT64_MAX;
}

bool bk_operation_try_again(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                            bool is_unknown, uint32_t retries)
{
    int64_t backoff_ns = is_unknown ? 0 : agent->config.retry_backoff_ns;
    if (operation->tries >= retries)
        return false;
    operation->tries++;
    operation->is_retry = true;
    if (backoff_ns > 0)
        operation->wake_ns = bk_agent_saturating_add(now_ns, operation->tries, backoff_ns);
    return true;
}

void bk_operation_try_again_or_end(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                                   bool is_unknown, uint32_t retries)
{
    if (bk_operation_try_again(agent, operation, now_ns, is_unknown, retries))
        return;
    bk_agent_cache_forget(agent, operation->key);
    bk_operation_finish(operation, BK_OPERATION_OK);
}

bool bk_operation_read_known(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out)
{
    memset(out, 0, sizeof *out);
    out->learned_ns = asked_ns; /* the state was current at this time or later */
    if ((outcome->mask & COLUMNS_ALL) == 0)
        return true;
    out->mask = outcome->mask & COLUMNS_ALL;
    for (unsigned i = 0; i < BK_COLUMN_COUNT; i++)
        out->columns[i] = outcome->mask & BIT(i) ? outcome->columns[i] : 0;
    return out->columns[BK_BUCKET] >= 0 && out->columns[BK_BUCKET] <= BUCKET_LAST &&
           out->columns[BK_COUNTER] < INT64_MAX;
}

/* Stores a state in the cache, unless the cache has one with a higher bucket, which is newer. Buckets only
 * rise, except that a late plain write may lower one; the agent notices that when the entry has expired. */
static void remember(struct bk_agent *agent, uint64_t key, int64_t now_ns, const struct known *known)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, key);
    if (cached == NULL || cached->columns[BK_BUCKET] <= known->columns[BK_BUCKET])
        bk_agent_cache_store(agent, now_ns, key, known);
}

void bk_operation_learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                        int64_t now_ns)
{
    operation->known = *state;
    remember(agent, operation->key, now_ns, state);
}

/* Cleared first, so that padding bytes are 0 and copies of an agent are equal byte by byte. */
void bk_operation_stored(const struct operation *operation, struct known *out)
{
    memcpy(out, &operation->next, sizeof *out);
    out->mask = COLUMNS_ALL;
    out->learned_ns = operation->asked_ns;
}

void bk_operation_plan_raise(struct operation *operation, int64_t now_ns)
{
    operation->next = operation->known;
    operation->next.columns[BK_BUCKET]++;
    operation->next.columns[BK_LAST_CHANGE] = now_ns;
    operation->next.mask = BIT(BK_BUCKET) | BIT(BK_LAST_CHANGE);
}

uint32_t bk_operation_written_mask(const struct operation *operation)
{
    return operation->known.mask == 0 ? COLUMNS_ALL : operation->next.mask;
}

void bk_operation_fill_write(const struct operation *operation, bool is_conditional, struct bk_action *out)
{
    out->kind = is_conditional ? BK_ACT_CAS_STATE : BK_ACT_WRITE_STATE;
    out->mask = bk_operation_written_mask(operation);
    memcpy(out->columns, operation->next.columns, sizeof out->columns);
    if (!is_conditional)
        return;
    /* A failed conditional update returns the columns that its condition names, so the condition names all of
     * them. A row that lacks columns gets them all. */
    if (operation->known.mask != 0) {
        out->if_mask = COLUMNS_ALL;
        out->if_null_mask = COLUMNS_ALL & ~operation->known.mask;
        out->mask = out->if_null_mask != 0 ? COLUMNS_ALL : out->mask;
    }
    memcpy(out->expected, operation->known.columns, sizeof out->expected);
}

void bk_operation_find_bucket(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, operation->key);
    if (cached == NULL) {
        bk_operation_go(operation, STEP_LOOK);
        return;
    }
    operation->known = *cached;
    bk_protocol(agent)->route(agent, operation, now_ns);
}

void bk_operation_route_newest(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    (void)agent, (void)now_ns;
    operation->bucket = operation->known.columns[BK_BUCKET];
    bk_operation_go(operation, STEP_PUT);
}

void bk_operation_look(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    (void)agent, (void)now_ns;
    bk_operation_go(operation, STEP_LOOK);
}

OUT_OF_LINE static void looked(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                               const struct bk_outcome *outcome)
{
    struct known state;
    if (outcome->kind == BK_OUTCOME_APPLIED &&
        bk_operation_read_known(outcome, operation->asked_ns, &state)) {
        bk_operation_learn(agent, operation, &state, now_ns);
        if (operation->is_read)
            bk_agent_start_reader(agent, operation, state.columns[BK_BUCKET]);
        else
            bk_protocol(agent)->route(agent, operation, now_ns);
    } else if (!bk_operation_try_again(agent, operation, now_ns, bk_outcome_is_unknown(outcome),
                                       agent->config.retries)) {
        bk_operation_finish(operation, BK_OPERATION_REFUSED);
    }
}

static void put(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                const struct bk_outcome *outcome)
{
    bool is_unknown = bk_outcome_is_unknown(outcome);
    if (outcome->kind == BK_OUTCOME_APPLIED) {
        operation->ack_due = operation->is_placed = true;
        bk_operation_finish(operation, BK_OPERATION_OK);
        if (agent->memory_sets != 0)
            bk_agent_forget_empty(agent, operation->key, operation->bucket);
        if (bk_protocol(agent)->placed != NULL)
            bk_protocol(agent)->placed(agent, operation, now_ns);
        return;
    }
    operation->was_unknown = operation->was_unknown || is_unknown;
    if (!bk_operation_try_again(agent, operation, now_ns, is_unknown, agent->config.retries))
        bk_operation_finish(operation, operation->was_unknown ? BK_OPERATION_UNKNOWN : BK_OPERATION_REFUSED);
}

OUT_OF_LINE static void found_rows(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                                   const struct bk_outcome *outcome)
{
    if (outcome->kind == BK_OUTCOME_APPLIED)
        bk_agent_take_rows(agent, operation, outcome);
    else if (!bk_operation_try_again(agent, operation, now_ns, bk_outcome_is_unknown(outcome),
                                     agent->config.retries))
        bk_operation_finish(operation, BK_OPERATION_UNKNOWN);
}

void bk_operation_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome)
{
    switch ((enum step)operation->step) {
    case STEP_FREE:
    case STEP_PARKED:
    case STEP_DONE:
        return; /* has no request */
    case STEP_LOOK:
        looked(agent, operation, now_ns, outcome);
        return;
    case STEP_PUT:
        put(agent, operation, now_ns, outcome);
        return;
    case STEP_ROWS:
        found_rows(agent, operation, now_ns, outcome);
        return;
    case STEP_OF_PROTOCOL:
        break;
    }
    bk_protocol(agent)->outcome(agent, operation, now_ns, outcome);
}

void bk_operation_fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    struct bk_reader reader;
    out->is_retry = operation->is_retry;
    switch ((enum step)operation->step) {
    case STEP_FREE:
    case STEP_PARKED:
    case STEP_DONE:
        return; /* has no request */
    case STEP_LOOK:
        out->kind = BK_ACT_READ_STATE;
        return;
    case STEP_PUT:
        out->kind = BK_ACT_PUT_ROW;
        return;
    case STEP_ROWS:
        reader = operation->reader.reader;
        out->kind = BK_ACT_READ_ROWS;
        bk_read_next(&reader, &out->step);
        return;
    case STEP_OF_PROTOCOL:
        break;
    }
    bk_protocol(agent)->fill(agent, operation, out);
}
