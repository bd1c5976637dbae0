/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made results for the tests of reports, without a run. */
#include "fixture.h"

#include <assert.h>
#include <inttypes.h>

#include "kernel/number.h"
#include "tune/odds.h"

enum { STRATEGIES_MAX = 64, ROW_BYTES = 350, NODES = 3 };

static char *copy(const char *text)
{
    char *out = malloc(strlen(text) + 1);
    assert(out != NULL);
    return strcpy(out, text);
}

struct lab_result *fixture_result(const char *name, const char *source)
{
    struct lab_result *result = calloc(1, sizeof *result);
    assert(result != NULL);
    result->scenario_name = copy(name);
    result->about = copy("");
    result->source = copy(source);
    result->seed = 1;
    result->digest = UINT64_C(0x0123456789abcdef);
    result->rows = 1555200000;
    result->keys = 10000;
    result->start_ns = INT64_C(1767225600000000000);
    result->end_ns = INT64_C(1775001600000000000);
    result->limits =
        (struct lab_limits){.partition_rows = 100000, .partition_bytes = 100000000, .tiny_rows = 24};
    result->strategies = calloc(STRATEGIES_MAX, sizeof *result->strategies);
    assert(result->strategies != NULL);
    return result;
}

struct lab_strategy_result *fixture_add(struct lab_result *result, const char *label,
                                        const struct bk_strategy *strategy)
{
    assert(result->strategy_count < STRATEGIES_MAX);
    struct lab_strategy_result *out = &result->strategies[result->strategy_count++];
    out->settings.strategy = *strategy;
    out->label = copy(label != NULL ? label : bk_kind_name(strategy->kind));
    lab_histogram_init(&out->closed_rows);
    lab_histogram_init(&out->open_rows);
    lab_histogram_init(&out->closed_bytes);
    lab_histogram_init(&out->open_bytes);
    lab_histogram_init(&out->read_partitions);
    return out;
}

struct lab_strategy_result *fixture_percentiles(struct lab_result *result, const double sizes[7])
{
    static const char *const names[] = {"min", "p50", "p75", "p95", "p98", "p99", "max"};
    const struct bk_strategy unbucketed = {.kind = BK_KIND_UNBUCKETED};
    struct lab_strategy_result *out = fixture_add(result, "file", &unbucketed);
    out->settings.observed = WL_OBSERVED_PERCENTILES;
    out->settings.observed_file = copy("t.txt");
    out->settings.observed_table = copy("");
    lab_histogram_add(&out->open_bytes, 20000, 100, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[LAB_METRIC_NAME_SIZE] = "partitions.all.bytes.";
        const bool is_added = lab_metrics_add(&out->metrics, strcat(name, names[i]), sizes[i]);
        assert(is_added);
    }
    return out;
}

static void add_nodes(struct lab_strategy_result *strategy)
{
    strategy->nodes = calloc(NODES, sizeof *strategy->nodes);
    assert(strategy->nodes != NULL);
    strategy->node_count = NODES;
    for (size_t i = 0; i < NODES; i++) {
        snprintf(strategy->nodes[i].name, sizeof strategy->nodes[i].name, "node %zu", i);
        strategy->nodes[i].rows = 1000 + 100 * i;
        strategy->nodes[i].bytes = strategy->nodes[i].rows * ROW_BYTES;
    }
}

void fixture_put(struct lab_strategy_result *strategy, bool is_open, uint64_t rows, uint64_t count)
{
    lab_histogram_add(is_open ? &strategy->open_rows : &strategy->closed_rows, rows, count, rows);
    lab_histogram_add(is_open ? &strategy->open_bytes : &strategy->closed_bytes, rows * ROW_BYTES, count,
                      rows);
    if (strategy->nodes == NULL) {
        add_nodes(strategy);
    }
}

