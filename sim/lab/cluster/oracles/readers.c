/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findable: a fresh reader that walks down finds every acknowledged row. A reader begins at the bucket that
 * the key's state names, so it misses rows in higher buckets; it may also miss a row on so few replicas that
 * all replicas of a read may lack it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "kernel/grow.h"
#include "oracles.h"

/* An agent remembers a window as empty when it had ended `late` ago by the agent's clock at the query. A row
 * that was acknowledged by then is on replicas that the agent queried. */
static bool is_overdue(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    struct bk_row row = {.time_ns = operation->row_time_ns};
    struct bk_route route;
    if (bk_route(&run->config.strategy, NULL, &row, &route) != BK_OK)
        return false;
    int64_t clock_ns = lab_until(sim_queue_now(&run->queue), run->scenario->agents.clock_bound_ns);
    return clock_ns >= lab_until(route.until_ns, run->config.late_ns);
}

/* Each row of the partition that was acknowledged is stored, and so on one replica at least; and a reader
 * asks all of them. */
static bool is_surely_found(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    return run->oracles.read_replicas >= run->scenario->cluster.replication_factor && partition->balance == 0;
}

void lab_findable_acknowledged(struct lab_cluster_run *run, uint32_t key, struct lab_partition *partition,
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
    if (run->config.strategy.kind != BK_COUNT || operation->read != LAB_READ_RANGE)
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
void lab_findable_begun(const struct lab_cluster_run *run, struct lab_host_operation *operation,
                        const struct bk_query *query)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct lab_key_ledger *ledger = &oracles->keys[operation->key];
    const struct lab_partition *partitions = oracles->partitions;
    bool is_range = query->kind == BK_QUERY_RANGE, is_history = run->replay != NULL;
    struct bk_row newest = {.time_ns = query->now_ns}, oldest = {.time_ns = query->birth_ns};
    struct bk_route top, bottom;
    operation->done.due = acknowledged_rows(run, operation->key, operation->read, query);
    if (run->config.strategy.kind != BK_TIME)
        return;
    operation->beyond = oracles->keys[operation->key].overdue;
    if (query->birth_ns > query->now_ns || (is_range && query->from_ns > query->now_ns) ||
        (is_range && is_history && query->until_ns <= query->birth_ns)) {
        operation->beyond += run->keys[operation->key].acknowledged;
        return;
    }
    bk_route(&run->config.strategy, NULL, &newest, &top);
    bk_route(&run->config.strategy, NULL, &oldest, &bottom);
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
        kind == BK_UNBUCKETED || kind == BK_COUNT || (kind == BK_HASH && is_steady) ||
        (kind == BK_TIME && is_steady && remembers_right(run, operation->key)) ||
        (run->config.coordination == BK_GUARDED && (conditions >> LAB_CONDITION_CLOCK_JUMP & 1) == 0);
    if (is_fresh && !ends_too_early(run, operation))
        lab_violate_within(
            run, LAB_ORACLE_FINDABLE, operation->key, due - done->rows, operation->begun_ns, now_ns,
            "a reader found %" PRIu64 " of %" PRIu64 " rows that were acknowledged before it began",
            done->rows, due);
}

/* The key's state has gone back: readers cannot see rows that were acknowledged above it. */
void lab_findable_lowered(struct lab_cluster_run *run, uint32_t key)
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

bool lab_reads_judged(struct lab_cluster_run *run)
{
    if (run->scenario->reads.kinds[LAB_READ_RANGE].rate_per_s <= 0)
        return true;
    run->acknowledged = calloc(run->key_count, sizeof *run->acknowledged);
    return run->acknowledged != NULL;
}

void lab_reads_forgotten(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; run->acknowledged != NULL && i < run->key_count; i++)
        free(run->acknowledged[i].items);
    free(run->acknowledged);
    run->acknowledged = NULL;
}

void lab_reads_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    if (run->acknowledged == NULL)
        return;
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

void lab_read_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
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
    lab_expired_read(run, operation);
    if (lab_read_kind_count(run->scenario) > 1)
        lab_read_count(&run->tally.reads_of[done->kind], done, 1);
}

/* --- newest: the n rows that a reader of the newest rows gets are the newest n. A reader goes down from the
 * bucket that the state names until it has n rows, and does not query lower buckets. So it misses a row of a
 * lower bucket that is newer than one of the n. This is judged after each stored row, with a list of the true
 * newest n in the order of their times. Of rows with the same time, those in higher buckets count as newer,
 * because a reader gets them first. */

static struct lab_newest_row *at(const struct lab_oracles *oracles, const struct lab_key_ledger *ledger,
                                 uint32_t index)
{
    uint32_t place = ledger->newest_begin + index;
    return &ledger->newest[place < oracles->newest_rows ? place : place - oracles->newest_rows];
}

/* Returns whether `row` is older than a row with this time and bucket, or equally old. */
static bool is_older(const struct lab_newest_row *row, int64_t time_ns, int64_t bucket)
{
    return row->time_ns < time_ns || (row->time_ns == time_ns && row->bucket <= bucket);
}

/* Appends a row to the ring, replacing the first one if the ring is full, unless it is older than the last
 * one. newest_run: at least this many of the last rows are in the same bucket. */
