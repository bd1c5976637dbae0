/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a plane that is divided into regions: pale areas with a border between them. The name of a
 * region is placed at the middle of its widest stretch that has room for it. */
#include "layout.h"

#include <math.h>

#include "plot.h"

static const enum report_ink grounds[] = {REPORT_INK_RANGE, REPORT_INK_TINY, REPORT_INK_OVER,
                                          REPORT_INK_ZERO};
enum { GROUNDS = sizeof grounds / sizeof grounds[0] };
static const double now_size = 11;
static const double name_room = 8;

static struct report_box box_of(const struct report_curves_plot *plot, const struct report_area *area)
{
    const double left = report_snap(report_curves_x(plot, area->from_x));
    const double top = report_snap(report_curves_y(plot, 0, area->to_y));
    return (struct report_box){left, top, report_snap(report_curves_x(plot, area->to_x)) - left,
                               report_snap(report_curves_y(plot, 0, area->from_y)) - top};
}

static bool is_meeting(const struct report_box *one, const struct report_box *other)
{
    return one->x < other->x + other->width && other->x < one->x + one->width &&
           one->y < other->y + other->height && other->y < one->y + one->height;
}

/* Draws a border wherever the area above or to the right has another owner. */
static void put_borders(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_chart *chart = plot->chart;
    for (size_t i = 0; i < chart->area_count; i++) {
        const struct report_box box = box_of(plot, &chart->areas[i]);
        for (size_t k = i + 1; k < chart->area_count; k++) {
            const struct report_box other = box_of(plot, &chart->areas[k]);
            if (chart->areas[i].owner == chart->areas[k].owner) {
                continue;
            }
            const double left = fmax(box.x, other.x);
            const double right = fmin(box.x + box.width, other.x + other.width);
            if (other.y + other.height == box.y && left < right) {
                report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, left, box.y, right, box.y, 1.2);
            }
            if (other.y == box.y && other.x == box.x + box.width) {
                report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, other.x, box.y, other.x,
                                box.y + box.height, 1.2);
            }
        }
    }
}

/* Finds the widest stretch around `area` that belongs to its region over the whole height of a name. */
static bool find_room(const struct report_curves_plot *plot, size_t area, double height, double *left,
                      double *right)
{
    const struct report_chart *chart = plot->chart;
    const struct report_box own = box_of(plot, &chart->areas[area]);
    const double middle = own.y + own.height / 2;
    const struct report_box line = {plot->box.x, middle - height / 2, plot->box.width, height};
    *left = own.x;
    *right = own.x + own.width;
    for (size_t i = 0; i < chart->area_count; i++) {
        const struct report_box box = box_of(plot, &chart->areas[i]);
        if (chart->areas[i].owner == chart->areas[area].owner || !is_meeting(&line, &box)) {
            continue;
        }
        if (box.x < *right && box.x >= own.x + own.width) {
            *right = box.x;
        } else if (box.x + box.width > *left && box.x + box.width <= own.x) {
            *left = box.x + box.width;
        } else if (box.x < *right && box.x + box.width > *left) {
            box.x > own.x ? (*right = box.x) : (*left = box.x + box.width);
        }
    }
    return line.y >= plot->box.y && line.y + height <= plot->box.y + plot->box.height;
}

static void put_name(const struct report_curves_plot *plot, size_t owner, const struct report_box *now,
                     struct report_pen *pen)
{
    const struct report_chart *chart = plot->chart;
    const struct report_type type = {.text = chart->area_names[owner], .font = REPORT_FONT_LABEL, .lines = 1};
    const struct report_extent extent = report_typeset_measure(pen->typesetter, &type);
    double best = 0;
    struct report_box place = {0, 0, 0, 0};
    for (size_t i = 0; i < chart->area_count; i++) {
        double left, right;
        if (chart->areas[i].owner != owner || !find_room(plot, i, extent.height + name_room, &left, &right)) {
            continue;
        }
        const struct report_box own = box_of(plot, &chart->areas[i]);
        const struct report_box box = {(left + right - extent.width) / 2,
                                       own.y + (own.height - extent.height) / 2, extent.width, extent.height};
        /* Of places of similar width, the one nearest to the plot's middle is best. */
        const double off = fabs(box.y + box.height / 2 - plot->box.y - plot->box.height / 2);
        const double worth = right - left - 0.2 * off;
        if (right - left >= extent.width + name_room && !is_meeting(&box, now) && worth > best) {
            best = worth;
            place = box;
        }
    }
    if (best > 0) {
        report_pen_text(pen, &type, REPORT_LEFT, place.x, place.y);
    } else {
        report_pen_legend(pen, &(struct report_legend){grounds[owner % GROUNDS], type.text}, 1);
    }
}

void report_layout_regions(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_curves_plot plot = {.chart = chart};
    const double right = report_pen_right(pen);
    plot.box.x = report_curves_plot_left(chart, pen);
    plot.box.width = right - plot.box.x;
    const struct report_type title = {chart->y.title, REPORT_FONT_TICK, right - REPORT_PAGE_MARGIN, 1};
    const struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
    report_curves_set_top(&plot, box.y + box.height + 10, 1);
    report_curves_put_axes(&plot, pen);
    for (size_t i = 0; i < chart->area_count; i++) {
        const enum report_ink ink = grounds[chart->areas[i].owner % GROUNDS];
        const struct report_box area = box_of(&plot, &chart->areas[i]);
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, ink, area);
        mark->hint = chart->areas[i].hint;
        mark->is_ground = true;
    }
    put_borders(&plot, pen);
    const struct report_box now = {report_curves_x(&plot, chart->now.x) - now_size / 2,
                                   report_curves_y(&plot, 0, chart->now.y) - now_size / 2, now_size,
                                   now_size};
    report_pen_mark(pen, REPORT_SHAPE_MARKER, REPORT_INK_CHOSEN, now);
    pen->y += 4;
    for (size_t i = 0; i < chart->area_name_count; i++) {
        put_name(&plot, i, &now, pen);
    }
}
