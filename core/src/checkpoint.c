/* SPDX-License-Identifier: MIT */
/* Saves an agent as bytes and loads it: its history, its operations, its cache with its local counts, and its
 * memory of empty windows. Unused slots are omitted, so the state of an agent that knows little is small. */
#include <string.h>

#include "calendar.h"
#include "codec.h"
#include "protocol.h"

/* "bka" and the version of the layout. */
#define STATE_VERSION (UINT32_C(0x626b6100) | BK_AGENT_LAYOUT)
/* Returned after the last entry in use. */
#define NO_ENTRY UINT32_MAX
/* A bound on the absolute value of a bucket of a read: a window lasts at least a microsecond. */
#define BUCKET_FAR (INT64_C(1) << 62)

/* Casts away const: measuring and saving an agent only read from it. */
static struct bk_agent *readable(const struct bk_agent *agent)
{
    return (struct bk_agent *)(uintptr_t)agent;
}

/* Checks the settings that determine the layout and the meaning of the state. An agent may be loaded with
 * different values of the other settings. */
static void same_config(struct bk_codec *codec, const struct bk_agent_config *config)
{
    const uint64_t fields[] = {config->strategy.kind, config->coordination,  config->counter,
                               config->source,        config->cache_entries, config->operations,
                               config->remember_keys, config->agent_id};
    bk_codec_same(codec, fields, sizeof fields / sizeof *fields);
}

/* A strategy with a greatest age or with shards is stored with a different number for its kind, followed by
 * these; windows with shards with a different number for the calendar unit, followed by the shards. */
static void kind_of(struct bk_codec *codec, struct bk_strategy *strategy)
{
    uint32_t more = (strategy->max_age_ns != 0 ? 1 : 0) + (strategy->shards > 1 ? 2 : 0);
    uint32_t kind = bk_codec_below(codec, strategy->kind + more * BK_KINDS, 4 * BK_KINDS);
    strategy->kind = (enum bk_kind)(kind % BK_KINDS);
    if (kind / BK_KINDS % 2 != 0)
        bk_codec_i64(codec, &strategy->max_age_ns);
    if (kind / BK_KINDS / 2 != 0)
        bk_codec_u32(codec, &strategy->shards);
}

static void strategy_of(struct bk_codec *codec, struct bk_strategy *strategy)
{
    const uint32_t units = BK_CALENDAR_MONTH + 1;
    uint32_t sharded;
    kind_of(codec, strategy);
    switch (strategy->kind) {
    case BK_KIND_TIME:
        sharded = bk_codec_below(
            codec, strategy->of.time.calendar + (strategy->of.time.shards > 1 ? units : 0), 2 * units);
        strategy->of.time.calendar = (enum bk_calendar)(sharded % units);
        if (sharded >= units)
            bk_codec_u32(codec, &strategy->of.time.shards);
        bk_codec_i64(codec, &strategy->of.time.window_ns);
        bk_codec_i64(codec, &strategy->of.time.epoch_ns);
        break;
    case BK_KIND_COUNT:
        bk_codec_u64(codec, &strategy->of.count.rows);
        break;
    case BK_KIND_PROBABILISTIC:
        bk_codec_u32(codec, &strategy->of.probabilistic.bits);
        bk_codec_u64(codec, &strategy->of.probabilistic.chance_numerator);
        bk_codec_u64(codec, &strategy->of.probabilistic.chance_denominator);
        bk_codec_u64(codec, &strategy->of.probabilistic.threshold);
        break;
    case BK_KIND_HASH:
        bk_codec_u32(codec, &strategy->of.hash.buckets);
        break;
    case BK_KIND_WEIGHTED:
        bk_codec_u64(codec, &strategy->of.weighted.bytes);
        bk_codec_u64(codec, &strategy->of.weighted.threshold);
        break;
    case BK_KIND_UNBUCKETED:
    case BK_KINDS:
        break;
    }
}

