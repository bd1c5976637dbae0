/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of panels of lanes over time, one below the other. A panel has names on the left, lanes, and key
 * figures on the right. Above the lanes are the moments and the stages between them. Each panel has its own
 * time axis. */
#include "pen.h"

static const double plot_left = 84;
static const double plot_width = 522;
static const double panel_gap = 15;
/* A strip above the lanes marks disagreement, so that it is visible even where there is no room between
 * lanes. */
static const double strip_height = 3;
/* The greatest height of all panels together: Cairo limits the height of an image to 32767 pixels. */
static const double stack_height_max = 15000;
static const double panel_head_height = 118;

/* A few lanes are thick. Many lanes still fit on a slide, and many panels on a page. */
static double pitch_of(size_t lane_count, size_t panel_count)
{
    double pitch = lane_count <= 4    ? 20
                   : lane_count <= 8  ? 17
                   : lane_count <= 16 ? 13
                   : lane_count <= 32 ? 9
                                      : 6.5;
    double most = (stack_height_max / (double)panel_count - panel_head_height) / (double)lane_count;
    pitch = fmin(pitch, floor(2 * most) / 2);
    return fmax(pitch, 1);
}

/* Puts the names of the stages that are wide enough for them. Returns the y where the plot of the lanes
 * begins. */
static double put_stages(const struct report_panel *panel, const struct report_frame *frame,
                         struct report_pen *pen)
{
    const double top = frame->box.y;
    for (size_t i = 0; i < panel->stage_count; i++) {
        const struct report_stage *stage = &panel->stages[i];
        const double from = report_frame_x(frame, stage->from);
        const double to = report_frame_x(frame, stage->to);
        if (to - from >= report_pen_width(pen, stage->text, REPORT_FONT_STAGE) + 4) {
            report_pen_say(pen, stage->text, REPORT_FONT_STAGE, REPORT_CENTRE, (from + to) / 2, top);
        }
    }
    return top + report_pen_height(pen, REPORT_FONT_STAGE) + 3;
}

/* The shade is drawn behind the lanes and the strip above them. */
static void put_bands(const struct report_panel *panel, const struct report_frame *frame,
                      struct report_pen *pen)
{
    for (size_t i = 0; i < panel->band_count; i++) {
        const double from = report_snap(report_frame_x(frame, panel->bands[i].from));
        /* A short band is at least one pixel wide. */
        const double to = fmax(report_snap(report_frame_x(frame, panel->bands[i].to)), from + 1);
        const struct report_box shade = {from, frame->box.y, to - from, frame->box.height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, panel->bands[i].ink, shade);
        const struct report_box strip = {from, frame->box.y, to - from, strip_height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ALARM, strip);
    }
}

static void put_lane(const struct report_lane *lane, const struct report_frame *frame, double top,
                     double pitch, struct report_pen *pen)
{
    const double gap = fmin(fmax(report_snap(pitch * 0.28), 0.5), 4);
    for (size_t i = 0; i < lane->span_count; i++) {
        const struct report_span *span = &lane->spans[i];
        const double from = report_snap(report_frame_x(frame, span->from));
        const double to = fmax(report_snap(report_frame_x(frame, span->to)), from + 0.5);
        const struct report_box box = {from, report_snap(top + gap / 2), to - from, pitch - gap};
        report_pen_area(pen, span->ink, box)->hint = span->hint;
    }
}

static void put_lanes(const struct report_panel *panel, const struct report_frame *frame, double pitch,
                      struct report_pen *pen)
{
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    /* Lanes lower than a line of text are named in steps of 2, 4, 8. */
    size_t step = 1;
    while ((double)step * pitch < height) {
        step *= 2;
    }
    for (size_t i = 0; i < panel->lane_count; i++) {
        const double top = frame->box.y + strip_height + 1 + pitch * (double)i;
        put_lane(&panel->lanes[i], frame, top, pitch, pen);
        if (i % step == 0) {
            report_pen_say(pen, panel->lanes[i].label, REPORT_FONT_TICK, REPORT_RIGHT, frame->box.x - 6,
                           top + (pitch - height) / 2);
        }
    }
}

static void put_panel(const struct report_chart *chart, const struct report_panel *panel,
                      struct report_pen *pen)
{
    const bool is_narrow = report_pen_is_narrow(pen);
    const double pitch = pitch_of(panel->lane_count, chart->panel_count);
    pen->y += panel_gap;
    report_pen_head(pen, panel, is_narrow ? REPORT_PAGE_MARGIN : plot_left, report_pen_right(pen));
    const double top = pen->y + 4;
    struct report_frame frame = {
        .x = &panel->x,
        .box = {.x = plot_left, .width = is_narrow ? report_pen_right(pen) - plot_left : plot_width}};
    struct report_rules rules;
    report_rules_place(&rules, panel->moments, panel->moment_count, &frame, pen);
    frame.box.y = top + report_rules_height(&rules, pen) + 1;
    report_frame_place(&frame, put_stages(panel, &frame, pen),
                       strip_height + 1 + pitch * (double)panel->lane_count);
    put_bands(panel, &frame, pen);
    put_lanes(panel, &frame, pitch, pen);
    report_rules_put(&rules, panel->moments, &frame, top, pen);
    report_frame_x_axis(&frame, REPORT_FONT_TICK, true, false, pen);
    report_frame_x_title(&frame, panel->x.title, pen);
    if (is_narrow) {
        pen->y = report_pen_figures(pen, panel, REPORT_PAGE_MARGIN, plot_left + 200, pen->y + 4, 1, false);
    } else {
        pen->y = fmax(pen->y, report_pen_figures(pen, panel, REPORT_FIGURES_LEFT, report_pen_right(pen), top,
                                                 1, false));
    }
}

void report_layout_lanes(const struct report_chart *chart, struct report_pen *pen)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        put_panel(chart, &chart->panels[i], pen);
    }
}
