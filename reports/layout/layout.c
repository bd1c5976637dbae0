/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lays out a chart as a scene: the heading and the key, the body according to the chart's form, and the
 * foot. */
#include "layout.h"

#include <math.h>

static void put_heading(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_box box;
    if (chart->title[0] != 0) {
        const struct report_type title = {chart->title, REPORT_FONT_TITLE, report_pen_content_width(pen), 2};
        box = report_pen_text(pen, &title, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
        pen->y = box.y + box.height + 3;
    }
    if (chart->subtitle[0] != 0) {
        const struct report_type subtitle = {chart->subtitle, REPORT_FONT_SUBTITLE,
                                             report_pen_content_width(pen), 3};
        box = report_pen_text(pen, &subtitle, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
        pen->y = box.y + box.height;
    }
    pen->y += chart->title[0] != 0 ? 10 : 0;
    report_pen_legend(pen, chart->legend, chart->legend_count);
    if (chart->note != NULL) {
        const struct report_type note = {chart->note, REPORT_FONT_NOTE, report_pen_content_width(pen), 3};
        box = report_pen_text(pen, &note, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
        pen->y = box.y + box.height + 6;
    }
}

static void put_foot(const struct report_chart *chart, struct report_pen *pen)
{
    if (chart->foot[0] == 0) {
        return;
    }
    const struct report_type foot = {chart->foot, REPORT_FONT_FOOT, report_pen_content_width(pen), 2};
    pen->y += 12;
    struct report_box box = report_pen_text(pen, &foot, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
    pen->y += box.height;
}

bool report_layout_wide(const struct report_chart *chart, double width, struct report_typesetter *typesetter,
                        struct report_arena *arena, struct report_scene *out, struct sim_error *error)
{
    *out = (struct report_scene){.arena = arena, .typesetter = typesetter, .width = width};
    struct report_pen pen = {.scene = out, .typesetter = typesetter, .y = REPORT_PAGE_MARGIN - 4};
    if (chart->form == REPORT_FORM_SUMMARY) {
        report_layout_summary(chart, &pen);
        out->height = ceil(pen.y);
        return arena->out_of_memory ? sim_fail_memory(error) : true;
    }
    put_heading(chart, &pen);
    if (chart->form == REPORT_FORM_TABLE) {
        report_layout_table(chart, &pen);
    } else if (chart->form == REPORT_FORM_LANES) {
        report_layout_lanes(chart, &pen);
    } else if (chart->form == REPORT_FORM_CURVES) {
        report_layout_curves(chart, &pen);
    } else if (chart->form == REPORT_FORM_FRONT) {
        report_layout_front(chart, &pen);
    } else if (chart->form == REPORT_FORM_HEATMAP) {
        report_layout_heatmap(chart, &pen);
    } else if (chart->form == REPORT_FORM_REGIONS) {
        report_layout_regions(chart, &pen);
    } else if (chart->form == REPORT_FORM_PANES) {
        report_layout_panes(chart, &pen);
    } else {
        report_layout_stack(chart, &pen);
    }
    put_foot(chart, &pen);
    out->height = ceil(pen.y + REPORT_PAGE_MARGIN - 6);
    return arena->out_of_memory ? sim_fail_memory(error) : true;
}

bool report_layout(const struct report_chart *chart, struct report_typesetter *typesetter,
                   struct report_arena *arena, struct report_scene *out, struct sim_error *error)
{
    return report_layout_wide(chart, REPORT_PAGE_WIDTH, typesetter, arena, out, error);
}
