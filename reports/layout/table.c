/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a table with one row per strategy and one column of bars per figure. The value is written
 * after its bar, so that no axis is needed. On a narrow page the columns are one below the other, each with
 * all names. */
#include "pen.h"
#include "reports/scale.h"

static const double label_width = 190;
static const double label_gap = 16;
static const double column_gap = 22;
static const double bar_height = 11;
static const double value_gap = 5;
static const double row_padding = 5;

struct grid {
    double left, bar_width;
    double *values_width; /* width of the values of each column */
    double heading;       /* height */
    double row;           /* height */
};

static struct report_type label_type(const struct report_row *row)
{
    return (struct report_type){row->label, REPORT_FONT_LABEL, label_width, 3};
}

static struct report_type detail_type(const struct report_row *row)
{
    return (struct report_type){row->detail, REPORT_FONT_DETAIL, label_width, 2};
}

static double row_height(const struct report_row *row, struct report_pen *pen)
{
    const struct report_type label = label_type(row);
    const struct report_type detail = detail_type(row);
    return report_pen_measure(pen, &label).height + report_pen_measure(pen, &detail).height + 2 * row_padding;
}

/* The bars of all columns have the same greatest length: the width of the page less the values and gaps,
 * divided by the number of columns. */
static struct grid measure(const struct report_chart *chart, struct report_pen *pen)
{
    struct grid grid = {.left = REPORT_PAGE_MARGIN + label_width + label_gap};
    grid.values_width = report_take(pen->scene->arena, chart->column_count, sizeof *grid.values_width);
    if (grid.values_width == NULL) {
        return grid;
    }
    double room = report_pen_right(pen) - grid.left;
    for (size_t i = 0; i < chart->column_count; i++) {
        for (size_t row = 0; row < chart->row_count; row++) {
            double width = report_pen_width(pen, chart->columns[i].cells[row].text, REPORT_FONT_FIGURE);
            grid.values_width[i] = width > grid.values_width[i] ? width : grid.values_width[i];
        }
        room -= grid.values_width[i] + value_gap + (i > 0 ? column_gap : 0);
    }
    grid.bar_width = room / (double)chart->column_count;
    for (size_t row = 0; row < chart->row_count; row++) {
        double height = row_height(&chart->rows[row], pen);
        grid.row = height > grid.row ? height : grid.row;
    }
    grid.row = report_snap(grid.row);
    for (size_t i = 0; i < chart->column_count; i++) {
        const struct report_type type = {chart->columns[i].title, REPORT_FONT_DETAIL,
                                         grid.bar_width + value_gap + grid.values_width[i], 4};
        double height = report_pen_measure(pen, &type).height;
        grid.heading = height > grid.heading ? height : grid.heading;
    }
    return grid;
}

static double column_left(const struct grid *grid, size_t index)
{
    double x = grid->left;
    for (size_t i = 0; i < index; i++) {
        x += grid->bar_width + value_gap + grid->values_width[i] + column_gap;
    }
    return x;
}

/* Puts the headings of the columns, aligned at their last lines. */
static void put_headings(const struct report_chart *chart, const struct grid *grid, struct report_pen *pen)
{
    for (size_t i = 0; i < chart->column_count; i++) {
        const struct report_type type = {chart->columns[i].title, REPORT_FONT_DETAIL,
                                         grid->bar_width + value_gap + grid->values_width[i], 4};
        double height = report_pen_measure(pen, &type).height;
        report_pen_text(pen, &type, REPORT_LEFT, column_left(grid, i), pen->y + grid->heading - height);
    }
    pen->y += grid->heading + 5;
}

static void put_row_label(const struct report_row *row, const struct grid *grid, struct report_pen *pen)
{
    const struct report_type label = label_type(row);
    const struct report_type detail = detail_type(row);
    double top = pen->y + (grid->row - row_height(row, pen)) / 2 + row_padding;
    struct report_box box = report_pen_text(pen, &label, REPORT_LEFT, REPORT_PAGE_MARGIN, top);
    report_pen_text(pen, &detail, REPORT_LEFT, REPORT_PAGE_MARGIN, box.y + box.height);
}

