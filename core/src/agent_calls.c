/* SPDX-License-Identifier: MIT */
/* The calls of an agent: what it knows of a key between two operations, how settings change, how it reads and
 * writes, and what it returns to its caller. */
#include <stdalign.h>
#include <string.h>

#include "bucketing/hash.h"
#include "bucketing/private/lab.h"
#include "calendar.h"
#include "protocol.h"

static struct cache_entry *set_of(const struct bk_agent *agent, uint64_t key)
{
    char *cache = (char *)(uintptr_t)(const void *)agent + agent->cache_at;
    return (struct cache_entry *)(void *)cache + bk_agent_set_at(key, agent->cache_sets);
}

static struct cache_entry *entry_of(const struct bk_agent *agent, uint64_t key)
{
    struct cache_entry *set = set_of(agent, key);
    for (uint32_t i = 0; i < CACHE_WAYS; i++) {
        if (set[i].is_used && set[i].key == key)
            return &set[i];
    }
    return NULL;
}

const struct known *bk_agent_cache_find(const struct bk_agent *agent, int64_t now_ns, uint64_t key)
{
    const struct cache_entry *entry = entry_of(agent, key);
    /* The age of an entry that was learned at a later clock reading, before the clock was set back, is
     * unknown. */
    if (entry == NULL || now_ns < entry->known.learned_ns ||
        (uint64_t)now_ns - (uint64_t)entry->known.learned_ns >= (uint64_t)agent->config.cache_ttl_ns)
        return NULL;
    return &entry->known;
}

void bk_agent_prefetch(const struct bk_agent *agent, uint64_t key)
{
    if (agent == NULL)
        return;
#ifdef __GNUC__
    const struct cache_entry *set = set_of(agent, key);
    for (uint32_t i = 0; i < CACHE_WAYS; i++)
        __builtin_prefetch(&set[i].key);
#else
    (void)key;
#endif
}

const struct known *bk_agent_cache_peek(const struct bk_agent *agent, uint64_t key)
{
    const struct cache_entry *entry = entry_of(agent, key);
    return entry == NULL ? NULL : &entry->known;
}

/* The entry with the lowest value is replaced: first an unused one, then one whose time is in the future
 * because the clock was set back, then the oldest. */
static int64_t worth_ns(const struct cache_entry *entry, int64_t now_ns)
{
    if (!entry->is_used)
        return INT64_MIN;
    return entry->known.learned_ns > now_ns ? INT64_MIN + 1 : entry->known.learned_ns;
}

static struct local_count *local_of(const struct bk_agent *agent, const struct cache_entry *entry)
{
    char *memory = (char *)(uintptr_t)(const void *)agent;
    size_t index = ((size_t)((const char *)entry - memory) - agent->cache_at) / sizeof *entry;
    return (struct local_count *)(void *)(memory + agent->local_at) + index;
}

void bk_agent_cache_store(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct known *known)
{
    struct cache_entry *entry = entry_of(agent, key);
    if (entry == NULL) {
        struct cache_entry *set = set_of(agent, key);
        entry = set;
        for (uint32_t i = 1; i < CACHE_WAYS; i++) {
            if (worth_ns(&set[i], now_ns) < worth_ns(entry, now_ns))
                entry = &set[i];
        }
    }
    if (bk_protocol(agent)->has_local_count && !(entry->is_used && entry->key == key)) {
        struct local_count *local = local_of(agent, entry);
        memset(local, 0, sizeof *local);
        /* A full set may have evicted this key before, and with it the number of rows that were not counted
         * yet. */
        local->is_cold = entry->is_used;
    }
    /* Assigned field by field, so that padding bytes stay 0 and copies of an agent are equal byte by byte. */
    entry->is_used = true;
    entry->key = key;
    entry->known = *known;
}

struct local_count *bk_agent_cache_local(const struct bk_agent *agent, uint64_t key)
{
    const struct cache_entry *entry = entry_of(agent, key);
    return entry == NULL ? NULL : local_of(agent, entry);
}

void bk_agent_cache_forget(struct bk_agent *agent, uint64_t key)
{
    struct cache_entry *entry = entry_of(agent, key);
    if (entry != NULL)
        entry->is_used = false;
}

uint32_t bk_agent_cache_set(const struct bk_agent_config *config, uint64_t key)
{
    uint32_t sets = config->cache_entries / CACHE_WAYS + (config->cache_entries % CACHE_WAYS != 0);
    return (uint32_t)(bk_agent_set_at(key, sets) / CACHE_WAYS);
}

