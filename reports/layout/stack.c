/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of panels over a shared x axis. Normally they are one below the other, with numbers on the left,
 * the plot, and key figures on the right. Many panels, or a few on a narrow page, are laid out as small ones
 * side by side, with the most important figures below. A panel shows bars, a curve or sizes over time. For
 * sizes over time, each stretch has a box from the smallest to the largest size, a darker box from the 10th
 * to the 90th percentile, and the median as a step of a line. */
#include "layout.h"

#include <math.h>

static const double plot_left = 76;
static const double plot_width = 530;
static const double panel_gap = 13;
/* The least width of a small panel. */
static const double small_width_min = 220;
static const double small_gap = 20;
static const double small_height = 56;
static const double number_gap = 6;
enum { FIGURE_COLUMNS = 2 };
static const double tick_length = 4;
static const double bar_height_min = 1;
static const double step_height_min = 1.5;
/* The plot of one panel. All panels share the x axis. */
struct plot {
    const struct report_axis *x, *y;
    struct report_box box;
};

static double x_of(const struct plot *plot, double value)
{
    return plot->box.x + (value - plot->x->low) / (plot->x->high - plot->x->low) * plot->box.width;
}

static double y_of(const struct plot *plot, double value)
{
    double share = (value - plot->y->low) / (plot->y->high - plot->y->low);
    return plot->box.y + (1 - share) * plot->box.height;
}

static void put_box(const struct plot *plot, const struct report_slice *step, double low, double high,
                    enum report_ink ink, struct report_pen *pen)
{
    const double left = report_snap(x_of(plot, step->from));
    const double right = report_snap(x_of(plot, step->to));
    double top = report_snap(y_of(plot, high)), bottom = report_snap(y_of(plot, low));
    if (bottom - top < step_height_min) {
        top = report_snap((top + bottom - step_height_min) / 2);
        top = top < plot->box.y ? plot->box.y : top;
        bottom = top + step_height_min;
    }
    report_pen_mark(pen, report_style_is_hatched(ink) ? REPORT_SHAPE_HATCHED : REPORT_SHAPE_RECTANGLE, ink,
                    (struct report_box){left, top, right - left, bottom - top});
}

static bool has_median(const struct report_slice *step, bool is_open)
{
    return is_open ? step->open.present && !step->closed.present : step->closed.present;
}

static void put_run(const struct plot *plot, const struct report_slice *steps, size_t count, bool is_open,
                    struct report_pen *pen)
{
    struct report_point *points = report_take(pen->scene->arena, 2 * count, sizeof *points);
    if (points == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const double y = y_of(plot, is_open ? steps[i].open.p50 : steps[i].closed.p50);
        points[2 * i] = (struct report_point){x_of(plot, steps[i].from), y};
        points[2 * i + 1] = (struct report_point){x_of(plot, steps[i].to), y};
    }
    static const struct {
        enum report_ink ink;
        double stroke;
    } passes[] = {{REPORT_INK_HALO, 3}, {REPORT_INK_DISTRIBUTION, 1.4}};
    for (size_t i = is_open ? 0 : 1; i < 2; i++) { /* hatching is too dark behind a dotted line */
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, passes[i].ink, plot->box);
        mark->points = points;
        mark->point_count = 2 * count;
        mark->stroke = passes[i].stroke;
        mark->is_dashed = is_open && i == 1;
    }
}

/* Draws runs of medians of the closed partitions or, with is_open, of the open partitions where a stretch has
 * no closed ones. */
static void put_medians(const struct report_panel *panel, const struct plot *plot, bool is_open,
                        struct report_pen *pen)
{
    for (size_t i = 0; i < panel->step_count;) {
        size_t end = i + 1;
        if (has_median(&panel->steps[i], is_open)) {
            while (end < panel->step_count && has_median(&panel->steps[end], is_open) &&
                   panel->steps[end].from <= panel->steps[end - 1].to) {
                end++;
            }
            put_run(plot, &panel->steps[i], end - i, is_open, pen);
        }
        i = end;
    }
}

/* The box of open partitions is drawn behind that of closed ones and is visible where it extends beyond
 * it. */
