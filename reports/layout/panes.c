/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of panels of lines, one below the other. Their x axes have the same scale, so that each panel is
 * as wide as its longest line. The names are placed at the ends of the lines, or otherwise in a key at the
 * top. */
#include "layout.h"

#include <math.h>

static const double panel_gap = 13;
static const double tick_length = 4;
static const double text_gap = 6;
static const double title_width = 16;
/* A name consists of a leader from the line's end, the line's marker and the text. Widths in pixels. */
static const double name_width_max = 210;
static const double leader_width = 14;
static const double marker_width = 14;
/* A leader longer than this is dashed, so that it is not mistaken for the line. */
static const double far_leader = 40;
/* The distance of the lines from the plot's sides. */
static const double side_inset = 6;
/* The least width of a panel, even if its lines end early. */
static const double width_min = 120;

struct pane {
    const struct report_axis *x;
    const struct report_panel *panel;
    struct report_box box;
    double scale; /* pixels per unit of x */
};

struct page {
    double left, scale, full_width, height;
    bool has_names;
};

/* Returns the width of the names with their leaders and markers, or 0 if a name is too wide for a place next
 * to its line. */
static double names_width(const struct report_chart *chart, struct report_pen *pen)
{
    double width = 0;
    for (size_t i = 0; i < chart->panel_count; i++) {
        for (size_t k = 0; k < chart->panels[i].line_count; k++) {
            width = fmax(width, report_pen_width(pen, chart->panels[i].lines[k].label, REPORT_FONT_LEGEND));
        }
    }
    return width > name_width_max ? 0 : leader_width + marker_width + width;
}

static struct page make_page(const struct report_chart *chart, struct report_pen *pen)
{
    static const double heights[] = {300, 220, 180};
    enum { HEIGHT_COUNT = sizeof heights / sizeof heights[0] };
    const double page_right = report_pen_right(pen);
    const size_t count = chart->panel_count;
    struct page page = {.height = heights[count < HEIGHT_COUNT ? count - 1 : HEIGHT_COUNT - 1]};
    double numbers = 0;
    for (size_t i = 0; i < count; i++) {
        const struct report_axis *y = &chart->panels[i].y;
        for (size_t k = 0; k < y->tick_count; k++) {
            numbers = fmax(numbers, report_pen_width(pen, y->ticks[k].text, REPORT_FONT_TICK));
        }
    }
    page.left = ceil(REPORT_PAGE_MARGIN + title_width + numbers + text_gap);
    const double names = names_width(chart, pen);
    page.has_names = names > 0;
    page.full_width = floor(page_right - names) - page.left;
    page.scale = (page.full_width - 2 * side_inset) / (chart->x.high - chart->x.low);
    return page;
}

/* Puts the key, with one entry per ink. */
static void put_key(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_legend entries[REPORT_CURVES_MAX];
    size_t count = 0;
    for (int ink = REPORT_INK_LINE; ink <= REPORT_INK_LINE_LAST; ink++) {
        const char *label = NULL;
        for (size_t i = 0; i < chart->panel_count; i++) {
            for (size_t k = 0; k < chart->panels[i].line_count; k++) {
                const struct report_line *line = &chart->panels[i].lines[k];
                label = (int)line->ink == ink ? line->label : label;
            }
        }
        if (label != NULL) {
            entries[count++] = (struct report_legend){(enum report_ink)ink, label};
        }
    }
    report_pen_legend(pen, entries, count);
}

static double end_of(const struct report_panel *panel)
{
    double end = 0;
    for (size_t i = 0; i < panel->line_count; i++) {
        end = fmax(end, panel->lines[i].samples[panel->lines[i].sample_count - 1].x);
    }
    return end;
}

static double y_of(const struct pane *pane, double value)
{
    const struct report_axis *axis = &pane->panel->y;
    return pane->box.y + (1 - (value - axis->low) / (axis->high - axis->low)) * pane->box.height;
}

static void put_y_axis(const struct pane *pane, struct report_pen *pen)
{
    const struct report_axis *axis = &pane->panel->y;
    const double right = pane->box.x + pane->box.width;
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    double above = HUGE_VAL;
    for (size_t i = 0; i < axis->tick_count; i++) {
        const double y = report_snap(y_of(pane, axis->ticks[i].at));
        if (axis->ticks[i].text[0] == 0) {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, pane->box.x - 2, y, pane->box.x, y, 1);
            continue;
        }
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, pane->box.x, y, right, y, 1);
        /* The number is left out where it would overlap the number below it. */
        if (y + height / 2 <= above) {
            const struct report_type type = {
                .text = axis->ticks[i].text, .font = REPORT_FONT_TICK, .lines = 1};
            report_pen_text(pen, &type, REPORT_RIGHT, pane->box.x - text_gap, y - height / 2);
            above = y - height / 2;
        }
    }
    const struct report_type title = {.text = axis->title, .font = REPORT_FONT_TICK, .lines = 1};
    const struct report_extent extent = report_typeset_measure(pen->typesetter, &title);
    const struct report_box box = {.x = REPORT_PAGE_MARGIN,
                                   .y = pane->box.y + (pane->box.height - extent.width) / 2,
                                   .width = extent.height,
                                   .height = extent.width};
    struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_TEXT, REPORT_INK_TEXT, box);
    mark->type = title;
    mark->is_upright = true;
}