/* An agent's settings over time, according to its history, which the host may replace. */

enum bk_status bk_agent_change(struct bk_agent *agent, const struct bk_history *history)
{
    if (agent == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_agent_history_fits(&agent->config, history);
    if (status != BK_OK)
        return status;
    agent->config.history = *history;
    agent->config.strategy = history->eras[history->count - 1].strategy;
    /* Remembered empty windows and the results of current reads use the old window numbers, so they are
     * dropped. */
    size_t entries = (size_t)agent->memory_sets * CACHE_WAYS;
    memset((char *)agent + agent->memory_at, 0, entries * sizeof(struct memory_entry));
    for (uint32_t i = 0; i < agent->operations_met; i++)
        bk_agent_operations(agent)[i].is_outdated = true;
    return BK_OK;
}

/* The rows of a bucket are counted with one request, so they are in one partition. */
static bool shards_fit(const struct bk_agent_config *config, const struct bk_strategy *strategy)
{
    return strategy->shards < 2 || config->source < BK_SOURCE_INCREMENTAL;
}

enum bk_status bk_agent_history_fits(const struct bk_agent_config *config, const struct bk_history *history)
{
    enum bk_status status = bk_history_check(history);
    if (status != BK_OK)
        return status;
    for (uint32_t i = 0; i < history->count; i++) {
        if (history->eras[i].strategy.kind != config->strategy.kind)
            return BK_ERROR_ERA_KIND;
    }
    if (!shards_fit(config, &history->eras[0].strategy))
        return BK_ERROR_SHARDS;
    bool has_state = config->source != BK_SOURCE_EXTERNAL && config->source != BK_SOURCE_COUNTER;
    /* The sequence number at which new settings begin is only in the state, so all agents must read a
     * state. */
    return config->strategy.kind == BK_KIND_COUNT && history->count > 1 && !has_state ? BK_ERROR_ERA_KIND
                                                                                      : BK_OK;
}

const struct bk_strategy *bk_agent_settings(const struct bk_agent *agent, int64_t time_ns)
{
    const struct bk_history *history = &agent->config.history;
    uint32_t era = history->count == 1 ? 0 : bk_history_era_at(history, time_ns);
    return &history->eras[era].strategy;
}

int64_t bk_agent_line_above(const struct bk_agent *agent, int64_t time_ns)
{
    const struct bk_history *history = &agent->config.history;
    for (uint32_t era = bk_history_era_at(history, time_ns); era < history->count; era++) {
        const struct bk_era *current = &history->eras[era];
        bool is_last = era + 1 == history->count;
        if (current->strategy.max_age_ns == 0)
            continue;
        int64_t line_ns =
            bk_span_of(&current->strategy, current->from_ns > time_ns ? current->from_ns - 1 : time_ns)
                .until_ns;
        if (is_last || line_ns < history->eras[era + 1].from_ns)
            return line_ns;
    }
    return INT64_MAX;
}

/* An era without a greatest age has no lines. The first era begins at INT64_MIN. */
int64_t bk_agent_line_at(const struct bk_agent *agent, int64_t time_ns)
{
    const struct bk_history *history = &agent->config.history;
    for (uint32_t era = bk_history_era_at(history, time_ns);; era--) {
        const struct bk_era *current = &history->eras[era];
        bool has_age = current->strategy.max_age_ns != 0;
        int64_t line_ns = has_age ? bk_span_of(&current->strategy, time_ns).from_ns : INT64_MIN;
        if (line_ns >= current->from_ns)
            return line_ns;
        time_ns = current->from_ns - 1;
    }
}

/* An agent's reads: the steps of the reader, the starts of buckets that the agent knows exactly, and the
 * empty windows that it remembers. */

#define STARTS_MAX 2u

/* Adds the start of a bucket. The first bucket has none. */
static size_t add_start(struct bk_bucket_start *starts, size_t count, int64_t bucket, int64_t start_ns)
{
    if (bucket < 1)
        return count;
    starts[count] = (struct bk_bucket_start){bucket, start_ns};
    return count + 1;
}

/* Returns the starts of buckets that are exact. With BK_SINGLE and BK_LOCKED, the change is dated at the time
 * at which it is made, so other agents may put rows into the bucket on the wrong side of that date. Such
 * dates are not used. */
static size_t starts_of(const struct bk_agent_config *config, const struct known *known,
                        struct bk_bucket_start *starts)
{
    const int64_t *columns = known->columns;
    size_t count = 0;
    if (known->mask == 0 || !bk_kind_fires(config->strategy.kind))
        return 0;
    int64_t bucket = columns[BK_COLUMN_BUCKET];
    if (config->coordination == BK_GUARDED) {
        count = add_start(starts, count, bucket - 1, columns[BK_GUARDED_BEFORE]);
        return add_start(starts, count, bucket, columns[BK_GUARDED_START]);
    }
    if (config->coordination != BK_THREE_STATE)
        return 0;
    bool is_dated = columns[BK_COLUMN_NEXT_CHANGE] != 0;
    count = add_start(starts, count, is_dated ? bucket - 1 : bucket, columns[BK_COLUMN_LAST_CHANGE]);
    return is_dated ? add_start(starts, count, bucket, columns[BK_COLUMN_NEXT_CHANGE]) : count;
}

static struct memory_entry *memory_set(struct bk_agent *agent, uint64_t key)
{
    if (agent->memory_sets == 0)
        return NULL;
    struct memory_entry *memory = (struct memory_entry *)(void *)((char *)agent + agent->memory_at);
    return memory + bk_agent_set_at(key, agent->memory_sets);
}

static struct memory_entry *memory_find(struct bk_agent *agent, uint64_t key)
{
    struct memory_entry *set = memory_set(agent, key);
    for (uint32_t i = 0; set != NULL && i < CACHE_WAYS; i++) {
        if (set[i].used != 0 && set[i].key == key)
            return &set[i];
    }
    return NULL;
}

/* Opens the reader's next step, so that its rows can be reported. */
static void ask_next_rows(struct bk_agent *agent, struct operation *operation)
{
    struct bk_read_step step;
    const struct memory_entry *entry = operation->is_outdated ? NULL : memory_find(agent, operation->key);
    struct bk_reader *reader = &operation->reader.reader;
    if (bk_read_next_known(reader, entry == NULL ? NULL : &entry->empties, &step) ||
        bk_history_read_next(&agent->config.history, &operation->reader, &step))
        bk_operation_go(operation, STEP_ROWS);
    else
        bk_operation_finish(operation, operation->reader.reader.status == BK_OK ? BK_OPERATION_OK
                                                                                : BK_OPERATION_TOO_LONG);
}

void bk_agent_start_reader(struct bk_agent *agent, struct operation *operation, int64_t bucket)
{
    const struct bk_history *history = &agent->config.history;
    struct bk_history_state state;
    struct bk_bucket_start starts[STARTS_MAX];
    struct bk_query query = operation->query;
    memset(&state, 0, sizeof state);
    state.key.bucket = bucket;
    query.start_count = starts_of(&agent->config, &operation->known, starts);
    query.starts = query.start_count > 0 ? starts : NULL;
    /* The query was checked when the read began, so this fails only if the starts contradict each other,
     * which racing writers may cause. Then the read does without them. */
    if (bk_history_read_begin(history, &state, &query, &operation->reader) != BK_OK) {
        query.starts = NULL;
        if (bk_history_read_begin(history, &state, &query, &operation->reader) != BK_OK) {
            bk_operation_finish(operation, BK_OPERATION_REFUSED);
            return;
        }
    }
    ask_next_rows(agent, operation);
}

/* Returns the key's entry. A new key replaces the least recently used entry of its set. */
static struct memory_entry *memory_of(struct bk_agent *agent, uint64_t key)
{
    struct memory_entry *entry = memory_find(agent, key);
    if (entry == NULL) {
        struct memory_entry *set = memory_set(agent, key);
        entry = set;
        for (uint32_t i = 1; i < CACHE_WAYS; i++) {
            if (set[i].used < entry->used)
                entry = &set[i];
        }
        memset(entry, 0, sizeof *entry);
        entry->key = key;
    }
    entry->used = ++agent->memory_uses;
    return entry;
}

/* A window counts as ended if it had ended when it was queried, not when the answer arrived. */
static void learn_empties(struct bk_agent *agent, struct operation *operation, uint64_t empty)
{
    const struct bk_reader *reader =
        &operation->reader.reader; /* its step has been asked and not yet answered */
    /* Windows are remembered by the numbers of one strategy, so this works only without a change of
     * settings. */
    if (agent->memory_sets == 0 || agent->config.history.count > 1 || operation->is_outdated)
        return;
    struct memory_entry *entry = memory_of(agent, operation->key);
    uint64_t count = (uint64_t)(reader->next - reader->step_low) + 1;
    uint64_t shards = (uint64_t)bk_shards_of(&agent->config.strategy), all = UINT64_MAX >> (64 - shards);
    for (uint64_t i = 0; i + shards <= count && i + shards <= 64; i += shards) {
        int64_t bucket = reader->step_low + (int64_t)i;
        if ((empty >> i & all) == all)
            bk_empties_learn(&entry->empties, &agent->config.strategy, reader, operation->asked_ns,
                             agent->config.late_ns, bucket, bucket + (int64_t)shards - 1);
    }
}

void bk_agent_take_rows(struct bk_agent *agent, struct operation *operation, const struct bk_outcome *outcome)
{
    if (outcome->empty != 0)
        learn_empties(agent, operation, outcome->empty);
    bk_read_found_range(&operation->reader.reader, outcome->rows, outcome->saw_older);
    ask_next_rows(agent, operation);
}

void bk_agent_forget_empty(struct bk_agent *agent, uint64_t key, int64_t bucket)
{
    struct memory_entry *entry = memory_find(agent, key);
    if (entry != NULL)
        bk_empties_forget(&entry->empties, bucket);
    /* A read whose request has not been answered yet may miss the row; its answer must not make the window
     * count as empty. */
    for (uint32_t i = 0; i < agent->operations_met; i++) {
        struct operation *operation = &bk_agent_operations(agent)[i];
        if (operation->is_read && operation->ticket != 0 && operation->key == key)
            operation->is_outdated = true;
    }
}

/* The functions that the host calls: they create an agent, begin operations, return their actions and accept
 * the outcomes. The next step of an operation is chosen in protocol.c and by the protocol. */

#define OPERATIONS_MAX 65535u
#define MS_NS          INT64_C(1000000)
#define SECOND_NS      INT64_C(1000000000)
#define CACHE_LINE     64u

struct bk_agent_config bk_agent_config_default(const struct bk_strategy *strategy)
{
    struct bk_agent_config config;
    memset(&config, 0, sizeof config);
    if (strategy != NULL)
        config.strategy = *strategy;
    config.coordination = BK_SINGLE;
    config.counter = BK_COUNTER_RMW;
    config.source = BK_SOURCE_EXTERNAL;
    config.lease_rows = 100;
    config.every_rows = 1;
    config.lead_ns = 10 * SECOND_NS;
    config.cache_ttl_ns = 5 * SECOND_NS;
    config.cache_entries = 100000;
    config.operations = 64;
    config.retries = 3;
    config.retry_backoff_ns = 10 * MS_NS;
    config.lock_lasts_ns = 5 * SECOND_NS;
    config.lock_backoff_ns = 100 * MS_NS;
    config.grant_ns = 10 * SECOND_NS;
    config.late_ns = 60 * SECOND_NS;
    return config;
}

static bool source_fits(const struct bk_agent_config *config)
{
    bool counts = config->source == BK_SOURCE_INCREMENTAL || config->source == BK_SOURCE_SCAN;
    if ((unsigned)config->source > BK_SOURCE_MEMORY ||
        (config->strategy.kind != BK_KIND_COUNT && config->source != BK_SOURCE_EXTERNAL))
        return false;
    if (counts && (config->every_ns < 0 || (config->every_rows == 0 && config->every_ns == 0)))
        return false;
    return config->source != BK_SOURCE_LEASE ||
           (config->lease_rows >= 1 && config->lease_rows < (uint64_t)INT64_MAX);
}

enum bk_status bk_agent_check(const struct bk_agent_config *config)
{
    if (config == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(&config->strategy);
    if (status != BK_OK)
        return status;
    if (config->strategy.max_age_ns != 0 && config->strategy.kind == BK_KIND_COUNT)
        return BK_ERROR_AGE;
    bool is_counted = bk_kind_fires(config->strategy.kind);
    if ((unsigned)config->coordination > BK_GUARDED || (unsigned)config->counter > BK_COUNTER_NATIVE ||
        (!is_counted && config->coordination != BK_SINGLE))
        return BK_ERROR_COORDINATION;
    if (config->history.count > 0) {
        status = bk_agent_history_fits(config, &config->history);
        if (status != BK_OK)
            return status;
    }
    if (!source_fits(config))
        return BK_ERROR_SOURCE;
    if (config->history.count == 0 && !shards_fit(config, &config->strategy))
        return BK_ERROR_SHARDS;
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
        (config->grant_ns <= 0 || config->clock_bound_ns < 0 || config->counter != BK_COUNTER_NATIVE))
        return BK_ERROR_GRANT;
    if (config->late_ns < 0)
        return BK_ERROR_RANGE;
    for (size_t i = 0; i < sizeof config->reserved / sizeof *config->reserved; i++) {
        if (config->reserved[i] != 0)
            return BK_ERROR_RESERVED;
    }
    return config->retry_backoff_ns >= 0 ? BK_OK : BK_ERROR_BACKOFF;
}

uint32_t bk_agent_warnings(const struct bk_agent_config *config, int64_t answer_ns)
{
    if (config == NULL)
        return 0;
    bool is_dated = config->coordination == BK_THREE_STATE, is_locked = config->coordination == BK_LOCKED,
         is_guarded = config->coordination == BK_GUARDED;
    int64_t clocks_ns =
        bk_agent_saturating_add(0, 2, config->clock_bound_ns > 0 ? config->clock_bound_ns : 0);
    int64_t late_ns = bk_agent_saturating_add(clocks_ns, 1, answer_ns);
    int64_t age_ns = config->strategy.max_age_ns == 0 ? INT64_MAX : config->strategy.max_age_ns;
    const bool is_broken[] = {
        [BK_WARNING_LEAD] =
            is_dated && config->lead_ns < bk_agent_saturating_add(late_ns, 1, config->cache_ttl_ns),
        [BK_WARNING_LEAD_AGE] = is_dated && age_ns < bk_agent_saturating_add(clocks_ns, 1, config->lead_ns),
        [BK_WARNING_LOCK] = is_locked && config->lock_lasts_ns <= answer_ns,
        [BK_WARNING_GRANT] = is_guarded && config->grant_ns < answer_ns,
        [BK_WARNING_GRANT_AGE] = is_guarded && age_ns < answer_ns,
        [BK_WARNING_GRANT_CLOCK] = is_guarded && config->grant_ns <= clocks_ns,
        [BK_WARNING_LATE] =
            config->strategy.kind == BK_KIND_TIME && config->remember_keys > 0 && config->late_ns < late_ns,
    };
    uint32_t warnings = 0;
    for (unsigned i = 0; i < sizeof is_broken / sizeof *is_broken; i++)
        warnings |= (uint32_t)is_broken[i] << i;
    return warnings;
}

const char *bk_warning_text(enum bk_warning warning)
{
    static const char *const texts[] = {
#define BK_WARNING_TEXT(name, text) [name] = text,
        BK_WARNING_MAP(BK_WARNING_TEXT)
#undef BK_WARNING_TEXT
    };
    return (size_t)warning < sizeof texts / sizeof *texts ? texts[warning] : "unknown warning";
}

/* Aligned as all that an agent contains; some C libraries have no max_align_t. */
union widest {
    long double real;
    int64_t number;
    void *pointer;
};

static size_t align_up(size_t size)
{
    size_t unit = alignof(union widest);
    return (size + unit - 1) / unit * unit;
}

static void lay_out(const struct bk_agent_config *config, struct bk_agent *agent, size_t *size)
{
    memset(agent, 0, sizeof *agent);
    agent->config = *config;
    agent->protocol = bk_protocol_of(config);
    const struct protocol *protocol = bk_protocol(agent);
    if (protocol->asks != NULL || protocol->is_locking != NULL)
        agent->list_count = config->operations;
    agent->cache_sets = config->cache_entries / CACHE_WAYS + (config->cache_entries % CACHE_WAYS != 0);
    agent->ready_at = align_up(sizeof *agent);
    agent->free_at = align_up(agent->ready_at + config->operations * sizeof(uint32_t));
    agent->operations_at = align_up(agent->free_at + config->operations * sizeof(uint32_t));
    size_t operations_end = agent->operations_at + config->operations * sizeof(struct operation);
    agent->cache_at = (operations_end + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    size_t entries = (size_t)agent->cache_sets * CACHE_WAYS;
    agent->local_at = align_up(agent->cache_at + entries * sizeof(struct cache_entry));
    agent->lists_at =
        align_up(agent->local_at + (protocol->has_local_count ? entries * sizeof(struct local_count) : 0));
    agent->links_at = align_up(agent->lists_at + agent->list_count * sizeof(uint32_t));
    agent->memory_at = align_up(agent->links_at + agent->list_count * sizeof(uint32_t));
    if (config->strategy.kind == BK_KIND_TIME)
        agent->memory_sets = config->remember_keys / CACHE_WAYS + (config->remember_keys % CACHE_WAYS != 0);
    *size =
        align_up(agent->memory_at + (size_t)agent->memory_sets * CACHE_WAYS * sizeof(struct memory_entry));
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
    if (size < bk_agent_size(config) || (uintptr_t)memory % alignof(union widest) != 0)
        return BK_ERROR_MEMORY;
    size_t needed;
    struct bk_agent *agent = memory;
    lay_out(config, agent, &needed);
    memset((char *)memory + agent->cache_at, 0, needed - agent->cache_at);
    if (config->history.count == 0)
        bk_history_begin(&config->strategy, &agent->config.history);
    agent->config.strategy = agent->config.history.eras[agent->config.history.count - 1].strategy;
    agent->actions = bk_murmur3_128_u64(config->agent_id).h1 >> (TICKET_BITS + 1);
    agent->wake_ns = INT64_MAX;
    agent->free_count = config->operations;
    for (uint32_t i = 0; i < config->operations; i++)
        bk_agent_numbers(agent, agent->free_at)[i] = config->operations - 1 - i;
    *out = agent;
    return BK_OK;
}

/* Returns the operation; NULL: all operations are under way. */
static struct operation *begin(struct bk_agent *agent, int64_t now_ns, uint64_t key, uint32_t *number)
{
    if (agent->free_count == 0)
        return NULL;
    uint32_t taken = bk_agent_numbers(agent, agent->free_at)[--agent->free_count];
    struct operation *operation = &bk_agent_operations(agent)[taken];
    *number = taken;
    /* Those that never began are the lowest ones of the stack, in the order of their numbers. */
    if (taken == agent->operations_met) {
        agent->operations_met++;
        memset(operation, 0, sizeof *operation);
    } else if (operation->is_read) {
        memset(operation, 0, sizeof *operation);
    } else { /* in two parts, each of which compilers clear without a call */
        memset(operation, 0, offsetof(struct operation, known));
        memset(&operation->known, 0, offsetof(struct operation, query) - offsetof(struct operation, known));
    }
    operation->key = key;
    operation->begun_ns = operation->asked_ns = now_ns;
    operation->wake_ns = INT64_MAX;
    return operation;
}

OUT_OF_LINE static void end_read(struct bk_agent_stats *stats, const struct operation *operation,
                                 struct bk_action *out)
{
    out->rows_found = bk_history_rows_found(&operation->reader);
    out->partitions_asked = bk_history_partitions_asked(&operation->reader);
    out->partitions_spared = operation->reader.reader.partitions_spared;
    out->order = operation->reader.reader.order;
    ++*(operation->status == BK_OPERATION_OK ? &stats->reads_complete : &stats->reads_incomplete);
}

/* Returns the result of an operation, whose number is then free. */
static void end(struct bk_agent *agent, uint32_t number, struct bk_action *out)
{
    struct operation *operation = &bk_agent_operations(agent)[number];
    out->kind = BK_ACT_DONE;
    out->status = operation->status;
    out->fired = operation->fired;
    out->counted = operation->counted;
    operation->step = STEP_FREE;
    bk_agent_numbers(agent, agent->free_at)[agent->free_count++] = number;
    if (operation->is_read)
        end_read(&agent->stats, operation, out);
    else
        ++*(operation->status == BK_OPERATION_OK        ? &agent->stats.rows_stored
            : operation->status == BK_OPERATION_REFUSED ? &agent->stats.rows_refused
                                                        : &agent->stats.rows_unknown);
}

/* Queues an operation after its step changed: it has an action now, or sleeps first, or is parked until
 * another operation releases it. */
static void after(struct bk_agent *agent, struct operation *operation, uint32_t number, int64_t now_ns)
{
    if (agent->list_count != 0)
        bk_turns_update(agent, number);
    if (operation->wake_ns != INT64_MAX) {
        if (operation->wake_ns < agent->wake_ns)
            agent->wake_ns = operation->wake_ns;
    } else if (operation->step != STEP_PARKED) {
        operation->asked_ns = now_ns;
        uint32_t end = agent->ready_begin + agent->ready_count++;
        if (end >= agent->config.operations)
            end -= agent->config.operations;
        bk_agent_numbers(agent, agent->ready_at)[end] = number;
    }
}

enum bk_status bk_agent_write(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct bk_row *row,
                              uint32_t *operation)
{
    if (agent == NULL || row == NULL || operation == NULL)
        return BK_ERROR_NULL;
    struct operation *begun = begin(agent, now_ns, key, operation);
    if (begun == NULL)
        return BK_ERROR_BUSY;
    begun->row = *row;
    bk_protocol(agent)->write(agent, begun, now_ns);
    agent->stats.cache_hits += begun->step == STEP_PUT;
    after(agent, begun, *operation, now_ns);
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
    /* Try the query on the state of a new key, so that invalid arguments are reported before the operation
     * begins. */
    struct bk_query asked = *query;
    struct bk_history_state new_key;
    struct bk_history_reader trial;
    memset(&new_key, 0, sizeof new_key);
    asked.now_ns = now_ns;
    asked.starts = NULL;
    asked.start_count = 0;
    enum bk_status status = bk_history_read_begin(&agent->config.history, &new_key, &asked, &trial);
    if (status != BK_OK)
        return status;
    struct operation *begun = begin(agent, now_ns, key, operation);
    if (begun == NULL)
        return BK_ERROR_BUSY;
    begun->is_read = true;
    begun->query = asked;
    begun->row = (struct bk_row){now_ns, newest_sequence, 0, 0};
    bk_protocol(agent)->read(agent, begun, now_ns);
    after(agent, begun, *operation, now_ns);
    return BK_OK;
}

/* Resumes parked operations after the agent learned more about the key. Operations that are served by what is
 * known now are resumed. If no operation asks for the key any more (is_taken is false), the first parked one
 * that has to ask is resumed too, and the others stay parked. */
static void release_parked(struct bk_agent *agent, uint64_t key, bool is_taken, int64_t now_ns)
{
    const struct protocol *protocol = bk_protocol(agent);
    struct operation *operation = bk_turns_first(agent, key), *next;
    for (; operation != NULL; operation = next) {
        next = bk_turns_next(agent, operation); /* `operation` may leave the list */
        if (operation->step != STEP_PARKED || (is_taken && !protocol->is_served(agent, operation, now_ns)))
            continue;
        protocol->resume(agent, operation, now_ns);
        after(agent, operation, (uint32_t)(operation - bk_agent_operations(agent)), now_ns);
        is_taken = is_taken || protocol->asks(operation);
    }
}

/* Returns whether the current action raises the bucket in the state row. */
OUT_OF_LINE static bool raises_bucket(const struct bk_agent *agent, const struct operation *operation)
{
    struct bk_action action;
    memset(&action, 0, sizeof action);
    bk_operation_fill(agent, operation, &action);
    return (action.kind == BK_ACT_WRITE_STATE || action.kind == BK_ACT_CAS_STATE) &&
           (action.mask & BIT(BK_COLUMN_BUCKET)) != 0 &&
           action.columns[BK_COLUMN_BUCKET] > operation->known.columns[BK_COLUMN_BUCKET];
}

static void take(struct bk_agent *agent, struct operation *operation, uint32_t number, int64_t now_ns,
                 const struct bk_outcome *outcome)
{
    operation->ticket = 0;
    bk_operation_outcome(agent, operation, now_ns, outcome);
    after(agent, operation, number, now_ns);
}

/* As take(), for protocols in which other operations on the key may wait for the outcome. A read of the state
 * by a reader may also answer what parked writers wait for, although another operation still asks for it. */
OUT_OF_LINE static void take_for_all(struct bk_agent *agent, struct operation *operation, uint32_t number,
                                     int64_t now_ns, const struct bk_outcome *outcome)
{
    bool asked_for_key = bk_turns_asks(agent, operation);
    bool learns = asked_for_key || operation->step == STEP_LOOK;
    take(agent, operation, number, now_ns, outcome);
    if (learns)
        release_parked(agent, operation->key, !asked_for_key || bk_turns_asks(agent, operation), now_ns);
}

enum bk_status bk_agent_report(struct bk_agent *agent, int64_t now_ns, uint64_t ticket,
                               const struct bk_outcome *outcome)
{
    if (agent == NULL || outcome == NULL)
        return BK_ERROR_NULL;
    uint32_t number = (uint32_t)(ticket & TICKET_PLACES) - 1;
    if (number >= agent->operations_met || bk_agent_operations(agent)[number].ticket != ticket)
        return BK_ERROR_OPERATION;
    if ((unsigned)outcome->kind > BK_OUTCOME_REFUSED)
        return BK_ERROR_OUTCOME;
    struct operation *waiting = &bk_agent_operations(agent)[number];
    if (waiting->step >= STEP_OF_PROTOCOL && outcome->kind == BK_OUTCOME_APPLIED)
        agent->stats.rolls += raises_bucket(agent, waiting);
    agent->stats.unknown += bk_outcome_is_unknown(outcome);
    if (bk_protocol(agent)->asks == NULL)
        take(agent, waiting, number, now_ns, outcome);
    else
        take_for_all(agent, waiting, number, now_ns, outcome);
    return BK_OK;
}

/* Ticket: the number of the action, then the place of its operation + 1 in the low 16 bits. The numbers of
 * agents with different agent_id begin far apart, so a ticket of one is unknown to the other. */
static uint64_t next_ticket(struct bk_agent *agent, uint32_t number)
{
    agent->actions++;
    return agent->actions << TICKET_BITS | (number + 1);
}

void bk_agent_forget_tickets(struct bk_agent *agent)
{
    agent->actions = 0;
    for (uint32_t i = 0; i < agent->operations_met; i++) {
        struct operation *operation = &bk_agent_operations(agent)[i];
        operation->ticket = operation->ticket == 0 ? 0 : i + 1;
    }
}

/* An operation has its row's bucket as the state names it, which is one partition unless it has shards. */
static int64_t partition_of(const struct bk_strategy *strategy, const struct operation *operation)
{
    int64_t last = bk_last_bucket(strategy);
    struct bk_placement place = {.bucket = operation->bucket < last ? operation->bucket : last};
    bk_divide(strategy, &operation->row, &place);
    return place.bucket;
}

/* Takes the action of the first operation in the ring. Returns true. */
OUT_OF_LINE static bool take_action(struct bk_agent *agent, struct bk_action *out)
{
    uint32_t number = bk_agent_numbers(agent, agent->ready_at)[agent->ready_begin];
    struct operation *operation = &bk_agent_operations(agent)[number];
    out->operation = number;
    out->ticket = 0;
    out->key = operation->key;
    out->bucket = operation->bucket;
    if (agent->config.strategy.shards > 1 && (operation->ack_due || operation->step == STEP_PUT))
        out->bucket = partition_of(&agent->config.strategy, operation);
    out->row = operation->row;
    /* What follows is 0 where the kind of action does not use it. */
    memset(&out->is_retry, 0, sizeof *out - offsetof(struct bk_action, is_retry));
    if (operation->ack_due) {
        operation->ack_due = false;
        out->kind = BK_ACT_ACK;
        return true; /* the next call returns the step's action */
    }
    /* An empty ring begins at its first place again, which stays in the processor's cache. */
    uint32_t next = agent->ready_begin + 1;
    bool has_more = --agent->ready_count > 0;
    agent->ready_begin = has_more && next < agent->config.operations ? next : 0;
    if (operation->step == STEP_DONE) {
        end(agent, number, out);
        return true;
    }
    operation->ticket = out->ticket = next_ticket(agent, number);
    agent->stats.retries += operation->is_retry;
    bk_operation_fill(agent, operation, out);
    return true;
}

bool bk_agent_next(struct bk_agent *agent, struct bk_action *out)
{
    if (agent == NULL || out == NULL || agent->ready_count == 0)
        return false;
    return take_action(agent, out);
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
    for (uint32_t i = 0; i < agent->operations_met; i++) {
        struct operation *operation = &bk_agent_operations(agent)[i];
        if (operation->step == STEP_FREE || operation->wake_ns == INT64_MAX)
            continue;
        if (operation->wake_ns <= now_ns)
            operation->wake_ns = INT64_MAX;
        after(agent, operation, i, now_ns);
    }
    return BK_OK;
}

bool bk_agent_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                   bool *is_changing)
{
    if (agent == NULL || bucket == NULL || is_changing == NULL || bk_protocol(agent)->view == NULL)
        return false;
    return bk_protocol(agent)->view(agent, now_ns, key, bucket, is_changing);
}

void bk_agent_get_stats(const struct bk_agent *agent, int64_t now_ns, struct bk_agent_stats *out)
{
    if (out == NULL)
        return;
    memset(out, 0, sizeof *out);
    if (agent == NULL)
        return;
    const struct operation *operations =
        (const struct operation *)(const void *)((const char *)agent + agent->operations_at);
    int64_t oldest_ns = now_ns;
    *out = agent->stats;
    out->under_way = agent->config.operations - agent->free_count;
    for (uint32_t i = 0; i < agent->operations_met; i++) {
        const struct operation *operation = &operations[i];
        if (operation->step == STEP_FREE)
            continue;
        out->parked += operation->step == STEP_PARKED;
        out->asleep += operation->wake_ns != INT64_MAX;
        if (operation->begun_ns < oldest_ns)
            oldest_ns = operation->begun_ns;
    }
    /* The difference between the earliest and the latest time exceeds int64_t. */
    uint64_t age = (uint64_t)now_ns - (uint64_t)oldest_ns;
    out->oldest_ns = age < INT64_MAX ? (int64_t)age : INT64_MAX;
}
