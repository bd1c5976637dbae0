/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the thinned mode has the distribution of the exact mode, for every strategy and every kind of workload
 * that it supports. Method: both modes run 30 seeds of their own. The mean of every metric is compared by
 * Welch's test, and so are the bytes on disk per row, which vary little. The distributions of all partitions'
 * sizes, in rows and in bytes, and of partitions per read are compared by their largest distance (Kolmogorov
 * and Smirnov; partitions of one key are dependent, so the key is the unit). There are some 17,100
 * comparisons, each with a chance of a false alarm below 5e-14, and so below 1e-9 together. Seeds are fixed:
 * the test passes always or never. */
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

#include "kernel/time.h"
#include "lab/run.h"
#include "tune/sample.h"

#define SEEDS       30u
#define FALSE_ALARM 5e-14
#define HOURS       60
#define START_NS    INT64_C(1767225600000000000)

enum { METRICS_MAX = 200, STRATEGIES_MAX = 12, DISTRIBUTIONS = 5 };

static const char kinds[] = "strategies:\n"
                            "  - unbucketed: {}\n"
                            "  - time: {window: 1h}\n"
                            "  - time: {calendar: day, label: day}\n"
                            "  - count: {rows: 60, counter: external}\n"
                            "  - count: {rows: 60, counter: lease, batch: 7, label: lease}\n"
                            "  - hash: {buckets: 5}\n"
                            "  - hash: {buckets: 500, label: many}\n"
                            "  - probabilistic: {bits: 3, threshold: 6}\n"
                            "  - probabilistic: {chance: 1/11, threshold: 1, label: one}\n"
                            "  - probabilistic: {bits: 0, threshold: 9, label: each}\n"
                            "  - weighted: {bytes: 3000B, threshold: 5}\n"
                            "  - weighted: {bytes: 300B, threshold: 40, label: always}\n";
static const char unweighted[] = "strategies:\n"
                                 "  - unbucketed: {}\n"
                                 "  - time: {window: 1h}\n"
                                 "  - time: {window: 1d, label: day}\n"
                                 "  - count: {rows: 300, counter: external}\n"
                                 "  - hash: {buckets: 2}\n"
                                 "  - hash: {buckets: 100, label: many}\n"
                                 "  - probabilistic: {bits: 5, threshold: 9}\n";
static const char aged[] = "strategies:\n"
                           "  - probabilistic: {bits: 3, threshold: 6, max_age: 2h}\n"
                           "  - count: {rows: 60, counter: external, max_age: 3h}\n"
                           "  - weighted: {bytes: 3000B, threshold: 5, max_age: 1d}\n";

static const struct {
    const char *name, *workload, *strategies;
} cases[] = {
    {"constant", "arrivals: {rate: 100/h}\n", kinds},
    {"zipf", "arrivals: {rate: 200/h}\nkeys: {count: 20, popularity: {zipf: 1.2}}\n", kinds},
    {"daily", "arrivals: {rate: 100/h, daily: {amplitude: 0.9, peak: 5h}}\n", kinds},
    {"bursts", "arrivals: {rate: 150/h, bursts: {on: 10m, off: 6h, factor: 50}}\n", kinds},
    {"spikes", "arrivals: {rate: 100/h, spikes: [{at: 30h, lasts: 2h, factor: 20, keys: 40%}]}\n", kinds},
    {"expiring", "arrivals: {rate: 100/h}\nrow: {bytes: 350B, ttl: 1d, format: payload}\n", kinds},
    {"reads", "arrivals: {rate: 100/h}\nreads: {latest: {rows: 40, rate: 30/h}, all: {rate: 3/h}}\n", kinds},
    {"aged", "arrivals: {rate: 100/h, bursts: {on: 10m, off: 6h, factor: 50}}\n", aged},
    {"on disk", "arrivals: {rate: 100/h}\nrow: {bytes: 350B}\n", kinds},
    {"on disk, bursts",
     "arrivals: {rate: 150/h, bursts: {on: 10m, off: 6h, factor: 50}}\nrow: {bytes: 90B}\n", kinds},
    {"on disk, expiring",
     "arrivals: {rate: 100/h}\nrow: {ttl: 1d, format: da, columns: {a: {type: text, bytes: 340B}, b: {type: "
     "bigint, present: "
     "40%}}}\n",
     kinds},
    {"on disk, aged", "arrivals: {rate: 100/h}\nrow: {bytes: 16KB}\n", aged},
    {"lognormal", "arrivals: {rate: 400/h}\nrow: {bytes: {lognormal: {mean: 350B, sigma: 1}}}\n", unweighted},
    {"uniform, expiring",
     "arrivals: {rate: 400/h, daily: {amplitude: 0.9, peak: 5h}, bursts: {on: 10m, off: 6h, factor: 50}}\n"
     "row: {bytes: {uniform: [20B, 900B]}, ttl: 1d}\n",
     unweighted},
    {"Pareto",
     "arrivals: {rate: 6K/h, weekend: 0.1}\nrow: {bytes: {pareto: {min: 90B, alpha: 9}}, format: payload}\n",
     unweighted},
    {"daily and read",
     "arrivals: {rate: 150/h, daily: {amplitude: 0.9, peak: 5h}}\n"
     "reads: {latest: {rows: 40, rate: 30/h}, all: {rate: 3/h}}\n",
     kinds},
    {"aged and read", "arrivals: {rate: 100/h}\nreads: {latest: {rows: 40, rate: 30/h}}\n", aged},
};

