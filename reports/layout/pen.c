/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pen and the frame. In: marks, texts and axes with positions. Kept: the scene and how far down the page
 * the pen is. Out: marks with places on the page. Every number on an axis, every entry of a key and every key
 * figure of a chart is placed here. */
#include "pen.h"

#include <string.h>

static const double swatch_width = 18;
static const double swatch_height = 9;
static const double swatch_gap = 6;
static const double legend_gap = 18;
static const double tick_length = 4;
static const double text_gap = 6;
/* Between the names of rules, and between a name and its stem. */
static const double rule_gap = 8;
static const double flag_gap = 3;
/* In pixels: the width of the strip for 0 before an axis, and the gap between the two. */
static const double strip_width = 24;
static const double strip_height = 16;
static const double strip_gap = 7;

double report_snap(double value)
{
    return floor(value * 2 + 0.5) / 2;
}

struct report_mark *report_pen_mark(struct report_pen *pen, enum report_shape shape, enum report_ink ink,
                                    struct report_box box)
{
    struct report_scene *scene = pen->scene;
    if (scene->count == scene->capacity) {
        size_t capacity = scene->capacity == 0 ? 256 : 2 * scene->capacity;
        struct report_mark *marks = report_take(scene->arena, capacity, sizeof *marks);
        if (scene->count > 0)
            memcpy(marks, scene->marks, scene->count * sizeof *marks);
        scene->marks = marks;
        scene->capacity = capacity;
    }
    struct report_mark *mark = &scene->marks[scene->count++];
    *mark = (struct report_mark){.shape = shape, .ink = ink, .box = box};
    return mark;
}

struct report_mark *report_pen_area(struct report_pen *pen, enum report_ink ink, struct report_box box)
{
    const enum report_shape shape =
        report_inks[ink].strokes != 0 ? REPORT_SHAPE_HATCHED : REPORT_SHAPE_RECTANGLE;
    return report_pen_mark(pen, shape, ink, box);
}

void report_pen_line(struct report_pen *pen, enum report_shape shape, enum report_ink ink, double x0,
                     double y0, double x1, double y1, double stroke)
{
    struct report_box box = {.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0};
    report_pen_mark(pen, shape, ink, box)->stroke = stroke;
}

struct report_mark *report_pen_curve(struct report_pen *pen, enum report_ink ink,
                                     const struct report_box *box, struct report_point *points, size_t count,
                                     double stroke)
{
    struct report_mark *mark = NULL;
    for (int pass = 0; pass < 2; pass++) {
        mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, pass == 0 ? REPORT_INK_HALO : ink, *box);
        mark->points = points;
        mark->point_count = count;
        mark->stroke = pass == 0 ? stroke + 1.4 : stroke;
    }
    return mark;
}

struct report_mark *report_pen_marker(struct report_pen *pen, enum report_ink ink, double x, double y,
                                      double size)
{
    return report_pen_mark(pen, REPORT_SHAPE_MARKER, ink,
                           (struct report_box){x - size / 2, y - size / 2, size, size});
}

struct report_extent report_pen_measure(const struct report_pen *pen, const struct report_type *type)
{
    return report_typeset_measure(pen->scene->typesetter, type);
}

struct report_box report_pen_text(struct report_pen *pen, const struct report_type *type,
                                  enum report_align align, double x, double y)
{
    const struct report_extent extent = report_pen_measure(pen, type);
    const double left = align == REPORT_LEFT    ? x
                        : align == REPORT_RIGHT ? x - extent.width
                                                : x - extent.width / 2;
    const struct report_box box = {left, y, extent.width, extent.height};
    if (type->text[0] != 0)
        report_pen_mark(pen, REPORT_SHAPE_TEXT, REPORT_INK_TEXT, box)->type = *type;
    return box;
}

struct report_box report_pen_say(struct report_pen *pen, const char *text, enum report_font font,
                                 enum report_align align, double x, double y)
{
    return report_pen_text(pen, &(struct report_type){text, font, 0, 1}, align, x, y);
}

void report_pen_paragraph(struct report_pen *pen, const char *text, enum report_font font, int lines)
{
    const struct report_type type = {text, font, report_pen_content_width(pen), lines};
    if (text[0] != 0)
        pen->y += report_pen_text(pen, &type, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y).height;
}

void report_pen_headings(struct report_pen *pen, const struct report_type *types, const double *lefts,
                         size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, report_pen_measure(pen, &types[i]).height);
    pen->y += most;
    for (size_t i = 0; i < count; i++)
        report_pen_text(pen, &types[i], REPORT_LEFT, lefts[i],
                        pen->y - report_pen_measure(pen, &types[i]).height);
}

