/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of panels of lanes over time, one below the other. A panel has names on the left, lanes, and key
 * figures on the right. Above the lanes are the moments and the stages between them. Each panel has its own
 * time axis. */
#include <math.h>

#include "layout.h"

static const double plot_left = 84;
static const double plot_width = 522;
static const double panel_gap = 15;
static const double tick_length = 4;
static const double label_gap = 8;
/* A strip above the lanes marks disagreement, so that it is visible even where there is no room between
 * lanes. */
static const double strip_height = 3;
/* The greatest height of all panels together: Cairo limits the height of an image to 32767 pixels. */
static const double stack_height_max = 15000;
static const double panel_head_height = 118;

struct plot {
    const struct report_axis *x;
    struct report_box box;
    double pitch; /* distance from one lane to the next */
};

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

static double x_of(const struct plot *plot, double value)
{
    return plot->box.x + (value - plot->x->low) / (plot->x->high - plot->x->low) * plot->box.width;
}

/* Centres each name above its line, as far as the plot's sides and the neighbouring name allow. Returns the y
 * where the lines begin. */
static double put_moment_names(const struct report_panel *panel, const struct plot *plot,
                               struct report_pen *pen)
{
    double lefts[REPORT_MOMENTS_MAX];
    double widths[REPORT_MOMENTS_MAX];
    const double right = plot->box.x + plot->box.width;
    double next = plot->box.x;
    for (size_t i = 0; i < panel->moment_count; i++) {
        widths[i] = report_pen_width(pen, panel->moments[i].text, REPORT_FONT_TICK);
        double x = x_of(plot, panel->moments[i].at);
        bool is_close = panel->moment_count == 2 &&
                        fabs(x_of(plot, panel->moments[1 - i].at) - x) < widths[i] + 2 * label_gap;
        /* If two moments are close, the first name is left of its line and the second one right of its
         * line. */
        double left = !is_close ? x - widths[i] / 2 : i == 0 ? x - widths[i] + 3 : x - 3;
        lefts[i] = fmax(next, fmin(left, right - widths[i]));
        next = lefts[i] + widths[i] + label_gap;
    }
    if (panel->moment_count == 2 && lefts[0] + widths[0] + label_gap > lefts[1]) {
        lefts[0] = lefts[1] - label_gap - widths[0];
    }
    double bottom = plot->box.y;
    for (size_t i = 0; i < panel->moment_count; i++) {
        const struct report_type type = {
            .text = panel->moments[i].text, .font = REPORT_FONT_TICK, .lines = 1};
        struct report_box box = report_pen_text(pen, &type, REPORT_LEFT, lefts[i], plot->box.y);
        bottom = box.y + box.height;
    }
    return bottom + 1;
}

/* Puts the names of the stages that are wide enough for them. Returns the y where the plot of the lanes
 * begins. */
static double put_stages(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    const double top = plot->box.y + report_pen_height(pen, REPORT_FONT_TICK) + 3;
    for (size_t i = 0; i < panel->stage_count; i++) {
        const struct report_stage *stage = &panel->stages[i];
        const double from = x_of(plot, stage->from);
        const double to = x_of(plot, stage->to);
        const struct report_type type = {.text = stage->text, .font = REPORT_FONT_STAGE, .lines = 1};
        if (to - from >= report_pen_width(pen, stage->text, REPORT_FONT_STAGE) + 4) {
            report_pen_text(pen, &type, REPORT_CENTRE, (from + to) / 2, top);
        }
    }
    return top + report_pen_height(pen, REPORT_FONT_STAGE) + 3;
}

/* The shade is drawn behind the lanes and the strip above them. */
static void put_bands(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    for (size_t i = 0; i < panel->band_count; i++) {
        const double from = report_snap(x_of(plot, panel->bands[i].from));
        /* A short band is at least one pixel wide. */
        const double to = fmax(report_snap(x_of(plot, panel->bands[i].to)), from + 1);
        const struct report_box shade = {from, plot->box.y, to - from, plot->box.height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, panel->bands[i].ink, shade);
        const struct report_box strip = {from, plot->box.y, to - from, strip_height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ALARM, strip);
    }
}

