/* SPDX-License-Identifier: MIT */
/* Operations of an agent: their steps and turns, and the protocols that need no rule of their own. */
#include <string.h>

#include "bucketing/hash.h"
#include "calendar.h"
#include "protocol.h"

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
    for (unsigned i = 0; i < BK_COLUMNS; i++)
        out->columns[i] = outcome->mask & BIT(i) ? outcome->columns[i] : 0;
    return out->columns[BK_COLUMN_BUCKET] >= 0 && out->columns[BK_COLUMN_BUCKET] <= BUCKET_LAST &&
           out->columns[BK_COLUMN_COUNTER] < INT64_MAX;
}

/* Stores a state in the cache, unless the cache has one with a higher bucket, which is newer. Buckets only
 * rise, except that a late plain write may lower one; the agent notices that when the entry has expired. */
static void remember(struct bk_agent *agent, uint64_t key, int64_t now_ns, const struct known *known)
{
    const struct known *cached = bk_agent_cache_find(agent, now_ns, key);
    if (cached == NULL || cached->columns[BK_COLUMN_BUCKET] <= known->columns[BK_COLUMN_BUCKET])
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
    operation->next.columns[BK_COLUMN_BUCKET]++;
    operation->next.columns[BK_COLUMN_LAST_CHANGE] = now_ns;
    operation->next.mask = BIT(BK_COLUMN_BUCKET) | BIT(BK_COLUMN_LAST_CHANGE);
}

uint32_t bk_operation_written_mask(const struct operation *operation)
{
    return operation->known.mask == 0 ? COLUMNS_ALL : operation->next.mask;
}

/* Fills the action that writes the plan: on the condition that the state is as known, or without a
 * condition. */
static void fill_write(const struct operation *operation, bool is_conditional, struct bk_action *out)
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
    operation->bucket = operation->known.columns[BK_COLUMN_BUCKET];
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
            bk_agent_start_reader(agent, operation, state.columns[BK_COLUMN_BUCKET]);
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

/* Fills the action of one of the protocol's own steps. */
static void fill_own(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out)
{
    const struct protocol *protocol = bk_protocol(agent);
    const struct step_action *action = &protocol->actions[operation->step - STEP_OF_PROTOCOL];
    bool is_strict = action->how == STRICT ||
                     (action->how == STRICT_BY_COUNTER && agent->config.counter == BK_COUNTER_LWT) ||
                     (action->how == STRICT_BY_SOURCE && agent->config.source == BK_SOURCE_INCREMENTAL);
    out->kind = action->kind;
    if (action->kind == BK_ACT_READ_STATE)
        out->serial = is_strict;
    else if (action->kind == BK_ACT_WRITE_STATE)
        fill_write(operation, is_strict, out);
    else if (action->kind == BK_ACT_ADD_COUNTER)
        out->amount = operation->weight != 0 ? operation->weight : 1; /* a number is 1 */
    else if (action->kind == BK_ACT_COUNT_ROWS)
        out->bucket = operation->known.columns[BK_COLUMN_BUCKET];
    if (protocol->fill != NULL)
        protocol->fill(agent, operation, out);
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
    fill_own(agent, operation, out);
}

/* The order in which operations on one key take turns to make requests: by operation number. An operation
 * that makes requests for others, is parked, or uses the lock row is in the list of its key's hash (Fibonacci
 * hashing; there are as many lists as operations, so keys rarely share one). The head of a list, and each
 * link, is the number of the next operation plus 1, or 0. Protocols in which no operation waits for another
 * have no lists. */

static uint32_t *head_of(struct bk_agent *agent, uint64_t key)
{
    /* The high half of the product selects the list. */
    uint64_t high = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return bk_agent_numbers(agent, agent->lists_at) + (high * agent->list_count >> 32);
}

/* Returns the head or the link that refers to the operation, or that would if it were in the list. */
static uint32_t *place_of(struct bk_agent *agent, uint32_t number)
{
    uint32_t *links = bk_agent_numbers(agent, agent->links_at);
    uint32_t *link = head_of(agent, bk_agent_operations(agent)[number].key);
    while (*link != 0 && *link < number + 1)
        link = &links[*link - 1];
    return link;
}

bool bk_turns_asks(const struct bk_agent *agent, const struct operation *operation)
{
    const struct protocol *protocol = bk_protocol(agent);
    return protocol->asks != NULL && protocol->asks(operation);
}

void bk_turns_update(struct bk_agent *agent, uint32_t number)
{
    const struct protocol *protocol = bk_protocol(agent);
    struct operation *operation = &bk_agent_operations(agent)[number];
    bool is_locking = protocol->is_locking != NULL && protocol->is_locking(operation);
    bool concerns_others = operation->step == STEP_PARKED || is_locking || bk_turns_asks(agent, operation);
    if (concerns_others == operation->is_listed)
        return;
    uint32_t *place = place_of(agent, number), *link = &bk_agent_numbers(agent, agent->links_at)[number];
    operation->is_listed = concerns_others;
    if (concerns_others) {
        *link = *place;
        *place = number + 1;
    } else {
        *place = *link;
        *link = 0;
    }
}

