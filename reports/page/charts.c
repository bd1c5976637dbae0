/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes each chart of the run under a heading, with a sentence on how to read it and its data as a table;
 * and a line for each chart that is left out. */
#include <string.h>

#include "reports/page.h"
#include "reports/scene.h"
#include "sheet.h"
#include "svg.h"

static const struct {
    const char *chart, *reading;
} readings[] = {
    {"partitions-rows",
     "Each strip is one strategy; the further right a bar stands, the more rows its partitions have, and the "
     "higher it is, the more partitions there are of that size. Hatched partitions are still open and will "
     "grow. "
     "The "
     "black line is what the exact distribution predicts; beyond the dashed line partitions exceed the "
     "limit."},
    {"partitions-bytes",
     "The same partitions, by their bytes on disk. Rows of unequal size make this distribution wider than "
     "that of rows: a partition of few rows can exceed a limit in bytes."},
    {"survival-rows", "One line per strategy: its height at a size is the share of partitions that are "
                      "larger. Where it crosses the limit, its height is the share over the limit; a line "
                      "that ends to the left stays within the limit. A vertical drop means that all "
                      "partitions have the same size. Dashed lines are the exact distributions."},
    {"survival-bytes",
     "The same partitions by their bytes on disk: how large the largest are, and how few they are."},
    {"timeline", "Each strip is one strategy, from left to right in time: a column is the partitions that "
                 "began in it, at their final sizes. A level line means that the load does not change their "
                 "sizes; the dark part spans the middle 80%, the pale part all. Hatched partitions are still "
                 "open, and small because they are young."},
    {"reads", "Each strip is one strategy; a bar at 3 is the share of reads that had to query three "
              "partitions. Further left is better: each partition is a separate request, and the slowest one "
              "decides how long the read takes."},
    {"costs", "One row per strategy, one column per cost; shorter bars are better. Where a heading says log "
              "scale, each "
              "step "
              "to the right is a multiple: compare the numbers, not the lengths. The tick next to a bar "
              "marks the 99th percentile."},
    {"nodes", "Each strip is one strategy, each bar one node with all of its data, replicas included; the "
              "line marks an even load. A bar far above the line is a node that got the few huge partitions; "
              "many small partitions spread evenly."},
    {"latency", "One panel per operation, one line per strategy: its height at 99% is the time within which "
                "99 of 100 operations were done. Each nine takes the same width, so the slowest few, which "
                "users remember, are not squeezed into the edge. Lower is better; where two lines diverge, "
                "one strategy waits for something that the other does not need."},
    {"bucket-changes",
     "Each lane is one agent, from left to right in time, coloured by the bucket that it believes the key to "
     "be in. Where lanes have different colours at one time, agents disagree, and rows may land in "
     "two partitions at once."},
    {"tune-front", "Each dot is a setting that was tried: the further left, the cheaper; the lower, the "
                   "smaller its large partitions. No setting beats those on the line in both; the "
                   "recommended one is the cheapest within the limits."},
    {"tune-regions",
     "The cheapest kind of strategy by two figures that you may know better than the scenario: the cost of a "
     "counter update, in inserts, and a multiple of the scenario's reads. The diamond is the scenario; the "
     "further it is from a line, the safer the choice of kind."},
    {"tune-thresholds",
     "One cell per setting: more bits to the right, a higher threshold further up. Light cells cost more, "
     "dark ones less; inside the line all limits are met, and the ring marks the recommended setting."},
};

const char *report_page_reading(const char *chart_name)
{
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        if (strcmp(readings[i].chart, chart_name) == 0) {
            return readings[i].reading;
        }
    }
    return NULL;
}

/* The width of a telephone's screen in CSS pixels. */
static const double narrow_width = 390;

/* The source of a chart: a kind of chart of a result, or the data of a chart of tune. */
struct source {
    enum report_kind kind;
    const struct report_front *front;
    const struct report_heatmap *heatmap;
    const struct report_regions *regions;
};

static bool make(const struct report_sheet *sheet, const struct source *source, struct report_arena *arena,
                 struct report_chart **out, struct sim_error *error)
{
    if (source->front == NULL && source->heatmap == NULL && source->regions == NULL) {
        return report_chart_make(sheet->page->result, source->kind, arena, out, error);
    }
    *out = report_take(arena, 1, sizeof **out);
    if (*out != NULL && source->front != NULL) {
        (*out)->name = "tune-front";
        report_front_fill(source->front, arena, *out);
    } else if (*out != NULL && source->regions != NULL) {
        (*out)->name = "tune-regions";
        report_regions_fill(source->regions, arena, *out);
    } else if (*out != NULL) {
        (*out)->name = "tune-thresholds";
        report_heatmap_fill(source->heatmap, arena, *out);
    }
    return arena->out_of_memory ? sim_fail_memory(error) : true;
}

/* Returns the heading of the chart without the scenario, which the page's heading names. */
static const char *heading_of(const struct report_sheet *sheet, const struct report_chart *chart)
{
    const char *name = report_clean(sheet->arena, sheet->page->result->scenario_name);
    const char *after = report_text(sheet->arena, ": %s", name);
    const char *before = report_text(sheet->arena, "%s: ", name);
    size_t length = strlen(chart->title);
    if (length > strlen(after) && strcmp(chart->title + length - strlen(after), after) == 0) {
        return report_text(sheet->arena, "%.*s", (int)(length - strlen(after)), chart->title);
    }
    if (length > strlen(before) && strncmp(chart->title, before, strlen(before)) == 0) {
        const char *rest = chart->title + strlen(before);
        char first = *rest >= 'a' && *rest <= 'z' ? (char)(*rest - 'a' + 'A') : *rest;
        return report_text(sheet->arena, "%c%s", first, rest + 1);
    }
    return chart->title;
}

