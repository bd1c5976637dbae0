/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a grid of coloured tiles, with the scale of the colours above it. */
#include "pen.h"

static const double names_max = 160; /* the widest name of a row */
static const double column_name_min = 40;
static const double text_gap = 6;
static const double grid_height = 460;
static const double row_height_min = 13;
static const double row_height_max = 30;
static const double column_width_max = 120;
static const double tile_padding = 3;
static const double scale_width = 300;
static const double scale_height = 11;
static const double line_stroke = 1.6;
static const double halo_stroke = 3.2;
enum { SCALE_STEPS = 60 };

struct place {
    const struct report_grid *grid;
    struct report_box box;
    double column, row; /* width and height of a tile */
};

static void put_scale(const struct report_grid *grid, struct report_pen *pen)
{
    struct report_frame frame = {.x = &grid->scale, .box = {.x = REPORT_PAGE_MARGIN, .width = scale_width}};
    pen->y += 2;
    report_pen_paragraph(pen, grid->scale.title, REPORT_FONT_TICK, 1);
    report_frame_place(&frame, pen->y + 3, scale_height);
    for (size_t i = 0; i < SCALE_STEPS; i++) {
        const double from = frame.box.x + scale_width * (double)i / SCALE_STEPS;
        /* Each step extends under the next one, so that no paper shows between them. */
        const double until = frame.box.x + scale_width * fmin(1, ((double)i + 1.5) / SCALE_STEPS);
        report_pen_mark(pen, REPORT_SHAPE_TILE, REPORT_INK_AXIS,
                        (struct report_box){from, frame.box.y, until - from, scale_height})
            ->shade = (double)i / (SCALE_STEPS - 1);
    }
    report_frame_x_axis(&frame, REPORT_FONT_TICK, true, false, pen);
    pen->y += 8;
}

static struct place make_place(const struct report_grid *grid, struct report_pen *pen)
{
    struct place place = {.grid = grid};
    const double room = report_pen_content_width(pen);
    const struct report_type title = {grid->y_title, REPORT_FONT_TICK, room, 1};
    const struct report_box box = report_pen_text(pen, &title, REPORT_LEFT, REPORT_PAGE_MARGIN, pen->y);
    double names = report_pen_width(pen, "0", REPORT_FONT_TICK);
    for (size_t i = 0; i < grid->row_count; i++) {
        names = fmax(names, report_pen_width(pen, grid->rows[i], REPORT_FONT_TICK));
    }
    place.box.x = ceil(REPORT_PAGE_MARGIN + fmin(names, names_max) + text_gap);
    place.box.y = report_snap(box.y + box.height + 5);
    const double width = report_pen_right(pen) - place.box.x;
    place.column = fmin(column_width_max, floor(2 * width / (double)grid->column_count) / 2);
    place.row = fmin(row_height_max, fmax(row_height_min, floor(grid_height / (double)grid->row_count)));
    place.box.width = place.column * (double)grid->column_count;
    place.box.height = place.row * (double)grid->row_count;
    return place;
}

/* The first row is the lowest. */
static struct report_box tile_box(const struct place *place, size_t column, size_t row)
{
    return (struct report_box){place->box.x + place->column * (double)column,
                               place->box.y + place->row * (double)(place->grid->row_count - 1 - row),
                               place->column, place->row};
}

static void put_tile(const struct place *place, size_t column, size_t row, struct report_pen *pen)
{
    const struct report_tile *tile = &place->grid->tiles[row * place->grid->column_count + column];
    const struct report_box box = tile_box(place, column, row);
    /* A line of paper between tiles. */
    const struct report_box inner = {box.x, box.y, box.width - 0.5, box.height - 0.5};
    if (!tile->is_tried) {
        report_pen_mark(pen, REPORT_SHAPE_RECTANGLE, REPORT_INK_ZERO, inner)->hint = tile->hint;
        return;
    }
    struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_TILE, REPORT_INK_AXIS, inner);
    mark->shade = tile->shade;
    mark->hint = tile->hint;
    const struct report_type type = {
        .text = tile->text, .font = report_style_scale_font(tile->shade), .lines = 1};
    const struct report_extent extent = report_pen_measure(pen, &type);
    if (extent.width + 2 * tile_padding <= box.width && extent.height <= inner.height) {
        report_pen_text(pen, &type, REPORT_CENTRE, box.x + box.width / 2,
                        box.y + (box.height - extent.height) / 2);
    }
}

static bool is_holding(const struct report_grid *grid, size_t column, size_t row)
{
    return grid->tiles[row * grid->column_count + column].holds;
}

