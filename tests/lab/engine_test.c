/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the stream engine's batches, runs and forgotten partitions change nothing. Method: the same workload
 * through a naive engine that keeps everything and does one row at a time; every figure must be equal, to the
 * last bit. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cassandra/ring.h"
#include "cassandra/token.h"
#include "kernel/time.h"
#include "lab/run.h"
#include "naive.h"

static const char workload_text[] = "name: engine-test\n"
                                    "seed: 7\n"
                                    "duration: 3d\n"
                                    "keys: {count: 60, popularity: {zipf: 1.2}}\n"
                                    "arrivals:\n"
                                    "  rate: 0.15/s\n"
                                    "  daily: {amplitude: 0.9, peak: 20h}\n"
                                    "  bursts: {on: 10m, off: 3h, factor: 60}\n"
                                    "  spikes: [{at: 1d, lasts: 30m, factor: 30, keys: 20%}]\n"
                                    "row: {bytes: {lognormal: {mean: 350, sigma: 1.0}}}\n"
                                    "limits: {partition_rows: 120, partition_bytes: 20KB, tiny_rows: 20}\n";

static const char strategies_text[] =
    "strategies:\n"
    "  - none: {}\n"
    "  - time: {window: 7h, epoch: 2015-01-01T00:00:00Z}\n"
    "  - time: {window: 20m, label: short}\n"
    "  - time: {calendar: week, label: week}\n"
    "  - count: {rows: 30}\n"
    "  - count: {rows: 1, label: one}\n"
    "  - probabilistic: {bits: 2, threshold: 9}\n"
    "  - probabilistic: {bits: 0, threshold: 5, label: bits0}\n"
    "  - probabilistic: {chance: 3/17, threshold: 2, label: chance}\n"
    "  - weighted: {bytes: 2KB, threshold: 5}\n"
    "  - weighted: {bytes: 100B, threshold: 60, label: heavy}\n"
    "  - count: {rows: 30, max_age: 5h, label: count aged}\n"
    "  - probabilistic: {bits: 2, threshold: 9, max_age: 3h, label: aged}\n"
    "  - probabilistic: {bits: 0, threshold: 1, max_age: 1m, label: one aged}\n"
    "  - weighted: {bytes: 2KB, threshold: 5, max_age: 1d, label: weighted aged}\n"
    "  - hash: {buckets: 5}\n"
    "  - hash: {buckets: 300, label: wide}\n";

/* A window below a second, too short for a naive reader to walk. */
static const char shortest_text[] = "  - time: {window: 100ms, label: shortest}\n";

static struct lab_scenario *load_with(const char *reads, const struct lab_override *overrides, size_t count)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s%s", workload_text, reads, strategies_text,
             reads[0] == '\0' ? shortest_text : "");
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_parse("engine-test.yaml", text, strlen(text), overrides, count, NULL, &scenario,
                            &error))
        fail_msg("%s", error.text);
    return scenario;
}

static struct lab_scenario *load(const char *reads)
{
    return load_with(reads, NULL, 0);
}

