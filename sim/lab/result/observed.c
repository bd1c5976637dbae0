/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes that a running Cassandra reported: turned into a strategy's result, and compared with a prediction
 * (Kolmogorov distance with the bound of Dvoretzky, Kiefer, Wolfowitz and Massart; a Pareto tail by Hill's
 * estimator for the largest; Clopper-Pearson intervals for the share over a limit). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "kernel/text.h"
#include "lab/drift.h"
#include "lab/judgment.h"
#include "lab/metric.h"
#include "lab/result.h"

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
    if (knows_rows && lab_limits_sizes(limits))
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

static bool read_one(const struct lab_scenario *scenario, const struct lab_strategy *observed,
                     const _Atomic bool *stop, struct lab_strategy_result *out, struct sim_error *error)
{
    struct wl_observed seen;
    const struct lab_settings *settings = &observed->settings;
    const char *path = settings->observed_file, *slash = strrchr(path, '/');
    if (!wl_observed_read(path, settings->observed, settings->observed_table, stop, &seen, error))
        return false;
    out->settings.observed = seen.format;
    out->label = sim_text_copy(observed->label);
    out->settings.observed_file = sim_text_copy(slash == NULL ? path : slash + 1);
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

/* Compares observed with predicted sizes (Kolmogorov distance with the bound of Dvoretzky, Kiefer, Wolfowitz
 * and Massart; a Pareto tail by Hill's estimator for the largest; Clopper-Pearson intervals for the share
 * over a limit). */

/* The sorted sizes of all partitions, closed and open. */
struct sizes {
    struct lab_bin *bins;
    size_t count;
    uint64_t total;
};

static bool sizes_of(const struct lab_strategy_result *strategy, enum lab_size_unit unit, struct sizes *out)
{
    const bool is_rows = unit == LAB_IN_ROWS;
    struct lab_histogram all;
    out->bins = lab_histogram_both(is_rows ? &strategy->closed_rows : &strategy->closed_bytes,
                                   is_rows ? &strategy->open_rows : &strategy->open_bytes, &all, &out->count);
    out->total = all.count;
    return out->bins != NULL && !all.out_of_memory;
}

/* Computes the share of the sizes that are at most `size`, or below it. `size` must ascend from call to
 * call. */
struct cursor {
    const struct sizes *sizes;
    size_t at;
    uint64_t below;
};

static double share_to(struct cursor *cursor, double size, bool includes)
{
    const struct sizes *sizes = cursor->sizes;
    for (; cursor->at < sizes->count; cursor->at++) {
        double here = (double)sizes->bins[cursor->at].size;
        if (includes ? here > size : here >= size)
            break;
        cursor->below += sizes->bins[cursor->at].count;
    }
    return (double)cursor->below / (double)sizes->total;
}

static void keep_largest(double distance, uint64_t size, double observed, double predicted,
                         struct lab_drift *out)
{
    if (distance <= out->distance)
        return;
    out->distance = distance;
    out->size = size;
    out->observed = observed;
    out->predicted = predicted;
}

/* What was observed: all sizes, or the points of tablehistograms. */
struct seen {
    struct sizes sizes;
    struct lab_known_step steps[WL_OBSERVED_POINTS];
    bool is_percentiles;
    uint64_t total;
};

/* Finds the largest distance. For an observed size s with cumulative share F there are two candidates: F
 * minus the predicted share of sizes up to s plus tolerance, if that share is too small; and the predicted
 * share of sizes below s minus tolerance, minus the observed share below s, if it is too large. */
static void measure(const struct sizes *observed, const struct sizes *predicted, double tolerance,
                    struct lab_drift *out)
{
    struct cursor up = {.sizes = predicted}, down = {.sizes = predicted};
    uint64_t below = 0;
    for (size_t i = 0; i < observed->count; i++) {
        uint64_t size = observed->bins[i].size, to = below + observed->bins[i].count;
        double share = (double)to / (double)observed->total;
        double expected = share_to(&up, (double)size * (1 + tolerance), true);
        keep_largest(share - expected, size, share, expected, out);
        share = (double)below / (double)observed->total;
        expected = share_to(&down, (double)size / (1 + tolerance), false);
        keep_largest(expected - share, size, share, expected, out);
        below = to;
    }
}

/* The same for percentiles, which bound the share up to the end of a bucket from below, and the share up to
 * its lower end from above. Of equal percentiles the largest says most of the one, and the smallest of the
 * other. */
static void measure_steps(const struct lab_known_step *steps, const struct sizes *predicted, double tolerance,
                          struct lab_drift *out)
{
    struct cursor up = {.sizes = predicted}, down = {.sizes = predicted};
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++) {
        double expected = share_to(&up, (double)steps[i].size * (1 + tolerance), true);
        keep_largest(steps[i].share - expected, steps[i].size, steps[i].share, expected, out);
        double most = 1 - steps[i].share_above;
        expected = share_to(&down, (double)steps[i].above / (1 + tolerance), true);
        keep_largest(expected - most, steps[i].above, most, expected, out);
    }
}

static double bound(uint64_t count, double chance)
{
    return sqrt(log(2 / chance) / (2 * (double)count));
}

/* The i-th statement about the largest observed partitions: *count of them have at least *size. For sizes,
 * *count is that of the statement before. */
