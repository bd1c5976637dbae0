/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places names next to their lines, inside the plot. A raster records which cells are occupied, with one bit
 * per line. A name must not overlap a line, a marker, a rule or another name. Of the free places, it takes
 * the one with the fewest cells of other lines around it. */
#include <math.h>

#include "plot.h"

static const double cell = 2;
/* In pixels: the distance that names keep from lines, the margin around a name, and the margin that is
 * searched for other lines. */
static const double line_room = 2.5;
static const double name_gap = 3;
static const double neighbourhood = 14;
static const double anchor_gap = 5;
static const double marker_gap = 96;
static const double marker_stagger = 37;
static const double marker_width = 10;
static const double inset = 2; /* distance from the plot's sides */
static const double name_width_max = 240;

struct raster {
    uint32_t *cells;
    long columns, rows;
    struct report_box box;
};
/* The bits of cells that a rule or a name occupies. */
#define OF_RULE (UINT32_C(1) << 30)
#define OF_NAME (UINT32_C(1) << 31)

size_t report_curves_stations(const struct report_curves_plot *plot, size_t line, double gap, double first,
                              struct report_pen *pen, struct report_point **out)
{
    const struct report_line *data = &plot->chart->lines[line];
    double length = 0;
    struct report_point last = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;
        double next = first;
        length = 0;
        for (size_t i = 0; i < data->sample_count; i++) {
            const struct report_point to = {report_curves_x(plot, data->samples[i].x),
                                            report_curves_y(plot, line, data->samples[i].y)};
            const double part =
                i == 0 ? 0 : sqrt((to.x - last.x) * (to.x - last.x) + (to.y - last.y) * (to.y - last.y));
            for (; part > 0 && next <= length + part; next += gap) {
                const double share = (next - length) / part;
                if (pass == 1) {
                    (*out)[count] = (struct report_point){last.x + share * (to.x - last.x),
                                                          last.y + share * (to.y - last.y)};
                }
                count++;
            }
            length += part;
            last = to;
        }
        if (pass == 1) {
            return count;
        }
        *out = report_take(pen->scene->arena, count, sizeof **out);
        if (*out == NULL) {
            return 0;
        }
    }
    return 0;
}

/* The length in pixels of the level start of a line. Many lines coincide there, so that a name or a marker
 * would not distinguish them. */
static double level_of(const struct report_curves_plot *plot, size_t line)
{
    const struct report_line *data = &plot->chart->lines[line];
    const double foot = data->samples[0].y - 0.01 * (plot->chart->y.high - plot->chart->y.low);
    size_t last = 0;
    while (last + 1 < data->sample_count && data->samples[last + 1].y > foot) {
        last++;
    }
    return report_curves_x(plot, data->samples[last].x) - report_curves_x(plot, data->samples[0].x);
}

size_t report_curves_markers(const struct report_curves_plot *plot, size_t line, struct report_pen *pen,
                             struct report_point **out)
{
    /* The markers are staggered by line, so that those of coinciding lines are all visible. */
    const double first =
        level_of(plot, line) + fmod(marker_gap / 3 + marker_stagger * (double)line, marker_gap);
    return report_curves_stations(plot, line, marker_gap, first, pen, out);
}

static void take(struct raster *raster, const struct report_box *box, uint32_t bits)
{
    const long left = (long)floor((box->x - raster->box.x) / cell);
    const long right = (long)floor((box->x + box->width - raster->box.x) / cell);
    const long top = (long)floor((box->y - raster->box.y) / cell);
    const long bottom = (long)floor((box->y + box->height - raster->box.y) / cell);
    for (long y = top > 0 ? top : 0; y <= bottom && y < raster->rows; y++) {
        for (long x = left > 0 ? left : 0; x <= right && x < raster->columns; x++) {
            raster->cells[y * raster->columns + x] |= bits;
        }
    }
}

static bool start(const struct report_curves_plot *plot, struct report_pen *pen, struct raster *out)
{
    *out = (struct raster){.columns = (long)ceil(plot->box.width / cell) + 1,
                           .rows = (long)ceil(plot->box.height / cell) + 1,
                           .box = plot->box};
    out->cells = report_take(pen->scene->arena, (size_t)(out->columns * out->rows), sizeof *out->cells);
    if (out->cells == NULL) {
        return false;
    }
    for (size_t i = 0; i < plot->chart->rule_count; i++) {
        const double x = report_curves_x(plot, plot->chart->rules[i].at);
        take(out, &(struct report_box){x - line_room, plot->box.y, 2 * line_room, plot->box.height}, OF_RULE);
    }
    return true;
}

static void take_line(const struct report_curves_plot *plot, size_t line, struct report_pen *pen,
                      struct raster *raster)
{
    const uint32_t bit = UINT32_C(1) << line;
    struct report_point *points;
    size_t count = report_curves_stations(plot, line, cell / 2, 0, pen, &points);
    for (size_t i = 0; i < count; i++) {
        take(raster,
             &(struct report_box){points[i].x - line_room, points[i].y - line_room, 2 * line_room,
                                  2 * line_room},
             bit);
    }
    if (plot->chart->lines[line].is_distribution) {
        return;
    }
    static const double marker_room = REPORT_MARKER_SIZE / 2 + 2;
    count = report_curves_markers(plot, line, pen, &points);
    for (size_t i = 0; i < count; i++) {
        take(raster,
             &(struct report_box){points[i].x - marker_room, points[i].y - marker_room, 2 * marker_room,
                                  2 * marker_room},
             bit);
    }
}

