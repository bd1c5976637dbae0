/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layouts of a plane: a Pareto front, and regions. In: spots at two figures, or areas. Out: a staircase
 * through the best spots, with the names in this order: the recommended spot, the best spot of each kind, and
 * the other spots of the staircase. A name takes the first free place around its spot, or otherwise the
 * nearest free place with a leader to it. Regions are pale areas with a border between them; the name of a
 * region is at the middle of its widest stretch that has room for it. */
#include "pen.h"

static const double left_min = 60;
static const double chosen_size = 9;
static const double cap_width = 5;
/* The distance that names keep from the staircase and from markers. */
static const double clearance = 1.5;
static const double name_width_max = 190;
static const double inset = 2; /* distance from the plot's sides */
/* The longest leader to a name, in pixels. Only the leader of the recommended spot may be longer. */
static const double far_name_max = 260;

/* `boxes` must not be touched by a name. `names` are the boxes of the names placed so far, which must not be
 * crossed by a leader either. */
struct taken {
    struct report_box *boxes, *names;
    bool *is_stair; /* per spot: it is on the staircase */
    size_t count, capacity, name_count;
};

static void take(struct taken *taken, double x0, double y0, double x1, double y1)
{
    if (taken->count < taken->capacity) {
        taken->boxes[taken->count++] =
            (struct report_box){fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0)};
    }
}

static bool is_free(const struct report_frame *frame, const struct taken *taken, const struct report_box *box)
{
    const double right = box->x + box->width, bottom = box->y + box->height;
    if (box->x < frame->box.x + inset || right > frame->box.x + frame->box.width - inset ||
        box->y < frame->box.y || bottom > frame->box.y + frame->box.height) {
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

static void take_name(struct taken *taken, const struct report_box *box)
{
    take(taken, box->x, box->y, box->x + box->width, box->y + box->height);
    taken->names[taken->name_count++] = *box;
}

/* True if a line between the two points crosses no name. */
static bool is_clear(const struct taken *taken, const struct report_point *from,
                     const struct report_point *to)
{
    enum { STEPS = 64 };
    static const double room = 2;
    for (size_t i = 0; i < taken->name_count; i++) {
        const struct report_box *name = &taken->names[i];
        for (int k = 0; k < STEPS; k++) {
            const double x = from->x + (to->x - from->x) * k / STEPS;
            const double y = from->y + (to->y - from->y) * k / STEPS;
            if (x > name->x - room && x < name->x + name->width + room && y > name->y - room &&
                y < name->y + name->height + room) {
                return false;
            }
        }
    }
    return true;
}

/* Draws the leader from the marker's edge to the name, and reserves its place, so that later names avoid
 * it. */
static void put_leader(const struct report_point *from, const struct report_point *to, bool is_chosen,
                       struct taken *taken, struct report_pen *pen)
{
    static const double rim = 7, pitch = 4, room = 2;
    const double dx = to->x - from->x, dy = to->y - from->y, length = sqrt(dx * dx + dy * dy);
    const double x = from->x + dx * rim / length, y = from->y + dy * rim / length;
    if (is_chosen) {
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_HALO, x, y, to->x, to->y, 3);
    }
    report_pen_line(pen, REPORT_SHAPE_LINE, is_chosen ? REPORT_INK_CHOSEN : REPORT_INK_AXIS, x, y, to->x,
                    to->y, is_chosen ? 1 : 0.7);
    for (double at = rim; at < length; at += pitch) {
        const struct report_point on = {from->x + dx * at / length, from->y + dy * at / length};
        take(taken, on.x - room, on.y - room, on.x + room, on.y + room);
    }
}

static enum report_ink ink_of(const struct report_spot *spot)
{
    return spot->is_chosen ? REPORT_INK_CHOSEN : spot->is_on_front ? REPORT_INK_LINE : REPORT_INK_PALE;
}

/* Places the name at the nearest free place, with a leader to it. */
static bool put_far_name(const struct report_frame *frame, const struct report_spot *spot,
                         const struct report_type *type, struct taken *taken, struct report_pen *pen)
{
    static const double first = 16, step = 4;
    /* Cosine and sine of sixteen directions, rightwards first, then leftwards. */
    static const double turns[][2] = {{1, 0},        {-1, 0},        {0.92, 0.38},  {0.92, -0.38},
                                      {0.71, 0.71},  {0.71, -0.71},  {0.38, 0.92},  {0.38, -0.92},
                                      {-0.92, 0.38}, {-0.92, -0.38}, {-0.71, 0.71}, {-0.71, -0.71},
                                      {-0.38, 0.92}, {-0.38, -0.92}, {0, 1},        {0, -1}};
    const struct report_extent extent = report_pen_measure(pen, type);
    const struct report_point from = {report_frame_x(frame, spot->x), report_frame_y(frame, 0, spot->y)};
    const double farthest = spot->is_chosen ? frame->box.width : spot->is_best ? far_name_max : 0;
    for (double away = first; away < farthest; away += step) {
        for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
            /* The leader ends at the middle of a side of the name, or at one of its corners. */
            const double cosine = turns[i][0], sine = turns[i][1];
            const struct report_point to = {from.x + away * cosine, from.y + away * sine};
            const double left = cosine > 0   ? to.x + 2
                                : cosine < 0 ? to.x - extent.width - 2
                                             : to.x - extent.width / 2;
            const double top = to.y - extent.height / 2 + sine * extent.height / 2;
            const struct report_box box = {left, top, extent.width, extent.height};
            if (is_free(frame, taken, &box) && is_clear(taken, &from, &to)) {
                put_leader(&from, &to, spot->is_chosen, taken, pen);
                report_pen_text(pen, type, REPORT_LEFT, box.x, box.y);
                take_name(taken, &box);
                return true;
            }
        }
    }
    return false;
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
    if (report_pen_width(pen, type.text, type.font) > name_width_max) {
        type.width = name_width_max;
    }
    const struct report_extent extent = report_pen_measure(pen, &type);
    const double side = (spot->is_chosen ? 9 : REPORT_MARKER_SIZE) / 2 + 3;
    const double x = report_frame_x(frame, spot->x), y = report_frame_y(frame, 0, spot->y);
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        const double reach_x = sides[i].y != 0 && sides[i].x != 0 ? 1 : side;
        const struct report_box box = {x - extent.width / 2 + sides[i].x * (extent.width / 2 + reach_x),
                                       y - extent.height / 2 + sides[i].y * (extent.height / 2 + side - 1),
                                       extent.width, extent.height};
        if (is_free(frame, taken, &box)) {
            report_pen_text(pen, &type, REPORT_LEFT, box.x, box.y);
            take_name(taken, &box);
            return true;
        }
    }
    return put_far_name(frame, spot, &type, taken, pen);
}

