/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the stream engine's batches, runs and forgotten partitions do not change its results. Method: the same
 * workload passes through a naive engine that keeps everything and processes one row at a time; every figure
 * must be equal, to the last bit. */
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

#include "../../share.h"
#include "cassandra/ring.h"
#include "cassandra/token.h"
#include "kernel/time.h"
#include "lab/run.h"
#include "naive.h"

static const char workload_text[] = "name: engine-test\n"
                                    "seed: 7\n"
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
    "  - unbucketed: {}\n"
    "  - time: {window: 7h, epoch: 2015-01-01T00:00:00Z}\n"
    "  - time: {window: 20m, label: short}\n"
    "  - time: {calendar: week, label: week}\n"
    "  - count: {rows: 30, counter: external}\n"
    "  - count: {rows: 1, counter: external, label: one}\n"
    "  - probabilistic: {bits: 2, threshold: 9}\n"
    "  - probabilistic: {bits: 0, threshold: 5, label: bits0}\n"
    "  - probabilistic: {chance: 3/17, threshold: 2, label: chance}\n"
    "  - weighted: {bytes: 2KB, threshold: 5}\n"
    "  - weighted: {bytes: 100B, threshold: 60, label: heavy}\n"
    "  - count: {rows: 30, counter: external, max_age: 5h, label: count aged}\n"
    "  - probabilistic: {bits: 2, threshold: 9, max_age: 3h, label: aged}\n"
    "  - probabilistic: {bits: 0, threshold: 1, max_age: 1m, label: one aged}\n"
    "  - weighted: {bytes: 2KB, threshold: 5, max_age: 1d, label: weighted aged}\n"
    "  - hash: {buckets: 5}\n"
    "  - hash: {buckets: 300, label: wide}\n";

/* A window below a second, too short for a naive reader to walk. */
static const char shortest_text[] = "  - time: {window: 100ms, label: shortest}\n";

/* Long enough for the spike after a day. */
static const char *duration(void)
{
    return test_share() > 1 ? "duration: 30h\n" : "duration: 3d\n";
}

static struct lab_scenario *load_with(const char *reads, const struct lab_override *overrides, size_t count)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s%s%s", workload_text, duration(), reads, strategies_text,
             reads[0] == '\0' ? shortest_text : "");
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_parse("engine-test.yaml", text, strlen(text), overrides, count, NULL, &scenario,
                            &error))
        fail_msg("%s", error.text);
    scenario->reads.are_expected = false; /* the naive engine draws them */
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

static void assert_equals_naive(const struct lab_scenario *scenario, const struct lab_result *result)
{
    char message[512];
    if (!naive_check(scenario, result, message, sizeof message))
        fail_msg("%s", message);
}

static void compare_with_naive(const char *reads)
{
    struct lab_scenario *scenario = load(reads);
    struct lab_result *result = run(scenario, 1);
    assert_true(result->rows > test_part(20000));
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

/* A combination of rows out of order, hundreds of equal times, and a history that is loaded in reverse order.
 */
static void compare_with_naive_out_of_order(const char *reads, const char *order)
{
    char backfill[96];
    snprintf(backfill, sizeof backfill, "arrivals.backfill={before: 4d, lasts: 1d, rate: 0.05/s, order: %s}",
             order);
    const struct lab_override overrides[] = {
        {"arrivals.late={share: 5%, by: 2h}"}, {"arrivals.resolution=1m"}, {backfill}};
    struct lab_scenario *scenario = load_with(reads, overrides, 3);
    struct lab_result *result = run(scenario, 1);
    assert_true(result->rows > test_part(30000));
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
        "%s%sreads:\n"
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
        workload_text, duration());
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
    if (test_share() > 1)
        return;
    compare_with_naive_out_of_order("reads: {latest: {rows: 75, rate: 0.01/s, plan: pair}}\n", "forward");
    compare_with_naive_out_of_order("", "forward");
}

static void test_engine_refuses_more_windows_than_a_key_can_keep(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {
        {"arrivals.late={share: 5%, by: 2h}"}, {"arrivals.rate=10000/s"}, {"duration=3d"}};
    struct lab_scenario *scenario = load_with("", overrides, 3);
    struct lab_result *result;
    struct sim_error error;
    assert_false(lab_run(scenario, 1, NULL, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    char wanted[240];
    snprintf(
        wanted, sizeof wanted,
        "engine-test.yaml:%d:5: with late rows or shards the lab keeps every window of a key, here up to "
        "7200000 partitions; use a longer window, or leave out shards, late, resolution and backfill",
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

/* A strategy gets the same rows, whichever other strategies run with it. */
static void test_engine_single_strategy_places_as_among_others(void **state)
{
    (void)state;
    struct lab_scenario *scenario = load("");
    struct lab_result *company = run(scenario, 1);
    struct lab_strategy *strategies = scenario->strategies;
    size_t count = scenario->strategy_count;
    scenario->strategy_count = 1;
    for (size_t i = 0; i < count; i += test_share()) {
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
        cmocka_unit_test(test_engine_single_strategy_places_as_among_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