void report_pen_range(struct report_pen *pen, enum report_ink ink, double x, double top, double bottom)
{
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, x, top, x, bottom, 1);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, x - REPORT_CAP_WIDTH / 2, top, x + REPORT_CAP_WIDTH / 2, top,
                    1);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, x - REPORT_CAP_WIDTH / 2, bottom, x + REPORT_CAP_WIDTH / 2,
                    bottom, 1);
}

double report_pen_width(const struct report_pen *pen, const char *text, enum report_font font)
{
    return report_pen_measure(pen, &(struct report_type){text, font, 0, 1}).width;
}

double report_pen_height(const struct report_pen *pen, enum report_font font)
{
    return report_pen_measure(pen, &(struct report_type){"0", font, 0, 1}).height;
}

double report_pen_right(const struct report_pen *pen)
{
    return pen->scene->width - REPORT_PAGE_MARGIN;
}

double report_pen_content_width(const struct report_pen *pen)
{
    return report_pen_right(pen) - REPORT_PAGE_MARGIN;
}

bool report_pen_is_narrow(const struct report_pen *pen)
{
    return pen->scene->width < REPORT_PAGE_WIDTH;
}

static void put_swatch(struct report_pen *pen, enum report_ink ink, double x, double middle)
{
    middle = report_snap(middle);
    const struct report_box box = {.x = report_snap(x),
                                   .y = report_snap(middle - swatch_height / 2),
                                   .width = swatch_width,
                                   .height = swatch_height};
    const double right = box.x + box.width, bottom = box.y + box.height, centre = box.x + box.width / 2;
    const bool is_line = ink >= REPORT_INK_LINE && ink <= REPORT_INK_LINE_LAST;
    if (is_line || ink == REPORT_INK_DISTRIBUTION)
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, box.x, middle, right, middle, is_line ? 1.8 : 1.6);
    if (is_line || ink == REPORT_INK_PALE || ink == REPORT_INK_CHOSEN) {
        report_pen_marker(pen, ink, centre, middle, REPORT_MARKER_SIZE);
    } else if (ink == REPORT_INK_TEXT || ink == REPORT_INK_SLOW) {
        report_pen_line(pen, ink == REPORT_INK_TEXT ? REPORT_SHAPE_DASHED : REPORT_SHAPE_LINE, ink, centre,
                        box.y - 1, centre, bottom + 1, ink == REPORT_INK_TEXT ? 1 : 2);
    } else if (ink == REPORT_INK_DASHES) {
        struct report_point *ends = report_take(pen->scene->arena, 2, sizeof *ends);
        ends[0] = (struct report_point){box.x, middle};
        ends[1] = (struct report_point){right, middle};
        const struct report_box flat = {box.x, middle, box.width, 0};
        report_pen_curve(pen, ink, &flat, ends, 2, 1.4)->is_distribution = true;
    } else if (ink != REPORT_INK_DISTRIBUTION) {
        report_pen_area(pen, ink, box);
    }
    if (ink == REPORT_INK_OVER || ink == REPORT_INK_TINY) {
        const double edge = ink == REPORT_INK_OVER ? box.x : right;
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, edge, box.y, edge, bottom, 1);
    } else if (ink == REPORT_INK_SPLIT) {
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ALARM,
                        (struct report_box){box.x, box.y, box.width, 3});
    }
}

void report_pen_legend(struct report_pen *pen, const struct report_legend *entries, size_t count,
                       enum report_font font)
{
    const double before_text = swatch_width + swatch_gap, room = report_pen_content_width(pen);
    const double line = report_pen_height(pen, font);
    double x = REPORT_PAGE_MARGIN;
    for (size_t i = 0; i < count; i++) {
        struct report_type type = {entries[i].text, font, 0, 1};
        double width = before_text + report_pen_measure(pen, &type).width;
        if (width > room) {
            type.width = room - before_text;
            width = room;
        }
        if (x > REPORT_PAGE_MARGIN && x + width > REPORT_PAGE_MARGIN + room) {
            x = REPORT_PAGE_MARGIN;
            pen->y += line + 4;
        }
        put_swatch(pen, entries[i].ink, x, pen->y + line / 2);
        report_pen_text(pen, &type, REPORT_LEFT, x + before_text, pen->y);
        x += width + legend_gap;
    }
    pen->y += count > 0 ? line + 6 : 0;
}