static bool next_largest(const struct seen *seen, size_t i, uint64_t *size, uint64_t *count)
{
    if (i >= (seen->is_percentiles ? WL_OBSERVED_POINTS : seen->sizes.count))
        return false;
    if (!seen->is_percentiles) {
        const struct lab_bin *bin = &seen->sizes.bins[seen->sizes.count - 1 - i];
        *size = bin->size;
        *count += bin->count;
        return true;
    }
    const struct lab_known_step *step = &seen->steps[WL_OBSERVED_POINTS - 1 - i];
    const double least = floor(step->share_above * (double)seen->total);
    *size = step->above + 1;
    *count = least < 1 ? 1 : (uint64_t)least;
    return true;
}

/* At least this many observed partitions are larger than `size`. */
static uint64_t count_above(const struct seen *seen, double size)
{
    uint64_t at, count = 0, found = 0;
    for (size_t i = 0; next_largest(seen, i, &at, &count) && (double)at > size; i++)
        found = count;
    return found;
}

static uint64_t above(const struct sizes *sizes, double limit)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sizes->count; i++)
        count += (double)sizes->bins[i].size > limit ? sizes->bins[i].count : 0;
    return count;
}

/* Judges the largest partitions by themselves; lab/drift.h has the formula. A size is a whole number, so it
 * stands for all up to the next one. */
static void judge_largest(const struct seen *seen, const struct sizes *predicted, double tolerance,
                          double chance, struct lab_drift *out)
{
    const double from = floor(sqrt((double)predicted->total)), total = (double)predicted->total;
    double threshold = 0, logs = 0, choices = 0, taken = 0;
    size_t bin = predicted->count;
    for (double left = from + 1; left > 0 && bin > 0; left -= (double)predicted->bins[bin].count)
        threshold = (double)predicted->bins[--bin].size;
    for (bin = predicted->count; bin > 0 && taken < from; bin--) {
        const double all = (double)predicted->bins[bin - 1].count, left = from - taken;
        const double count = all < left ? all : left;
        logs += count * log(((double)predicted->bins[bin - 1].size + 1) / threshold);
        taken += count;
    }
    out->largest_predicted = predicted->bins[predicted->count - 1].size;
    uint64_t size, count = 0, number = 0;
    for (size_t i = 0; total > from && next_largest(seen, i, &size, &count) && count <= LAB_DRIFT_LARGEST;
         i++) {
        const double excess = log((double)size / (1 + tolerance) / threshold);
        for (; number < count; number++)
            choices += log((double)(seen->total - number) / (double)(number + 1) *
                           (from + 1 + (double)number) / (total + 1 + (double)number));
        const double each = (double)number * (double)(number + 1);
        if (excess > 0 && choices - from * log1p((double)number * excess / logs) <= log(chance / each)) {
            out->beyond = number;
            out->beyond_size = size;
        }
    }
}

static void judge(const struct lab_drift_question *question, const struct seen *seen,
                  const struct sizes *predicted, struct lab_drift *out)
{
    double look = (double)question->look, chance = question->false_alarm / (look * (look + 1));
    out->has_limit = question->limit > 0;
    /* The error budget is divided among all bounds that may fail: two for distributions, one for the largest,
     * two for shares. */
    chance /= out->has_limit ? 5 : 3;
    out->observed_count = seen->total;
    out->predicted_count = predicted->total;
    if (seen->is_percentiles)
        measure_steps(seen->steps, predicted, question->tolerance, out);
    else
        measure(&seen->sizes, predicted, question->tolerance, out);
    out->allowed = bound(out->observed_count, chance) + bound(out->predicted_count, chance);
    if (seen->is_percentiles) /* Cassandra rounds the rank of a percentile to a whole partition. */
        out->allowed += 1 / (double)out->observed_count;
    out->is_far = out->distance > out->allowed;
    judge_largest(seen, predicted, question->tolerance, chance, out);
    if (out->has_limit) {
        uint64_t over = count_above(seen, (double)question->limit * (1 + question->tolerance));
        uint64_t expected = above(predicted, (double)question->limit);
        out->over = (double)over / (double)seen->total;
        out->over_least = lab_share_least(over, seen->total, 1 - chance);
        out->over_most = lab_share_most(expected, predicted->total, 1 - chance);
        out->is_over = out->over_least > out->over_most;
    }
    out->is_drift = out->is_far || out->is_over || out->beyond > 0;
}

bool lab_drift_judge(const struct lab_drift_question *question, struct lab_drift *out)
{
    struct seen seen = {.is_percentiles = false};
    struct sizes predicted = {0};
    *out = (struct lab_drift){0};
    seen.is_percentiles = lab_known_steps(question->observed, seen.steps);
    bool is_fine = (seen.is_percentiles || sizes_of(question->observed, question->unit, &seen.sizes)) &&
                   sizes_of(question->predicted, question->unit, &predicted);
    seen.total = seen.is_percentiles ? question->partitions : seen.sizes.total;
    if (is_fine)
        judge(question, &seen, &predicted, out);
    free(seen.sizes.bins);
    free(predicted.bins);
    return is_fine;
}

bool lab_drift_metrics(const struct lab_drift *drift, int64_t run, uint64_t look, struct lab_metrics *out)
{
    bool ok = lab_metrics_add(out, "drift.run", (double)run) &&
              lab_metrics_add(out, "drift.look", (double)look) &&
              lab_metrics_add(out, "drift.distance", drift->distance) &&
              lab_metrics_add(out, "drift.allowed", drift->allowed) &&
              lab_metrics_add(out, "drift.beyond", (double)drift->beyond);
    return ok && (!drift->has_limit || (lab_metrics_add(out, "drift.over_least", drift->over_least) &&
                                        lab_metrics_add(out, "drift.over_most", drift->over_most)));
}
