/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agreement: no two agents place the same row time of a key in different buckets. This is judged by their
 * actions: an agent that puts a row into a lower bucket than another agent put an earlier row disagrees with
 * it about all times between the two. Differences of clocks are tolerated up to twice the clock bound, the
 * greatest difference between two agents. */
#include <inttypes.h>

#include "cluster_run.h"
#include "evidence.h"
#include "oracles.h"

static int64_t of_another(const struct lab_extreme *extreme, uint32_t agent)
{
    return extreme->time_ns[extreme->agent[0] == agent];
}

/* Returns whether two times differ by more than a tolerance. Their difference may exceed int64_t. */
static bool is_beyond(int64_t later_ns, int64_t earlier_ns, int64_t tolerance_ns)
{
    return later_ns > earlier_ns && (uint64_t)later_ns - (uint64_t)earlier_ns > (uint64_t)tolerance_ns;
}

void lab_agreement_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                          int64_t time_ns, uint32_t agent, const struct lab_extreme *higher)
{
    int64_t tolerance_ns = run->oracles.tolerance_ns;
    int64_t below_ns = of_another(&partition->below, agent), above_ns = of_another(higher, agent);
    bool is_early = below_ns != -INT64_MAX && is_beyond(below_ns, time_ns, tolerance_ns);
    bool is_late = above_ns != -INT64_MAX && is_beyond(time_ns, -above_ns, tolerance_ns);
    if (!is_early && !is_late)
        return;
    int64_t other_ns = is_early ? below_ns : -above_ns;
    lab_violate_within(run, LAB_ORACLE_AGREEMENT, partition->key, 1,
                       lab_order_cause_ns(run, time_ns, other_ns), sim_queue_now(&run->queue),
                       "agent %" PRIu32 " puts row %" PRIu64 " of %.6f s into bucket %" PRId64
                       ", and another one of %.6f s into a %s one",
                       agent, row, lab_seconds(run, time_ns), partition->bucket, lab_seconds(run, other_ns),
                       is_early ? "lower" : "higher");
}
