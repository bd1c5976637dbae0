/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives everything on a chart a place. In: a chart as data. Out: a scene of marks: the heading, the key and
 * the note, the body by the chart's form, and the foot. Here are also the bodies of two forms:
 *
 * Panels of lanes over time, one below the other. A panel has names on the left, lanes, and key figures on
 * the right. Above the lanes are the moments and the stages between them. Each panel has its own time axis.
 *
 * A table of bars, with a row per strategy and a column per quantity. Values are after the bars, so that no
 * axis is needed. On a narrow page the columns are one below the other, each with all names. */
#include "pen.h"
#include "reports/scale.h"

static const double plot_left = 84;
static const double plot_width = 522;
static const double panel_gap = 15;
/* A strip above the lanes marks disagreement, so that it is visible even where there is no room between
 * lanes. */
static const double strip_height = 3;
/* The greatest height of all panels together: Cairo limits the height of an image to 32767 pixels. */
static const double stack_height_max = 15000;
static const double panel_head_height = 118;

/* A few lanes are thick. Many lanes still fit on a slide, and many panels on a page. */
static double pitch_of(size_t lane_count, size_t panel_count)
{
    double pitch = lane_count <= 4    ? 20
                   : lane_count <= 8  ? 17
                   : lane_count <= 16 ? 13
                   : lane_count <= 32 ? 9
                                      : 6.5;
    double most = (stack_height_max / (double)panel_count - panel_head_height) / (double)lane_count;
    pitch = fmin(pitch, floor(2 * most) / 2);
    return fmax(pitch, 1);
}

/* Puts the names of the stages that are wide enough for them. Returns the y where the plot of the lanes
 * begins. */
static double put_stages(const struct report_panel *panel, const struct report_frame *frame,
                         struct report_pen *pen)
{
    const double top = frame->box.y;
    for (size_t i = 0; i < panel->stage_count; i++) {
        const struct report_stage *stage = &panel->stages[i];
        const double from = report_frame_x(frame, stage->from);
        const double to = report_frame_x(frame, stage->to);
        if (to - from >= report_pen_width(pen, stage->text, REPORT_FONT_STAGE) + 4)
            report_pen_say(pen, stage->text, REPORT_FONT_STAGE, REPORT_CENTRE, (from + to) / 2, top);
    }
    return top + report_pen_height(pen, REPORT_FONT_STAGE) + 3;
}

/* The shade is drawn behind the lanes and the strip above them. */
static void put_bands(const struct report_panel *panel, const struct report_frame *frame,
                      struct report_pen *pen)
{
    for (size_t i = 0; i < panel->band_count; i++) {
        const double from = report_snap(report_frame_x(frame, panel->bands[i].from));
        /* A short band is at least one pixel wide. */
        const double to = fmax(report_snap(report_frame_x(frame, panel->bands[i].to)), from + 1);
        const struct report_box shade = {from, frame->box.y, to - from, frame->box.height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, panel->bands[i].ink, shade);
        const struct report_box strip = {from, frame->box.y, to - from, strip_height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ALARM, strip);
    }
}

static void put_lane(const struct report_lane *lane, const struct report_frame *frame, double top,
                     double pitch, struct report_pen *pen)
{
    const double gap = fmin(fmax(report_snap(pitch * 0.28), 0.5), 4);
    for (size_t i = 0; i < lane->span_count; i++) {
        const struct report_span *span = &lane->spans[i];
        const double from = report_snap(report_frame_x(frame, span->from));
        const double to = fmax(report_snap(report_frame_x(frame, span->to)), from + 0.5);
        const struct report_box box = {from, report_snap(top + gap / 2), to - from, pitch - gap};
        report_pen_area(pen, span->ink, box)->hint = span->hint;
    }
}

static void put_lanes(const struct report_panel *panel, const struct report_frame *frame, double pitch,
                      struct report_pen *pen)
{
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    /* Lanes lower than a line of text are named in steps of 2, 4, 8. */
    size_t step = 1;
    while ((double)step * pitch < height)
        step *= 2;
    for (size_t i = 0; i < panel->lane_count; i++) {
        const double top = frame->box.y + strip_height + 1 + pitch * (double)i;
        put_lane(&panel->lanes[i], frame, top, pitch, pen);
        if (i % step == 0)
            report_pen_say(pen, panel->lanes[i].label, REPORT_FONT_TICK, REPORT_RIGHT, frame->box.x - 6,
                           top + (pitch - height) / 2);
    }
}

