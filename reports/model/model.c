/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the charts of a result. In: a result, and which chart; or the settings that `tune` tried. Out: the
 * chart as data, with the heading that all charts have; and what the files of the charts share. */
#include "reports/model.h"

#include <assert.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/judgment.h"
#include "parts.h"

/* `reading`: how to read the chart, in two or three sentences; a summary is not in a page. */
static const struct {
    const char *name, *title;
    enum report_form form;
    bool is_bytes;
    report_fill *fill;
    const char *reading;
} kinds[REPORT_KIND_COUNT] = {
    [REPORT_PARTITIONS_ROWS] =
        {"partitions-rows", "Rows per partition", REPORT_FORM_STACK, false, report_partitions_fill,
         "Each strip is one strategy; the further right a bar stands, the more rows its partitions have, and "
         "the higher it is, the more partitions there are of that size. Hatched partitions are still open "
         "and "
         "will grow. The black line is what the exact distribution predicts; beyond the dashed line "
         "partitions"
         " exceed the limit."},
    [REPORT_PARTITIONS_BYTES] = {"partitions-bytes", "Bytes per partition", REPORT_FORM_STACK, true,
                                 report_partitions_fill,
                                 "The same partitions, by their bytes on disk. Rows of unequal size make "
                                 "this distribution wider than "
                                 "that of rows: a partition of few rows can exceed a limit in bytes."},
    [REPORT_SURVIVAL_ROWS] =
        {"survival-rows", "Partitions larger than x rows", REPORT_FORM_CURVES, false, report_survival_fill,
         "One line per strategy: its height at a size is the share of partitions that are larger. Where it "
         "crosses the limit, its height is the share over the limit; a line that ends to the left stays "
         "within"
         " the limit. A vertical drop means that all partitions have the same size. Dashed lines are the "
         "exact"
         " distributions."},
    [REPORT_SURVIVAL_BYTES] =
        {"survival-bytes", "Partitions larger than x bytes", REPORT_FORM_CURVES, true, report_survival_fill,
         "The same partitions by their bytes on disk: how large the largest are, and how few they are."},
    [REPORT_TIMELINE] =
        {"timeline", "", REPORT_FORM_STACK, false, report_timeline_fill,
         "Each strip is one strategy, from left to right in time: a column is the partitions that began in "
         "it,"
         " at their final sizes. A level line means that the load does not change their sizes; the dark part "
         "spans the middle 80%, the pale part all. Hatched partitions are still open, and small because they "
         "are young."},
    [REPORT_READS] =
        {"reads", "Partitions per read", REPORT_FORM_STACK, false, report_reads_fill,
         "Each strip is one strategy; a bar at 3 is the share of reads that had to query three partitions. "
         "Further left is better: each partition is a separate request, and the slowest one decides how long "
         "the read takes."},
    [REPORT_COSTS] =
        {"costs", "What each strategy costs", REPORT_FORM_TABLE, false, report_costs_fill,
         "One row per strategy, one column per cost; shorter bars are better. Where a heading says log "
         "scale, "
         "each step to the right is a multiple: compare the numbers, not the lengths. The tick next to a bar "
         "marks the 99th percentile."},
    [REPORT_NODES] =
        {"nodes", "Load per node", REPORT_FORM_STACK, false, report_nodes_fill,
         "Each strip is one strategy, each bar one node with all of its data, replicas included; the line "
         "marks an even load. A bar far above the line is a node that got the few huge partitions; many "
         "small "
         "partitions spread evenly."},
    [REPORT_LATENCY] =
        {"latency", "Latency by percentile", REPORT_FORM_CURVES, false, report_latency_fill,
         "One panel per operation, one line per strategy: its height at 99% is the time within which 99 of "
         "100"
         " operations were done. Each nine takes the same width, so the slowest few, which users remember, "
         "are"
         " not squeezed into the edge. Lower is better; where two lines diverge, one strategy waits for "
         "something that the other does not need."},
    [REPORT_BUCKET_CHANGES] = {"bucket-changes", "Each agent's view of a key's bucket", REPORT_FORM_LANES,
                               false, report_changes_fill,
                               "Each lane is one agent, from left to right in time, coloured by the bucket "
                               "that it believes the key "
                               "to be in. Where lanes have different colours at one time, agents disagree, "
                               "and rows may land in two "
                               "partitions at once."},
    [REPORT_SUMMARY] = {"summary", "Which strategy", REPORT_FORM_SUMMARY, false, report_summary_fill, ""},
};

const struct lab_histogram *report_sizes(const struct lab_strategy_result *strategy, bool is_bytes,
                                         enum lab_partition_state state)
{
    return state == LAB_CLOSED ? (is_bytes ? &strategy->closed_bytes : &strategy->closed_rows)
                               : (is_bytes ? &strategy->open_bytes : &strategy->open_rows);
}

