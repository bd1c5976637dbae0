/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filled: no partition closes before its threshold is reached. This is exact: each increment is of a row
 * that fires and is in the partition, so a partition that closes has at least as many of them as the
 * threshold, and a count of rows does not exceed the rows that exist. It is judged when the state names a
 * later bucket, because later rows prove nothing. A partition that ends at a line may close earlier.
 * Partitions of numbered rows are judged at the end, because each number belongs to one row. An increment
 * that was applied twice may replace a row: with guarded in the bucket of the counter, otherwise in any
 * bucket of the key. An operation that counts in the state row while the key rolls may carry its count into
 * the next bucket. That is a condition, which lasts from the roll that may have caused it to the roll that is
 * too early. */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster_view.h"
#include "events.h"
#include "oracles.h"

/* Returns whether rows that fire are counted in the state row, or in a counter whose base is in the state
 * row. */
static bool counts_in_state(const struct lab_cluster_run *run)
{
    return lab_rows_fire(run) && run->config.coordination != BK_GUARDED;
}

/* Records the condition for as long as the request may take effect, which is unknown during a fault. */
static void note(struct lab_cluster_run *run, uint32_t key, int64_t from_ns)
{
    int64_t over_ns = lab_until(sim_queue_now(&run->queue), lab_aftermath_ns(run));
    lab_condition_of_key(run, LAB_CONDITION_COUNTED_AT_ROLL, key, from_ns,
                         lab_health_well_ns(run) < 0 ? LAB_OPEN_ENDED : over_ns);
}

static void filled_acknowledged(struct lab_cluster_run *run, const struct lab_partition *partition,
                                const struct lab_host_operation *operation)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    int64_t now_ns = sim_queue_now(&run->queue);
    if (ledger->counting > 0)
        ledger->at_once_ns = now_ns;
    /* A counter column also gets the increments of older buckets, and until the date of a change it counts
     * the old bucket. */
    bool is_of_older = run->config.counter == BK_COUNTER_NATIVE && operation->fires &&
                       partition->bucket < ledger->state_bucket &&
                       run->keys[operation->key].state[BK_COLUMN_NEXT_CHANGE] == 0;
    if (ledger->writes_open > 0 || is_of_older)
        note(run, operation->key, now_ns);
}

/* A request to write more of the state than its count. The operation that makes it counts a row itself,
 * except for a row at a line, which is not put yet. */
static void filled_changing(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                            const struct bk_action *action)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    uint64_t own = operation->is_acknowledged;
    if (lab_writes_state(action) && (ledger->counting > own || ledger->at_once_ns >= operation->begun_ns))
        note(run, operation->key, sim_queue_now(&run->queue));
}

/* It is unknown whether the operation's row was counted, or how often. */
static void filled_heard(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    enum bk_action_kind kind = operation->action;
    if (operation->outcome.kind == BK_OUTCOME_UNKNOWN &&
        (kind == BK_ACT_WRITE_STATE || kind == BK_ACT_CAS_STATE || kind == BK_ACT_ADD_COUNTER))
        note(run, operation->key, operation->asked_ns);
}

/* Returns the number of increments of unknown outcome that were applied more than once so far. */
static uint64_t doubled_by_now(const struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    const struct lab_increments *increments = &run->oracles.increments;
    bool is_of_bucket = run->config.coordination == BK_GUARDED;
    uint64_t doubled = 0;
    for (size_t i = 0; i < increments->count; i++) {
        const struct lab_increment *increment = &increments->items[i];
        uint32_t owner;
        int64_t owned;
        if (!increment->is_used || increment->applied < 2)
            continue;
        lab_counter_owner(run, increment->counter, &owner, &owned);
        doubled += owner == key && (!is_of_bucket || owned == bucket) ? increment->applied - 1 : 0;
    }
    return doubled;
}

/* Determines how many rows a closing partition must have, and how many it has. With counts in memory, rows
 * count when they are put. */
static bool is_filled(const struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t *has,
                      uint64_t *wants)
{
    const struct lab_oracles *oracles = &run->oracles;
    uint32_t index = lab_partition_find(oracles, key, bucket);
    const struct lab_partition *partition = index == LAB_NO_PARTITION ? NULL : &oracles->partitions[index];
    *wants = lab_threshold_of(run, partition, false);
    *has = 0;
    if (partition != NULL && run->config.strategy.kind == BK_KIND_COUNT)
        *has = run->config.source == BK_SOURCE_MEMORY ? partition->placed : partition->stored;
    else if (partition != NULL)
        *has = partition->fired;
    uint64_t spare = oracles->keys[key].doubled + (partition == NULL ? 0 : partition->doubled);
    return *has + spare >= *wants || *has + spare + doubled_by_now(run, key, bucket) >= *wants;
}

