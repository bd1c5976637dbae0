/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of a Pareto front that a caller passes as plain data. */
#include "reports/model.h"

#include <assert.h>

#include "axis.h"

static void check(const struct report_front *front)
{
    assert(front->count >= 1 && front->count <= REPORT_FRONT_MAX);
    assert(!front->has_recommended || front->recommended < front->count);
    for (size_t i = 0; i < front->count; i++) {
        const struct report_front_point *point = &front->points[i];
        assert(report_curves_is_fit(&front->x, point->x) && report_curves_is_fit(&front->y, point->low) &&
               report_curves_is_fit(&front->y, point->high));
        assert(point->low <= point->y && point->y <= point->high);
    }
}

/* "9 bits, threshold 40; operations: 1.95; CV: 0.158 (0.15 to 0.16); recommended, on the front". */
static const char *hint_of(const struct report_front *front, size_t index, const char *label,
                           struct report_arena *arena)
{
    const struct report_front_point *point = &front->points[index];
    const bool is_chosen = front->has_recommended && index == front->recommended;
    return report_text(arena, "%s%s%s: %s; %s: %s; %s%son the front", label, label[0] != 0 ? "; " : "",
                       report_clean(arena, front->x.title),
                       report_curves_full(front->x.unit, point->x, arena),
                       report_clean(arena, front->y.title),
                       report_curves_range(front->y.unit, point->y, point->low, point->high, arena),
                       is_chosen ? "recommended, " : "", point->is_on_front ? "" : "not ");
}

/* Adds legend entries for the kinds of spots that the chart has. */
static void add_key(const struct report_front *front, struct report_arena *arena, struct report_chart *chart)
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

void report_front_fill(const struct report_front *front, struct report_arena *arena,
                       struct report_chart *chart)
{
    check(front);
    chart->form = REPORT_FORM_FRONT;
    chart->title = report_clean(arena, front->title);
    chart->subtitle = report_clean(arena, front->subtitle);
    chart->foot = report_clean(arena, front->foot);
    struct report_extremes x_extremes = report_no_extremes;
    struct report_extremes y_extremes = report_no_extremes;
    for (size_t i = 0; i < front->count; i++) {
        const struct report_front_point *point = &front->points[i];
        report_extremes_meet(&x_extremes, point->x);
        report_extremes_meet(&y_extremes, point->low);
        report_extremes_meet(&y_extremes, point->y);
        report_extremes_meet(&y_extremes, point->high);
    }
    const struct report_mapping x = report_curves_axis_fill(&front->x, &x_extremes, arena, &chart->x);
    const struct report_mapping y = report_curves_axis_fill(&front->y, &y_extremes, arena, &chart->y);
    chart->spots = report_take(arena, front->count, sizeof *chart->spots);
    if (chart->spots == NULL) {
        return;
    }
    for (size_t i = 0; i < front->count; i++) {
        const struct report_front_point *point = &front->points[i];
        chart->spots[i] = (struct report_spot){
            .label = report_clean(arena, point->label),
            .x = report_curves_map(&x, report_curves_flush(point->x)),
            .y = report_curves_map(&y, report_curves_flush(point->y)),
            .low = report_curves_map(&y, report_curves_flush(point->low)),
            .high = report_curves_map(&y, report_curves_flush(point->high)),
            .is_on_front = point->is_on_front,
            .is_best = point->is_best,
            .is_chosen = front->has_recommended && i == front->recommended,
        };
        chart->spots[i].hint = hint_of(front, i, chart->spots[i].label, arena);
    }
    chart->spot_count = front->count;
    add_key(front, arena, chart);
}
