/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pen puts marks, texts, keys, panel heads and the names of lines into a scene, from the top down. */
#include "pen.h"

static const double swatch_height = 9;
static const double legend_gap = 18;

#include <math.h>
#include <string.h>

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
        if (marks == NULL) {
            return &scene->spare; /* The arena remembers the failure. */
        }
        if (scene->count > 0) {
            memcpy(marks, scene->marks, scene->count * sizeof *marks);
        }
        scene->marks = marks;
        scene->capacity = capacity;
    }
    struct report_mark *mark = &scene->marks[scene->count++];
    *mark = (struct report_mark){.shape = shape, .ink = ink, .box = box};
    return mark;
}

void report_pen_line(struct report_pen *pen, enum report_shape shape, enum report_ink ink, double x0,
                     double y0, double x1, double y1, double stroke)
{
    struct report_box box = {.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0};
    report_pen_mark(pen, shape, ink, box)->stroke = stroke;
}

struct report_box report_pen_text(struct report_pen *pen, const struct report_type *type,
                                  enum report_align align, double x, double y)
{
    struct report_extent extent = report_typeset_measure(pen->typesetter, type);
    double left = align == REPORT_LEFT ? x : align == REPORT_RIGHT ? x - extent.width : x - extent.width / 2;
    struct report_box box = {.x = left, .y = y, .width = extent.width, .height = extent.height};
    if (type->text[0] != 0) {
        report_pen_mark(pen, REPORT_SHAPE_TEXT, REPORT_INK_TEXT, box)->type = *type;
    }
    return box;
}

struct report_box report_pen_text_on(struct report_pen *pen, const struct report_type *type,
                                     enum report_align align, double x, double baseline)
{
    struct report_extent extent = report_typeset_measure(pen->typesetter, type);
    return report_pen_text(pen, type, align, x, baseline - extent.baseline);
}

double report_pen_width(struct report_pen *pen, const char *text, enum report_font font)
{
    struct report_type type = {.text = text, .font = font, .lines = 1};
    return report_typeset_measure(pen->typesetter, &type).width;
}

double report_pen_height(struct report_pen *pen, enum report_font font)
{
    struct report_type type = {.text = "0", .font = font, .lines = 1};
    return report_typeset_measure(pen->typesetter, &type).height;
}

double report_pen_right(const struct report_pen *pen)
{
    return pen->scene->width - REPORT_PAGE_MARGIN;
}

double report_pen_content_width(const struct report_pen *pen)
{
    return report_pen_right(pen) - REPORT_PAGE_MARGIN;
}

void report_pen_head(struct report_pen *pen, const struct report_panel *panel, double left, double right)
{
    static const double gap = 10;
    const double room = right - left;
    struct report_type label = {panel->label, REPORT_FONT_LABEL, room, 2};
    struct report_type detail = {panel->detail, REPORT_FONT_DETAIL, room, 2};
    struct report_extent first = report_typeset_measure(pen->typesetter, &label);
    double detail_width = report_pen_width(pen, panel->detail, REPORT_FONT_DETAIL);
    double baseline = pen->y + first.baseline;
    struct report_box box = report_pen_text(pen, &label, REPORT_LEFT, left, pen->y);
    bool fits = box.height < 1.5 * report_pen_height(pen, REPORT_FONT_LABEL) &&
                box.width + gap + detail_width <= room;
    if (fits) {
        detail.width = 0;
        double x = box.width > 0 ? left + box.width + gap : left;
        report_pen_text_on(pen, &detail, REPORT_LEFT, x, baseline);
        pen->y += box.height;
    } else {
        pen->y += box.height + 1;
        box = report_pen_text(pen, &detail, REPORT_LEFT, left, pen->y);
        pen->y += box.height;
    }
    if (panel->note[0] != 0) {
        const struct report_type note = {panel->note, REPORT_FONT_NOTE, room, 2};
        box = report_pen_text(pen, &note, REPORT_LEFT, left, pen->y + 1);
        pen->y = box.y + box.height;
    }
}

void report_pen_panel_head(struct report_pen *pen, const struct report_panel *panel, double left)
{
    report_pen_head(pen, panel, left, report_pen_right(pen));
}