static struct lab_result *run(const struct lab_scenario *scenario, uint32_t jobs)
{
    struct lab_result *result;
    struct sim_error error;
    if (!lab_run(scenario, jobs, NULL, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

static double metric(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *found = lab_metrics_find(&strategy->metrics, name);
    if (found == NULL)
        fail_msg("%s has no %s", strategy->label, name);
    return found->value;
}

static void assert_metric(const struct lab_strategy_result *strategy, const char *name, double expected)
{
    double actual = metric(strategy, name);
    if (actual != expected)
        fail_msg("%s.%s is %.17g, not %.17g", strategy->label, name, actual, expected);
}

static void assert_near(double actual, double expected, double tolerance)
{
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", actual, expected);
}

static int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Least, most, mean and the quantiles of a list of sizes, each repeated `weights` times when that is not
 * NULL. */
static void assert_law(const struct lab_strategy_result *strategy, const char *prefix, uint64_t *sizes,
                       size_t count)
{
    char name[96];
    if (count == 0) {
        snprintf(name, sizeof name, "%s.mean", prefix);
        assert_null(lab_metrics_find(&strategy->metrics, name));
        return;
    }
    qsort(sizes, count, sizeof *sizes, compare_u64);
    long double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += (long double)sizes[i];
    long double mean = sum / (long double)count;
    for (size_t i = 0; i < count; i++)
        squares += ((long double)sizes[i] - mean) * ((long double)sizes[i] - mean);
    snprintf(name, sizeof name, "%s.mean", prefix);
    assert_near(metric(strategy, name), (double)mean, 1e-9 * (double)mean);
    snprintf(name, sizeof name, "%s.stddev", prefix);
    double stddev = metric(strategy, name);
    assert_near(stddev * stddev, (double)(squares / (long double)count), 1e-9 * (double)(mean * mean));
    snprintf(name, sizeof name, "%s.min", prefix);
    assert_metric(strategy, name, (double)sizes[0]);
    snprintf(name, sizeof name, "%s.max", prefix);
    assert_metric(strategy, name, (double)sizes[count - 1]);
    static const struct {
        const char *name;
        size_t per_mille;
    } quantiles[] = {{"p001", 1}, {"p01", 10}, {"p50", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999}};
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        size_t rank = (count * quantiles[i].per_mille + 999) / 1000;
        snprintf(name, sizeof name, "%s.%s", prefix, quantiles[i].name);
        assert_metric(strategy, name, (double)sizes[rank - 1]);
    }
}

static void assert_sizes(const struct lab_strategy_result *strategy, const struct naive_result *naive)
{
    uint64_t *sizes = malloc((naive->rows + 1) * sizeof *sizes);
    assert_non_null(sizes);
    for (int in_bytes = 0; in_bytes < 2; in_bytes++) {
        const char *unit = in_bytes ? "bytes" : "rows";
        char prefix[64];
        size_t closed = 0, all = 0, weighted = 0;
        for (size_t i = 0; i < naive->partition_count; i++) {
            const struct naive_partition *partition = &naive->partitions[i];
            if (partition->is_closed)
                sizes[closed++] = in_bytes ? partition->bytes : partition->rows;
        }
        snprintf(prefix, sizeof prefix, "partitions.closed.%s", unit);
        assert_law(strategy, prefix, sizes, closed);
        for (size_t i = 0; i < naive->partition_count; i++)
            sizes[all++] = in_bytes ? naive->partitions[i].bytes : naive->partitions[i].rows;
        snprintf(prefix, sizeof prefix, "partitions.all.%s", unit);
        assert_law(strategy, prefix, sizes, all);
        for (size_t i = 0; i < naive->partition_count; i++) {
            for (uint64_t j = 0; j < naive->partitions[i].rows; j++)
                sizes[weighted++] = in_bytes ? naive->partitions[i].bytes : naive->partitions[i].rows;
        }
        snprintf(prefix, sizeof prefix, "partitions.row_weighted.%s", unit);
        assert_law(strategy, prefix, sizes, weighted);
    }
    free(sizes);
}

/* kind: LAB_READ_KINDS for all together. */
static void assert_read_kind(const struct lab_strategy_result *strategy, const struct naive_result *naive,
                             const char *prefix, int kind)
{
    uint64_t *partitions = malloc((naive->read_count + 1) * sizeof *partitions), empties = 0, sum = 0;
    uint64_t scanned = 0, incomplete = 0, out_of_order = 0;
    size_t n = 0;
    assert_non_null(partitions);
    for (size_t i = 0; i < naive->read_count; i++) {
        const struct naive_read *read = &naive->reads[i];
        if (kind != LAB_READ_KINDS && (int)read->kind != kind)
            continue;
        partitions[n++] = read->partitions;
        sum += read->partitions;
        empties += read->empties;
        scanned += read->scanned;
        incomplete += read->is_incomplete;
        out_of_order += read->is_out_of_order;
    }
    assert_true(n > 200);
    qsort(partitions, n, sizeof *partitions, compare_u64);
    const struct {
        const char *name;
        double value;
    } figures[] = {{"count", (double)n},
                   {"partitions_per_read.mean", (double)sum / (double)n},
                   {"partitions_per_read.p50", (double)partitions[(n + 1) / 2 - 1]},
                   {"partitions_per_read.p99", (double)partitions[(n * 99 + 99) / 100 - 1]},
                   {"partitions_per_read.max", (double)partitions[n - 1]},
                   {"empty_partitions_per_read", (double)empties / (double)n},
                   {"rows_scanned_per_read", (double)scanned / (double)n},
                   {"incomplete", (double)incomplete},
                   {"out_of_order", (double)out_of_order}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s.%s", prefix, figures[i].name);
        assert_metric(strategy, name, figures[i].value);
    }
    free(partitions);
}

static void assert_reads(const struct lab_scenario *scenario, const struct lab_strategy_result *strategy,
                         const struct naive_result *naive)
{
    static const char *const prefixes[] = {"reads.latest", "reads.range", "reads.all"};
    int kinds = 0;
    assert_read_kind(strategy, naive, "reads", LAB_READ_KINDS);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        kinds += scenario->reads.kinds[kind].rate_per_s > 0;
    for (int kind = 0; kinds > 1 && kind < LAB_READ_KINDS; kind++) {
        if (scenario->reads.kinds[kind].rate_per_s > 0)
            assert_read_kind(strategy, naive, prefixes[kind], kind);
    }
}

/* Of the bytes on all nodes, each partition's on its replicas, how many the fullest and the emptiest has. */
static void assert_loads(const struct lab_scenario *scenario, const struct lab_strategy_result *strategy,
                         const struct naive_result *naive)
{
    const struct lab_cluster *cluster = &scenario->cluster;
    uint64_t loads[16] = {0}, total = 0, most = 0, least = UINT64_MAX;
    struct cass_ring *ring;
    assert_in_range(cluster->nodes, 1, 16);
    assert_true(cass_ring_create(scenario->seed, cluster->nodes, cluster->num_tokens,
                                 cluster->replication_factor, &ring, NULL));
    for (size_t i = 0; i < naive->partition_count; i++) {
        const struct naive_partition *partition = &naive->partitions[i];
        char key[32];
        size_t size = (size_t)snprintf(key, sizeof key, "key-%u", (unsigned)partition->key_index);
        const uint32_t *replicas =
            cass_ring_replicas(ring, cass_token_bucketed(key, size, partition->bucket));
        for (uint32_t j = 0; j < cluster->replication_factor; j++) {
            loads[replicas[j]] += partition->bytes;
            total += partition->bytes;
        }
    }
    for (uint32_t i = 0; i < cluster->nodes; i++) {
        most = loads[i] > most ? loads[i] : most;
        least = loads[i] < least ? loads[i] : least;
    }
    assert_metric(strategy, "nodes.load_share_max", (double)most / (double)total);
    assert_metric(strategy, "nodes.load_share_min", (double)least / (double)total);
    cass_ring_destroy(ring);
}

/* The largest by the same order of ties, found by looking at all. */
static void assert_largest(const struct naive_result *naive, const struct lab_strategy_result *strategy)
{
    const struct naive_partition *best[LAB_SIZE_UNITS] = {NULL};
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        for (size_t i = 0; i < naive->partition_count; i++) {
            const struct naive_partition *one = &naive->partitions[i], *other = best[unit];
            uint64_t size = unit == LAB_IN_ROWS ? one->rows : one->bytes;
            uint64_t most = other == NULL ? 0 : unit == LAB_IN_ROWS ? other->rows : other->bytes;
            bool is_first =
                other != NULL && (one->key_index < other->key_index ||
                                  (one->key_index == other->key_index && one->bucket < other->bucket));
            if (size > most || (size == most && is_first))
                best[unit] = one;
        }
        char name[32];
        snprintf(name, sizeof name, "key-%" PRIu64, best[unit]->key_index);
        assert_string_equal(strategy->largest[unit].key, name);
        assert_true(strategy->largest[unit].key_index == best[unit]->key_index);
        assert_true(strategy->largest[unit].bucket == best[unit]->bucket);
        assert_true(strategy->largest[unit].size ==
                    (unit == LAB_IN_ROWS ? best[unit]->rows : best[unit]->bytes));
    }
}

/* Of one slice and unit, the sizes sorted: least and most as they are, a quantile within an eighth above. */
static void assert_slice_sizes(const struct lab_slice_sizes *sizes, const uint64_t *sorted, size_t count)
{
    const size_t percents[] = {10, 50, 90};
    const uint64_t told[] = {sizes->p10, sizes->p50, sizes->p90};
    assert_true(sizes->least == sorted[0]);
    assert_true(sizes->most == sorted[count - 1]);
    for (int i = 0; i < 3; i++) {
        uint64_t exact = sorted[(count * percents[i] + 99) / 100 - 1];
        assert_true(told[i] >= exact && told[i] - exact <= exact / 8);
        assert_true(told[i] <= sizes->most);
    }
}

/* The run's 72 hours come in slices of one hour: each partition must be in that of its first row, and no
 * slice be without one. */
static void assert_timeline(const struct lab_scenario *scenario, const struct lab_strategy_result *strategy,
                            const struct naive_result *naive)
{
    uint64_t *sizes = malloc((naive->partition_count + 1) * sizeof *sizes), all = 0;
    assert_non_null(sizes);
    assert_true(strategy->timeline.count > 0);
    for (size_t i = 0; i < strategy->timeline.count; i++) {
        const struct lab_slice *slice = &strategy->timeline.items[i];
        int64_t into_ns = slice->start_ns - scenario->workload.start_ns;
        assert_true(into_ns >= 0 && into_ns % SIM_HOUR == 0 && slice->end_ns == slice->start_ns + SIM_HOUR);
        assert_true(slice->end_ns <= scenario->workload.start_ns + scenario->workload.duration_ns);
        if (i > 0)
            assert_true(slice[-1].state < slice->state ||
                        (slice[-1].state == slice->state && slice[-1].start_ns < slice->start_ns));
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            size_t count = 0;
            for (size_t j = 0; j < naive->partition_count; j++) {
                const struct naive_partition *partition = &naive->partitions[j];
                if (partition->is_closed == (slice->state == LAB_CLOSED) &&
                    partition->first_ns >= slice->start_ns && partition->first_ns < slice->end_ns)
                    sizes[count++] = unit == LAB_IN_ROWS ? partition->rows : partition->bytes;
            }
            assert_true(count > 0 && slice->partitions == count);
            qsort(sizes, count, sizeof *sizes, compare_u64);
            assert_slice_sizes(&slice->sizes[unit], sizes, count);
        }
        all += slice->partitions;
    }
    assert_true(all == naive->partition_count);
    free(sizes);
}

