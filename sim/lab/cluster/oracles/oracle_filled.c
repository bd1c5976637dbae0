/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filled: no partition closes before its threshold is reached. This is exact: each increment is of a row that
 * fires and stands in the partition, so a closed one holds a threshold of them at least. Increments that were
 * made twice may stand for as many rows: of guarded in the bucket whose counter it is, else in any of the
 * key's. */
#include <inttypes.h>

#include "cluster_run.h"

void lab_filled_end(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    if (!oracles->verdict.is_judged[LAB_ORACLE_FILLED])
        return;
    uint64_t threshold = bk_threshold(&run->config.strategy);
    for (size_t i = 0; i < oracles->increments.capacity; i++) {
        const struct lab_increment *increment = &oracles->increments.slots[i];
        if (increment->is_used && increment->applied > 1)
            lab_increment_doubled(run, increment->counter, increment->applied - 1);
    }
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        const struct lab_key_ledger *ledger = &oracles->keys[partition->key];
        bool is_closed = partition->bucket < ledger->state_bucket;
        uint64_t spare = partition->doubled + ledger->doubled;
        if (is_closed && partition->fired + spare < threshold)
            lab_violate_within(run, LAB_ORACLE_FILLED, partition->key, 1, partition->first_ns,
                               sim_queue_now(&run->queue),
                               "bucket %" PRId64 " is closed with %" PRIu64 " rows that fire, and %" PRIu64
                               " is the threshold",
                               partition->bucket, partition->fired, threshold);
    }
}
