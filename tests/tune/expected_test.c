/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the distribution of sizes says how many partitions of a run exceed a limit.
 * Method: small scenarios whose limits are near the sizes of their partitions run with many seeds; the mean
 * number of partitions above a limit must be the expected one, and not above it where write times of a year
 * make rows of bytes a little larger. Bursts differ with the seed, so bounds are averaged over seeds, too.
 * Tolerances are five standard deviations of a sum of independent events, and seeds are fixed, so no failure
 * is a matter of chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../lab/scenario_of.h"
#include "kernel/time.h"
#include "lab/run.h"
#include "tune/expected.h"

enum { SEEDS = 60 };

static const struct {
    const char *text;
    double slack; /* the upper bound is at most this many times the lower one; 0: it is a bound only */
} cases[] = {
    /* Windows: Poisson. */
    {"keys: {count: 30}\nduration: 10d\narrivals: {rate: 3000/h}\nlimits: {partition_rows: 2480}\n"
     "strategies:\n  - time: {window: 1d}\n",
     1.01},
    /* The last window is cut by the end of the run, and the windows begin elsewhere. */
    {"keys: {count: 30}\nduration: 60h\narrivals: {rate: 3000/h}\nlimits: {partition_rows: 640}\n"
     "strategies:\n  - time: {window: 7h, epoch: 2026-01-01T02:00:00Z}\n",
     1.01},
    {"keys: {count: 20, popularity: {zipf: 1.1}}\nduration: 4d\narrivals: {rate: 2000/h, daily: {amplitude: "
     "0.8, peak: "
     "12h}}\nlimits: {partition_rows: 800}\nstrategies:\n  - time: {calendar: hour}\n",
     1.01},
    {"keys: {count: 20}\nduration: 4d\narrivals: {rate: 1000/h, bursts: {on: 30m, off: 4h, factor: 20}, "
     "spikes: [{at: "
     "30h, lasts: 2h, factor: 10, keys: 30%}]}\nlimits: {partition_rows: 400}\nstrategies:\n  - time: "
     "{window: 3h}\n",
     1.01},
    /* The other state of the bursts is the faster one. */
    {"keys: {count: 20}\nduration: 4d\narrivals: {rate: 1000/h, bursts: {on: 4h, off: 30m, factor: 0.05}}\n"
     "limits: {partition_rows: 700}\nstrategies:\n  - time: {window: 3h}\n",
     1.01},
    /* Bytes of one size. */
    {"keys: {count: 30}\nduration: 4d\narrivals: {rate: 3000/h}\nrow: {bytes: 300}\nlimits: "
     "{partition_bytes: 800KB}\n"
     "strategies:\n  - time: {window: 1d}\n",
     0},
    /* Partitions without end. */
    {"keys: {count: 200}\nduration: 2d\narrivals: {rate: 4000/h}\nlimits: {partition_rows: 990}\n"
     "strategies:\n  - unbucketed: {}\n",
     1.01},
    {"keys: {count: 50}\nduration: 2d\narrivals: {rate: 4000/h}\nlimits: {partition_rows: 1050}\n"
     "strategies:\n  - hash: {buckets: 4}\n",
     1.01},
    /* Negative binomial. */
    {"keys: {count: 5}\nduration: 2d\narrivals: {rate: 9000/h}\nlimits: {partition_rows: 900}\n"
     "strategies:\n  - probabilistic: {bits: 5, threshold: 16}\n",
     1.1},
    {"keys: {count: 5}\nduration: 2d\narrivals: {rate: 9000/h}\nlimits: {partition_rows: 900}\n"
     "strategies:\n  - probabilistic: {bits: 5, threshold: 16, max_age: 1h}\n",
     0},
    /* max_age makes more partitions, and a limit below the mean is exceeded by a key's first one. */
    {"keys: {count: 50}\nduration: 5d\narrivals: {rate: 100/h}\nlimits: {partition_rows: 20}\n"
     "strategies:\n  - probabilistic: {bits: 10, threshold: 9, max_age: 12h}\n",
     0},
    {"keys: {count: 50}\nduration: 5d\narrivals: {rate: 100/h}\nlimits: {partition_rows: 20}\n"
     "strategies:\n  - probabilistic: {bits: 10, threshold: 9}\n",
     0},
    {"keys: {count: 5}\nduration: 2d\narrivals: {rate: 9000/h}\nrow: {bytes: 200}\nlimits: {partition_bytes: "
     "250KB}\n"
     "strategies:\n  - weighted: {bytes: 8KB, threshold: 16}\n",
     0},
    /* Drawn sizes: upper bounds. */
    {"keys: {count: 5}\nduration: 2d\narrivals: {rate: 9000/h}\nrow: {bytes: {lognormal: {mean: 300, sigma: "
     "1}}}\n"
     "limits: {partition_bytes: 340KB}\nstrategies:\n  - count: {rows: 1000, counter: external}\n",
     0},
    {"keys: {count: 5}\nduration: 2d\narrivals: {rate: 9000/h}\nrow: {bytes: {pareto: {min: 100, alpha: "
     "2.5}}}\n"
     "limits: {partition_bytes: 300KB}\nstrategies:\n  - time: {window: 1h}\n",
     0},
    {"keys: {count: 5}\nduration: 2d\narrivals: {rate: 9000/h}\nrow: {bytes: {uniform: [100, 500]}}\n"
     "limits: {partition_bytes: 350KB}\nstrategies:\n  - probabilistic: {bits: 5, threshold: 20}\n",
     0},
    {"keys: {count: 5}\nduration: 2d\narrivals: {rate: 9000/h}\nrow: {bytes: {pareto: {min: 400, alpha: "
     "1.6}}}\n"
     "limits: {partition_bytes: 1MB}\nstrategies:\n  - count: {rows: 100, counter: external}\n",
     1.01},
    /* Single rows may exceed the limit, of keys that have fewer than its mean rows. */
    {"keys: {count: 3000}\nduration: 2d\narrivals: {rate: 9000/h}\nrow: {bytes: {pareto: {min: 400, alpha: "
     "1.6}}}\n"
     "limits: {partition_bytes: 300KB}\nstrategies:\n  - count: {rows: 100, counter: external}\n",
     1.01},
    {"keys: {count: 3000}\nduration: 2d\narrivals: {rate: 9000/h}\nrow: {bytes: {pareto: {min: 400, alpha: "
     "1.6}}}\n"
     "limits: {partition_bytes: 300KB}\nstrategies:\n  - weighted: {bytes: 3KB, threshold: 16}\n",
     1.01},
    /* Rows that expire, and numbers of rows above the limit that no key reaches. */
    {"keys: {count: 30}\nduration: 10d\narrivals: {rate: 3000/h}\nrow: {ttl: 3d}\nlimits: {partition_rows: "
     "2480}\n"
     "strategies:\n  - time: {window: 1d}\n",
     0},
    {"keys: {count: 20}\nduration: 1d\narrivals: {rate: 2000/h}\nlimits: {partition_rows: 3000}\n"
     "strategies:\n  - count: {rows: 9000, counter: external}\n",
     0},
};