/* The samples of a strategy from 30 seeds of one mode. */
struct seen {
    struct tune_sample samples[METRICS_MAX];
    char names[METRICS_MAX][LAB_METRIC_NAME_SIZE];
    size_t count;
    struct lab_histogram distributions[DISTRIBUTIONS];
    double keys;
};

static struct lab_result *run(const char *workload, const char *strategies, const char *engine, uint64_t seed,
                              uint32_t jobs)
{
    char text[4096];
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    struct sim_error error;
    snprintf(text, sizeof text,
             "duration: 60h\nlimits: {partition_rows: 90, tiny_rows: 20}\n%s%s%s%sengine: %s\n",
             strstr(workload, "\nkeys:") == NULL ? "keys: {count: 9}\n" : "",
             strstr(workload, "\nrow:") == NULL ? "row: {bytes: 350B, format: payload}\n" : "", workload,
             strategies, engine);
    if (!lab_scenario_parse("thin.yaml", text, strlen(text), NULL, 0, &seed, &scenario, &error) ||
        !lab_run(scenario, jobs, NULL, &result, &error))
        fail_msg("%s", error.text);
    lab_scenario_destroy(scenario);
    return result;
}

static void add(struct seen *seen, const char *name, double value)
{
    size_t at = 0;
    while (at < seen->count && strcmp(seen->names[at], name) != 0)
        at++;
    assert_true(at < METRICS_MAX);
    if (at == seen->count)
        snprintf(seen->names[seen->count++], LAB_METRIC_NAME_SIZE, "%s", name);
    tune_sample_add(&seen->samples[at], value);
}

static double figure(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? 0 : metric->value;
}

/* The bytes on disk per row, which vary far less from seed to seed than the total: write times take more
 * bytes as the run proceeds, so this figure shows when the rows of each partition were written. */
static void see_bytes(struct seen *seen, const struct lab_strategy_result *strategy)
{
    static const char *const groups[] = {"all", "closed", "row_weighted"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        char bytes[LAB_METRIC_NAME_SIZE], rows[LAB_METRIC_NAME_SIZE], name[LAB_METRIC_NAME_SIZE];
        snprintf(bytes, sizeof bytes, "partitions.%s.bytes.mean", groups[i]);
        snprintf(rows, sizeof rows, "partitions.%s.rows.mean", groups[i]);
        snprintf(name, sizeof name, "bytes_a_row.%s", groups[i]);
        if (figure(strategy, rows) > 0)
            add(seen, name, figure(strategy, bytes) / figure(strategy, rows));
    }
}

/* The number of partitions that began in each part of the run. */
static void see_timeline(struct seen *seen, const struct lab_timeline *timeline)
{
    enum { PARTS = 6 };
    double begun[LAB_STATES][PARTS] = {{0}};
    for (size_t i = 0; i < timeline->count; i++) {
        const struct lab_slice *slice = &timeline->items[i];
        int64_t part = (slice->start_ns - START_NS) / (HOURS * SIM_HOUR / PARTS);
        assert_true(part >= 0 && part < PARTS);
        begun[slice->state][part] += (double)slice->partitions;
    }
    for (int state = 0; state < LAB_STATES; state++) {
        for (int part = 0; part < PARTS; part++) {
            char name[LAB_METRIC_NAME_SIZE];
            snprintf(name, sizeof name, "begun.%d.%d", state, part);
            add(seen, name, begun[state][part]);
        }
    }
}