static void assert_equals_naive(const struct lab_scenario *scenario, const struct lab_result *result)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        struct naive_result *naive = naive_run(scenario, &scenario->strategies[i]);
        uint64_t closed = 0, tiny = 0, over_rows = 0, over_bytes = 0, over = 0;
        for (size_t j = 0; j < naive->partition_count; j++) {
            const struct naive_partition *partition = &naive->partitions[j];
            bool is_over_rows = partition->rows > scenario->limits.partition_rows;
            bool is_over_bytes = partition->bytes > scenario->limits.partition_bytes;
            closed += partition->is_closed;
            tiny += partition->is_closed && partition->rows < scenario->limits.tiny_rows;
            over_rows += is_over_rows;
            over_bytes += is_over_bytes;
            over += is_over_rows || is_over_bytes;
        }
        assert_int_equal(naive->rows, result->rows);
        assert_int_equal(naive->keys, result->keys);
        assert_int_equal(naive->digest, strategy->placement_digest);
        assert_largest(naive, strategy);
        assert_metric(strategy, "partitions.total", (double)naive->partition_count);
        assert_metric(strategy, "partitions.closed", (double)closed);
        assert_metric(strategy, "partitions.open", (double)(naive->partition_count - closed));
        assert_metric(strategy, "partitions.tiny", (double)tiny);
        assert_metric(strategy, "partitions.over_limit", (double)over);
        assert_metric(strategy, "partitions.over_limit_rows", (double)over_rows);
        assert_metric(strategy, "partitions.over_limit_bytes", (double)over_bytes);
        assert_metric(strategy, "writes.rows", (double)naive->rows);
        assert_metric(strategy, "writes.counter_increments", (double)naive->counter_increments);
        assert_metric(strategy, "writes.state_writes", (double)naive->state_writes);
        assert_metric(strategy, "writes.state_reads", (double)naive->state_reads);
        assert_metric(strategy, "peak.rows_per_second_one_partition", (double)naive->peak);
        assert_metric(strategy, "writes.extra_ops_per_1000_rows",
                      1000.0 *
                          (double)(naive->counter_increments + naive->state_writes + naive->state_reads) /
                          (double)naive->rows);
        if (scenario->workload.late_share > 0) {
            assert_true(naive->late > 0);
            assert_metric(strategy, "writes.late", (double)naive->late);
            assert_metric(strategy, "writes.into_closed", (double)naive->into_closed);
            assert_metric(strategy, "partitions.reopened", (double)naive->reopened);
        }
        assert_sizes(strategy, naive);
        assert_loads(scenario, strategy, naive);
        assert_timeline(scenario, strategy, naive);
        if (scenario->reads.present)
            assert_reads(scenario, strategy, naive);
        naive_free(naive);
    }
}

