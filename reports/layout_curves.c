/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines over a common x axis. The names stand at the lines' ends where they fit, otherwise in a key on top.
 */
#include "layout_curves.h"

#include <math.h>

static const double plot_left_min = 60;
static const double plot_height = REPORT_CURVES_HEIGHT;
static const double tick_length = 4;
static const double text_gap = 6;
/* A strip for 0, and the gap between it and the axis's begin. */
static const double strip_width = 24;
static const double strip_height_min = 16;
static const double strip_gap = 7;
static const double lane_height = 7;
static const double strip_padding = 4;
/* Points stand off the plot's sides. */
static const double side_inset = 8;
static const double cap_width = 5;
/* More markers than this at a line would run into each other. */
enum { MARKERS_MAX = 28 };

static struct report_curves_plot make_plot(const struct report_chart *chart, struct report_pen *pen);
static size_t assign_lanes(const struct report_chart *chart, struct report_curves_plot *plot);
static void put_ground(const struct report_curves_plot *plot, struct report_pen *pen);
static void put_y_axis(const struct report_curves_plot *plot, struct report_pen *pen);
static void put_y_number(const struct report_curves_plot *plot, const char *text, double y, double *above,
                         struct report_pen *pen);
static void put_x_axis(const struct report_curves_plot *plot, struct report_pen *pen);
static void put_break(double x, double y, bool is_upright, struct report_pen *pen);
static void put_ranges(const struct report_curves_plot *plot, size_t line, struct report_pen *pen);
static void put_line(const struct report_curves_plot *plot, size_t line, struct report_pen *pen);
static void put_run(const struct report_curves_plot *plot, size_t line, size_t from, size_t until,
                    bool is_dashed, struct report_pen *pen);
static void put_markers(const struct report_curves_plot *plot, size_t line, struct report_pen *pen);
static bool is_marked(const struct report_line *line, size_t index);

void report_layout_curves(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_curves_plot plot = make_plot(chart, pen);
    report_curves_put_axes(&plot, pen);
    report_curves_put_rules(&plot, pen);
    for (size_t i = 0; i < chart->line_count; i++) {
        put_ranges(&plot, i, pen);
    }
    for (size_t i = 0; i < chart->line_count; i++) {
        put_line(&plot, i, pen);
    }
    for (size_t i = 0; i < chart->line_count; i++) {
        put_markers(&plot, i, pen);
    }
    if (plot.has_names) {
        report_curves_put_names(&plot, pen);
    } else {
        report_curves_put_along(&plot, pen);
    }
}

void report_curves_put_axes(const struct report_curves_plot *plot, struct report_pen *pen)
{
    put_ground(plot, pen);
    put_y_axis(plot, pen);
    put_x_axis(plot, pen);
}

double report_curves_plot_left(const struct report_chart *chart, struct report_pen *pen)
{
    double numbers = report_pen_width(pen, "0", REPORT_FONT_TICK);
    for (size_t i = 0; i < chart->y.tick_count; i++) {
        numbers = fmax(numbers, report_pen_width(pen, chart->y.ticks[i].text, REPORT_FONT_TICK));
    }
    return ceil(fmax(REPORT_PAGE_MARGIN + numbers + text_gap, plot_left_min));
}

double report_curves_set_top(struct report_curves_plot *plot, double top, size_t lanes)
{
    plot->box.y = report_snap(top);
    plot->box.height = plot_height;
    if (plot->chart->y.has_zero) {
        plot->strip_top = plot->box.y + plot_height + strip_gap;
        plot->box.height += strip_gap + fmax(strip_height_min, strip_padding + lane_height * (double)lanes);
    }
    return plot->box.y + plot->box.height;
}

double report_curves_x(const struct report_curves_plot *plot, double value)
{
    const struct report_axis *axis = &plot->chart->x;
    const struct report_box *box = &plot->box;
    const double before = axis->has_zero ? strip_width + strip_gap : 0;
    if (value < axis->low) {
        return box->x + strip_width / 2;
    }
    const double room = box->width - before - 2 * side_inset;
    return box->x + before + side_inset + (value - axis->low) / (axis->high - axis->low) * room;
}

double report_curves_y(const struct report_curves_plot *plot, size_t line, double value)
{
    const struct report_axis *axis = &plot->chart->y;
    if (value < axis->low) {
        return plot->strip_top + strip_padding / 2 + lane_height * ((double)plot->lanes[line] + 0.5);
    }
    return plot->box.y + (1 - (value - axis->low) / (axis->high - axis->low)) * plot_height;
}