bool report_distribution(const struct lab_strategy_result *strategy, bool is_bytes,
                         struct tune_distribution *out)
{
    const struct bk_strategy *settings = &strategy->settings.strategy;
    if (is_bytes || settings->kind != BK_KIND_PROBABILISTIC || settings->max_age_ns != 0 ||
        strategy->closed_rows.count < REPORT_CLOSED_MIN)
        return false;
    *out = tune_distribution_of(settings, 1);
    return true;
}

uint64_t report_limit_shown(uint64_t limit, uint64_t most)
{
    return limit != 0 && limit / 100 <= most && limit < UINT64_MAX / 2 ? limit + limit / 2 : 0;
}

void report_legend_add(struct report_chart *chart, enum report_ink ink, const char *text)
{
    assert(chart->legend_count < REPORT_LEGEND_MAX);
    chart->legend[chart->legend_count++] = (struct report_legend){.ink = ink, .text = text};
}

const char *report_limit_text(struct report_arena *arena, uint64_t limit, bool is_bytes)
{
    return report_text(arena, "%s%s", report_exact(arena, limit, is_bytes ? REPORT_BYTES : REPORT_ROWS),
                       is_bytes ? "" : " rows");
}

void report_limit_legend(struct report_arena *arena, struct report_chart *chart, uint64_t limit,
                         bool is_bytes, bool is_shown)
{
    report_legend_add(chart, REPORT_INK_OVER,
                      report_text(arena, "over the limit of %s%s", report_limit_text(arena, limit, is_bytes),
                                  is_shown ? "" : ", which is beyond the axis"));
}

struct lab_bin *report_sorted(struct report_arena *arena, const struct lab_histogram *histogram,
                              size_t *count)
{
    struct lab_bin *bins = report_take(arena, histogram->used, sizeof *bins);
    struct lab_bin *sorted = lab_histogram_sorted(histogram, count);
    if (sorted == NULL && histogram->used > 0)
        g_error("no memory for the bins of a histogram");
    if (*count > 0)
        memcpy(bins, sorted, *count * sizeof *bins);
    free(sorted);
    return bins;
}

void report_figures_add(struct report_arena *arena, struct report_panel *panel,
                        const struct report_figure *figures, size_t count)
{
    if (panel->figures == NULL)
        panel->figures = report_take(arena, REPORT_FIGURES_MAX, sizeof *panel->figures);
    for (size_t i = 0; i < count; i++) {
        assert(panel->figure_count < REPORT_FIGURES_MAX);
        panel->figures[panel->figure_count++] = figures[i];
    }
}

void report_metric_add(struct report_arena *arena, struct report_panel *panel,
                       const struct lab_strategy_result *strategy, const char *name, const char *metric,
                       enum report_unit unit, enum report_alarm alarm, bool is_key)
{
    double value;
    if (report_metric(strategy, metric, &value) && (value > 0 || alarm != REPORT_ALARM_ONLY)) {
        const struct report_figure figure = {name, report_size(arena, value, unit),
                                             alarm != REPORT_NO_ALARM && value > 0, is_key};
        report_figures_add(arena, panel, &figure, 1);
    }
}

/* Charts give the name of the source file without its folder. */
static const char *source_of(struct report_arena *arena, const char *source)
{
    if (source == NULL || strcmp(source, "synthetic") == 0)
        return "synthetic workload";
    const char *slash = strrchr(source, '/');
    return report_text(arena, "trace %s", report_clean(arena, slash != NULL ? slash + 1 : source));
}