/* Returns the number of cells in the box that are occupied by anything except the bits `but`. Stops counting
 * after the row in which the count exceeds `most`. */
static size_t count_taken(const struct raster *raster, const struct report_box *box, uint32_t but,
                          size_t most)
{
    const long left = (long)floor((box->x - raster->box.x) / cell);
    const long right = (long)floor((box->x + box->width - raster->box.x) / cell);
    const long top = (long)floor((box->y - raster->box.y) / cell);
    const long bottom = (long)floor((box->y + box->height - raster->box.y) / cell);
    size_t count = 0;
    for (long y = top > 0 ? top : 0; y <= bottom && y < raster->rows && count <= most; y++) {
        for (long x = left > 0 ? left : 0; x <= right && x < raster->columns; x++) {
            count += (raster->cells[y * raster->columns + x] & ~but) != 0;
        }
    }
    return count;
}

static struct report_box grown(const struct report_box *box, double by)
{
    return (struct report_box){box->x - by, box->y - by, box->width + 2 * by, box->height + 2 * by};
}

static bool place_name(struct report_curves_plot *plot, size_t line, struct report_pen *pen,
                       struct raster *raster)
{
    /* The point of the name's box that is placed at the anchor, as fractions of the box's width and
     * height. */
    static const struct {
        double x, y;
    } corners[] = {{0, 0.5}, {0, 1}, {0.5, 1}, {0, 0}, {0.5, 0}, {1, 0.5}, {1, 1}, {1, 0}};
    const double width =
        marker_width + report_pen_width(pen, plot->chart->lines[line].label, REPORT_FONT_LEGEND);
    const double height = report_pen_height(pen, REPORT_FONT_LEGEND);
    const uint32_t own = UINT32_C(1) << line;
    struct report_point *anchors;
    const size_t count = report_curves_stations(plot, line, anchor_gap, level_of(plot, line), pen, &anchors);
    size_t best = SIZE_MAX;
    struct report_box found = {0};
    for (size_t i = 0; width <= name_width_max && i < count; i++) {
        for (size_t k = 0; k < sizeof corners / sizeof corners[0]; k++) {
            const double away = line_room + name_gap;
            const struct report_box box = {
                anchors[i].x - width * corners[k].x + away * (1 - 2 * corners[k].x),
                anchors[i].y - height * corners[k].y + away * (1 - 2 * corners[k].y), width, height};
            if (box.x < plot->box.x + inset || box.x + width > plot->box.x + plot->box.width - inset ||
                box.y < plot->box.y + inset || box.y + height > plot->box.y + plot->box.height - inset ||
                count_taken(raster, &box, 0, 0) > 0) {
                continue;
            }
            const struct report_box around = grown(&box, neighbourhood);
            const size_t strangers = count_taken(raster, &around, own, best);
            if (strangers < best) {
                best = strangers;
                found = box;
            }
        }
    }
    if (best == SIZE_MAX) {
        return false;
    }
    plot->names[line] = (struct report_point){found.x - plot->box.x, found.y - plot->box.y};
    const struct report_box around = grown(&found, name_gap);
    take(raster, &around, OF_NAME);
    return true;
}

void report_curves_place_along(struct report_curves_plot *plot, struct report_pen *pen)
{
    const size_t count = plot->chart->line_count;
    struct raster raster;
    size_t wanted = 0, placed = 0;
    if (!start(plot, pen, &raster)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        take_line(plot, i, pen, &raster);
    }
    for (size_t i = 0; i < count; i++) {
        if (!plot->chart->lines[i].is_distribution) {
            wanted++;
            plot->is_named[i] = place_name(plot, i, pen, &raster);
            placed += plot->is_named[i];
        }
    }
    /* If fewer than half of the lines could be named in the plot, none is, so that the reader finds all names
     * in one place: the key. */
    for (size_t i = 0; 2 * placed < wanted && i < count; i++) {
        plot->is_named[i] = false;
    }
}

void report_curves_put_along(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const double height = report_pen_height(pen, REPORT_FONT_LEGEND);
    for (size_t i = 0; i < plot->chart->line_count; i++) {
        const struct report_line *line = &plot->chart->lines[i];
        if (!plot->is_named[i]) {
            continue;
        }
        const double x = plot->box.x + plot->names[i].x, y = plot->box.y + plot->names[i].y;
        const struct report_type type = {.text = line->label, .font = REPORT_FONT_LEGEND, .lines = 1};
        report_pen_marker(pen, line->ink, x + REPORT_MARKER_SIZE / 2 + 1, y + height / 2);
        report_pen_text(pen, &type, REPORT_LEFT, x + marker_width, y);
    }
}
