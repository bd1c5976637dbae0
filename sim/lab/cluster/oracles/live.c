/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live: once all faults have ended, full partitions close. Rows that fire are counted when there has been
 * no fault for the lag. A partition is full when it has got a little more than twice its threshold of them.
 * It may get more for at most the lag, until the next bucket becomes known. If it gets a row that fires after
 * that, as the key's newest partition, it does not close. A run whose faults do not end, or end just before
 * its end, is not judged. */
#include <inttypes.h>

#include "events.h"
#include "oracles.h"

#define SPARE 16u

static void fired(struct lab_cluster_run *run, struct lab_partition *partition)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_key_ledger *ledger = &oracles->keys[partition->key];
    /* Once the state names a later bucket, the key has rolled, even if the date is still to come. */
    if (partition->bucket < ledger->state_bucket || lab_health_well_ns(run) < oracles->lag_ns)
        return;
    if (partition->healthy_stretch != oracles->health.stretch) {
        partition->healthy_stretch = oracles->health.stretch;
        partition->fired_since_healthy = 0;
    }
    int64_t now_ns = sim_queue_now(&run->queue);
    uint64_t full = 2 * lab_threshold_of(run, partition, true) + SPARE;
    if (++partition->fired_since_healthy == full) {
        partition->full_ns = now_ns;
    } else if (partition->fired_since_healthy > full && now_ns - partition->full_ns > oracles->lag_ns) {
        ledger->stuck_stretch = oracles->health.stretch + 1;
        ledger->stuck_bucket = partition->bucket;
    }
}

static void finish(struct lab_cluster_run *run, void *state)
{
    (void)state;
    struct lab_oracles *oracles = &run->oracles;
    oracles->verdict.is_judged[LAB_ORACLE_LIVE] = lab_health_well_ns(run) >= oracles->lag_ns;
    if (!oracles->verdict.is_judged[LAB_ORACLE_LIVE])
        return;
    for (uint32_t key = 0; key < oracles->key_count; key++) {
        const struct lab_key_ledger *ledger = &oracles->keys[key];
        if (ledger->stuck_stretch == oracles->health.stretch + 1)
            lab_violate_within(
                run, LAB_ORACLE_LIVE, key, 1, run->start_ns, sim_queue_now(&run->queue),
                "bucket %" PRId64
                " still receives rows that fire, %.1f s after it was full and the cluster was well",
                ledger->stuck_bucket, (double)oracles->lag_ns / 1e9);
    }
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    if (event->operation->fires)
        fired(run, event->partition);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && lab_rows_fire(run) ? CLUSTER_WANTS(ROW_UNUSUAL) : 0;
}

const struct cluster_observer cluster_live = {
    .name = "live", .wants = wants, .judges = 1u << LAB_ORACLE_LIVE, .on_event = hear, .finish = finish};
