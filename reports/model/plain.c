/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of plain data: curves, a Pareto front, coloured tiles, and regions. In: values of the caller,
 * which must be within their bounds, and texts of users. Out: charts whose positions are on the axes, with a
 * hint for each mark. */
#include "reports/model.h"

#include <assert.h>
#include <string.h>

#include "parts.h"

static void set_heading(const char *title, const char *subtitle, const char *foot, struct report_arena *arena,
                        struct report_chart *chart)
{
    chart->title = report_clean(arena, title);
    chart->subtitle = report_clean(arena, subtitle);
    chart->foot = report_clean(arena, foot);
}

/* The axes of a plane while they meet its points. */
struct plane {
    const struct report_curves_axis *x, *y;
    struct report_extremes xs, ys;
};

static void meet(struct plane *plane, double x, double low, double y, double high)
{
    assert(report_is_fit(plane->x, x) && report_is_fit(plane->y, low) && report_is_fit(plane->y, high));
    assert(low <= y && y <= high);
    report_extremes_meet(&plane->xs, x);
    report_extremes_meet(&plane->ys, low);
    report_extremes_meet(&plane->ys, y);
    report_extremes_meet(&plane->ys, high);
}

static void fill_axes(const struct plane *plane, struct report_arena *arena, struct report_chart *chart)
{
    report_scale_fill(plane->x, &plane->xs, arena, &chart->x);
    report_scale_fill(plane->y, &plane->ys, arena, &chart->y);
}

/* "three-state; skew: 0.02 s; violations: 12.5 (10 to 15)". */
static const char *point_hint(const struct plane *plane, const char *label, double x, double low, double y,
                              double high, struct report_arena *arena)
{
    return report_text(arena, "%s%s%s: %s; %s: %s", label, label[0] != 0 ? "; " : "",
                       report_clean(arena, plane->x->title), report_value_full(plane->x->unit, x, arena),
                       report_clean(arena, plane->y->title),
                       report_value_range(plane->y->unit, y, low, high, arena));
}

/* An insertion sort: the points are usually in order already, and points of equal x keep their order. */
static void fill_line(const struct plane *plane, const struct report_curve *curve, struct report_arena *arena,
                      const struct report_chart *chart, struct report_line *line)
{
    line->label = report_clean(arena, curve->label);
    line->samples = report_take(arena, curve->count, sizeof *line->samples);
    for (size_t i = 0; line->samples != NULL && i < curve->count; i++) {
        const struct report_curves_point *point = &curve->points[i];
        const struct report_sample sample = {
            .x = report_at(&chart->x, point->x),
            .y = report_at(&chart->y, point->y),
            .low = report_at(&chart->y, point->low),
            .high = report_at(&chart->y, point->high),
            .hint = point_hint(plane, line->label, point->x, point->low, point->y, point->high, arena),
        };
        size_t place = line->sample_count++;
        for (; place > 0 && line->samples[place - 1].x > sample.x; place--) {
            line->samples[place] = line->samples[place - 1];
        }
        line->samples[place] = sample;
    }
}

static void fill_rules(const struct report_curves *curves, struct report_arena *arena,
                       struct report_chart *chart)
{
    chart->rules = report_take(arena, curves->rule_count, sizeof *chart->rules);
    for (size_t i = 0; chart->rules != NULL && i < curves->rule_count; i++) {
        const struct report_moment rule = {.at = report_at(&chart->x, curves->rules[i].at),
                                           .text = report_clean(arena, curves->rules[i].label)};
        size_t place = chart->rule_count++;
        for (; place > 0 && chart->rules[place - 1].at > rule.at; place--) {
            chart->rules[place] = chart->rules[place - 1];
        }
        chart->rules[place] = rule;
    }
}

