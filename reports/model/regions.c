/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of regions that a caller passes as plain data. */
#include <assert.h>
#include <math.h>

#include "axis.h"
#include "reports/model.h"

static void check(const struct report_regions *regions)
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
static double fill_axis(const struct report_curves_axis *axis, const double *values, size_t count,
                        struct report_arena *arena, struct report_axis *out)
{
    struct report_extremes extremes = report_no_extremes;
    report_extremes_meet(&extremes, values[0]);
    report_extremes_meet(&extremes, values[count - 1]);
    extremes.is_tight = true;
    report_curves_axis_fill(axis, &extremes, arena, out);
    const double low = report_log10(values[0]), high = report_log10(values[count - 1]);
    const double half = (high - low) / (double)(count - 1) / 2;
    out->low = low - half;
    out->high = high + half;
    return half;
}

static const char *hint_of(const struct report_regions *regions, size_t row, size_t first, size_t last,
                           const char *name, struct report_arena *arena)
{
    return report_text(arena, "%s: %s to %s; %s: %s; %s", report_clean(arena, regions->x.title),
                       report_curves_text(regions->x.unit, regions->columns[first], arena),
                       report_curves_text(regions->x.unit, regions->columns[last], arena),
                       report_clean(arena, regions->y.title),
                       report_curves_text(regions->y.unit, regions->rows[row], arena), name);
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
                .hint = hint_of(regions, row, first, last, chart->area_names[owner], arena)};
            first = last + 1;
        }
    }
}

void report_regions_fill(const struct report_regions *regions, struct report_arena *arena,
                         struct report_chart *chart)
{
    check(regions);
    chart->form = REPORT_FORM_REGIONS;
    chart->title = report_clean(arena, regions->title);
    chart->subtitle = report_clean(arena, regions->subtitle);
    chart->foot = report_clean(arena, regions->foot);
    chart->area_names = report_take(arena, regions->name_count, sizeof *chart->area_names);
    if (chart->area_names == NULL) {
        return;
    }
    chart->area_name_count = regions->name_count;
    for (size_t i = 0; i < regions->name_count; i++) {
        chart->area_names[i] = report_clean(arena, regions->names[i]);
    }
    const double half_x = fill_axis(&regions->x, regions->columns, regions->column_count, arena, &chart->x);
    const double half_y = fill_axis(&regions->y, regions->rows, regions->row_count, arena, &chart->y);
    fill_areas(regions, half_x, half_y, arena, chart);
    chart->now = (struct report_point){report_log10(regions->now_x), report_log10(regions->now_y)};
    report_legend_add(chart, REPORT_INK_CHOSEN, report_clean(arena, regions->now));
}
