/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findable: a fresh reader that walks down finds every acknowledged row. A reader begins at the bucket that
 * the key's state names, so it misses rows in higher buckets; it may also miss a row on so few replicas that
 * all replicas of a read may lack it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_view.h"
#include "events.h"
#include "kernel/grow.h"
#include "oracles.h"

/* An agent remembers a window as empty when it had ended `late` ago by the agent's clock at the query. A row
 * that was acknowledged by then is on replicas that the agent queried. */
static bool is_overdue(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    struct bk_row row = {.time_ns = operation->row_time_ns};
    struct bk_placement route;
    if (bk_route(&run->config.strategy, NULL, &row, &route) != BK_OK)
        return false;
    int64_t clock_ns = lab_until(sim_queue_now(&run->queue), run->scenario->agents.clock_bound_ns);
    return clock_ns >= lab_until(route.until_ns, run->config.late_ns);
}

/* Each row of the partition that was acknowledged is stored, and so on one replica at least; and a reader
 * asks all of them. */
static bool is_surely_found(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    return run->oracles.read_replicas >= run->scenario->cluster.replication_factor &&
           partition->stored_sum == partition->acknowledged_sum;
}

static void acknowledged(struct lab_cluster_run *run, uint32_t key, struct lab_partition *partition,
                         const struct lab_host_operation *operation)
{
    struct lab_oracles *oracles = &run->oracles;
    uint64_t row = operation->row;
    int64_t begun_ns = operation->begun_ns;
    int64_t now_ns = sim_queue_now(&run->queue);
    if (run->config.remember_keys > 0)
        oracles->keys[key].overdue += is_overdue(run, operation);
    if (oracles->is_linked && partition->bucket > lab_state_newest(run, key)) {
        partition->unfindable++;
        lab_violate_within(run, LAB_ORACLE_FINDABLE, key, 1, begun_ns, now_ns,
                           "row %" PRIu64 " was acknowledged in bucket %" PRId64
                           ", and a reader begins at bucket %" PRId64,
                           row, partition->bucket, lab_state_newest(run, key));
        return;
    }
    if (oracles->read_replicas == 0 || is_surely_found(run, partition))
        return;
    uint32_t held = cass_row_held(run->cluster, key, partition->bucket, row);
    uint32_t factor = run->scenario->cluster.replication_factor;
    if (held + oracles->read_replicas > factor)
        return;
    partition->unfindable++;
    lab_violate_within(run, LAB_ORACLE_FINDABLE, key, 1, begun_ns, now_ns,
                       "row %" PRIu64 " was acknowledged on %" PRIu32 " of %" PRIu32
                       " replicas; a reader asks %" PRIu32,
                       row, held, factor, oracles->read_replicas);
}

/* A read of a range walks down until a bucket has rows older than the range and none within it. So it misses
 * rows when a bucket holds a row older than the range and a lower bucket holds one of the range or a newer
 * one. The buckets of `count` are in the order of numbers, and times need not be. */
static bool ends_too_early(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const struct lab_oracles *oracles = &run->oracles;
    bool is_below_older = false;
    if (run->config.strategy.kind != BK_KIND_COUNT || operation->read != LAB_READ_RANGE)
        return false;
    for (uint32_t i = oracles->keys[operation->key].top; i != LAB_NO_PARTITION;
         i = oracles->partitions[i].lower) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (is_below_older && partition->latest.time_ns[0] >= operation->row_time_ns)
            return true;
        is_below_older = is_below_older || -partition->earliest.time_ns[0] < operation->row_time_ns;
    }
    return false;
}

/* A sorted list of times. Adding a time moves each later one, so times should be added nearly in order. */
struct lab_times {
    int64_t *items;
    size_t begin, end, capacity;
};

static bool make_room(struct lab_times *times)
{
    size_t kept = times->end - times->begin;
    if ((kept > times->capacity / 2 || times->capacity == 0) &&
        !sim_grow(&times->items, &times->capacity, times->capacity + 1, sizeof *times->items))
        return false;
    if (times->begin > 0)
        memmove(times->items, times->items + times->begin, kept * sizeof *times->items);
    times->begin = 0;
    times->end = kept;
    return true;
}