static void see(struct seen *seen, const struct lab_strategy_result *strategy, double keys)
{
    const struct lab_histogram *distributions[DISTRIBUTIONS] = {
        &strategy->closed_rows, &strategy->open_rows, &strategy->closed_bytes, &strategy->open_bytes,
        &strategy->read_partitions};
    for (size_t i = 0; i < DISTRIBUTIONS; i++)
        lab_histogram_merge(&seen->distributions[i], distributions[i]);
    seen->keys += keys;
    for (size_t i = 0; i < strategy->metrics.count; i++) {
        if (strncmp(strategy->metrics.items[i].name, "peak.", 5) != 0)
            add(seen, strategy->metrics.items[i].name, strategy->metrics.items[i].value);
    }
    see_timeline(seen, &strategy->timeline);
    see_bytes(seen, strategy);
}

static size_t compare(const char *name, const char *label, const struct seen *exact,
                      const struct seen *thinned)
{
    for (size_t i = 0; i < exact->count; i++) {
        size_t at = 0;
        while (at < thinned->count && strcmp(exact->names[i], thinned->names[at]) != 0)
            at++;
        if (at == thinned->count)
            fail_msg("%s, %s: thinned has no %s", name, label, exact->names[i]);
        const struct tune_sample *one = &exact->samples[i], *other = &thinned->samples[at];
        double p = tune_welch_p_value(one, other);
        if (p < FALSE_ALARM)
            fail_msg("%s, %s: %s: exact %.10g (%g), thinned %.10g (%g): p = %g", name, label, exact->names[i],
                     one->mean, tune_sample_stddev(one), other->mean, tune_sample_stddev(other), p);
    }
    for (size_t i = 0; i < DISTRIBUTIONS; i++) {
        struct lab_gap gap;
        if (exact->distributions[i].count == 0 || thinned->distributions[i].count == 0)
            continue;
        assert_true(lab_histogram_gap(&exact->distributions[i], &thinned->distributions[i], &gap));
        double most = sqrt(log(2 / FALSE_ALARM) / 2 * (1 / exact->keys + 1 / thinned->keys));
        if (gap.distance > most)
            fail_msg("%s, %s: distribution %zu: distance %g at %" PRIu64 ", more than %g", name, label, i,
                     gap.distance, gap.size, most);
    }
    return exact->count + DISTRIBUTIONS;
}

static size_t hold_case(size_t index)
{
    static struct seen seen[2][STRATEGIES_MAX];
    static const char *const engines[2] = {"exact", "thinned"};
    size_t comparisons = 0, strategies = 0;
    memset(seen, 0, sizeof seen);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int mode = 0; mode < 2; mode++) {
            struct lab_result *result = run(cases[index].workload, cases[index].strategies, engines[mode],
                                            1000 * (uint64_t)(mode + 1) + seed, 1);
            strategies = result->strategy_count;
            for (size_t i = 0; i < strategies; i++)
                see(&seen[mode][i], &result->strategies[i], (double)result->keys);
            lab_result_destroy(result);
        }
    }
    struct lab_result *named = run(cases[index].workload, cases[index].strategies, "thinned", 1, 1);
    for (size_t i = 0; i < strategies; i++) {
        comparisons += compare(cases[index].name, named->strategies[i].label, &seen[0][i], &seen[1][i]);
        for (int mode = 0; mode < 2; mode++) {
            for (size_t distribution = 0; distribution < DISTRIBUTIONS; distribution++)
                lab_histogram_clear(&seen[mode][i].distributions[distribution]);
        }
    }
    lab_result_destroy(named);
    return comparisons;
}

static void test_distribution_is_that_of_the_exact_mode(void **state)
{
    (void)state;
    size_t comparisons = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        comparisons += hold_case(i);
    if (comparisons < 2500 || comparisons > 20000)
        fail_msg("%zu comparisons", comparisons);
}