static void history_of(struct bk_codec *codec, struct bk_agent *agent)
{
    struct bk_history history;
    memcpy(&history, &agent->config.history, sizeof history);
    if (bk_codec_is_reading(codec))
        memset(&history, 0, sizeof history);
    history.count = bk_codec_below(codec, history.count, BK_ERAS_MAX + 1);
    for (uint32_t i = 0; i < history.count; i++) {
        bk_codec_i64(codec, &history.eras[i].from_ns);
        bk_codec_i64(codec, &history.eras[i].shift);
        strategy_of(codec, &history.eras[i].strategy);
    }
    if (!bk_codec_is_reading(codec))
        return;
    bk_codec_check(codec, bk_agent_history_fits(&agent->config, &history) == BK_OK);
    if (codec->is_wrong)
        return;
    agent->config.history = history;
    agent->config.strategy = history.eras[history.count - 1].strategy;
}

static void *part(struct bk_agent *agent, size_t at)
{
    return (char *)agent + at;
}

static void number_of(struct bk_codec *codec, struct bk_agent *agent, uint32_t *number, uint32_t mark)
{
    uint32_t limit = agent->config.operations, read = bk_codec_below(codec, *number, limit);
    if (!bk_codec_is_reading(codec))
        return;
    struct operation *operation = &bk_agent_operations(agent)[read];
    bk_codec_check(codec, operation->waits == 0);
    operation->waits = mark;
    *number = read;
}

static void flags_of(struct bk_codec *codec, struct operation *operation)
{
    bool *const flags[] = {&operation->is_read,     &operation->ack_due,      &operation->is_retry,
                           &operation->fired,       &operation->counted,      &operation->was_unknown,
                           &operation->is_outdated, &operation->adds,         &operation->is_placed,
                           &operation->is_new_key,  &operation->start_is_kept};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        bk_codec_bool(codec, flags[i]);
}

static void row_of(struct bk_codec *codec, struct bk_row *row)
{
    bk_codec_i64(codec, &row->time_ns);
    bk_codec_u64(codec, &row->sequence);
    bk_codec_u64(codec, &row->id);
    bk_codec_u64(codec, &row->bytes);
}

/* The starts of a query are not saved. */
static void query_of(struct bk_codec *codec, struct bk_query *query)
{
    query->kind = (enum bk_query_kind)bk_codec_below(codec, query->kind, BK_QUERY_ALL + 1);
    query->plan = (enum bk_plan)bk_codec_below(codec, query->plan, BK_PLAN_PARALLEL + 1);
    bk_codec_u32(codec, &query->at_once);
    bk_codec_u64(codec, &query->rows);
    bk_codec_i64(codec, &query->from_ns);
    bk_codec_i64(codec, &query->until_ns);
    bk_codec_i64(codec, &query->now_ns);
    bk_codec_i64(codec, &query->birth_ns);
    bk_codec_u64(codec, &query->partitions_max);
}

static void known_of(struct bk_codec *codec, struct known *known)
{
    known->mask = bk_codec_below(codec, known->mask, COLUMNS_ALL + 1);
    for (unsigned i = 0; i < BK_COLUMNS; i++)
        bk_codec_i64(codec, &known->columns[i]);
    bk_codec_i64(codec, &known->learned_ns);
}

/* An open step must be at the current place of the walk and not wider than the walk's steps. */
static void steps_of(struct bk_codec *codec, struct bk_reader *walk)
{
    bk_codec_i64(codec, &walk->next);
    bk_codec_i64(codec, &walk->floor);
    bk_codec_i64(codec, &walk->width);
    bk_codec_i64(codec, &walk->step_low);
    bk_codec_bool(codec, &walk->step_open);
    bk_codec_check(codec, walk->width >= 0 && walk->width <= UINT32_MAX);
    bk_codec_check(codec, walk->floor > -BUCKET_FAR && walk->next >= walk->floor - 1);
    /* In unsigned arithmetic, a step that begins above `next` has a huge width and is rejected too. */
    if (walk->step_open)
        bk_codec_check(codec, walk->step_low >= walk->floor &&
                                  (uint64_t)walk->next - (uint64_t)walk->step_low < (uint64_t)walk->width);
}

