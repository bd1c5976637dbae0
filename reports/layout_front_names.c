/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "layout_front.h"

static const double name_width_max = 190;
static const double inset = 2; /* from the plot's sides */

static bool put_name(const struct report_curves_plot *plot, const struct report_spot *spot,
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
    return false;
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
