/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts the observed sizes of a real table to a strategy's result. */
#include "lab/observed.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "kernel/text.h"
#include "lab/metrics.h"
#include "lab/result_make.h"

static int compare(const void *left, const void *right)
{
    const struct wl_observed_partition *a = left, *b = right;
    int by_bytes = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return by_bytes != 0 ? by_bytes : (a->rows > b->rows) - (a->rows < b->rows);
}

static uint64_t digest_begin(const struct wl_observed *seen)
{
    return sim_digest_chain(0, (uint64_t)seen->format);
}

/* A file does not distinguish open and closed partitions, so all are treated as open, for which fewer
 * statements are made. If rows are known, a partition without rows has only deleted data, and is not counted.
 * The digest depends on the sizes, but not on their order in the file. */
static void fill_partitions(struct wl_observed *seen, struct lab_strategy_result *out)
{
    uint64_t digest = digest_begin(seen);
    qsort(seen->partitions, seen->partition_count, sizeof *seen->partitions, compare);
    for (size_t i = 0; i < seen->partition_count; i++) {
        const struct wl_observed_partition *partition = &seen->partitions[i];
        digest = sim_digest_chain(sim_digest_chain(digest, partition->bytes), partition->rows);
        if (seen->has_rows && partition->rows == 0)
            continue;
        lab_histogram_add(&out->open_bytes, partition->bytes, 1, partition->rows);
        if (seen->has_rows)
            lab_histogram_add(&out->open_rows, partition->rows, 1, partition->rows);
    }
    out->placement_digest = digest;
    const struct wl_observed_largest *largest[LAB_SIZE_UNITS] = {
        [LAB_IN_ROWS] = &seen->largest_rows, [LAB_IN_BYTES] = &seen->largest_bytes};
    _Static_assert(sizeof seen->largest_rows.key == LAB_KEY_NAME_SIZE, "a key's name fits");
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        out->largest[unit].size = largest[unit]->size;
        out->largest[unit].key_index = largest[unit]->partition;
        strcpy(out->largest[unit].key, largest[unit]->key);
    }
}

static bool partition_metrics(const struct wl_observed *seen, const struct lab_limits *limits,
                              struct lab_strategy_result *out)
{
    uint64_t over = 0, over_rows = 0, over_bytes = 0;
    for (size_t i = 0; i < seen->partition_count; i++) {
        const struct wl_observed_partition *partition = &seen->partitions[i];
        if (seen->has_rows && partition->rows == 0)
            continue;
        bool has_rows_over = limits->partition_rows != 0 && partition->rows > limits->partition_rows;
        bool has_bytes_over = limits->partition_bytes != 0 && partition->bytes > limits->partition_bytes;
        over_rows += has_rows_over;
        over_bytes += has_bytes_over;
        over += has_rows_over || has_bytes_over;
    }
    struct lab_metrics *metrics = &out->metrics;
    bool knows_rows = limits->partition_rows == 0 || seen->has_rows;
    bool ok = lab_metrics_add(metrics, "partitions.total", (double)out->open_bytes.count);
    if (knows_rows && (limits->partition_rows != 0 || limits->partition_bytes != 0))
        ok = ok && lab_metrics_add(metrics, "partitions.over_limit", (double)over);
    if (knows_rows && limits->partition_rows != 0)
        ok = ok && lab_metrics_add(metrics, "partitions.over_limit_rows", (double)over_rows);
    if (limits->partition_bytes != 0)
        ok = ok && lab_metrics_add(metrics, "partitions.over_limit_bytes", (double)over_bytes);
    return ok && lab_metrics_of_sizes(&out->open_rows, "partitions.all.rows", false, metrics) &&
           lab_metrics_of_sizes(&out->open_bytes, "partitions.all.bytes", false, metrics) &&
           lab_metrics_of_sizes(&out->open_rows, "partitions.row_weighted.rows", true, metrics) &&
           lab_metrics_of_sizes(&out->open_bytes, "partitions.row_weighted.bytes", true, metrics);
}

/* Of a list of the largest only the largest is also that of the table. */
static bool largest_metrics(const struct wl_observed *seen, struct lab_strategy_result *out)
{
    return (!seen->has_rows ||
            lab_metrics_add(&out->metrics, "partitions.all.rows.max", (double)out->open_rows.most)) &&
           lab_metrics_add(&out->metrics, "partitions.all.bytes.max", (double)out->open_bytes.most);
}

