/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a page. In: a result, and the front of tune. Out: each chart under a heading,
 * for a screen and for a telephone, with a sentence on how to read it and its figures; and a line for each
 * chart that is left out. */

#include <stdio.h>

#include <glib.h>

#include "reports/page.h"
#include "reports/scale.h"
#include "sheet.h"

/* --- a scene as SVG elements, which the page's style sheet (page/charts.css) colours, and whose marks have
 * their hints in data-hint for page/hover.js.
 *
 * Texts remain text, with the width that the layout computed. Consecutive marks that look alike share a
 * group, and those without a hint share one path. Lengths have at most two decimals. The points of a path are
 * relative to the previous point, between positions that are rounded to hundredths, so that errors do not add
 * up. */

/* Rounds to hundredths. */
static double near(double value)
{
    return round(value * 100) / 100 + 0.0; /* never -0 */
}

static void put_number(struct report_sheet *svg, const char *name, double value)
{
    xmlTextWriterWriteFormatAttribute(svg->writer, (const xmlChar *)name, "%.8g", near(value));
}

/* Writes part of a path. Needs no escaping. */
static void draw(struct report_sheet *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void draw(struct report_sheet *svg, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    xmlTextWriterWriteVFormatRaw(svg->writer, format, arguments);
    va_end(arguments);
}

/* class, hint: NULL for none. */
static void open_path(struct report_sheet *svg, const char *class, const char *hint)
{
    report_sheet_open(svg, "path");
    if (class != NULL)
        report_sheet_attribute(svg, "class", class);
    if (hint != NULL)
        report_sheet_attribute(svg, "data-hint", hint);
    xmlTextWriterStartAttribute(svg->writer, (const xmlChar *)"d");
}

static void close_path(struct report_sheet *svg)
{
    xmlTextWriterEndAttribute(svg->writer);
    report_sheet_close_void(svg);
}

static void move_to(struct report_sheet *svg, double x, double y)
{
    svg->x = near(x);
    svg->y = near(y);
    draw(svg, "M%.8g %.8g", svg->x, svg->y);
}

static void put_box(struct report_sheet *svg, const struct report_box *box)
{
    move_to(svg, box->x, box->y);
    const double width = near(box->x + box->width) - svg->x, height = near(box->y + box->height) - svg->y;
    draw(svg, "h%.8gv%.8gh%.8gz", near(width), near(height), near(-width));
}

static void put_line(struct report_sheet *svg, const struct report_point *points, size_t count)
{
    move_to(svg, points[0].x, points[0].y);
    for (size_t i = 1; i < count; i++) {
        const double dx = near(near(points[i].x) - svg->x), dy = near(near(points[i].y) - svg->y);
        if (dy == 0 || dx == 0)
            draw(svg, dy == 0 ? "h%.8g" : "v%.8g", dy == 0 ? dx : dy);
        else
            draw(svg, "l%.8g %.8g", dx, dy);
        svg->x = near(points[i].x);
        svg->y = near(points[i].y);
    }
}

static void put_marker(struct report_sheet *svg, const struct report_box *box, enum report_marker marker)
{
    const struct report_marker_style *style = &report_markers[marker];
    const double size = near(box->width), radius = near(box->width / 2);
    if (marker == REPORT_MARKER_CROSS) {
        const double right = box->x + box->width, bottom = box->y + box->width;
        const struct report_point strokes[] = {
            {box->x, box->y}, {right, bottom}, {right, box->y}, {box->x, bottom}};
        put_line(svg, strokes, 2);
        put_line(svg, strokes + 2, 2);
        return;
    }
    if (style->corner_count == 0) { /* two semicircles */
        move_to(svg, box->x, box->y + box->width / 2);
        draw(svg, "a%.8g %.8g 0 1 1 %.8g 0a%.8g %.8g 0 1 1 %.8g 0z", radius, radius, size, radius, radius,
             -size);
        return;
    }
    struct report_point corners[REPORT_CORNERS_MAX];
    for (size_t i = 0; i < style->corner_count; i++)
        corners[i] = (struct report_point){box->x + box->width * style->corners[i].x,
                                           box->y + box->width * style->corners[i].y};
    put_line(svg, corners, style->corner_count);
    draw(svg, "z");
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

/* How the page's script finds the mark for the pointer (data-snap): in charts whose marks lie along an x
 * axis, it takes the mark above or below the pointer. */
static void write_svg_head(struct hand *hand, const struct report_chart *chart,
                           const struct report_scene *scene, const char *id)
{
    struct report_sheet *svg = hand->sheet;
    struct report_arena *arena = scene->arena;
    const bool is_described = chart->subtitle[0] != 0;
    report_sheet_element(
        svg, "svg", "id", id, "class", scene->width < REPORT_PAGE_WIDTH ? "chart-svg narrow" : "chart-svg",
        "viewBox", report_text(arena, "0 0 %.0f %.0f", scene->width, scene->height), "role", "img",
        "aria-labelledby", report_text(arena, is_described ? "%s-t %s-d" : "%s-t", id, id), NULL);
    if (chart->form == REPORT_FORM_STACK ||
        (chart->form == REPORT_FORM_CURVES && chart->panels[0].label[0] == 0))
        report_sheet_attribute(svg, "data-snap", chart->form == REPORT_FORM_STACK ? "bars" : "lines");
    report_sheet_leaf(svg, "title", chart->title, "id", report_text(arena, "%s-t", id), NULL);
    if (is_described)
        report_sheet_leaf(svg, "desc", chart->subtitle, "id", report_text(arena, "%s-d", id), NULL);
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
    const char *ink = report_inks[mark->ink].name;
    const bool is_hatched = mark->shape == REPORT_SHAPE_HATCHED && !is_flat(mark);
    struct look look = {.stroke = mark->stroke == 1 ? 0 : mark->stroke, .fill = is_hatched ? ink : NULL};
    if (mark->shape == REPORT_SHAPE_TEXT)
        snprintf(look.class, sizeof look.class, "t-%s", report_fonts[mark->type.font].name);
    else if (mark->shape == REPORT_SHAPE_HATCHED)
        snprintf(look.class, sizeof look.class, is_flat(mark) ? "f n-%s" : "h i-%s", ink);
    else if (mark->shape == REPORT_SHAPE_HIT)
        snprintf(look.class, sizeof look.class, "%s", shapes[mark->shape]);
    else
        snprintf(look.class, sizeof look.class, "%s%s i-%s", shapes[mark->shape],
                 mark->is_dashed         ? " o"
                 : mark->is_distribution ? " y"
                                         : "",
                 ink);
    return look;
}

static void leave_path(struct hand *hand)
{
    if (hand->has_path) {
        close_path(hand->sheet);
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
    if (strcmp(hand->look.class, look->class) == 0 && hand->look.stroke == look->stroke)
        return;
    leave_group(hand);
    hand->look = *look;
    report_sheet_element(hand->sheet, "g", "class", look->class, NULL);
    if (look->stroke > 0)
        put_number(hand->sheet, "stroke-width", look->stroke);
    if (look->fill != NULL)
        report_sheet_attribute(hand->sheet, "fill",
                               report_text(hand->sheet->arena, "url(#hatch-%s)", look->fill));
}

static void write_rectangle(struct hand *hand, const struct report_box *box, const char *hint)
{
    struct report_sheet *svg = hand->sheet;
    report_sheet_open(svg, "rect");
    put_number(svg, "x", box->x);
    put_number(svg, "y", box->y);
    put_number(svg, "width", box->width);
    put_number(svg, "height", box->height);
    if (hint != NULL)
        report_sheet_attribute(svg, "data-hint", hint);
    report_sheet_close_void(svg);
}

/* Writes a mark of one colour. Marks without a hint are collected in one path. */
static void write_shape(struct hand *hand, const struct report_mark *mark)
{
    struct report_sheet *svg = hand->sheet;
    const struct report_box *box = &mark->box;
    const bool is_area = mark->shape == REPORT_SHAPE_RECTANGLE || mark->shape == REPORT_SHAPE_HATCHED;
    const bool is_point = box->width == 0 && box->height == 0;
    if (mark->hint != NULL)
        leave_path(hand);
    if (mark->hint != NULL && (is_area || (mark->shape == REPORT_SHAPE_HIT && !is_point))) {
        write_rectangle(hand, box, mark->hint);
        return;
    }
    if (!hand->has_path) {
        open_path(svg, NULL, mark->hint);
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
    if (mark->hint != NULL)
        leave_path(hand);
}

/* The outline is the stroke of the rectangle itself. A narrow rectangle has only a top edge, as in draw.c. */
static void write_hatched(struct hand *hand, const struct report_mark *mark)
{
    const double inset = REPORT_HATCH_STROKE / 2;
    const struct report_box *box = &mark->box;
    if (is_flat(mark)) {
        write_shape(hand, mark);
        return;
    }
    leave_path(hand);
    if (box->width >= 3 * REPORT_HATCH_PITCH) {
        const struct report_box inner = {box->x + inset, box->y + inset, box->width - REPORT_HATCH_STROKE,
                                         box->height - REPORT_HATCH_STROKE};
        write_rectangle(hand, &inner, mark->hint);
        return;
    }
    const struct report_point top[] = {{box->x, box->y + inset}, {box->x + box->width, box->y + inset}};
    open_path(hand->sheet, "b", mark->hint);
    put_box(hand->sheet, box);
    close_path(hand->sheet);
    open_path(hand->sheet, NULL, NULL);
    put_line(hand->sheet, top, 2);
    close_path(hand->sheet);
}

/* The halo of a solid marker is its stroke, painted below the fill. For other markers the halo is a separate
 * path. */
static void write_marker(struct hand *hand, const struct report_mark *mark)
{
    const enum report_marker marker = report_inks[mark->ink].marker;
    const bool is_hollow = report_markers[marker].is_hollow;
    const bool has_halo = is_hollow || marker == REPORT_MARKER_CROSS;
    for (int pass = has_halo ? 0 : 1; pass < 2; pass++) {
        open_path(hand->sheet,
                  !has_halo   ? NULL
                  : pass == 1 ? "w"
                  : is_hollow ? "p"
                              : "q",
                  pass == 1 ? mark->hint : NULL);
        put_marker(hand->sheet, &mark->box, marker);
        close_path(hand->sheet);
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
            xmlTextWriterWriteFormatAttribute(
                svg->writer, (const xmlChar *)"transform", "translate(%.8g %.8g)rotate(-90)",
                near(box->x + line->baseline), near(box->y + box->height - line->x));
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
    write_svg_head(&hand, chart, scene, id);
    for (size_t i = 0; i < scene->count; i++)
        write_mark(&hand, scene, &scene->marks[i]);
    leave_group(&hand);
    report_sheet_close_void(hand.sheet);
}

/* The strokes lie on the lines x + y = k * pitch or x - y = k * pitch of the whole chart. A tile of the
 * pattern therefore also has the parts of strokes that cut its corners. */
static void write_pattern(struct report_sheet *svg, const struct report_ink_style *ink)
{
    static const double p = REPORT_HATCH_PITCH;
    static const struct report_point rising[][2] = {{{-p / 3, p / 3}, {p / 3, -p / 3}},
                                                    {{0, p}, {p, 0}},
                                                    {{p * 2 / 3, p * 4 / 3}, {p * 4 / 3, p * 2 / 3}}};
    static const struct report_point falling[][2] = {{{-p / 3, p * 2 / 3}, {p / 3, p * 4 / 3}},
                                                     {{0, 0}, {p, p}},
                                                     {{p * 2 / 3, -p / 3}, {p * 4 / 3, p / 3}}};
    const struct report_box tile = {0, 0, p, p};
    report_sheet_element(svg, "pattern", "id", report_text(svg->arena, "hatch-%s", ink->name), NULL);
    put_number(svg, "width", p);
    put_number(svg, "height", p);
    report_sheet_attribute(svg, "patternUnits", "userSpaceOnUse");
    open_path(svg, report_text(svg->arena, "g-%s", ink->name), NULL);
    put_box(svg, &tile);
    close_path(svg);
    open_path(svg, report_text(svg->arena, "s i-%s", ink->name), NULL);
    for (size_t i = 0; i < 3; i++) {
        if (ink->strokes & REPORT_STROKES_RISING)
            put_line(svg, rising[i], 2);
        if (ink->strokes & REPORT_STROKES_FALLING)
            put_line(svg, falling[i], 2);
    }
    close_path(svg);
    report_sheet_close_void(svg);
}

void report_page_svg_patterns(struct report_sheet *sheet)
{
    report_sheet_element(sheet, "svg", "class", "chart-patterns", "width", "0", "height", "0", "aria-hidden",
                         "true", NULL);
    report_sheet_open(sheet, "defs");
    for (int ink = 0; ink < REPORT_INK_COUNT; ink++) {
        if (report_inks[ink].strokes != 0)
            write_pattern(sheet, &report_inks[ink]);
    }
    report_sheet_close_void(sheet);
    report_sheet_close_void(sheet);
}

/* --- the figures */

/* The figures of a chart, which are listed once and written twice: as CSV (RFC 4180), in a link that saves
 * them without a script, and as a table of the page, for readers who cannot see the chart or want to copy its
 * data. The link is a data URL, whose bytes are percent-encoded (RFC 3986). */
struct list {
    struct report_sheet *sheet;
    bool is_csv;   /* with every sample and bar; else a table, whose rows a reader can survey */
    bool has_body; /* of the table */
    size_t column;
};

static void put_bytes(struct report_sheet *sheet, const char *text, size_t length)
{
    char *escaped = g_uri_escape_bytes((const guint8 *)text, length, ",:");
    xmlTextWriterWriteString(sheet->writer, (const xmlChar *)escaped);
    g_free(escaped);
}

/* Writes a field, quoted if necessary, and the separator after it. */
static void put_field(struct report_sheet *sheet, const char *text, bool is_last)
{
    const bool is_quoted = strpbrk(text, ",\"\r\n") != NULL;
    put_bytes(sheet, "\"", is_quoted);
    for (const char *at = text; *at != 0;) {
        const size_t length = strcspn(at, "\"");
        put_bytes(sheet, at, length);
        put_bytes(sheet, "\"\"", at[length] == '"' ? 2 : 0);
        at += length + (at[length] == '"');
    }
    put_bytes(sheet, "\"", is_quoted);
    put_bytes(sheet, is_last ? "\r\n" : ",", is_last ? 2 : 1);
}

/* Adds a cell. The first row of a list is its heading, and the first cell of a row its name. */
static void put(struct list *list, const char *text, bool is_heading, bool is_last)
{
    struct report_sheet *sheet = list->sheet;
    if (list->is_csv) {
        put_field(sheet, text, is_last);
        return;
    }
    if (list->column == 0 && (is_heading || !list->has_body)) {
        report_sheet_open(sheet, is_heading ? "thead" : "tbody");
        list->has_body = !is_heading;
    }
    if (list->column++ == 0)
        report_sheet_open(sheet, "tr");
    if (is_heading || list->column == 1)
        report_sheet_leaf(sheet, "th", text, "scope", is_heading ? "col" : "row", NULL);
    else
        report_sheet_leaf(sheet, "td", text, NULL);
    if (is_last) {
        report_sheet_close(sheet);
        list->column = 0;
    }
    if (is_last && is_heading)
        report_sheet_close(sheet);
}

/* Adds a row: for each letter of `cells` a text (s), or a number (n), which is not written if it is not
 * finite. */
static void put_row(struct list *list, bool is_heading, const char *cells, ...)
{
    va_list values;
    va_start(values, cells);
    for (; *cells != 0; cells++) {
        const char *text = "";
        if (*cells == 's') {
            text = va_arg(values, const char *);
        } else {
            const double number = va_arg(values, double);
            text = isfinite(number) ? report_text(list->sheet->arena, "%.12g", number) : "";
        }
        put(list, text, is_heading, cells[1] == 0);
    }
    va_end(values);
}

static void put_spread(struct list *list, const struct report_panel *panel, const struct report_axis *x,
                       const struct report_slice *step, bool is_open)
{
    const struct report_spread *spread = is_open ? &step->open : &step->closed;
    const struct report_axis *y = &panel->y;
    if (spread->present)
        put_row(list, false, "snnsnnnnn", panel->label, report_value_at(x, step->from) * x->unit,
                report_value_at(x, step->to) * x->unit, is_open ? "open" : "closed",
                report_value_at(y, spread->least), report_value_at(y, spread->p10),
                report_value_at(y, spread->p50), report_value_at(y, spread->p90),
                report_value_at(y, spread->most));
}

static void list_bars(struct list *list, const struct report_chart *chart)
{
    bool has_steps = false;
    for (size_t i = 0; i < chart->panel_count; i++)
        has_steps |= chart->panels[i].step_count > 0;
    if (has_steps)
        put_row(list, true, "sssssssss", "strategy", "from", "to", "state", "least", "p10", "median", "p90",
                "largest");
    else
        put_row(list, true, "sssss", "strategy", "from", "to", "state", "count");
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->bar_count; k++) {
            const struct report_bar *bar = &panel->bars[k];
            put_row(list, false, "snnsn", panel->label, bar->first, bar->last, report_inks[bar->ink].name,
                    bar->count);
        }
        for (size_t k = 0; k < panel->step_count; k++) {
            put_spread(list, panel, &chart->x, &panel->steps[k], false);
            put_spread(list, panel, &chart->x, &panel->steps[k], true);
        }
    }
}

/* The key figures of panels, which may differ from panel to panel. */
static void list_panels(struct list *list, const struct report_chart *chart)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        put(list, panel->label, false, panel->figure_count == 0);
        for (size_t k = 0; k < panel->figure_count; k++) {
            const struct report_figure *figure = &panel->figures[k];
            put(list, report_text(list->sheet->arena, "%s %s", figure->name, figure->text), false,
                k + 1 == panel->figure_count);
        }
    }
}

static void list_table(struct list *list, const struct report_chart *chart)
{
    put(list, "strategy", true, false);
    for (size_t i = 0; i < chart->column_count; i++)
        put(list, chart->columns[i].title, true, i + 1 == chart->column_count);
    for (size_t row = 0; row < chart->row_count; row++) {
        put(list, chart->rows[row].label, false, false);
        for (size_t i = 0; i < chart->column_count; i++) {
            const struct report_cell *cell = &chart->columns[i].cells[row];
            const char *exact = report_text(list->sheet->arena, "%.12g", cell->value);
            put(list,
                !list->is_csv   ? cell->text
                : cell->present ? exact
                                : "",
                false, i + 1 == chart->column_count);
        }
    }
}

static void list_lines(struct list *list, const struct report_chart *chart)
{
    put_row(list, true, "ssss", "line", "panel", chart->x.title, chart->panels[0].y.title);
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->line_count; k++) {
            const struct report_line *line = &panel->lines[k];
            for (size_t n = 0; n < line->sample_count; n++) {
                if (list->is_csv || line->samples[n].hint != NULL)
                    put_row(list, false, "ssnn", line->label[0] != 0 ? line->label : "exact distribution",
                            panel->label, report_value_at(&chart->x, line->samples[n].x),
                            report_value_at(&panel->y, line->samples[n].y));
            }
        }
    }
}

