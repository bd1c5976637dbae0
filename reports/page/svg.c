/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a chart inside a page. In: the scene of a chart. Out: SVG elements, which the page's style sheet
 * (page/charts.css) colours, and whose marks have their hints in data-hint for page/hover.js.
 *
 * Texts remain text, with the width that the layout computed. Consecutive marks that look alike share a
 * group, and those without a hint share one path. Lengths have at most two decimals, independent of the
 * locale. The points of a path are relative to the previous point, between positions that are rounded to
 * hundredths, so that errors do not add up. */
#include <stdio.h>

#include "sheet.h"

enum { NUMBER_SIZE = 32 };

/* Not printf() of a double, because its decimal point depends on the locale. */
static void write_hundredths(long long value, char *out)
{
    const long long size = value < 0 ? -value : value;
    const int part = (int)(size % 100);
    int used = snprintf(out, NUMBER_SIZE, "%s", value < 0 ? "-" : "");
    if (size >= 100 || part == 0) {
        used += snprintf(out + used, (size_t)(NUMBER_SIZE - used), "%lld", size / 100);
    }
    if (part != 0) {
        snprintf(out + used, (size_t)(NUMBER_SIZE - used), part % 10 == 0 ? ".%d" : ".%02d",
                 part % 10 == 0 ? part / 10 : part);
    }
}

static long long hundredths(double value)
{
    return llround(value * 100);
}

static void put_number(struct report_sheet *svg, const char *name, double value)
{
    char text[NUMBER_SIZE];
    write_hundredths(hundredths(value), text);
    report_sheet_attribute(svg, name, text);
}

static void put_upright(struct report_sheet *svg, double x, double y)
{
    char first[NUMBER_SIZE], second[NUMBER_SIZE], text[2 * NUMBER_SIZE + 32];
    write_hundredths(hundredths(x), first);
    write_hundredths(hundredths(y), second);
    snprintf(text, sizeof text, "translate(%s %s)rotate(-90)", first, second);
    report_sheet_attribute(svg, "transform", text);
}

static void begin_path(struct report_sheet *svg)
{
    report_sheet_note(svg, xmlTextWriterStartAttribute(svg->writer, (const xmlChar *)"d"));
}

static void end_path(struct report_sheet *svg)
{
    report_sheet_note(svg, xmlTextWriterEndAttribute(svg->writer));
}

/* Writes `text`, which has no characters that need escaping. */
static void raw(struct report_sheet *svg, const char *text)
{
    report_sheet_note(svg, xmlTextWriterWriteRaw(svg->writer, (const xmlChar *)text));
}

static void pair(struct report_sheet *svg, char command, long long x, long long y)
{
    char first[NUMBER_SIZE], second[NUMBER_SIZE], text[2 * NUMBER_SIZE + 4];
    write_hundredths(x, first);
    write_hundredths(y, second);
    snprintf(text, sizeof text, "%c%s%s%s", command, first, y < 0 ? "" : " ", second);
    raw(svg, text);
}

static void move_to(struct report_sheet *svg, double x, double y)
{
    svg->x = hundredths(x);
    svg->y = hundredths(y);
    pair(svg, 'M', svg->x, svg->y);
}

static void put_box(struct report_sheet *svg, const struct report_box *box)
{
    const long long width = hundredths(box->x + box->width) - hundredths(box->x);
    const long long height = hundredths(box->y + box->height) - hundredths(box->y);
    char right[NUMBER_SIZE], down[NUMBER_SIZE], left[NUMBER_SIZE], text[3 * NUMBER_SIZE + 8];
    move_to(svg, box->x, box->y);
    write_hundredths(width, right);
    write_hundredths(height, down);
    write_hundredths(-width, left);
    snprintf(text, sizeof text, "h%sv%sh%sz", right, down, left);
    raw(svg, text);
}