static const double figure_line = 13;

double report_pen_figures_below(struct report_pen *pen, const struct report_panel *panel, double top)
{
    static const double width = 150;
    for (size_t i = 0; i < panel->figure_count; i++) {
        const struct report_figure *figure = &panel->figures[i];
        const enum report_font font = figure->is_alarm ? REPORT_FONT_ALARM : REPORT_FONT_FIGURE;
        const struct report_type name = {.text = figure->name, .font = REPORT_FONT_FIGURE, .lines = 1};
        const struct report_type text = {.text = figure->text, .font = font, .lines = 1};
        report_pen_text(pen, &name, REPORT_LEFT, REPORT_PAGE_MARGIN, top);
        report_pen_text(pen, &text, REPORT_LEFT, REPORT_PAGE_MARGIN + width, top);
        top += figure_line;
    }
    return top;
}

double report_pen_figures(struct report_pen *pen, const struct report_panel *panel, double top)
{
    for (size_t i = 0; i < panel->figure_count; i++) {
        const struct report_figure *figure = &panel->figures[i];
        const enum report_font font = figure->is_alarm ? REPORT_FONT_ALARM : REPORT_FONT_FIGURE;
        const struct report_type name = {.text = figure->name, .font = REPORT_FONT_FIGURE, .lines = 1};
        const struct report_type text = {.text = figure->text, .font = font, .lines = 1};
        report_pen_text(pen, &name, REPORT_LEFT, REPORT_FIGURES_LEFT, top);
        report_pen_text(pen, &text, REPORT_RIGHT, report_pen_right(pen), top);
        top += figure_line;
    }
    return top;
}

void report_pen_legend(struct report_pen *pen, const struct report_legend *entries, size_t count)
{
    static const double before_text = REPORT_SWATCH_WIDTH + REPORT_SWATCH_GAP;
    const double line = report_pen_height(pen, REPORT_FONT_LEGEND);
    double x = REPORT_PAGE_MARGIN;
    for (size_t i = 0; i < count; i++) {
        struct report_type type = {.text = entries[i].text, .font = REPORT_FONT_LEGEND, .lines = 1};
        double width = before_text + report_typeset_measure(pen->typesetter, &type).width;
        if (width > report_pen_content_width(pen)) {
            type.width = report_pen_content_width(pen) - before_text;
            width = report_pen_content_width(pen);
        }
        if (x > REPORT_PAGE_MARGIN && x + width > REPORT_PAGE_MARGIN + report_pen_content_width(pen)) {
            x = REPORT_PAGE_MARGIN;
            pen->y += line + 4;
        }
        report_pen_swatch(pen, entries[i].ink, x, pen->y + line / 2);
        report_pen_text(pen, &type, REPORT_LEFT, x + before_text, pen->y);
        x += width + legend_gap;
    }
    if (count > 0) {
        pen->y += line + 6;
    }
}

static void put_dashes(struct report_pen *pen, enum report_ink ink, double x, double middle)
{
    struct report_point *points = report_take(pen->scene->arena, 2, sizeof *points);
    if (points == NULL) {
        return;
    }
    points[0] = (struct report_point){x, middle};
    points[1] = (struct report_point){x + REPORT_SWATCH_WIDTH, middle};
    struct report_mark *mark =
        report_pen_mark(pen, REPORT_SHAPE_CURVE, ink, (struct report_box){x, middle, REPORT_SWATCH_WIDTH, 0});
    mark->points = points;
    mark->point_count = 2;
    mark->stroke = 1.4;
    mark->is_distribution = true;
}

