/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of plain data: curves, and a Pareto front. In: values of the caller,
 * which must be within their bounds, and texts of users. Out: charts whose positions are on the axes, with a
 * hint for each mark. */
#include "reports/model.h"

#include <assert.h>

#include "parts.h"

static void set_heading(const char *title, const char *subtitle, const char *foot, struct report_arena *arena,
                        struct report_chart *chart)
{
    chart->title = report_clean(arena, title);
    chart->subtitle = report_clean(arena, subtitle);
    chart->foot = report_clean(arena, foot);
}

static bool is_fit(const struct report_curves_axis *axis, double value)
{
    return value >= (axis->scale == REPORT_LOG ? 0 : -REPORT_VALUE_MAX) && value <= REPORT_VALUE_MAX;
}

/* A value with its unit and all of its digits: "0.2134%", "20 480", "0.0315 s"; and with its confidence
 * interval if it has one: "20.5 (19.75 to 21.25)". */
static const char *value_text(enum report_curves_unit unit, double value, struct report_arena *arena)
{
    const bool is_share = unit == REPORT_UNIT_SHARE;
    return report_text(arena, "%s%s", report_full(arena, is_share ? 100 * value : value),
                       is_share                      ? "%"
                       : unit == REPORT_UNIT_SECONDS ? " s"
                                                     : "");
}

static const char *range_text(enum report_curves_unit unit, double value, double low, double high,
                              struct report_arena *arena)
{
    const char *text = value_text(unit, value, arena);
    if (!(low < high))
        return text;
    return report_text(arena, "%s (%s to %s)", text, value_text(unit, low, arena),
                       value_text(unit, high, arena));
}

/* The axes of a plane while they meet its points. */
struct plane {
    const struct report_curves_axis *x, *y;
    struct report_extremes xs, ys;
};

static void meet(struct plane *plane, double x, double low, double y, double high)
{
    assert(is_fit(plane->x, x) && is_fit(plane->y, low) && is_fit(plane->y, high));
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
                       report_clean(arena, plane->x->title), value_text(plane->x->unit, x, arena),
                       report_clean(arena, plane->y->title), range_text(plane->y->unit, y, low, high, arena));
}

/* An insertion sort: the points are usually in order already, and points of equal x keep their order. */
static void fill_line(const struct plane *plane, const struct report_curve *curve, struct report_arena *arena,
                      const struct report_chart *chart, struct report_line *line)
{
    line->label = report_clean(arena, curve->label);
    line->samples = report_take(arena, curve->count, sizeof *line->samples);
    for (size_t i = 0; i < curve->count; i++) {
        const struct report_curves_point *point = &curve->points[i];
        const struct report_sample sample = {
            .x = report_at(&chart->x, point->x),
            .y = report_at(&chart->y, point->y),
            .low = report_at(&chart->y, point->low),
            .high = report_at(&chart->y, point->high),
            .hint = point_hint(plane, line->label, point->x, point->low, point->y, point->high, arena),
        };
        size_t place = line->sample_count++;
        for (; place > 0 && line->samples[place - 1].x > sample.x; place--)
            line->samples[place] = line->samples[place - 1];
        line->samples[place] = sample;
    }
}

static void fill_rules(const struct report_curves *curves, struct report_arena *arena,
                       struct report_chart *chart)
{
    chart->rules = report_take(arena, curves->rule_count, sizeof *chart->rules);
    for (size_t i = 0; i < curves->rule_count; i++) {
        const struct report_moment rule = {.at = report_at(&chart->x, curves->rules[i].at),
                                           .text = report_clean(arena, curves->rules[i].label)};
        size_t place = chart->rule_count++;
        for (; place > 0 && chart->rules[place - 1].at > rule.at; place--)
            chart->rules[place] = chart->rules[place - 1];
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
        assert(is_fit(&curves->x, curves->rules[i].at));
        report_extremes_meet(&plane.xs, curves->rules[i].at);
    }
    plane.xs.is_tight = true;
    fill_axes(&plane, arena, chart);
    chart->lines = report_take(arena, curves->curve_count, sizeof *chart->lines);
    for (size_t i = 0; i < curves->curve_count; i++) {
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
    if (has_front)
        report_legend_add(chart, REPORT_INK_LINE, "on the front");
    if (has_others)
        report_legend_add(chart, REPORT_INK_PALE, "not on the front");
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