static void reader_of(struct bk_codec *codec, struct bk_history_reader *reader)
{
    struct bk_reader *walk = &reader->reader;
    walk->kind = (enum bk_query_kind)bk_codec_below(codec, walk->kind, BK_QUERY_ALL + 1);
    walk->order = (enum bk_order)bk_codec_below(codec, walk->order, BK_ORDER_NONE + 1);
    bool is_cut = walk->status != BK_OK;
    bk_codec_bool(codec, &is_cut);
    walk->status = is_cut ? BK_ERROR_WALK_TOO_LONG : BK_OK;
    steps_of(codec, walk);
    bk_codec_i64(codec, &walk->from_ns);
    bk_codec_i64(codec, &walk->until_ns);
    bk_codec_u64(codec, &walk->rows_wanted);
    bk_codec_u64(codec, &walk->rows_found);
    bk_codec_u64(codec, &walk->rows_each);
    bk_codec_u64(codec, &walk->partitions_asked);
    bk_codec_u64(codec, &walk->partitions_max);
    bk_codec_u64(codec, &walk->partitions_spared);
    bk_codec_check(codec, walk->partitions_asked <= walk->partitions_max);
    bk_codec_bool(codec, &walk->asks_all);
    bk_codec_bool(codec, &walk->ends_at_older);
    bk_codec_u32(codec, &reader->era);
    bk_codec_u64(codec, &reader->rows_before);
    bk_codec_u64(codec, &reader->partitions_before);
    query_of(codec, &reader->query);
}

static void filling_of(struct bk_codec *codec, struct filling *filling)
{
    bk_codec_i64(codec, &filling->bucket);
    bk_codec_i64(codec, &filling->first);
    bk_codec_i64(codec, &filling->rows);
    bk_codec_check(codec, filling->bucket >= 0 && filling->first >= 0 && filling->rows >= 0);
    bk_codec_check(codec, filling->bucket <= BUCKET_LAST);
}

static void operation_of(struct bk_codec *codec, const struct bk_agent *agent, struct operation *operation)
{
    operation->step = bk_codec_below(codec, operation->step, bk_protocol(agent)->step_count);
    flags_of(codec, operation);
    bk_codec_u32(codec, &operation->tries);
    bk_codec_u32(codec, &operation->lost);
    bk_codec_u32(codec, &operation->recounts);
    bk_codec_u32(codec, &operation->waits);
    bk_codec_u64(codec, &operation->ticket);
    bk_codec_u64(codec, &operation->key);
    bk_codec_i64(codec, &operation->bucket);
    row_of(codec, &operation->row);
    query_of(codec, &operation->query);
    bk_codec_i64(codec, &operation->weight);
    bk_codec_i64(codec, &operation->asked_ns);
    if (bk_codec_is_reading(codec))
        operation->begun_ns = operation->asked_ns;
    bk_codec_i64(codec, &operation->wake_ns);
    bk_codec_i64(codec, &operation->total);
    bk_codec_i64(codec, &operation->end_ns);
    known_of(codec, &operation->known);
    known_of(codec, &operation->next);
    filling_of(codec, &operation->filling);
    bk_codec_i64(codec, &operation->lock[BK_LOCK_OWNER]);
    bk_codec_i64(codec, &operation->lock[BK_LOCK_UNTIL]);
    reader_of(codec, &operation->reader);
    operation->status =
        (enum bk_operation_status)bk_codec_below(codec, operation->status, BK_OPERATION_TOO_LONG + 1);
}

/* Checks that a state could have been stored by an agent. */
static void check_known(struct bk_codec *codec, const struct known *known)
{
    bk_codec_check(codec,
                   known->columns[BK_COLUMN_BUCKET] >= 0 && known->columns[BK_COLUMN_BUCKET] <= BUCKET_LAST);
    bk_codec_check(codec, known->columns[BK_COLUMN_COUNTER] < INT64_MAX);
}

/* Checks that the operation has an action or waits: for an outcome, for its wake-up time, or for another
 * operation. */
static void check_operation(struct bk_codec *codec, const struct bk_agent *agent,
                            const struct operation *operation, uint32_t number, bool is_ready)
{
    const struct protocol *protocol = bk_protocol(agent);
    bool is_parked = operation->step == STEP_PARKED, is_asleep = operation->wake_ns != INT64_MAX;
    bk_codec_check(codec, operation->step != STEP_FREE);
    bk_codec_check(codec, operation->ticket == 0 || (operation->ticket & TICKET_PLACES) == number + 1);
    bk_codec_check(codec, is_ready + (operation->ticket != 0) + is_asleep + is_parked == 1);
    bk_codec_check(codec, operation->weight >= 0 && operation->weight <= WEIGHT_MAX);
    if (operation->step == STEP_ROWS)
        bk_codec_check(codec, operation->reader.reader.step_open);
    check_known(codec, &operation->known);
    bool plans_lock = protocol->plans_lock != NULL && protocol->plans_lock(operation);
    if (operation->step != STEP_DONE && !plans_lock)
        check_known(codec, &operation->next);
}