/* Returns the leftmost spot on the front that is lower than the last one; if several have the same x, the
 * lowest of them. */
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

/* Returns the number of names that were left out. */
static size_t put_names(const struct report_frame *frame, const struct report_chart *chart,
                        struct taken *taken, struct report_pen *pen)
{
    size_t left_out = 0;
    for (int layer = 0; layer < 3; layer++) {
        for (size_t i = 0; i < chart->spot_count; i++) {
            const struct report_spot *spot = &chart->spots[i];
            const int own = spot->is_chosen ? 0 : spot->is_best ? 1 : taken->is_stair[i] ? 2 : 3;
            if (layer == own && spot->label[0] != 0) {
                left_out += !put_name(frame, spot, taken, pen);
            }
        }
    }
    return left_out;
}

/* A step is dashed where it leaves the strip for 0, because the distance there has no meaning. */
static void put_stair(const struct report_frame *frame, const struct report_spot *from,
                      const struct report_spot *to, struct taken *taken, struct report_pen *pen)
{
    const double x0 = report_frame_x(frame, from->x), y0 = report_frame_y(frame, 0, from->y);
    const double x1 = report_frame_x(frame, to->x), y1 = report_frame_y(frame, 0, to->y);
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
static void put_stairs(const struct report_frame *frame, const struct report_chart *chart,
                       struct taken *taken, struct report_pen *pen)
{
    const struct report_spot *last = next_stair(chart, NULL);
    while (last != NULL) {
        taken->is_stair[last - chart->spots] = true;
        const struct report_spot *next = next_stair(chart, last);
        if (next != NULL) {
            put_stair(frame, last, next, taken, pen);
        }
        last = next;
    }
}

static void put_range(const struct report_frame *frame, const struct report_spot *spot, enum report_ink ink,
                      struct taken *taken, struct report_pen *pen)
{
    if (!(spot->low < spot->high)) {
        return;
    }
    const double x = report_frame_x(frame, spot->x);
    const double ends[] = {report_frame_y(frame, 0, spot->high), report_frame_y(frame, 0, spot->low)};
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, x, ends[0], x, ends[1], 1);
    for (size_t i = 0; i < 2; i++) {
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, x - cap_width / 2, ends[i], x + cap_width / 2, ends[i],
                        1);
    }
    take(taken, x - cap_width / 2, ends[0] - 1, x + cap_width / 2, ends[1] + 1);
}

