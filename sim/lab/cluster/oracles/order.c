/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agreement: no two agents place the same row time of a key in different buckets. This is judged by their
 * actions: an agent that puts a row into a lower bucket than another agent put an earlier row disagrees with
 * it about all times between the two. Differences of clocks are tolerated up to twice the clock bound, the
 * greatest difference between two agents. */
#include <inttypes.h>

#include "cluster_run.h"
#include "cluster_view.h"
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

void lab_order_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                      int64_t time_ns, uint32_t agent)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_extreme higher = {{-INT64_MAX, -INT64_MAX}, {UINT32_MAX, UINT32_MAX}};
    for (uint32_t i = partition->higher; i != LAB_NO_PARTITION; i = oracles->partitions[i].higher) {
        struct lab_partition *above = &oracles->partitions[i];
        lab_extreme_add(&higher, above->earliest.time_ns[0], above->earliest.agent[0]);
        lab_extreme_add(&higher, above->earliest.time_ns[1], above->earliest.agent[1]);
        lab_extreme_add(&above->below, time_ns, agent);
    }
    judge_agreement(run, partition, row, time_ns, agent, &higher);
    judge_monotone(run, partition, row, time_ns, &higher);
}

/* --- lines: with a greatest age, no row is put into a bucket that has a row from before a line that is
 * between them. A row that was overtaken proves nothing: before it was put, its key had a row from beyond the
 * row's own next line, so it is in a bucket with newer rows, like a late row. */

int64_t lab_line_of(const struct bk_strategy *strategy, int64_t time_ns)
{
    int64_t age_ns = strategy->max_age_ns, into_ns = (time_ns % age_ns + age_ns) % age_ns;
    return lab_until(time_ns - into_ns, age_ns);
}

/* If eras have different greatest ages, the lines of each are only within its dates. */
int64_t lab_line_above(const struct lab_cluster_run *run, int64_t time_ns)
{
    const struct bk_history *history = lab_settings_at(run, sim_queue_now(&run->queue));
    for (uint32_t i = bk_history_era_at(history, time_ns); i < history->count; i++) {
        const struct bk_era *era = &history->eras[i];
        int64_t line_ns = lab_line_of(&era->strategy, era->from_ns > time_ns ? era->from_ns - 1 : time_ns);
        if (i + 1 == history->count || line_ns < history->eras[i + 1].from_ns)
            return line_ns;
    }
    return INT64_MAX;
}

bool lab_is_line(const struct lab_cluster_run *run, int64_t time_ns)
{
    return run->oracles.verdict.is_judged[LAB_ORACLE_LINES] && lab_line_above(run, time_ns - 1) == time_ns;
}

void lab_lines_begun(struct lab_cluster_run *run, uint32_t key, int64_t time_ns)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    if (ledger->latest_ns == 0 || time_ns > ledger->latest_ns)
        ledger->latest_ns = time_ns;
}

void lab_lines_placed(struct lab_cluster_run *run, struct lab_partition *partition, uint64_t row,
                      int64_t time_ns)
{
    if (partition->line_ns != 0 && time_ns >= partition->line_ns)
        lab_violate_within(
            run, LAB_ORACLE_LINES, partition->key, 1, partition->first_ns, sim_queue_now(&run->queue),
            "row %" PRIu64 " of %.6f s goes to bucket %" PRId64
            ", which has a row from before the line at %.6f s",
            row, lab_seconds(run, time_ns), partition->bucket, lab_seconds(run, partition->line_ns));
    int64_t line_ns = lab_line_above(run, time_ns);
    bool is_overtaken = run->oracles.keys[partition->key].latest_ns >= line_ns;
    if (!is_overtaken && (partition->line_ns == 0 || line_ns < partition->line_ns))
        partition->line_ns = line_ns;
}

bool lab_line_is_near(const struct lab_cluster_run *run, uint32_t key)
{
    int64_t ahead_ns = lab_until(lab_times(2, run->config.lead_ns), run->config.clock_bound_ns);
    return run->oracles.verdict.is_judged[LAB_ORACLE_LINES] && run->config.coordination == BK_THREE_STATE &&
           lab_until(sim_queue_now(&run->queue), ahead_ns) >=
               lab_line_above(run, lab_state_start(run, run->keys[key].state));
}