static void test_digest_depends_on_the_seed_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab_result *one = run(cases[i].workload, cases[i].strategies, "thinned", 5, 1);
        struct lab_result *three = run(cases[i].workload, cases[i].strategies, "thinned", 5, 3);
        struct lab_result *other = run(cases[i].workload, cases[i].strategies, "thinned", 6, 1);
        assert_true(one->digest == three->digest && one->digest != other->digest);
        lab_result_destroy(one);
        lab_result_destroy(three);
        lab_result_destroy(other);
    }
}

static void test_single_strategy_is_as_among_others(void **state)
{
    (void)state;
    static const char alone[] = "strategies:\n  - probabilistic: {bits: 3, threshold: 6}\n";
    struct lab_result *one = run(cases[3].workload, alone, "thinned", 5, 1);
    struct lab_result *all = run(cases[3].workload, kinds, "thinned", 5, 1);
    assert_string_equal(all->strategies[7].label, "probabilistic");
    assert_true(one->rows == all->rows);
    assert_true(one->strategies[0].placement_digest == all->strategies[7].placement_digest);
    lab_result_destroy(one);
    lab_result_destroy(all);
}

static struct lab_result *run_text(const char *text)
{
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    struct sim_error error;
    if (!lab_scenario_parse("thin.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error) ||
        !lab_run(scenario, 1, NULL, &result, &error))
        fail_msg("%s", error.text);
    lab_scenario_destroy(scenario);
    return result;
}

/* A spike from the middle of hour 30 to the middle of hour 33: the largest window is one of the two whole
 * ones. */
static void test_largest_window_is_named(void **state)
{
    (void)state;
    static const char spike[] =
        "arrivals: {rate: 100/h, spikes: [{at: 1830m, lasts: 3h, factor: 20, keys: 100%}]}\n";
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_result *result = run(spike, kinds, "thinned", seed, 1);
        const struct lab_largest *largest = &result->strategies[1].largest[LAB_IN_ROWS];
        const int64_t hour = largest->bucket - START_NS / SIM_HOUR;
        assert_true(largest->size > 150 && (hour == 31 || hour == 32));
        lab_result_destroy(result);
    }
}

/* The largest number of rows that a key may write: 60 days of 1e9 rows/s, within 8 standard deviations
 * (1.2e-15). */
static void test_busiest_key_is_counted(void **state)
{
    (void)state;
    struct lab_result *result =
        run_text("duration: 60d\nkeys: {count: 1}\narrivals: {rate: 1000000000/s}\n"
                 "strategies: [unbucketed: {}, hash: {buckets: 16}, time: {window: 1d}]\n"
                 "engine: thinned\n");
    assert_true(fabs((double)result->rows - 5.184e15) <= 8 * sqrt(5.184e15));
    for (size_t i = 0; i < result->strategy_count; i++)
        assert_true(lab_metrics_find(&result->strategies[i].metrics, "writes.rows")->value ==
                    (double)result->rows);
    lab_result_destroy(result);
}

/* A table whose partitions are (key, bucket) and whose rows have ids needs no row one by one, whatever the
 * order of its partition key. A table that overwrites is not thinned. Two days of 1000 rows/s in windows of a
 * day, within 8 standard deviations. */
static void test_table_of_many_rows_counts_them(void **state)
{
    (void)state;
    static const char text[] = "duration: 2d\nkeys: {count: 1}\narrivals: {rate: 1000/s}\n"
                               "row: {columns: {value: {type: blob, bytes: 9B}}}\n"
                               "table:\n  name: points\n"
                               "  columns: {metric: key, day: bucket, at: time, id: id, value: data}\n"
                               "  partition_key: [day, metric]\n  clustering: [at, id]\n"
                               "strategies: [time: {window: 1d}]\n";
    struct lab_result *result = run_text(text);
    const struct lab_strategy_result *strategy = &result->strategies[0];
    assert_true(lab_metrics_find(&strategy->metrics, "peak.rows_per_second_one_partition") == NULL);
    assert_true(figure(strategy, "partitions.total") == 2);
    assert_true(figure(strategy, "rows.stored") == (double)result->rows);
    assert_true(fabs(figure(strategy, "partitions.all.rows.max") - 86.4e6) <= 8 * sqrt(86.4e6));
    lab_result_destroy(result);
    const struct lab_override overwrites[] = {{"table.clustering=[at]"}, {"engine=thinned"}};
    struct lab_scenario *scenario;
    struct sim_error error;
    assert_false(lab_scenario_parse("thin.yaml", text, strlen(text), overwrites, 2, NULL, &scenario, &error));
    assert_non_null(strstr(error.text, "the table's partitions need each row's columns"));
    assert_true(lab_scenario_parse("thin.yaml", text, strlen(text), overwrites, 1, NULL, &scenario, &error));
    assert_int_equal(scenario->engine, LAB_ENGINE_AUTO);
    lab_scenario_destroy(scenario);
}

