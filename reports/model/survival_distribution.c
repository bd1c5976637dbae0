/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of partition sizes as a survival curve. */
#include <math.h>
#include <stdlib.h>

#include "kernel/number.h"
#include "sizes.h"
#include "survival.h"
#include "thin.h"

/* With up to STEPS_MAX sizes between the ends of the axis, each size has its own step. With more sizes, the
 * steps would be too narrow to be visible. */
enum { STEPS_MAX = 1500, GRID = 2 * STEPS_MAX };
static const double rows_max = 1e18;
static const double weight_tolerance = 0.02;
/* Half a pixel of a chart, in logical pixels. */
static const double tolerance = 0.5 / REPORT_PIXEL_SCALE;
static const double log_of_ten = 2.302585092994045684;

/* Returns the number of rows of a bin's partitions; 0 if they differ. */
static uint64_t rows_of(const struct lab_bin *bin)
{
    return bin->weight % bin->count == 0 ? bin->weight / bin->count : 0;
}

/* Returns whether all rows have the same size: whether the bytes of partitions are a constant plus a multiple
 * of their rows, except for the bytes of timestamps, which grow during a run. Stores the constant and the
 * bytes per row. */
static bool is_of_one_size(struct report_arena *arena, const struct lab_histogram *bytes, uint64_t *base,
                           uint64_t *each)
{
    if (bytes->weight == 0 || bytes->is_rounded || bytes->sum == 0) {
        return false;
    }
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(bytes, &count);
    if (bins == NULL) {
        arena->out_of_memory = true;
        return false;
    }
    const uint64_t least = rows_of(&bins[0]), most = rows_of(&bins[count - 1]);
    bool is_so = least > 0 && most > 0 && (most > least || count == 1);
    double slope = 0, offset = 0;
    if (is_so) {
        slope = count == 1 ? (double)bins[0].size / (double)least
                           : (double)(bins[count - 1].size - bins[0].size) / (double)(most - least);
        slope = floor(slope + 0.5);
        offset = fmax(0, (double)bins[0].size - slope * (double)least);
        is_so = slope >= 1;
    }
    for (size_t i = 0; is_so && i < count; i++) {
        const double rows = (double)bins[i].weight / (double)bins[i].count;
        const double apart = fabs(offset + slope * rows - (double)bins[i].size);
        is_so = rows_of(&bins[i]) > 0 && apart <= weight_tolerance * (double)bins[i].size;
    }
    free(bins);
    *base = (uint64_t)offset;
    *each = (uint64_t)slope;
    return is_so;
}

/* Stores in *out the payload of a row in bytes, which is the weight that weighted strategies use. Returns
 * false if rows differ in it. */
static bool payload_of(const struct lab_strategy_result *strategy, uint64_t each, uint64_t *out)
{
    const struct lab_metric *payload = lab_metrics_find(&strategy->metrics, "writes.payload_bytes");
    const struct lab_metric *rows = lab_metrics_find(&strategy->metrics, "writes.rows");
    *out = each;
    if (payload == NULL || rows == NULL || rows->value < 1) {
        return true;
    }
    *out = (uint64_t)(payload->value / rows->value);
    return *out > 0 && (double)*out * rows->value == payload->value;
}

bool report_survival_distribution_of(struct report_arena *arena, const struct lab_strategy_result *strategy,
                                     bool is_bytes, struct report_survival_distribution *out)
{
    const struct bk_strategy *settings = &strategy->settings.strategy;
    *out = (struct report_survival_distribution){.is_weighted = settings->kind == BK_WEIGHTED, .each = 1};
    if ((settings->kind != BK_PROBABILISTIC && settings->kind != BK_WEIGHTED) || settings->max_age_ns != 0 ||
        strategy->closed_rows.count < REPORT_CLOSED_MIN || strategy->settings.observed != WL_OBSERVED_AUTO) {
        return false;
    }
    uint64_t base = 0, each = 1, payload = 1;
    if ((out->is_weighted || is_bytes) && !is_of_one_size(arena, &strategy->closed_bytes, &base, &each)) {
        return false;
    }
    if (out->is_weighted && !payload_of(strategy, each, &payload)) {
        return false;
    }
    out->each = is_bytes ? each : 1;
    out->base = is_bytes ? base : 0;
    if (out->is_weighted) {
        out->weighted = (struct tune_weighted){.bytes = settings->of.weighted.bytes,
                                               .threshold = settings->of.weighted.threshold,
                                               .row_bytes = payload};
    } else {
        out->rows = report_sizes_distribution_of(settings);
    }
    return true;
}

bool report_survival_is_same_distribution(const struct report_survival_distribution *one,
                                          const struct report_survival_distribution *other)
{
    if (one->is_weighted != other->is_weighted || one->each != other->each || one->base != other->base) {
        return false;
    }
    if (one->is_weighted) {
        return one->weighted.bytes == other->weighted.bytes &&
               one->weighted.threshold == other->weighted.threshold &&
               one->weighted.row_bytes == other->weighted.row_bytes;
    }
    return one->rows.p == other->rows.p && one->rows.threshold == other->rows.threshold;
}

