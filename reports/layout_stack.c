/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Panels one below the other over a shared x axis: numbers left, plot, key figures right. */
#include "layout_stack.h"

static const double plot_left = 76;
static const double plot_width = 530;
static const double panel_gap = 13;
static const double tick_length = 4;
static const double bar_height_min = 1;
/* So many panels, and the numbers of the x axis stand below every eighth too. */
enum { TALL_PANELS = 12, REPEAT_EVERY = 8 };

static double plot_height(size_t panel_count);
static void put_panel(const struct report_chart *chart, const struct report_panel *panel, bool has_numbers,
                      struct report_pen *pen);
static void put_bands(const struct report_panel *panel, const struct report_stack_plot *plot,
                      struct report_pen *pen);
static void put_level_band(const struct report_band *band, const struct report_stack_plot *plot,
                           struct report_pen *pen);
static void put_bars(const struct report_panel *panel, const struct report_stack_plot *plot,
                     struct report_pen *pen);
static void put_curve(const struct report_panel *panel, const struct report_stack_plot *plot,
                      struct report_pen *pen);
static void put_y_axis(const struct report_stack_plot *plot, struct report_pen *pen);
static void put_x_axis(const struct report_stack_plot *plot, bool has_numbers, struct report_pen *pen);

void report_layout_stack(const struct report_chart *chart, struct report_pen *pen)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        bool is_last = i + 1 == chart->panel_count;
        bool repeats = chart->panel_count >= TALL_PANELS && (i + 1) % REPEAT_EVERY == 0 &&
                       chart->panel_count - i > REPEAT_EVERY / 2;
        put_panel(chart, &chart->panels[i], is_last || repeats, pen);
    }
    const struct report_type title = {.text = chart->x.title, .font = REPORT_FONT_TICK, .lines = 1};
    struct report_box box =
        report_pen_text(pen, &title, REPORT_CENTRE, plot_left + plot_width / 2, pen->y + 3);
    pen->y = box.y + box.height;
}

/* One strategy fills a slide; many stay readable and make the page long. */
static double plot_height(size_t panel_count)
{
    return panel_count == 1 ? 240 : panel_count == 2 ? 150 : panel_count == 3 ? 110 : 78;
}

static void put_panel(const struct report_chart *chart, const struct report_panel *panel, bool has_numbers,
                      struct report_pen *pen)
{
    pen->y += panel_gap;
    report_pen_panel_head(pen, panel, plot_left);
    const struct report_stack_plot plot = {.x = &chart->x,
                                           .y = &panel->y,
                                           .box = {.x = plot_left,
                                                   .y = report_snap(pen->y + 4),
                                                   .width = plot_width,
                                                   .height = plot_height(chart->panel_count)}};
    put_bands(panel, &plot, pen);
    put_y_axis(&plot, pen);
    put_bars(panel, &plot, pen);
    report_stack_put_steps(panel, &plot, pen);
    put_curve(panel, &plot, pen);
    double figures_end = report_pen_figures(pen, panel, plot.box.y);
    pen->y = plot.box.y + plot.box.height;
    put_x_axis(&plot, has_numbers, pen);
    pen->y = figures_end > pen->y ? figures_end : pen->y;
}

static void put_bands(const struct report_panel *panel, const struct report_stack_plot *plot,
                      struct report_pen *pen)
{
    for (size_t i = 0; i < panel->band_count; i++) {
        const struct report_band *band = &panel->bands[i];
        if (band->is_level) {
            put_level_band(band, plot, pen);
            continue;
        }
        double from = report_snap(report_stack_x(plot, band->from));
        double to = report_snap(report_stack_x(plot, band->to));
        struct report_box box = {from, plot->box.y, to - from, plot->box.height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, band->ink, box);
        double edge = band->ink == REPORT_INK_OVER ? from : to;
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, edge, box.y, edge, box.y + box.height, 1);
    }
}

static void put_level_band(const struct report_band *band, const struct report_stack_plot *plot,
                           struct report_pen *pen)
{
    const double top = report_snap(report_stack_y(plot, band->to));
    const double bottom = report_snap(report_stack_y(plot, band->from));
    const struct report_box box = {plot->box.x, top, plot->box.width, bottom - top};
    const double edge = band->ink == REPORT_INK_OVER ? bottom : top;
    report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, band->ink, box);
    report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, box.x, edge, box.x + box.width, edge, 1);
}