static bool append(const struct lab_oracles *oracles, struct lab_key_ledger *ledger, int64_t time_ns,
                   int64_t bucket)
{
    uint32_t most = oracles->newest_rows, count = ledger->newest_count, next = ledger->newest_begin + count;
    next -= next < most ? 0 : most;
    const struct lab_newest_row *last = &ledger->newest[(next == 0 ? most : next) - 1];
    if (count > 0 && SIM_UNLIKELY(!is_older(last, time_ns, bucket)))
        return false;
    bool is_same = count > 0 && last->bucket == bucket;
    ledger->newest_run = is_same ? ledger->newest_run + (ledger->newest_run < most) : 1;
    ledger->newest[next] = (struct lab_newest_row){time_ns, bucket};
    if (SIM_UNLIKELY(count < most))
        ledger->newest_count++;
    else
        ledger->newest_begin = next + 1 < most ? next + 1 : 0;
    return true;
}

static bool reader_gets_them(const struct lab_cluster_run *run, uint32_t key)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct lab_key_ledger *ledger = &oracles->keys[key];
    uint32_t count = ledger->newest_count;
    int64_t from = lab_state_newest(run, key), last = INT64_MIN;
    uint32_t top = ledger->top;
    /* Simulates the reader: `last` is the bucket in which it gets enough rows, of which it takes `wanted`. */
    uint64_t wanted = count;
    for (; top != LAB_NO_PARTITION; top = oracles->partitions[top].lower) {
        const struct lab_partition *partition = &oracles->partitions[top];
        if (partition->bucket > from)
            continue;
        if (partition->stored >= wanted) {
            last = partition->bucket;
            break;
        }
        wanted -= partition->stored;
    }
    /* All newest rows must be in the queried buckets, and the reader must take at least as many rows from the
     * last bucket as that has of them. */
    uint64_t in_last = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t bucket = at(oracles, ledger, i)->bucket;
        if (bucket > from || bucket < last)
            return false;
        in_last += bucket == last;
    }
    return in_last <= wanted;
}

/* Returns whether all of the newest rows are in the highest partition, to which a row was just appended, as
 * usually. */
static bool are_on_top(const struct lab_cluster_run *run, const struct lab_key_ledger *ledger, uint32_t key,
                       int64_t bucket)
{
    const struct lab_oracles *oracles = &run->oracles;
    return ledger->newest_run >= ledger->newest_count && oracles->partitions[ledger->top].bucket == bucket &&
           bucket <= lab_state_newest(run, key);
}

SIM_OUT_OF_LINE static void judge(struct lab_cluster_run *run, uint32_t key, int64_t time_ns, int64_t bucket)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct lab_key_ledger *ledger = &oracles->keys[key];
    if (reader_gets_them(run, key))
        return;
    /* A reader that begins high enough misses rows only if rows are out of order, and possibly later than
     * that. */
    int64_t now_ns = sim_queue_now(&run->queue), from_ns = now_ns, to_ns = now_ns;
    const struct lab_newest_row *newest = at(oracles, ledger, ledger->newest_count - 1);
    if (newest->bucket <= lab_state_newest(run, key) && ledger->misplaced_ns != 0) {
        from_ns = ledger->misplaced_from_ns;
        to_ns = ledger->misplaced_ns;
    }
    lab_violate_within(run, LAB_ORACLE_NEWEST, key, 1, from_ns, to_ns,
                       "with a row of %.6f s in bucket %" PRId64 ", a reader from bucket %" PRId64
                       " down no longer gets the newest %" PRIu32,
                       lab_seconds(run, time_ns), bucket, lab_state_newest(run, key), ledger->newest_count);
}

/* Inserts a row before newer ones, unless it is older than all others, and judges. */
SIM_OUT_OF_LINE static void insert(struct lab_cluster_run *run, uint32_t key, int64_t time_ns, int64_t bucket)
{
    const struct lab_oracles *oracles = &run->oracles;
    struct lab_key_ledger *ledger = &oracles->keys[key];
    uint32_t count = ledger->newest_count, most = oracles->newest_rows;
    bool is_full = count == most;
    if (!is_full || is_older(at(oracles, ledger, 0), time_ns, bucket)) {
        if (is_full)
            ledger->newest_begin = ledger->newest_begin + 1 < most ? ledger->newest_begin + 1 : 0;
        uint32_t place = is_full ? count - 1 : count;
        for (; place > 0 && !is_older(at(oracles, ledger, place - 1), time_ns, bucket); place--)
            *at(oracles, ledger, place) = *at(oracles, ledger, place - 1);
        *at(oracles, ledger, place) = (struct lab_newest_row){time_ns, bucket};
        ledger->newest_count = is_full ? count : count + 1;
        ledger->newest_run = 1;
    }
    judge(run, key, time_ns, bucket);
}

SIM_OUT_OF_LINE static __attribute__((cold)) bool begin(struct lab_cluster_run *run,
                                                        struct lab_key_ledger *ledger)
{
    ledger->newest = malloc(run->oracles.newest_rows * sizeof *ledger->newest);
    run->out_of_memory = run->out_of_memory || ledger->newest == NULL;
    return ledger->newest != NULL;
}

void lab_newest_stored(struct lab_cluster_run *run, uint32_t key, int64_t time_ns, int64_t bucket)
{
    const struct lab_oracles *oracles = &run->oracles;
    struct lab_key_ledger *ledger = &oracles->keys[key];
    if (SIM_UNLIKELY(ledger->newest == NULL) && !begin(run, ledger))
        return;
    if (SIM_UNLIKELY(!append(oracles, ledger, time_ns, bucket)))
        insert(run, key, time_ns, bucket);
    else if (!are_on_top(run, ledger, key, bucket))
        judge(run, key, time_ns, bucket);
}

const struct lab_newest_row *lab_newest_next(const struct lab_oracles *oracles,
                                             const struct lab_key_ledger *ledger)
{
    return at(oracles, ledger, ledger->newest_count < oracles->newest_rows ? ledger->newest_count : 0);
}