/* The pale spots are drawn first and the recommended one last, so that it is on top. */
static void put_spots(const struct report_frame *frame, const struct report_chart *chart, int layer,
                      struct taken *taken, struct report_pen *pen)
{
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        if (layer != (spot->is_chosen ? 2 : spot->is_on_front ? 1 : 0)) {
            continue;
        }
        const enum report_ink ink = ink_of(spot);
        const double size = spot->is_chosen ? chosen_size : REPORT_MARKER_SIZE;
        const double x = report_frame_x(frame, spot->x), y = report_frame_y(frame, 0, spot->y);
        put_range(frame, spot, ink, taken, pen);
        report_pen_marker(pen, ink, x, y, size)->hint = spot->hint;
        take(taken, x - size / 2 - clearance, y - size / 2 - clearance, x + size / 2 + clearance,
             y + size / 2 + clearance);
    }
}

/* Sets the place of the only plot of a chart, below the title of its y axis, and draws the axes. */
static struct report_frame put_frame(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_frame frame = {.x = &chart->x, .y = &chart->y, .inset = REPORT_SIDE_INSET};
    frame.box.x = fmax(left_min, ceil(REPORT_PAGE_MARGIN + report_frame_numbers(&chart->y, pen)));
    frame.box.width = report_pen_right(pen) - frame.box.x;
    report_pen_paragraph(pen, chart->y.title, REPORT_FONT_TICK, 1);
    report_frame_place(&frame, pen->y + 10, REPORT_CURVES_HEIGHT);
    report_frame_y_axis(&frame, pen);
    report_frame_x_axis(&frame, REPORT_FONT_TICK, true, false, pen);
    report_frame_x_title(&frame, chart->x.title, pen);
    return frame;
}

void report_layout_front(const struct report_chart *chart, struct report_pen *pen)
{
    /* Each spot has up to five boxes: its marker, its range, two steps and its name. The others are for
     * leaders. */
    struct taken taken = {.capacity = 5 * chart->spot_count + 256};
    taken.boxes = report_take(pen->scene->arena, taken.capacity, sizeof *taken.boxes);
    taken.names = report_take(pen->scene->arena, chart->spot_count, sizeof *taken.names);
    taken.is_stair = report_take(pen->scene->arena, chart->spot_count, sizeof *taken.is_stair);
    if (taken.boxes == NULL || taken.names == NULL || taken.is_stair == NULL) {
        return;
    }
    const struct report_frame frame = put_frame(chart, pen);
    put_stairs(&frame, chart, &taken, pen);
    for (int layer = 0; layer < 3; layer++) {
        put_spots(&frame, chart, layer, &taken, pen);
    }
    const size_t left_out = put_names(&frame, chart, &taken, pen);
    if (left_out > 0) {
        const char *text =
            report_text(pen->scene->arena, "%zu label%s hidden", left_out, left_out == 1 ? "" : "s");
        const struct report_box box =
            report_pen_say(pen, text, REPORT_FONT_NOTE, REPORT_RIGHT, report_pen_right(pen), pen->y + 4);
        pen->y = box.y + box.height;
    }
}

static const enum report_ink grounds[] = {REPORT_INK_RANGE, REPORT_INK_TINY, REPORT_INK_OVER,
                                          REPORT_INK_ZERO};