void report_pen_head(struct report_pen *pen, const struct report_panel *panel, double left, double right)
{
    static const double gap = 10;
    const double room = right - left;
    const struct report_type label = {panel->label, REPORT_FONT_LABEL, room, 2};
    struct report_type detail = {panel->detail, REPORT_FONT_DETAIL, room, 2};
    const double baseline = pen->y + report_pen_measure(pen, &label).baseline;
    struct report_box box = report_pen_text(pen, &label, REPORT_LEFT, left, pen->y);
    if (box.height < 1.5 * report_pen_height(pen, REPORT_FONT_LABEL) &&
        box.width + gap + report_pen_width(pen, panel->detail, REPORT_FONT_DETAIL) <= room) {
        detail.width = 0;
        report_pen_text(pen, &detail, REPORT_LEFT, box.width > 0 ? left + box.width + gap : left,
                        baseline - report_pen_measure(pen, &detail).baseline);
        pen->y += box.height;
    } else {
        pen->y += box.height + 1;
        pen->y += report_pen_text(pen, &detail, REPORT_LEFT, left, pen->y).height;
    }
    if (panel->note[0] != 0) {
        const struct report_type note = {panel->note, REPORT_FONT_NOTE, room, 2};
        box = report_pen_text(pen, &note, REPORT_LEFT, left, pen->y + 1);
        pen->y = box.y + box.height;
    }
}

double report_pen_figures(struct report_pen *pen, const struct report_panel *panel, double left, double right,
                          double top, size_t columns, bool few)
{
    static const double line = 13, gap = 14;
    const double room = (right - left - gap * (double)(columns - 1)) / (double)columns;
    size_t used = 0;
    for (size_t i = 0; i < panel->figure_count; i++) {
        const struct report_figure *figure = &panel->figures[i];
        if (few && !figure->is_key && !figure->is_alarm)
            continue;
        const enum report_font font = figure->is_alarm ? REPORT_FONT_ALARM : REPORT_FONT_FIGURE;
        const double x = left + (double)(used % columns) * (room + gap);
        const double y = top + (double)(used / columns) * line;
        const struct report_type name = {figure->name, REPORT_FONT_FIGURE,
                                         room - 4 - report_pen_width(pen, figure->text, font), 1};
        report_pen_text(pen, &name, REPORT_LEFT, x, y);
        report_pen_say(pen, figure->text, font, REPORT_RIGHT, x + room, y);
        used++;
    }
    return top + (double)((used + columns - 1) / columns) * line;
}

void report_frame_place(struct report_frame *frame, double top, double height)
{
    frame->box.y = report_snap(top);
    frame->box.height = height;
    frame->strip_top = frame->box.y + height;
    if (frame->y != NULL && frame->y->has_zero) {
        frame->strip_top += strip_gap;
        frame->box.height += strip_gap + strip_height;
    }
}

double report_frame_x(const struct report_frame *frame, double at)
{
    const struct report_axis *axis = frame->x;
    const struct report_box *box = &frame->box;
    const double before = axis->has_zero ? strip_width + strip_gap : 0;
    if (axis->has_zero && at < axis->low)
        return box->x + strip_width / 2;
    const double room = box->width - before - 2 * frame->inset;
    return box->x + before + frame->inset + (at - axis->low) / (axis->high - axis->low) * room;
}

double report_frame_y(const struct report_frame *frame, double at)
{
    const struct report_axis *axis = frame->y;
    const struct report_box *box = &frame->box;
    if (axis->has_zero && at < axis->low)
        return (frame->strip_top + box->y + box->height) / 2;
    const double height = frame->strip_top - (axis->has_zero ? strip_gap : 0) - box->y;
    return box->y + (1 - (at - axis->low) / (axis->high - axis->low)) * height;
}

double report_frame_numbers(const struct report_axis *y, const struct report_pen *pen)
{
    double widest = report_pen_width(pen, "0", REPORT_FONT_TICK);
    for (size_t i = 0; i < y->tick_count; i++)
        widest = fmax(widest, report_pen_width(pen, y->ticks[i].text, REPORT_FONT_TICK));
    return widest + text_gap;
}

/* Draws a short stroke across the axis where the axis is broken. */
static void put_break(double x, double y, bool is_upright, struct report_pen *pen)
{
    static const double half = 4, slope = 2;
    const double dx = is_upright ? slope : half, dy = is_upright ? half : slope;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x - dx, y + dy, x + dx, y - dy, 1);
}

static void put_y_number(const struct report_frame *frame, const char *text, double y, struct report_pen *pen)
{
    report_pen_say(pen, text, REPORT_FONT_TICK, REPORT_RIGHT, frame->box.x - text_gap,
                   y - report_pen_height(pen, REPORT_FONT_TICK) / 2);
}