/* Returns the first operation on the key, starting with the one that `link` refers to; NULL if there is
 * none. */
static struct operation *find(struct bk_agent *agent, uint32_t link, uint64_t key)
{
    const uint32_t *links = bk_agent_numbers(agent, agent->links_at);
    struct operation *operations = bk_agent_operations(agent);
    while (link != 0 && operations[link - 1].key != key)
        link = links[link - 1];
    return link == 0 ? NULL : &operations[link - 1];
}

struct operation *bk_turns_first(struct bk_agent *agent, uint64_t key)
{
    return agent->list_count == 0 ? NULL : find(agent, *head_of(agent, key), key);
}

struct operation *bk_turns_next(struct bk_agent *agent, const struct operation *operation)
{
    size_t number = (size_t)(operation - bk_agent_operations(agent));
    return find(agent, bk_agent_numbers(agent, agent->links_at)[number], operation->key);
}

bool bk_turns_is_taken(struct bk_agent *agent, const struct operation *operation)
{
    const struct operation *other = bk_turns_first(agent, operation->key);
    while (other != NULL && (other == operation || !bk_turns_asks(agent, other)))
        other = bk_turns_next(agent, other);
    return other != NULL;
}

bool bk_turns_is_locking(struct bk_agent *agent, const struct operation *operation)
{
    const struct protocol *protocol = bk_protocol(agent);
    const struct operation *other = bk_turns_first(agent, operation->key);
    while (other != NULL && (other == operation || !protocol->is_locking(other)))
        other = bk_turns_next(agent, other);
    return other != NULL;
}

void bk_operation_weigh(const struct bk_agent *agent, struct operation *operation)
{
    uint64_t weight = bk_weight_of(bk_agent_settings(agent, operation->row.time_ns), &operation->row);
    operation->weight = weight < WEIGHT_MAX ? (int64_t)weight : WEIGHT_MAX;
    operation->fired = weight > 0;
}

bool bk_operation_is_full(const struct bk_agent *agent, const struct operation *operation, int64_t count)
{
    return count > 0 && (uint64_t)count >= bk_threshold(bk_agent_settings(agent, operation->row.time_ns));
}

/* By coordination, and then by source. */
#define OF_SOURCE(source) (BK_GUARDED + 1 + (source))
const struct protocol *const bk_protocols[] = {
    [BK_SINGLE] = &bk_protocol_single,
    [BK_LOCKED] = &bk_protocol_locked,
    [BK_THREE_STATE] = &bk_protocol_three_state,
    [BK_GUARDED] = &bk_protocol_guarded,
    [OF_SOURCE(BK_SOURCE_EXTERNAL)] = &bk_protocol_routed,
    [OF_SOURCE(BK_SOURCE_COUNTER)] = &bk_protocol_number,
    [OF_SOURCE(BK_SOURCE_LWT)] = &bk_protocol_number,
    [OF_SOURCE(BK_SOURCE_LEASE)] = &bk_protocol_lease,
    [OF_SOURCE(BK_SOURCE_INCREMENTAL)] = &bk_protocol_sum,
    [OF_SOURCE(BK_SOURCE_SCAN)] = &bk_protocol_sum,
    [OF_SOURCE(BK_SOURCE_MEMORY)] = &bk_protocol_memory,
};

uint32_t bk_protocol_of(const struct bk_agent_config *config)
{
    return bk_kind_fires(config->strategy.kind) ? config->coordination : OF_SOURCE(config->source);
}

/* The row itself determines its bucket, by its time, its number or its id, or there is only one bucket.
 * Agents need no agreement. */

static void begin_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct bk_placement route;
    (void)now_ns;
    if (agent->config.strategy.kind == BK_KIND_COUNT) /* of one era; divided when it is put */
        bk_route_whole(&agent->config.strategy, NULL, &operation->row, &route);
    else
        bk_history_route(&agent->config.history, NULL, &operation->row, &route);
    operation->bucket = route.bucket;
    bk_operation_go(operation, STEP_PUT);
}

static void begin_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct bk_placement route;
    (void)now_ns;
    bk_route_whole(&agent->config.strategy, NULL, &operation->row, &route);
    bk_agent_start_reader(agent, operation, agent->config.strategy.kind == BK_KIND_COUNT ? route.bucket : 0);
}

const struct protocol bk_protocol_routed = {
    .write = begin_write,
    .read = begin_read,
    .route = begin_write,
    .step_count = STEP_OF_PROTOCOL,
};
