/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of the summary chart: 800 by 420 pixels, or higher where the sentences need it. It is readable
 * at three quarters of that size. The answer is at the top; below it, each strategy has a line with its
 * sizes, all on the same axis. */
#include "layout.h"

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
static const double tick_length = 4;
static const double legend_gap = 8;
/* The right edge of each column of figures, and the width of its heading. */
static const struct {
    double right, width;
} columns[] = {{582, 84}, {682, 84}, {768, 72}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Puts the verdict and the sentences after it. Only texts of unusual length are cut. */
static void put_answer(const struct report_chart *chart, struct report_pen *pen)
{
    static const enum report_font fonts[] = {REPORT_FONT_VERDICT, REPORT_FONT_BEWARE, REPORT_FONT_BEWARE};
    const struct report_type title = {chart->title, REPORT_FONT_HEAD, content_width, 2};
    struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, content_left, pen->y);
    const struct report_type subtitle = {chart->subtitle, REPORT_FONT_SMALL, content_width, 1};
    box = report_pen_text(pen, &subtitle, REPORT_LEFT, content_left, box.y + box.height + 1);
    pen->y = box.y + box.height + 7;
    for (size_t i = 0; i < chart->sentence_count; i++) {
        const struct report_type type = {chart->sentences[i], fonts[i], content_width, 5};
        box = report_pen_text(pen, &type, REPORT_LEFT, content_left, pen->y);
        pen->y = box.y + box.height + 3;
    }
    pen->y += 5;
}

/* Puts the headings of the figures, aligned at their last lines. */
static void put_headings(const struct report_chart *chart, struct report_pen *pen)
{
    const struct report_panel *panel = &chart->panels[0];
    double most = 0;
    for (size_t i = 0; i < COLUMNS && i < panel->figure_count; i++) {
        const struct report_type type = {panel->figures[i].name, REPORT_FONT_SMALL, columns[i].width, 3};
        double height = report_typeset_measure(pen->typesetter, &type).height;
        most = height > most ? height : most;
    }
    for (size_t i = 0; i < COLUMNS && i < panel->figure_count; i++) {
        const struct report_type type = {panel->figures[i].name, REPORT_FONT_SMALL, columns[i].width, 3};
        double height = report_typeset_measure(pen->typesetter, &type).height;
        report_pen_text(pen, &type, REPORT_LEFT, columns[i].right - columns[i].width, pen->y + most - height);
    }
    const struct report_type title = {chart->x.title, REPORT_FONT_SMALL, strip_width, 1};
    const double height = report_typeset_measure(pen->typesetter, &title).height;
    report_pen_text(pen, &title, REPORT_LEFT, strip_left, pen->y + most - height);
    pen->y = report_snap(pen->y + most + 4);
}

static double x_of(const struct report_axis *axis, double value)
{
    return strip_left + (value - axis->low) / (axis->high - axis->low) * strip_width;
}

/* Draws the histogram of one strategy. All strategies share one scale; the counts are in other charts. */
static void put_strip(const struct report_chart *chart, const struct report_panel *panel,
                      const struct report_box *box, struct report_pen *pen)
{
    const double bottom = report_snap(box->y + box->height - row_padding);
    const double full = box->height - 2 * row_padding;
    for (size_t i = 0; i < panel->band_count; i++) {
        const struct report_band *band = &panel->bands[i];
        const double from = report_snap(x_of(&chart->x, band->from)),
                     to = report_snap(x_of(&chart->x, band->to));
        const struct report_box shade = {from, bottom - full, to - from, full};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, band->ink, shade);
        const double edge = band->ink == REPORT_INK_OVER ? from : to;
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_AXIS, edge, bottom - full, edge, bottom, 1);
    }
    double below = bottom;
    for (size_t i = 0; i < panel->bar_count; i++) {
        const struct report_bar *bar = &panel->bars[i];
        const double left = report_snap(x_of(&chart->x, bar->from)),
                     right = report_snap(x_of(&chart->x, bar->to));
        const double foot = bar->low > panel->y.low ? below : bottom;
        const double share = (bar->high - panel->y.low) / (panel->y.high - panel->y.low);
        double top = report_snap(bottom - share * full);
        /* A bar is at least two pixels high, because rare partitions are the ones that exceed limits. */
        top = top > foot - 2 ? foot - 2 : top;
        below = top;
        const struct report_box mark = {left, top, right - left, foot - top};
        report_pen_mark(pen, bar->ink == REPORT_INK_OPEN ? REPORT_SHAPE_HATCHED : REPORT_SHAPE_RECTANGLE,
                        bar->ink, mark)
            ->hint = bar->hint;
    }
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, strip_left, bottom, strip_left + strip_width,
                    bottom, 1);
}

static void put_name(const struct report_panel *panel, const struct report_box *box, struct report_pen *pen)
{
    const double left = content_left + marker_room, width = name_width - marker_room + 8;
    const struct report_type label = {panel->label, REPORT_FONT_ROW, width, 1};
    const struct report_type detail = {panel->detail, REPORT_FONT_SMALL, width, 1};
    const double first = report_typeset_measure(pen->typesetter, &label).height;
    const double second = report_typeset_measure(pen->typesetter, &detail).height;
    const double top = box->y + (box->height - first - second) / 2;
    report_pen_text(pen, &label, REPORT_LEFT, left, top);
    report_pen_text(pen, &detail, REPORT_LEFT, left, top + first);
    if (panel->is_chosen) {
        const double size = 11;
        report_pen_mark(pen, REPORT_SHAPE_MARKER, REPORT_INK_CHOSEN,
                        (struct report_box){content_left, top + (first - size) / 2, size, size});
    }
}