static double length_of(const struct report_column *column, double value, double full)
{
    if (value <= 0) {
        return 0;
    }
    double at = column->is_log ? report_log10(value) : value;
    double length = (at - column->low) / (column->high - column->low) * full;
    return length < 1 ? 1 : length;
}

static void put_cell(const struct report_column *column, const struct report_cell *cell,
                     const struct grid *grid, double left, struct report_pen *pen)
{
    const double middle = report_snap(pen->y + grid->row / 2);
    double end = left;
    if (cell->present) {
        double length = length_of(column, cell->value, grid->bar_width);
        struct report_box box = {report_snap(left), middle - bar_height / 2, length, bar_height};
        if (length > 0) {
            report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, column->ink, box);
        }
        end = left + length;
        if (cell->has_mark) {
            double x = report_snap(left + length_of(column, cell->mark, grid->bar_width));
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, end, middle, x, middle, 1);
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_SLOW, x, middle - bar_height / 2 - 1, x,
                            middle + bar_height / 2 + 1, 2);
            end = x > end ? x : end;
        }
    }
    const struct report_type type = {.text = cell->text, .font = REPORT_FONT_FIGURE, .lines = 1};
    double height = report_pen_measure(pen, &type).height;
    const struct report_box text =
        report_pen_text(pen, &type, REPORT_LEFT, end + value_gap, middle - height / 2);
    if (cell->hint != NULL) {
        const struct report_box whole = {left, middle - bar_height / 2, text.x + text.width - left,
                                         bar_height};
        report_pen_mark(pen, REPORT_SHAPE_HIT, column->ink, whole)->hint = cell->hint;
    }
}

static void put_narrow_column(const struct report_chart *chart, const struct report_column *column,
                              struct report_pen *pen)
{
    static const double name_width = 120, gap = 8;
    const double right = report_pen_right(pen);
    double widest = 0;
    for (size_t row = 0; row < chart->row_count; row++) {
        const double width = report_pen_width(pen, column->cells[row].text, REPORT_FONT_FIGURE);
        widest = width > widest ? width : widest;
    }
    const double left = REPORT_PAGE_MARGIN + name_width + gap;
    const struct grid grid = {.left = left,
                              .bar_width = right - left - value_gap - widest,
                              .row = report_snap(report_pen_height(pen, REPORT_FONT_FIGURE) + row_padding)};
    const struct report_type title = {column->title, REPORT_FONT_LABEL, report_pen_content_width(pen), 2};
    const struct report_box box =
        report_pen_text(pen, &title, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y + 2 * row_padding);
    pen->y = report_snap(box.y + box.height + row_padding / 2);
    for (size_t row = 0; row < chart->row_count; row++) {
        const struct report_type name = {chart->rows[row].label, REPORT_FONT_FIGURE, name_width, 1};
        const double height = report_pen_height(pen, REPORT_FONT_FIGURE);
        report_pen_text(pen, &name, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y + (grid.row - height) / 2);
        put_cell(column, &column->cells[row], &grid, left, pen);
        pen->y += grid.row;
    }
}

void report_layout_table(const struct report_chart *chart, struct report_pen *pen)
{
    if (report_pen_is_narrow(pen)) {
        for (size_t i = 0; i < chart->column_count; i++) {
            put_narrow_column(chart, &chart->columns[i], pen);
        }
        return;
    }
    struct grid grid = measure(chart, pen);
    if (grid.values_width == NULL) {
        return;
    }
    pen->y += 6;
    put_headings(chart, &grid, pen);
    for (size_t row = 0; row < chart->row_count; row++) {
        double rule = report_snap(pen->y);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, REPORT_PAGE_MARGIN, rule,
                        report_pen_right(pen), rule, 1);
        put_row_label(&chart->rows[row], &grid, pen);
        for (size_t i = 0; i < chart->column_count; i++) {
            const struct report_column *column = &chart->columns[i];
            put_cell(column, &column->cells[row], &grid, column_left(&grid, i), pen);
        }
        pen->y += grid.row;
    }
    for (size_t i = 0; i < chart->column_count; i++) {
        double x = report_snap(column_left(&grid, i));
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x,
                        report_snap(pen->y) - grid.row * (double)chart->row_count, x, report_snap(pen->y), 1);
    }
}