void report_frame_y_axis(const struct report_frame *frame, struct report_pen *pen)
{
    const struct report_axis *axis = frame->y;
    const struct report_box *box = &frame->box;
    const double left = box->x, right = box->x + box->width,
                 height = report_pen_height(pen, REPORT_FONT_TICK);
    const double bottom = box->y + box->height;
    if (axis->has_zero)
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO,
                        (struct report_box){left, frame->strip_top, box->width, bottom - frame->strip_top});
    double above = HUGE_VAL;
    for (size_t i = 0; i < axis->tick_count; i++) {
        const double y = report_snap(report_frame_y(frame, axis->ticks[i].at));
        if (axis->ticks[i].text[0] == 0) {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, left - 2, y, left, y, 1);
            continue;
        }
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, left, y, right, y, 1);
        if (y + height / 2 <= above) {
            put_y_number(frame, axis->ticks[i].text, y, pen);
            above = y - height / 2;
        }
    }
    const double axis_bottom = axis->has_zero ? frame->strip_top - strip_gap : bottom;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, left, box->y, left, axis_bottom, 1);
    if (axis->has_zero) {
        put_y_number(frame, "0", (frame->strip_top + bottom) / 2, pen);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, left, frame->strip_top, left, bottom, 1);
        put_break(left, axis_bottom, false, pen);
        put_break(left, frame->strip_top, false, pen);
    }
}

/* Draws the strip for x = 0, and its number. Returns the x where the next number may begin. */
static double put_x_strip(const struct report_frame *frame, enum report_font font, struct report_pen *pen)
{
    const struct report_box *box = &frame->box;
    const double y = box->y + box->height;
    const struct report_box text =
        report_pen_say(pen, "0", font, REPORT_CENTRE, box->x + strip_width / 2, y + tick_length + 2);
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x, y, box->x + strip_width, y, 1);
    put_break(box->x + strip_width + strip_gap, y, true, pen);
    put_break(box->x + strip_width, y, true, pen);
    return text.x + text.width + text_gap;
}

void report_frame_x_axis(const struct report_frame *frame, enum report_font font, bool has_numbers,
                         bool has_grid, struct report_pen *pen)
{
    const struct report_axis *axis = frame->x;
    const struct report_box *box = &frame->box;
    const double y = box->y + box->height, right = box->x + box->width, most = pen->scene->width;
    const double from = box->x + (axis->has_zero ? strip_width + strip_gap : 0);
    double taken = REPORT_PAGE_MARGIN / 2;
    if (axis->has_zero) {
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO,
                        (struct report_box){box->x, box->y, strip_width, box->height});
        taken = put_x_strip(frame, font, pen);
    }
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, from, y, right, y, 1);
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct report_tick *tick = &axis->ticks[i];
        const bool has_number = tick->text[0] != 0;
        const double x = report_snap(report_frame_x(frame, tick->at));
        if (x > right)
            break;
        if (has_number && has_grid && x > box->x + frame->inset)
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, x, box->y, x, y, 1);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, y, x,
                        y + (has_number ? tick_length : tick_length / 2), 1);
        const double width = report_pen_width(pen, tick->text, font);
        const double left =
            fmax(REPORT_PAGE_MARGIN / 2, fmin(x - width / 2, most - REPORT_PAGE_MARGIN / 2 - width));
        if (has_numbers && has_number && left >= taken) {
            report_pen_say(pen, tick->text, font, REPORT_LEFT, left, y + tick_length + 2);
            taken = left + width + text_gap;
        }
    }
    pen->y = y + tick_length + (has_numbers ? 2 + report_pen_height(pen, font) : 0);
}

void report_frame_x_title(const struct report_frame *frame, const char *title, struct report_pen *pen)
{
    const struct report_type type = {title, REPORT_FONT_TICK, report_pen_content_width(pen), 1};
    const double width = report_pen_measure(pen, &type).width;
    const double middle = frame->box.x + frame->box.width / 2;
    const double left = fmax(REPORT_PAGE_MARGIN, fmin(middle - width / 2, report_pen_right(pen) - width));
    const struct report_box box = report_pen_text(pen, &type, REPORT_LEFT, left, pen->y + 3);
    pen->y = box.y + box.height;
}

