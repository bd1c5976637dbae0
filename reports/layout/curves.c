/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of lines over a common x axis. The names are placed at the ends of the lines where they fit, and
 * otherwise in a key at the top. */
#include "layout.h"

#include <math.h>

#include "plot.h"

static const double cap_width = 5;
/* The most markers per line: more of them would overlap. */
enum { MARKERS_MAX = 28 };

/* Gives each line that has zeros its own lane in the strip for 0, so that lines that are 0 at the same x do
 * not hide each other. Returns the number of lanes. */
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

/* From the top: the key, if there is one, the title of the y axis, the names of the rules, and the plot. */
static struct report_curves_plot make_plot(const struct report_chart *chart, struct report_pen *pen)
{
    struct report_curves_plot plot = {.chart = chart};
    const double page_right = report_pen_right(pen);
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

static bool is_marked(const struct report_line *line, size_t index)
{
    const size_t step = (line->sample_count + MARKERS_MAX - 1) / MARKERS_MAX;
    return index % step == 0 || index + 1 == line->sample_count;
}

/* Draws the ranges of a line's samples. Long ranges are shifted by two pixels per line, because lines often
 * have samples at the same x. */
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
    } passes[] = {{REPORT_INK_HALO, 3.2}, {data->ink, is_dashed ? 1.2 : data->is_distribution ? 1.4 : 1.8}};
    for (size_t i = is_dashed ? 1 : 0; i < 2; i++) {
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, passes[i].ink, plot->box);
        mark->points = points;
        mark->point_count = until - from;
        mark->stroke = passes[i].stroke;
        mark->is_dashed = is_dashed;
        mark->is_distribution = data->is_distribution && passes[i].ink == data->ink;
    }
}

/* A line is dotted where it enters or leaves the strip for 0, because the distance there has no meaning. */
static void put_line(const struct report_curves_plot *plot, size_t line, struct report_pen *pen)
{
    const struct report_line *data = &plot->chart->lines[line];
    const double low = plot->chart->y.low;
    const double left = plot->chart->x.low;
    size_t from = 0;
    for (size_t i = 1; i <= data->sample_count && !data->is_points; i++) {
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
        data->is_dense && !data->is_distribution ? report_curves_markers(plot, line, pen, &points) : 0;
    for (size_t i = 0; i < count; i++) {
        report_pen_marker(pen, data->ink, points[i].x, points[i].y);
    }
    if (count > 0) {
        const struct report_sample *end = &data->samples[data->sample_count - 1];
        report_pen_marker(pen, data->ink, report_curves_x(plot, end->x), report_curves_y(plot, line, end->y));
    }
}

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