static void step_to(struct report_sheet *svg, double x, double y)
{
    const long long dx = hundredths(x) - svg->x, dy = hundredths(y) - svg->y;
    char text[NUMBER_SIZE + 1];
    if (dy == 0 || dx == 0) {
        text[0] = dy == 0 ? 'h' : 'v';
        write_hundredths(dy == 0 ? dx : dy, text + 1);
        raw(svg, text);
    } else {
        pair(svg, 'l', dx, dy);
    }
    svg->x += dx;
    svg->y += dy;
}

static void put_line(struct report_sheet *svg, const struct report_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0) {
            move_to(svg, points[i].x, points[i].y);
        } else {
            step_to(svg, points[i].x, points[i].y);
        }
    }
}

/* Writes a disc as two semicircles. */
static void write_disc(struct report_sheet *svg, const struct report_box *box)
{
    char radius[NUMBER_SIZE], size[NUMBER_SIZE], back[NUMBER_SIZE], text[6 * NUMBER_SIZE + 32];
    move_to(svg, box->x, box->y + box->width / 2);
    write_hundredths(hundredths(box->width / 2), radius);
    write_hundredths(hundredths(box->width), size);
    write_hundredths(-hundredths(box->width), back);
    snprintf(text, sizeof text, "a%s %s 0 1 1 %s 0a%s %s 0 1 1 %s 0z", radius, radius, size, radius, radius,
             back);
    raw(svg, text);
}

static void put_marker(struct report_sheet *svg, const struct report_box *box, enum report_marker marker)
{
    if (marker == REPORT_MARKER_DISC || marker == REPORT_MARKER_RING) {
        write_disc(svg, box);
        return;
    }
    if (marker == REPORT_MARKER_CROSS) {
        const double right = box->x + box->width, bottom = box->y + box->width;
        const struct report_point strokes[] = {
            {box->x, box->y}, {right, bottom}, {right, box->y}, {box->x, bottom}};
        put_line(svg, strokes, 2);
        put_line(svg, strokes + 2, 2);
        return;
    }
    struct report_point corners[REPORT_CORNERS_MAX];
    const size_t count = report_style_corners(marker, corners);
    for (size_t i = 0; i < count; i++) {
        corners[i] =
            (struct report_point){box->x + box->width * corners[i].x, box->y + box->width * corners[i].y};
    }
    put_line(svg, corners, count);
    raw(svg, "z");
}
enum { CLASS_SIZE = 40 };

/* The look that the marks of a group have in common. */
struct look {
    char class[CLASS_SIZE];
    double stroke;    /* 0: as in the style sheet */
    const char *fill; /* the ink of the hatch, NULL if there is none */
};

struct hand {
    struct report_sheet *sheet;
    struct look look; /* of the open group; its class is empty if no group is open */
    bool has_path;    /* an open path collects the marks without hints */
};

/* How the page's script finds the mark for the pointer: in charts whose marks lie along an x axis, it takes
 * the mark above or below the pointer. NULL for other charts. */
static const char *snap_of(const struct report_chart *chart)
{
    return chart->form == REPORT_FORM_STACK                               ? "bars"
           : chart->form == REPORT_FORM_CURVES && chart->panel_count == 0 ? "lines"
                                                                          : NULL;
}

static void write_head(struct hand *hand, const struct report_chart *chart, const struct report_scene *scene,
                       const char *id)
{
    struct report_sheet *svg = hand->sheet;
    const bool is_described = chart->subtitle[0] != 0;
    char text[64];
    report_sheet_element(svg, "svg", "id", id, "class",
                         scene->width < REPORT_PAGE_WIDTH ? "chart-svg narrow" : "chart-svg", NULL);
    snprintf(text, sizeof text, "0 0 %.0f %.0f", scene->width, scene->height);
    report_sheet_attribute(svg, "viewBox", text);
    report_sheet_attribute(svg, "role", "img");
    report_sheet_attribute(svg, "aria-labelledby",
                           report_text(scene->arena, is_described ? "%s-t %s-d" : "%s-t", id, id));
    const char *snap = snap_of(chart);
    if (snap != NULL) {
        report_sheet_attribute(svg, "data-snap", snap);
    }
    report_sheet_leaf(svg, "title", chart->title, "id", report_text(scene->arena, "%s-t", id), NULL);
    if (is_described) {
        report_sheet_leaf(svg, "desc", chart->subtitle, "id", report_text(scene->arena, "%s-d", id), NULL);
    }
}