/* Removes the hints of the narrow drawing. Its figures are in the table and in the CSV file, and a hint per
 * mark would double the size of the page. */
static void drop_hints(struct report_scene *scene)
{
    size_t kept = 0;
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->marks[i].shape != REPORT_SHAPE_HIT) {
            scene->marks[kept] = scene->marks[i];
            scene->marks[kept++].hint = NULL;
        }
    }
    scene->count = kept;
}

/* Returns whether a chart is among the first ones of the page. On a page of a run, all are; on a page of
 * tune, which has many large charts, only those that explain its answer. */
static bool is_first(const struct report_sheet *sheet, const struct report_chart *chart)
{
    static const char *const first[] = {"tune-front", "tune-regions", "tune-thresholds", "survival-rows"};
    bool is_first = sheet->page->front == NULL;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        is_first |= strcmp(first[i], chart->name) == 0;
    }
    return is_first;
}

/* The title and the foot are part of the page and are not repeated in the drawing. Each chart is drawn twice,
 * for a screen and for a telephone; the style sheet displays one of them. */
static bool write_chart(struct report_sheet *sheet, const struct report_chart *chart,
                        struct report_arena *arena, struct sim_error *error)
{
    const char *id = report_text(sheet->arena, "chart-%s", chart->name);
    const char *reading = report_page_reading(chart->name);
    struct report_chart bare = *chart;
    struct report_scene wide, narrow;
    bare.title = bare.subtitle = bare.foot = "";
    if (!report_layout(&bare, REPORT_PAGE_WIDTH, sheet->typesetter, arena, &wide, error) ||
        !report_layout(&bare, narrow_width, sheet->typesetter, arena, &narrow, error)) {
        return false;
    }
    drop_hints(&narrow);
    report_sheet_section(sheet, id, "chart", 3, heading_of(sheet, chart));
    report_sheet_open(sheet, "details");
    report_sheet_attribute(sheet, "class", "fold");
    if (is_first(sheet, chart)) {
        report_sheet_attribute(sheet, "open", "open");
    }
    report_sheet_summary(sheet, "Chart", heading_of(sheet, chart));
    report_sheet_open(sheet, "figure");
    sheet->is_fine &= report_page_svg(sheet->writer, chart, &wide, report_text(sheet->arena, "%s-svg", id));
    sheet->is_fine &=
        report_page_svg(sheet->writer, chart, &narrow, report_text(sheet->arena, "%s-narrow", id));
    report_sheet_close(sheet);
    report_page_csv(sheet, chart);
    if (reading != NULL) {
        report_sheet_open(sheet, "details");
        report_sheet_attribute(sheet, "class", "reading");
        report_sheet_summary(sheet, "How to read it", heading_of(sheet, chart));
        report_sheet_leaf(sheet, "p", "", reading);
        report_sheet_close(sheet);
    }
    report_page_data(sheet, chart);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    return arena->out_of_memory ? sim_fail_memory(error) : true;
}

/* Writes the chart. If it has nothing to show, sets the name, title and reason in *left instead; the texts
 * are in the sheet's arena. */
static bool write_source(struct report_sheet *sheet, const struct source *source, struct report_chart *left,
                         struct sim_error *error)
{
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart *chart;
    bool ok = make(sheet, source, &arena, &chart, error);
    if (ok && chart->absent != NULL) {
        left->name = report_text(sheet->arena, "%s", chart->name);
        left->title = report_text(sheet->arena, "%s", heading_of(sheet, chart));
        left->absent = report_text(sheet->arena, "%s", chart->absent);
    } else if (ok) {
        ok = write_chart(sheet, chart, &arena, error);
    }
    report_arena_free(&arena);
    return ok;
}

static void write_absent(struct report_sheet *sheet, const struct report_chart *left, size_t count)
{
    if (count == 0) {
        return;
    }
    report_sheet_open(sheet, "ul");
    report_sheet_attribute(sheet, "class", "absent");
    for (size_t i = 0; i < count; i++) {
        report_sheet_open(sheet, "li");
        report_sheet_attribute(sheet, "data-chart", left[i].name);
        report_sheet_leaf(sheet, "span", "", left[i].title);
        report_sheet_text(sheet, report_text(sheet->arena, " is left out: %s.", left[i].absent));
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
}

bool report_page_charts(struct report_sheet *sheet, struct sim_error *error)
{
    const struct report_page *page = sheet->page;
    struct source sources[REPORT_SUMMARY + 3];
    struct report_chart left[REPORT_SUMMARY + 3];
    size_t count = 0, absent = 0;
    if (page->front != NULL) {
        sources[count++] = (struct source){.front = page->front};
    }
    if (page->regions != NULL) {
        sources[count++] = (struct source){.regions = page->regions};
    }
    if (page->heatmap != NULL) {
        sources[count++] = (struct source){.heatmap = page->heatmap};
    }
    for (int kind = 0; kind < REPORT_SUMMARY; kind++) {
        sources[count++] = (struct source){.kind = (enum report_kind)kind};
    }
    report_sheet_section(sheet, "charts", "", 2, "Charts");
    sheet->is_fine = report_page_svg_patterns(sheet->writer) && sheet->is_fine;
    for (size_t i = 0; i < count; i++) {
        left[absent] = (struct report_chart){.absent = NULL};
        if (!write_source(sheet, &sources[i], &left[absent], error)) {
            return false;
        }
        absent += left[absent].absent != NULL;
    }
    write_absent(sheet, left, absent);
    report_sheet_close(sheet);
    return true;
}