static bool add_time(struct lab_times *times, int64_t time_ns)
{
    if (times->end == times->capacity && !make_room(times))
        return false;
    size_t at = times->end++;
    for (; at > times->begin && times->items[at - 1] > time_ns; at--)
        times->items[at] = times->items[at - 1];
    times->items[at] = time_ns;
    return true;
}

/* The number of times before time_ns. */
static uint64_t times_below(const struct lab_times *times, int64_t time_ns)
{
    size_t low = times->begin, high = times->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->items[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low - times->begin;
}

/* Returns the number of rows that were acknowledged before the read began; for a range, those whose times, as
 * given by their agents, are in the range. */
static uint64_t acknowledged_rows(const struct lab_cluster_run *run, uint32_t key, enum lab_read_kind kind,
                                  const struct bk_query *query)
{
    if (kind != LAB_READ_RANGE)
        return run->keys[key].acknowledged;
    const struct lab_times *times = &run->acknowledged[key];
    return times_below(times, query->until_ns) - times_below(times, query->from_ns);
}

/* Rows that a read need not find: rows of windows above its walk, and rows that came into a window later than
 * readers wait for. A reader walks from the window of its clock down to the window of the key's birth, which
 * is the time of the earliest row. It walks no window if its clock is before the birth, or if its range
 * begins after its clock. Rows are above the walk only if clocks differ. In a history, the birth that a
 * service reported may be too late; then rows are below the walk, too. */
static void read_begun(const struct lab_cluster_run *run, struct lab_host_operation *operation,
                       const struct bk_query *query)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct lab_key_ledger *ledger = &oracles->keys[operation->key];
    const struct lab_partition *partitions = oracles->partitions;
    bool is_range = query->kind == BK_QUERY_RANGE, is_history = run->replay != NULL;
    struct bk_row newest = {.time_ns = query->now_ns}, oldest = {.time_ns = query->birth_ns};
    struct bk_placement top, bottom;
    operation->done.due = acknowledged_rows(run, operation->key, operation->read, query);
    if (run->config.strategy.kind != BK_KIND_TIME)
        return;
    operation->beyond = oracles->keys[operation->key].overdue;
    if (query->birth_ns > query->now_ns || (is_range && query->from_ns > query->now_ns) ||
        (is_range && is_history && query->until_ns <= query->birth_ns)) {
        operation->beyond += run->keys[operation->key].acknowledged;
        return;
    }
    bk_route(&run->config.strategy, NULL, &newest, &top);
    bk_route(&run->config.strategy, NULL, &oldest, &bottom);
    top.bucket = lab_first_shard(&run->config.strategy, top.bucket) + lab_shards(&run->config.strategy) - 1;
    bottom.bucket = lab_first_shard(&run->config.strategy, bottom.bucket);
    for (uint32_t i = ledger->top; i != LAB_NO_PARTITION && partitions[i].bucket > top.bucket;
         i = partitions[i].lower)
        operation->beyond += partitions[i].acknowledged;
    for (uint32_t i = ledger->bottom;
         is_history && i != LAB_NO_PARTITION && partitions[i].bucket < bottom.bucket;
         i = partitions[i].higher)
        operation->beyond += partitions[i].acknowledged;
}

uint64_t lab_findable_due(uint64_t rows, uint64_t excused, uint64_t wanted)
{
    uint64_t left = rows > excused ? rows - excused : 0;
    return left < wanted ? left : wanted;
}

/* What an agent learned about windows while its clock was wrong stays wrong after the jump. */
static bool remembers_right(const struct lab_cluster_run *run, uint32_t key)
{
    uint32_t met = lab_conditions_met(run, key);
    return run->config.remember_keys == 0 || (met >> LAB_CONDITION_CLOCK_JUMP & 1) == 0;
}

