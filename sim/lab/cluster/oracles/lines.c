/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines: with a greatest age, no row is put into a bucket that has a row from before a line that is
 * between them. A row that was overtaken proves nothing: before it was put, its key had a row from beyond the
 * row's own next line, so it is in a bucket with newer rows, like a late row. */
#include <inttypes.h>

#include "cluster_view.h"
#include "events.h"
#include "oracles.h"

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

static void lines_begun(struct lab_cluster_run *run, uint32_t key, int64_t time_ns)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    if (ledger->latest_ns == 0 || time_ns > ledger->latest_ns)
        ledger->latest_ns = time_ns;
}

static void lines_placed(struct lab_cluster_run *run, struct lab_partition *partition, uint64_t row,
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

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    if (event->kind == CLUSTER_ROW_TAKEN)
        lines_begun(run, event->key, event->row->time_ns);
    else
        lines_placed(run, event->partition, event->number, event->time_ns);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && run->config.strategy.max_age_ns != 0
               ? CLUSTER_WANTS(ROW_TAKEN) | CLUSTER_WANTS(ROW_ENTERED)
               : 0;
}

const struct cluster_observer cluster_lines = {
    .name = "lines", .wants = wants, .judges = 1u << LAB_ORACLE_LINES, .on_event = hear};
