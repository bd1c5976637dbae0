/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of coloured tiles that a caller passes as plain data. */
#include "reports/model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "axis.h"

static void check(const struct report_heatmap *heatmap)
{
    const size_t columns = heatmap->x.count, rows = heatmap->y.count;
    assert(columns >= 1 && columns <= REPORT_HEATMAP_MAX && rows >= 1 && rows <= REPORT_HEATMAP_MAX);
    assert(heatmap->least >= 0 && heatmap->least <= REPORT_VALUE_MAX);
    for (size_t i = 0; i < columns * rows; i++) {
        const double value = heatmap->cells[i].value;
        assert(isnan(value) || report_curves_is_fit(&heatmap->value, value));
    }
    if (heatmap->recommended != NULL) {
        assert(heatmap->recommended_x < columns && heatmap->recommended_y < rows);
        assert(!isnan(heatmap->cells[heatmap->recommended_y * columns + heatmap->recommended_x].value));
    }
}

static const char **clean_all(const struct report_heatmap_axis *axis, struct report_arena *arena)
{
    const char **labels = report_take(arena, axis->count, sizeof *labels);
    for (size_t i = 0; labels != NULL && i < axis->count; i++) {
        labels[i] = report_clean(arena, axis->labels[i]);
    }
    return labels;
}

/* Returns the value that determines a cell's colour: values below heatmap->least, if that is not 0, count as
 * heatmap->least. */
static double coloured(const struct report_heatmap *heatmap, double value)
{
    return heatmap->least > 0 ? fmax(value, heatmap->least) : value;
}

static void cut_scale(struct report_axis *scale, double low, const char *text)
{
    size_t first = 0;
    while (first < scale->tick_count && scale->ticks[first].at <= low) {
        first++;
    }
    /* The axis has at most one tick more than before, for which the array of ticks always has room. */
    const size_t kept = scale->tick_count - first + 1;
    memmove(scale->ticks + 1, scale->ticks + first, (kept - 1) * sizeof *scale->ticks);
    scale->ticks[0] = (struct report_tick){.at = low, .text = text};
    scale->tick_count = kept;
    scale->low = low;
}

/* Makes the axis of the colours in the same way as other axes. If no cell was tried, it is the axis of a
 * single value. */
static void fill_scale(const struct report_heatmap *heatmap, struct report_arena *arena,
                       struct report_grid *grid, struct report_mapping *mapping)
{
    struct report_extremes extremes = report_no_extremes;
    for (size_t i = 0; i < heatmap->x.count * heatmap->y.count; i++) {
        const double value = report_curves_flush(heatmap->cells[i].value);
        if (isnan(value)) {
            continue;
        }
        grid->is_cut |= (heatmap->least > 0 && value < heatmap->least) ||
                        (value == 0 && heatmap->value.scale == REPORT_LOG);
        report_extremes_meet(&extremes, coloured(heatmap, value));
    }
    if (extremes.least > extremes.most) {
        report_extremes_meet(&extremes, heatmap->least > 0 ? heatmap->least : 1);
    }
    grid->is_even = extremes.least == extremes.most;
    *mapping = report_curves_axis_fill(&heatmap->value, &extremes, arena, &grid->scale);
    /* The axis then begins exactly at the least value, which therefore has the first colour. */
    if (grid->is_cut && heatmap->least > 0 && grid->scale.ticks != NULL) {
        cut_scale(&grid->scale, report_curves_map(mapping, heatmap->least),
                  report_curves_text(heatmap->value.unit, heatmap->least, arena));
    }
    struct report_tick *least = grid->scale.ticks;
    if (grid->is_cut && least != NULL && least->at <= grid->scale.low + 1e-9 && least->text[0] != 0) {
        least->text = report_text(arena, "≤ %s", least->text);
    }
}

static const char *inside_of(const struct report_heatmap *heatmap)
{
    return heatmap->inside != NULL ? heatmap->inside : "holds";
}

/* "bits: 9; threshold: 40; risk: 0.2134%; recommended, holds". */
static const char *hint_of(const struct report_heatmap *heatmap, size_t index, const struct report_tile *tile,
                           struct report_arena *arena, const struct report_grid *grid)
{
    const char *column = grid->columns[index % heatmap->x.count], *row = grid->rows[index / heatmap->x.count];
    const char *place = report_text(arena, "%s: %s; %s: %s", grid->x_title, column, grid->y_title, row);
    if (!tile->is_tried) {
        return report_text(arena, "%s; not tried", place);
    }
    const char *value = report_curves_full(heatmap->value.unit, heatmap->cells[index].value, arena);
    return report_text(arena, "%s; %s: %s; %s%s", place, report_clean(arena, heatmap->value.title), value,
                       tile->is_chosen ? "recommended, " : "",
                       tile->holds                ? inside_of(heatmap)
                       : heatmap->outside != NULL ? heatmap->outside
                                                  : "does not hold");
}

