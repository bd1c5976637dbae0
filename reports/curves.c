/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include "reports/curves.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curves_axis.h"
#include "output.h"
#include "render.h"
#include "scene.h"

static const struct report_extremes no_extremes = {.least = HUGE_VAL, .most = -HUGE_VAL};

static void check(const struct report_curves *curves);
static bool is_fit(const struct report_curves_axis *axis, double value);
static double flush(double value);
static void meet(struct report_extremes *extremes, double value);
static void fill_line(const struct report_curve *curve, const struct report_mapping *x,
                      const struct report_mapping *y, struct report_arena *arena, struct report_line *line);
static void fill_rules(const struct report_curves *curves, const struct report_mapping *x,
                       struct report_arena *arena, struct report_chart *chart);
static bool write_file(const char *path, const struct report_bytes *content, struct sim_error *error);

bool report_curves_write(const struct report_curves *curves, enum report_format format, const char *path,
                         struct sim_error *error)
{
    struct report_typesetter *typesetter = report_typesetter_create(error);
    if (typesetter == NULL) {
        return false;
    }
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "curves"};
    report_curves_fill(curves, &arena, &chart);
    struct report_scene scene;
    struct report_bytes content = {0};
    bool ok = arena.out_of_memory ? sim_fail_memory(error) : true;
    ok = ok && report_layout(&chart, typesetter, &arena, &scene, error) &&
         report_render(&scene, typesetter, format, chart.title, chart.start_ns, &content, error) &&
         write_file(path, &content, error);
    report_bytes_free(&content);
    report_arena_free(&arena);
    report_typesetter_destroy(typesetter);
    return ok;
}

void report_curves_fill(const struct report_curves *curves, struct report_arena *arena,
                        struct report_chart *chart)
{
    check(curves);
    chart->form = REPORT_FORM_CURVES;
    chart->title = report_clean(arena, curves->title);
    chart->subtitle = report_clean(arena, curves->subtitle);
    chart->foot = report_clean(arena, curves->foot);
    struct report_extremes x_extremes = no_extremes;
    struct report_extremes y_extremes = no_extremes;
    for (size_t i = 0; i < curves->curve_count; i++) {
        for (size_t k = 0; k < curves->curves[i].count; k++) {
            const struct report_curves_point *point = &curves->curves[i].points[k];
            meet(&x_extremes, point->x);
            meet(&y_extremes, point->low);
            meet(&y_extremes, point->y);
            meet(&y_extremes, point->high);
        }
    }
    for (size_t i = 0; i < curves->rule_count; i++) {
        meet(&x_extremes, curves->rules[i].at);
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
        fill_line(&curves->curves[i], &x, &y, arena, &chart->lines[i]);
    }
    chart->line_count = curves->curve_count;
    fill_rules(curves, &x, arena, chart);
}

static void check(const struct report_curves *curves)
{
    assert(curves->curve_count >= 1 && curves->curve_count <= REPORT_CURVES_MAX);
    assert(curves->rule_count <= REPORT_RULES_MAX);
    for (size_t i = 0; i < curves->curve_count; i++) {
        assert(curves->curves[i].count >= 1);
        for (size_t k = 0; k < curves->curves[i].count; k++) {
            const struct report_curves_point *point = &curves->curves[i].points[k];
            assert(is_fit(&curves->x, point->x) && is_fit(&curves->y, point->low) &&
                   is_fit(&curves->y, point->high));
            assert(point->low <= point->y && point->y <= point->high);
        }
    }
    for (size_t i = 0; i < curves->rule_count; i++) {
        assert(is_fit(&curves->x, curves->rules[i].at));
    }
}

static bool is_fit(const struct report_curves_axis *axis, double value)
{
    return value >= (axis->scale == REPORT_LOG ? 0 : -REPORT_VALUE_MAX) && value <= REPORT_VALUE_MAX;
}

static double flush(double value)
{
    return fabs(value) < REPORT_VALUE_LEAST ? 0 : value;
}

static void meet(struct report_extremes *extremes, double value)
{
    value = flush(value);
    extremes->least = fmin(extremes->least, value);
    extremes->most = fmax(extremes->most, value);
    if (value > 0 && (extremes->positive == 0 || value < extremes->positive)) {
        extremes->positive = value;
    }
    extremes->has_zero |= value == 0;
}

/* Points are sorted as they come: mostly they are in order already, and equal ones keep theirs. */
static void fill_line(const struct report_curve *curve, const struct report_mapping *x,
                      const struct report_mapping *y, struct report_arena *arena, struct report_line *line)
{
    line->label = report_clean(arena, curve->label);
    line->samples = report_take(arena, curve->count, sizeof *line->samples);
    if (line->samples == NULL) {
        return;
    }
    for (size_t i = 0; i < curve->count; i++) {
        const struct report_curves_point *point = &curve->points[i];
        const struct report_sample sample = {
            .x = report_curves_map(x, flush(point->x)),
            .y = report_curves_map(y, flush(point->y)),
            .low = report_curves_map(y, flush(point->low)),
            .high = report_curves_map(y, flush(point->high)),
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
        const struct report_moment rule = {.at = report_curves_map(x, flush(curves->rules[i].at)),
                                           .text = report_clean(arena, curves->rules[i].label)};
        size_t place = chart->rule_count++;
        for (; place > 0 && chart->rules[place - 1].at > rule.at; place--) {
            chart->rules[place] = chart->rules[place - 1];
        }
        chart->rules[place] = rule;
    }
}

static bool write_file(const char *path, const struct report_bytes *content, struct sim_error *error)
{
    char *copy = strdup(path);
    if (copy == NULL) {
        return sim_fail_memory(error);
    }
    char *slash = strrchr(copy, '/');
    const char *folder = slash == NULL ? "." : slash == copy ? "/" : copy;
    if (slash != NULL && slash != copy) {
        *slash = 0;
    }
    char *paths[] = {strdup(path)};
    bool ok =
        paths[0] != NULL ? report_output(folder, paths, content, 1, NULL, error) : sim_fail_memory(error);
    free(paths[0]);
    free(copy);
    return ok;
}
