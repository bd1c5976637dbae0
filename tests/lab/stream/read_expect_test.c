/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: expected reads query as many partitions as drawn reads. Method: in the exact mode both meet the same
 * rows, and there are a hundred thousand drawn reads, so that the means differ only by the chance of the
 * reads: by six standard errors with a chance of 2e-9, over all comparisons together below 1e-7; the seed is
 * fixed. Successive reads see nearly the same rows but are a Poisson process, so each is weighed separately.
 * In the thinned mode the rows differ, so the mean over seeds is compared by Welch's test. */
#include <math.h>
#include <stdlib.h>

#include "../scenario_of.h"
#include "lab/run.h"
#include "lab/scenario.h"
#include "tune/sample.h"

#define SEEDS 8u

static const char base[] = "name: expect\nduration: 3d\nkeys: {count: 8, popularity: {zipf: 1.0}}\n"
                           "reads: {latest: {rows: 40, rate: 0.4/s}}\n";
static const char strategies[] = "strategies:\n"
                                 "  - unbucketed: {}\n"
                                 "  - time: {window: 1h}\n"
                                 "  - time: {window: 1m, label: short}\n"
                                 "  - time: {calendar: day, label: day}\n"
                                 "  - count: {rows: 100, counter: external}\n"
                                 "  - count: {rows: 7, counter: external, label: tiny}\n"
                                 "  - count: {rows: 60, counter: memory, label: memory}\n"
                                 "  - hash: {buckets: 5}\n"
                                 "  - probabilistic: {bits: 3, threshold: 6}\n"
                                 "  - probabilistic: {bits: 1, threshold: 3, label: small}\n"
                                 "  - probabilistic: {bits: 4, threshold: 9, max_age: 2h, label: aged}\n"
                                 "  - weighted: {bytes: 3000B, threshold: 5}\n";
static const char pairs[] = "strategies:\n"
                            "  - time: {window: 20m, read: {plan: pair}}\n"
                            "  - count: {rows: 9, counter: external, read: {plan: pair}}\n"
                            "  - probabilistic: {bits: 1, threshold: 5, read: {plan: parallel, at_once: 4}}\n"
                            "  - hash: {buckets: 6, read: {plan: parallel}}\n";
static const char steady[] = "arrivals: {rate: 400/h}\n";
static const char uneven[] =
    "arrivals: {rate: 300/h, daily: {amplitude: 0.9, peak: 5h}, bursts: {on: 10m, off: 6h, "
    "factor: 50}}\n";

static double figure(const struct lab_result *result, size_t strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&result->strategies[strategy].metrics, name);
    assert_non_null(metric);
    return metric->value;
}

static struct lab_result *run(struct lab_scenario *scenario, uint64_t seed, bool are_expected,
                              uint32_t threads)
{
    struct lab_result *result;
    struct sim_error error;
    scenario->seed = scenario->workload.seed = seed;
    assert_true(lab_reads_can_be_expected(scenario));
    scenario->reads.are_expected = are_expected;
    if (!lab_run(scenario, threads, NULL, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

static struct lab_scenario *scenario_with(const char *arrivals, const char *text)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s%s", arrivals, text);
    return scenario_of(base, whole);
}

static void compare_exact(const char *arrivals, const char *text)
{
    struct lab_scenario *scenario = scenario_with(arrivals, text);
    struct lab_result *drawn = run(scenario, 1, false, 1), *expected = run(scenario, 1, true, 1);
    struct lab_result *again = run(scenario, 1, true, 2);
    for (size_t i = 0; i < drawn->strategy_count; i++) {
        static const char mean[] = "reads.partitions_per_read.mean", p99[] = "reads.partitions_per_read.p99";
        const double count = figure(drawn, i, "reads.count"),
                     most = figure(drawn, i, "reads.partitions_per_read.max");
        const double one = figure(drawn, i, mean), other = figure(expected, i, mean);
        /* No distribution on [1, most] with this mean has a larger variance. */
        const double error = sqrt((most - one) * (one - 1) / count);
        if (fabs(one - other) > 6 * error + 1e-9)
            fail_msg("%s: drawn %g, expected %g, standard error %g", drawn->strategies[i].label, one, other,
                     error);
        assert_true(fabs(figure(expected, i, "reads.count") - count) < 6 * sqrt(count));
        assert_true(fabs(figure(expected, i, p99) - figure(drawn, i, p99)) <= fmax(1, 0.03 * most));
        assert_true(figure(again, i, mean) == other);
        assert_true(expected->strategies[i].placement_digest == drawn->strategies[i].placement_digest);
    }
    lab_result_destroy(drawn);
    lab_result_destroy(expected);
    lab_result_destroy(again);
    lab_scenario_destroy(scenario);
}

static void test_expected_reads_query_what_drawn_ones_do(void **state)
{
    (void)state;
    compare_exact(steady, strategies);
    compare_exact(uneven, strategies);
    compare_exact(uneven, pairs);
}

static void test_expected_reads_of_thinned_rows_query_the_same(void **state)
{
    (void)state;
    struct lab_scenario *scenario = scenario_with("engine: thinned\narrivals: {rate: 400/h}\n", strategies);
    struct tune_sample samples[2][16] = {0};
    assert_in_range(scenario->strategy_count, 1, 16);
    scenario->reads.kinds[LAB_READ_LATEST].rate_per_s /= 10; /* each drawn read ends a stretch of rows */
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        for (int is_expected = 0; is_expected < 2; is_expected++) {
            struct lab_result *result =
                run(scenario, seed + 100 * (uint32_t)is_expected, is_expected != 0, 2);
            for (size_t i = 0; i < result->strategy_count; i++)
                tune_sample_add(&samples[is_expected][i],
                                figure(result, i, "reads.partitions_per_read.mean"));
            lab_result_destroy(result);
        }
    }
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const double p = tune_welch_p_value(&samples[0][i], &samples[1][i]);
        if (p < 1e-10 || fabs(samples[0][i].mean / samples[1][i].mean - 1) > 0.05)
            fail_msg("%s: drawn %g, expected %g", scenario->strategies[i].label, samples[0][i].mean,
                     samples[1][i].mean);
    }
    lab_scenario_destroy(scenario);
}

static void test_reads_that_are_more_than_counts_are_drawn(void **state)
{
    static const char *const texts[] = {
        "row: {ttl: 1d}\nstrategies: [unbucketed: {}]\n",
        "strategies: [time: {window: 1h, read: {remember_empty: true}}]\n",
        "strategies: [hash: {buckets: 4, read: {plan: lazy}}]\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lab_scenario *scenario = scenario_with(steady, texts[i]);
        assert_false(lab_reads_can_be_expected(scenario));
        lab_scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_reads_query_what_drawn_ones_do),
        cmocka_unit_test(test_expected_reads_of_thinned_rows_query_the_same),
        cmocka_unit_test(test_reads_that_are_more_than_counts_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