/* The seven points are converted to one hundred hundredths of the partitions, each with its largest possible
 * size. */
static void fill_percentiles(const struct wl_observed *seen, struct lab_strategy_result *out)
{
    static const struct {
        enum wl_observed_point point;
        uint64_t hundredths;
    } steps[] = {{WL_OBSERVED_P50, 50}, {WL_OBSERVED_P75, 25}, {WL_OBSERVED_P95, 20},
                 {WL_OBSERVED_P98, 3},  {WL_OBSERVED_P99, 1},  {WL_OBSERVED_MAX, 1}};
    uint64_t digest = digest_begin(seen);
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++)
        digest = sim_digest_chain(digest, seen->points[i]);
    out->placement_digest = digest;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        lab_histogram_add(&out->open_bytes, seen->points[steps[i].point], steps[i].hundredths, 0);
}

/* Adds only the values that tablehistograms prints, including three percentiles that other strategies do not
 * have. Mean and number of partitions are not known. */
static bool percentile_metrics(const struct wl_observed *seen, struct lab_metrics *out)
{
    static const char *const names[WL_OBSERVED_POINTS] = {"min", "p50", "p75", "p95", "p98", "p99", "max"};
    bool ok = true;
    for (size_t i = 0; ok && i < WL_OBSERVED_POINTS; i++) {
        char name[LAB_METRIC_NAME_SIZE] = "partitions.all.bytes.";
        ok = lab_metrics_add(out, strcat(name, names[i]), (double)seen->points[i]);
    }
    return ok;
}

static bool read_one(const struct lab_scenario *scenario, const struct lab_observed *observed,
                     const _Atomic bool *stop, struct lab_strategy_result *out, struct sim_error *error)
{
    struct wl_observed seen;
    if (!wl_observed_read(observed->path, observed->format, observed->table, stop, &seen, error))
        return false;
    const char *slash = strrchr(observed->path, '/');
    out->settings.observed = seen.format;
    out->label = sim_text_copy(observed->label);
    out->settings.observed_file = sim_text_copy(slash == NULL ? observed->path : slash + 1);
    out->settings.observed_table = sim_text_copy(seen.table);
    bool is_fine =
        out->label != NULL && out->settings.observed_file != NULL && out->settings.observed_table != NULL;
    if (is_fine && seen.format != WL_OBSERVED_PERCENTILES) {
        fill_partitions(&seen, out);
        is_fine = seen.format == WL_OBSERVED_LARGEST ? largest_metrics(&seen, out)
                                                     : partition_metrics(&seen, &scenario->limits, out);
        if (seen.merged > 0)
            is_fine = is_fine && lab_metrics_add(&out->metrics, "partitions.merged", (double)seen.merged);
    } else if (is_fine) {
        fill_percentiles(&seen, out);
        is_fine = percentile_metrics(&seen, &out->metrics);
    }
    is_fine = is_fine && !out->open_rows.out_of_memory && !out->open_bytes.out_of_memory;
    wl_observed_clear(&seen);
    return is_fine || sim_fail_memory(error);
}

bool lab_observed_read(const struct lab_scenario *scenario, const struct lab_progress *progress,
                       struct lab_strategy_result **out, struct sim_error *error)
{
    size_t count = scenario->observed_count;
    *out = NULL;
    if (count == 0)
        return true;
    struct lab_strategy_result *results = calloc(count, sizeof *results);
    if (results == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (!read_one(scenario, &scenario->observed[i], progress == NULL ? NULL : &progress->stop,
                      &results[i], error)) {
            lab_observed_free(results, count);
            return false;
        }
    }
    *out = results;
    return true;
}

void lab_observed_free(struct lab_strategy_result *results, size_t count)
{
    for (size_t i = 0; results != NULL && i < count; i++)
        lab_strategy_result_clear(&results[i]);
    free(results);
}

void lab_observed_append(struct lab_result *result, struct lab_strategy_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        result->strategies[result->strategy_count++] = results[i];
        result->digest = sim_digest_chain(result->digest, results[i].placement_digest);
    }
    free(results);
}
