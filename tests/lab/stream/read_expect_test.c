/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: computed reads find what drawn reads find. Method: in the exact mode both meet the same rows, and
 * there are a hundred thousand drawn reads, so that the means differ only by the chance of the reads: by six
 * standard errors with a chance of 2e-9, over all comparisons together below 1e-6; the seed is fixed.
 * Successive reads see nearly the same rows but are a Poisson process, so each is weighed separately. In the
 * thinned mode the rows differ, so the means over seeds are compared by Welch's test. */
#include <math.h>
#include <stdlib.h>

#include "../scenario_of.h"
#include "lab/run.h"
#include "lab/scenario.h"
#include "tune/sample.h"

#define SEEDS        8u
#define SCANNED_MOST 30000.0 /* by a read of all rows of a key */

static const char base[] = "name: expect\nduration: 3d\nkeys: {count: 8, popularity: {zipf: 1.0}}\n"
                           "limits: {tiny_rows: 3}\n";
static const char latest[] = "reads: {latest: {rows: 40, rate: 0.4/s}}\n";
static const char all_kinds[] =
    "reads: {latest: {rows: 9, rate: 0.4/s}, all: {rate: 0.4/s}, range: {span: 5h, "
    "age: 7h, rate: 0.4/s}}\n";
static const char now[] = "reads: {all: {rate: 0.4/s}, range: {span: 40m, rate: 0.4/s}}\n";
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

static struct lab_scenario *scenario_with(const char *arrivals, const char *reads, const char *text)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s%s%s", arrivals, reads, text);
    return scenario_of(base, whole);
}

#define FIGURES 9
static const char *const kinds[] = {"reads.latest", "reads.range", "reads.all"};
/* The means of a read; a sample of the drawn reads has the standard error of a figure on [0, most]. */
static const char *const means[] = {"partitions_per_read.mean", "empty_partitions_per_read",
                                    "rows_scanned_per_read"};

static void compare_kind(const struct lab_result *drawn, const struct lab_result *expected, size_t strategy,
                         const char *kind)
{
    char name[64];
    snprintf(name, sizeof name, "%s.partitions_per_read.max", kind);
    const double most = figure(drawn, strategy, name);
    assert_true(figure(expected, strategy, name) >= most);
    snprintf(name, sizeof name, "%s.count", kind);
    const double count = figure(drawn, strategy, name);
    assert_true(fabs(figure(expected, strategy, name) - count) < 6 * sqrt(count));
    snprintf(name, sizeof name, "%s.partitions_per_read.p99", kind);
    assert_true(fabs(figure(expected, strategy, name) - figure(drawn, strategy, name)) <=
                fmax(1, 0.03 * most));
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        snprintf(name, sizeof name, "%s.%s", kind, means[i]);
        const double one = figure(drawn, strategy, name), other = figure(expected, strategy, name);
        /* No distribution on [0, top] with this mean has a larger variance. */
        const double top = i < 2 ? most : SCANNED_MOST, error = sqrt(fmax(top - one, 0) * one / count);
        if (fabs(one - other) > 6 * error + 1e-9)
            fail_msg("%s: %s: drawn %g, expected %g, standard error %g", drawn->strategies[strategy].label,
                     name, one, other, error);
    }
}

static void compare_exact(const char *arrivals, const char *reads, const char *text)
{
    struct lab_scenario *scenario = scenario_with(arrivals, reads, text);
    struct lab_result *drawn = run(scenario, 1, false, 1), *expected = run(scenario, 1, true, 1);
    struct lab_result *again = run(scenario, 1, true, 2);
    for (size_t i = 0; i < drawn->strategy_count; i++) {
        compare_kind(drawn, expected, i, "reads");
        for (size_t k = 0; k < 3; k++) {
            char count[32];
            snprintf(count, sizeof count, "%s.count", kinds[k]);
            if (lab_metrics_find(&drawn->strategies[i].metrics, count) != NULL)
                compare_kind(drawn, expected, i, kinds[k]);
        }
        for (size_t k = 0; k < expected->strategies[i].metrics.count; k++)
            assert_true(again->strategies[i].metrics.items[k].value ==
                        expected->strategies[i].metrics.items[k].value);
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
    compare_exact(steady, latest, strategies);
    compare_exact(uneven, latest, strategies);
    compare_exact(uneven, latest, pairs);
    compare_exact(uneven, all_kinds, strategies);
    compare_exact(steady, now, strategies);
}

/* Computed reads of thinned rows, and of exact ones. */
static void test_expected_reads_of_thinned_rows_query_the_same(void **state)
{
    static const char *const engines[] = {"engine: thinned\narrivals: {rate: 400/h}\n",
                                          "engine: exact\narrivals: {rate: 400/h}\n"};
    (void)state;
    struct tune_sample samples[2][16 * FIGURES] = {0};
    size_t count = 0;
    for (int mode = 0; mode < 2; mode++) {
        struct lab_scenario *scenario = scenario_with(engines[mode], all_kinds, strategies);
        for (uint32_t seed = 1; seed <= SEEDS; seed++) {
            struct lab_result *result = run(scenario, seed + 100 * (uint32_t)mode, true, 2);
            count = result->strategy_count;
            assert_in_range(count, 1, 16);
            for (size_t i = 0; i < FIGURES * count; i++) {
                char name[64];
                snprintf(name, sizeof name, "%s.%s", kinds[i / 3 % 3], means[i % 3]);
                tune_sample_add(&samples[mode][i], figure(result, i / FIGURES, name));
            }
            lab_result_destroy(result);
        }
        lab_scenario_destroy(scenario);
    }
    for (size_t i = 0; i < FIGURES * count; i++) {
        const struct tune_sample *one = &samples[0][i], *other = &samples[1][i];
        const double p = tune_welch_p_value(one, other);
        if (p < 1e-10 || fabs(one->mean - other->mean) > 0.05 * other->mean + 0.02)
            fail_msg("strategy %zu: %s.%s: thinned %g, exact %g", i / FIGURES, kinds[i / 3 % 3], means[i % 3],
                     one->mean, other->mean);
    }
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
        struct lab_scenario *scenario = scenario_with(steady, latest, texts[i]);
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
