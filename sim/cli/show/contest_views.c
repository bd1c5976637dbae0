/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the data of the charts from the JSON of an answer of tune. */
#include "contest_views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COST "cost_per_1000_rows"
#define P99  "partitions.all.bytes.p99"

enum { NAME_SIZE = 24 };

struct axis {
    json_int_t values[REPORT_HEATMAP_MAX]; /* ascending */
    size_t count;
    char names[REPORT_HEATMAP_MAX][NAME_SIZE];
    const char *labels[REPORT_HEATMAP_MAX];
};
struct cli_contest_grid {
    struct axis bits, thresholds;
    struct report_heatmap_cell cells[REPORT_HEATMAP_MAX * REPORT_HEATMAP_MAX];
};

static const char *text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "";
}

static bool holds(const json_t *candidate)
{
    const char *status = text(candidate, "status");
    return (strcmp(status, "recommended") == 0 || strcmp(status, "within") == 0) &&
           !json_is_true(json_object_get(candidate, "grows"));
}

/* A number of a candidate; NaN when there is none that a chart can show. */
static double figure(const json_t *candidate, const char *name, const char *part)
{
    const json_t *metric = json_object_get(json_object_get(candidate, "metrics"), name);
    const json_t *number = json_object_get(metric, part);
    double value = json_is_number(number) ? json_number_value(number) : (double)NAN;
    return value >= 0 && value <= REPORT_VALUE_MAX ? value : (double)NAN;
}

/* Whether it is the cheapest setting of its kind within the limits; the first of several. */
static bool is_best_of_kind(const json_t *list, size_t own)
{
    const json_t *mine = json_array_get(list, own), *other;
    double cost = figure(mine, COST, "mean");
    size_t index;
    json_array_foreach(list, index, other)
    {
        double its = figure(other, COST, "mean");
        if (holds(other) && strcmp(text(other, "kind"), text(mine, "kind")) == 0 &&
            (its < cost || (its == cost && index < own)))
            return false;
    }
    return true;
}

/* A point is on the front if no other one is as low in both figures. */
static void mark_front(struct report_front_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        points[i].is_on_front = true;
        for (size_t j = 0; j < count; j++) {
            if (points[j].x <= points[i].x && points[j].y <= points[i].y &&
                (points[j].x < points[i].x || points[j].y < points[i].y))
                points[i].is_on_front = false;
        }
    }
}

/* The recommended setting comes first, so that its name is placed first. */
static size_t take_points(const json_t *answer, struct report_front *front, struct report_front_point *points)
{
    const json_t *list = json_object_get(answer, "candidates");
    size_t count = 0, index;
    for (int turn = 0; turn < 2; turn++) {
        const json_t *candidate;
        json_array_foreach(list, index, candidate)
        {
            bool is_best = strcmp(text(candidate, "status"), "recommended") == 0;
            double cost = figure(candidate, COST, "mean"), p99 = figure(candidate, P99, "mean");
            double low = figure(candidate, P99, "low"), high = figure(candidate, P99, "high");
            if (is_best != (turn == 0) || !holds(candidate) || isnan(cost) || isnan(p99) ||
                count == REPORT_FRONT_MAX)
                continue;
            low = isnan(low) || low < 0 ? p99 : fmin(low, p99);
            high = isnan(high) ? p99 : fmax(high, p99);
            front->has_recommended |= is_best;
            points[count++] = (struct report_front_point){
                .label = text(candidate, "label"),
                .x = cost,
                .y = p99,
                .low = low,
                .high = high,
                .is_best = is_best_of_kind(list, index),
            };
        }
    }
    mark_front(points, count);
    return count;
}

static bool make_front(const json_t *answer, struct cli_contest_views *out, struct sim_error *error)
{
    out->points = calloc(REPORT_FRONT_MAX, sizeof *out->points);
    if (out->points == NULL)
        return sim_fail_memory(error);
    snprintf(out->front_title, sizeof out->front_title, "%s: the settings that stay within the limits",
             text(answer, "scenario"));
    out->front = (struct report_front){
        .title = out->front_title,
        .subtitle = "what they cost, and how large their partitions are",
        .foot = "means over seeds with intervals; less is better in both",
        .x = {"cost in inserts per 1000 rows", REPORT_UNIT_PLAIN, REPORT_LOG},
        .y = {"bytes of partitions, p99", REPORT_UNIT_BYTES, REPORT_LOG},
        .points = out->points,
    };
    out->front.count = take_points(answer, &out->front, out->points);
    out->has_front = out->front.count > 0;
    return true;
}

/* Whether a candidate has the model's template, and was run. */
static bool is_of_grid(const json_t *candidate, const json_t *model)
{
    const json_t *bits = json_object_get(json_object_get(candidate, "settings"), "bits");
    return json_is_integer(bits) && !isnan(figure(candidate, COST, "mean")) &&
           strcmp(text(candidate, "kind"), "probabilistic") == 0 &&
           strcmp(text(candidate, "template"), text(model, "template")) == 0;
}

