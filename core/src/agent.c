/* SPDX-License-Identifier: MIT */
/* The agent's outside: memory, the ring of actions, deadlines. What an operation does next is in
 * agent_steps.c. */
#include "agent.h"
#include "query.h"

#include <stdalign.h>
#include <string.h>

#define OPERATIONS_MAX 65535u

static size_t align_up(size_t size);
static void lay_out(const struct bk_agent_config *config, struct bk_agent *agent, size_t *size);
static bool source_fits(const struct bk_agent_config *config);
static uint32_t *ring(struct bk_agent *agent, size_t at);
static enum bk_status begin(struct bk_agent *agent, uint64_t key, uint32_t *number);
static void after(struct bk_agent *agent, uint32_t number, int64_t now_ns);
static void release_parked(struct bk_agent *agent, uint64_t key, int64_t now_ns);
static bool is_served(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
static void go_on(struct bk_agent *agent, struct operation *operation, int64_t now_ns);

enum bk_status bk_agent_check(const struct bk_agent_config *config)
{
    if (config == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(&config->strategy);
    if (status != BK_OK)
        return status;
    if (config->strategy.max_age_ns != 0)
        return BK_ERROR_AGE;
    bool is_counted = bk_kind_fires(config->strategy.kind);
    if ((unsigned)config->coordination > BK_GUARDED || (unsigned)config->counter > BK_COUNTER_COLUMN ||
        (!is_counted && config->coordination != BK_SINGLE))
        return BK_ERROR_COORDINATION;
    if (config->history.count > 0) {
        status = bk_agent_history_fits(config, &config->history);
        if (status != BK_OK)
            return status;
    }
    if (!source_fits(config))
        return BK_ERROR_SOURCE;
    if (config->coordination == BK_THREE_STATE && config->lead_ns < 0)
        return BK_ERROR_LEAD;
    if (config->cache_entries < 1 || config->cache_ttl_ns < 0)
        return BK_ERROR_CACHE;
    if (config->operations < 1 || config->operations > OPERATIONS_MAX)
        return BK_ERROR_OPERATIONS;
    if (config->coordination == BK_LOCKED &&
        (config->agent_id == 0 || config->lock_lasts_ns <= 0 || config->lock_backoff_ns <= 0))
        return BK_ERROR_LOCK;
    if (config->coordination == BK_GUARDED &&
        (config->grant_ns <= 0 || config->clock_bound_ns < 0 || config->counter != BK_COUNTER_COLUMN))
        return BK_ERROR_GRANT;
    if (config->late_ns < 0)
        return BK_ERROR_RANGE;
    return config->retry_backoff_ns >= 0 ? BK_OK : BK_ERROR_BACKOFF;
}

size_t bk_agent_size(const struct bk_agent_config *config)
{
    if (bk_agent_check(config) != BK_OK)
        return 0;
    struct bk_agent agent;
    size_t size;
    lay_out(config, &agent, &size);
    return size;
}

enum bk_status bk_agent_init(void *memory, size_t size, const struct bk_agent_config *config,
                             struct bk_agent **out)
{
    if (out == NULL)
        return BK_ERROR_NULL;
    *out = NULL;
    if (memory == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_agent_check(config);
    if (status != BK_OK)
        return status;
    if (size < bk_agent_size(config) || (uintptr_t)memory % alignof(max_align_t) != 0)
        return BK_ERROR_MEMORY;
    size_t needed;
    struct bk_agent *agent = memory;
    memset(memory, 0, bk_agent_size(config));
    lay_out(config, agent, &needed);
    if (config->history.count == 0)
        bk_history_begin(&config->strategy, &agent->config.history);
    agent->config.strategy = agent->config.history.eras[agent->config.history.count - 1].strategy;
    agent->wake_ns = INT64_MAX;
    agent->free_count = config->operations;
    for (uint32_t i = 0; i < config->operations; i++)
        ring(agent, agent->free_at)[i] = config->operations - 1 - i;
    *out = agent;
    return BK_OK;
}

enum bk_status bk_agent_write(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct bk_row *row,
                              uint32_t *operation)
{
    if (agent == NULL || row == NULL || operation == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = begin(agent, key, operation);
    if (status != BK_OK)
        return status;
    struct operation *begun = &bk_agent_operations(agent)[*operation];
    begun->row = *row;
    bk_agent_begin_write(agent, begun, now_ns);
    after(agent, *operation, now_ns);
    return BK_OK;
}

enum bk_status bk_agent_read_latest(struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t birth_ns,
                                    uint64_t newest_sequence, uint64_t rows, enum bk_plan plan,
                                    uint32_t *operation)
{
    if (agent == NULL || operation == NULL)
        return BK_ERROR_NULL;
    struct bk_query query = bk_query_latest(now_ns, birth_ns, rows, plan);
    return bk_agent_read(agent, now_ns, key, newest_sequence, &query, operation);
}

enum bk_status bk_agent_read(struct bk_agent *agent, int64_t now_ns, uint64_t key, uint64_t newest_sequence,
                             const struct bk_query *query, uint32_t *operation)
{
    if (agent == NULL || query == NULL || operation == NULL)
        return BK_ERROR_NULL;
    /* Tried on a new key's state, so that a wrong plan or number is told before anything begins. */
    struct bk_query asked = *query;
    struct bk_history_state new_key;
    struct bk_history_reader trial;
    memset(&new_key, 0, sizeof new_key);
    asked.now_ns = now_ns;
    asked.starts = NULL;
    asked.start_count = 0;
    enum bk_status status = bk_history_read_begin(&agent->config.history, &new_key, &asked, &trial);
    if (status == BK_OK)
        status = begin(agent, key, operation);
    if (status != BK_OK)
        return status;
    struct operation *begun = &bk_agent_operations(agent)[*operation];
    begun->is_read = true;
    begun->query = asked;
    begun->row = (struct bk_row){now_ns, newest_sequence, 0, 0};
    bk_agent_begin_read(agent, begun, now_ns);
    after(agent, *operation, now_ns);
    return BK_OK;
}

enum bk_status bk_agent_outcome(struct bk_agent *agent, int64_t now_ns, uint32_t operation,
                                const struct bk_outcome *outcome)
{
    if (agent == NULL || outcome == NULL)
        return BK_ERROR_NULL;
    if (operation >= agent->config.operations || !bk_agent_operations(agent)[operation].waits_for_outcome)
        return BK_ERROR_OPERATION;
    struct operation *waiting = &bk_agent_operations(agent)[operation];
    bool asked_for_key = bk_agent_asks(agent, waiting);
    waiting->waits_for_outcome = false;
    bk_agent_take_outcome(agent, waiting, now_ns, outcome);
    after(agent, operation, now_ns);
    if (asked_for_key && !bk_agent_asks(agent, waiting))
        release_parked(agent, waiting->key, now_ns);
    return BK_OK;
}

bool bk_agent_next(struct bk_agent *agent, struct bk_action *out)
{
    if (agent == NULL || out == NULL || agent->ready_count == 0)
        return false;
    uint32_t number = ring(agent, agent->ready_at)[agent->ready_begin];
    struct operation *operation = &bk_agent_operations(agent)[number];
    memset(out, 0, sizeof *out);
    out->operation = number;
    out->key = operation->key;
    out->bucket = operation->bucket;
    out->row = operation->row;
    if (operation->ack_due) {
        operation->ack_due = false;
        out->kind = BK_ACT_ACK;
        return true; /* the step comes with the next call */
    }
    bk_agent_fill_action(agent, operation, out);
    operation->waits_for_outcome = operation->step != STEP_DONE;
    agent->ready_begin = (agent->ready_begin + 1) % agent->config.operations;
    agent->ready_count--;
    if (operation->step == STEP_DONE) {
        operation->step = STEP_FREE;
        ring(agent, agent->free_at)[agent->free_count++] = number;
    }
    return true;
}

int64_t bk_agent_deadline(const struct bk_agent *agent)
{
    return agent == NULL ? INT64_MAX : agent->wake_ns;
}

enum bk_status bk_agent_tick(struct bk_agent *agent, int64_t now_ns)
{
    if (agent == NULL)
        return BK_ERROR_NULL;
    if (now_ns < agent->wake_ns)
        return BK_OK;
    agent->wake_ns = INT64_MAX;
    for (uint32_t i = 0; i < agent->config.operations; i++) {
        struct operation *operation = &bk_agent_operations(agent)[i];
        if (operation->step == STEP_FREE || operation->wake_ns == INT64_MAX)
            continue;
        if (operation->wake_ns <= now_ns)
            operation->wake_ns = INT64_MAX;
        after(agent, i, now_ns);
    }
    return BK_OK;
}

bool bk_agent_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                   bool *is_changing)
{
    if (agent == NULL || bucket == NULL || is_changing == NULL || !bk_kind_fires(agent->config.strategy.kind))
        return false;
    bool is_guarded = agent->config.coordination == BK_GUARDED;
    const struct known *known =
        is_guarded ? bk_agent_cache_peek(agent, key) : bk_agent_cache_find(agent, now_ns, key);
    if (known == NULL)
        return false;
    if (is_guarded)
        return bk_agent_guarded_view(known, now_ns, bucket, is_changing);
    *bucket = bk_agent_bucket_at(&agent->config, known, now_ns);
    *is_changing = bk_agent_is_changing(known, now_ns);
    return true;
}

bool bk_agent_asks(const struct bk_agent *agent, const struct operation *operation)
{
    enum step step = operation->step;
    return (step >= STEP_GRANT_READ && step <= STEP_GRANT_ROLL) ||
           (agent->config.source == BK_SOURCE_LEASE && step >= STEP_NUMBER_READ &&
            step <= STEP_NUMBER_TAKE) ||
           (step >= STEP_OWN_READ && step <= STEP_OWN_RAISE);
}

bool bk_agent_somebody_asks(struct bk_agent *agent, const struct operation *operation)
{
    const struct operation *operations = bk_agent_operations(agent);
    for (uint32_t i = 0; i < agent->config.operations; i++) {
        if (operations[i].key == operation->key && bk_agent_asks(agent, &operations[i]))
            return true;
    }
    return false;
}

struct operation *bk_agent_operations(struct bk_agent *agent)
{
    return (struct operation *)(void *)((char *)agent + agent->operations_at);
}

static size_t align_up(size_t size)
{
    size_t unit = alignof(max_align_t);
    return (size + unit - 1) / unit * unit;
}

static void lay_out(const struct bk_agent_config *config, struct bk_agent *agent, size_t *size)
{
    memset(agent, 0, sizeof *agent);
    agent->config = *config;
    agent->cache_sets = config->cache_entries / CACHE_WAYS + (config->cache_entries % CACHE_WAYS != 0);
    agent->operations_at = align_up(sizeof *agent);
    agent->cache_at = align_up(agent->operations_at + config->operations * sizeof(struct operation));
    size_t entries = (size_t)agent->cache_sets * CACHE_WAYS;
    agent->own_at = align_up(agent->cache_at + entries * sizeof(struct cache_entry));
    agent->ready_at = align_up(agent->own_at + (bk_agent_has_own(config) ? entries * sizeof(struct own) : 0));
    agent->free_at = align_up(agent->ready_at + config->operations * sizeof(uint32_t));
    agent->memory_at = align_up(agent->free_at + config->operations * sizeof(uint32_t));
    if (config->strategy.kind == BK_TIME)
        agent->memory_sets = config->remember_keys / CACHE_WAYS + (config->remember_keys % CACHE_WAYS != 0);
    *size =
        align_up(agent->memory_at + (size_t)agent->memory_sets * CACHE_WAYS * sizeof(struct memory_entry));
}

static bool source_fits(const struct bk_agent_config *config)
{
    bool counts = config->source == BK_SOURCE_INCREMENTAL || config->source == BK_SOURCE_SCAN;
    if ((unsigned)config->source > BK_SOURCE_MEMORY ||
        (config->strategy.kind != BK_COUNT && config->source != BK_SOURCE_EXTERNAL))
        return false;
    if (counts && (config->every_ns < 0 || (config->every_rows == 0 && config->every_ns == 0)))
        return false;
    return config->source != BK_SOURCE_LEASE ||
           (config->lease_rows >= 1 && config->lease_rows < (uint64_t)INT64_MAX);
}

static uint32_t *ring(struct bk_agent *agent, size_t at)
{
    return (uint32_t *)(void *)((char *)agent + at);
}

static enum bk_status begin(struct bk_agent *agent, uint64_t key, uint32_t *number)
{
    if (agent->free_count == 0)
        return BK_ERROR_BUSY;
    *number = ring(agent, agent->free_at)[--agent->free_count];
    struct operation *operation = &bk_agent_operations(agent)[*number];
    memset(operation, 0, sizeof *operation);
    operation->key = key;
    operation->wake_ns = INT64_MAX;
    return BK_OK;
}

/* An operation has moved: it asks at once, or sleeps first, or waits for another to wake it. */
static void after(struct bk_agent *agent, uint32_t number, int64_t now_ns)
{
    struct operation *operation = &bk_agent_operations(agent)[number];
    if (operation->wake_ns < agent->wake_ns)
        agent->wake_ns = operation->wake_ns;
    if (operation->wake_ns == INT64_MAX && operation->step != STEP_PARKED) {
        operation->asked_ns = now_ns;
        uint64_t end = (uint64_t)agent->ready_begin + agent->ready_count++;
        ring(agent, agent->ready_at)[end % agent->config.operations] = number;
    }
}

/* Nobody asks for the key any more. All that can go on do so; the first one that must ask takes its turn, and
 * the rest wait for that one. */
static void release_parked(struct bk_agent *agent, uint64_t key, int64_t now_ns)
{
    struct operation *operations = bk_agent_operations(agent);
    bool is_taken = false;
    for (uint32_t i = 0; i < agent->config.operations; i++) {
        if (operations[i].step != STEP_PARKED || operations[i].key != key ||
            (is_taken && !is_served(agent, &operations[i], now_ns)))
            continue;
        go_on(agent, &operations[i], now_ns);
        after(agent, i, now_ns);
        is_taken = is_taken || bk_agent_asks(agent, &operations[i]);
    }
}

static bool is_served(const struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (agent->config.source == BK_SOURCE_LEASE)
        return bk_agent_number_is_served(agent, operation);
    if (agent->config.source == BK_SOURCE_MEMORY)
        return bk_agent_own_is_served(agent, operation, now_ns);
    return bk_agent_guarded_is_served(agent, operation);
}

static void go_on(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    if (agent->config.source == BK_SOURCE_LEASE)
        bk_agent_number_write(agent, operation);
    else if (agent->config.source == BK_SOURCE_MEMORY)
        bk_agent_own_write(agent, operation, now_ns);
    else
        bk_agent_guarded_go_on(agent, operation, now_ns);
}