void report_curves_fill(const struct report_curves *curves, struct report_arena *arena,
                        struct report_chart *chart)
{
    assert(curves->curve_count >= 1 && curves->curve_count <= REPORT_CURVES_MAX);
    assert(curves->rule_count <= REPORT_RULES_MAX);
    chart->form = REPORT_FORM_CURVES;
    set_heading(curves->title, curves->subtitle, curves->foot, arena, chart);
    struct plane plane = {&curves->x, &curves->y, report_no_extremes, report_no_extremes};
    for (size_t i = 0; i < curves->curve_count; i++) {
        assert(curves->curves[i].count >= 1);
        for (size_t k = 0; k < curves->curves[i].count; k++) {
            const struct report_curves_point *point = &curves->curves[i].points[k];
            meet(&plane, point->x, point->low, point->y, point->high);
        }
    }
    for (size_t i = 0; i < curves->rule_count; i++) {
        assert(report_is_fit(&curves->x, curves->rules[i].at));
        report_extremes_meet(&plane.xs, curves->rules[i].at);
    }
    plane.xs.is_tight = true;
    fill_axes(&plane, arena, chart);
    chart->lines = report_take(arena, curves->curve_count, sizeof *chart->lines);
    for (size_t i = 0; chart->lines != NULL && i < curves->curve_count; i++) {
        chart->lines[i].ink = (enum report_ink)(REPORT_INK_LINE + (int)i);
        fill_line(&plane, &curves->curves[i], arena, chart, &chart->lines[i]);
        chart->line_count++;
    }
    fill_rules(curves, arena, chart);
}

/* Adds legend entries for the kinds of spots that the chart has. */
static void add_spots_key(const struct report_front *front, struct report_arena *arena,
                          struct report_chart *chart)
{
    bool has_front = false, has_others = false;
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        has_front |= spot->is_on_front && !spot->is_chosen;
        has_others |= !spot->is_on_front && !spot->is_chosen;
    }
    if (front->has_recommended) {
        const char *name = chart->spots[front->recommended].label;
        report_legend_add(chart, REPORT_INK_CHOSEN,
                          name[0] != 0 ? report_text(arena, "recommended: %s", name) : "recommended");
    }
    if (has_front) {
        report_legend_add(chart, REPORT_INK_LINE, "on the front");
    }
    if (has_others) {
        report_legend_add(chart, REPORT_INK_PALE, "not on the front");
    }
}

/* "9 bits, threshold 40; operations: 1.95; CV: 0.158 (0.15 to 0.16); recommended, on the front". */
void report_front_fill(const struct report_front *front, struct report_arena *arena,
                       struct report_chart *chart)
{
    assert(front->count >= 1 && front->count <= REPORT_FRONT_MAX);
    assert(!front->has_recommended || front->recommended < front->count);
    chart->form = REPORT_FORM_FRONT;
    set_heading(front->title, front->subtitle, front->foot, arena, chart);
    struct plane plane = {&front->x, &front->y, report_no_extremes, report_no_extremes};
    for (size_t i = 0; i < front->count; i++) {
        const struct report_front_point *point = &front->points[i];
        meet(&plane, point->x, point->low, point->y, point->high);
    }
    fill_axes(&plane, arena, chart);
    chart->spots = report_take(arena, front->count, sizeof *chart->spots);
    if (chart->spots == NULL) {
        return;
    }
    for (size_t i = 0; i < front->count; i++) {
        const struct report_front_point *point = &front->points[i];
        const bool is_chosen = front->has_recommended && i == front->recommended;
        const char *label = report_clean(arena, point->label);
        chart->spots[i] = (struct report_spot){
            .label = label,
            .x = report_at(&chart->x, point->x),
            .y = report_at(&chart->y, point->y),
            .low = report_at(&chart->y, point->low),
            .high = report_at(&chart->y, point->high),
            .is_on_front = point->is_on_front,
            .is_best = point->is_best,
            .is_chosen = is_chosen,
            .hint = report_text(arena, "%s; %s%son the front",
                                point_hint(&plane, label, point->x, point->low, point->y, point->high, arena),
                                is_chosen ? "recommended, " : "", point->is_on_front ? "" : "not "),
        };
    }
    chart->spot_count = front->count;
    add_spots_key(front, arena, chart);
}