/* The run's own readers count, too, for strategies whose readers need no state that may be old, or whose
 * rules make the state fresh enough. Those rules hold as long as clocks stay within their bound. */
void lab_findable_read(struct lab_cluster_run *run, const struct lab_host_operation *operation, uint64_t due)
{
    const struct lab_read_done *done = &operation->done;
    enum bk_kind kind = run->config.strategy.kind;
    int64_t now_ns = sim_queue_now(&run->queue);
    uint32_t conditions = lab_conditions_at(run, operation->key, operation->begun_ns, now_ns);
    /* When clocks differ, a reader may enter a new era of a hash, or of windows, after the writers. */
    bool is_steady = run->strategy->settings.change_count == 0;
    bool is_fresh =
        kind == BK_KIND_UNBUCKETED || kind == BK_KIND_COUNT || (kind == BK_KIND_HASH && is_steady) ||
        (kind == BK_KIND_TIME && is_steady && remembers_right(run, operation->key)) ||
        (run->config.coordination == BK_GUARDED && (conditions >> LAB_CONDITION_CLOCK_JUMP & 1) == 0);
    if (is_fresh && !ends_too_early(run, operation))
        lab_violate_within(
            run, LAB_ORACLE_FINDABLE, operation->key, due - done->rows, operation->begun_ns, now_ns,
            "a reader found %" PRIu64 " of %" PRIu64 " rows that were acknowledged before it began",
            done->rows, due);
}

/* The key's state has gone back: readers cannot see rows that were acknowledged above it. */
static void lowered(struct lab_cluster_run *run, uint32_t key)
{
    struct lab_oracles *oracles = &run->oracles;
    int64_t newest = lab_state_newest(run, key);
    uint64_t lost = 0;
    for (uint32_t i = oracles->keys[key].top; i != LAB_NO_PARTITION; i = oracles->partitions[i].lower) {
        struct lab_partition *partition = &oracles->partitions[i];
        if (partition->bucket <= newest)
            break;
        lost += partition->acknowledged - partition->unfindable;
        partition->unfindable = partition->acknowledged;
    }
    if (lost > 0)
        lab_violate(run, LAB_ORACLE_FINDABLE, key, lost,
                    "the state went back to bucket %" PRId64 ", below %" PRIu64 " acknowledged rows", newest,
                    lost);
}

/* --- Reads of the run. */

static bool reads_ranges(const struct lab_cluster_run *run)
{
    return run->scenario->reads.kinds[LAB_READ_RANGE].rate_per_s > 0;
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = run;
    if (reads_ranges(run))
        run->acknowledged = calloc(run->key_count, sizeof *run->acknowledged);
    return run->acknowledged != NULL || !reads_ranges(run);
}

static void destroy(void *state)
{
    struct lab_cluster_run *run = state;
    for (uint32_t i = 0; run->acknowledged != NULL && i < run->key_count; i++)
        free(run->acknowledged[i].items);
    free(run->acknowledged);
    run->acknowledged = NULL;
}

static void keep_time(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const struct lab_read *range = &run->scenario->reads.kinds[LAB_READ_RANGE];
    struct lab_times *times = &run->acknowledged[operation->key];
    /* A clock is behind by at most its bound, except after a jump. After a jump, readers need to find fewer
     * rows. */
    int64_t oldest_ns = lab_before(lab_before(sim_queue_now(&run->queue), range->age_ns), range->span_ns);
    oldest_ns = lab_before(oldest_ns, 2 * run->scenario->agents.clock_bound_ns);
    times->begin += times_below(times, oldest_ns);
    run->out_of_memory = !add_time(times, operation->row_time_ns) || run->out_of_memory;
}

/* Returns the number of these rows that the read must find: without those that a client has started to delete
 * by now. The times of deleted and expired rows are not recorded. */
