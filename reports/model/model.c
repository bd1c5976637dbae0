/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a result: the table of functions that fill them, and their common heading. */
#include "reports/model.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "kernel/time.h"
#include "reports/format.h"

typedef void fill_chart(const struct lab_result *result, struct report_arena *arena,
                        struct report_chart *chart);

static fill_chart *const fills[REPORT_KIND_COUNT] = {
    [REPORT_PARTITIONS_ROWS] = report_rows_fill,
    [REPORT_PARTITIONS_BYTES] = report_bytes_fill,
    [REPORT_SURVIVAL_ROWS] = report_survival_rows_fill,
    [REPORT_SURVIVAL_BYTES] = report_survival_bytes_fill,
    [REPORT_TIMELINE] = report_timeline_fill,
    [REPORT_READS] = report_reads_fill,
    [REPORT_COSTS] = report_costs_fill,
    [REPORT_NODES] = report_nodes_fill,
    [REPORT_LATENCY] = report_latency_fill,
    [REPORT_BUCKET_CHANGES] = report_changes_fill,
    [REPORT_SUMMARY] = report_summary_fill,
};

/* Charts give the name of the source file without its folder. */
static const char *source_of(struct report_arena *arena, const char *source)
{
    if (source == NULL || strcmp(source, "synthetic") == 0) {
        return "synthetic workload";
    }
    const char *slash = strrchr(source, '/');
    return report_text(arena, "trace %s", report_clean(arena, slash != NULL ? slash + 1 : source));
}

static void fill_heading(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    chart->start_ns = result->start_ns;
    chart->title = report_text(arena, "%s: %s", chart->title, report_clean(arena, result->scenario_name));
    if (lab_result_is_observed(result)) {
        chart->subtitle = "observed; no rows were generated";
        chart->foot = report_text(arena, "digest %016" PRIx64, result->digest);
        return;
    }
    const bool is_idgen = result->strategy_count > 0 && result->strategies[0].settings.is_idgen;
    size_t observed = 0; /* of other rows than the strategies that were run */
    for (size_t i = 0; i < result->strategy_count; i++) {
        observed += result->strategies[i].settings.observed != WL_OBSERVED_AUTO;
    }
    const size_t run = result->strategy_count - observed;
    chart->subtitle =
        is_idgen ? report_text(arena, "%zu design%s of identifiers · seed %" PRIu64, result->strategy_count,
                               result->strategy_count == 1 ? "" : "s", result->seed)
                 : report_text(arena, "%zu strateg%s %s row%s of %s key%s · %s · seed %" PRIu64 "%s", run,
                               run == 1 ? "y over" : "ies over the same",
                               report_number(arena, (double)result->rows), result->rows == 1 ? "" : "s",
                               report_number(arena, (double)result->keys), result->keys == 1 ? "" : "s",
                               source_of(arena, result->source), result->seed,
                               observed == 0 ? "" : report_text(arena, " · and %zu observed", observed));
    char start[SIM_TIME_TEXT_SIZE];
    char end[SIM_TIME_TEXT_SIZE];
    sim_time_format(result->start_ns, start);
    sim_time_format(result->end_ns, end);
    chart->foot =
        report_text(arena, "digest %016" PRIx64 " · virtual time %s to %s", result->digest, start, end);
}

bool report_chart_make(const struct lab_result *result, enum report_kind kind, struct report_arena *arena,
                       struct report_chart **out, struct sim_error *error)
{
    *out = NULL;
    struct report_chart *chart = report_take(arena, 1, sizeof *chart);
    if (chart != NULL) {
        fills[kind](result, arena, chart);
        fill_heading(result, arena, chart);
        if (chart->absent != NULL && result->strategy_count > 0 && result->strategies[0].settings.is_idgen) {
            chart->absent = "identifiers have no partitions";
        }
    }
    if (arena->out_of_memory) {
        return sim_fail_memory(error);
    }
    assert(chart->absent != NULL || chart->panel_count + chart->column_count + chart->line_count > 0);
    *out = chart;
    return true;
}