static void put_steps(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    for (size_t i = 0; i < panel->step_count; i++) {
        const struct report_slice *step = &panel->steps[i];
        if (step->open.present) {
            put_box(plot, step, step->open.least, step->open.most, REPORT_INK_OPEN, pen);
        }
        if (step->closed.present) {
            put_box(plot, step, step->closed.least, step->closed.most, REPORT_INK_RANGE, pen);
            put_box(plot, step, step->closed.p10, step->closed.p90, REPORT_INK_MIDDLE, pen);
        }
    }
    put_medians(panel, plot, true, pen);
    put_medians(panel, plot, false, pen);
    for (size_t i = 0; i < panel->step_count; i++) {
        const double left = report_snap(x_of(plot, panel->steps[i].from));
        const double right = report_snap(x_of(plot, panel->steps[i].to));
        const struct report_box whole = {left, plot->box.y, right - left, plot->box.height};
        report_pen_mark(pen, REPORT_SHAPE_HIT, REPORT_INK_MIDDLE, whole)->hint = panel->steps[i].hint;
    }
}

/* The panel of a single strategy fills a slide. Many panels stay readable and make the page long. */
static double plot_height(size_t panel_count)
{
    return panel_count == 1 ? 240 : panel_count == 2 ? 150 : panel_count == 3 ? 110 : 78;
}

static void put_level_band(const struct report_band *band, const struct plot *plot, struct report_pen *pen)
{
    const double top = report_snap(y_of(plot, band->to));
    const double bottom = report_snap(y_of(plot, band->from));
    const struct report_box box = {plot->box.x, top, plot->box.width, bottom - top};
    const double edge = band->ink == REPORT_INK_OVER ? bottom : top;
    report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, band->ink, box);
    report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, box.x, edge, box.x + box.width, edge, 1);
}

static void put_bands(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    for (size_t i = 0; i < panel->band_count; i++) {
        const struct report_band *band = &panel->bands[i];
        if (band->is_level) {
            put_level_band(band, plot, pen);
            continue;
        }
        double from = report_snap(x_of(plot, band->from));
        double to = report_snap(x_of(plot, band->to));
        struct report_box box = {from, plot->box.y, to - from, plot->box.height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, band->ink, box);
        double edge = band->ink == REPORT_INK_OVER ? from : to;
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, edge, box.y, edge, box.y + box.height, 1);
    }
}

static void put_y_numbers(const struct plot *plot, struct report_pen *pen)
{
    const double right = plot->box.x + plot->box.width;
    double above = HUGE_VAL;
    for (size_t i = 0; i < plot->y->tick_count; i++) {
        const struct report_tick *tick = &plot->y->ticks[i];
        double y = report_snap(y_of(plot, tick->at));
        if (y < plot->box.y + plot->box.height - 1) {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, plot->box.x, y, right, y, 1);
        }
        const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
        double height = report_pen_height(pen, REPORT_FONT_TICK);
        if (tick->text[0] != 0 && y + height / 2 <= above) {
            report_pen_text(pen, &type, REPORT_RIGHT, plot->box.x - number_gap, y - height / 2);
            above = y - height / 2;
        }
    }
}

static void put_y_title(const struct plot *plot, struct report_pen *pen)
{
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

static void put_bars(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    const double floor_y = plot->box.y + plot->box.height;
    double below = floor_y;
    for (size_t i = 0; i < panel->bar_count; i++) {
        const struct report_bar *bar = &panel->bars[i];
        double left = report_snap(x_of(plot, bar->from));
        double right = report_snap(x_of(plot, bar->to));
        double bottom = bar->low > plot->y->low ? below : floor_y;
        double top = report_snap(y_of(plot, bar->high));
        /* A bar has a minimal height, because rare partitions are the ones that exceed limits. */
        top = top > bottom - bar_height_min ? bottom - bar_height_min : top;
        below = top;
        /* Half a pixel of paper separates neighbouring bars. */
        double width = right - left > 2 ? right - left - 0.5 : right - left;
        struct report_box box = {left, top, width, bottom - top};
        report_pen_mark(pen, bar->ink == REPORT_INK_OPEN ? REPORT_SHAPE_HATCHED : REPORT_SHAPE_RECTANGLE,
                        bar->ink, box)
            ->hint = bar->hint;
    }
}

static void put_curve(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    if (panel->curve_count < 2) {
        return;
    }
    struct report_point *points = report_take(pen->scene->arena, panel->curve_count, sizeof *points);
    if (points == NULL) {
        return;
    }
    for (size_t i = 0; i < panel->curve_count; i++) {
        points[i] = (struct report_point){x_of(plot, panel->curve[i].x), y_of(plot, panel->curve[i].y)};
    }
    static const struct {
        enum report_ink ink;
        double stroke;
    } passes[] = {{REPORT_INK_HALO, 3}, {REPORT_INK_DISTRIBUTION, 1.6}};
    for (size_t i = 0; i < 2; i++) {
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, passes[i].ink, plot->box);
        mark->points = points;
        mark->point_count = panel->curve_count;
        mark->stroke = passes[i].stroke;
    }
}

