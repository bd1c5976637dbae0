/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks a whole scenario against the limits of the engines. */
#include "lab/runnable.h"

#include <inttypes.h>

#include "lab/change.h"
#include "workload/rows.h"

/* Each key in progress has a cell per bucket. */
#define HASH_BUCKETS_MAX (UINT32_C(1) << 20)
/* If rows arrive late, each key in progress keeps all of its windows. */
#define WINDOWS_MAX (INT64_C(1) << 22)

/* Readers of a regime may read up to its end, or longer if agents get the next one late. */
static bool can_walk(const struct lab_regimes *regimes, int64_t birth_ns, int64_t end_ns)
{
    struct bk_history_reader reader;
    for (uint32_t i = 0; i < regimes->count; i++) {
        if (bk_history_read_latest(&regimes->items[i].history, NULL, end_ns, birth_ns, 1, BK_PLAN_DEFAULT,
                                   &reader) != BK_OK)
            return false;
    }
    return true;
}

/* A late row may open any window of the run, and of the time before it up to the largest lateness. */
static bool check_windows(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                          struct sim_error *error)
{
    const struct wl_workload *workload = &scenario->workload;
    int64_t window_ns = strategy->settings.strategy.of.time.window_ns;
    if (!wl_has_own_times(workload) || window_ns == 0 || workload->is_late_trace)
        return true; /* a key of a trace has at most one window per line */
    int64_t windows = workload->duration_ns / window_ns + wl_late_most_ns(workload) / window_ns;
    /* A key has at most one window per row, and at most twice the mean number of rows, with bursts and
     * spikes. */
    double rows = workload->rate_per_s * (double)workload->duration_ns +
                  workload->backfill_rate_per_s * (double)workload->backfill_before_ns;
    rows *= 2e-9 * sim_zipf_share(&workload->popularity, 0);
    if (windows <= WINDOWS_MAX || rows <= (double)WINDOWS_MAX)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%d:%d: with late rows the lab keeps every window of a key, here up to %" PRId64
                    "; use a longer window, or leave out late, resolution and backfill",
                    scenario->path, strategy->line, strategy->column, windows);
}

bool lab_check_walks(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                     struct sim_error *error)
{
    int64_t birth_ns = start_ns - wl_late_most_ns(&scenario->workload);
    for (size_t i = 0; scenario->reads.present && i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        struct lab_regimes regimes;
        if (strategy->settings.strategy.kind == BK_TIME && lab_regimes_make(strategy, start_ns, &regimes) &&
            !can_walk(&regimes, birth_ns, end_ns))
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "%s:%d:%d: a read may have to walk over more than %d windows back to the key's birth; "
                "use a longer window or leave reads out",
                scenario->path, strategy->line, strategy->column, BK_WALK_WINDOWS_MAX);
    }
    return true;
}

bool lab_check_trace_bytes(const struct lab_scenario *scenario, bool has_counts, struct sim_error *error)
{
    if (has_counts || !scenario->has_row_bytes)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%d:%d: 'bytes' conflicts with a trace whose lines have their own; remove it",
                    scenario->path, scenario->row_bytes_line, scenario->row_bytes_column);
}

bool lab_run_check(const struct lab_scenario *scenario, struct sim_error *error)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        if (strategy->settings.strategy.kind == BK_HASH &&
            strategy->settings.strategy.of.hash.buckets > HASH_BUCKETS_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: %u hash buckets are more than a run can hold; use at most %u",
                            scenario->path, strategy->line, strategy->column,
                            strategy->settings.strategy.of.hash.buckets, HASH_BUCKETS_MAX);
        if (strategy->settings.strategy.kind == BK_TIME && !check_windows(scenario, strategy, error))
            return false;
    }
    const struct wl_workload *workload = &scenario->workload;
    return scenario->trace_path != NULL ||
           lab_check_walks(scenario, workload->start_ns, workload->start_ns + workload->duration_ns, error);
}

const char *lab_thin_refusal(const struct lab_scenario *scenario)
{
    if (scenario->trace_path != NULL)
        return "a trace has its own rows";
    if (scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT)
        return "row.bytes differ from row to row";
    if (wl_has_own_times(&scenario->workload))
        return "rows are late, or have their own times";
    if (scenario->deletes.share > 0)
        return "rows are deleted one by one";
    if (scenario->design.is_given &&
        (!lab_design_is_plain(&scenario->design) || lab_design_clusters_by(&scenario->design, LAB_FEED_KEY)))
        return "the table's partitions need each row's columns";
    if (scenario->reads.kinds[LAB_READ_RANGE].rate_per_s > 0)
        return "reads of a range need the time of each row";
    if (scenario->reads.present && scenario->row_ttl_ns > 0)
        return "reads of rows that expire need the time of each row";
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (scenario->strategies[i].settings.change_count > 0)
            return "a strategy's settings change";
    }
    return NULL;
}

/* Measured: the mean number of rows in a segment at which `time` and `probabilistic` take as long. */
#define THINNED_SEGMENT_ROWS 32

bool lab_thin_is_faster(const struct lab_scenario *scenario, double rows)
{
    return rows >= THINNED_SEGMENT_ROWS * wl_segments(&scenario->workload);
}

bool lab_reads_can_be_expected(const struct lab_scenario *scenario)
{
    const struct lab_reads *reads = &scenario->reads;
    bool is_plain = scenario->engine != LAB_ENGINE_CLUSTER && reads->kinds[LAB_READ_LATEST].rate_per_s > 0 &&
                    reads->kinds[LAB_READ_RANGE].rate_per_s <= 0 &&
                    reads->kinds[LAB_READ_ALL].rate_per_s <= 0 && scenario->row_ttl_ns == 0 &&
                    !wl_has_own_times(&scenario->workload);
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_settings *settings = &scenario->strategies[i].settings;
        enum bk_plan plan = settings->reading.plan != BK_PLAN_DEFAULT ? settings->reading.plan
                                                                      : reads->kinds[LAB_READ_LATEST].plan;
        is_plain = is_plain && settings->change_count == 0 && !settings->reading.remembers_empty &&
                   plan != BK_PLAN_LAZY;
    }
    return is_plain;
}
