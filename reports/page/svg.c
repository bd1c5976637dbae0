/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a scene as SVG elements in a page. Consecutive marks that look alike share a group, and those
 * without a hint share one path. */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "svg_path.h"

enum { CLASS_SIZE = 40 };

/* The look that the marks of a group have in common. */
struct look {
    char class[CLASS_SIZE];
    double stroke;    /* 0: as in the style sheet */
    const char *fill; /* the ink of the hatch, NULL if there is none */
};

struct hand {
    struct report_svg svg;
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
    struct report_svg *svg = &hand->svg;
    const bool is_described = chart->subtitle[0] != 0;
    char text[64];
    report_svg_open(svg, "svg");
    report_svg_attribute(svg, "id", id);
    report_svg_attribute(svg, "class", scene->width < REPORT_PAGE_WIDTH ? "chart-svg narrow" : "chart-svg");
    snprintf(text, sizeof text, "0 0 %.0f %.0f", scene->width, scene->height);
    report_svg_attribute(svg, "viewBox", text);
    report_svg_attribute(svg, "role", "img");
    report_svg_attribute(svg, "aria-labelledby",
                         report_text(scene->arena, is_described ? "%s-t %s-d" : "%s-t", id, id));
    const char *snap = snap_of(chart);
    if (snap != NULL) {
        report_svg_attribute(svg, "data-snap", snap);
    }
    report_svg_open(svg, "title");
    report_svg_attribute(svg, "id", report_text(scene->arena, "%s-t", id));
    report_svg_say(svg, chart->title);
    report_svg_close(svg);
    if (is_described) {
        report_svg_open(svg, "desc");
        report_svg_attribute(svg, "id", report_text(scene->arena, "%s-d", id));
        report_svg_say(svg, chart->subtitle);
        report_svg_close(svg);
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
        [REPORT_SHAPE_DASHED] = "l d",  [REPORT_SHAPE_CURVE] = "c",   [REPORT_SHAPE_TILE] = "k",
        [REPORT_SHAPE_MARKER] = "m",    [REPORT_SHAPE_TEXT] = "t",    [REPORT_SHAPE_HIT] = "hit"};
    const char *ink = report_ink_name(mark->ink);
    const bool is_hatched = mark->shape == REPORT_SHAPE_HATCHED && !is_flat(mark);
    struct look look = {.stroke = mark->stroke == 1 ? 0 : mark->stroke, .fill = is_hatched ? ink : NULL};
    if (mark->shape == REPORT_SHAPE_TEXT) {
        snprintf(look.class, sizeof look.class, "t-%s", report_font_name(mark->type.font));
    } else if (mark->shape == REPORT_SHAPE_HATCHED) {
        snprintf(look.class, sizeof look.class, is_flat(mark) ? "f n-%s" : "h i-%s", ink);
    } else if (mark->shape == REPORT_SHAPE_TILE || mark->shape == REPORT_SHAPE_HIT) {
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
        report_svg_path_end(&hand->svg);
        report_svg_close(&hand->svg);
        hand->has_path = false;
    }
}