/* Too low for strokes, as in draw.c. */
static bool is_flat(const struct report_mark *mark)
{
    return mark->box.height < REPORT_HATCH_PITCH / 2;
}

static struct look look_of(const struct report_mark *mark)
{
    static const char *const shapes[] = {
        [REPORT_SHAPE_RECTANGLE] = "f", [REPORT_SHAPE_HATCHED] = "h", [REPORT_SHAPE_LINE] = "l",
        [REPORT_SHAPE_DASHED] = "l d",  [REPORT_SHAPE_CURVE] = "c",   [REPORT_SHAPE_MARKER] = "m",
        [REPORT_SHAPE_TEXT] = "t",      [REPORT_SHAPE_HIT] = "hit"};
    const char *ink = report_ink_name(mark->ink);
    const bool is_hatched = mark->shape == REPORT_SHAPE_HATCHED && !is_flat(mark);
    struct look look = {.stroke = mark->stroke == 1 ? 0 : mark->stroke, .fill = is_hatched ? ink : NULL};
    if (mark->shape == REPORT_SHAPE_TEXT) {
        snprintf(look.class, sizeof look.class, "t-%s", report_font_name(mark->type.font));
    } else if (mark->shape == REPORT_SHAPE_HATCHED) {
        snprintf(look.class, sizeof look.class, is_flat(mark) ? "f n-%s" : "h i-%s", ink);
    } else if (mark->shape == REPORT_SHAPE_HIT) {
        snprintf(look.class, sizeof look.class, "%s", shapes[mark->shape]);
    } else {
        snprintf(look.class, sizeof look.class, "%s%s i-%s", shapes[mark->shape],
                 mark->is_dashed         ? " o"
                 : mark->is_distribution ? " y"
                                         : "",
                 ink);
    }
    return look;
}

static void leave_path(struct hand *hand)
{
    if (hand->has_path) {
        end_path(hand->sheet);
        report_sheet_close_void(hand->sheet);
        hand->has_path = false;
    }
}

static void leave_group(struct hand *hand)
{
    leave_path(hand);
    if (hand->look.class[0] != 0) {
        report_sheet_close_void(hand->sheet);
        hand->look.class[0] = 0;
    }
}

static void take_group(struct hand *hand, const struct look *look)
{
    if (strcmp(hand->look.class, look->class) == 0 && hand->look.stroke == look->stroke) {
        return;
    }
    leave_group(hand);
    hand->look = *look;
    report_sheet_element(hand->sheet, "g", "class", look->class, NULL);
    if (look->stroke > 0) {
        put_number(hand->sheet, "stroke-width", look->stroke);
    }
    if (look->fill != NULL) {
        char text[CLASS_SIZE];
        snprintf(text, sizeof text, "url(#hatch-%s)", look->fill);
        report_sheet_attribute(hand->sheet, "fill", text);
    }
}

static void write_rectangle(struct hand *hand, const struct report_box *box, const char *hint)
{
    struct report_sheet *svg = hand->sheet;
    report_sheet_open(svg, "rect");
    put_number(svg, "x", box->x);
    put_number(svg, "y", box->y);
    put_number(svg, "width", box->width);
    put_number(svg, "height", box->height);
    if (hint != NULL) {
        report_sheet_attribute(svg, "data-hint", hint);
    }
    report_sheet_close_void(svg);
}

