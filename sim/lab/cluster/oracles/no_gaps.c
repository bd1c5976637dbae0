/* SPDX-License-Identifier: GPL-3.0-or-later */
/* no_gaps: no bucket below the current one is empty, so that a reader may stop at an empty one. For a
 * counted key this is judged at each change of its state: a bucket whose times have all passed must have a
 * row. With external counts it is judged at the end of the run. */
#include <inttypes.h>

#include "cluster_view.h"
#include "events.h"
#include "oracles.h"

static bool is_empty(const struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    uint32_t partition = lab_partition_find(&run->oracles, key, bucket);
    return partition == LAB_NO_PARTITION || run->oracles.partitions[partition].stored == 0;
}

static void judge(struct lab_cluster_run *run, uint32_t key)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    int64_t current = lab_state_bucket_at(run, key, sim_queue_now(&run->queue));
    for (; ledger->gaps_judged < current; ledger->gaps_judged++) {
        if (is_empty(run, key, ledger->gaps_judged))
            lab_violate(run, LAB_ORACLE_NO_GAPS, key, 1,
                        "the key moves to bucket %" PRId64 ", but bucket %" PRId64 " is empty", current,
                        ledger->gaps_judged);
    }
}

static void finish(struct lab_cluster_run *run, void *state)
{
    (void)state;
    const struct lab_oracles *oracles = &run->oracles;
    for (uint32_t key = 0; lab_rows_fire(run) && key < oracles->key_count; key++)
        judge(run, key);
    if (run->config.strategy.kind != BK_KIND_COUNT)
        return;
    for (uint32_t key = 0; key < oracles->key_count; key++) {
        uint32_t top = oracles->keys[key].top;
        int64_t newest = top == LAB_NO_PARTITION ? 0 : oracles->partitions[top].bucket;
        uint64_t empty = 0;
        for (int64_t bucket = 0; bucket < newest; bucket++) {
            if (!is_empty(run, key, bucket))
                continue;
            empty++;
            lab_violate(run, LAB_ORACLE_NO_GAPS, key, 1,
                        "the key ends in bucket %" PRId64 ", but bucket %" PRId64 " is empty", newest,
                        bucket);
        }
        /* A bucket is empty if all its rows were refused, so it is excused only by as many refused rows. */
        uint64_t each = run->strategy->settings.change_count == 0 ? run->config.strategy.of.count.rows : 1;
        if (empty > 0 && oracles->keys[key].missed / each >= empty)
            lab_condition_of_key(run, LAB_CONDITION_REFUSED_ROWS, key, INT64_MIN, LAB_OPEN_ENDED);
    }
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    judge(run, event->key);
}

/* A bucket may be begun by a row that is never stored, and still ends at its line. */
static uint64_t wants(const struct lab_cluster_run *run)
{
    bool has_lines = run->config.strategy.max_age_ns != 0;
    return lab_counts_rows(run) && !has_lines ? CLUSTER_WANTS(STATE_CHANGED) : 0;
}

const struct cluster_observer cluster_no_gaps = {.name = "no_gaps",
                                                 .wants = wants,
                                                 .judges = 1u << LAB_ORACLE_NO_GAPS,
                                                 .on_event = hear,
                                                 .finish = finish};