/* The settings of one template are the grid: that of the recommended setting, or else of the first one. */
static const json_t *model_of(const json_t *answer)
{
    const json_t *list = json_object_get(answer, "candidates"), *model = NULL, *candidate;
    const json_t *best = json_object_get(answer, "recommended");
    size_t index;
    if (is_of_grid(best, best))
        return best;
    json_array_foreach(list, index, candidate)
    {
        if (model == NULL && is_of_grid(candidate, candidate))
            model = candidate;
    }
    return model;
}

/* Inserts a value in order, unless it is there already; values for which there is no room are left out. */
static void add_value(struct axis *axis, json_int_t value)
{
    size_t place = axis->count;
    while (place > 0 && axis->values[place - 1] >= value)
        place--;
    if ((place < axis->count && axis->values[place] == value) || axis->count == REPORT_HEATMAP_MAX)
        return;
    memmove(&axis->values[place + 1], &axis->values[place], (axis->count - place) * sizeof axis->values[0]);
    axis->values[place] = value;
    axis->count++;
}

static size_t place_of(const struct axis *axis, json_int_t value)
{
    for (size_t i = 0; i < axis->count; i++) {
        if (axis->values[i] == value)
            return i;
    }
    return SIZE_MAX;
}

static void name_values(struct axis *axis)
{
    for (size_t i = 0; i < axis->count; i++) {
        snprintf(axis->names[i], NAME_SIZE, "%" JSON_INTEGER_FORMAT, axis->values[i]);
        axis->labels[i] = axis->names[i];
    }
}

static bool make_heatmap(const json_t *answer, struct cli_contest_views *out, struct sim_error *error)
{
    const json_t *model = model_of(answer), *list = json_object_get(answer, "candidates"), *candidate;
    size_t index;
    if (model == NULL)
        return true;
    struct cli_contest_grid *grid = out->grid = calloc(1, sizeof *grid);
    if (grid == NULL)
        return sim_fail_memory(error);
    json_array_foreach(list, index, candidate)
    {
        const json_t *settings = json_object_get(candidate, "settings");
        if (!is_of_grid(candidate, model))
            continue;
        add_value(&grid->bits, json_integer_value(json_object_get(settings, "bits")));
        add_value(&grid->thresholds, json_integer_value(json_object_get(settings, "threshold")));
    }
    for (size_t i = 0; i < grid->bits.count * grid->thresholds.count; i++)
        grid->cells[i].value = (double)NAN;
    snprintf(out->heatmap_title, sizeof out->heatmap_title, "%s: bits and threshold",
             text(answer, "scenario"));
    struct report_heatmap *heatmap = &out->heatmap;
    *heatmap = (struct report_heatmap){
        .title = out->heatmap_title,
        .subtitle = "what the settings of probabilistic cost; within the line they stay within the limits",
        .foot = "means over seeds; empty: not tried",
        .value = {"cost in inserts per 1000 rows", REPORT_UNIT_PLAIN, REPORT_LOG},
        .cells = grid->cells};
    json_array_foreach(list, index, candidate)
    {
        const json_t *settings = json_object_get(candidate, "settings");
        if (!is_of_grid(candidate, model))
            continue;
        size_t x = place_of(&grid->bits, json_integer_value(json_object_get(settings, "bits")));
        size_t y = place_of(&grid->thresholds, json_integer_value(json_object_get(settings, "threshold")));
        if (x == SIZE_MAX || y == SIZE_MAX)
            continue;
        grid->cells[y * grid->bits.count + x] =
            (struct report_heatmap_cell){figure(candidate, COST, "mean"), holds(candidate)};
        if (strcmp(text(candidate, "status"), "recommended") == 0) {
            heatmap->recommended = text(candidate, "label");
            heatmap->recommended_x = x;
            heatmap->recommended_y = y;
        }
    }
    name_values(&grid->bits);
    name_values(&grid->thresholds);
    heatmap->x = (struct report_heatmap_axis){"bits", grid->bits.labels, grid->bits.count};
    heatmap->y = (struct report_heatmap_axis){"threshold", grid->thresholds.labels, grid->thresholds.count};
    out->has_heatmap = true;
    return true;
}

bool cli_contest_views_make(const json_t *answer, struct cli_contest_views *out, struct sim_error *error)
{
    *out = (struct cli_contest_views){.has_front = false};
    return make_front(answer, out, error) && make_heatmap(answer, out, error) &&
           cli_contest_regions_make(answer, &out->regions, error);
}

void cli_contest_views_free(struct cli_contest_views *views)
{
    free(views->points);
    free(views->grid);
    cli_contest_regions_free(&views->regions);
    *views = (struct cli_contest_views){.has_front = false};
}