static void fill_tiles(const struct report_heatmap *heatmap, const struct report_mapping *mapping,
                       struct report_arena *arena, struct report_grid *grid)
{
    const size_t columns = heatmap->x.count, rows = heatmap->y.count;
    const struct report_axis *scale = &grid->scale;
    grid->tiles = report_take(arena, columns * rows, sizeof *grid->tiles);
    if (grid->tiles == NULL) {
        return;
    }
    for (size_t i = 0; i < columns * rows; i++) {
        const struct report_heatmap_cell *cell = &heatmap->cells[i];
        struct report_tile *tile = &grid->tiles[i];
        tile->text = "";
        tile->is_tried = !isnan(cell->value);
        if (!tile->is_tried) {
            tile->hint = hint_of(heatmap, i, tile, arena, grid);
            continue;
        }
        const double value = report_curves_flush(cell->value);
        const double at = report_curves_map(mapping, coloured(heatmap, value));
        tile->shade = at <= scale->low ? 0 : (at - scale->low) / (scale->high - scale->low);
        tile->holds = cell->holds;
        tile->is_chosen = heatmap->recommended != NULL && i % columns == heatmap->recommended_x &&
                          i / columns == heatmap->recommended_y;
        /* A value that is not 0 is not written as 0. */
        const bool is_tiny = value == 0 && cell->value > 0;
        tile->text = report_curves_text(heatmap->value.unit, is_tiny ? REPORT_VALUE_LEAST : value, arena);
        if (is_tiny) {
            tile->text = report_text(arena, "<%s", tile->text);
        }
        tile->hint = hint_of(heatmap, i, tile, arena, grid);
    }
    grid->column_count = columns;
    grid->row_count = rows;
}

/* Returns the note that replaces the scale if all tried cells have the same value. */
static const char *even_note(const struct report_heatmap *heatmap, struct report_arena *arena,
                             const struct report_grid *grid)
{
    size_t tried = 0;
    const char *value = "";
    for (size_t i = 0; i < grid->column_count * grid->row_count; i++) {
        tried += grid->tiles[i].is_tried;
        value = grid->tiles[i].is_tried ? grid->tiles[i].text : value;
    }
    const char *title = report_clean(arena, heatmap->value.title);
    if (tried == 0) {
        return report_text(arena, "Nothing was tried: there is no %s to show.", title);
    }
    if (grid->is_cut && heatmap->least > 0) {
        return report_text(arena, "All %zu values are equal or too small to tell apart, at most %s: %s.",
                           tried, report_curves_text(heatmap->value.unit, heatmap->least, arena), title);
    }
    return tried == 1 ? report_text(arena, "There is only one value, %s: %s.", value, title)
                      : report_text(arena, "All %zu values are equal, %s: %s.", tried, value, title);
}

/* Adds legend entries for the kinds of tiles that the chart has. */
static void add_key(const struct report_heatmap *heatmap, struct report_arena *arena,
                    struct report_chart *chart)
{
    const struct report_grid *grid = &chart->grid;
    bool has_holding = false, has_gap = false;
    for (size_t i = 0; i < grid->column_count * grid->row_count; i++) {
        has_holding |= grid->tiles[i].holds;
        has_gap |= !grid->tiles[i].is_tried;
    }
    if (heatmap->recommended != NULL) {
        const char *name = report_clean(arena, heatmap->recommended);
        report_legend_add(chart, REPORT_INK_RING,
                          name[0] != 0 ? report_text(arena, "recommended: %s", name) : "recommended");
    }
    const char *inside = inside_of(heatmap);
    report_legend_add(chart, REPORT_INK_HOLDS,
                      has_holding ? report_text(arena, "%s (inside the line)", inside)
                                  : report_text(arena, "none %s", inside));
    if (has_gap) {
        report_legend_add(chart, REPORT_INK_ZERO, "not tried");
    }
}

void report_heatmap_fill(const struct report_heatmap *heatmap, struct report_arena *arena,
                         struct report_chart *chart)
{
    check(heatmap);
    struct report_grid *grid = &chart->grid;
    chart->form = REPORT_FORM_HEATMAP;
    chart->title = report_clean(arena, heatmap->title);
    chart->subtitle = report_clean(arena, heatmap->subtitle);
    chart->foot = report_clean(arena, heatmap->foot);
    grid->x_title = report_clean(arena, heatmap->x.title);
    grid->y_title = report_clean(arena, heatmap->y.title);
    grid->columns = clean_all(&heatmap->x, arena);
    grid->rows = clean_all(&heatmap->y, arena);
    if (grid->columns == NULL || grid->rows == NULL) {
        return;
    }
    struct report_mapping mapping;
    fill_scale(heatmap, arena, grid, &mapping);
    fill_tiles(heatmap, &mapping, arena, grid);
    if (grid->is_even) {
        chart->note = even_note(heatmap, arena, grid);
    }
    add_key(heatmap, arena, chart);
}
