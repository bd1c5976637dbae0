/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spots by two figures, the best of them joined by a staircase. */
#include "layout_front.h"

#include <math.h>

static const double chosen_size = 9;
static const double cap_width = 5;
/* Of a staircase's boxes, and around markers. */
static const double clearance = 1.5;

static void put_stairs(const struct report_curves_plot *plot, struct report_front_taken *taken,
                       struct report_pen *pen);
static void put_stair(const struct report_curves_plot *plot, const struct report_spot *from,
                      const struct report_spot *to, struct report_front_taken *taken, struct report_pen *pen);
static const struct report_spot *next_stair(const struct report_chart *chart, const struct report_spot *last);
static void put_spots(const struct report_curves_plot *plot, int layer, struct report_front_taken *taken,
                      struct report_pen *pen);
static void put_range(const struct report_curves_plot *plot, const struct report_spot *spot,
                      enum report_ink ink, struct report_front_taken *taken, struct report_pen *pen);
static enum report_ink ink_of(const struct report_spot *spot);

void report_layout_front(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_curves_plot plot = {.chart = chart};
    const double page_right = REPORT_PAGE_WIDTH - REPORT_PAGE_MARGIN;
    /* A marker, a range and two steps a spot, and its name; and a line to a name that is far. */
    struct report_front_taken taken = {.capacity = 5 * chart->spot_count + 256};
    taken.boxes = report_take(pen->scene->arena, taken.capacity, sizeof *taken.boxes);
    if (taken.boxes == NULL) {
        return;
    }
    plot.box.x = report_curves_plot_left(chart, pen);
    plot.box.width = page_right - plot.box.x;
    const struct report_type title = {chart->y.title, REPORT_FONT_TICK, page_right - REPORT_PAGE_MARGIN, 1};
    const struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
    report_curves_set_top(&plot, box.y + box.height + 10, 1);
    report_curves_put_axes(&plot, pen);
    put_stairs(&plot, &taken, pen);
    for (int layer = 0; layer < 3; layer++) {
        put_spots(&plot, layer, &taken, pen);
    }
    const size_t left_out = report_front_put_names(&plot, &taken, pen);
    if (left_out > 0) {
        const struct report_type note = {.text =
                                             report_text(pen->scene->arena, "%zu name%s found no free place",
                                                         left_out, left_out == 1 ? "" : "s"),
                                         .font = REPORT_FONT_NOTE,
                                         .lines = 1};
        const struct report_box text = report_pen_text(pen, &note, REPORT_RIGHT, page_right, pen->y + 4);
        pen->y = text.y + text.height;
    }
}

/* 0 lies in the middle of its strip. */
double report_front_y(const struct report_curves_plot *plot, double value)
{
    const double bottom = plot->box.y + plot->box.height;
    return value < plot->chart->y.low ? (plot->strip_top + bottom) / 2 : report_curves_y(plot, 0, value);
}

void report_front_take(struct report_front_taken *taken, double x0, double y0, double x1, double y1)
{
    if (taken->count < taken->capacity) {
        taken->boxes[taken->count++] =
            (struct report_box){fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0)};
    }
}

/* From each spot that is lower than all left of it to the next such one: what has been had so far stays the
 * best until then. On a front by more than two figures not every spot is on it. */
static void put_stairs(const struct report_curves_plot *plot, struct report_front_taken *taken,
                       struct report_pen *pen)
{
    const struct report_spot *last = next_stair(plot->chart, NULL);
    while (last != NULL) {
        const struct report_spot *next = next_stair(plot->chart, last);
        if (next != NULL) {
            put_stair(plot, last, next, taken, pen);
        }
        last = next;
    }
}

/* The leftmost of those on the front that are lower than the last one; of equally left ones the lowest. */
static const struct report_spot *next_stair(const struct report_chart *chart, const struct report_spot *last)
{
    const struct report_spot *best = NULL;
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        if ((spot->is_on_front || spot->is_chosen) && (last == NULL || spot->y < last->y) &&
            (best == NULL || spot->x < best->x || (spot->x == best->x && spot->y < best->y))) {
            best = spot;
        }
    }
    return best;
}

/* Dashed where it leaves a strip: the distance there says nothing. */
static void put_stair(const struct report_curves_plot *plot, const struct report_spot *from,
                      const struct report_spot *to, struct report_front_taken *taken, struct report_pen *pen)
{
    const struct report_chart *chart = plot->chart;
    const double x0 = report_curves_x(plot, from->x), y0 = report_front_y(plot, from->y);
    const double x1 = report_curves_x(plot, to->x), y1 = report_front_y(plot, to->y);
    const bool leaves_x = from->x < chart->x.low && to->x >= chart->x.low;
    const bool leaves_y = from->y >= chart->y.low && to->y < chart->y.low;
    report_pen_line(pen, leaves_x ? REPORT_SHAPE_DASHED : REPORT_SHAPE_LINE, REPORT_INK_LINE, x0, y0, x1, y0,
                    1.2);
    report_pen_line(pen, leaves_y ? REPORT_SHAPE_DASHED : REPORT_SHAPE_LINE, REPORT_INK_LINE, x1, y0, x1, y1,
                    1.2);
    report_front_take(taken, x0, y0 - clearance, x1, y0 + clearance);
    report_front_take(taken, x1 - clearance, y0, x1 + clearance, y1);
}

/* The pale ones lie lowest, the recommended one on top. */
static void put_spots(const struct report_curves_plot *plot, int layer, struct report_front_taken *taken,
                      struct report_pen *pen)
{
    for (size_t i = 0; i < plot->chart->spot_count; i++) {
        const struct report_spot *spot = &plot->chart->spots[i];
        if (layer != (spot->is_chosen ? 2 : spot->is_on_front ? 1 : 0)) {
            continue;
        }
        const enum report_ink ink = ink_of(spot);
        const double size = spot->is_chosen ? chosen_size : REPORT_MARKER_SIZE;
        const double x = report_curves_x(plot, spot->x), y = report_front_y(plot, spot->y);
        put_range(plot, spot, ink, taken, pen);
        report_pen_mark(pen, REPORT_SHAPE_MARKER, ink,
                        (struct report_box){x - size / 2, y - size / 2, size, size})
            ->hint = spot->hint;
        report_front_take(taken, x - size / 2 - clearance, y - size / 2 - clearance, x + size / 2 + clearance,
                          y + size / 2 + clearance);
    }
}

static void put_range(const struct report_curves_plot *plot, const struct report_spot *spot,
                      enum report_ink ink, struct report_front_taken *taken, struct report_pen *pen)
{
    if (!(spot->low < spot->high)) {
        return;
    }
    const double x = report_curves_x(plot, spot->x);
    const double ends[] = {report_front_y(plot, spot->high), report_front_y(plot, spot->low)};
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, x, ends[0], x, ends[1], 1);
    for (size_t i = 0; i < 2; i++) {
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, x - cap_width / 2, ends[i], x + cap_width / 2, ends[i],
                        1);
    }
    report_front_take(taken, x - cap_width / 2, ends[0] - 1, x + cap_width / 2, ends[1] + 1);
}

static enum report_ink ink_of(const struct report_spot *spot)
{
    return spot->is_chosen ? REPORT_INK_CHOSEN : spot->is_on_front ? REPORT_INK_LINE : REPORT_INK_PALE;
}