static void leave_group(struct hand *hand)
{
    leave_path(hand);
    if (hand->look.class[0] != 0) {
        report_svg_close(&hand->svg);
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
    report_svg_open(&hand->svg, "g");
    report_svg_attribute(&hand->svg, "class", look->class);
    if (look->stroke > 0) {
        report_svg_number(&hand->svg, "stroke-width", look->stroke);
    }
    if (look->fill != NULL) {
        char text[CLASS_SIZE];
        snprintf(text, sizeof text, "url(#hatch-%s)", look->fill);
        report_svg_attribute(&hand->svg, "fill", text);
    }
}

static void write_rectangle(struct hand *hand, const struct report_box *box, const char *fill,
                            const char *hint)
{
    struct report_svg *svg = &hand->svg;
    report_svg_open(svg, "rect");
    report_svg_number(svg, "x", box->x);
    report_svg_number(svg, "y", box->y);
    report_svg_number(svg, "width", box->width);
    report_svg_number(svg, "height", box->height);
    if (fill != NULL) {
        report_svg_attribute(svg, "fill", fill);
    }
    if (hint != NULL) {
        report_svg_attribute(svg, "data-hint", hint);
    }
    report_svg_close(svg);
}

/* Writes a mark of one colour. Marks without a hint are collected in one path. */
static void write_shape(struct hand *hand, const struct report_mark *mark)
{
    struct report_svg *svg = &hand->svg;
    const struct report_box *box = &mark->box;
    const bool is_area = mark->shape == REPORT_SHAPE_RECTANGLE || mark->shape == REPORT_SHAPE_HATCHED;
    const bool is_point = box->width == 0 && box->height == 0;
    if (mark->hint != NULL && (is_area || (mark->shape == REPORT_SHAPE_HIT && !is_point))) {
        leave_path(hand);
        write_rectangle(hand, box, NULL, mark->hint);
        return;
    }
    if (mark->hint != NULL) {
        leave_path(hand);
    }
    if (!hand->has_path) {
        report_svg_open(svg, "path");
        if (mark->hint != NULL) {
            report_svg_attribute(svg, "data-hint", mark->hint);
        }
        report_svg_path_begin(svg);
        hand->has_path = true;
    }
    if (mark->shape == REPORT_SHAPE_CURVE) {
        report_svg_path_line(svg, mark->points, mark->point_count);
    } else if (is_area) {
        report_svg_path_box(svg, box);
    } else {
        const struct report_point ends[] = {{box->x, box->y}, {box->x + box->width, box->y + box->height}};
        report_svg_path_line(svg, ends, 2);
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
    struct report_svg *svg = &hand->svg;
    leave_path(hand);
    if (box->width >= 3 * REPORT_HATCH_PITCH) {
        const struct report_box inner = {box->x + inset, box->y + inset, box->width - REPORT_HATCH_STROKE,
                                         box->height - REPORT_HATCH_STROKE};
        write_rectangle(hand, &inner, NULL, mark->hint);
        return;
    }
    const struct report_point top[] = {{box->x, box->y + inset}, {box->x + box->width, box->y + inset}};
    report_svg_open(svg, "path");
    report_svg_attribute(svg, "class", "b");
    if (mark->hint != NULL) {
        report_svg_attribute(svg, "data-hint", mark->hint);
    }
    report_svg_path_begin(svg);
    report_svg_path_box(svg, box);
    report_svg_path_end(svg);
    report_svg_close(svg);
    report_svg_open(svg, "path");
    report_svg_path_begin(svg);
    report_svg_path_line(svg, top, 2);
    report_svg_path_end(svg);
    report_svg_close(svg);
}

/* The colours of tiles are the same in light and dark mode, because the scale next to them defines what they
 * mean. */
static void write_tile(struct hand *hand, const struct report_mark *mark)
{
    const struct report_colour colour = report_style_scale(mark->shade);
    char text[16];
    snprintf(text, sizeof text, "#%02x%02x%02x", (unsigned)lround(255 * colour.red),
             (unsigned)lround(255 * colour.green), (unsigned)lround(255 * colour.blue));
    write_rectangle(hand, &mark->box, text, mark->hint);
}

/* The halo of a solid marker is its stroke, painted below the fill. For other markers the halo is a separate
 * path. */
static void write_marker(struct hand *hand, const struct report_mark *mark)
{
    const enum report_marker marker = report_style_marker(mark->ink);
    const bool is_hollow =
        marker == REPORT_MARKER_RING || marker == REPORT_MARKER_FRAME || marker == REPORT_MARKER_KITE;
    const bool is_open = marker == REPORT_MARKER_CROSS;
    struct report_svg *svg = &hand->svg;
    for (int pass = is_hollow || is_open ? 0 : 1; pass < 2; pass++) {
        report_svg_open(svg, "path");
        if (is_hollow || is_open) {
            report_svg_attribute(svg, "class", pass == 1 ? "w" : is_hollow ? "p" : "q");
        }
        if (pass == 1 && mark->hint != NULL) {
            report_svg_attribute(svg, "data-hint", mark->hint);
        }
        report_svg_path_begin(svg);
        report_svg_path_marker(svg, &mark->box, marker);
        report_svg_path_end(svg);
        report_svg_close(svg);
    }
}

static void write_text(struct hand *hand, const struct report_scene *scene, const struct report_mark *mark)
{
    struct report_svg *svg = &hand->svg;
    const struct report_box *box = &mark->box;
    size_t count;
    const struct report_set_line *lines =
        report_typeset_lines(scene->typesetter, &mark->type, scene->arena, &count);
    for (size_t i = 0; i < count; i++) {
        const struct report_set_line *line = &lines[i];
        report_svg_open(svg, "text");
        if (mark->is_upright) {
            report_svg_upright(svg, box->x + line->baseline, box->y + box->height - line->x);
        } else {
            report_svg_number(svg, "x", box->x + line->x);
            report_svg_number(svg, "y", box->y + line->baseline);
        }
        /* The font on the reader's machine may be wider than the one used for the layout. */
        report_svg_number(svg, "textLength", line->width);
        report_svg_attribute(svg, "lengthAdjust", "spacingAndGlyphs");
        report_svg_say(svg, line->text);
        report_svg_close(svg);
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
    case REPORT_SHAPE_TILE:
        write_tile(hand, mark);
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

bool report_page_svg(xmlTextWriterPtr writer, const struct report_chart *chart,
                     const struct report_scene *scene, const char *id)
{
    struct hand hand = {.svg = {.writer = writer, .is_fine = true}};
    write_head(&hand, chart, scene, id);
    for (size_t i = 0; hand.svg.is_fine && i < scene->count; i++) {
        write_mark(&hand, scene, &scene->marks[i]);
    }
    leave_group(&hand);
    report_svg_close(&hand.svg);
    return hand.svg.is_fine && !scene->arena->out_of_memory;
}

/* The strokes lie on the lines x + y = k * pitch or x - y = k * pitch of the whole chart. A tile of the
 * pattern therefore also has the parts of strokes that cut its corners. */
static void write_pattern(struct report_svg *svg, enum report_ink ink, unsigned strokes)
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
    report_svg_open(svg, "pattern");
    snprintf(text, sizeof text, "hatch-%s", report_ink_name(ink));
    report_svg_attribute(svg, "id", text);
    report_svg_number(svg, "width", p);
    report_svg_number(svg, "height", p);
    report_svg_attribute(svg, "patternUnits", "userSpaceOnUse");
    snprintf(text, sizeof text, "g-%s", report_ink_name(ink));
    report_svg_open(svg, "path");
    report_svg_attribute(svg, "class", text);
    report_svg_path_begin(svg);
    report_svg_path_box(svg, &tile);
    report_svg_path_end(svg);
    report_svg_close(svg);
    snprintf(text, sizeof text, "s i-%s", report_ink_name(ink));
    report_svg_open(svg, "path");
    report_svg_attribute(svg, "class", text);
    report_svg_path_begin(svg);
    for (size_t i = 0; i < 3; i++) {
        if (strokes & REPORT_STROKES_RISING) {
            report_svg_path_line(svg, rising[i], 2);
        }
        if (strokes & REPORT_STROKES_FALLING) {
            report_svg_path_line(svg, falling[i], 2);
        }
    }
    report_svg_path_end(svg);
    report_svg_close(svg);
    report_svg_close(svg);
}

bool report_page_svg_patterns(xmlTextWriterPtr writer)
{
    struct report_svg svg = {.writer = writer, .is_fine = true};
    report_svg_open(&svg, "svg");
    report_svg_attribute(&svg, "class", "chart-patterns");
    report_svg_attribute(&svg, "width", "0");
    report_svg_attribute(&svg, "height", "0");
    report_svg_attribute(&svg, "aria-hidden", "true");
    report_svg_open(&svg, "defs");
    for (int ink = 0; ink < REPORT_INK_COUNT; ink++) {
        if (report_style_is_hatched((enum report_ink)ink)) {
            write_pattern(&svg, (enum report_ink)ink, report_style_hatch((enum report_ink)ink).strokes);
        }
    }
    report_svg_close(&svg);
    report_svg_close(&svg);
    return svg.is_fine;
}
