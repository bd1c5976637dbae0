/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of curves that a caller passes as plain data. */
#include "reports/model.h"

#include <assert.h>
#include <math.h>

#include "axis.h"

static void check(const struct report_curves *curves)
{
    assert(curves->curve_count >= 1 && curves->curve_count <= REPORT_CURVES_MAX);
    assert(curves->rule_count <= REPORT_RULES_MAX);
    for (size_t i = 0; i < curves->curve_count; i++) {
        assert(curves->curves[i].count >= 1);
        for (size_t k = 0; k < curves->curves[i].count; k++) {
            const struct report_curves_point *point = &curves->curves[i].points[k];
            assert(report_curves_is_fit(&curves->x, point->x) &&
                   report_curves_is_fit(&curves->y, point->low) &&
                   report_curves_is_fit(&curves->y, point->high));
            assert(point->low <= point->y && point->y <= point->high);
        }
    }
    for (size_t i = 0; i < curves->rule_count; i++) {
        assert(report_curves_is_fit(&curves->x, curves->rules[i].at));
    }
}

/* "three-state; skew: 0.02 s; violations: 12.5 (10 to 15)". */
static const char *hint_of(const struct report_curves *curves, const char *label,
                           const struct report_curves_point *point, struct report_arena *arena)
{
    return report_text(
        arena, "%s%s%s: %s; %s: %s", label, label[0] != 0 ? "; " : "", report_clean(arena, curves->x.title),
        report_curves_full(curves->x.unit, point->x, arena), report_clean(arena, curves->y.title),
        report_curves_range(curves->y.unit, point->y, point->low, point->high, arena));
}

/* An insertion sort: the points are usually in order already, and points of equal x keep their order. */
static void fill_line(const struct report_curves *curves, size_t index, const struct report_mapping *x,
                      const struct report_mapping *y, struct report_arena *arena, struct report_line *line)
{
    const struct report_curve *curve = &curves->curves[index];
    line->label = report_clean(arena, curve->label);
    line->samples = report_take(arena, curve->count, sizeof *line->samples);
    if (line->samples == NULL) {
        return;
    }
    for (size_t i = 0; i < curve->count; i++) {
        const struct report_curves_point *point = &curve->points[i];
        const struct report_sample sample = {
            .x = report_curves_map(x, report_curves_flush(point->x)),
            .y = report_curves_map(y, report_curves_flush(point->y)),
            .low = report_curves_map(y, report_curves_flush(point->low)),
            .high = report_curves_map(y, report_curves_flush(point->high)),
            .hint = hint_of(curves, line->label, point, arena),
        };
        size_t place = line->sample_count++;
        for (; place > 0 && line->samples[place - 1].x > sample.x; place--) {
            line->samples[place] = line->samples[place - 1];
        }
        line->samples[place] = sample;
    }
}

static void fill_rules(const struct report_curves *curves, const struct report_mapping *x,
                       struct report_arena *arena, struct report_chart *chart)
{
    chart->rules = report_take(arena, curves->rule_count, sizeof *chart->rules);
    for (size_t i = 0; chart->rules != NULL && i < curves->rule_count; i++) {
        const struct report_moment rule = {.at =
                                               report_curves_map(x, report_curves_flush(curves->rules[i].at)),
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
    check(curves);
    chart->form = REPORT_FORM_CURVES;
    chart->title = report_clean(arena, curves->title);
    chart->subtitle = report_clean(arena, curves->subtitle);
    chart->foot = report_clean(arena, curves->foot);
    struct report_extremes x_extremes = report_no_extremes;
    struct report_extremes y_extremes = report_no_extremes;
    for (size_t i = 0; i < curves->curve_count; i++) {
        for (size_t k = 0; k < curves->curves[i].count; k++) {
            const struct report_curves_point *point = &curves->curves[i].points[k];
            report_extremes_meet(&x_extremes, point->x);
            report_extremes_meet(&y_extremes, point->low);
            report_extremes_meet(&y_extremes, point->y);
            report_extremes_meet(&y_extremes, point->high);
        }
    }
    for (size_t i = 0; i < curves->rule_count; i++) {
        report_extremes_meet(&x_extremes, curves->rules[i].at);
    }
    x_extremes.is_tight = true;
    const struct report_mapping x = report_curves_axis_fill(&curves->x, &x_extremes, arena, &chart->x);
    const struct report_mapping y = report_curves_axis_fill(&curves->y, &y_extremes, arena, &chart->y);
    chart->lines = report_take(arena, curves->curve_count, sizeof *chart->lines);
    if (chart->lines == NULL) {
        return;
    }
    for (size_t i = 0; i < curves->curve_count; i++) {
        chart->lines[i].ink = (enum report_ink)(REPORT_INK_LINE + (int)i);
        fill_line(curves, i, &x, &y, arena, &chart->lines[i]);
    }
    chart->line_count = curves->curve_count;
    fill_rules(curves, &x, arena, chart);
}