static void put_bars(const struct report_panel *panel, const struct report_stack_plot *plot,
                     struct report_pen *pen)
{
    const double floor_y = plot->box.y + plot->box.height;
    double below = floor_y;
    for (size_t i = 0; i < panel->bar_count; i++) {
        const struct report_bar *bar = &panel->bars[i];
        double left = report_snap(report_stack_x(plot, bar->from));
        double right = report_snap(report_stack_x(plot, bar->to));
        double bottom = bar->low > 0 ? below : floor_y;
        double top = report_snap(report_stack_y(plot, bar->high));
        /* What is rare is seen nevertheless: it is what breaks limits. */
        top = top > bottom - bar_height_min ? bottom - bar_height_min : top;
        below = top;
        /* Half a pixel of paper between neighbours. */
        double width = right - left > 2 ? right - left - 0.5 : right - left;
        struct report_box box = {left, top, width, bottom - top};
        report_pen_mark(pen, bar->ink == REPORT_INK_OPEN ? REPORT_SHAPE_HATCHED : REPORT_SHAPE_RECTANGLE,
                        bar->ink, box)
            ->hint = bar->hint;
    }
}

static void put_curve(const struct report_panel *panel, const struct report_stack_plot *plot,
                      struct report_pen *pen)
{
    if (panel->curve_count < 2) {
        return;
    }
    struct report_point *points = report_take(pen->scene->arena, panel->curve_count, sizeof *points);
    if (points == NULL) {
        return;
    }
    for (size_t i = 0; i < panel->curve_count; i++) {
        points[i] = (struct report_point){report_stack_x(plot, panel->curve[i].x),
                                          report_stack_y(plot, panel->curve[i].y)};
    }
    static const struct {
        enum report_ink ink;
        double stroke;
    } passes[] = {{REPORT_INK_HALO, 3}, {REPORT_INK_LAW, 1.6}};
    for (size_t i = 0; i < 2; i++) {
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, passes[i].ink, plot->box);
        mark->points = points;
        mark->point_count = panel->curve_count;
        mark->stroke = passes[i].stroke;
    }
}

static void put_y_axis(const struct report_stack_plot *plot, struct report_pen *pen)
{
    const double right = plot->box.x + plot->box.width;
    for (size_t i = 0; i < plot->y->tick_count; i++) {
        const struct report_tick *tick = &plot->y->ticks[i];
        double y = report_snap(report_stack_y(plot, tick->at));
        if (i > 0) {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, plot->box.x, y, right, y, 1);
        }
        const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
        double height = report_pen_height(pen, REPORT_FONT_TICK);
        report_pen_text(pen, &type, REPORT_RIGHT, plot->box.x - 6, y - height / 2);
    }
    const struct report_type title = {.text = plot->y->title, .font = REPORT_FONT_TICK, .lines = 1};
    struct report_extent extent = report_typeset_measure(pen->typesetter, &title);
    struct report_box box = {.x = REPORT_PAGE_MARGIN,
                             .y = plot->box.y + (plot->box.height - extent.width) / 2,
                             .width = extent.height,
                             .height = extent.width};
    struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_TEXT, REPORT_INK_TEXT, box);
    mark->type = title;
    mark->is_upright = true;
}

static void put_x_axis(const struct report_stack_plot *plot, bool has_numbers, struct report_pen *pen)
{
    const double y = plot->box.y + plot->box.height;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, plot->box.x, y, plot->box.x + plot->box.width, y,
                    1);
    double end = y;
    for (size_t i = 0; i < plot->x->tick_count; i++) {
        const struct report_tick *tick = &plot->x->ticks[i];
        double x = report_snap(report_stack_x(plot, tick->at));
        bool is_decade = tick->text[0] != 0;
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, y, x,
                        y + (is_decade ? tick_length : tick_length / 2), 1);
        if (has_numbers && is_decade) {
            const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
            struct report_box box = report_pen_text(pen, &type, REPORT_CENTRE, x, y + tick_length + 2);
            end = box.y + box.height;
        }
    }
    pen->y = end > y ? end : y + tick_length;
}

double report_stack_x(const struct report_stack_plot *plot, double value)
{
    return plot->box.x + (value - plot->x->low) / (plot->x->high - plot->x->low) * plot->box.width;
}

double report_stack_y(const struct report_stack_plot *plot, double value)
{
    double share = (value - plot->y->low) / (plot->y->high - plot->y->low);
    return plot->box.y + (1 - share) * plot->box.height;
}