static uint64_t left_of(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                        uint64_t excused)
{
    uint64_t rows = operation->done.due, deleted = run->keys[operation->key].deletes_asked;
    uint64_t wanted = run->scenario->reads.kinds[LAB_READ_LATEST].rows;
    bool goes = run->scenario->row_ttl_ns > 0;
    if (operation->read == LAB_READ_RANGE && (goes || deleted > 0))
        return 0;
    if (goes) {
        uint64_t since = run->keys[operation->key].acknowledged - rows,
                 left = lab_lives_left(run, operation->key);
        rows = left > since ? left - since : 0;
    }
    return lab_findable_due(rows, deleted + excused, operation->read == LAB_READ_LATEST ? wanted : rows);
}

static void read_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                       const struct bk_action *action)
{
    if (action->status != BK_OPERATION_OK && action->status != BK_OPERATION_TOO_LONG) {
        run->tally.reads_failed++;
        return;
    }
    struct lab_read_done *done = &operation->done;
    uint64_t judged = left_of(run, operation, operation->beyond);
    done->due = run->scenario->row_ttl_ns > 0 ? 0 : left_of(run, operation, 0);
    const struct bk_strategy *strategy = &run->config.strategy;
    done->kind = operation->read;
    done->order = action->order;
    done->partitions = action->partitions_asked;
    done->empties = done->partitions - done->filled;
    done->rows = action->rows_found;
    done->is_early = action->order == BK_ORDER_NONE && done->partitions < (uint64_t)strategy->of.hash.buckets;
    done->is_cut = action->status == BK_OPERATION_TOO_LONG;
    done->is_before = done->kind == LAB_READ_RANGE &&
                      lab_range_is_before(run->scenario, operation->row_time_ns, run->start_ns);
    uint64_t *probes = run->oracles.verdict.probes;
    probes[LAB_PROBE_RANGE_READ] += done->kind == LAB_READ_RANGE && done->partitions > 1;
    probes[LAB_PROBE_REMEMBERED] += action->partitions_spared > 0;
    lab_read_count(&run->tally.reads, done, 1);
    if (done->rows < judged && !done->is_cut)
        lab_findable_read(run, operation, judged);
    if (lab_read_kind_count(run->scenario) > 1)
        lab_read_count(&run->tally.reads_of[done->kind], done, 1);
}

/* Readers now begin at the new bucket numbers, which may be below those of old rows. */
static void deployed(struct lab_cluster_run *run, uint32_t agent, uint64_t index)
{
    bool forgets = !run->strategy->settings.changes[index].keeps_old && agent == 0 && !lab_keeps_state(run);
    for (uint32_t key = 0; forgets && run->oracles.is_linked && key < run->key_count; key++)
        lowered(run, key);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    switch (event->kind) {
    case CLUSTER_ROW_UNUSUAL:
        acknowledged(run, event->key, event->partition, event->operation);
        break;
    case CLUSTER_ACKNOWLEDGED:
        keep_time(run, event->operation);
        break;
    case CLUSTER_READ_TAKEN:
        read_begun(run, event->operation, event->query);
        break;
    case CLUSTER_ENDED:
        if (event->operation->is_read)
            read_ended(run, event->operation, event->action);
        break;
    case CLUSTER_AGENT_DEPLOYED:
        deployed(run, event->agent, event->number);
        break;
    default: /* CLUSTER_STATE_CHANGED */
        if (event->bucket < event->value)
            lowered(run, event->key);
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    if (run->idgen != NULL)
        return 0;
    return CLUSTER_WANTS(ROW_UNUSUAL) | CLUSTER_WANTS(STATE_CHANGED) | CLUSTER_WANTS(AGENT_DEPLOYED) |
           CLUSTER_WANTS(READ_TAKEN) | (run->scenario->reads.present ? CLUSTER_WANTS(ENDED) : 0) |
           (reads_ranges(run) ? CLUSTER_WANTS(ACKNOWLEDGED) : 0);
}

const struct cluster_observer cluster_findable = {.name = "findable",
                                                  .wants = wants,
                                                  .judges = 1u << LAB_ORACLE_FINDABLE,
                                                  .begin = begin,
                                                  .on_event = hear,
                                                  .destroy = destroy};