static void check_heatmap(const struct report_heatmap *heatmap)
{
    const size_t columns = heatmap->x.count, rows = heatmap->y.count;
    assert(columns >= 1 && columns <= REPORT_HEATMAP_MAX && rows >= 1 && rows <= REPORT_HEATMAP_MAX);
    assert(heatmap->least >= 0 && heatmap->least <= REPORT_VALUE_MAX);
    for (size_t i = 0; i < columns * rows; i++) {
        const double value = heatmap->cells[i].value;
        assert(isnan(value) || report_is_fit(&heatmap->value, value));
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
                       struct report_grid *grid)
{
    struct report_extremes extremes = report_no_extremes;
    for (size_t i = 0; i < heatmap->x.count * heatmap->y.count; i++) {
        const double value = report_flush(heatmap->cells[i].value);
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
    report_scale_fill(&heatmap->value, &extremes, arena, &grid->scale);
    /* The axis then begins exactly at the least value, which therefore has the first colour. */
    if (grid->is_cut && heatmap->least > 0 && grid->scale.ticks != NULL) {
        cut_scale(&grid->scale, report_at(&grid->scale, heatmap->least),
                  report_value_text(heatmap->value.unit, heatmap->least, arena));
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
static const char *heatmap_hint(const struct report_heatmap *heatmap, size_t index,
                                const struct report_tile *tile, struct report_arena *arena,
                                const struct report_grid *grid)
{
    const char *column = grid->columns[index % heatmap->x.count], *row = grid->rows[index / heatmap->x.count];
    const char *place = report_text(arena, "%s: %s; %s: %s", grid->x_title, column, grid->y_title, row);
    if (!tile->is_tried) {
        return report_text(arena, "%s; not tried", place);
    }
    const char *value = report_value_full(heatmap->value.unit, heatmap->cells[index].value, arena);
    return report_text(arena, "%s; %s: %s; %s%s", place, report_clean(arena, heatmap->value.title), value,
                       tile->is_chosen ? "recommended, " : "",
                       tile->holds                ? inside_of(heatmap)
                       : heatmap->outside != NULL ? heatmap->outside
                                                  : "does not hold");
}

static void fill_tiles(const struct report_heatmap *heatmap, struct report_arena *arena,
                       struct report_grid *grid)
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
            tile->hint = heatmap_hint(heatmap, i, tile, arena, grid);
            continue;
        }
        const double value = report_flush(cell->value);
        const double at = report_at(&grid->scale, coloured(heatmap, value));
        tile->shade = at <= scale->low ? 0 : (at - scale->low) / (scale->high - scale->low);
        tile->holds = cell->holds;
        tile->is_chosen = heatmap->recommended != NULL && i % columns == heatmap->recommended_x &&
                          i / columns == heatmap->recommended_y;
        /* A value that is not 0 is not written as 0. */
        const bool is_tiny = value == 0 && cell->value > 0;
        tile->text = report_value_text(heatmap->value.unit, is_tiny ? REPORT_VALUE_LEAST : value, arena);
        if (is_tiny) {
            tile->text = report_text(arena, "<%s", tile->text);
        }
        tile->hint = heatmap_hint(heatmap, i, tile, arena, grid);
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
                           tried, report_value_text(heatmap->value.unit, heatmap->least, arena), title);
    }
    return tried == 1 ? report_text(arena, "There is only one value, %s: %s.", value, title)
                      : report_text(arena, "All %zu values are equal, %s: %s.", tried, value, title);
}

/* Adds legend entries for the kinds of tiles that the chart has. */
static void add_tiles_key(const struct report_heatmap *heatmap, struct report_arena *arena,
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
    check_heatmap(heatmap);
    struct report_grid *grid = &chart->grid;
    chart->form = REPORT_FORM_HEATMAP;
    set_heading(heatmap->title, heatmap->subtitle, heatmap->foot, arena, chart);
    grid->x_title = report_clean(arena, heatmap->x.title);
    grid->y_title = report_clean(arena, heatmap->y.title);
    grid->columns = clean_all(&heatmap->x, arena);
    grid->rows = clean_all(&heatmap->y, arena);
    if (grid->columns == NULL || grid->rows == NULL) {
        return;
    }
    fill_scale(heatmap, arena, grid);
    fill_tiles(heatmap, arena, grid);
    if (grid->is_even) {
        chart->note = even_note(heatmap, arena, grid);
    }
    add_tiles_key(heatmap, arena, chart);
}