enum { GROUNDS = sizeof grounds / sizeof grounds[0] };
static const double now_size = 11;
static const double name_room = 8;

static struct report_box box_of(const struct report_frame *frame, const struct report_area *area)
{
    const double left = report_snap(report_frame_x(frame, area->from_x));
    const double top = report_snap(report_frame_y(frame, 0, area->to_y));
    return (struct report_box){left, top, report_snap(report_frame_x(frame, area->to_x)) - left,
                               report_snap(report_frame_y(frame, 0, area->from_y)) - top};
}

static bool is_meeting(const struct report_box *one, const struct report_box *other)
{
    return one->x < other->x + other->width && other->x < one->x + one->width &&
           one->y < other->y + other->height && other->y < one->y + one->height;
}

/* Draws a border wherever the area above or to the right has another owner. */
static void put_borders(const struct report_frame *frame, const struct report_chart *chart,
                        struct report_pen *pen)
{
    for (size_t i = 0; i < chart->area_count; i++) {
        const struct report_box box = box_of(frame, &chart->areas[i]);
        for (size_t k = i + 1; k < chart->area_count; k++) {
            const struct report_box other = box_of(frame, &chart->areas[k]);
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
static bool find_room(const struct report_frame *frame, const struct report_chart *chart, size_t area,
                      double height, double *left, double *right)
{
    const struct report_box own = box_of(frame, &chart->areas[area]);
    const double middle = own.y + own.height / 2;
    const struct report_box line = {frame->box.x, middle - height / 2, frame->box.width, height};
    *left = own.x;
    *right = own.x + own.width;
    for (size_t i = 0; i < chart->area_count; i++) {
        const struct report_box box = box_of(frame, &chart->areas[i]);
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
    return line.y >= frame->box.y && line.y + height <= frame->box.y + frame->box.height;
}

static void put_region_name(const struct report_frame *frame, const struct report_chart *chart, size_t owner,
                            const struct report_box *now, struct report_pen *pen)
{
    const struct report_type type = {.text = chart->area_names[owner], .font = REPORT_FONT_LABEL, .lines = 1};
    const struct report_extent extent = report_pen_measure(pen, &type);
    double best = 0;
    struct report_box place = {0, 0, 0, 0};
    for (size_t i = 0; i < chart->area_count; i++) {
        double left, right;
        if (chart->areas[i].owner != owner ||
            !find_room(frame, chart, i, extent.height + name_room, &left, &right)) {
            continue;
        }
        const struct report_box own = box_of(frame, &chart->areas[i]);
        const struct report_box box = {(left + right - extent.width) / 2,
                                       own.y + (own.height - extent.height) / 2, extent.width, extent.height};
        /* Of places of similar width, the one nearest to the plot's middle is best. */
        const double off = fabs(box.y + box.height / 2 - frame->box.y - frame->box.height / 2);
        const double worth = right - left - 0.2 * off;
        if (right - left >= extent.width + name_room && !is_meeting(&box, now) && worth > best) {
            best = worth;
            place = box;
        }
    }
    if (best > 0) {
        report_pen_text(pen, &type, REPORT_LEFT, place.x, place.y);
    } else {
        report_pen_legend(pen, &(struct report_legend){grounds[owner % GROUNDS], type.text}, 1,
                          REPORT_FONT_LEGEND);
    }
}

void report_layout_regions(const struct report_chart *chart, struct report_pen *pen)
{
    const struct report_frame frame = put_frame(chart, pen);
    for (size_t i = 0; i < chart->area_count; i++) {
        const enum report_ink ink = grounds[chart->areas[i].owner % GROUNDS];
        struct report_mark *mark = report_pen_area(pen, ink, box_of(&frame, &chart->areas[i]));
        mark->hint = chart->areas[i].hint;
        mark->is_ground = true;
    }
    put_borders(&frame, chart, pen);
    const struct report_box now =
        report_pen_marker(pen, REPORT_INK_CHOSEN, report_frame_x(&frame, chart->now.x),
                          report_frame_y(&frame, 0, chart->now.y), now_size)
            ->box;
    pen->y += 4;
    for (size_t i = 0; i < chart->area_name_count; i++) {
        put_region_name(&frame, chart, i, &now, pen);
    }
}
