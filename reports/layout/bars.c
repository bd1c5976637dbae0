/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of panels of bars over a shared x axis. In: panels with bars, a curve, or sizes over time. Out:
 * the panels one below the other, with numbers on the left and key figures on the right. Many panels, or a
 * few on a narrow page, are small ones side by side, with the most important figures below. For sizes over
 * time, each stretch has a box from the smallest to the largest size, a darker box from the 10th to the 90th
 * percentile, and the median as a step of a line.
 *
 * The summary chart is at the end: 800 by 420 pixels, or higher where the sentences need it, and readable at
 * three quarters of that size. The answer is at the top; below it, each strategy has a line with its bars. */
#include "pen.h"

static const double plot_left = 76;
static const double plot_width = 530;
static const double panel_gap = 13;
/* The least width of a small panel. */
static const double small_width_min = 220;
static const double small_gap = 20;
static const double small_height = 56;
static const double step_height_min = 1.5;

static void put_box(const struct report_frame *frame, const struct report_slice *step, double low,
                    double high, enum report_ink ink, struct report_pen *pen)
{
    const double left = report_snap(report_frame_x(frame, step->from));
    const double right = report_snap(report_frame_x(frame, step->to));
    double top = report_snap(report_frame_y(frame, high)), bottom = report_snap(report_frame_y(frame, low));
    if (bottom - top < step_height_min) {
        top = report_snap((top + bottom - step_height_min) / 2);
        top = top < frame->box.y ? frame->box.y : top;
        bottom = top + step_height_min;
    }
    report_pen_area(pen, ink, (struct report_box){left, top, right - left, bottom - top});
}

static bool has_median(const struct report_slice *step, bool is_open)
{
    return is_open ? step->open.present && !step->closed.present : step->closed.present;
}

static void put_run(const struct report_frame *frame, const struct report_slice *steps, size_t count,
                    bool is_open, struct report_pen *pen)
{
    struct report_point *points = report_take(pen->scene->arena, 2 * count, sizeof *points);
    for (size_t i = 0; i < count; i++) {
        const double y = report_frame_y(frame, is_open ? steps[i].open.p50 : steps[i].closed.p50);
        points[2 * i] = (struct report_point){report_frame_x(frame, steps[i].from), y};
        points[2 * i + 1] = (struct report_point){report_frame_x(frame, steps[i].to), y};
    }
    /* A halo would hide the box of a narrow distribution, but hatching is too dark behind a dotted line. */
    struct report_mark *mark =
        is_open ? report_pen_curve(pen, REPORT_INK_DISTRIBUTION, &frame->box, points, 2 * count, 1.6)
                : report_pen_mark(pen, REPORT_SHAPE_CURVE, REPORT_INK_DISTRIBUTION, frame->box);
    mark->points = points;
    mark->point_count = 2 * count;
    mark->stroke = 1.4;
    mark->is_dashed = is_open;
}

/* Draws runs of medians of the closed partitions or, with is_open, of the open partitions where a stretch has
 * no closed ones. */
static void put_medians(const struct report_panel *panel, const struct report_frame *frame, bool is_open,
                        struct report_pen *pen)
{
    for (size_t i = 0; i < panel->step_count;) {
        size_t end = i + 1;
        if (has_median(&panel->steps[i], is_open)) {
            while (end < panel->step_count && has_median(&panel->steps[end], is_open) &&
                   panel->steps[end].from <= panel->steps[end - 1].to)
                end++;
            put_run(frame, &panel->steps[i], end - i, is_open, pen);
        }
        i = end;
    }
}

/* The box of open partitions is drawn behind that of closed ones and is visible where it extends beyond
 * it. */
static void put_steps(const struct report_panel *panel, const struct report_frame *frame,
                      struct report_pen *pen)
{
    for (size_t i = 0; i < panel->step_count; i++) {
        const struct report_slice *step = &panel->steps[i];
        if (step->open.present)
            put_box(frame, step, step->open.least, step->open.most, REPORT_INK_OPEN, pen);
        if (step->closed.present) {
            put_box(frame, step, step->closed.least, step->closed.most, REPORT_INK_RANGE, pen);
            put_box(frame, step, step->closed.p10, step->closed.p90, REPORT_INK_MIDDLE, pen);
        }
    }
    put_medians(panel, frame, true, pen);
    put_medians(panel, frame, false, pen);
    for (size_t i = 0; i < panel->step_count; i++) {
        const double left = report_snap(report_frame_x(frame, panel->steps[i].from));
        const double right = report_snap(report_frame_x(frame, panel->steps[i].to));
        const struct report_box whole = {left, frame->box.y, right - left, frame->box.height};
        report_pen_mark(pen, REPORT_SHAPE_HIT, REPORT_INK_MIDDLE, whole)->hint = panel->steps[i].hint;
    }
}

