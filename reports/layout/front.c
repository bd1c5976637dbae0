/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a Pareto front. In: spots at two figures. Out: a staircase through the best spots, with the
 * names in this order: the recommended spot, the best spot of each kind, and the other spots of the
 * staircase. A name takes the first free place around its spot; the others are counted. */
#include "pen.h"

static const double left_min = 60;
static const double chosen_size = 9;
/* The distance that names keep from the staircase and from markers. */
static const double clearance = 1.5;
static const double name_width_max = 190;
static const double inset = 2; /* distance from the plot's sides */

/* The boxes that no further name may touch. */
struct taken {
    struct report_box *boxes;
    size_t count;
    bool *is_stair; /* per spot: it is on the staircase */
};

static void take(struct taken *taken, double x0, double y0, double x1, double y1)
{
    taken->boxes[taken->count++] =
        (struct report_box){fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0)};
}

static bool is_free(const struct report_frame *frame, const struct taken *taken, const struct report_box *box)
{
    const double right = box->x + box->width, bottom = box->y + box->height;
    if (box->x < frame->box.x + inset || right > frame->box.x + frame->box.width - inset ||
        box->y < frame->box.y || bottom > frame->box.y + frame->box.height)
        return false;
    for (size_t i = 0; i < taken->count; i++) {
        const struct report_box *other = &taken->boxes[i];
        if (box->x < other->x + other->width && other->x < right && box->y < other->y + other->height &&
            other->y < bottom)
            return false;
    }
    return true;
}

static enum report_ink ink_of(const struct report_spot *spot)
{
    return spot->is_chosen ? REPORT_INK_CHOSEN : spot->is_on_front ? REPORT_INK_LINE : REPORT_INK_PALE;
}

/* Places the name at the first free place next to the marker, above or below it, or at one of its corners. */
static bool put_name(const struct report_frame *frame, const struct report_spot *spot, struct taken *taken,
                     struct report_pen *pen)
{
    static const struct {
        double x, y; /* -1 left of or above the marker, 1 right of or below it */
    } sides[] = {{1, 0}, {1, -1}, {1, 1}, {-1, 0}, {0, -1}, {0, 1}, {-1, -1}, {-1, 1}};
    struct report_type type = {
        .text = spot->label,
        .font = spot->is_chosen ? REPORT_FONT_LABEL
                : spot->is_best ? REPORT_FONT_LEGEND
                                : REPORT_FONT_TICK,
        .lines = 1,
    };
    if (report_pen_width(pen, type.text, type.font) > name_width_max)
        type.width = name_width_max;
    const struct report_extent extent = report_pen_measure(pen, &type);
    const double side = (spot->is_chosen ? 9 : REPORT_MARKER_SIZE) / 2 + 3;
    const double x = report_frame_x(frame, spot->x), y = report_frame_y(frame, spot->y);
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        const double reach_x = sides[i].y != 0 && sides[i].x != 0 ? 1 : side;
        const struct report_box box = {x - extent.width / 2 + sides[i].x * (extent.width / 2 + reach_x),
                                       y - extent.height / 2 + sides[i].y * (extent.height / 2 + side - 1),
                                       extent.width, extent.height};
        if (is_free(frame, taken, &box)) {
            report_pen_text(pen, &type, REPORT_LEFT, box.x, box.y);
            take(taken, box.x, box.y, box.x + box.width, box.y + box.height);
            return true;
        }
    }
    return false;
}

/* Returns the leftmost spot on the front that is lower than the last one; if several have the same x, the
 * lowest of them. */
static const struct report_spot *next_stair(const struct report_panel *panel, const struct report_spot *last)
{
    const struct report_spot *best = NULL;
    for (size_t i = 0; i < panel->spot_count; i++) {
        const struct report_spot *spot = &panel->spots[i];
        if ((spot->is_on_front || spot->is_chosen) && (last == NULL || spot->y < last->y) &&
            (best == NULL || spot->x < best->x || (spot->x == best->x && spot->y < best->y)))
            best = spot;
    }
    return best;
}

/* Returns the number of names that were left out. */
static size_t put_names(const struct report_frame *frame, const struct report_panel *panel,
                        struct taken *taken, struct report_pen *pen)
{
    size_t left_out = 0;
    for (int layer = 0; layer < 3; layer++) {
        for (size_t i = 0; i < panel->spot_count; i++) {
            const struct report_spot *spot = &panel->spots[i];
            const int own = spot->is_chosen ? 0 : spot->is_best ? 1 : taken->is_stair[i] ? 2 : 3;
            if (layer == own && spot->label[0] != 0)
                left_out += !put_name(frame, spot, taken, pen);
        }
    }
    return left_out;
}

