/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines: with a greatest age no row is put into a bucket that has a row from before a line. A row that was
 * overtaken proves nothing: before it was put, its key had a row from beyond its own next line, so it stands
 * with newer rows, as one does that comes late. */
#include <inttypes.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "evidence.h"
#include "oracles.h"

static int64_t line_of(const struct bk_strategy *strategy, int64_t time_ns)
{
    int64_t age_ns = strategy->max_age_ns, into_ns = (time_ns % age_ns + age_ns) % age_ns;
    return lab_until(time_ns - into_ns, age_ns);
}

/* Of eras with ages of their own each has its lines within its dates alone. */
int64_t lab_line_above(const struct lab_cluster_run *run, int64_t time_ns)
{
    const struct bk_history *history = lab_settings_at(run, sim_queue_now(&run->queue));
    for (uint32_t i = bk_history_era_at(history, time_ns); i < history->count; i++) {
        const struct bk_era *era = &history->eras[i];
        int64_t line_ns = line_of(&era->strategy, era->from_ns > time_ns ? era->from_ns - 1 : time_ns);
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
    if (run->oracles.verdict.is_judged[LAB_ORACLE_LINES] &&
        (ledger->latest_ns == 0 || time_ns > ledger->latest_ns))
        ledger->latest_ns = time_ns;
}

void lab_lines_placed(struct lab_cluster_run *run, struct lab_partition *partition, uint64_t row,
                      int64_t time_ns)
{
    if (!run->oracles.verdict.is_judged[LAB_ORACLE_LINES])
        return;
    if (partition->line_ns != 0 && time_ns >= partition->line_ns)
        lab_violate(run, LAB_ORACLE_LINES, partition->key, 1,
                    "row %" PRIu64 " of %.6f s goes to bucket %" PRId64
                    ", which has one from before the line at %.6f s",
                    row, lab_seconds(run, time_ns), partition->bucket, lab_seconds(run, partition->line_ns));
    int64_t line_ns = lab_line_above(run, time_ns);
    bool is_overtaken = run->oracles.keys[partition->key].latest_ns >= line_ns;
    if (!is_overtaken && (partition->line_ns == 0 || line_ns < partition->line_ns))
        partition->line_ns = line_ns;
}