static void filled_rolled(struct lab_cluster_run *run, uint32_t key, int64_t before)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    int64_t now_ns = sim_queue_now(&run->queue);
    enum bk_source source = run->config.source;
    bool is_counted = source >= BK_SOURCE_INCREMENTAL || source == BK_SOURCE_EXTERNAL;
    uint64_t has, wants;
    for (int64_t bucket = before; is_counted && bucket < ledger->state_bucket; bucket++) {
        if (is_filled(run, key, bucket, &has, &wants) || lab_is_line(run, run->keys[key].changes[bucket + 1]))
            continue;
        lab_violate_within(
            run, LAB_ORACLE_FILLED, key, 1, ledger->rolled_ns, now_ns,
            "bucket %" PRId64 " closes with %" PRIu64 " rows%s, and %" PRIu64 " is the threshold", bucket,
            has, run->config.strategy.kind == BK_KIND_COUNT ? "" : " that fire", wants);
    }
    ledger->rolled_ns = now_ns;
    ledger->rolled_at_once = ledger->counting > 1;
}

/* Returns the count of numbers below the key's newest one that may not have been given to a row. */
static uint64_t numbers_missed(const struct lab_cluster_run *run, uint32_t key)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[key];
    uint64_t missed = ledger->missed + ledger->numbers_lost;
    if (run->config.source == BK_SOURCE_LEASE)
        missed += run->config.lease_rows * (run->agent_count + run->oracles.crashes);
    return missed;
}

/* Returns whether all numbers of the bucket have been given. */
static bool is_numbered(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    uint64_t rows = run->config.strategy.of.count.rows;
    if (run->config.source != BK_SOURCE_EXTERNAL)
        return partition->bucket < run->oracles.keys[partition->key].state_bucket;
    return (uint64_t)partition->bucket < run->keys[partition->key].rows / rows;
}

static void finish(struct lab_cluster_run *run, void *state)
{
    (void)state;
    const struct lab_oracles *oracles = &run->oracles;
    enum bk_source source = run->config.source;
    bool has_numbers = run->config.strategy.kind == BK_KIND_COUNT && source <= BK_SOURCE_LEASE;
    if (!has_numbers)
        return;
    uint64_t *missing = calloc(run->key_count, sizeof *missing); /* per key, in all its partitions so far */
    if (missing == NULL) {
        run->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        uint32_t key = partition->key;
        uint64_t rows = lab_threshold_of(run, partition, false);
        if (!is_numbered(run, partition) || partition->placed >= rows)
            continue;
        missing[key] += rows - partition->placed;
        if (missing[key] <= numbers_missed(run, key) ||
            (source == BK_SOURCE_LEASE && lab_may_be_evicted(run, key)))
            continue;
        lab_violate_within(run, LAB_ORACLE_FILLED, key, 1, partition->first_ns, sim_queue_now(&run->queue),
                           "bucket %" PRId64 " got %" PRIu64 " rows of %" PRIu64
                           "; the buckets of the key up to this one lack %" PRIu64 " rows",
                           partition->bucket, partition->placed, rows, missing[key]);
    }
    free(missing);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    if (event->kind == CLUSTER_STATE_CHANGED) {
        if (event->bucket > event->value)
            filled_rolled(run, event->key, event->value);
    } else if (!counts_in_state(run)) {
        return;
    } else if (event->kind == CLUSTER_ROW_UNUSUAL) {
        filled_acknowledged(run, event->partition, event->operation);
    } else if (event->kind == CLUSTER_REQUEST_SENT) {
        filled_changing(run, event->operation, event->action);
    } else if (event->kind == CLUSTER_HEARD) {
        filled_heard(run, event->operation);
    } else if (!event->flag) { /* CLUSTER_ROW_COUNTED, and it is unknown whether it was */
        note(run, event->key, event->operation->asked_ns);
    }
}

/* Two operations may read the same total of a counter; then a number is skipped. */
static uint64_t wants(const struct lab_cluster_run *run)
{
    bool is_judged = lab_counts_rows(run) && run->config.strategy.kind != BK_KIND_WEIGHTED &&
                     run->config.source != BK_SOURCE_COUNTER;
    return is_judged ? CLUSTER_WANTS(STATE_CHANGED) | CLUSTER_WANTS(ROW_UNUSUAL) |
                           CLUSTER_WANTS(REQUEST_SENT) | CLUSTER_WANTS(HEARD) | CLUSTER_WANTS(ROW_COUNTED)
                     : 0;
}

const struct cluster_observer cluster_filled = {
    .name = "filled", .wants = wants, .judges = 1u << LAB_ORACLE_FILLED, .on_event = hear, .finish = finish};
