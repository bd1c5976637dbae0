/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chart.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "format.h"
#include "kernel/time.h"

static void fill_heading(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart);
static const char *source_of_numbers(struct report_arena *arena, const struct lab_strategy_result *result);
static const char *settings_of_idgen(struct report_arena *arena, const struct bk_idgen_config *config);
static const char *settings_of_kind(struct report_arena *arena, const struct bk_strategy *strategy);
static const char *source_of(struct report_arena *arena, const char *source);

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

bool report_chart_make(const struct lab_result *result, enum report_kind kind, struct report_arena *arena,
                       struct report_chart **out, struct sim_error *error)
{
    *out = NULL;
    struct report_chart *chart = report_take(arena, 1, sizeof *chart);
    if (chart != NULL) {
        fills[kind](result, arena, chart);
        fill_heading(result, arena, chart);
        if (chart->absent != NULL && result->strategy_count > 0 && result->strategies[0].is_idgen) {
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

void report_legend_add(struct report_chart *chart, enum report_ink ink, const char *text)
{
    assert(chart->legend_count < REPORT_LEGEND_MAX);
    chart->legend[chart->legend_count++] = (struct report_legend){.ink = ink, .text = text};
}

const char *report_settings(struct report_arena *arena, const struct lab_strategy_result *result)
{
    const struct bk_strategy *strategy = &result->strategy;
    if (result->is_idgen) {
        return settings_of_idgen(arena, &result->idgen);
    }
    if (result->observed != WL_OBSERVED_AUTO) {
        return report_text(arena, "%s of %s%s%s", wl_observed_format_name(result->observed),
                           report_clean(arena, result->observed_table),
                           result->observed_table[0] == 0 ? "" : " in ",
                           report_clean(arena, result->observed_file));
    }
    const char *settings = settings_of_kind(arena, strategy);
    if (strategy->kind == BK_COUNT) {
        settings = report_text(arena, "%s%s", settings, source_of_numbers(arena, result));
    }
    if (strategy->max_age_ns == 0) {
        return settings;
    }
    return report_text(arena, "%s, at most %s", settings, report_duration(arena, strategy->max_age_ns));
}

static const char *source_of_numbers(struct report_arena *arena, const struct lab_strategy_result *result)
{
    const char *every =
        result->every_rows > 0
            ? report_text(arena, "%s rows", report_exact(arena, result->every_rows, REPORT_ROWS))
            : report_duration(arena, result->every_ns);
    switch (result->source) {
    case BK_SOURCE_EXTERNAL:
        break;
    case BK_SOURCE_COUNTER:
        return ", numbers of a counter column";
    case BK_SOURCE_LWT:
        return ", numbers by LWT";
    case BK_SOURCE_LEASE:
        return report_text(arena, ", numbers leased by %s",
                           report_exact(arena, result->lease_rows, REPORT_ROWS));
    case BK_SOURCE_INCREMENTAL:
        return report_text(arena, ", new ones counted every %s", every);
    case BK_SOURCE_SCAN:
        return report_text(arena, ", all counted every %s", every);
    case BK_SOURCE_MEMORY:
        return ", counted by their writer";
    }
    return "";
}

static const char *settings_of_idgen(struct report_arena *arena, const struct bk_idgen_config *config)
{
    static const char *const locks[] = {"columns", "conditional updates"};
    static const char *const backoffs[] = {"constant", "exponential", "random"};
    return report_text(arena, "batches of %s, %s stripe%s, a lock of %s, back-off %s from %s",
                       report_exact(arena, config->batch, REPORT_ROWS),
                       report_exact(arena, config->stripes, REPORT_ROWS), config->stripes == 1 ? "" : "s",
                       locks[config->lock], backoffs[config->backoff],
                       report_duration(arena, config->backoff_base_ns));
}

static const char *settings_of_kind(struct report_arena *arena, const struct bk_strategy *strategy)
{
    static const char *const calendars[] = {"", "hour", "day", "week", "month"};
    switch (strategy->kind) {
    case BK_NONE:
        return "one partition a key, for ever";
    case BK_TIME:
        if (strategy->of.time.calendar != BK_CALENDAR_NONE) {
            return report_text(arena, "calendar %s, UTC", calendars[strategy->of.time.calendar]);
        }
        return report_text(arena, "windows of %s", report_duration(arena, strategy->of.time.window_ns));
    case BK_COUNT:
        return report_text(arena, "%s rows", report_exact(arena, strategy->of.count.rows, REPORT_ROWS));
    case BK_PROBABILISTIC: {
        const char *threshold = report_exact(arena, strategy->of.probabilistic.threshold, REPORT_ROWS);
        if (strategy->of.probabilistic.chance_denominator != 0) {
            return report_text(
                arena, "chance %s/%s, threshold %s",
                report_exact(arena, strategy->of.probabilistic.chance_numerator, REPORT_ROWS),
                report_exact(arena, strategy->of.probabilistic.chance_denominator, REPORT_ROWS), threshold);
        }
        return report_text(arena, "%" PRIu32 " bit%s, threshold %s", strategy->of.probabilistic.bits,
                           strategy->of.probabilistic.bits == 1 ? "" : "s", threshold);
    }
    case BK_HASH:
        return report_text(arena, "%s bucket%s", report_exact(arena, strategy->of.hash.buckets, REPORT_ROWS),
                           strategy->of.hash.buckets == 1 ? "" : "s");
    case BK_WEIGHTED:
        return report_text(arena, "1 in %s, threshold %s",
                           report_exact(arena, strategy->of.weighted.bytes, REPORT_BYTES),
                           report_exact(arena, strategy->of.weighted.threshold, REPORT_ROWS));
    case BK_KIND_COUNT:
        break;
    }
    return "";
}

void report_panel_name(struct report_arena *arena, const struct lab_strategy_result *strategy,
                       struct report_panel *panel)
{
    const char *kind = lab_result_kind(strategy);
    panel->label = report_clean(arena, strategy->label);
    panel->detail = report_settings(arena, strategy);
    if (strategy->label != NULL && strcmp(strategy->label, kind) != 0) {
        panel->detail = report_text(arena, "%s: %s", kind, panel->detail);
    }
}

bool report_metric(const struct lab_strategy_result *strategy, const char *name, double *out)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    *out = metric != NULL ? metric->value : 0;
    return metric != NULL;
}

static void fill_heading(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    chart->start_ns = result->start_ns;
    chart->title = report_text(arena, "%s: %s", chart->title, report_clean(arena, result->scenario_name));
    if (lab_result_is_observed(result)) {
        chart->subtitle = "observed; no rows were made";
        chart->foot = report_text(arena, "digest %016" PRIx64, result->digest);
        return;
    }
    const bool is_idgen = result->strategy_count > 0 && result->strategies[0].is_idgen;
    chart->subtitle =
        is_idgen ? report_text(arena, "%zu way%s of handing out identifiers · seed %" PRIu64,
                               result->strategy_count, result->strategy_count == 1 ? "" : "s", result->seed)
                 : report_text(arena, "%zu strateg%s %s row%s of %s key%s · %s · seed %" PRIu64,
                               result->strategy_count,
                               result->strategy_count == 1 ? "y over" : "ies over the same",
                               report_number(arena, (double)result->rows), result->rows == 1 ? "" : "s",
                               report_number(arena, (double)result->keys), result->keys == 1 ? "" : "s",
                               source_of(arena, result->source), result->seed);
    char start[SIM_TIME_TEXT_SIZE];
    char end[SIM_TIME_TEXT_SIZE];
    sim_time_format(result->start_ns, start);
    sim_time_format(result->end_ns, end);
    chart->foot =
        report_text(arena, "digest %016" PRIx64 " · virtual time %s to %s", result->digest, start, end);
}

/* No folder of the machine gets into a picture. */
static const char *source_of(struct report_arena *arena, const char *source)
{
    if (source == NULL || strcmp(source, "made") == 0) {
        return "made workload";
    }
    const char *slash = strrchr(source, '/');
    return report_text(arena, "trace %s", report_clean(arena, slash != NULL ? slash + 1 : source));
}