void report_pen_swatch(struct report_pen *pen, enum report_ink ink, double x, double middle)
{
    middle = report_snap(middle);
    const struct report_box box = {.x = report_snap(x),
                                   .y = report_snap(middle - swatch_height / 2),
                                   .width = REPORT_SWATCH_WIDTH,
                                   .height = swatch_height};
    if (report_style_is_hatched(ink)) {
        report_pen_mark(pen, REPORT_SHAPE_HATCHED, ink, box);
        return;
    }
    if (report_style_is_line(ink)) {
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, box.x, middle, box.x + box.width, middle, 1.8);
        report_pen_marker(pen, ink, box.x + box.width / 2, middle);
        return;
    }
    switch (ink) {
    case REPORT_INK_TEXT:
        report_pen_line(pen, REPORT_SHAPE_DASHED, ink, box.x + box.width / 2, box.y - 1,
                        box.x + box.width / 2, box.y + box.height + 1, 1);
        return;
    case REPORT_INK_PALE:
    case REPORT_INK_CHOSEN:
        report_pen_marker(pen, ink, box.x + box.width / 2, middle);
        return;
    case REPORT_INK_RING:
    case REPORT_INK_HOLDS:
        report_pen_frame(pen, ink, &box, 1.8);
        return;
    case REPORT_INK_DISTRIBUTION:
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, box.x, middle, box.x + box.width, middle, 1.6);
        return;
    case REPORT_INK_DASHES:
        put_dashes(pen, ink, box.x, middle);
        return;
    case REPORT_INK_SLOW:
        report_pen_line(pen, REPORT_SHAPE_LINE, ink, box.x + box.width / 2, box.y - 1, box.x + box.width / 2,
                        box.y + box.height + 1, 2);
        return;
    case REPORT_INK_OVER:
    case REPORT_INK_TINY: {
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, ink, box);
        double edge = ink == REPORT_INK_OVER ? box.x : box.x + box.width;
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, edge, box.y, edge, box.y + box.height, 1);
        return;
    }
    case REPORT_INK_SPLIT:
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, ink, box);
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ALARM,
                        (struct report_box){box.x, box.y, box.width, 3});
        return;
    default:
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, ink, box);
    }
}

void report_pen_marker(struct report_pen *pen, enum report_ink ink, double x, double y)
{
    static const double size = REPORT_MARKER_SIZE;
    report_pen_mark(pen, REPORT_SHAPE_MARKER, ink,
                    (struct report_box){x - size / 2, y - size / 2, size, size});
}

void report_pen_frame(struct report_pen *pen, enum report_ink ink, const struct report_box *box,
                      double stroke)
{
    const double right = box->x + box->width, bottom = box->y + box->height, over = stroke / 2;
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, box->x - over, box->y, right + over, box->y, stroke);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, box->x - over, bottom, right + over, bottom, stroke);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, box->x, box->y, box->x, bottom, stroke);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, right, box->y, right, bottom, stroke);
}

/* The names are sorted by the y where their lines end, then pushed down and afterwards up until none overlaps
 * another. */
void report_pen_line_names(struct report_pen *pen, const struct report_line_names *names)
{
    const double height = report_pen_height(pen, REPORT_FONT_LEGEND) + 1;
    const struct report_point *ends = names->ends;
    double places[REPORT_CURVES_MAX];
    size_t order[REPORT_CURVES_MAX];
    for (size_t i = 0; i < names->count; i++) {
        size_t place = i;
        for (; place > 0 && ends[order[place - 1]].y > ends[i].y; place--) {
            order[place] = order[place - 1];
        }
        order[place] = i;
    }
    double next = names->box.y;
    for (size_t i = 0; i < names->count; i++) {
        places[i] = fmax(next, ends[order[i]].y - height / 2);
        next = places[i] + height;
    }
    next = names->box.y + names->box.height;
    for (size_t i = names->count; i-- > 0;) {
        places[i] = fmin(places[i], next - height);
        next = places[i];
    }
    for (size_t i = 0; i < names->count; i++) {
        const struct report_line *line = &names->lines[order[i]];
        const double middle = places[i] + height / 2;
        const double from = ends[order[i]].x + REPORT_MARKER_SIZE / 2;
        const bool is_far = names->x - from > names->far_leader;
        report_pen_line(pen, is_far ? REPORT_SHAPE_DASHED : REPORT_SHAPE_LINE, line->ink, from,
                        ends[order[i]].y, names->x, middle, 0.8);
        report_pen_marker(pen, line->ink, names->x, middle);
        const struct report_type type = {.text = line->label, .font = REPORT_FONT_LEGEND, .lines = 1};
        report_pen_text(pen, &type, REPORT_LEFT, names->x + names->marker_width / 2, places[i]);
    }
}
