/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "latency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bins.h"
#include "format.h"

enum { PERCENTILE_COUNT = 17 };

/* A line under way. */
struct trace {
    struct report_line *line;
    double width, height;
    struct report_sample last; /* seen, and not yet taken */
    bool has_last;
};

static void add_bin(const struct report_latency *latency, const struct report_mapping *y, uint64_t size,
                    uint64_t below, uint64_t upto, struct report_arena *arena, struct trace *trace);
static double place_of(uint64_t count, uint64_t upto);
static void put(struct trace *trace, double x, double y, const char *hint);
static bool is_near(const struct trace *trace, const struct report_sample *a, const struct report_sample *b);
static const char *hint_of(const struct report_latency *latency, uint64_t of, double ns,
                           struct report_arena *arena);

bool report_percentile(unsigned index, uint64_t *of)
{
    /* 50, 75, 90, 95, 99, 99.5, 99.9 ... % */
    static const uint64_t places[PERCENTILE_COUNT] = {2,       4,       10,       20,       100,      200,
                                                      1000,    2000,    10000,    20000,    100000,   200000,
                                                      1000000, 2000000, 10000000, 20000000, 100000000};
    *of = index < PERCENTILE_COUNT ? places[index] : 0;
    return index < PERCENTILE_COUNT;
}

const char *report_percentile_text(struct report_arena *arena, uint64_t of)
{
    int decimals = -2;
    uint64_t first = of;
    for (; first >= 10; first /= 10) {
        decimals++;
    }
    decimals += first > 1;
    return report_text(arena, "%.*f%%", decimals > 0 ? decimals : 0, 100 - 100 / (double)of);
}

void report_latency_line(const struct report_latency *latency, const struct report_mapping *y, double width,
                         double height, struct report_arena *arena, struct report_line *line)
{
    const struct lab_histogram *histogram = &latency->strategy->latency[latency->latency];
    size_t bin_count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &bin_count);
    line->samples =
        bins == NULL ? NULL : report_take(arena, 2 * bin_count + PERCENTILE_COUNT + 1, sizeof *line->samples);
    if (line->samples == NULL) {
        arena->out_of_memory = true;
        free(bins);
        return;
    }
    struct trace trace = {.line = line, .width = width, .height = height};
    uint64_t below = 0;
    for (size_t i = 0; i < bin_count; i++) {
        /* A rounded one never tells more than the most there is. */
        const uint64_t size = bins[i].size < histogram->most ? bins[i].size : histogram->most;
        add_bin(latency, y, size, below, below + bins[i].count, arena, &trace);
        below += bins[i].count;
    }
    const char *slowest =
        histogram->count == 1
            ? report_text(arena, "%s: the one %s took %s", report_clean(arena, latency->strategy->label),
                          latency->noun, report_time(arena, (double)histogram->most))
            : report_text(arena, "%s: the slowest of %s %ss took %s",
                          report_clean(arena, latency->strategy->label),
                          report_grouped(arena, histogram->count), latency->noun,
                          report_time(arena, (double)histogram->most));
    put(&trace, place_of(histogram->count, histogram->count),
        report_curves_map(y, (double)histogram->most / 1e9), slowest);
    free(bins);
}

/* A step: so far to the right all take no longer. */
static void add_bin(const struct report_latency *latency, const struct report_mapping *y, uint64_t size,
                    uint64_t below, uint64_t upto, struct report_arena *arena, struct trace *trace)
{
    const uint64_t count = latency->strategy->latency[latency->latency].count;
    const double at = report_curves_map(y, (double)size / 1e9);
    put(trace, place_of(count, below), at, NULL);
    uint64_t of;
    for (unsigned i = 0; report_percentile(i, &of); i++) {
        /* The bin that holds it is the first with enough below its end. */
        const bool is_past = (lab_wide)(count - below) * of <= count;
        if (of <= count && !is_past && (lab_wide)(count - upto) * of <= count) {
            /* The metrics are of what was not yet rounded. */
            double ns = (double)size, ms;
            const char *name = of == 2 ? "p50" : of == 100 ? "p99" : of == 1000 ? "p999" : "";
            if (report_metric(latency->strategy,
                              report_text(arena, "%s.%s", lab_latency_name(latency->latency), name), &ms)) {
                ns = ms * 1e6;
            }
            put(trace, report_log10((double)of), at, hint_of(latency, of, ns, arena));
        }
    }
    put(trace, place_of(count, upto), at, NULL);
}

/* Of the last ones it is where one alone would be left. */
static double place_of(uint64_t count, uint64_t upto)
{
    return report_log10((double)count / (double)(upto < count ? count - upto : 1));
}

/* What is next to the last sample waits, and is taken when the line goes on somewhere else. */
static void put(struct trace *trace, double x, double y, const char *hint)
{
    struct report_line *line = trace->line;
    const struct report_sample sample = {.x = x, .y = y, .low = y, .high = y, .hint = hint};
    if (hint == NULL && line->sample_count > 0 &&
        is_near(trace, &line->samples[line->sample_count - 1], &sample)) {
        trace->last = sample;
        trace->has_last = true;
        return;
    }
    if (trace->has_last) {
        line->samples[line->sample_count++] = trace->last;
        trace->has_last = false;
    }
    line->samples[line->sample_count++] = sample;
}

static bool is_near(const struct trace *trace, const struct report_sample *a, const struct report_sample *b)
{
    return fabs(a->x - b->x) < trace->width && fabs(a->y - b->y) < trace->height;
}

static const char *hint_of(const struct report_latency *latency, uint64_t of, double ns,
                           struct report_arena *arena)
{
    return report_text(arena, "%s: %s of %s %ss took at most %s",
                       report_clean(arena, latency->strategy->label), report_percentile_text(arena, of),
                       report_grouped(arena, latency->strategy->latency[latency->latency].count),
                       latency->noun, report_time(arena, ns));
}