void fixture_spread(struct lab_strategy_result *strategy, bool is_open, double least, double most,
                    uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        double share = ((double)i + 0.5) / (double)count;
        double size = sim_exp(sim_log(least) + share * (sim_log(most) - sim_log(least)));
        fixture_put(strategy, is_open, (uint64_t)size, 1);
    }
}

void fixture_distribution(struct lab_strategy_result *strategy, double p, uint64_t threshold, uint64_t count)
{
    const struct tune_distribution distribution = {.p = p, .threshold = threshold};
    enum { DISTINCT_MAX = 400 };
    uint64_t distinct = count < DISTINCT_MAX ? count : DISTINCT_MAX;
    for (uint64_t i = 0; i < distinct; i++) {
        uint64_t rows = tune_quantile(&distribution, ((double)i + 0.5) / (double)distinct);
        fixture_put(strategy, false, rows, count / distinct);
    }
}

/* Percentiles at ascending shares. */
static void percentiles(const struct lab_histogram *histogram, const double *shares, size_t share_count,
                        double *sizes)
{
    size_t count, i = 0;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    assert(bins != NULL);
    double seen = 0;
    double size = 0;
    for (size_t at = 0; at < share_count; at++) {
        for (; i < count && seen < shares[at] * (double)histogram->count; i++) {
            seen += (double)bins[i].count;
            size = (double)bins[i].size;
        }
        sizes[at] = size;
    }
    free(bins);
}

static uint64_t count_above(const struct lab_histogram *histogram, uint64_t limit, bool is_below)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    uint64_t sum = 0;
    for (size_t i = 0; bins != NULL && i < count; i++) {
        sum += (is_below ? bins[i].size < limit : bins[i].size > limit) ? bins[i].count : 0;
    }
    free(bins);
    return sum;
}

static void add_sizes(struct lab_strategy_result *strategy, const struct lab_histogram *histogram,
                      const char *of, const char *unit)
{
    char name[LAB_METRIC_NAME_SIZE];
    if (histogram->count == 0) {
        return;
    }
    double sizes[2];
    percentiles(histogram, (const double[]){0.5, 0.99}, 2, sizes);
    snprintf(name, sizeof name, "partitions.%s.%s.p50", of, unit);
    assert(lab_metrics_add(&strategy->metrics, name, sizes[0]));
    snprintf(name, sizeof name, "partitions.%s.%s.p99", of, unit);
    assert(lab_metrics_add(&strategy->metrics, name, sizes[1]));
    snprintf(name, sizeof name, "partitions.%s.%s.max", of, unit);
    assert(lab_metrics_add(&strategy->metrics, name, (double)histogram->most));
}

/* Each slice has the same number of partitions, and their median goes up and down; the overall minimum and
 * maximum occur now and then. */
static void add_slices(const struct lab_result *result, struct lab_strategy_result *strategy,
                       enum lab_partition_state state)
{
    enum { SLICES = 90, TWENTIETHS = 20 };
    const struct lab_histogram *histograms[LAB_SIZE_UNITS] = {
        state == LAB_CLOSED ? &strategy->closed_rows : &strategy->open_rows,
        state == LAB_CLOSED ? &strategy->closed_bytes : &strategy->open_bytes};
    const uint64_t count = histograms[0]->count;
    const uint64_t slices = count < SLICES ? count : SLICES;
    const int64_t length_ns = (result->end_ns - result->start_ns) / SLICES;
    double shares[TWENTIETHS], sizes[LAB_SIZE_UNITS][TWENTIETHS];
    for (int i = 0; i < TWENTIETHS; i++)
        shares[i] = i / (double)TWENTIETHS;
    for (int unit = 0; count > 0 && unit < LAB_SIZE_UNITS; unit++)
        percentiles(histograms[unit], shares, TWENTIETHS, sizes[unit]);
    for (uint64_t i = 0; i < slices; i++) {
        struct lab_slice *slice = &strategy->timeline.items[strategy->timeline.count++];
        slice->state = state;
        slice->start_ns = result->start_ns + (int64_t)(i * SLICES / slices) * length_ns;
        slice->end_ns = slice->start_ns + length_ns;
        slice->partitions = count / slices + (i < count % slices);
        const size_t lift = i % 10 < 5 ? i % 10 : 10 - i % 10;
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            const double *at = sizes[unit];
            slice->sizes[unit] = (struct lab_slice_sizes){
                i % 7 == 3 ? histograms[unit]->least : (uint64_t)at[1], (uint64_t)at[2 + lift],
                (uint64_t)at[8 + lift], (uint64_t)at[14 + lift],
                i % 7 == 3 ? histograms[unit]->most : (uint64_t)at[19]};
        }
    }
}

