/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives everything on a chart a place. In: a chart as data. Out: a scene of marks: the heading, the key and
 * the note, the body by the chart's form, and the foot. */
#include "pen.h"

static void put_heading(const struct report_chart *chart, struct report_pen *pen)
{
    report_pen_paragraph(pen, chart->title, REPORT_FONT_TITLE, 2);
    pen->y += chart->title[0] != 0 ? 3 : 0;
    report_pen_paragraph(pen, chart->subtitle, REPORT_FONT_SUBTITLE, 3);
    pen->y += chart->title[0] != 0 ? 10 : 0;
    report_pen_legend(pen, chart->legend, chart->legend_count, REPORT_FONT_LEGEND);
    if (chart->note != NULL) {
        report_pen_paragraph(pen, chart->note, REPORT_FONT_NOTE, 3);
        pen->y += 6;
    }
}

void report_layout(const struct report_chart *chart, double width, struct report_typesetter *typesetter,
                   struct report_arena *arena, struct report_scene *out)
{
    static void (*const bodies[])(const struct report_chart *, struct report_pen *) = {
        [REPORT_FORM_STACK] = report_layout_bars,  [REPORT_FORM_TABLE] = report_layout_table,
        [REPORT_FORM_LANES] = report_layout_lanes, [REPORT_FORM_CURVES] = report_layout_lines,
        [REPORT_FORM_FRONT] = report_layout_front, [REPORT_FORM_SUMMARY] = report_layout_summary};
    *out = (struct report_scene){.arena = arena, .typesetter = typesetter, .width = width};
    struct report_pen pen = {.scene = out, .y = REPORT_PAGE_MARGIN - 4};
    const bool is_summary = chart->form == REPORT_FORM_SUMMARY;
    if (!is_summary) {
        put_heading(chart, &pen);
    }
    bodies[chart->form](chart, &pen);
    if (!is_summary) {
        pen.y += chart->foot[0] != 0 ? 12 : 0;
        report_pen_paragraph(&pen, chart->foot, REPORT_FONT_FOOT, 2);
        pen.y += REPORT_PAGE_MARGIN - 6;
    }
    out->height = ceil(pen.y);
}