static void put_x_axis(const struct plot *plot, bool has_numbers, struct report_pen *pen)
{
    const double y = plot->box.y + plot->box.height;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, plot->box.x, y, plot->box.x + plot->box.width, y,
                    1);
    const double most = pen->scene->width - REPORT_PAGE_MARGIN / 2;
    double end = y, taken = 0;
    for (size_t i = 0; i < plot->x->tick_count; i++) {
        const struct report_tick *tick = &plot->x->ticks[i];
        double x = report_snap(x_of(plot, tick->at));
        bool is_decade = tick->text[0] != 0;
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, y, x,
                        y + (is_decade ? tick_length : tick_length / 2), 1);
        const double width = report_pen_width(pen, tick->text, REPORT_FONT_TICK);
        if (has_numbers && is_decade && x - width / 2 >= taken) {
            const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
            taken = x + width / 2 + number_gap;
            struct report_box box =
                report_pen_text(pen, &type, REPORT_CENTRE, fmin(x, most - width / 2), y + tick_length + 2);
            end = box.y + box.height;
        }
    }
    pen->y = end > y ? end : y + tick_length;
}

static void put_plot(const struct report_panel *panel, const struct plot *plot, struct report_pen *pen)
{
    put_bands(panel, plot, pen);
    put_y_numbers(plot, pen);
    put_bars(panel, plot, pen);
    put_steps(panel, plot, pen);
    put_curve(panel, plot, pen);
}

static void put_panel(const struct report_chart *chart, const struct report_panel *panel, bool has_numbers,
                      struct report_pen *pen)
{
    pen->y += panel_gap;
    report_pen_panel_head(pen, panel, plot_left);
    const struct plot plot = {.x = &chart->x,
                              .y = &panel->y,
                              .box = {.x = plot_left,
                                      .y = report_snap(pen->y + 4),
                                      .width = plot_width,
                                      .height = plot_height(chart->panel_count)}};
    put_y_title(&plot, pen);
    put_plot(panel, &plot, pen);
    double figures_end = report_pen_figures(pen, panel, plot.box.y);
    pen->y = plot.box.y + plot.box.height;
    put_x_axis(&plot, has_numbers, pen);
    pen->y = figures_end > pen->y ? figures_end : pen->y;
}

/* The layout of small panels: how many are side by side, and the sizes of their parts in pixels. */
struct small {
    size_t columns;
    double width, numbers; /* of a panel with its numbers; of the numbers alone */
    double height;         /* of a panel's plot */
};

static struct small measure_small(const struct report_chart *chart, struct report_pen *pen)
{
    const double room = report_pen_content_width(pen);
    struct small small = {.columns = (size_t)((room + small_gap) / (small_width_min + small_gap)),
                          .height = small_height};
    small.columns = small.columns < 1 ? 1 : small.columns;
    small.columns = small.columns < chart->panel_count ? small.columns : chart->panel_count;
    small.height += small.columns == 1 && chart->panel_count <= REPORT_WIDE_PANELS_MAX ? 24 : 0;
    small.width = (room + small_gap) / (double)small.columns - small_gap;
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_axis *y = &chart->panels[i].y;
        for (size_t k = 0; k < y->tick_count; k++) {
            small.numbers = fmax(small.numbers, report_pen_width(pen, y->ticks[k].text, REPORT_FONT_TICK));
        }
    }
    small.numbers += number_gap;
    return small;
}