void report_frame_bands(const struct report_frame *frame, const struct report_panel *panel,
                        struct report_pen *pen)
{
    const struct report_box *plot = &frame->box;
    for (size_t i = 0; i < panel->band_count; i++) {
        const struct report_band *band = &panel->bands[i];
        const bool is_over = band->ink == REPORT_INK_OVER;
        if (band->is_level) {
            const double top = report_snap(report_frame_y(frame, band->to));
            const double bottom = report_snap(report_frame_y(frame, band->from));
            const double edge = is_over ? bottom : top;
            report_pen_area(pen, band->ink, (struct report_box){plot->x, top, plot->width, bottom - top});
            report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, plot->x, edge, plot->x + plot->width,
                            edge, 1);
            continue;
        }
        const double from = report_snap(report_frame_x(frame, band->from));
        const double to = report_snap(report_frame_x(frame, band->to)), edge = is_over ? from : to;
        report_pen_area(pen, band->ink, (struct report_box){from, plot->y, to - from, plot->height});
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, edge, plot->y, edge,
                        plot->y + plot->height, 1);
    }
}

static bool crosses(const struct report_rule_place *name, double stem)
{
    return stem > name->x - flag_gap + 1 && stem < name->x + name->width + flag_gap - 1;
}

/* True if neither the name nor its stem down to the plot touches the name or the stem of `other`. */
static bool is_apart(const struct report_rule_place *rule, const struct report_rule_place *other)
{
    const bool is_beside =
        rule->x + rule->width + rule_gap <= other->x || other->x + other->width + rule_gap <= rule->x;
    return (rule->row != other->row || is_beside) &&
           (rule->row > other->row || !crosses(rule, other->stem)) &&
           (rule->row < other->row || !crosses(other, rule->stem));
}

/* Places the name of a rule right or left of its stem, in the lowest row that is free. Names placed before
 * are in `placed`. by_side: all rows on the right before any on the left. */
static bool place_rule(struct report_rule_place *rule, const struct report_rule_place *const *placed,
                       size_t placed_count, bool by_side, const struct report_pen *pen)
{
    for (size_t turn = 0; turn < 2 * REPORT_MOMENTS_MAX; turn++) {
        const bool is_left = by_side ? turn >= REPORT_MOMENTS_MAX : turn % 2 == 1;
        rule->row = by_side ? turn % REPORT_MOMENTS_MAX : turn / 2;
        rule->x = is_left ? rule->stem - flag_gap - rule->width : rule->stem + flag_gap;
        bool is_free = rule->x >= REPORT_PAGE_MARGIN && rule->x + rule->width <= report_pen_right(pen);
        for (size_t i = 0; is_free && i < placed_count; i++)
            is_free = is_apart(rule, placed[i]);
        if (is_free)
            return true;
    }
    return false;
}

/* Tries the rules from the last to the first, and the other way round. If the names do not fit, none is above
 * the plot. */
void report_rules_place(struct report_rules *rules, const struct report_moment *moments, size_t count,
                        const struct report_frame *frame, const struct report_pen *pen)
{
    bool is_placed = false;
    for (int attempt = 0; attempt < 4 && !is_placed; attempt++) {
        const struct report_rule_place *placed[REPORT_MOMENTS_MAX];
        size_t placed_count = 0;
        *rules = (struct report_rules){.count = count};
        is_placed = true;
        for (size_t i = 0; i < count; i++) {
            const size_t index = attempt % 2 == 0 ? count - 1 - i : i;
            struct report_rule_place *rule = &rules->items[index];
            rule->stem = report_frame_x(frame, moments[index].at);
            rule->width = report_pen_width(pen, moments[index].text, REPORT_FONT_STAGE);
            if (rule->width > 0) {
                is_placed = is_placed && place_rule(rule, placed, placed_count, attempt >= 2, pen);
                placed[placed_count++] = rule;
                rules->row_count = rule->row >= rules->row_count ? rule->row + 1 : rules->row_count;
            }
        }
    }
    if (!is_placed)
        *rules = (struct report_rules){.count = count};
}

double report_rules_height(const struct report_rules *rules, const struct report_pen *pen)
{
    return (report_pen_height(pen, REPORT_FONT_STAGE) + 1) * (double)rules->row_count;
}

/* A rule has a halo, so that it is visible on dark marks. */
void report_rules_put(const struct report_rules *rules, const struct report_moment *moments,
                      const struct report_frame *frame, double top, struct report_pen *pen)
{
    const double line = report_pen_height(pen, REPORT_FONT_STAGE) + 1;
    for (size_t i = 0; i < rules->count; i++) {
        const struct report_rule_place *rule = &rules->items[i];
        const double x = report_snap(report_frame_x(frame, moments[i].at));
        const double bottom = frame->box.y + frame->box.height;
        double from = frame->box.y;
        if (rule->width > 0) {
            from = top + line * (double)(rules->row_count - 1 - rule->row);
            report_pen_say(pen, moments[i].text, REPORT_FONT_STAGE, REPORT_LEFT, rule->x, from);
        }
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_HALO, x, from, x, bottom, 3);
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_TEXT, x, from, x, bottom, 1);
    }
}
