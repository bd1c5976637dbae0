/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live: once all faults are healed, full partitions close. Rows that fire are counted from when all has been
 * well for the lag; a partition that then takes twice its threshold of them, and some, over another lag, and
 * is still the newest, does not close. A run whose faults do not end, or only just, is not judged. */
#include <inttypes.h>

#include "cluster_run.h"

#define SPARE 16u

void lab_live_fired(struct lab_cluster_run *run, struct lab_partition *partition)
{
    const struct lab_oracles *oracles = &run->oracles;
    int64_t now_ns = sim_queue_now(&run->queue);
    /* Once the state names a later bucket, the roll has been; its date may be still to come. */
    bool is_newest = partition->bucket >= oracles->keys[partition->key].state_bucket;
    if (!is_newest || lab_health_well_ns(run) < oracles->lag_ns)
        return;
    if (partition->fired_since_healthy == 0 || partition->healthy_stretch != oracles->health.stretch) {
        partition->healthy_stretch = oracles->health.stretch;
        partition->fired_since_healthy = 0;
        partition->fired_first_ns = now_ns;
    }
    partition->fired_since_healthy++;
    partition->fired_last_ns = now_ns;
}

void lab_live_end(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    if (!oracles->verdict.is_judged[LAB_ORACLE_LIVE])
        return;
    oracles->verdict.is_judged[LAB_ORACLE_LIVE] = lab_health_well_ns(run) >= oracles->lag_ns;
    if (!oracles->verdict.is_judged[LAB_ORACLE_LIVE])
        return;
    uint64_t threshold = run->config.strategy.of.probabilistic.threshold;
    uint32_t judged = LAB_NO_KEY;
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (partition->healthy_stretch != oracles->health.stretch || partition->key == judged ||
            partition->fired_since_healthy <= 2 * threshold + SPARE ||
            partition->fired_last_ns - partition->fired_first_ns <= oracles->lag_ns)
            continue;
        judged = partition->key;
        lab_violate(run, LAB_ORACLE_LIVE, partition->key, 1,
                    "bucket %" PRId64 " took %" PRIu32 " rows that fire since all was well, and %" PRIu64
                    " should close it",
                    partition->bucket, partition->fired_since_healthy, threshold);
    }
}