/* First the numbers of free operations, as a stack; then those of operations with an action, as a queue; then
 * all active operations by number. Each number may appear only once in the two lists, which is checked with a
 * mark in its operation, which has not been loaded yet. */
static void operations_of(struct bk_codec *codec, struct bk_agent *agent)
{
    enum { MARK_FREE = 1, MARK_READY };
    struct operation *operations = bk_agent_operations(agent);
    if (bk_codec_is_reading(codec))
        agent->operations_met = agent->config.operations;
    for (uint32_t i = 0; bk_codec_is_reading(codec) && i < agent->operations_met; i++) {
        operations[i].step = STEP_FREE;
        operations[i].is_read = true; /* so that all of it is cleared when it begins */
        operations[i].ticket = 0;
        operations[i].waits = 0;
    }
    uint32_t *ready = part(agent, agent->ready_at), *unused = part(agent, agent->free_at);
    uint32_t most = agent->config.operations;
    agent->free_count = bk_codec_below(codec, agent->free_count, most + 1);
    for (uint32_t i = 0; i < agent->free_count; i++)
        number_of(codec, agent, &unused[i], MARK_FREE);
    agent->ready_count = bk_codec_below(codec, agent->ready_count, most + 1);
    for (uint32_t i = 0; i < agent->ready_count; i++)
        number_of(codec, agent, &ready[(agent->ready_begin + i) % most], MARK_READY);
    for (uint32_t i = 0; i < agent->operations_met; i++) {
        uint32_t mark = operations[i].waits;
        if (!bk_codec_is_reading(codec))
            mark = operations[i].step == STEP_FREE ? MARK_FREE : 0;
        if (mark == MARK_FREE)
            continue;
        if (bk_codec_is_reading(codec))
            memset(&operations[i], 0, sizeof operations[i]);
        operation_of(codec, agent, &operations[i]);
        check_operation(codec, agent, &operations[i], i, mark == MARK_READY);
        if (bk_codec_is_reading(codec) && agent->list_count != 0)
            bk_turns_update(agent, i);
    }
}

/* Returns the number of the next entry in use, which is greater than the previous one; NO_ENTRY after the
 * last one. */
static uint32_t next_entry(struct bk_codec *codec, uint32_t entry, uint32_t *least, uint32_t count)
{
    uint32_t next = entry < count ? entry : NO_ENTRY;
    bk_codec_u32(codec, &next);
    if (codec->is_wrong || next == NO_ENTRY)
        return NO_ENTRY;
    bk_codec_check(codec, next >= *least && next < count);
    *least = next + 1;
    return codec->is_wrong ? NO_ENTRY : next;
}

static void local_of(struct bk_codec *codec, struct local_count *local)
{
    bk_codec_i64(codec, &local->next);
    bk_codec_i64(codec, &local->end);
    filling_of(codec, &local->filling);
    bk_codec_u64(codec, &local->rows);
    bk_codec_i64(codec, &local->bucket);
    bk_codec_i64(codec, &local->counted_ns);
    bk_codec_bool(codec, &local->is_counted);
    bk_codec_bool(codec, &local->is_cold);
    bk_codec_check(codec, local->next >= 0);
}

static void cache_of(struct bk_codec *codec, struct bk_agent *agent)
{
    struct cache_entry *cache = part(agent, agent->cache_at);
    struct local_count *local = part(agent, agent->local_at);
    bool has_local_count = bk_protocol(agent)->has_local_count;
    uint32_t count = agent->cache_sets * CACHE_WAYS, least = 0, entry = 0;
    for (;; entry++) {
        while (!bk_codec_is_reading(codec) && entry < count && !cache[entry].is_used)
            entry++;
        entry = next_entry(codec, entry, &least, count);
        if (entry == NO_ENTRY)
            return;
        cache[entry].is_used = true;
        bk_codec_u64(codec, &cache[entry].key);
        bk_codec_check(codec, bk_agent_set_at(cache[entry].key, agent->cache_sets) ==
                                  entry / CACHE_WAYS * CACHE_WAYS);
        known_of(codec, &cache[entry].known);
        check_known(codec, &cache[entry].known);
        if (has_local_count)
            local_of(codec, &local[entry]);
    }
}

