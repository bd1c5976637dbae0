/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps at a line: an operation whose row is counted in the state row uses the line according to the
 * state that its agent received. If its row is beyond that line, it writes the next bucket first, and the
 * values that it writes follow from that state. */
#include "judges.h"

#include <inttypes.h>
#include <string.h>

/* The write of the state by a row beyond the line. */
struct crossing {
    uint32_t mask;
    int64_t columns[BK_COLUMNS];
};

static struct crossing crossing_of(const struct lab_cluster_run *run, const int64_t *from, int64_t time_ns,
                                   int64_t total)
{
    const struct bk_strategy *strategy = &run->config.strategy; /* all settings have the same greatest age */
    int64_t own_ns = lab_line_of(strategy, time_ns) - strategy->max_age_ns;
    struct crossing out = {.mask = LAB_ALL_COLUMNS, .columns = {[BK_COLUMN_LAST_CHANGE] = own_ns}};
    if (from == NULL)
        return out;
    bool is_dated = run->config.coordination == BK_THREE_STATE;
    int64_t start_ns = lab_state_start(run, from), line_ns = lab_line_above(run, start_ns);
    bool has_slept = lab_line_above(run, line_ns) <= time_ns;
    int64_t next_ns = has_slept ? own_ns : line_ns;
    memcpy(out.columns, from, sizeof out.columns);
    out.mask = 1u << BK_COLUMN_BUCKET | 1u << BK_COLUMN_LAST_CHANGE |
               1u << (is_dated ? BK_COLUMN_NEXT_CHANGE : BK_COLUMN_COUNTER);
    out.columns[BK_COLUMN_BUCKET] += is_dated && has_slept ? 2 : 1;
    out.columns[BK_COLUMN_LAST_CHANGE] = !is_dated ? next_ns : has_slept ? line_ns : start_ns;
    if (is_dated)
        out.columns[BK_COLUMN_NEXT_CHANGE] = next_ns == 0 ? 1 : next_ns;
    else
        out.columns[BK_COLUMN_COUNTER] = run->config.counter == BK_COUNTER_NATIVE ? total : 0;
    return out;
}

static void demand(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                   bool is_right, const char *what)
{
    if (!is_right)
        judge_violate(run, operation->key, "agent %" PRIu32 ": row %" PRIu64 " %s", agent, operation->row,
                      what);
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
        memcpy(own(run, operation)->state_told, heard->columns, sizeof own(run, operation)->state_told);
        own(run, operation)->is_state_told = heard->mask != 0;
    }
    const int64_t *from = own(run, operation)->is_state_told ? own(run, operation)->state_told : NULL;
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
    for (int i = 0; i < BK_COLUMNS; i++)
        is_due = is_due && ((next->mask >> i & 1) == 0 || next->columns[i] == due.columns[i]);
    demand(run, agent, operation, is_due, "writes a bucket at a line that does not follow from the state");
}