static void put_figures(const struct report_panel *panel, const struct report_box *box,
                        struct report_pen *pen)
{
    for (size_t i = 0; i < COLUMNS && i < panel->figure_count; i++) {
        const struct report_figure *figure = &panel->figures[i];
        const struct report_type type = {
            figure->text, figure->is_alarm ? REPORT_FONT_CELL_ALARM : REPORT_FONT_CELL, columns[i].width, 1};
        const double height = report_typeset_measure(pen->typesetter, &type).height;
        report_pen_text(pen, &type, REPORT_LEFT, columns[i].right - columns[i].width,
                        box->y + (box->height - height) / 2);
    }
}

static void put_row(const struct report_chart *chart, const struct report_panel *panel, double height,
                    struct report_pen *pen)
{
    const struct report_box box = {content_left, pen->y, content_width, height};
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, content_left, box.y, content_right, box.y, 1);
    put_strip(chart, panel, &box, pen);
    put_name(panel, &box, pen);
    put_figures(panel, &box, pen);
}

/* Returns the step, in named ticks, at which the names of the ticks do not overlap. */
static size_t tick_step(const struct report_axis *axis, struct report_pen *pen)
{
    size_t named = 0;
    double widest = 0;
    for (size_t i = 0; i < axis->tick_count; i++) {
        double width = report_pen_width(pen, axis->ticks[i].text, REPORT_FONT_SMALL);
        named += axis->ticks[i].text[0] != 0;
        widest = width > widest ? width : widest;
    }
    double first = 0, last = 0;
    for (size_t i = 0, k = 0; i < axis->tick_count; i++) {
        if (axis->ticks[i].text[0] != 0) {
            first = k == 0 ? x_of(axis, axis->ticks[i].at) : first;
            last = x_of(axis, axis->ticks[i].at);
            k++;
        }
    }
    size_t step = 1;
    while (named > 1 && (last - first) / (double)(named - 1) * (double)step < widest + 8) {
        step++;
    }
    return step;
}

static void put_axis(const struct report_axis *axis, struct report_pen *pen)
{
    const size_t step = tick_step(axis, pen);
    const double line = report_pen_height(pen, REPORT_FONT_SMALL);
    size_t named = 0;
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct report_tick *tick = &axis->ticks[i];
        if (tick->text[0] == 0 || named++ % step != 0) {
            continue;
        }
        const double x = report_snap(x_of(axis, tick->at));
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, pen->y, x, pen->y + tick_length, 1);
        const struct report_type type = {.text = tick->text, .font = REPORT_FONT_SMALL, .lines = 1};
        report_pen_text(pen, &type, REPORT_CENTRE, x, pen->y + tick_length + 1);
    }
    pen->y += tick_length + 1 + line + legend_gap;
}

/* Puts the legend on one line. Entries that have no room are left out; the axis shows them as well. */
static void put_legend(const struct report_chart *chart, struct report_pen *pen)
{
    static const double gap = 18;
    const double line = report_pen_height(pen, REPORT_FONT_SMALL);
    double x = content_left;
    for (size_t i = 0; i < chart->legend_count; i++) {
        const struct report_legend *entry = &chart->legend[i];
        const double text_left = x + REPORT_SWATCH_WIDTH + REPORT_SWATCH_GAP;
        const double end = text_left + report_pen_width(pen, entry->text, REPORT_FONT_SMALL);
        if (end > content_right) {
            continue;
        }
        const struct report_type type = {entry->text, REPORT_FONT_SMALL, 0, 1};
        report_pen_swatch(pen, entry->ink, x, pen->y + line / 2);
        report_pen_text(pen, &type, REPORT_LEFT, text_left, pen->y);
        x = end + gap;
    }
    pen->y += line + 2;
}

static void put_foot(const struct report_chart *chart, struct report_pen *pen)
{
    put_legend(chart, pen);
    const char *const texts[] = {chart->note, chart->foot};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct report_type type = {texts[i], REPORT_FONT_SMALL, content_width, 1};
        pen->y +=
            texts[i] != NULL ? report_pen_text(pen, &type, REPORT_LEFT, content_left, pen->y).height : 0;
    }
    pen->y += page_bottom;
}

void report_layout_summary(const struct report_chart *chart, struct report_pen *pen)
{
    put_answer(chart, pen);
    put_headings(chart, pen);
    const double line = report_pen_height(pen, REPORT_FONT_SMALL);
    const double below = tick_length + 1 + line + legend_gap + (chart->note != NULL ? 3 : 2) * line + 2;
    double height = (page_height - page_bottom - below - pen->y) / (double)chart->panel_count;
    height = height < row_least ? row_least : height > row_most ? row_most : report_snap(height - 0.5);
    const double top = pen->y;
    for (size_t i = 0; i < chart->panel_count; i++) {
        put_row(chart, &chart->panels[i], height, pen);
        pen->y += height;
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_box frame = {content_left - 6, top + height * (double)i + 1, content_width + 12,
                                         height - 1.5};
        if (chart->panels[i].is_chosen) {
            report_pen_frame(pen, REPORT_INK_RING, &frame, 2);
        }
    }
    put_axis(&chart->x, pen);
    const double foot_top = page_height - page_bottom - ((chart->note != NULL ? 3 : 2) * line + 2);
    pen->y = pen->y > foot_top ? pen->y : foot_top;
    put_foot(chart, pen);
}