static void put_lane(const struct report_lane *lane, const struct plot *plot, double top,
                     struct report_pen *pen)
{
    const double gap = fmin(fmax(report_snap(plot->pitch * 0.28), 0.5), 4);
    for (size_t i = 0; i < lane->span_count; i++) {
        const struct report_span *span = &lane->spans[i];
        const double from = report_snap(x_of(plot, span->from));
        const double to = fmax(report_snap(x_of(plot, span->to)), from + 0.5);
        const struct report_box box = {from, report_snap(top + gap / 2), to - from, plot->pitch - gap};
        report_pen_mark(pen,
                        report_style_is_hatched(span->ink) ? REPORT_SHAPE_HATCHED : REPORT_SHAPE_RECTANGLE,
                        span->ink, box)
            ->hint = span->hint;
    }
}

static void put_lanes(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    /* Lanes lower than a line of text are named in steps of 2, 4, 8. */
    size_t step = 1;
    while ((double)step * plot->pitch < height) {
        step *= 2;
    }
    for (size_t i = 0; i < panel->lane_count; i++) {
        const double top = plot->box.y + strip_height + 1 + plot->pitch * (double)i;
        put_lane(&panel->lanes[i], plot, top, pen);
        if (i % step == 0) {
            const struct report_type type = {
                .text = panel->lanes[i].label, .font = REPORT_FONT_TICK, .lines = 1};
            report_pen_text(pen, &type, REPORT_RIGHT, plot->box.x - 6, top + (plot->pitch - height) / 2);
        }
    }
}

/* Draws the lines of the moments on a strip of paper colour, so that they are visible on dark lanes. */
static void put_moments(const struct report_panel *panel, const struct plot *plot, double top,
                        struct report_pen *pen)
{
    const double bottom = plot->box.y + plot->box.height;
    for (size_t i = 0; i < panel->moment_count; i++) {
        const double x = report_snap(x_of(plot, panel->moments[i].at));
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_HALO, x, top, x, bottom, 3);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_TEXT, x, top, x, bottom, 1);
    }
}

static void put_x_axis(const struct plot *plot, struct report_pen *pen)
{
    const double y = report_snap(plot->box.y + plot->box.height);
    const double right = plot->box.x + plot->box.width;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, plot->box.x, y, right, y, 1);
    double end = y;
    for (size_t i = 0; i < plot->x->tick_count; i++) {
        const struct report_tick *tick = &plot->x->ticks[i];
        const double x = report_snap(x_of(plot, tick->at));
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, y, x, y + tick_length, 1);
        const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
        struct report_box box = report_pen_text(pen, &type, REPORT_CENTRE, x, y + tick_length + 2);
        end = box.y + box.height;
    }
    const struct report_type title = {.text = plot->x->title, .font = REPORT_FONT_TICK, .lines = 1};
    struct report_box box = report_pen_text(pen, &title, REPORT_CENTRE, (plot->box.x + right) / 2, end + 2);
    pen->y = box.y + box.height;
}

static void put_panel(const struct report_chart *chart, const struct report_panel *panel,
                      struct report_pen *pen)
{
    pen->y += panel_gap;
    const bool is_narrow = pen->scene->width < REPORT_PAGE_WIDTH;
    report_pen_panel_head(pen, panel, is_narrow ? REPORT_PAGE_MARGIN : plot_left);
    struct plot plot = {.x = &panel->x,
                        .box = {.x = plot_left,
                                .y = pen->y + 4,
                                .width = is_narrow ? report_pen_right(pen) - plot_left : plot_width},
                        .pitch = pitch_of(panel->lane_count, chart->panel_count)};
    const double figures_top = plot.box.y;
    const double lines_top = put_moment_names(panel, &plot, pen);
    plot.box.y = report_snap(put_stages(panel, &plot, pen));
    plot.box.height = strip_height + 1 + plot.pitch * (double)panel->lane_count;
    put_bands(panel, &plot, pen);
    put_lanes(panel, &plot, pen);
    put_moments(panel, &plot, lines_top, pen);
    if (is_narrow) {
        put_x_axis(&plot, pen);
        pen->y = report_pen_figures_below(pen, panel, pen->y + 4);
        return;
    }
    double figures_end = report_pen_figures(pen, panel, figures_top);
    put_x_axis(&plot, pen);
    pen->y = figures_end > pen->y ? figures_end : pen->y;
}

void report_layout_lanes(const struct report_chart *chart, struct report_pen *pen)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        put_panel(chart, &chart->panels[i], pen);
    }
}
