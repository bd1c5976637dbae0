/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monotone: in the order of row times, a key's buckets never decrease, whichever agents placed the rows, and
 * rows with the same time share a bucket: the boundary of a grant, a date or a window belongs to one side. */
#include <inttypes.h>

#include "cluster_run.h"
#include "evidence.h"
#include "oracles.h"

/* Either row may be the misplaced one, and neither was put before its time. */
int64_t lab_order_cause_ns(const struct lab_cluster_run *run, int64_t time_ns, int64_t other_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue), least_ns = time_ns < other_ns ? time_ns : other_ns;
    return least_ns < now_ns ? least_ns : now_ns;
}

void lab_monotone_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                         int64_t time_ns, const struct lab_extreme *higher)
{
    int64_t below_ns = partition->below.time_ns[0], above_ns = -higher->time_ns[0];
    bool has_below = below_ns != -INT64_MAX, has_above = higher->time_ns[0] != -INT64_MAX;
    bool is_early = has_below && below_ns >= time_ns;
    if (!is_early && !(has_above && above_ns <= time_ns))
        return;
    int64_t other_ns = is_early ? below_ns : above_ns;
    int64_t now_ns = sim_queue_now(&run->queue), from_ns = lab_order_cause_ns(run, time_ns, other_ns);
    if (other_ns != time_ns) { /* of rows with the same time, those of higher buckets count as newer */
        run->oracles.keys[partition->key].misplaced_ns = now_ns;
        run->oracles.keys[partition->key].misplaced_from_ns = from_ns;
    }
    lab_violate_within(run, LAB_ORACLE_MONOTONE, partition->key, 1, from_ns, now_ns,
                       "row %" PRIu64 " of %.6f s goes to bucket %" PRId64 ", one of %.6f s went to a %s one",
                       row, lab_seconds(run, time_ns), partition->bucket, lab_seconds(run, other_ns),
                       is_early ? "lower" : "higher");
}