/* A bar is at least `least` pixels high, because rare partitions are the ones that exceed limits. */
static void put_bars(const struct report_frame *frame, const struct report_panel *panel, double least,
                     struct report_pen *pen)
{
    const double floor_y = frame->box.y + frame->box.height;
    double below = floor_y;
    for (size_t i = 0; i < panel->bar_count; i++) {
        const struct report_bar *bar = &panel->bars[i];
        const double left = report_snap(report_frame_x(frame, bar->from));
        const double right = report_snap(report_frame_x(frame, bar->to));
        const double bottom = bar->low > frame->y->low ? below : floor_y;
        const double top = fmin(report_snap(report_frame_y(frame, bar->high)), bottom - least);
        below = top;
        /* Half a pixel of paper separates neighbouring bars. */
        const double width = right - left > 2 ? right - left - 0.5 : right - left;
        report_pen_area(pen, bar->ink, (struct report_box){left, top, width, bottom - top})->hint = bar->hint;
    }
}

static void put_curve(const struct report_frame *frame, const struct report_panel *panel,
                      struct report_pen *pen)
{
    if (panel->curve_count < 2)
        return;
    struct report_point *points = report_take(pen->scene->arena, panel->curve_count, sizeof *points);
    for (size_t i = 0; i < panel->curve_count; i++)
        points[i] = (struct report_point){report_frame_x(frame, panel->curve[i].x),
                                          report_frame_y(frame, panel->curve[i].y)};
    report_pen_curve(pen, REPORT_INK_DISTRIBUTION, &frame->box, points, panel->curve_count, 1.6);
}

static void put_plot(const struct report_frame *frame, const struct report_panel *panel, bool has_numbers,
                     struct report_pen *pen)
{
    report_frame_bands(frame, panel, pen);
    report_frame_y_axis(frame, pen);
    put_bars(frame, panel, 1, pen);
    put_steps(panel, frame, pen);
    put_curve(frame, panel, pen);
    report_frame_x_axis(frame, REPORT_FONT_TICK, has_numbers, false, pen);
}

static void put_y_title(const struct report_frame *frame, struct report_pen *pen)
{
    const struct report_type title = {frame->y->title, REPORT_FONT_TICK, 0, 1};
    const struct report_extent extent = report_pen_measure(pen, &title);
    const struct report_box box = {REPORT_PAGE_MARGIN, frame->box.y + (frame->box.height - extent.width) / 2,
                                   extent.height, extent.width};
    struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_TEXT, REPORT_INK_TEXT, box);
    mark->type = title;
    mark->is_upright = true;
}

/* The panel of a single strategy fills a slide. Many panels stay readable and make the page long. */
static void put_panels(const struct report_chart *chart, struct report_pen *pen)
{
    static const double heights[] = {240, 150, 110, 78};
    const size_t count = chart->panel_count;
    for (size_t i = 0; i < count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        pen->y += panel_gap;
        report_pen_head(pen, panel, plot_left, report_pen_right(pen));
        struct report_frame frame = {
            .x = &chart->x, .y = &panel->y, .box = {.x = plot_left, .width = plot_width}};
        report_frame_place(&frame, pen->y + 4, heights[count < 4 ? count - 1 : 3]);
        put_y_title(&frame, pen);
        put_plot(&frame, panel, i + 1 == count, pen);
        pen->y = fmax(pen->y, report_pen_figures(pen, panel, REPORT_FIGURES_LEFT, report_pen_right(pen),
                                                 frame.box.y, 1, false));
    }
}

