/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of an answer of `tune SCENARIO`. In: the answer's JSON. Out: plain data for charts, and their
 * files. */
#include "cli/contest_charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/output.h"
#include "reports/reports.h"

#define COST "cost_per_1000_rows"
#define P99  "partitions.all.bytes.p99"

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

bool cli_contest_front_make(const json_t *answer, struct cli_contest_front *out, struct sim_error *error)
{
    *out = (struct cli_contest_front){.points = calloc(REPORT_FRONT_MAX, sizeof *out->points)};
    if (out->points == NULL)
        return sim_fail_memory(error);
    snprintf(out->title, sizeof out->title, "%s: the settings that stay within the limits",
             text(answer, "scenario"));
    out->front = (struct report_front){
        .title = out->title,
        .subtitle = "what they cost, and how large their partitions are",
        .foot = "means over seeds with intervals; less is better in both",
        .x = {"cost in inserts per 1000 rows", REPORT_UNIT_PLAIN, REPORT_LOG},
        .y = {"bytes of partitions, p99", REPORT_UNIT_BYTES, REPORT_LOG},
        .points = out->points,
    };
    out->front.count = take_points(answer, &out->front, out->points);
    return true;
}

void cli_contest_front_free(struct cli_contest_front *front)
{
    free(front->points);
    front->points = NULL;
}

/* Draws the chart in a format, and appends its path FOLDER/SCENARIO-tune-front.EXT. */
static bool draw(const struct report_front *front, const char *scenario, enum report_format format,
                 struct cli_charts *charts, struct sim_error *error)
{
    struct report_files *files = &charts->files[format];
    char **paths = realloc(files->paths, (files->count + 1) * sizeof *paths);
    files->paths = paths != NULL ? paths : files->paths;
    char *path = report_output_path(charts->folder, scenario, true, "front", report_format_extension(format));
    if (paths == NULL || path == NULL) {
        free(path);
        return sim_fail_memory(error);
    }
    files->paths[files->count++] = path;
    return report_front_write(front, format, path, error);
}

bool cli_contest_draw(const json_t *answer, struct cli_charts *charts, struct sim_error *error)
{
    struct cli_contest_front made;
    bool is_fine = cli_contest_front_make(answer, &made, error);
    for (int format = 0; is_fine && made.front.count > 0 && format < REPORT_FORMAT_COUNT; format++) {
        if (charts->wanted[format])
            is_fine = draw(&made.front, text(answer, "scenario"), (enum report_format)format, charts, error);
    }
    cli_contest_front_free(&made);
    return is_fine;
}