static double metric(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *found = lab_metrics_find(&strategy->metrics, name);
    assert_non_null(found);
    return found->value;
}

static void compare(size_t index)
{
    struct lab_scenario *scenario = scenario_of("name: x\n", cases[index].text);
    double seen = 0, most = 0, least = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_result *result;
        struct sim_error error;
        struct lab_facts facts;
        scenario->seed = scenario->workload.seed = seed;
        if (!lab_run(scenario, 1, NULL, &result, &error))
            fail_msg("%s", error.text);
        seen += metric(&result->strategies[0], "partitions.over_limit") / SEEDS;
        const struct tune_prospect prospect = {.scenario = scenario, .factor = 1, .seconds = 400.0 * 86400};
        tune_expected_of(&prospect, &scenario->strategies[0].settings, &facts);
        assert_true(facts.has_distribution);
        most += facts.expected_most / SEEDS;
        least += facts.expected_least / SEEDS;
        lab_result_destroy(result);
    }
    const double off = 5 * sqrt(fmax(seen, 1.0 / SEEDS) / SEEDS);
    print_message("%2zu: %.4g seen, %.4g to %.4g expected\n", index, seen, least, most);
    if (seen > most + off ||
        (cases[index].slack > 0 && (seen < least - off || most > cases[index].slack * least + off)))
        fail_msg("%.6g seen, %.6g to %.6g expected in\n%s", seen, least, most, cases[index].text);
    lab_scenario_destroy(scenario);
}

static void test_means_over_seeds_lie_between_the_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare(i);
}

/* Seconds above a limit are rare and nearly independent, so the share of the seeds whose busiest second is
 * above it is 1 - exp(-n) for n expected ones. */
static const char *const rates[] = {
    "keys: {count: 20}\nduration: 2h\narrivals: {rate: 400/s}\nlimits: {partition_writes: 41/s}\n"
    "strategies: [unbucketed: {}]\n",
    "keys: {count: 20, popularity: {zipf: 1}}\nduration: 2h\narrivals: {rate: 200/s}\n"
    "limits: {partition_writes: 32/s}\nstrategies: [hash: {buckets: 4}]\n",
    "keys: {count: 5}\nduration: 1d\narrivals: {rate: 20/s, daily: {amplitude: 0.8, peak: 12h}, spikes: "
    "[{at: 11h, lasts: 10m, factor: 3, keys: 40%}]}\nlimits: {partition_writes: 38/s}\n"
    "strategies: [time: {window: 1h}]\n",
    "keys: {count: 5}\nduration: 1d\narrivals: {rate: 10/s, bursts: {on: 20s, off: 1h, factor: 10}}\n"
    "limits: {partition_writes: 37/s}\nstrategies: [probabilistic: {bits: 8, threshold: 9}]\n",
};