void fixture_metrics(const struct lab_result *result, struct lab_strategy_result *strategy, double extra_ops,
                     double reads_mean, double reads_p99)
{
    struct lab_metrics *metrics = &strategy->metrics;
    const uint64_t closed = strategy->closed_rows.count;
    const uint64_t total = closed + strategy->open_rows.count;
    const struct lab_limits *limits = &result->limits;
    assert(lab_metrics_add(metrics, "partitions.total", (double)total));
    assert(lab_metrics_add(metrics, "partitions.closed", (double)closed));
    uint64_t over_rows = count_above(&strategy->closed_rows, limits->partition_rows, false) +
                         count_above(&strategy->open_rows, limits->partition_rows, false);
    uint64_t over_bytes = count_above(&strategy->closed_bytes, limits->partition_bytes, false) +
                          count_above(&strategy->open_bytes, limits->partition_bytes, false);
    if (limits->partition_rows != 0) {
        assert(lab_metrics_add(metrics, "partitions.over_limit_rows", (double)over_rows));
        assert(lab_metrics_add(metrics, "partitions.over_limit",
                               (double)(over_rows > over_bytes ? over_rows : over_bytes)));
    }
    if (limits->partition_bytes != 0) {
        assert(lab_metrics_add(metrics, "partitions.over_limit_bytes", (double)over_bytes));
    }
    assert(lab_metrics_add(metrics, "partitions.tiny",
                           (double)count_above(&strategy->closed_rows, limits->tiny_rows, true)));
    add_sizes(strategy, &strategy->closed_rows, "closed", "rows");
    add_sizes(strategy, &strategy->closed_bytes, "closed", "bytes");
    struct lab_histogram all;
    lab_histogram_init(&all);
    lab_histogram_merge(&all, &strategy->closed_rows);
    lab_histogram_merge(&all, &strategy->open_rows);
    add_sizes(strategy, &all, "all", "rows");
    lab_histogram_clear(&all);
    lab_histogram_init(&all);
    lab_histogram_merge(&all, &strategy->closed_bytes);
    lab_histogram_merge(&all, &strategy->open_bytes);
    add_sizes(strategy, &all, "all", "bytes");
    lab_histogram_clear(&all);
    assert(lab_metrics_add(metrics, "writes.extra_ops_per_1000_rows", extra_ops));
    strategy->timeline.items = calloc((size_t)LAB_STATES * LAB_SLICES_MAX, sizeof *strategy->timeline.items);
    assert(strategy->timeline.items != NULL);
    add_slices(result, strategy, LAB_CLOSED);
    add_slices(result, strategy, LAB_OPEN);
    if (reads_mean > 0) {
        /* 2% of the reads query as many partitions as the p99, the others as many as the mean. */
        lab_histogram_add(&strategy->read_partitions, reads_mean >= 1 ? (uint64_t)reads_mean : 1, 980, 1);
        lab_histogram_add(&strategy->read_partitions, (uint64_t)reads_p99, 20, 1);
        assert(lab_metrics_add(metrics, "reads.partitions_per_read.mean", reads_mean));
        assert(lab_metrics_add(metrics, "reads.partitions_per_read.p99", reads_p99));
    }
}
