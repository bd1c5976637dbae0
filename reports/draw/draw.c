/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a scene on a Cairo context: each mark by its shape, in the order of the scene. */
#include "draw.h"

#include <math.h>

static void set_colour(cairo_t *cairo, struct report_colour colour)
{
    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
}

static void put_strokes(const struct report_box *box, bool is_falling, cairo_t *cairo)
{
    /* A falling stroke is a rising stroke on a vertically mirrored page. */
    const double sign = is_falling ? -1 : 1;
    const double top = is_falling ? -(box->y + box->height) : box->y;
    const double bottom = top + box->height;
    const double right = box->x + box->width;
    for (double sum = ceil((box->x + top) / REPORT_HATCH_PITCH) * REPORT_HATCH_PITCH; sum < right + bottom;
         sum += REPORT_HATCH_PITCH) {
        double from = fmax(box->x, sum - bottom);
        double to = fmin(right, sum - top);
        cairo_move_to(cairo, from, sign * (sum - from));
        cairo_line_to(cairo, to, sign * (sum - to));
    }
}

/* Of a narrow bar, only the top edge is drawn, because with its sides it would look solid. */
static void outline(const struct report_box *box, cairo_t *cairo)
{
    const double inset = REPORT_HATCH_STROKE / 2;
    if (box->width < 3 * REPORT_HATCH_PITCH) {
        cairo_move_to(cairo, box->x, box->y + inset);
        cairo_line_to(cairo, box->x + box->width, box->y + inset);
    } else {
        cairo_rectangle(cairo, box->x + inset, box->y + inset, box->width - REPORT_HATCH_STROKE,
                        box->height - REPORT_HATCH_STROKE);
    }
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    cairo_stroke(cairo);
}

/* The strokes lie on the lines x + y = k * pitch (falling: x - y = k * pitch) of the whole page, so that they
 * continue from bar to bar. Their ends are computed here rather than clipped by Cairo, because a clip path
 * would appear in each vector file. */
static void draw_hatched(const struct report_mark *mark, cairo_t *cairo)
{
    const struct report_box *box = &mark->box;
    const struct report_hatch hatch = report_style_hatch(mark->ink);
    /* A bar that is too low for strokes is filled with their mean colour. */
    const bool is_flat = box->height < REPORT_HATCH_PITCH / 2;
    set_colour(cairo, is_flat ? hatch.flat : hatch.fill);
    cairo_rectangle(cairo, box->x, box->y, box->width, box->height);
    cairo_fill(cairo);
    if (is_flat) {
        return;
    }
    set_colour(cairo, report_style_colour(mark->ink));
    if (hatch.strokes & REPORT_STROKES_RISING) {
        put_strokes(box, false, cairo);
    }
    if (hatch.strokes & REPORT_STROKES_FALLING) {
        put_strokes(box, true, cairo);
    }
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_width(cairo, REPORT_HATCH_STROKE);
    cairo_stroke(cairo);
    outline(box, cairo);
}