static void test_the_busiest_second_is_as_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct lab_scenario *scenario = scenario_of("name: x\n", rates[i]);
        double over = 0, most = 0, least = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct lab_result *result;
            struct sim_error error;
            struct lab_rate_facts facts[LAB_RATES];
            const struct tune_prospect prospect = {
                .scenario = scenario, .factor = 1, .seconds = 400.0 * 86400};
            scenario->seed = scenario->workload.seed = seed;
            if (!lab_run(scenario, 1, NULL, &result, &error))
                fail_msg("%s", error.text);
            tune_rates_of(&prospect, &scenario->strategies[0].settings, facts);
            over += metric(&result->strategies[0], "peak.rows_per_second_one_partition") >
                            scenario->limits.rate[LAB_RATE_WRITES]
                        ? 1.0 / SEEDS
                        : 0;
            most = facts[LAB_RATE_WRITES].most;
            least = facts[LAB_RATE_WRITES].least;
            lab_result_destroy(result);
        }
        print_message("%zu: %.3g of the seeds, %.3g to %.3g expected\n", i, over, -expm1(-least),
                      -expm1(-most));
        assert_true(most > 0.2 && most < 2 && most < 1.5 * least);
        assert_true(over <= -expm1(-most) + 5 * 0.5 / sqrt(SEEDS) &&
                    over >= -expm1(-least) - 5 * 0.5 / sqrt(SEEDS));
        lab_scenario_destroy(scenario);
    }
}

static void facts_of(const char *text, struct lab_facts *out)
{
    struct lab_scenario *scenario = scenario_of("name: x\n", text);
    const struct tune_prospect prospect = {
        .scenario = scenario, .factor = 1, .seconds = (double)scenario->workload.duration_ns * 1e-9};
    tune_expected_of(&prospect, &scenario->strategies[0].settings, out);
    lab_scenario_destroy(scenario);
}

static void test_what_cannot_happen_is_certain_and_the_rest_is_small(void **state)
{
    (void)state;
    struct lab_facts facts;
    facts_of("keys: {count: 10}\nduration: 90d\narrivals: {rate: 10/s}\nrow: {bytes: 100}\n"
             "limits: {partition_bytes: 100MB}\nstrategies:\n  - time: {window: 7d}\n",
             &facts);
    assert_true(facts.has_distribution && facts.expected_most > 0 && facts.expected_most < 1e-100);
    facts_of("keys: {count: 10}\nduration: 1d\narrivals: {rate: 10/s}\nlimits: {partition_rows: 100000}\n"
             "strategies:\n  - count: {rows: 100000, counter: external}\n",
             &facts);
    assert_true(facts.has_distribution && facts.expected_most == 0);
    facts_of("keys: {count: 10}\nduration: 90d\narrivals: {rate: 100/s}\nlimits: {partition_rows: 100000}\n"
             "strategies:\n  - probabilistic: {bits: 9, threshold: 40}\n",
             &facts);
    assert_true(facts.expected_share > 0 && facts.expected_share < 1e-20);
    facts_of("keys: {count: 10}\nduration: 90d\narrivals: {rate: 100/s}\nrow: {bytes: {lognormal: {mean: "
             "350, sigma: 1}}}\n"
             "limits: {partition_rows: 100000, partition_bytes: 100MB}\nstrategies:\n"
             "  - count: {rows: 20480, counter: external}\n",
             &facts);
    assert_true(facts.expected_most > 0 && facts.expected_most < 1e-6);
    facts_of("keys: {count: 10}\nduration: 1d\narrivals: {rate: 1/s}\ndeletes: {share: 10%, after: 1h}\n"
             "limits: {partition_rows: 100000}\nstrategies:\n  - time: {window: 1h}\n",
             &facts);
    assert_false(facts.has_distribution);
}

/* Runs that are too short to exceed a limit say when longer ones do: the medians over the seeds are compared
 * by the sign test, and only bursts make the horizon depend on the seed. */