static double small_left(const struct small *small, size_t column)
{
    return floor(REPORT_PAGE_MARGIN + (double)column * (small->width + small_gap));
}

/* Puts the most important figures in two columns below the plot. Returns the y where they end. */
static double put_small_figures(const struct report_panel *panel, double left, double width, double top,
                                struct report_pen *pen)
{
    const double line = report_pen_height(pen, REPORT_FONT_FIGURE) + 1;
    const double gap = 14, room = (width - gap) / FIGURE_COLUMNS;
    size_t used = 0;
    for (size_t i = 0; i < panel->figure_count; i++) {
        const struct report_figure *figure = &panel->figures[i];
        if (!figure->is_key && !figure->is_alarm) {
            continue;
        }
        const enum report_font font = figure->is_alarm ? REPORT_FONT_ALARM : REPORT_FONT_FIGURE;
        const double x = left + (double)(used % FIGURE_COLUMNS) * (room + gap);
        const double y = top + (double)(used / FIGURE_COLUMNS) * line;
        const struct report_type text = {.text = figure->text, .font = font, .lines = 1};
        const struct report_type name = {figure->name, REPORT_FONT_FIGURE,
                                         room - 4 - report_pen_width(pen, figure->text, font), 1};
        report_pen_text(pen, &name, REPORT_LEFT, x, y);
        report_pen_text(pen, &text, REPORT_RIGHT, x + room, y);
        used++;
    }
    return top + (double)((used + FIGURE_COLUMNS - 1) / FIGURE_COLUMNS) * line;
}

static void put_small_row(const struct report_chart *chart, const struct small *small, size_t first,
                          bool has_numbers, struct report_pen *pen)
{
    const double top = pen->y + panel_gap;
    double plot_top = top, end = top;
    const size_t count =
        small->columns < chart->panel_count - first ? small->columns : chart->panel_count - first;
    for (size_t i = 0; i < count; i++) {
        pen->y = top;
        const double left = small_left(small, i);
        report_pen_head(pen, &chart->panels[first + i], left, left + small->width);
        plot_top = fmax(plot_top, pen->y);
    }
    for (size_t i = 0; i < count; i++) {
        const struct report_panel *panel = &chart->panels[first + i];
        const double left = small_left(small, i);
        const struct plot plot = {.x = &chart->x,
                                  .y = &panel->y,
                                  .box = {.x = ceil(left + small->numbers),
                                          .y = report_snap(plot_top + 7),
                                          .width = floor(small->width - small->numbers),
                                          .height = small->height}};
        put_plot(panel, &plot, pen);
        put_x_axis(&plot, has_numbers || first + i + small->columns >= chart->panel_count, pen);
        end = fmax(end, put_small_figures(panel, left, small->width, pen->y + 2, pen));
    }
    pen->y = end;
}

static void put_small(const struct report_chart *chart, struct report_pen *pen)
{
    const struct small small = measure_small(chart, pen);
    const double room = report_pen_content_width(pen);
    const char *y_title = chart->panels[0].y.title;
    const struct report_type title = {y_title, REPORT_FONT_TICK, room, 1};
    const struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
    pen->y = box.y + box.height - panel_gap + 6;
    for (size_t i = 0; i < chart->panel_count; i += small.columns) {
        const size_t row = i / small.columns;
        put_small_row(chart, &small, i, row % 3 == 2, pen);
    }
}

void report_layout_stack(const struct report_chart *chart, struct report_pen *pen)
{
    const bool is_small =
        chart->panel_count > REPORT_WIDE_PANELS_MAX || pen->scene->width < REPORT_PAGE_WIDTH;
    for (size_t i = 0; i < chart->panel_count && !is_small; i++) {
        put_panel(chart, &chart->panels[i], i + 1 == chart->panel_count, pen);
    }
    if (is_small) {
        put_small(chart, pen);
    }
    const double left = is_small ? REPORT_PAGE_MARGIN : plot_left;
    const double width = is_small ? report_pen_content_width(pen) : plot_width;
    const struct report_type title = {chart->x.title, REPORT_FONT_TICK, width, 1};
    const double half = fmin(report_pen_width(pen, chart->x.title, REPORT_FONT_TICK), width) / 2;
    struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, left + width / 2 - half, pen->y + 3);
    pen->y = box.y + box.height;
}
