/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each chart of the run, under a heading, with a word on how to read it and what it shows as a table; and a
 * line on each that is left out. */
#include <string.h>

#include "page_svg.h"
#include "scene.h"
#include "sheet.h"

/* What a chart is made from: a kind of a result's, or the data of one of tune's. */
struct source {
    enum report_kind kind;
    const struct report_front *front;
    const struct report_heatmap *heatmap;
};

static bool write_source(struct report_sheet *sheet, const struct source *source, struct report_chart *left,
                         struct sim_error *error);
static bool make(const struct report_sheet *sheet, const struct source *source, struct report_arena *arena,
                 struct report_chart **out, struct sim_error *error);
static bool write_chart(struct report_sheet *sheet, const struct report_chart *chart,
                        struct report_arena *arena, struct sim_error *error);
static const char *heading_of(const struct report_sheet *sheet, const struct report_chart *chart);
static void write_absent(struct report_sheet *sheet, const struct report_chart *left, size_t count);

bool report_page_charts(struct report_sheet *sheet, struct sim_error *error)
{
    const struct report_page *page = sheet->page;
    struct source sources[REPORT_SUMMARY + 2];
    struct report_chart left[REPORT_SUMMARY + 2];
    size_t count = 0, absent = 0;
    if (page->front != NULL) {
        sources[count++] = (struct source){.front = page->front};
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

/* *left tells of a chart that has nothing to show: its name, title and why, in the sheet's arena. */
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

static bool make(const struct report_sheet *sheet, const struct source *source, struct report_arena *arena,
                 struct report_chart **out, struct sim_error *error)
{
    if (source->front == NULL && source->heatmap == NULL) {
        return report_chart_make(sheet->page->result, source->kind, arena, out, error);
    }
    *out = report_take(arena, 1, sizeof **out);
    if (*out != NULL && source->front != NULL) {
        (*out)->name = "tune-front";
        report_front_fill(source->front, arena, *out);
    } else if (*out != NULL) {
        (*out)->name = "tune-thresholds";
        report_heatmap_fill(source->heatmap, arena, *out);
    }
    return arena->out_of_memory ? sim_fail_memory(error) : true;
}

/* Title and foot stand in the page, and not in the picture once more. */
static bool write_chart(struct report_sheet *sheet, const struct report_chart *chart,
                        struct report_arena *arena, struct sim_error *error)
{
    const char *id = report_text(sheet->arena, "chart-%s", chart->name);
    const char *reading = report_page_reading(chart->name);
    struct report_chart bare = *chart;
    struct report_scene scene;
    bare.title = bare.subtitle = bare.foot = "";
    if (!report_layout(&bare, sheet->typesetter, arena, &scene, error)) {
        return false;
    }
    report_sheet_section(sheet, id, "chart", 3, heading_of(sheet, chart));
    report_sheet_open(sheet, "figure");
    if (!report_page_svg(sheet->writer, chart, &scene, report_text(sheet->arena, "%s-svg", id))) {
        sheet->is_fine = false;
    }
    report_sheet_close(sheet);
    if (reading != NULL) {
        report_sheet_open(sheet, "details");
        report_sheet_attribute(sheet, "class", "reading");
        report_sheet_leaf(sheet, "summary", "", "How to read it");
        report_sheet_leaf(sheet, "p", "", reading);
        report_sheet_close(sheet);
    }
    report_page_data(sheet, chart);
    report_sheet_close(sheet);
    return arena->out_of_memory ? sim_fail_memory(error) : true;
}

/* The page's own heading names the scenario. */
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