/* Writes a mark of one colour. Marks without a hint are collected in one path. */
static void write_shape(struct hand *hand, const struct report_mark *mark)
{
    struct report_sheet *svg = hand->sheet;
    const struct report_box *box = &mark->box;
    const bool is_area = mark->shape == REPORT_SHAPE_RECTANGLE || mark->shape == REPORT_SHAPE_HATCHED;
    const bool is_point = box->width == 0 && box->height == 0;
    if (mark->hint != NULL && (is_area || (mark->shape == REPORT_SHAPE_HIT && !is_point))) {
        leave_path(hand);
        write_rectangle(hand, box, mark->hint);
        return;
    }
    if (mark->hint != NULL) {
        leave_path(hand);
    }
    if (!hand->has_path) {
        report_sheet_open(svg, "path");
        if (mark->hint != NULL) {
            report_sheet_attribute(svg, "data-hint", mark->hint);
        }
        begin_path(svg);
        hand->has_path = true;
    }
    if (mark->shape == REPORT_SHAPE_CURVE) {
        put_line(svg, mark->points, mark->point_count);
    } else if (is_area) {
        put_box(svg, box);
    } else {
        const struct report_point ends[] = {{box->x, box->y}, {box->x + box->width, box->y + box->height}};
        put_line(svg, ends, 2);
    }
    if (mark->hint != NULL) {
        leave_path(hand);
    }
}

/* The outline is the stroke of the rectangle itself. A narrow rectangle has only a top edge, as in draw.c. */
static void write_hatched(struct hand *hand, const struct report_mark *mark)
{
    if (is_flat(mark)) {
        write_shape(hand, mark);
        return;
    }
    const double inset = REPORT_HATCH_STROKE / 2;
    const struct report_box *box = &mark->box;
    struct report_sheet *svg = hand->sheet;
    leave_path(hand);
    if (box->width >= 3 * REPORT_HATCH_PITCH) {
        const struct report_box inner = {box->x + inset, box->y + inset, box->width - REPORT_HATCH_STROKE,
                                         box->height - REPORT_HATCH_STROKE};
        write_rectangle(hand, &inner, mark->hint);
        return;
    }
    const struct report_point top[] = {{box->x, box->y + inset}, {box->x + box->width, box->y + inset}};
    report_sheet_element(svg, "path", "class", "b", NULL);
    if (mark->hint != NULL) {
        report_sheet_attribute(svg, "data-hint", mark->hint);
    }
    begin_path(svg);
    put_box(svg, box);
    end_path(svg);
    report_sheet_close_void(svg);
    report_sheet_open(svg, "path");
    begin_path(svg);
    put_line(svg, top, 2);
    end_path(svg);
    report_sheet_close_void(svg);
}

/* The halo of a solid marker is its stroke, painted below the fill. For other markers the halo is a separate
 * path. */
static void write_marker(struct hand *hand, const struct report_mark *mark)
{
    const enum report_marker marker = report_style_marker(mark->ink);
    const bool is_hollow =
        marker == REPORT_MARKER_RING || marker == REPORT_MARKER_FRAME || marker == REPORT_MARKER_KITE;
    const bool is_open = marker == REPORT_MARKER_CROSS;
    struct report_sheet *svg = hand->sheet;
    for (int pass = is_hollow || is_open ? 0 : 1; pass < 2; pass++) {
        report_sheet_open(svg, "path");
        if (is_hollow || is_open) {
            report_sheet_attribute(svg, "class", pass == 1 ? "w" : is_hollow ? "p" : "q");
        }
        if (pass == 1 && mark->hint != NULL) {
            report_sheet_attribute(svg, "data-hint", mark->hint);
        }
        begin_path(svg);
        put_marker(svg, &mark->box, marker);
        end_path(svg);
        report_sheet_close_void(svg);
    }
}

static void write_text(struct hand *hand, const struct report_scene *scene, const struct report_mark *mark)
{
    struct report_sheet *svg = hand->sheet;
    const struct report_box *box = &mark->box;
    size_t count;
    const struct report_set_line *lines =
        report_typeset_lines(scene->typesetter, &mark->type, scene->arena, &count);
    for (size_t i = 0; i < count; i++) {
        const struct report_set_line *line = &lines[i];
        report_sheet_open(svg, "text");
        if (mark->is_upright) {
            put_upright(svg, box->x + line->baseline, box->y + box->height - line->x);
        } else {
            put_number(svg, "x", box->x + line->x);
            put_number(svg, "y", box->y + line->baseline);
        }
        /* The font on the reader's machine may be wider than the one used for the layout. */
        put_number(svg, "textLength", line->width);
        report_sheet_attribute(svg, "lengthAdjust", "spacingAndGlyphs");
        report_sheet_text(svg, line->text);
        report_sheet_close_void(svg);
    }
}

