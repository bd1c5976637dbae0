/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the rows of a key: times, ids, sizes and lateness. */
#include "workload/rows.h"

#include "workload/trace_format.h"

__extension__ typedef __int128 wide;

int64_t wl_late_most_ns(const struct wl_workload *workload)
{
    int64_t late_ns = workload->late_share > 0 ? WL_LATE_MEANS_MAX * workload->late_mean_ns : 0;
    int64_t history_ns =
        workload->backfill_before_ns > 0 ? workload->backfill_before_ns + workload->backfill_lasts_ns : 0;
    if (workload->is_late_trace)
        return WL_TRACE_LATE_MAX + workload->resolution_ns;
    return (late_ns > history_ns ? late_ns : history_ns) + workload->resolution_ns;
}

int64_t wl_own_time(const struct wl_workload *workload, int64_t clock_ns, int64_t late_ns)
{
    int64_t time_ns = clock_ns - late_ns;
    if (workload->resolution_ns == 0)
        return time_ns;
    int64_t into_ns = time_ns % workload->resolution_ns;
    return time_ns - (into_ns < 0 ? into_ns + workload->resolution_ns : into_ns);
}

static void history_go_on(struct wl_history *history)
{
    double gap_ns = sim_exponential(&history->arrivals) * history->gap_ns;
    if (gap_ns < (double)(history->until_ns - history->next_ns))
        history->next_ns += (int64_t)gap_ns;
    else
        history->next_ns = INT64_MAX;
}

/* The number of the history's rows follows from its rate and its length; they are loaded at a constant
 * rate. */
static void history_begin(struct wl_history *history, const struct wl_workload *workload, uint64_t key_index)
{
    uint64_t seed = sim_hash(workload->seed, SIM_BACKFILL, key_index);
    sim_random_init(&history->arrivals, seed, SIM_ARRIVAL, key_index);
    sim_random_init(&history->ids, seed, SIM_ROW_ID, key_index);
    sim_random_init(&history->bytes, seed, SIM_ROW_BYTES, key_index);
    double share = sim_zipf_share(&workload->popularity, key_index);
    double faster = (double)workload->backfill_before_ns / (double)workload->backfill_lasts_ns;
    history->gap_ns = 1 / (workload->backfill_rate_per_s * share * faster * 1e-9);
    history->next_ns = workload->start_ns;
    history->until_ns = workload->start_ns + workload->backfill_lasts_ns;
    history_go_on(history);
}

void wl_rows_init(struct wl_rows *rows, const struct wl_workload *workload, uint64_t key_index)
{
    wl_key_init(&rows->live, workload, key_index);
    rows->lateness = (struct sim_random){{0}};
    if (workload->late_share > 0)
        sim_random_init(&rows->lateness, workload->seed, SIM_LATE, key_index);
    rows->history = (struct wl_history){.next_ns = INT64_MAX};
    if (workload->backfill_before_ns > 0)
        history_begin(&rows->history, workload, key_index);
}

static size_t take_live(struct wl_rows *rows, int64_t until_ns, size_t most, const struct wl_columns *out,
                        size_t at)
{
    const struct wl_workload *workload = rows->live.workload;
    size_t count =
        wl_key_rows(&rows->live, until_ns, most, out->times_ns + at, out->ids == NULL ? NULL : out->ids + at,
                    out->bytes == NULL ? NULL : out->bytes + at);
    if (out->late_ns == NULL)
        return count;
    double mean_ns = (double)workload->late_mean_ns;
    for (size_t i = at; i < at + count; i++) {
        out->late_ns[i] = 0;
        if (workload->late_share == 0 || sim_random_unit(&rows->lateness) >= workload->late_share)
            continue;
        double means = sim_exponential(&rows->lateness);
        out->late_ns[i] = (int64_t)((means < WL_LATE_MEANS_MAX ? means : WL_LATE_MEANS_MAX) * mean_ns);
    }
    return count;
}

/* The share of the loading time that has passed is the share of the history that was loaded, from either of
 * its ends. */
static int64_t history_late_ns(const struct wl_workload *workload, int64_t time_ns)
{
    int64_t since_ns = time_ns - workload->start_ns;
    int64_t into_ns = (int64_t)((wide)since_ns * workload->backfill_before_ns / workload->backfill_lasts_ns);
    bool is_reverse = workload->backfill_order == WL_REVERSE;
    return since_ns + (is_reverse ? into_ns + 1 : workload->backfill_before_ns - into_ns);
}

static void take_history(struct wl_rows *rows, const struct wl_columns *out, size_t at)
{
    const struct wl_workload *workload = rows->live.workload;
    struct wl_history *history = &rows->history;
    out->times_ns[at] = history->next_ns;
    if (out->ids != NULL)
        out->ids[at] = sim_random_next(&history->ids);
    if (out->bytes != NULL)
        wl_row_sizes(workload, &history->bytes, &out->bytes[at], 1);
    out->late_ns[at] = history_late_ns(workload, history->next_ns);
    history_go_on(history);
}

size_t wl_rows_next(struct wl_rows *rows, int64_t until_ns, size_t most, const struct wl_columns *out)
{
    size_t count = 0;
    for (;;) {
        int64_t history_ns = rows->history.next_ns;
        count += take_live(rows, history_ns < until_ns ? history_ns : until_ns, most - count, out, count);
        if (count == most || history_ns >= until_ns)
            return count;
        take_history(rows, out, count++);
    }
}