static void compare_with_naive(const char *reads)
{
    struct lab_scenario *scenario = load(reads);
    struct lab_result *result = run(scenario, 1);
    assert_true(result->rows > 20000);
    assert_equals_naive(scenario, result);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

static void test_engine_without_reads_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("");
}

static void test_engine_with_walking_reads_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("reads: {latest: {rows: 40, rate: 0.01/s}}\n");
}

static void test_engine_with_reads_by_pairs_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("reads: {latest: {rows: 75, rate: 0.01/s, plan: pair}}\n");
}

static void test_engine_with_reads_of_one_row_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("reads: {latest: {rows: 1, rate: 0.02/s}}\n");
}

/* Rows out of order, equal times by the hundred and a history from its newest row back, at once. */
static void compare_with_naive_out_of_order(const char *reads, const char *order)
{
    char backfill[96];
    snprintf(backfill, sizeof backfill, "arrivals.backfill={before: 4d, lasts: 1d, rate: 0.05/s, order: %s}",
             order);
    const struct lab_override overrides[] = {
        {"arrivals.late={share: 5%, by: 2h}"}, {"arrivals.resolution=1m"}, {backfill}};
    struct lab_scenario *scenario = load_with(reads, overrides, 3);
    struct lab_result *result = run(scenario, 1);
    assert_true(result->rows > 30000);
    assert_equals_naive(scenario, result);
    struct lab_result *many = run(scenario, 5);
    assert_int_equal(result->digest, many->digest);
    lab_result_destroy(many);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

static void test_engine_with_ranges_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("reads: {range: {span: 5h, age: 9h, rate: 0.02/s}}\n");
}

