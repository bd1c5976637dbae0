/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agreement: no two agents place the same row time of a key in different buckets. This is judged by their
 * actions: an agent that puts a row into a lower bucket than another agent put an earlier row disagrees with
 * it about all times between the two. Differences of clocks are tolerated up to twice the clock bound, the
 * greatest difference between two agents. */
#include <inttypes.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
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

/* Either row may be the misplaced one, and neither was put before its time. */
static int64_t cause_ns(const struct lab_cluster_run *run, int64_t time_ns, int64_t other_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue), least_ns = time_ns < other_ns ? time_ns : other_ns;
    return least_ns < now_ns ? least_ns : now_ns;
}

static void judge_agreement(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                            int64_t time_ns, uint32_t agent, const struct lab_extreme *higher)
{
    int64_t tolerance_ns = run->oracles.tolerance_ns;
    int64_t below_ns = of_another(&partition->below, agent), above_ns = of_another(higher, agent);
    bool is_early = below_ns != -INT64_MAX && is_beyond(below_ns, time_ns, tolerance_ns);
    bool is_late = above_ns != -INT64_MAX && is_beyond(time_ns, -above_ns, tolerance_ns);
    if (!is_early && !is_late)
        return;
    int64_t other_ns = is_early ? below_ns : -above_ns;
    lab_violate_within(run, LAB_ORACLE_AGREEMENT, partition->key, 1, cause_ns(run, time_ns, other_ns),
                       sim_queue_now(&run->queue),
                       "agent %" PRIu32 " puts row %" PRIu64 " of %.6f s into bucket %" PRId64
                       ", and another one of %.6f s into a %s one",
                       agent, row, lab_seconds(run, time_ns), partition->bucket, lab_seconds(run, other_ns),
                       is_early ? "lower" : "higher");
}

/* --- monotone: in the order of row times, a key's buckets never decrease, whichever agents placed the rows,
 * and rows with the same time share a bucket: the boundary of a grant, a date or a window belongs to one
 * side. */

static void judge_monotone(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                           int64_t time_ns, const struct lab_extreme *higher)
{
    int64_t below_ns = partition->below.time_ns[0], above_ns = -higher->time_ns[0];
    bool has_below = below_ns != -INT64_MAX, has_above = higher->time_ns[0] != -INT64_MAX;
    bool is_early = has_below && below_ns >= time_ns;
    if (!is_early && !(has_above && above_ns <= time_ns))
        return;
    int64_t other_ns = is_early ? below_ns : above_ns;
    int64_t now_ns = sim_queue_now(&run->queue), from_ns = cause_ns(run, time_ns, other_ns);
    if (other_ns != time_ns) { /* of rows with the same time, those of higher buckets count as newer */
        run->oracles.keys[partition->key].misplaced_ns = now_ns;
        run->oracles.keys[partition->key].misplaced_from_ns = from_ns;
    }
    lab_violate_within(run, LAB_ORACLE_MONOTONE, partition->key, 1, from_ns, now_ns,
                       "row %" PRIu64 " of %.6f s goes to bucket %" PRId64 ", one of %.6f s went to a %s one",
                       row, lab_seconds(run, time_ns), partition->bucket, lab_seconds(run, other_ns),
                       is_early ? "lower" : "higher");
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    const struct lab_partition *partition = event->partition;
    const int64_t time_ns = event->time_ns;
    const uint32_t agent = event->agent;
    const struct bk_strategy *strategy = &run->config.strategy;
    struct lab_oracles *oracles = &run->oracles;
    struct lab_extreme higher = {{-INT64_MAX, -INT64_MAX}, {UINT32_MAX, UINT32_MAX}};
    (void)state;
    if (!event->flag)
        return;
    for (uint32_t i = partition->higher; i != LAB_NO_PARTITION; i = oracles->partitions[i].higher) {
        struct lab_partition *above = &oracles->partitions[i];
        if (lab_are_of_one_window(strategy, above->bucket, partition->bucket))
            continue;
        lab_extreme_add(&higher, above->earliest.time_ns[0], above->earliest.agent[0]);
        lab_extreme_add(&higher, above->earliest.time_ns[1], above->earliest.agent[1]);
        lab_extreme_add(&above->below, time_ns, agent);
    }
    judge_agreement(run, partition, event->number, time_ns, agent, &higher);
    judge_monotone(run, partition, event->number, time_ns, &higher);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && run->oracles.is_ordered ? CLUSTER_WANTS(ROW_ENTERED) : 0;
}

const struct cluster_observer cluster_order = {.name = "order",
                                               .wants = wants,
                                               .judges =
                                                   1u << LAB_ORACLE_AGREEMENT | 1u << LAB_ORACLE_MONOTONE,
                                               .on_event = hear};