static void put_panel(const struct report_chart *chart, const struct report_panel *panel,
                      struct report_pen *pen)
{
    const bool is_narrow = report_pen_is_narrow(pen);
    const double pitch = pitch_of(panel->lane_count, chart->panel_count);
    pen->y += panel_gap;
    report_pen_head(pen, panel, is_narrow ? REPORT_PAGE_MARGIN : plot_left, report_pen_right(pen));
    const double top = pen->y + 4;
    struct report_frame frame = {
        .x = &panel->x,
        .box = {.x = plot_left, .width = is_narrow ? report_pen_right(pen) - plot_left : plot_width}};
    struct report_rules rules;
    report_rules_place(&rules, panel->moments, panel->moment_count, &frame, pen);
    frame.box.y = top + report_rules_height(&rules, pen) + 1;
    report_frame_place(&frame, put_stages(panel, &frame, pen),
                       strip_height + 1 + pitch * (double)panel->lane_count);
    put_bands(panel, &frame, pen);
    put_lanes(panel, &frame, pitch, pen);
    report_rules_put(&rules, panel->moments, &frame, top, pen);
    report_frame_x_axis(&frame, REPORT_FONT_TICK, true, false, pen);
    report_frame_x_title(&frame, panel->x.title, pen);
    if (is_narrow)
        pen->y = report_pen_figures(pen, panel, REPORT_PAGE_MARGIN, plot_left + 200, pen->y + 4, 1, false);
    else
        pen->y = fmax(pen->y, report_pen_figures(pen, panel, REPORT_FIGURES_LEFT, report_pen_right(pen), top,
                                                 1, false));
}

static void lay_out_lanes(const struct report_chart *chart, struct report_pen *pen)
{
    for (size_t i = 0; i < chart->panel_count; i++)
        put_panel(chart, &chart->panels[i], pen);
}

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
    if (is_drawn)
        report_pen_text(pen, &label, REPORT_LEFT, REPORT_PAGE_MARGIN, top);
    if (is_drawn && !grid->is_narrow)
        report_pen_text(pen, &detail, REPORT_LEFT, REPORT_PAGE_MARGIN, top + height);
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
    for (size_t row = 0; row < chart->row_count; row++)
        grid->row = fmax(grid->row, put_label(grid, &chart->rows[row], 0, false, pen));
    grid->row = report_snap(grid->row + (grid->is_narrow ? 1 : 2) * row_padding);
}

static void put_headings(const struct grid *grid, struct report_pen *pen)
{
    struct report_type *types = report_take(pen->scene->arena, grid->count, sizeof *types);
    double *lefts = report_take(pen->scene->arena, grid->count, sizeof *lefts);
    for (size_t i = 0; i < grid->count; i++) {
        const double right = grid->lefts[i] + grid->bar_width + value_gap + grid->values[i];
        lefts[i] = grid->is_narrow ? REPORT_PAGE_MARGIN : grid->lefts[i];
        types[i] = (struct report_type){grid->chart->columns[grid->first + i].title,
                                        grid->is_narrow ? REPORT_FONT_LABEL : REPORT_FONT_DETAIL,
                                        right - lefts[i], 4};
    }
    report_pen_headings(pen, types, lefts, grid->count);
    pen->y += 5;
}

static double length_of(const struct report_column *column, double value, double full)
{
    if (value <= 0)
        return 0;
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
        if (length > 0)
            report_pen_area(pen, column->ink,
                            (struct report_box){report_snap(left), top, length, bar_height});
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

static void lay_out_table(const struct report_chart *chart, struct report_pen *pen)
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

static void put_heading(const struct report_chart *chart, struct report_pen *pen)
{
    report_pen_paragraph(pen, chart->title, REPORT_FONT_TITLE, 2);
    pen->y += chart->title[0] != 0 ? 3 : 0;
    report_pen_paragraph(pen, chart->subtitle, REPORT_FONT_SUBTITLE, 3);
    pen->y += chart->title[0] != 0 ? 10 : 0;
    report_pen_legend(pen, chart->legend, chart->legend_count, REPORT_FONT_LEGEND);
    if (chart->note != NULL) {
        report_pen_paragraph(pen, chart->note, REPORT_FONT_NOTE, 3);
        pen->y += 6;
    }
}

void report_layout(const struct report_chart *chart, double width, struct report_typesetter *typesetter,
                   struct report_arena *arena, struct report_scene *out)
{
    static void (*const bodies[])(const struct report_chart *, struct report_pen *) = {
        [REPORT_FORM_STACK] = report_layout_bars,
        [REPORT_FORM_TABLE] = lay_out_table,
        [REPORT_FORM_LANES] = lay_out_lanes,
        [REPORT_FORM_CURVES] = report_layout_lines,
        [REPORT_FORM_FRONT] = report_layout_front,
        [REPORT_FORM_SUMMARY] = report_layout_summary,
        [REPORT_FORM_SEQUENCE] = report_layout_sequence,
    };
    *out = (struct report_scene){.arena = arena, .typesetter = typesetter, .width = width};
    struct report_pen pen = {.scene = out, .y = REPORT_PAGE_MARGIN - 4};
    const bool is_summary = chart->form == REPORT_FORM_SUMMARY;
    if (!is_summary)
        put_heading(chart, &pen);
    bodies[chart->form](chart, &pen);
    if (!is_summary) {
        pen.y += chart->foot[0] != 0 ? 12 : 0;
        report_pen_paragraph(&pen, chart->foot, REPORT_FONT_FOOT, 2);
        pen.y += REPORT_PAGE_MARGIN - 6;
    }
    out->height = ceil(pen.y);
}