/* Draws a border along every side between a tile that holds and one that does not. */
static void put_border(const struct place *place, enum report_ink ink, double stroke, struct report_pen *pen)
{
    const struct report_grid *grid = place->grid;
    const double over = stroke / 2;
    for (size_t row = 0; row < grid->row_count; row++) {
        for (size_t column = 0; column < grid->column_count; column++) {
            if (!is_holding(grid, column, row)) {
                continue;
            }
            const struct report_box box = tile_box(place, column, row);
            const double right = box.x + box.width, bottom = box.y + box.height;
            if (row == 0 || !is_holding(grid, column, row - 1)) {
                report_pen_line(pen, REPORT_SHAPE_LINE, ink, box.x - over, bottom, right + over, bottom,
                                stroke);
            }
            if (row + 1 == grid->row_count || !is_holding(grid, column, row + 1)) {
                report_pen_line(pen, REPORT_SHAPE_LINE, ink, box.x - over, box.y, right + over, box.y,
                                stroke);
            }
            if (column == 0 || !is_holding(grid, column - 1, row)) {
                report_pen_line(pen, REPORT_SHAPE_LINE, ink, box.x, box.y, box.x, bottom, stroke);
            }
            if (column + 1 == grid->column_count || !is_holding(grid, column + 1, row)) {
                report_pen_line(pen, REPORT_SHAPE_LINE, ink, right, box.y, right, bottom, stroke);
            }
        }
    }
}

/* Draws the ring along the tile's edge, so that the number in the tile keeps its room. */
static void put_ring(const struct place *place, struct report_pen *pen)
{
    const struct report_grid *grid = place->grid;
    for (size_t i = 0; i < grid->column_count * grid->row_count; i++) {
        if (!grid->tiles[i].is_chosen) {
            continue;
        }
        const struct report_box box = tile_box(place, i % grid->column_count, i / grid->column_count);
        report_pen_frame(pen, REPORT_INK_HALO, &box, halo_stroke);
        report_pen_frame(pen, REPORT_INK_RING, &box, 2);
    }
}

/* Even the lowest row is higher than a name. */
static void put_row_names(const struct place *place, struct report_pen *pen)
{
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    for (size_t row = 0; row < place->grid->row_count; row++) {
        const struct report_box box = tile_box(place, 0, row);
        const struct report_type type = {place->grid->rows[row], REPORT_FONT_TICK,
                                         place->box.x - REPORT_PAGE_MARGIN - text_gap, 1};
        report_pen_text(pen, &type, REPORT_RIGHT, place->box.x - text_gap, box.y + (box.height - height) / 2);
    }
}

/* Puts each name below its column, or, where the columns are narrow, only every second, third, ... name, so
 * that each has the width of as many columns. */
static void put_column_names(const struct place *place, struct report_pen *pen)
{
    const struct report_grid *grid = place->grid;
    const double top = place->box.y + place->box.height + 4;
    double widest = 0;
    for (size_t i = 0; i < grid->column_count; i++) {
        widest = fmax(widest, report_pen_width(pen, grid->columns[i], REPORT_FONT_TICK));
    }
    const double wanted = fmin(widest, fmax(column_name_min, place->column - text_gap)) + text_gap;
    const size_t step = (size_t)fmax(1, ceil(wanted / place->column));
    for (size_t i = 0; i < grid->column_count; i += step) {
        const double middle = place->box.x + place->column * ((double)i + 0.5);
        struct report_type type = {grid->columns[i], REPORT_FONT_TICK, wanted - text_gap, 1};
        if (report_pen_width(pen, type.text, REPORT_FONT_TICK) <= type.width) {
            type.width = 0;
        }
        const double half = report_pen_measure(pen, &type).width / 2;
        const double most = pen->scene->width - REPORT_PAGE_MARGIN / 2 - half;
        report_pen_text(pen, &type, REPORT_CENTRE, fmin(middle, most), top);
    }
    const double height = report_pen_height(pen, REPORT_FONT_TICK);
    const double room = report_pen_right(pen) - place->box.x;
    const struct report_type title = {grid->x_title, REPORT_FONT_TICK, room, 1};
    const double width = fmin(room, report_pen_width(pen, grid->x_title, REPORT_FONT_TICK));
    const double middle = fmax(place->box.x + place->box.width / 2, place->box.x + width / 2);
    const struct report_box box = report_pen_text(pen, &title, REPORT_CENTRE, middle, top + height + 3);
    pen->y = box.y + box.height;
}

void report_layout_heatmap(const struct report_chart *chart, struct report_pen *pen)
{
    const struct report_grid *grid = &chart->grid;
    if (grid->row_count == 0) {
        return;
    }
    if (!grid->is_even) {
        put_scale(grid, pen);
    }
    const struct place place = make_place(grid, pen);
    for (size_t row = 0; row < grid->row_count; row++) {
        for (size_t column = 0; column < grid->column_count; column++) {
            put_tile(&place, column, row, pen);
        }
    }
    put_border(&place, REPORT_INK_HALO, halo_stroke, pen);
    put_border(&place, REPORT_INK_HOLDS, line_stroke, pen);
    put_ring(&place, pen);
    put_row_names(&place, pen);
    put_column_names(&place, pen);
}
