/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a table of bars. In: a row per strategy, a column per quantity. Out: bars with their values
 * after them, so that no axis is needed. On a narrow page the columns are one below the other, each with all
 * names. */
#include "pen.h"
#include "reports/scale.h"

static const double label_width = 190;
static const double label_gap = 16;
static const double narrow_label_width = 120;
static const double column_gap = 22;
static const double bar_height = 11;
static const double value_gap = 5;
static const double row_padding = 5;

/* The columns that are side by side. */
struct grid {
    const struct report_chart *chart;
    size_t first, count;
    double label, bar_width; /* widths */
    double *lefts, *values;  /* left edge of each column, and the width of its values */
    double row;              /* height */
    bool is_narrow;
};

static struct report_type label_type(const struct grid *grid, const struct report_row *row)
{
    return grid->is_narrow ? (struct report_type){row->label, REPORT_FONT_FIGURE, grid->label, 1}
                           : (struct report_type){row->label, REPORT_FONT_LABEL, grid->label, 3};
}

/* Measures, and draws if is_drawn, the label and the settings of a row. Returns the height. */
static double put_label(const struct grid *grid, const struct report_row *row, double top, bool is_drawn,
                        struct report_pen *pen)
{
    const struct report_type label = label_type(grid, row);
    const struct report_type detail = {row->detail, REPORT_FONT_DETAIL, grid->label, 2};
    const double height = report_pen_measure(pen, &label).height;
    if (is_drawn) {
        report_pen_text(pen, &label, REPORT_LEFT, REPORT_PAGE_MARGIN, top);
    }
    if (is_drawn && !grid->is_narrow) {
        report_pen_text(pen, &detail, REPORT_LEFT, REPORT_PAGE_MARGIN, top + height);
    }
    return height + (grid->is_narrow ? 0 : report_pen_measure(pen, &detail).height);
}

/* The bars of all columns have the same greatest length: the width of the page less the values and gaps,
 * divided by the number of columns. */
static void measure(struct grid *grid, struct report_pen *pen)
{
    const struct report_chart *chart = grid->chart;
    grid->lefts = report_take(pen->scene->arena, grid->count, sizeof *grid->lefts);
    grid->values = report_take(pen->scene->arena, grid->count, sizeof *grid->values);
    double left = REPORT_PAGE_MARGIN + grid->label + label_gap, room = report_pen_right(pen) - left;
    for (size_t i = 0; i < grid->count; i++) {
        for (size_t row = 0; row < chart->row_count; row++) {
            const char *text = chart->columns[grid->first + i].cells[row].text;
            grid->values[i] = fmax(grid->values[i], report_pen_width(pen, text, REPORT_FONT_FIGURE));
        }
        room -= grid->values[i] + value_gap + (i > 0 ? column_gap : 0);
    }
    grid->bar_width = room / (double)grid->count;
    for (size_t i = 0; i < grid->count; i++) {
        grid->lefts[i] = left;
        left += grid->bar_width + value_gap + grid->values[i] + column_gap;
    }
    for (size_t row = 0; row < chart->row_count; row++) {
        grid->row = fmax(grid->row, put_label(grid, &chart->rows[row], 0, false, pen));
    }
    grid->row = report_snap(grid->row + (grid->is_narrow ? 1 : 2) * row_padding);
}

/* Puts the headings of the columns, aligned at their last lines. */
static void put_headings(const struct grid *grid, struct report_pen *pen)
{
    double most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < grid->count; i++) {
            const char *title = grid->chart->columns[grid->first + i].title;
            const double left = grid->is_narrow ? REPORT_PAGE_MARGIN : grid->lefts[i];
            const struct report_type type = {
                title, grid->is_narrow ? REPORT_FONT_LABEL : REPORT_FONT_DETAIL,
                grid->lefts[i] + grid->bar_width + value_gap + grid->values[i] - left, 4};
            const double height = report_pen_measure(pen, &type).height;
            if (pass == 1) {
                report_pen_text(pen, &type, REPORT_LEFT, left, pen->y + most - height);
            } else {
                most = fmax(most, height);
            }
        }
    }
    pen->y += most + 5;
}

static double length_of(const struct report_column *column, double value, double full)
{
    if (value <= 0) {
        return 0;
    }
    const double at = column->is_log ? report_log10(value) : value;
    return fmax(1, (at - column->low) / (column->high - column->low) * full);
}

static void put_cell(const struct grid *grid, const struct report_column *column,
                     const struct report_cell *cell, double left, struct report_pen *pen)
{
    const double middle = report_snap(pen->y + grid->row / 2), top = middle - bar_height / 2;
    double end = left;
    if (cell->present) {
        const double length = length_of(column, cell->value, grid->bar_width);
        if (length > 0) {
            report_pen_area(pen, column->ink,
                            (struct report_box){report_snap(left), top, length, bar_height});
        }
        end = left + length;
        if (cell->has_mark) {
            const double x = report_snap(left + length_of(column, cell->mark, grid->bar_width));
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, end, middle, x, middle, 1);
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_SLOW, x, top - 1, x, top + bar_height + 1, 2);
            end = fmax(end, x);
        }
    }
    const struct report_box text =
        report_pen_say(pen, cell->text, REPORT_FONT_FIGURE, REPORT_LEFT, end + value_gap,
                       middle - report_pen_height(pen, REPORT_FONT_FIGURE) / 2);
    if (cell->hint != NULL) {
        const struct report_box whole = {left, top, text.x + text.width - left, bar_height};
        report_pen_mark(pen, REPORT_SHAPE_HIT, column->ink, whole)->hint = cell->hint;
    }
}

static void put_columns(struct grid *grid, struct report_pen *pen)
{
    const struct report_chart *chart = grid->chart;
    measure(grid, pen);
    pen->y += grid->is_narrow ? 10 : 6;
    put_headings(grid, pen);
    const double top = report_snap(pen->y);
    for (size_t row = 0; row < chart->row_count; row++) {
        const double rule = report_snap(pen->y);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, REPORT_PAGE_MARGIN, rule,
                        report_pen_right(pen), rule, 1);
        const double height = put_label(grid, &chart->rows[row], 0, false, pen);
        put_label(grid, &chart->rows[row], pen->y + (grid->row - height) / 2, true, pen);
        for (size_t i = 0; i < grid->count; i++) {
            const struct report_column *column = &chart->columns[grid->first + i];
            put_cell(grid, column, &column->cells[row], grid->lefts[i], pen);
        }
        pen->y += grid->row;
    }
    for (size_t i = 0; i < grid->count; i++) {
        const double x = report_snap(grid->lefts[i]);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, top, x, report_snap(pen->y), 1);
    }
}

void report_layout_table(const struct report_chart *chart, struct report_pen *pen)
{
    const bool is_narrow = report_pen_is_narrow(pen);
    for (size_t i = 0; i < (is_narrow ? chart->column_count : 1); i++) {
        struct grid grid = {.chart = chart,
                            .first = i,
                            .count = is_narrow ? 1 : chart->column_count,
                            .label = is_narrow ? narrow_label_width : label_width,
                            .is_narrow = is_narrow};
        put_columns(&grid, pen);
    }
}
