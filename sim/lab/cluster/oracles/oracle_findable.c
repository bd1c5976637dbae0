/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findable: every acknowledged row is met by a fresh reader walking down. A reader begins at the bucket that
 * the key's state names, so a row in a higher one is not met; nor surely one on so few replicas that those
 * which a reader asks may all lack it. */
#include <inttypes.h>

#include "cluster_run.h"

void lab_findable_acknowledged(struct lab_cluster_run *run, uint32_t key, struct lab_partition *partition,
                               uint64_t row, int64_t begun_ns)
{
    const struct lab_oracles *oracles = &run->oracles;
    int64_t now_ns = sim_queue_now(&run->queue);
    if (oracles->is_linked && partition->bucket > lab_state_newest(run, key)) {
        partition->unfindable++;
        lab_violate_within(run, LAB_ORACLE_FINDABLE, key, 1, begun_ns, now_ns,
                           "row %" PRIu64 " was acknowledged in bucket %" PRId64
                           ", and a reader begins at bucket %" PRId64,
                           row, partition->bucket, lab_state_newest(run, key));
        return;
    }
    if (oracles->read_replicas == 0)
        return;
    uint32_t held = cass_row_held(run->cluster, key, partition->bucket, row);
    uint32_t factor = run->scenario->cluster.replication_factor;
    if (held + oracles->read_replicas > factor)
        return;
    partition->unfindable++;
    lab_violate_within(run, LAB_ORACLE_FINDABLE, key, 1, begun_ns, now_ns,
                       "row %" PRIu64 " was acknowledged on %" PRIu32 " of %" PRIu32
                       " replicas, and a reader asks %" PRIu32,
                       row, held, factor, oracles->read_replicas);
}

/* A read of a range goes down until a bucket has rows older than the range and none of it. So it misses rows
 * where a bucket holds a row older than the range, and a lower one holds a row of the range or a newer one.
 * The buckets of `count` are in the order of numbers, and times need not be. */
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

/* Where readers need no state that may be old, or have rules by which it is fresh enough, the run's own
 * readers count too; those rules hold as long as clocks do. */
void lab_findable_read(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const struct lab_read_done *done = &operation->done;
    enum bk_kind kind = run->config.strategy.kind;
    int64_t now_ns = sim_queue_now(&run->queue);
    uint32_t conditions = lab_conditions_at(run, operation->key, operation->begun_ns, now_ns);
    /* By clocks that differ, a reader may come to a new era of a hash after writers do. */
    bool is_fresh =
        kind == BK_NONE || kind == BK_COUNT ||
        (kind == BK_HASH && run->strategy->settings.change_count == 0) ||
        (run->config.coordination == BK_GUARDED && (conditions >> LAB_CONDITION_CLOCK_JUMP & 1) == 0);
    if (is_fresh && !ends_too_early(run, operation))
        lab_violate_within(
            run, LAB_ORACLE_FINDABLE, operation->key, done->due - done->rows, operation->begun_ns, now_ns,
            "a reader found %" PRIu64 " of %" PRIu64 " rows that were acknowledged before it began",
            done->rows, done->due);
}

/* The key's state has gone back: what was acknowledged above it is out of a reader's sight. */
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