static void write_mark(struct hand *hand, const struct report_scene *scene, const struct report_mark *mark)
{
    const struct look look = look_of(mark);
    take_group(hand, &look);
    switch (mark->shape) {
    case REPORT_SHAPE_HATCHED:
        write_hatched(hand, mark);
        break;
    case REPORT_SHAPE_MARKER:
        write_marker(hand, mark);
        break;
    case REPORT_SHAPE_TEXT:
        write_text(hand, scene, mark);
        break;
    default:
        write_shape(hand, mark);
    }
}

void report_page_svg(struct report_sheet *sheet, const struct report_chart *chart,
                     const struct report_scene *scene, const char *id)
{
    struct hand hand = {.sheet = sheet};
    write_head(&hand, chart, scene, id);
    for (size_t i = 0; hand.sheet->is_fine && i < scene->count; i++) {
        write_mark(&hand, scene, &scene->marks[i]);
    }
    leave_group(&hand);
    report_sheet_close_void(hand.sheet);
    sheet->is_fine &= !scene->arena->out_of_memory;
}

/* The strokes lie on the lines x + y = k * pitch or x - y = k * pitch of the whole chart. A tile of the
 * pattern therefore also has the parts of strokes that cut its corners. */
static void write_pattern(struct report_sheet *svg, enum report_ink ink, unsigned strokes)
{
    static const double p = REPORT_HATCH_PITCH;
    static const struct report_point rising[][2] = {{{-p / 3, p / 3}, {p / 3, -p / 3}},
                                                    {{0, p}, {p, 0}},
                                                    {{p * 2 / 3, p * 4 / 3}, {p * 4 / 3, p * 2 / 3}}};
    static const struct report_point falling[][2] = {{{-p / 3, p * 2 / 3}, {p / 3, p * 4 / 3}},
                                                     {{0, 0}, {p, p}},
                                                     {{p * 2 / 3, -p / 3}, {p * 4 / 3, p / 3}}};
    const struct report_box tile = {0, 0, p, p};
    char text[CLASS_SIZE];
    report_sheet_open(svg, "pattern");
    snprintf(text, sizeof text, "hatch-%s", report_ink_name(ink));
    report_sheet_attribute(svg, "id", text);
    put_number(svg, "width", p);
    put_number(svg, "height", p);
    report_sheet_attribute(svg, "patternUnits", "userSpaceOnUse");
    snprintf(text, sizeof text, "g-%s", report_ink_name(ink));
    report_sheet_element(svg, "path", "class", text, NULL);
    begin_path(svg);
    put_box(svg, &tile);
    end_path(svg);
    report_sheet_close_void(svg);
    snprintf(text, sizeof text, "s i-%s", report_ink_name(ink));
    report_sheet_element(svg, "path", "class", text, NULL);
    begin_path(svg);
    for (size_t i = 0; i < 3; i++) {
        if (strokes & REPORT_STROKES_RISING) {
            put_line(svg, rising[i], 2);
        }
        if (strokes & REPORT_STROKES_FALLING) {
            put_line(svg, falling[i], 2);
        }
    }
    end_path(svg);
    report_sheet_close_void(svg);
    report_sheet_close_void(svg);
}

void report_page_svg_patterns(struct report_sheet *sheet)
{
    report_sheet_element(sheet, "svg", "class", "chart-patterns", "width", "0", "height", "0", "aria-hidden",
                         "true", NULL);
    report_sheet_open(sheet, "defs");
    for (int ink = 0; ink < REPORT_INK_COUNT; ink++) {
        if (report_style_is_hatched((enum report_ink)ink)) {
            write_pattern(sheet, (enum report_ink)ink, report_style_hatch((enum report_ink)ink).strokes);
        }
    }
    report_sheet_close_void(sheet);
    report_sheet_close_void(sheet);
}