static void put_small_row(const struct report_chart *chart, size_t first, size_t count, double width,
                          double numbers, double height, bool has_numbers, struct report_pen *pen)
{
    const double top = pen->y + panel_gap;
    double plot_top = top, end = top;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            const struct report_panel *panel = &chart->panels[first + i];
            const double left = floor(REPORT_PAGE_MARGIN + (double)i * (width + small_gap));
            if (pass == 0) {
                pen->y = top;
                report_pen_head(pen, panel, left, left + width);
                plot_top = fmax(plot_top, pen->y);
                continue;
            }
            struct report_frame frame = {.x = &chart->x,
                                         .y = &panel->y,
                                         .box = {.x = ceil(left + numbers), .width = floor(width - numbers)}};
            report_frame_place(&frame, plot_top + 7, height);
            put_plot(&frame, panel, has_numbers || first + i + count >= chart->panel_count, pen);
            end = fmax(end, report_pen_figures(pen, panel, left, left + width, pen->y + 2, 2, true));
        }
    }
    pen->y = end;
}

/* Small panels have numbers below every third row, and below the last one. */
static void put_small(const struct report_chart *chart, struct report_pen *pen)
{
    const double room = report_pen_content_width(pen);
    const size_t all = chart->panel_count;
    size_t columns = (size_t)((room + small_gap) / (small_width_min + small_gap));
    columns = columns < 1 ? 1 : columns < all ? columns : all;
    const double height = small_height + (columns == 1 && all <= REPORT_WIDE_PANELS_MAX ? 24 : 0);
    double numbers = 0;
    for (size_t i = 0; i < all; i++)
        numbers = fmax(numbers, report_frame_numbers(&chart->panels[i].y, pen));
    report_pen_paragraph(pen, chart->panels[0].y.title, REPORT_FONT_TICK, 1);
    pen->y += 6 - panel_gap;
    for (size_t i = 0; i < all; i += columns)
        put_small_row(chart, i, columns < all - i ? columns : all - i,
                      (room + small_gap) / (double)columns - small_gap, numbers, height, i / columns % 3 == 2,
                      pen);
}

void report_layout_bars(const struct report_chart *chart, struct report_pen *pen)
{
    const bool is_small = chart->panel_count > REPORT_WIDE_PANELS_MAX || report_pen_is_narrow(pen);
    struct report_frame page = {.box = {.x = plot_left, .width = plot_width}};
    if (is_small) {
        put_small(chart, pen);
        page.box.x = REPORT_PAGE_MARGIN;
        page.box.width = report_pen_content_width(pen);
    } else {
        put_panels(chart, pen);
    }
    report_frame_x_title(&page, chart->x.title, pen);
}

static const double page_height = 420;
static const double page_bottom = 12;
static const double content_left = REPORT_PAGE_MARGIN, content_right = REPORT_PAGE_WIDTH - REPORT_PAGE_MARGIN;
static const double content_width = REPORT_PAGE_WIDTH - 2 * REPORT_PAGE_MARGIN;
static const double name_width = 222;
static const double strip_left = 262;
static const double strip_width = 222;
static const double marker_room = 18;
static const double row_least = 33, row_most = 130;
static const double row_padding = 4;
/* The right edge of each column of figures, and the width of its heading. */
static const struct {
    double right, width;
} columns[] = {{582, 84}, {682, 84}, {768, 72}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Puts the verdict and the sentences after it. Only texts of unusual length are cut. */
static void put_answer(const struct report_chart *chart, struct report_pen *pen)
{
    static const enum report_font fonts[] = {REPORT_FONT_VERDICT, REPORT_FONT_BEWARE, REPORT_FONT_BEWARE};
    report_pen_paragraph(pen, chart->title, REPORT_FONT_HEAD, 2);
    pen->y += 1;
    report_pen_paragraph(pen, chart->subtitle, REPORT_FONT_SMALL, 1);
    pen->y += 7;
    for (size_t i = 0; i < chart->sentence_count; i++) {
        report_pen_paragraph(pen, chart->sentences[i], fonts[i], 5);
        pen->y += 3;
    }
    pen->y += 5;
}

static void put_headings(const struct report_chart *chart, struct report_pen *pen)
{
    const struct report_panel *panel = &chart->panels[0];
    struct report_type types[COLUMNS + 1] = {[COLUMNS] = {chart->x.title, REPORT_FONT_SMALL, strip_width, 1}};
    double lefts[COLUMNS + 1] = {[COLUMNS] = strip_left};
    for (size_t i = 0; i < COLUMNS; i++) {
        types[i] = (struct report_type){panel->figures[i].name, REPORT_FONT_SMALL, columns[i].width, 3};
        lefts[i] = columns[i].right - columns[i].width;
    }
    report_pen_headings(pen, types, lefts, COLUMNS + 1);
    pen->y = report_snap(pen->y + 4);
}

/* Draws the histogram of one strategy. All strategies share one scale; the counts are in other charts. */
static void put_strip(const struct report_chart *chart, const struct report_panel *panel,
                      const struct report_box *box, struct report_pen *pen)
{
    const double bottom = report_snap(box->y + box->height - row_padding);
    struct report_frame frame = {
        .x = &chart->x, .y = &panel->y, .box = {.x = strip_left, .width = strip_width}};
    report_frame_place(&frame, bottom - box->height + 2 * row_padding, box->height - 2 * row_padding);
    report_frame_bands(&frame, panel, pen);
    put_bars(&frame, panel, 2, pen);
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, strip_left, bottom, strip_left + strip_width,
                    bottom, 1);
}