static void check_regions(const struct report_regions *regions)
{
    const size_t columns = regions->column_count, rows = regions->row_count;
    assert(columns >= 2 && columns <= REPORT_REGIONS_SIDE_MAX && rows >= 2 &&
           rows <= REPORT_REGIONS_SIDE_MAX);
    assert(regions->name_count >= 1 && regions->name_count <= REPORT_REGIONS_MAX);
    for (size_t i = 0; i < columns * rows; i++) {
        assert(regions->owners[i] < regions->name_count);
    }
}

/* The axis ends at the outer edges of the outermost cells. */
static double fill_regions_axis(const struct report_curves_axis *axis, const double *values, size_t count,
                                struct report_arena *arena, struct report_axis *out)
{
    struct report_extremes extremes = report_no_extremes;
    report_extremes_meet(&extremes, values[0]);
    report_extremes_meet(&extremes, values[count - 1]);
    extremes.is_tight = true;
    report_scale_fill(axis, &extremes, arena, out);
    const double low = report_log10(values[0]), high = report_log10(values[count - 1]);
    const double half = (high - low) / (double)(count - 1) / 2;
    out->low = low - half;
    out->high = high + half;
    return half;
}

static const char *regions_hint(const struct report_regions *regions, size_t row, size_t first, size_t last,
                                const char *name, struct report_arena *arena)
{
    return report_text(arena, "%s: %s to %s; %s: %s; %s", report_clean(arena, regions->x.title),
                       report_value_text(regions->x.unit, regions->columns[first], arena),
                       report_value_text(regions->x.unit, regions->columns[last], arena),
                       report_clean(arena, regions->y.title),
                       report_value_text(regions->y.unit, regions->rows[row], arena), name);
}

/* Neighbouring cells of a row that have the same owner become one area. */
static void fill_areas(const struct report_regions *regions, double half_x, double half_y,
                       struct report_arena *arena, struct report_chart *chart)
{
    const size_t columns = regions->column_count;
    chart->areas = report_take(arena, columns * regions->row_count, sizeof *chart->areas);
    for (size_t row = 0; chart->areas != NULL && row < regions->row_count; row++) {
        const double y = report_log10(regions->rows[row]);
        for (size_t first = 0; first < columns;) {
            const unsigned owner = regions->owners[row * columns + first];
            size_t last = first;
            while (last + 1 < columns && regions->owners[row * columns + last + 1] == owner) {
                last++;
            }
            chart->areas[chart->area_count++] = (struct report_area){
                .from_x = report_log10(regions->columns[first]) - half_x,
                .to_x = report_log10(regions->columns[last]) + half_x,
                .from_y = y - half_y,
                .to_y = y + half_y,
                .owner = owner,
                .hint = regions_hint(regions, row, first, last, chart->area_names[owner], arena)};
            first = last + 1;
        }
    }
}

void report_regions_fill(const struct report_regions *regions, struct report_arena *arena,
                         struct report_chart *chart)
{
    check_regions(regions);
    chart->form = REPORT_FORM_REGIONS;
    set_heading(regions->title, regions->subtitle, regions->foot, arena, chart);
    chart->area_names = report_take(arena, regions->name_count, sizeof *chart->area_names);
    if (chart->area_names == NULL) {
        return;
    }
    chart->area_name_count = regions->name_count;
    for (size_t i = 0; i < regions->name_count; i++) {
        chart->area_names[i] = report_clean(arena, regions->names[i]);
    }
    const double half_x =
        fill_regions_axis(&regions->x, regions->columns, regions->column_count, arena, &chart->x);
    const double half_y = fill_regions_axis(&regions->y, regions->rows, regions->row_count, arena, &chart->y);
    fill_areas(regions, half_x, half_y, arena, chart);
    chart->now = (struct report_point){report_log10(regions->now_x), report_log10(regions->now_y)};
    report_legend_add(chart, REPORT_INK_CHOSEN, report_clean(arena, regions->now));
}