/* From the top: the key or none, the y axis's title, the names of rules, the plot. */
static struct report_curves_plot make_plot(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_curves_plot plot = {.chart = chart};
    const double page_right = REPORT_PAGE_WIDTH - REPORT_PAGE_MARGIN;
    plot.box.x = report_curves_plot_left(chart, pen);
    const double names = report_curves_names_width(chart, pen);
    plot.has_names = names > 0;
    plot.box.width = floor(page_right - names) - plot.box.x;
    const size_t lanes = assign_lanes(chart, &plot);
    report_curves_place_rules(&plot, pen);
    report_curves_set_top(&plot, 0, lanes);
    if (chart->names_along) {
        report_curves_place_along(&plot, pen);
    }
    report_curves_put_key(&plot, pen);
    const struct report_type title = {chart->y.title, REPORT_FONT_TICK, page_right - REPORT_PAGE_MARGIN, 1};
    struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
    plot.names_top = box.y + box.height + 4;
    plot.names_line = report_pen_height(pen, REPORT_FONT_STAGE) + 1;
    report_curves_set_top(
        &plot, plot.names_top + plot.names_line * (double)plot.rule_rows + (plot.rule_rows > 0 ? 3 : 6),
        lanes);
    return plot;
}

/* In the strip each line has a lane of its own: many are 0, and none hides another. */
static size_t assign_lanes(const struct report_chart *chart, struct report_curves_plot *plot)
{
    size_t lanes = 0;
    for (size_t i = 0; i < chart->line_count; i++) {
        const struct report_line *line = &chart->lines[i];
        bool has_zero = false;
        for (size_t k = 0; k < line->sample_count; k++) {
            has_zero |= line->samples[k].low < chart->y.low;
        }
        plot->lanes[i] = lanes;
        lanes += has_zero;
    }
    return lanes;
}

static void put_ground(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_box *box = &plot->box;
    if (plot->chart->y.has_zero) {
        const struct report_box strip = {box->x, plot->strip_top, box->width,
                                         box->y + box->height - plot->strip_top};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO, strip);
    }
    if (plot->chart->x.has_zero) {
        const struct report_box strip = {box->x, box->y, strip_width, box->height};
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO, strip);
    }
}

static void put_y_axis(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_axis *axis = &plot->chart->y;
    const struct report_box *box = &plot->box;
    const double bottom = box->y + plot_height;
    double above = box->y + box->height + plot_height;
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct report_tick *tick = &axis->ticks[i];
        const double y = report_snap(report_curves_y(plot, 0, tick->at));
        if (tick->text[0] != 0) {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_GRID, box->x, y, box->x + box->width, y, 1);
        } else {
            report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x - 2, y, box->x, y, 1);
        }
        put_y_number(plot, tick->text, y, &above, pen);
    }
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x, box->y, box->x, bottom, 1);
    if (axis->has_zero) {
        const double middle = plot->strip_top + (box->y + box->height - plot->strip_top) / 2;
        above = middle + plot_height;
        put_y_number(plot, "0", middle, &above, pen);
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x, plot->strip_top, box->x,
                        box->y + box->height, 1);
        put_break(box->x, bottom, false, pen);
        put_break(box->x, plot->strip_top, false, pen);
    }
}

/* Left out where it would run into the one below, which ends at *above. */
static void put_y_number(const struct report_curves_plot *plot, const char *text, double y, double *above,
                         struct report_pen *pen)
{
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    if (text[0] == 0 || y + height / 2 > *above) {
        return;
    }
    const struct report_type type = {.text = text, .font = REPORT_FONT_TICK, .lines = 1};
    report_pen_text(pen, &type, REPORT_RIGHT, plot->box.x - text_gap, y - height / 2);
    *above = y - height / 2;
}

static void put_x_axis(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_axis *axis = &plot->chart->x;
    const struct report_box *box = &plot->box;
    const double y = box->y + box->height;
    const double from = box->x + (axis->has_zero ? strip_width + strip_gap : 0);
    const double top = y + tick_length + 2;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, from, y, box->x + box->width, y, 1);
    double taken = 0;
    if (axis->has_zero) {
        const struct report_type zero = {.text = "0", .font = REPORT_FONT_TICK, .lines = 1};
        struct report_box text = report_pen_text(pen, &zero, REPORT_CENTRE, box->x + strip_width / 2, top);
        taken = text.x + text.width + text_gap;
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, box->x, y, box->x + strip_width, y, 1);
        put_break(from, y, true, pen);
        put_break(box->x + strip_width, y, true, pen);
    }
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct report_tick *tick = &axis->ticks[i];
        const double x = report_snap(report_curves_x(plot, tick->at));
        const bool has_number = tick->text[0] != 0;
        report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x, y, x,
                        y + (has_number ? tick_length : tick_length / 2), 1);
        const struct report_type type = {.text = tick->text, .font = REPORT_FONT_TICK, .lines = 1};
        const double width = report_pen_width(pen, tick->text, REPORT_FONT_TICK);
        if (has_number && x - width / 2 >= taken) {
            report_pen_text(pen, &type, REPORT_CENTRE, x, top);
            taken = x + width / 2 + text_gap;
        }
    }
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    const struct report_type title = {axis->title, REPORT_FONT_TICK, box->width, 1};
    const struct report_box text =
        report_pen_text(pen, &title, REPORT_CENTRE, box->x + box->width / 2, top + height + 3);
    pen->y = text.y + text.height;
}

