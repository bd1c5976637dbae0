/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The books of a run: each row of the workload is in a partition, was refused, or its outcome is unknown. A
 * run whose figures do not add up must not be shown, since its table would look like any other. */
#include <inttypes.h>

#include "lab/disk.h"
#include "lab/scenario.h"
#include "lab/result_make.h"

/* Counts of rows are below 2^53, so they are exact. */
static uint64_t count_of(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? 0 : (uint64_t)metric->value;
}

/* Whether the sizes of the partitions have the rows that were placed, less those that a table replaced, and
 * whether those rows are live, expired or deleted. */
static bool are_sizes_whole(const struct lab_scenario *scenario, const struct lab_strategy_result *strategy,
                            const struct lab_disk_windows *windows)
{
    const uint64_t placed = count_of(strategy, "writes.placed"),
                   kept = placed - count_of(strategy, "rows.overwritten");
    const lab_wide sum = strategy->closed_rows.sum + strategy->open_rows.sum;
    const bool is_once = count_of(strategy, "writes.duplicated") == 0;
    const uint64_t left = count_of(strategy, "rows.live") + count_of(strategy, "rows.deleted") +
                          count_of(strategy, "rows.expired");
    /* Where rows leave the disk during the run, sizes are the largest over time. */
    const bool is_whole = windows->window_ns != 0 ? sum <= kept || !is_once
                          : is_once               ? sum == kept
                                                  : sum > kept;
    return is_whole && (kept == 0 || sum > 0) &&
           (!lab_rows_go(scenario) || (is_once ? left == placed : left > placed));
}

bool lab_books_check(const struct lab_scenario *scenario, const struct lab_result *result,
                     struct sim_error *error)
{
    for (size_t i = 0; i < result->strategy_count && !scenario->identifiers.present; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        struct lab_disk_windows windows;
        lab_disk_windows_init(&windows, scenario, &scenario->strategies[i], result->start_ns, result->end_ns);
        const uint64_t written = count_of(strategy, "writes.rows"),
                       placed = count_of(strategy, "writes.placed"),
                       refused = count_of(strategy, "writes.refused"),
                       unresolved = count_of(strategy, "writes.unresolved");
        /* With ANY, an acknowledged row may be in a hint only. */
        const bool is_hinted =
            scenario->engine == LAB_ENGINE_CLUSTER && scenario->consistency.write == CASS_ANY;
        const uint64_t missing = is_hinted ? written - refused : unresolved;
        if (written == result->rows && placed + refused <= written && placed + refused + missing >= written &&
            are_sizes_whole(scenario, strategy, &windows))
            continue;
        const lab_wide sum = strategy->closed_rows.sum + strategy->open_rows.sum;
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "strategy '%s' does not account for all rows: %" PRIu64 " of the workload, %" PRIu64
                        " placed, %" PRIu64 " refused, %" PRIu64 " unresolved, %" PRIu64
                        " in the sizes of partitions; this is a defect of bucketlab, so the run has no "
                        "result; please report it with the scenario",
                        strategy->label, result->rows, placed, refused, unresolved, (uint64_t)sum);
    }
    return true;
}
