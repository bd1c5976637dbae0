/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plot of curves and spots: the mapping from values to positions, the axes with their numbers, and a
 * strip for 0 on a log axis. */
#include "plot.h"

#include <math.h>

static const double plot_left_min = 60;
static const double plot_height = REPORT_CURVES_HEIGHT;
static const double tick_length = 4;
static const double text_gap = 6;
/* In pixels: the width of the strip for 0, and the gap between it and the start of the axis. */
static const double strip_width = 24;
static const double strip_height_min = 16;
static const double strip_gap = 7;
static const double lane_height = 7;
static const double strip_padding = 4;
/* The distance of the points from the plot's sides. */
static const double side_inset = 8;

double report_curves_x(const struct report_curves_plot *plot, double value)
{
    const struct report_axis *axis = &plot->chart->x;
    const struct report_box *box = &plot->box;
    const double before = axis->has_zero ? strip_width + strip_gap : 0;
    if (value < axis->low) {
        return box->x + strip_width / 2;
    }
    const double room = box->width - before - 2 * side_inset;
    return box->x + before + side_inset + (value - axis->low) / (axis->high - axis->low) * room;
}

double report_curves_y(const struct report_curves_plot *plot, size_t line, double value)
{
    const struct report_axis *axis = &plot->chart->y;
    if (value < axis->low) {
        return plot->strip_top + strip_padding / 2 + lane_height * ((double)plot->lanes[line] + 0.5);
    }
    return plot->box.y + (1 - (value - axis->low) / (axis->high - axis->low)) * plot_height;
}

static void put_ground(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_box *box = &plot->box;
    if (plot->chart->y.has_zero) {
        const struct report_box strip = {box->x, plot->strip_top, box->width,
                                         box->y + box->height - plot->strip_top};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO, strip);
    }
    if (plot->chart->x.has_zero) {
        const struct report_box strip = {box->x, box->y, strip_width, box->height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO, strip);
    }
}

/* Puts a number of the y axis, unless it would overlap the number below it, whose top is *above. */
static void put_y_number(const struct report_curves_plot *plot, const char *text, double y, double *above,
                         struct report_pen *pen)
{
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    if (text[0] == 0 || y + height / 2 > *above) {
        return;
    }
    const struct report_type type = {.text = text, .font = REPORT_FONT_TICK, .lines = 1};
    report_pen_text(pen, &type, REPORT_RIGHT, plot->box.x - text_gap, y - height / 2);
    *above = y - height / 2;
}

/* Draws a short stroke across the axis where the axis is broken. */
static void put_break(double x, double y, bool is_upright, struct report_pen *pen)
{
    static const double half = 4;
    static const double slope = 2;
    const double dx = is_upright ? slope : half;
    const double dy = is_upright ? half : slope;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x - dx, y + dy, x + dx, y - dy, 1);
}

static void put_y_axis(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_axis *axis = &plot->chart->y;
    const struct report_box *box = &plot->box;
    const double bottom = box->y + plot_height;
    double above = box->y + box->height + plot_height;
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct report_tick *tick = &axis->ticks[i];
        const double y = report_snap(report_curves_y(plot, 0, tick->at));
        if (tick->text[0] != 0) {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, box->x, y, box->x + box->width, y, 1);
        } else {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x - 2, y, box->x, y, 1);
        }
        put_y_number(plot, tick->text, y, &above, pen);
    }
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x, box->y, box->x, bottom, 1);
    if (axis->has_zero) {
        const double middle = plot->strip_top + (box->y + box->height - plot->strip_top) / 2;
        above = middle + plot_height;
        put_y_number(plot, "0", middle, &above, pen);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x, plot->strip_top, box->x,
                        box->y + box->height, 1);
        put_break(box->x, bottom, false, pen);
        put_break(box->x, plot->strip_top, false, pen);
    }
}

static void put_x_axis(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_axis *axis = &plot->chart->x;
    const struct report_box *box = &plot->box;
    const double y = box->y + box->height;
    const double from = box->x + (axis->has_zero ? strip_width + strip_gap : 0);
    const double top = y + tick_length + 2;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, from, y, box->x + box->width, y, 1);
    double taken = 0;
    if (axis->has_zero) {
        const struct report_type zero = {.text = "0", .font = REPORT_FONT_TICK, .lines = 1};
        struct report_box text = report_pen_text(pen, &zero, REPORT_CENTRE, box->x + strip_width / 2, top);
        taken = text.x + text.width + text_gap;
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x, y, box->x + strip_width, y, 1);
        put_break(from, y, true, pen);
        put_break(box->x + strip_width, y, true, pen);
    }
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct report_tick *tick = &axis->ticks[i];
        const double x = report_snap(report_curves_x(plot, tick->at));
        const bool has_number = tick->text[0] != 0;
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, y, x,
                        y + (has_number ? tick_length : tick_length / 2), 1);
        const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
        const double width = report_pen_width(pen, tick->text, REPORT_FONT_TICK);
        if (has_number && x - width / 2 >= taken) {
            report_pen_text(pen, &type, REPORT_CENTRE, x, top);
            taken = x + width / 2 + text_gap;
        }
    }
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    const struct report_type title = {axis->title, REPORT_FONT_TICK, box->width, 1};
    const struct report_box text =
        report_pen_text(pen, &title, REPORT_CENTRE, box->x + box->width / 2, top + height + 3);
    pen->y = text.y + text.height;
}

void report_curves_put_axes(const struct report_curves_plot *plot, struct report_pen *pen)
{
    put_ground(plot, pen);
    put_y_axis(plot, pen);
    put_x_axis(plot, pen);
}

double report_curves_plot_left(const struct report_chart *chart, struct report_pen *pen)
{
    double numbers = report_pen_width(pen, "0", REPORT_FONT_TICK);
    for (size_t i = 0; i < chart->y.tick_count; i++) {
        numbers = fmax(numbers, report_pen_width(pen, chart->y.ticks[i].text, REPORT_FONT_TICK));
    }
    return ceil(fmax(REPORT_PAGE_MARGIN + numbers + text_gap, plot_left_min));
}

double report_curves_set_top(struct report_curves_plot *plot, double top, size_t lanes)
{
    plot->box.y = report_snap(top);
    plot->box.height = plot_height;
    if (plot->chart->y.has_zero) {
        plot->strip_top = plot->box.y + plot_height + strip_gap;
        plot->box.height += strip_gap + fmax(strip_height_min, strip_padding + lane_height * (double)lanes);
    }
    return plot->box.y + plot->box.height;
}
