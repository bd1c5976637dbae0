/* SPDX-License-Identifier: GPL-3.0-or-later */
/* newest: the n rows that a reader of the newest rows gets are the newest n. A reader goes down from the
 * bucket that the state names until it has n rows, and does not query lower buckets. So it misses a row of a
 * lower bucket that is newer than one of the n. This is judged after each stored row, with a list of the true
 * newest n in the order of their times. Of rows with the same time, those in higher buckets count as newer,
 * because a reader gets them first. The shards of a window are read together, so they count as one bucket,
 * the first one. */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster_view.h"
#include "events.h"
#include "oracles.h"

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
    const struct bk_strategy *strategy = &run->config.strategy;
    uint32_t count = ledger->newest_count;
    int64_t from = lab_state_newest(run, key), last = INT64_MIN;
    uint32_t top = ledger->top;
    /* Simulates the reader: `last` is the bucket in which it gets enough rows, of which it takes `wanted`. */
    uint64_t wanted = count, stored = 0;
    for (; top != LAB_NO_PARTITION; top = oracles->partitions[top].lower) {
        const struct lab_partition *partition = &oracles->partitions[top];
        if (partition->bucket > from)
            continue;
        const int64_t window = lab_first_shard(strategy, partition->bucket);
        stored += partition->stored;
        if (partition->lower != LAB_NO_PARTITION && oracles->partitions[partition->lower].bucket >= window)
            continue;
        if (stored >= wanted) {
            last = window;
            break;
        }
        wanted -= stored;
        stored = 0;
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
    return ledger->newest_run >= ledger->newest_count &&
           lab_first_shard(&run->config.strategy, oracles->partitions[ledger->top].bucket) == bucket &&
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

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    const struct lab_oracles *oracles = &run->oracles;
    const uint32_t key = event->key;
    const int64_t time_ns = event->time_ns, bucket = lab_first_shard(&run->config.strategy, event->bucket);
    (void)state;
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

static uint64_t wants(const struct lab_cluster_run *run)
{
    const bool is_known = run->oracles.is_ordered || run->config.strategy.kind != BK_KIND_TIME;
    return run->idgen == NULL && run->oracles.is_linked && is_known ? CLUSTER_WANTS(ROW_STORED) : 0;
}

const struct cluster_observer cluster_newest = {
    .name = "newest", .wants = wants, .judges = 1u << LAB_ORACLE_NEWEST, .on_event = hear};