static void draw_line(const struct report_mark *mark, cairo_t *cairo)
{
    static const double dashes[] = {3, 2};
    cairo_set_line_width(cairo, mark->stroke);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    if (mark->shape == REPORT_SHAPE_DASHED) {
        cairo_set_dash(cairo, dashes, 2, 0);
    }
    cairo_move_to(cairo, mark->box.x, mark->box.y);
    cairo_line_to(cairo, mark->box.x + mark->box.width, mark->box.y + mark->box.height);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void draw_curve(const struct report_mark *mark, cairo_t *cairo)
{
    static const double dots[] = {1, 4};
    static const double dashes[] = {5, 3};
    /* Drawing text leaves a current point, which the first cairo_line_to() would connect to the curve. */
    cairo_new_path(cairo);
    for (size_t i = 0; i < mark->point_count; i++) {
        cairo_line_to(cairo, mark->points[i].x, mark->points[i].y);
    }
    if (mark->is_dashed) {
        cairo_set_dash(cairo, dots, 2, 0);
    } else if (mark->is_distribution) {
        cairo_set_dash(cairo, dashes, 2, 0);
    }
    cairo_set_line_width(cairo, mark->stroke);
    cairo_set_line_cap(cairo, mark->is_distribution ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void put_polygon(const struct report_box *box, enum report_marker marker, cairo_t *cairo)
{
    static const double full_turn = 6.28318530717958647693;
    const double x = box->x;
    const double y = box->y;
    const double size = box->width;
    if (marker == REPORT_MARKER_DISC || marker == REPORT_MARKER_RING) {
        cairo_new_sub_path(cairo);
        cairo_arc(cairo, x + size / 2, y + size / 2, size / 2, 0, full_turn);
        return;
    }
    if (marker == REPORT_MARKER_CROSS) {
        cairo_move_to(cairo, x, y);
        cairo_line_to(cairo, x + size, y + size);
        cairo_move_to(cairo, x + size, y);
        cairo_line_to(cairo, x, y + size);
        return;
    }
    struct report_point corners[REPORT_CORNERS_MAX];
    const size_t count = report_style_corners(marker, corners);
    for (size_t i = 0; i < count; i++) {
        cairo_line_to(cairo, x + size * corners[i].x, y + size * corners[i].y);
    }
    cairo_close_path(cairo);
}

/* An outline in the paper's colour separates the marker from the lines under it. A hollow marker is filled
 * with the paper's colour. */
static void draw_marker(const struct report_mark *mark, cairo_t *cairo)
{
    const enum report_marker marker = report_style_marker(mark->ink);
    const bool is_hollow =
        marker == REPORT_MARKER_RING || marker == REPORT_MARKER_FRAME || marker == REPORT_MARKER_KITE;
    const bool is_open = marker == REPORT_MARKER_CROSS;
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    cairo_new_path(cairo);
    put_polygon(&mark->box, marker, cairo);
    set_colour(cairo, report_style_colour(REPORT_INK_HALO));
    cairo_set_line_width(cairo, 3);
    cairo_stroke_preserve(cairo);
    if (!is_open) {
        cairo_fill_preserve(cairo);
    }
    set_colour(cairo, report_style_colour(mark->ink));
    cairo_set_line_width(cairo, 1.5);
    if (is_open || is_hollow) {
        cairo_stroke(cairo);
    } else {
        cairo_fill(cairo);
    }
}

static void draw_text(const struct report_mark *mark, struct report_typesetter *typesetter, cairo_t *cairo)
{
    if (!mark->is_upright) {
        report_typeset_draw(typesetter, cairo, &mark->type, mark->box.x, mark->box.y);
        return;
    }
    static const double quarter_turn = -1.57079632679489661923;
    cairo_save(cairo);
    cairo_translate(cairo, mark->box.x, mark->box.y + mark->box.height);
    cairo_rotate(cairo, quarter_turn);
    report_typeset_draw(typesetter, cairo, &mark->type, 0, 0);
    cairo_restore(cairo);
}

void report_draw(const struct report_scene *scene, struct report_typesetter *typesetter, cairo_t *cairo)
{
    set_colour(cairo, report_style_colour(REPORT_INK_HALO));
    cairo_rectangle(cairo, 0, 0, scene->width, scene->height);
    cairo_fill(cairo);
    for (size_t i = 0; i < scene->count; i++) {
        const struct report_mark *mark = &scene->marks[i];
        set_colour(cairo, report_style_colour(mark->ink));
        switch (mark->shape) {
        case REPORT_SHAPE_RECTANGLE:
            cairo_rectangle(cairo, mark->box.x, mark->box.y, mark->box.width, mark->box.height);
            cairo_fill(cairo);
            break;
        case REPORT_SHAPE_TILE:
            set_colour(cairo, report_style_scale(mark->shade));
            cairo_rectangle(cairo, mark->box.x, mark->box.y, mark->box.width, mark->box.height);
            cairo_fill(cairo);
            break;
        case REPORT_SHAPE_HATCHED:
            draw_hatched(mark, cairo);
            break;
        case REPORT_SHAPE_LINE:
        case REPORT_SHAPE_DASHED:
            draw_line(mark, cairo);
            break;
        case REPORT_SHAPE_CURVE:
            draw_curve(mark, cairo);
            break;
        case REPORT_SHAPE_MARKER:
            draw_marker(mark, cairo);
            break;
        case REPORT_SHAPE_TEXT:
            draw_text(mark, typesetter, cairo);
            break;
        case REPORT_SHAPE_HIT:
            break;
        }
    }
}