static void fill_heading(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    chart->start_ns = result->start_ns;
    chart->heading = chart->title;
    chart->title = report_text(arena, "%s: %s", chart->title, report_clean(arena, result->scenario_name));
    if (lab_result_is_observed(result)) {
        chart->subtitle = "observed; no rows were generated";
        chart->foot = report_text(arena, "digest %016" PRIx64, result->digest);
        return;
    }
    const bool is_idgen = result->strategy_count > 0 && result->strategies[0].settings.is_idgen;
    size_t observed = 0; /* of other rows than the strategies that were run */
    for (size_t i = 0; i < result->strategy_count; i++)
        observed += result->strategies[i].settings.observed != WL_OBSERVED_AUTO;
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

struct report_chart *report_chart_make(const struct lab_result *result, enum report_kind kind,
                                       struct report_arena *arena)
{
    struct report_chart *chart = report_take(arena, 1, sizeof *chart);
    *chart = (struct report_chart){.name = kinds[kind].name,
                                   .title = kinds[kind].title,
                                   .reading = kinds[kind].reading,
                                   .form = kinds[kind].form,
                                   .is_bytes = kinds[kind].is_bytes};
    kinds[kind].fill(result, arena, chart);
    fill_heading(result, arena, chart);
    if (chart->absent != NULL && result->strategy_count > 0 && result->strategies[0].settings.is_idgen)
        chart->absent = "identifiers have no partitions";
    assert(chart->absent != NULL || chart->panel_count + chart->column_count > 0);
    return chart;
}

/* --- the settings that tune tried: cost over size, both on log axes */

/* Adds entries to the key for the kinds of spots that the chart has. */
static void add_spots_key(struct report_arena *arena, struct report_chart *chart)
{
    const struct report_panel *panel = &chart->panels[0];
    bool has_front = false, has_others = false;
    for (size_t i = 0; i < panel->spot_count; i++) {
        const struct report_spot *spot = &panel->spots[i];
        has_front |= spot->is_on_front && !spot->is_chosen;
        has_others |= !spot->is_on_front && !spot->is_chosen;
    }
    if (panel->spots[0].is_chosen)
        report_legend_add(chart, REPORT_INK_CHOSEN,
                          report_text(arena, "recommended: %s", panel->spots[0].label));
    if (has_front)
        report_legend_add(chart, REPORT_INK_LINE, "on the front");
    if (has_others)
        report_legend_add(chart, REPORT_INK_PALE, "not on the front");
}

/* "9 bits, threshold 40; cost in inserts per 1000 rows: 1.95; bytes of partitions, p99: 158 (150 to 160);
 * recommended, on the front". */
static const char *spot_hint(const struct report_front_point *point, const char *label, bool is_chosen,
                             const char *cost, const char *bytes, struct report_arena *arena)
{
    const char *range = point->low < point->high
                            ? report_text(arena, " (%s to %s)", report_full(arena, point->low),
                                          report_full(arena, point->high))
                            : "";
    return report_text(arena, "%s; %s: %s; %s: %s%s; %s%son the front", label, cost,
                       report_full(arena, point->cost), bytes, report_full(arena, point->bytes), range,
                       is_chosen ? "recommended, " : "", point->is_on_front ? "" : "not ");
}

struct report_chart *report_front_make(const struct report_front *front, struct report_arena *arena)
{
    static const struct report_curves_axis x = {"cost in inserts per 1000 rows", REPORT_UNIT_PLAIN,
                                                REPORT_LOG},
                                           y = {"bytes of partitions, p99", REPORT_UNIT_BYTES, REPORT_LOG};
    struct report_chart *chart = report_take(arena, 1, sizeof *chart);
    struct report_panel *panel = report_take(arena, 1, sizeof *panel);
    *panel = (struct report_panel){.label = "", .detail = "", .note = ""};
    struct report_extremes xs = report_no_extremes, ys = report_no_extremes;
    assert(front->count >= 1 && front->count <= REPORT_FRONT_MAX);
    *chart = (struct report_chart){
        .name = "tune-front",
        .form = REPORT_FORM_FRONT,
        .panels = panel,
        .panel_count = 1,
        .heading = "The settings that stay within the limits",
        .title = report_text(arena, "%s: the settings that stay within the limits",
                             report_clean(arena, front->scenario)),
        .subtitle = "what they cost, and how large their partitions are",
        .foot = "means over seeds with intervals; less is better in both",
        .reading = "Each dot is a setting that was tried: the further left, the cheaper; the lower, the "
                   "smaller its large partitions. No setting beats those on the line in both; the "
                   "recommended one is the cheapest within the limits."};
    for (size_t i = 0; i < front->count; i++) {
        const struct report_front_point *point = &front->points[i];
        assert(point->cost >= 0 && point->cost <= REPORT_VALUE_MAX && point->low >= 0 &&
               point->low <= point->bytes && point->bytes <= point->high && point->high <= REPORT_VALUE_MAX);
        report_extremes_meet(&xs, point->cost);
        report_extremes_meet(&ys, point->low);
        report_extremes_meet(&ys, point->bytes);
        report_extremes_meet(&ys, point->high);
    }
    report_scale_fill(&x, &xs, arena, &chart->x);
    report_scale_fill(&y, &ys, arena, &panel->y);
    panel->spots = report_take(arena, front->count, sizeof *panel->spots);
    for (size_t i = 0; i < front->count; i++) {
        const struct report_front_point *point = &front->points[i];
        const bool is_chosen = front->has_recommended && i == 0;
        const char *label = report_clean(arena, point->label);
        panel->spots[panel->spot_count++] =
            (struct report_spot){.label = label,
                                 .x = report_at(&chart->x, point->cost),
                                 .y = report_at(&panel->y, point->bytes),
                                 .low = report_at(&panel->y, point->low),
                                 .high = report_at(&panel->y, point->high),
                                 .is_on_front = point->is_on_front,
                                 .is_best = point->is_best,
                                 .is_chosen = is_chosen,
                                 .hint = spot_hint(point, label, is_chosen, x.title, y.title, arena)};
    }
    add_spots_key(arena, chart);
    return chart;
}