/* The runs are in ascending order, with gaps between them, and of whole windows. */
static void empties_of(struct bk_codec *codec, struct bk_empties *empties, int64_t shards)
{
    if (bk_codec_is_reading(codec))
        empties->shards = (uint32_t)shards;
    empties->count = bk_codec_below(codec, empties->count, BK_EMPTY_RUNS_MAX + 1);
    for (uint32_t i = 0; i < empties->count; i++) {
        struct bk_window_run *run = &empties->runs[i];
        bk_codec_i64(codec, &run->low);
        bk_codec_i64(codec, &run->high);
        bk_codec_check(codec, run->low <= run->high);
        bk_codec_check(codec, run->low % shards == 0 && (run->high % shards + shards + 1) % shards == 0);
        if (i > 0)
            bk_codec_check(codec, run[-1].high < INT64_MAX && run->low > run[-1].high + 1);
    }
}

static void memory_of(struct bk_codec *codec, struct bk_agent *agent)
{
    struct memory_entry *memory = part(agent, agent->memory_at);
    uint32_t count = agent->memory_sets * CACHE_WAYS, least = 0, entry = 0;
    for (;; entry++) {
        while (!bk_codec_is_reading(codec) && entry < count && memory[entry].used == 0)
            entry++;
        entry = next_entry(codec, entry, &least, count);
        if (entry == NO_ENTRY)
            return;
        bk_codec_u64(codec, &memory[entry].key);
        bk_codec_check(codec, bk_agent_set_at(memory[entry].key, agent->memory_sets) ==
                                  entry / CACHE_WAYS * CACHE_WAYS);
        bk_codec_u64(codec, &memory[entry].used);
        bk_codec_check(codec, memory[entry].used != 0 && memory[entry].used <= agent->memory_uses);
        empties_of(codec, &memory[entry].empties, bk_shards_of(&agent->config.strategy));
    }
}

static void whole(struct bk_codec *codec, struct bk_agent *agent)
{
    bk_codec_version(codec, STATE_VERSION);
    same_config(codec, &agent->config);
    history_of(codec, agent);
    bk_codec_i64(codec, &agent->wake_ns);
    bk_codec_u64(codec, &agent->memory_uses);
    bk_codec_u64(codec, &agent->actions);
    operations_of(codec, agent);
    cache_of(codec, agent);
    memory_of(codec, agent);
}

size_t bk_agent_state_size(const struct bk_agent *agent)
{
    if (agent == NULL)
        return 0;
    struct bk_codec codec = {.mode = BK_CODEC_MEASURE};
    whole(&codec, readable(agent));
    return codec.at;
}

enum bk_status bk_agent_save(const struct bk_agent *agent, void *state, size_t size)
{
    if (agent == NULL || state == NULL)
        return BK_ERROR_NULL;
    if (size < bk_agent_state_size(agent))
        return BK_ERROR_MEMORY;
    struct bk_codec codec = {.mode = BK_CODEC_WRITE, .out = state, .size = size};
    whole(&codec, readable(agent));
    return BK_OK;
}

enum bk_status bk_agent_load(void *memory, size_t memory_size, const struct bk_agent_config *config,
                             const void *state, size_t size, struct bk_agent **out)
{
    if (out == NULL)
        return BK_ERROR_NULL;
    *out = NULL;
    struct bk_agent *agent;
    enum bk_status status =
        state == NULL ? BK_ERROR_NULL : bk_agent_init(memory, memory_size, config, &agent);
    if (status != BK_OK)
        return status;
    struct bk_codec codec = {.mode = BK_CODEC_READ, .in = state, .size = size};
    whole(&codec, agent);
    if (codec.is_wrong || codec.at != size)
        return BK_ERROR_CHECKPOINT;
    *out = agent;
    return BK_OK;
}