static void test_horizons_are_the_median_of_the_first_passage(void **state)
{
    (void)state;
    static const char *const streams[] = {
        "keys: {count: 20}\narrivals: {rate: 2000/d}\nlimits: {partition_rows: 400}\n",
        "keys: {count: 50, popularity: {zipf: 0.1}}\narrivals: {rate: 5000/d, daily: {amplitude: 0.8, peak: "
        "12h}}\nrow: {bytes: 300}\nlimits: {partition_bytes: 100KB}\n",
        "keys: {count: 20}\narrivals: {rate: 2000/d}\nrow: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n"
        "limits: {partition_bytes: 200KB}\n",
        "keys: {count: 20}\narrivals: {rate: 2000/d, bursts: {on: 20m, off: 2h, factor: 10}}\n"
        "limits: {partition_rows: 600}\n"};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        size_t earlier[2] = {0, 0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            double days[2][2];
            for (int is_long = 0; is_long < 2; is_long++) {
                char text[512];
                struct lab_result *result;
                struct sim_error error;
                snprintf(text, sizeof text,
                         "duration: %s\n%sstrategies: [unbucketed: {}, hash: {buckets: 2}]\n",
                         is_long ? "24d" : "1d", streams[i]);
                struct lab_scenario *scenario = scenario_of("name: x\n", text);
                scenario->seed = scenario->workload.seed = seed;
                if (!lab_run(scenario, 1, NULL, &result, &error) ||
                    !tune_horizons_add(scenario, result, &error))
                    fail_msg("%s", error.text);
                for (size_t j = 0; j < 2; j++)
                    days[is_long][j] = metric(&result->strategies[j],
                                              is_long ? "partitions.first_over_days" : "horizon.days");
                lab_result_destroy(result);
                lab_scenario_destroy(scenario);
            }
            for (size_t j = 0; j < 2; j++)
                earlier[j] += days[1][j] < days[0][j];
        }
        print_message("%zu: %zu and %zu of %d are earlier\n", i, earlier[0], earlier[1], SEEDS);
        for (size_t j = 0; j < 2; j++) /* 4.4 standard deviations */
            assert_in_range(earlier[j], SEEDS / 2 - 17, SEEDS / 2 + 17);
    }
}

/* Near the limit, runs of any length are judged alike, unless one shows a partition above it, and tell the
 * same time of the first one. */
static void test_verdicts_and_horizons_do_not_depend_on_the_length_of_a_run(void **state)
{
    (void)state;
    static const char *const streams[] = {
        "keys: {count: 20}\narrivals: {rate: 2000/d}\nlimits: {partition_rows: 470}\n"
        "strategies: [probabilistic: {bits: 4, threshold: 16}, probabilistic: {bits: 4, threshold: 12, "
        "label: b}, "
        "time: {window: 1d}, time: {window: 36h, label: c}]\n",
        "keys: {count: 30, popularity: {zipf: 1}}\narrivals: {rate: 3000/d}\nrow: {bytes: {lognormal: {mean: "
        "300, "
        "sigma: 0.7}}}\nlimits: {partition_bytes: 210KB}\nstrategies: [weighted: {bytes: 8KB, threshold: "
        "10}, "
        "count: {rows: 480, counter: external}, probabilistic: {bits: 5, threshold: 10}]\n",
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        static const unsigned days[] = {3, 4, 9, 30};
        enum lab_within within[4] = {LAB_NOT_JUDGED};
        double horizons[4] = {0, 0, 0, 0};
        for (size_t d = 0; d < sizeof days / sizeof *days; d++) {
            char text[640];
            struct lab_result *result;
            struct sim_error error;
            snprintf(text, sizeof text, "duration: %ud\n%s", days[d], streams[i]);
            struct lab_scenario *scenario = scenario_of("name: x\n", text);
            if (!lab_run(scenario, 1, NULL, &result, &error) || !tune_horizons_add(scenario, result, &error))
                fail_msg("%s", error.text);
            for (size_t j = 0; j < result->strategy_count; j++) {
                const struct lab_facts facts = lab_facts_of(result, &result->strategies[j]);
                const struct lab_judgment judgment = lab_judgment_of(&scenario->limits, &facts);
                const double horizon = metric(&result->strategies[j], "horizon.days");
                print_message("%zu, %s, %u d: %d, %.4g d\n", i, result->strategies[j].label, days[d],
                              judgment.within, horizon);
                assert_true(judgment.within != LAB_NOT_JUDGED);
                assert_true(d == 0 || judgment.over > 0 || judgment.within == within[j]);
                if (facts.over == 0 && horizons[j] > days[d])
                    assert_true(fabs(horizon / horizons[j] - 1) < 0.01);
                within[j] = d == 0 || within[j] == LAB_WITHIN ? judgment.within : within[j];
                horizons[j] = facts.over == 0 ? horizon : horizons[j];
            }
            lab_result_destroy(result);
            lab_scenario_destroy(scenario);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means_over_seeds_lie_between_the_bounds),
        cmocka_unit_test(test_the_busiest_second_is_as_expected),
        cmocka_unit_test(test_horizons_are_the_median_of_the_first_passage),
        cmocka_unit_test(test_verdicts_and_horizons_do_not_depend_on_the_length_of_a_run),
        cmocka_unit_test(test_what_cannot_happen_is_certain_and_the_rest_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