/* A step is dashed where it leaves the strip for 0, because the distance there has no meaning. */
static void put_stair(const struct report_frame *frame, const struct report_spot *from,
                      const struct report_spot *to, struct taken *taken, struct report_pen *pen)
{
    const double x0 = report_frame_x(frame, from->x), y0 = report_frame_y(frame, from->y);
    const double x1 = report_frame_x(frame, to->x), y1 = report_frame_y(frame, to->y);
    const bool leaves_x = from->x < frame->x->low && to->x >= frame->x->low;
    const bool leaves_y = from->y >= frame->y->low && to->y < frame->y->low;
    report_pen_line(pen, leaves_x ? REPORT_SHAPE_DASHED : REPORT_SHAPE_LINE, REPORT_INK_LINE, x0, y0, x1, y0,
                    1.2);
    report_pen_line(pen, leaves_y ? REPORT_SHAPE_DASHED : REPORT_SHAPE_LINE, REPORT_INK_LINE, x1, y0, x1, y1,
                    1.2);
    take(taken, x0, y0 - clearance, x1, y0 + clearance);
    take(taken, x1 - clearance, y0, x1 + clearance, y1);
}

/* The staircase connects the spots that are lower than all spots left of them: up to the next such spot, the
 * last one remains the best. A front over more than two figures has spots that are not on the staircase. */
static void put_stairs(const struct report_frame *frame, const struct report_panel *panel,
                       struct taken *taken, struct report_pen *pen)
{
    const struct report_spot *last = next_stair(panel, NULL);
    while (last != NULL) {
        taken->is_stair[last - panel->spots] = true;
        const struct report_spot *next = next_stair(panel, last);
        if (next != NULL)
            put_stair(frame, last, next, taken, pen);
        last = next;
    }
}

static void put_range(const struct report_frame *frame, const struct report_spot *spot, enum report_ink ink,
                      struct taken *taken, struct report_pen *pen)
{
    if (!(spot->low < spot->high))
        return;
    const double x = report_frame_x(frame, spot->x);
    const double top = report_frame_y(frame, spot->high), bottom = report_frame_y(frame, spot->low);
    report_pen_range(pen, ink, x, top, bottom);
    take(taken, x - REPORT_CAP_WIDTH / 2, top - 1, x + REPORT_CAP_WIDTH / 2, bottom + 1);
}

/* The pale spots are drawn first and the recommended one last, so that it is on top. */
static void put_spots(const struct report_frame *frame, const struct report_panel *panel, int layer,
                      struct taken *taken, struct report_pen *pen)
{
    for (size_t i = 0; i < panel->spot_count; i++) {
        const struct report_spot *spot = &panel->spots[i];
        if (layer != (spot->is_chosen ? 2 : spot->is_on_front ? 1 : 0))
            continue;
        const enum report_ink ink = ink_of(spot);
        const double size = spot->is_chosen ? chosen_size : REPORT_MARKER_SIZE;
        const double x = report_frame_x(frame, spot->x), y = report_frame_y(frame, spot->y);
        put_range(frame, spot, ink, taken, pen);
        report_pen_marker(pen, ink, x, y, size)->hint = spot->hint;
        take(taken, x - size / 2 - clearance, y - size / 2 - clearance, x + size / 2 + clearance,
             y + size / 2 + clearance);
    }
}

void report_layout_front(const struct report_chart *chart, struct report_pen *pen)
{
    const struct report_panel *panel = &chart->panels[0];
    /* Each spot has up to five boxes: its marker, its range, two steps and its name. */
    struct taken taken = {.boxes = report_take(pen->scene->arena, 5 * panel->spot_count, sizeof *taken.boxes),
                          .is_stair =
                              report_take(pen->scene->arena, panel->spot_count, sizeof *taken.is_stair)};
    struct report_frame frame = {.x = &chart->x, .y = &panel->y, .inset = REPORT_SIDE_INSET};
    frame.box.x = fmax(left_min, ceil(REPORT_PAGE_MARGIN + report_frame_numbers(&panel->y, pen)));
    frame.box.width = report_pen_right(pen) - frame.box.x;
    report_pen_paragraph(pen, panel->y.title, REPORT_FONT_TICK, 1);
    report_frame_place(&frame, pen->y + 10, REPORT_CURVES_HEIGHT);
    report_frame_y_axis(&frame, pen);
    report_frame_x_axis(&frame, REPORT_FONT_TICK, true, false, pen);
    report_frame_x_title(&frame, chart->x.title, pen);
    put_stairs(&frame, panel, &taken, pen);
    for (int layer = 0; layer < 3; layer++)
        put_spots(&frame, panel, layer, &taken, pen);
    const size_t left_out = put_names(&frame, panel, &taken, pen);
    if (left_out > 0) {
        const char *text =
            report_text(pen->scene->arena, "%zu label%s hidden", left_out, left_out == 1 ? "" : "s");
        const struct report_box box =
            report_pen_say(pen, text, REPORT_FONT_NOTE, REPORT_RIGHT, report_pen_right(pen), pen->y + 4);
        pen->y = box.y + box.height;
    }
}
