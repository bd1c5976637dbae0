/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "layout_front.h"

static const double name_width_max = 190;
static const double inset = 2; /* from the plot's sides */

static bool put_name(const struct report_curves_plot *plot, const struct report_spot *spot,
                     struct report_front_taken *taken, struct report_pen *pen);
static bool put_far_name(const struct report_curves_plot *plot, const struct report_spot *spot,
                         const struct report_type *type, struct report_front_taken *taken,
                         struct report_pen *pen);
static void put_leader(const struct report_point *from, const struct report_point *to,
                       struct report_front_taken *taken, struct report_pen *pen);
static bool is_free(const struct report_curves_plot *plot, const struct report_front_taken *taken,
                    const struct report_box *box);

size_t report_front_put_names(const struct report_curves_plot *plot, struct report_front_taken *taken,
                              struct report_pen *pen)
{
    size_t left_out = 0;
    for (int layer = 0; layer < 3; layer++) {
        for (size_t i = 0; i < plot->chart->spot_count; i++) {
            const struct report_spot *spot = &plot->chart->spots[i];
            const int own = spot->is_chosen ? 0 : spot->is_on_front ? 1 : 2;
            if (layer == own && spot->label[0] != 0) {
                left_out += !put_name(plot, spot, taken, pen);
            }
        }
    }
    return left_out;
}

/* Beside the marker, above or below it, or at one of its corners: the first place that is free. */
static bool put_name(const struct report_curves_plot *plot, const struct report_spot *spot,
                     struct report_front_taken *taken, struct report_pen *pen)
{
    static const struct {
        double x, y; /* -1 left of or above the marker, 1 right of or below it */
    } ways[] = {{1, 0}, {1, -1}, {1, 1}, {-1, 0}, {0, -1}, {0, 1}, {-1, -1}, {-1, 1}};
    struct report_type type = {
        .text = spot->label,
        .font = spot->is_chosen     ? REPORT_FONT_LABEL
                : spot->is_on_front ? REPORT_FONT_LEGEND
                                    : REPORT_FONT_TICK,
        .lines = 1,
    };
    if (report_pen_width(pen, type.text, type.font) > name_width_max) {
        type.width = name_width_max;
    }
    const struct report_extent extent = report_typeset_measure(pen->typesetter, &type);
    const double side = (spot->is_chosen ? 9 : REPORT_MARKER_SIZE) / 2 + 3;
    const double x = report_curves_x(plot, spot->x), y = report_front_y(plot, spot->y);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const double reach_x = ways[i].y != 0 && ways[i].x != 0 ? 1 : side;
        const struct report_box box = {x - extent.width / 2 + ways[i].x * (extent.width / 2 + reach_x),
                                       y - extent.height / 2 + ways[i].y * (extent.height / 2 + side - 1),
                                       extent.width, extent.height};
        if (is_free(plot, taken, &box)) {
            report_pen_text(pen, &type, REPORT_LEFT, box.x, box.y);
            report_front_take(taken, box.x, box.y, box.x + box.width, box.y + box.height);
            return true;
        }
    }
    return spot->is_chosen && put_far_name(plot, spot, &type, taken, pen);
}

/* The one that all look for has its name in any crowd: at the nearest free place, with a line to it. */
static bool put_far_name(const struct report_curves_plot *plot, const struct report_spot *spot,
                         const struct report_type *type, struct report_front_taken *taken,
                         struct report_pen *pen)
{
    static const double first = 16, step = 4;
    const struct report_extent extent = report_typeset_measure(pen->typesetter, type);
    const struct report_point from = {report_curves_x(plot, spot->x), report_front_y(plot, spot->y)};
    for (double away = first; away < plot->box.width; away += step) {
        /* Rings of boxes that stand off the marker by `away`, the sides first. */
        const double left = from.x - away - extent.width, right = from.x + away;
        const double above = from.y - away - extent.height, below = from.y + away;
        const double lefts[] = {right, left, from.x - extent.width / 2};
        const double tops[] = {from.y - extent.height / 2, above, below};
        for (size_t i = 0; i < 9; i++) {
            const struct report_box box = {lefts[i % 3], tops[i / 3], extent.width, extent.height};
            if (i != 2 && is_free(plot, taken, &box)) {
                /* To the middle of the side that faces the marker. */
                const double x = i % 3 == 0 ? box.x - 2 : i % 3 == 1 ? box.x + box.width + 2 : from.x;
                const double y = i % 3 != 2   ? box.y + box.height / 2
                                 : i / 3 == 1 ? box.y + box.height
                                              : box.y;
                put_leader(&from, &(struct report_point){x, y}, taken, pen);
                report_pen_text(pen, type, REPORT_LEFT, box.x, box.y);
                report_front_take(taken, box.x, box.y, box.x + box.width, box.y + box.height);
                return true;
            }
        }
    }
    return false;
}

/* From the marker's rim; names stand clear of it. */
static void put_leader(const struct report_point *from, const struct report_point *to,
                       struct report_front_taken *taken, struct report_pen *pen)
{
    static const double rim = 7, pitch = 4, room = 2;
    const double dx = to->x - from->x, dy = to->y - from->y, length = sqrt(dx * dx + dy * dy);
    const double x = from->x + dx * rim / length, y = from->y + dy * rim / length;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_HALO, x, y, to->x, to->y, 3);
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_CHOSEN, x, y, to->x, to->y, 1);
    for (double at = rim; at < length; at += pitch) {
        const struct report_point on = {from->x + dx * at / length, from->y + dy * at / length};
        report_front_take(taken, on.x - room, on.y - room, on.x + room, on.y + room);
    }
}

static bool is_free(const struct report_curves_plot *plot, const struct report_front_taken *taken,
                    const struct report_box *box)
{
    const double right = box->x + box->width, bottom = box->y + box->height;
    if (box->x < plot->box.x + inset || right > plot->box.x + plot->box.width - inset ||
        box->y < plot->box.y || bottom > plot->box.y + plot->box.height) {
        return false;
    }
    for (size_t i = 0; i < taken->count; i++) {
        const struct report_box *other = &taken->boxes[i];
        if (box->x < other->x + other->width && other->x < right && box->y < other->y + other->height &&
            other->y < bottom) {
            return false;
        }
    }
    return true;
}