static void list_spots(struct list *list, const struct report_chart *chart)
{
    const struct report_panel *panel = &chart->panels[0];
    put_row(list, true, "ssssss", "setting", chart->x.title, panel->y.title, "low", "high", "is");
    for (size_t i = 0; i < panel->spot_count; i++) {
        const struct report_spot *spot = &panel->spots[i];
        put_row(list, false, "snnnns", spot->label, report_value_at(&chart->x, spot->x),
                report_value_at(&panel->y, spot->y), report_value_at(&panel->y, spot->low),
                report_value_at(&panel->y, spot->high),
                spot->is_chosen     ? "recommended"
                : spot->is_on_front ? "on the front"
                                    : "");
    }
}

static void list_lanes(struct list *list, const struct report_chart *chart)
{
    put_row(list, true, "sssss", "strategy", "agent", "from", "to", "state");
    for (size_t i = 0; i < chart->panel_count; i++) {
        for (size_t k = 0; k < chart->panels[i].lane_count; k++) {
            const struct report_lane *lane = &chart->panels[i].lanes[k];
            for (size_t n = 0; n < lane->span_count; n++)
                put_row(list, false, "ssnns", chart->panels[i].label, lane->label, lane->spans[n].from,
                        lane->spans[n].to, report_inks[lane->spans[n].ink].name);
        }
    }
}

