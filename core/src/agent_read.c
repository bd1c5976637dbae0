/* SPDX-License-Identifier: MIT */
/* An agent's reads: the steps of the reader, the starts of buckets that the agent knows exactly, and the
 * empty windows that it remembers. */
#include <string.h>

#include "operation.h"

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
    int64_t bucket = columns[BK_BUCKET];
    if (config->coordination == BK_GUARDED) {
        count = add_start(starts, count, bucket - 1, columns[BK_GUARDED_BEFORE]);
        return add_start(starts, count, bucket, columns[BK_GUARDED_START]);
    }
    if (config->coordination != BK_THREE_STATE)
        return 0;
    bool is_dated = columns[BK_NEXT_CHANGE] != 0;
    count = add_start(starts, count, is_dated ? bucket - 1 : bucket, columns[BK_LAST_CHANGE]);
    return is_dated ? add_start(starts, count, bucket, columns[BK_NEXT_CHANGE]) : count;
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
    for (uint64_t i = 0; i < count && i < 64; i++) {
        int64_t bucket = reader->step_low + (int64_t)i;
        if (empty >> i & 1)
            bk_empties_learn(&entry->empties, &agent->config.strategy, reader, operation->asked_ns,
                             agent->config.late_ns, bucket, bucket);
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
        if (operation->is_read && operation->waits_for_outcome && operation->key == key)
            operation->is_outdated = true;
    }
}