double report_survival_distribution_end(const struct report_survival_distribution *distribution, double share)
{
    const double each = (double)distribution->each;
    const double rows = distribution->is_weighted
                            ? (double)tune_weighted_quantile(&distribution->weighted, 1 - share) /
                                  (double)distribution->weighted.row_bytes
                            : (double)tune_quantile(&distribution->rows, 1 - share);
    return rows * each <= rows_max ? (double)distribution->base + rows * each : 0;
}

static double above(const struct report_survival_distribution *distribution, double rows)
{
    const uint64_t n = (uint64_t)rows;
    if (!distribution->is_weighted) {
        return tune_above(&distribution->rows, n);
    }
    return n > UINT64_MAX / distribution->weighted.row_bytes
               ? 0
               : tune_weighted_above(&distribution->weighted, n * distribution->weighted.row_bytes);
}

/* Adds both corners of the step at each number of rows, until no partition is larger. Returns the number of
 * points. */
static size_t fill_steps(const struct report_survival_distribution *distribution, double from, double to,
                         struct report_point *points)
{
    size_t count = 0;
    double last = report_log10(above(distribution, from - 1));
    for (double rows = from; rows <= to && last > -HUGE_VAL; rows++) {
        const double share = above(distribution, rows);
        const double x = report_log10(rows);
        const double y = share > 0 ? report_log10(share) : -HUGE_VAL;
        points[count++] = (struct report_point){x, last};
        points[count++] = (struct report_point){x, y};
        last = y;
    }
    return count;
}

static size_t fill_grid(const struct report_survival_distribution *distribution, double from, double to,
                        struct report_point *points)
{
    const double low = report_log10(from), high = report_log10(to);
    size_t count = 0;
    double last = 0;
    for (size_t i = 0; i <= GRID && last > -HUGE_VAL; i++) {
        const double x = low + (high - low) * (double)i / GRID;
        const double share = above(distribution, fmin(rows_max, floor(sim_exp(x * log_of_ten))));
        last = share > 0 ? report_log10(share) : -HUGE_VAL;
        points[count++] = (struct report_point){x, last};
    }
    return count;
}

void report_survival_distribution_line(struct report_arena *arena,
                                       const struct report_survival_distribution *distribution,
                                       double partitions, const struct report_chart *chart,
                                       struct report_line *line)
{
    const double least = -report_log10(partitions);
    const double base = (double)distribution->base, low = sim_exp(chart->x.low * log_of_ten);
    const double from = fmax(1, floor((low - base) / (double)distribution->each));
    const double to =
        fmin(rows_max, ceil((sim_exp(chart->x.high * log_of_ten) - base) / (double)distribution->each));
    struct report_point *points = report_take(arena, 2 * STEPS_MAX + 2, sizeof *points);
    if (points == NULL || to < from) {
        return;
    }
    size_t count = to - from < STEPS_MAX ? fill_steps(distribution, from, to, points)
                                         : fill_grid(distribution, from, to, points);
    while (count > 1 && points[count - 2].y < least) {
        count--;
    }
    points[count - 1].y = fmax(points[count - 1].y, least);
    const double each = report_log10((double)distribution->each);
    for (size_t i = 0; i < count; i++) {
        const double x =
            distribution->base == 0
                ? points[i].x + each
                : report_log10(base + (double)distribution->each * sim_exp(points[i].x * log_of_ten));
        points[i].x = fmin(chart->x.high, fmax(chart->x.low, x));
    }
    report_survival_trace(arena, chart, points, count, line);
}

/* The plot is at most as wide as a page, and REPORT_CURVES_HEIGHT high. The precision of the curve is
 * measured in its pixels. */
size_t *report_survival_trace(struct report_arena *arena, const struct report_chart *chart,
                              const struct report_point *points, size_t count, struct report_line *line)
{
    const double across = REPORT_PAGE_WIDTH / (chart->x.high - chart->x.low);
    const double down = REPORT_CURVES_HEIGHT / (chart->y.high - chart->y.low);
    struct report_point *pixels = report_take(arena, count, sizeof *pixels);
    bool *keep = report_take(arena, count, sizeof *keep);
    if (pixels == NULL || keep == NULL) {
        return NULL;
    }
    size_t shown = 0;
    for (bool is_above = true; is_above && shown < count; shown++) {
        is_above = points[shown].y >= chart->y.low;
        pixels[shown].x = (points[shown].x - chart->x.low) * across;
        pixels[shown].y = fmax(0, points[shown].y - chart->y.low) * down;
    }
    const size_t kept = report_thin(arena, pixels, shown, tolerance, keep);
    size_t *sources = report_take(arena, kept, sizeof *sources);
    line->samples = report_take(arena, kept, sizeof *line->samples);
    if (line->samples == NULL || sources == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < shown; i++) {
        if (keep[i]) {
            const double y = fmax(points[i].y, chart->y.low);
            sources[line->sample_count] = i;
            line->samples[line->sample_count++] =
                (struct report_sample){.x = points[i].x, .y = y, .low = y, .high = y};
        }
    }
    return sources;
}