/* In a table, the bars and lanes of a panel are represented by its key figures. */
static void list_figures(struct list *list, const struct report_chart *chart)
{
    switch (chart->form) {
    case REPORT_FORM_STACK:
        (list->is_csv ? list_bars : list_panels)(list, chart);
        break;
    case REPORT_FORM_LANES:
        (list->is_csv ? list_lanes : list_panels)(list, chart);
        break;
    case REPORT_FORM_TABLE:
        list_table(list, chart);
        break;
    case REPORT_FORM_CURVES:
        list_lines(list, chart);
        break;
    case REPORT_FORM_FRONT:
        list_spots(list, chart);
        break;
    case REPORT_FORM_SUMMARY:
    case REPORT_FORM_SEQUENCE:
        break;
    }
}

static void write_csv(struct report_sheet *sheet, const struct report_chart *chart)
{
    struct list list = {.sheet = sheet, .is_csv = true};
    const char *name = report_clean(sheet->arena, sheet->page->result->scenario_name);
    report_sheet_element(sheet, "p", "class", "csv", NULL);
    report_sheet_element(sheet, "a", "download", report_text(sheet->arena, "%s-%s.csv", name, chart->name),
                         NULL);
    xmlTextWriterStartAttribute(sheet->writer, (const xmlChar *)"href");
    xmlTextWriterWriteString(sheet->writer, (const xmlChar *)"data:text/csv;charset=utf-8,");
    list_figures(&list, chart);
    xmlTextWriterEndAttribute(sheet->writer);
    report_sheet_text(sheet, "The figures as CSV");
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

static void write_data(struct report_sheet *sheet, const struct report_chart *chart)
{
    struct list list = {.sheet = sheet};
    report_sheet_element(sheet, "details", "class", "data", NULL);
    report_sheet_summary(sheet, "The figures as a table", chart->title);
    report_sheet_element(sheet, "div", "class", "scroll", "tabindex", "0", "role", "region", "aria-label",
                         report_text(sheet->arena, "Figures: %s", chart->title), NULL);
    report_sheet_open(sheet, "table");
    list_figures(&list, chart);
    if (list.has_body)
        report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

/* The width of a telephone's screen in CSS pixels. */
static const double narrow_width = 390;

/* Removes the hints of the narrow drawing. Its figures are in the table and in the CSV file, and a hint per
 * mark would double the size of the page. */
static void drop_hints(struct report_scene *scene)
{
    size_t kept = 0;
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->marks[i].shape != REPORT_SHAPE_HIT) {
            scene->marks[kept] = scene->marks[i];
            scene->marks[kept++].hint = NULL;
        }
    }
    scene->count = kept;
}