static void test_engine_with_ranges_by_pairs_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("reads: {range: {span: 11h, rate: 0.01/s, plan: pair}}\n");
}

static void test_engine_with_reads_of_all_rows_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("reads: {all: {rate: 0.01/s, plan: parallel, at_once: 3}}\n");
}

static void test_engine_with_reads_of_every_kind_in_parallel_equals_naive(void **state)
{
    (void)state;
    compare_with_naive("reads:\n"
                       "  latest: {rows: 75, rate: 0.01/s, plan: parallel, at_once: 5}\n"
                       "  range: {span: 3h, age: 4h, rate: 0.01/s, plan: parallel, at_once: 4}\n"
                       "  all: {rate: 0.01/s}\n");
}

static void test_engine_with_lazy_reads_and_a_memory_of_windows_equals_naive(void **state)
{
    (void)state;
    char text[4096];
    snprintf(
        text, sizeof text,
        "%sreads:\n"
        "  latest: {rows: 60, rate: 0.01/s}\n"
        "  range: {span: 16h, age: 5h, rate: 0.01/s}\n"
        "  all: {rate: 0.003/s}\n"
        "strategies:\n"
        "  - hash: {buckets: 5, read: {plan: lazy}}\n"
        "  - hash: {buckets: 40, read: {plan: lazy}, label: wide}\n"
        "  - hash: {buckets: 1, read: {plan: lazy}, label: one}\n"
        "  - time: {window: 3h, read: {remember_empty: true, late: 0s}}\n"
        "  - time: {window: 3h, read: {remember_empty: true, late: 7h}, label: late}\n"
        "  - time: {window: 4h, read: {remember_empty: true, plan: parallel, at_once: 3}, label: wave}\n",
        workload_text);
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_parse("engine-test.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    struct lab_result *result = run(scenario, 1);
    assert_equals_naive(scenario, result);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

static void test_engine_with_rows_out_of_order_equals_naive(void **state)
{
    (void)state;
    compare_with_naive_out_of_order("reads: {latest: {rows: 40, rate: 0.01/s}}\n", "reverse");
    compare_with_naive_out_of_order("reads: {latest: {rows: 75, rate: 0.01/s, plan: pair}}\n", "forward");
    compare_with_naive_out_of_order("", "forward");
}

static void test_engine_refuses_more_windows_than_a_key_can_keep(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {{"arrivals.late={share: 5%, by: 2h}"},
                                             {"arrivals.rate=10000/s"}};
    struct lab_scenario *scenario = load_with("", overrides, 2);
    struct lab_result *result;
    struct sim_error error;
    assert_false(lab_run(scenario, 1, NULL, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    char wanted[192];
    snprintf(wanted, sizeof wanted,
             "engine-test.yaml:%d:5: with late rows each key keeps its windows, here up to 7200000; use a "
             "longer window, or leave out late, resolution and backfill",
             scenario->strategies[scenario->strategy_count - 1].line);
    assert_string_equal(error.text, wanted);
    lab_scenario_destroy(scenario);
}

static void test_engine_number_of_workers_changes_nothing(void **state)
{
    (void)state;
    struct lab_scenario *scenario = load("reads: {latest: {rows: 40, rate: 0.01/s}}\n");
    struct lab_result *one = run(scenario, 1);
    for (uint32_t jobs = 2; jobs <= 100; jobs = jobs * 3) {
        struct lab_result *many = run(scenario, jobs);
        assert_int_equal(one->digest, many->digest);
        assert_int_equal(one->strategy_count, many->strategy_count);
        for (size_t i = 0; i < one->strategy_count; i++) {
            const struct lab_metrics *a = &one->strategies[i].metrics, *b = &many->strategies[i].metrics;
            assert_int_equal(a->count, b->count);
            for (size_t j = 0; j < a->count; j++) {
                assert_string_equal(a->items[j].name, b->items[j].name);
                assert_memory_equal(&a->items[j].value, &b->items[j].value, sizeof(double));
            }
        }
        lab_result_destroy(many);
    }
    lab_result_destroy(one);
    lab_scenario_destroy(scenario);
}

static void test_engine_other_seed_gives_other_digest(void **state)
{
    (void)state;
    struct lab_scenario *scenario = load("");
    struct lab_result *one = run(scenario, 1);
    scenario->seed = scenario->workload.seed = 8;
    struct lab_result *other = run(scenario, 1);
    assert_int_not_equal(one->digest, other->digest);
    lab_result_destroy(one);
    lab_result_destroy(other);
    lab_scenario_destroy(scenario);
}

/* The strategies meet the same rows, whoever else runs beside them. */
static void test_engine_strategy_alone_places_as_in_company(void **state)
{
    (void)state;
    struct lab_scenario *scenario = load("");
    struct lab_result *company = run(scenario, 1);
    struct lab_strategy *strategies = scenario->strategies;
    size_t count = scenario->strategy_count;
    scenario->strategy_count = 1;
    for (size_t i = 0; i < count; i++) {
        scenario->strategies = &strategies[i];
        struct lab_result *alone = run(scenario, 1);
        assert_int_equal(alone->strategies[0].placement_digest, company->strategies[i].placement_digest);
        lab_result_destroy(alone);
    }
    scenario->strategies = strategies;
    scenario->strategy_count = count;
    lab_result_destroy(company);
    lab_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_without_reads_equals_naive),
        cmocka_unit_test(test_engine_with_walking_reads_equals_naive),
        cmocka_unit_test(test_engine_with_reads_by_pairs_equals_naive),
        cmocka_unit_test(test_engine_with_reads_of_one_row_equals_naive),
        cmocka_unit_test(test_engine_with_rows_out_of_order_equals_naive),
        cmocka_unit_test(test_engine_refuses_more_windows_than_a_key_can_keep),
        cmocka_unit_test(test_engine_with_ranges_equals_naive),
        cmocka_unit_test(test_engine_with_ranges_by_pairs_equals_naive),
        cmocka_unit_test(test_engine_with_reads_of_all_rows_equals_naive),
        cmocka_unit_test(test_engine_with_reads_of_every_kind_in_parallel_equals_naive),
        cmocka_unit_test(test_engine_with_lazy_reads_and_a_memory_of_windows_equals_naive),
        cmocka_unit_test(test_engine_number_of_workers_changes_nothing),
        cmocka_unit_test(test_engine_other_seed_gives_other_digest),
        cmocka_unit_test(test_engine_strategy_alone_places_as_in_company),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