static void put_name(const struct report_panel *panel, const struct report_box *box, struct report_pen *pen)
{
    const double left = content_left + marker_room, width = name_width - marker_room + 8;
    const struct report_type label = {panel->label, REPORT_FONT_ROW, width, 1};
    const struct report_type detail = {panel->detail, REPORT_FONT_SMALL, width, 1};
    const double first = report_pen_measure(pen, &label).height;
    const double second = report_pen_measure(pen, &detail).height;
    const double top = box->y + (box->height - first - second) / 2;
    report_pen_text(pen, &label, REPORT_LEFT, left, top);
    report_pen_text(pen, &detail, REPORT_LEFT, left, top + first);
    if (panel->is_chosen) {
        const double size = 11;
        report_pen_marker(pen, REPORT_INK_CHOSEN, content_left + size / 2, top + first / 2, size);
    }
}

static void put_row(const struct report_chart *chart, const struct report_panel *panel, double height,
                    struct report_pen *pen)
{
    const struct report_box box = {content_left, pen->y, content_width, height};
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, content_left, box.y, content_right, box.y, 1);
    put_strip(chart, panel, &box, pen);
    put_name(panel, &box, pen);
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct report_figure *figure = &panel->figures[i];
        const struct report_type type = {
            figure->text, figure->is_alarm ? REPORT_FONT_CELL_ALARM : REPORT_FONT_CELL, columns[i].width, 1};
        report_pen_text(pen, &type, REPORT_LEFT, columns[i].right - columns[i].width,
                        box.y + (height - report_pen_measure(pen, &type).height) / 2);
    }
}

/* The frame of the chosen strategy. */
static void put_frame(struct report_pen *pen, const struct report_box *box)
{
    static const double stroke = 2;
    const enum report_ink ink = REPORT_INK_CHOSEN;
    const double right = box->x + box->width, bottom = box->y + box->height, over = stroke / 2;
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, box->x - over, box->y, right + over, box->y, stroke);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, box->x - over, bottom, right + over, bottom, stroke);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, box->x, box->y, box->x, bottom, stroke);
    report_pen_line(pen, REPORT_SHAPE_LINE, ink, right, box->y, right, bottom, stroke);
}

void report_layout_summary(const struct report_chart *chart, struct report_pen *pen)
{
    put_answer(chart, pen);
    put_headings(chart, pen);
    const double line = report_pen_height(pen, REPORT_FONT_SMALL);
    const double foot = (chart->note != NULL ? 3 : 2) * line + 6, axis = line + 14;
    double height = (page_height - page_bottom - foot - axis - pen->y) / (double)chart->panel_count;
    height = height < row_least ? row_least : height > row_most ? row_most : report_snap(height - 0.5);
    const double top = pen->y;
    for (size_t i = 0; i < chart->panel_count; i++) {
        put_row(chart, &chart->panels[i], height, pen);
        pen->y += height;
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_box frame = {content_left - 6, top + height * (double)i + 1, content_width + 12,
                                         height - 1.5};
        if (chart->panels[i].is_chosen)
            put_frame(pen, &frame);
    }
    const struct report_frame numbers = {.x = &chart->x,
                                         .box = {.x = strip_left, .y = pen->y, .width = strip_width}};
    report_frame_x_axis(&numbers, REPORT_FONT_SMALL, true, false, pen);
    pen->y = fmax(pen->y + 8, page_height - page_bottom - foot);
    report_pen_legend(pen, chart->legend, chart->legend_count, REPORT_FONT_SMALL);
    report_pen_paragraph(pen, chart->note != NULL ? chart->note : "", REPORT_FONT_SMALL, 1);
    report_pen_paragraph(pen, chart->foot, REPORT_FONT_SMALL, 1);
    pen->y += page_bottom;
}