static double x_of(const struct pane *pane, double value)
{
    return pane->box.x + side_inset + (value - pane->x->low) * pane->scale;
}

static void put_x_axis(const struct pane *pane, struct report_pen *pen)
{
    const double top = pane->box.y, y = top + pane->box.height, right = pane->box.x + pane->box.width;
    double taken = 0;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, pane->box.x, y, right, y, 1);
    for (size_t i = 0; i < pane->x->tick_count; i++) {
        const struct report_tick *tick = &pane->x->ticks[i];
        const double x = report_snap(x_of(pane, tick->at));
        const bool has_number = tick->text[0] != 0;
        if (x > right) {
            break;
        }
        if (has_number && i > 0) {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, x, top, x, y, 1);
        }
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, y, x,
                        y + (has_number ? tick_length : tick_length / 2), 1);
        const double width = report_pen_width(pen, tick->text, REPORT_FONT_TICK);
        if (has_number && x - width / 2 >= taken) {
            const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
            report_pen_text(pen, &type, REPORT_CENTRE, x, y + tick_length + 2);
            taken = x + width / 2 + text_gap;
        }
    }
    pen->y = y + tick_length + 2 + report_pen_height(pen, REPORT_FONT_TICK);
}

static void put_line(const struct pane *pane, const struct report_line *line, struct report_pen *pen)
{
    struct report_point *points = report_take(pen->scene->arena, line->sample_count, sizeof *points);
    if (points == NULL || line->sample_count < 2) {
        return;
    }
    for (size_t i = 0; i < line->sample_count; i++) {
        points[i] = (struct report_point){x_of(pane, line->samples[i].x), y_of(pane, line->samples[i].y)};
    }
    const struct {
        enum report_ink ink;
        double stroke;
    } passes[] = {{REPORT_INK_HALO, 3}, {line->ink, 1.6}};
    for (size_t i = 0; i < 2; i++) {
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, passes[i].ink, pane->box);
        mark->points = points;
        mark->point_count = line->sample_count;
        mark->stroke = passes[i].stroke;
    }
}

static void put_markers(const struct pane *pane, const struct report_line *line, struct report_pen *pen)
{
    for (size_t i = 0; i < line->sample_count; i++) {
        const struct report_sample *sample = &line->samples[i];
        if (sample->hint != NULL) {
            const double x = x_of(pane, sample->x), y = y_of(pane, sample->y);
            report_pen_marker(pen, line->ink, x, y);
            report_pen_mark(pen, REPORT_SHAPE_HIT, line->ink, (struct report_box){x, y, 0, 0})->hint =
                sample->hint;
        }
    }
}

static void put_names(const struct pane *pane, struct report_pen *pen)
{
    const struct report_panel *panel = pane->panel;
    struct report_point ends[REPORT_CURVES_MAX];
    for (size_t i = 0; i < panel->line_count; i++) {
        const struct report_sample *last = &panel->lines[i].samples[panel->lines[i].sample_count - 1];
        ends[i] = (struct report_point){x_of(pane, last->x), y_of(pane, last->y)};
    }
    report_pen_line_names(pen, &(struct report_line_names){
                                   .lines = panel->lines,
                                   .ends = ends,
                                   .count = panel->line_count,
                                   .box = pane->box,
                                   .x = pane->box.x + pane->box.width + leader_width,
                                   .marker_width = marker_width,
                                   .far_leader = far_leader,
                               });
}

static void put_pane(const struct report_chart *chart, const struct report_panel *panel,
                     const struct page *page, struct report_pen *pen)
{
    pen->y += panel_gap;
    report_pen_panel_head(pen, panel, page->left);
    const double width = 2 * side_inset + ceil((end_of(panel) - chart->x.low) * page->scale);
    const struct pane pane = {.x = &chart->x,
                              .panel = panel,
                              .scale = page->scale,
                              .box = {.x = page->left,
                                      .y = report_snap(pen->y + 6),
                                      .width = fmin(fmax(width, width_min), page->full_width),
                                      .height = page->height}};
    put_y_axis(&pane, pen);
    put_x_axis(&pane, pen);
    for (size_t i = 0; i < panel->line_count; i++) {
        put_line(&pane, &panel->lines[i], pen);
    }
    for (size_t i = 0; i < panel->line_count; i++) {
        put_markers(&pane, &panel->lines[i], pen);
    }
    if (page->has_names) {
        put_names(&pane, pen);
    }
}

void report_layout_panes(const struct report_chart *chart, struct report_pen *pen)
{
    const struct page page = make_page(chart, pen);
    if (!page.has_names) {
        put_key(chart, pen);
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        put_pane(chart, &chart->panels[i], &page, pen);
    }
    const struct report_type title = {chart->x.title, REPORT_FONT_TICK, page.full_width, 1};
    const struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, page.left, pen->y + 3);
    pen->y = box.y + box.height;
}