/* A short stroke across the axis where it is broken. */
static void put_break(double x, double y, bool is_upright, struct report_pen *pen)
{
    static const double half = 4;
    static const double slope = 2;
    const double dx = is_upright ? slope : half;
    const double dy = is_upright ? half : slope;
    report_pen_line(pen, REPORT_SHAPE_LINE, REPORT_INK_AXIS, x - dx, y + dy, x + dx, y - dy, 1);
}

/* Long ones stand a little beside one another, as lines often share their x. */
static void put_ranges(const struct report_curves_plot *plot, size_t line, struct report_pen *pen)
{
    static const double pitch = 2;
    static const double short_range = 3 * REPORT_MARKER_SIZE;
    const double offset = pitch * ((double)line - (double)(plot->chart->line_count - 1) / 2);
    const struct report_line *data = &plot->chart->lines[line];
    for (size_t i = 0; i < data->sample_count; i++) {
        const struct report_sample *sample = &data->samples[i];
        if (!(sample->low < sample->high) || !is_marked(data, i)) {
            continue;
        }
        const double low = report_curves_y(plot, line, sample->low);
        const double high = report_curves_y(plot, line, sample->high);
        const double x = report_curves_x(plot, sample->x) + (low - high > short_range ? offset : 0);
        report_pen_line(pen, REPORT_SHAPE_LINE, data->ink, x, high, x, low, 1);
        const double ends[] = {low, high};
        for (size_t k = 0; k < 2; k++) {
            report_pen_line(pen, REPORT_SHAPE_LINE, data->ink, x - cap_width / 2, ends[k], x + cap_width / 2,
                            ends[k], 1);
        }
    }
}

/* Where it enters or leaves a strip a line is dotted: the distance there says nothing. */
static void put_line(const struct report_curves_plot *plot, size_t line, struct report_pen *pen)
{
    const struct report_line *data = &plot->chart->lines[line];
    const double low = plot->chart->y.low;
    const double left = plot->chart->x.low;
    size_t from = 0;
    for (size_t i = 1; i <= data->sample_count; i++) {
        const struct report_sample *last = &data->samples[i - 1];
        const struct report_sample *next = i < data->sample_count ? &data->samples[i] : NULL;
        if (next != NULL && (last->y < low) == (next->y < low) && (last->x < left) == (next->x < left)) {
            continue;
        }
        put_run(plot, line, from, i, false, pen);
        if (next != NULL) {
            put_run(plot, line, i - 1, i + 1, true, pen);
        }
        from = i;
    }
}

static void put_run(const struct report_curves_plot *plot, size_t line, size_t from, size_t until,
                    bool is_dashed, struct report_pen *pen)
{
    const struct report_line *data = &plot->chart->lines[line];
    struct report_point *points = report_take(pen->scene->arena, until - from, sizeof *points);
    if (points == NULL || until - from < 2) {
        return;
    }
    for (size_t i = from; i < until; i++) {
        points[i - from] = (struct report_point){report_curves_x(plot, data->samples[i].x),
                                                 report_curves_y(plot, line, data->samples[i].y)};
    }
    const struct {
        enum report_ink ink;
        double stroke;
    } passes[] = {{REPORT_INK_HALO, 3.2}, {data->ink, is_dashed ? 1.2 : data->is_law ? 1.4 : 1.8}};
    for (size_t i = is_dashed ? 1 : 0; i < 2; i++) {
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, passes[i].ink, plot->box);
        mark->points = points;
        mark->point_count = until - from;
        mark->stroke = passes[i].stroke;
        mark->is_dashed = is_dashed;
        mark->is_law = data->is_law && passes[i].ink == data->ink;
    }
}

static void put_markers(const struct report_curves_plot *plot, size_t line, struct report_pen *pen)
{
    const struct report_line *data = &plot->chart->lines[line];
    for (size_t i = 0; i < data->sample_count; i++) {
        const struct report_sample *sample = &data->samples[i];
        const double x = report_curves_x(plot, sample->x), y = report_curves_y(plot, line, sample->y);
        if (!data->is_dense && is_marked(data, i)) {
            report_pen_marker(pen, data->ink, x, y);
        }
        if (sample->hint != NULL) {
            report_pen_mark(pen, REPORT_SHAPE_HIT, data->ink, (struct report_box){x, y, 0, 0})->hint =
                sample->hint;
        }
    }
    struct report_point *points;
    const size_t count =
        data->is_dense && !data->is_law ? report_curves_markers(plot, line, pen, &points) : 0;
    for (size_t i = 0; i < count; i++) {
        report_pen_marker(pen, data->ink, points[i].x, points[i].y);
    }
}

static bool is_marked(const struct report_line *line, size_t index)
{
    const size_t step = (line->sample_count + MARKERS_MAX - 1) / MARKERS_MAX;
    return index % step == 0 || index + 1 == line->sample_count;
}