/* Returns whether a chart is among the first ones of the page. On a page of a run, all are; on a page of
 * tune, which has many large charts, only those that explain its answer. */
static bool is_first(const struct report_sheet *sheet, const struct report_chart *chart)
{
    static const char *const first[] = {"tune-front", "survival-rows"};
    bool is_first = sheet->page->front == NULL;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        is_first |= strcmp(first[i], chart->name) == 0;
    return is_first;
}

/* The title and the foot are part of the page and are not repeated in the drawing. Each chart is drawn twice,
 * for a screen and for a telephone; the style sheet displays one of them. */
static void write_chart(struct report_sheet *sheet, const struct report_chart *chart)
{
    const char *id = report_text(sheet->arena, "chart-%s", chart->name);
    struct report_chart bare = *chart;
    struct report_scene wide, narrow;
    bare.title = bare.subtitle = bare.foot = "";
    report_layout(&bare, REPORT_PAGE_WIDTH, sheet->typesetter, sheet->arena, &wide);
    report_layout(&bare, narrow_width, sheet->typesetter, sheet->arena, &narrow);
    drop_hints(&narrow);
    report_sheet_section(sheet, id, "chart", 3, chart->heading);
    report_sheet_element(sheet, "details", "class", "fold", NULL);
    if (is_first(sheet, chart))
        report_sheet_attribute(sheet, "open", "open");
    report_sheet_summary(sheet, "Chart", chart->heading);
    report_sheet_open(sheet, "figure");
    report_page_svg(sheet, chart, &wide, report_text(sheet->arena, "%s-svg", id));
    report_page_svg(sheet, chart, &narrow, report_text(sheet->arena, "%s-narrow", id));
    report_sheet_close(sheet);
    write_csv(sheet, chart);
    report_sheet_element(sheet, "details", "class", "reading", NULL);
    report_sheet_summary(sheet, "How to read it", chart->heading);
    report_sheet_leaf(sheet, "p", chart->reading, NULL);
    report_sheet_close(sheet);
    write_data(sheet, chart);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

void report_page_charts(struct report_sheet *sheet)
{
    const struct report_page *page = sheet->page;
    const struct report_chart *left[REPORT_SUMMARY];
    size_t left_count = 0;
    report_sheet_section(sheet, "charts", "", 2, "Charts");
    report_page_svg_patterns(sheet);
    if (page->front != NULL)
        write_chart(sheet, report_front_make(page->front, sheet->arena));
    for (int kind = 0; kind < REPORT_SUMMARY; kind++) {
        const struct report_chart *chart =
            report_chart_make(page->result, (enum report_kind)kind, sheet->arena);
        if (chart->absent == NULL)
            write_chart(sheet, chart);
        else
            left[left_count++] = chart;
    }
    for (size_t i = 0; i < left_count; i++) {
        if (i == 0)
            report_sheet_element(sheet, "ul", "class", "absent", NULL);
        report_sheet_element(sheet, "li", "data-chart", left[i]->name, NULL);
        report_sheet_leaf(sheet, "span", left[i]->heading, NULL);
        report_sheet_text(sheet, report_text(sheet->arena, " is left out: %s.", left[i]->absent));
        report_sheet_close(sheet);
    }
    if (left_count > 0)
        report_sheet_close(sheet);
    report_sheet_close(sheet);
}
