/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines: with a greatest age, no row is put into a bucket that has a row from before a line that is between
 * them. A row that was overtaken proves nothing: before it was put, its key had a row from beyond the row's
 * own next line, so it is in a bucket with newer rows, like a late row. available, at a line: an operation
 * whose row is counted in the state row uses the line according to the state that its agent received. If its
 * row is beyond that line, it writes the next bucket first, and the values that it writes follow from that
 * state. */
#include <inttypes.h>
#include <string.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "evidence.h"
#include "oracles.h"

static int64_t line_of(const struct bk_strategy *strategy, int64_t time_ns)
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

/* The write of the state by a row beyond the line. */
struct crossing {
    uint32_t mask;
    int64_t columns[BK_COLUMN_COUNT];
};

static struct crossing crossing_of(const struct lab_cluster_run *run, const int64_t *from, int64_t time_ns,
                                   int64_t total)
{
    const struct bk_strategy *strategy = &run->config.strategy; /* all settings have the same greatest age */
    int64_t own_ns = line_of(strategy, time_ns) - strategy->max_age_ns;
    struct crossing out = {.mask = LAB_ALL_COLUMNS, .columns = {[BK_LAST_CHANGE] = own_ns}};
    if (from == NULL)
        return out;
    bool is_dated = run->config.coordination == BK_THREE_STATE;
    int64_t start_ns = lab_state_start(run, from), line_ns = lab_line_above(run, start_ns);
    bool has_slept = lab_line_above(run, line_ns) <= time_ns;
    int64_t next_ns = has_slept ? own_ns : line_ns;
    memcpy(out.columns, from, sizeof out.columns);
    out.mask = 1u << BK_BUCKET | 1u << BK_LAST_CHANGE | 1u << (is_dated ? BK_NEXT_CHANGE : BK_COUNTER);
    out.columns[BK_BUCKET] += is_dated && has_slept ? 2 : 1;
    out.columns[BK_LAST_CHANGE] = !is_dated ? next_ns : has_slept ? line_ns : start_ns;
    if (is_dated)
        out.columns[BK_NEXT_CHANGE] = next_ns == 0 ? 1 : next_ns;
    else
        out.columns[BK_COUNTER] = run->config.counter == BK_COUNTER_COLUMN ? total : 0;
    return out;
}

static void demand(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                   bool is_right, const char *what)
{
    if (!is_right)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, operation->key, "agent %" PRIu32 ": row %" PRIu64 " %s",
                         agent, operation->row, what);
}

void lab_lines_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next)
{
    const struct bk_outcome *heard = &operation->outcome;
    if (!run->oracles.verdict.is_judged[LAB_ORACLE_LINES] || run->config.coordination == BK_GUARDED ||
        operation->is_read || operation->is_acknowledged)
        return;
    bool is_write = next->kind == BK_ACT_WRITE_STATE || next->kind == BK_ACT_CAS_STATE;
    bool is_told = operation->action == BK_ACT_READ_STATE
                       ? heard->kind == BK_OUTCOME_APPLIED
                       : operation->action == BK_ACT_CAS_STATE && heard->kind == BK_OUTCOME_NOT_APPLIED;
    if (is_told) {
        memcpy(operation->state_told, heard->columns, sizeof operation->state_told);
        operation->is_state_told = heard->mask != 0;
    }
    const int64_t *from = operation->is_state_told ? operation->state_told : NULL;
    if (next->kind == BK_ACT_CAS_STATE)
        from = next->if_mask != 0 ? next->expected : NULL;
    bool is_beyond =
        from == NULL || operation->row_time_ns >= lab_line_above(run, lab_state_start(run, from));
    if (is_told && next->kind == BK_ACT_PUT_ROW)
        demand(run, agent, operation, !is_beyond, "is put although it is beyond the line of its bucket");
    if (!is_write || next->is_retry)
        return;
    struct crossing due = crossing_of(run, from, operation->row_time_ns, heard->counter);
    demand(run, agent, operation, is_beyond, "rolls its key although it is before the line");
    bool is_due = next->mask == (next->if_null_mask != 0 ? LAB_ALL_COLUMNS : due.mask);
    for (int i = 0; i < BK_COLUMN_COUNT; i++)
        is_due = is_due && ((next->mask >> i & 1) == 0 || next->columns[i] == due.columns[i]);
    demand(run, agent, operation, is_due, "writes a bucket at a line that does not follow from the state");
}