/* Partitions that hold the same rows exceed a limit at the same time, in either mode: row 100,001 at 3
 * rows/s, within 6 standard deviations. Of two hash buckets with half of the rows each, the first takes less
 * than twice as long. */
static void test_same_rows_exceed_a_limit_at_the_same_time(void **state)
{
    (void)state;
    static const char *const engines[] = {"exact", "thinned"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "duration: 30d\nkeys: {count: 1}\narrivals: {rate: 3/s}\nengine: %s\n"
            "limits: {partition_rows: 100000}\n"
            "strategies: [time: {window: 1d}, unbucketed: {}, count: {rows: 1000000, counter: external}, "
            "probabilistic: {bits: 9, threshold: 2000}, hash: {buckets: 2}, "
            "time: {window: 1h, label: hour}]\n",
            engines[i]);
        struct lab_result *result = run_text(text);
        const double expected = 100001.0 / 3 / 86400, deviation = sqrt(100001.0) / 3 / 86400;
        const double first = figure(&result->strategies[0], "partitions.first_over_days");
        assert_true(fabs(first - expected) <= 6 * deviation);
        for (int j = 1; j < 4; j++)
            assert_true(figure(&result->strategies[j], "partitions.first_over_days") == first);
        const double hash = figure(&result->strategies[4], "partitions.first_over_days");
        assert_true(hash <= 2 * expected && hash >= 2 * expected - 9 * deviation);
        assert_true(lab_metrics_find(&result->strategies[5].metrics, "partitions.first_over_days") == NULL);
        lab_result_destroy(result);
    }
}

/* Reads of a day a month ago query 25 windows of an hour and 2 of a day, whatever part of the run is younger
 * than a month; in both engines, and also if all of it is. */
static void test_reads_of_old_ranges_are_those_of_the_steady_state(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "duration: 40d\nkeys: {count: 2}\narrivals: {rate: 1/m}\nreads: {range: {span: 1d, age: 30d, rate: "
        "1/m}}\n"
        "strategies: [time: {window: 1h}, time: {window: 1d, label: longer}]\n",
        "duration: 2h\nkeys: {count: 2}\narrivals: {rate: 1/s}\nreads: {range: {span: 24m, age: 80m, rate: "
        "1/s}}\n"
        "agents: {count: 2}\nstrategies: [time: {window: 1m}, time: {window: 24m, label: longer}]\n"};
    for (int i = 0; i < 2; i++) {
        struct lab_result *result = run_text(texts[i]);
        assert_true(fabs(figure(&result->strategies[0], "reads.partitions_per_read.mean") - 25) < 0.05);
        assert_true(fabs(figure(&result->strategies[1], "reads.partitions_per_read.mean") - 2) < 0.05);
        assert_true(figure(&result->strategies[1], "reads.count") > 6500);
        lab_result_destroy(result);
    }
    char text[512];
    snprintf(text, sizeof text, "%s", texts[0]);
    memcpy(strstr(text, "40d"), "20d", 3);
    struct lab_result *result = run_text(text);
    assert_true(fabs(figure(&result->strategies[0], "reads.partitions_per_read.mean") - 25) < 0.05);
    assert_true(figure(&result->strategies[0], "reads.count") > 20000);
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution_is_that_of_the_exact_mode),
        cmocka_unit_test(test_digest_depends_on_the_seed_only),
        cmocka_unit_test(test_single_strategy_is_as_among_others),
        cmocka_unit_test(test_largest_window_is_named),
        cmocka_unit_test(test_busiest_key_is_counted),
        cmocka_unit_test(test_table_of_many_rows_counts_them),
        cmocka_unit_test(test_same_rows_exceed_a_limit_at_the_same_time),
        cmocka_unit_test(test_reads_of_old_ranges_are_those_of_the_steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
