/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Derives bounds from observed sizes. A percentile p of value v says two things: at least p of the pieces
 * have at most v bytes, and fewer than p of them have at most the lower end of v's bucket. Min is the lower
 * end of the smallest bucket plus 1, and Max the upper end of the largest. */
#include "lab/judgment.h"

#include <string.h>

#include "cassandra/estimated_histogram.h"

bool lab_known_steps(const struct lab_strategy_result *observed, struct lab_known_step *out)
{
    static const struct {
        const char *name;
        unsigned percent;
    } points[WL_OBSERVED_POINTS] = {{"min", 0},  {"p50", 50}, {"p75", 75}, {"p95", 95},
                                    {"p98", 98}, {"p99", 99}, {"max", 100}};
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++) {
        char name[LAB_METRIC_NAME_SIZE] = "partitions.all.bytes.";
        const struct lab_metric *metric = lab_metrics_find(&observed->metrics, strcat(name, points[i].name));
        if (observed->settings.observed != WL_OBSERVED_PERCENTILES || metric == NULL)
            return false;
        uint64_t size = (uint64_t)metric->value;
        out[i] = (struct lab_known_step){.size = size,
                                         .above = cass_histogram_above(size),
                                         .share = points[i].percent / 100.0,
                                         .share_above = (100 - points[i].percent) / 100.0};
        if (i == WL_OBSERVED_MIN)
            out[i].above = size > 0 ? size - 1 : 0;
    }
    return true;
}

static struct lab_known of_percentiles(const struct lab_known_step *steps, uint64_t limit)
{
    struct lab_known known = {.by = LAB_KNOWN_PERCENTILES, .over_most = limit == 0 ? 0 : 1};
    known.largest_most = steps[WL_OBSERVED_MAX].size;
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++) {
        const struct lab_known_step *step = &steps[i];
        if (step->above + 1 > known.largest_least)
            known.largest_least = step->above + 1;
        if (limit > 0 && step->size <= limit)
            known.over_most = step->share_above;
        if (limit > 0 && step->above >= limit && step->share_above > known.over_least)
            known.over_least = step->share_above;
    }
    return known;
}

/* A list of all partitions has this figure as a metric, which stays exact where the histogram is rounded. */
static uint64_t count_above(const struct lab_strategy_result *observed, const struct lab_histogram *sizes,
                            const char *name, uint64_t limit)
{
    const struct lab_metric *metric = lab_metrics_find(&observed->metrics, name);
    uint64_t count = metric == NULL ? 0 : (uint64_t)metric->value;
    for (size_t i = 0; metric == NULL && limit > 0 && i < sizes->slot_count; i++)
        count += sizes->slots[i].size > limit ? sizes->slots[i].count : 0;
    return count;
}

static struct lab_known of_list(const struct lab_strategy_result *observed, const struct lab_histogram *sizes,
                                const char *name, uint64_t limit)
{
    struct lab_known known = {.by = LAB_KNOWN_EXACTLY,
                              .largest_least = sizes->most,
                              .largest_most = sizes->most,
                              .over = count_above(observed, sizes, name, limit),
                              .listed = sizes->count};
    known.over_least = known.over_most = (double)known.over / (double)known.listed;
    if (observed->settings.observed == WL_OBSERVED_LARGEST) {
        known.by = LAB_KNOWN_LARGEST;
        known.over_least = 0;
        known.over_most = 1;
        known.largest_most = UINT64_MAX;
    }
    return known;
}

struct lab_known lab_known_of(const struct lab_strategy_result *observed, const struct lab_limits *limits,
                              enum lab_size_unit unit)
{
    const bool is_rows = unit == LAB_IN_ROWS;
    const struct lab_histogram *sizes = is_rows ? &observed->open_rows : &observed->open_bytes;
    struct lab_known_step steps[WL_OBSERVED_POINTS];
    if (!is_rows && lab_known_steps(observed, steps))
        return of_percentiles(steps, limits->partition_bytes);
    if (sizes->count == 0 || observed->settings.observed == WL_OBSERVED_PERCENTILES)
        return (struct lab_known){.over_most = 1, .largest_most = UINT64_MAX};
    return of_list(observed, sizes, is_rows ? "partitions.over_limit_rows" : "partitions.over_limit_bytes",
                   is_rows ? limits->partition_rows : limits->partition_bytes);
}
