/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an expectation splits into metric, comparison and number, and holds as its comparison says;
 * one that cannot be judged as it is meant is refused before the run. Method: tables of texts, good and bad,
 * and the truth table of the six comparisons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/error.h"
#include "lab/run.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_expectation_splits_into_its_parts(void **state)
{
    static const struct {
        const char *text, *metric;
        enum lab_compare compare;
        double value;
        enum lab_expect_unit unit;
    } cases[] = {
        {"probabilistic.partitions.closed.rows.p999 <= 32000", "probabilistic.partitions.closed.rows.p999",
         LAB_LESS_EQUAL, 32000, LAB_EXPECT_PLAIN},
        {"hash.partitions.over_limit == 0", "hash.partitions.over_limit", LAB_EQUAL, 0, LAB_EXPECT_PLAIN},
        {"a.b<1", "a.b", LAB_LESS, 1, LAB_EXPECT_PLAIN},
        {"  a.b\t>  -1.5e3  ", "a.b", LAB_GREATER, -1500, LAB_EXPECT_PLAIN},
        {"a.b>=1e-9", "a.b", LAB_GREATER_EQUAL, 1e-9, LAB_EXPECT_PLAIN},
        {"a.b != 7", "a.b", LAB_NOT_EQUAL, 7, LAB_EXPECT_PLAIN},
        {"a.bytes.max <= 10MB", "a.bytes.max", LAB_LESS_EQUAL, 10e6, LAB_EXPECT_BYTES},
        {"a.latency.write.p99 < 5ms", "a.latency.write.p99", LAB_LESS, 5, LAB_EXPECT_DURATION},
        {"a.latency.write.p99 < 2s", "a.latency.write.p99", LAB_LESS, 2000, LAB_EXPECT_DURATION},
        {"a.rows <= 20k", "a.rows", LAB_LESS_EQUAL, 20000, LAB_EXPECT_THOUSANDS},
        {"a.rows <= 1.5M", "a.rows", LAB_LESS_EQUAL, 1.5e6, LAB_EXPECT_THOUSANDS},
        {"a.rows <= 20_000", "a.rows", LAB_LESS_EQUAL, 20000, LAB_EXPECT_PLAIN},
        {"a.rows <= 5m", "a.rows", LAB_LESS_EQUAL, 300000, LAB_EXPECT_DURATION},
        {"a.share <= 50%", "a.share", LAB_LESS_EQUAL, 0.5, LAB_EXPECT_SHARE},
        {"a label < b.total > 3", "a label < b.total", LAB_GREATER, 3, LAB_EXPECT_PLAIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lab_expect expect;
        const char *problem = lab_expect_parse(cases[i].text, &expect);
        if (problem != NULL)
            fail_msg("'%s': %s", cases[i].text, problem);
        assert_string_equal(expect.text, cases[i].text);
        assert_string_equal(expect.metric, cases[i].metric);
        assert_int_equal(expect.compare, cases[i].compare);
        assert_true(expect.value == cases[i].value);
        assert_int_equal(expect.unit, cases[i].unit);
        lab_expect_clear(&expect);
        assert_null(expect.text);
    }
}

static void test_expectation_that_is_none_says_why(void **state)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"", "no comparison"},
        {"a.b", "no comparison"},
        {"a.b = 1", "no such comparison"},
        {"a.b => 1", "no such comparison"},
        {"a.b <> 1", "no such comparison"},
        {"a.b === 1", "no such comparison"},
        {"<= 1", "not a metric"},
        {"total <= 1", "not a metric"},
        {".total <= 1", "not a metric"},
        {"hash. <= 1", "not a metric"},
        {"a.b <=", "nothing to compare with"},
        {"a.b <= x", "no number"},
        {"a.b <= 1 2", "no number"},
        {"a.b <= .nan", "no number"},
        {"a.b <= 10parsecs", "no number"},
        {"a.b <= 150%", "no number"},
        {"a.b <= 11111111111111111111111111111111111111111111111111111111111111111111111111111", "too long"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lab_expect expect;
        const char *problem = lab_expect_parse(cases[i].text, &expect);
        if (problem == NULL || strstr(problem, cases[i].problem) == NULL || strchr(problem, ';') == NULL)
            fail_msg("'%s': '%s'", cases[i].text, problem == NULL ? "(read)" : problem);
        assert_null(expect.text);
        assert_null(expect.metric);
    }
}

static void test_comparison_uses_its_operator(void **state)
{
    /* For the figures below, at and above the value. */
    static const bool holds[6][3] = {
        [LAB_LESS] = {true, false, false},    [LAB_LESS_EQUAL] = {true, true, false},
        [LAB_GREATER] = {false, false, true}, [LAB_GREATER_EQUAL] = {false, true, true},
        [LAB_EQUAL] = {false, true, false},   [LAB_NOT_EQUAL] = {true, false, true}};
    (void)state;
    for (int compare = 0; compare < 6; compare++) {
        struct lab_expect expect = {.compare = (enum lab_compare)compare, .value = 5};
        for (int i = 0; i < 3; i++)
            assert_int_equal(lab_expect_holds(&expect, 4.0 + i), holds[compare][i]);
    }
}

/* What lab_expects_check() says of one expectation; "" when it has nothing to say. */
static const char *refusal_of(const char *expect, struct sim_error *error)
{
    char text[1024];
    int size = snprintf(text, sizeof text,
                        "duration: 1h\nkeys: {count: 2}\narrivals: {rate: 1/s}\nrow: {bytes: 100}\n"
                        "strategies:\n  - hash: {buckets: 2, label: a}\n  - unbucketed: {label: a.b}\n"
                        "expect:\n  - %s\n",
                        expect);
    struct lab_scenario *scenario;
    *error = (struct sim_error){.class = SIM_ERROR_NONE};
    if (!lab_scenario_parse("x.yaml", text, (size_t)size, NULL, 0, NULL, &scenario, error))
        fail_msg("%s", error->text);
    bool is_fine = lab_expects_check(scenario, error);
    lab_scenario_destroy(scenario);
    assert_int_equal(error->class, is_fine ? SIM_ERROR_NONE : SIM_ERROR_INPUT);
    return is_fine ? "" : error->text;
}

static void test_number_with_a_unit_that_the_metric_does_not_have_is_refused(void **state)
{
    static const char *const fine[] = {"a.partitions.all.rows.max <= 50000",
                                       "a.partitions.all.rows.max <= 50k",
                                       "a.partitions.over_limit == 0",
                                       "a.b.partitions.all.bytes.max <= 50MB",
                                       "a.partitions.all.bytes.max <= 50_000_000",
                                       "a.latency.write.p99 <= 5ms",
                                       "a.latency.write.p99 <= 5.5",
                                       "a.nodes.load_share_max <= 50%",
                                       "a.nodes.load_share_max <= 0.5",
                                       "a.oracle.findable.violations == 0"};
    static const struct {
        const char *text, *problem;
    } bad[] = {
        {"a.partitions.all.rows.max <= 50MB",
         "x.yaml:9:5: 'a.partitions.all.rows.max <= 50MB': the metric's unit is 'rows', and it is compared "
         "with a size in bytes; end in a number, as in 50000 or 50k"},
        {"a.partitions.over_limit <= 5m",
         "x.yaml:9:5: 'a.partitions.over_limit <= 5m': the metric's unit is 'partitions', and it is compared "
         "with a duration; end in a number, as in 50000 or 50k"},
        {"a.b.writes.rows >= 1s",
         "x.yaml:9:5: 'a.b.writes.rows >= 1s': the metric's unit is 'rows', and it is compared with a "
         "duration; end in a number, as in 50000 or 50k"},
        {"a.partitions.all.bytes.max <= 50M",
         "x.yaml:9:5: 'a.partitions.all.bytes.max <= 50M': the metric's unit is 'bytes', and it is compared "
         "with a count in k, M or G; end in a size, as in 50MB"},
        {"a.latency.write.p99 <= 1%",
         "x.yaml:9:5: 'a.latency.write.p99 <= 1%': the metric's unit is 'ms', and it is compared with a "
         "share; end in a duration, as in 50ms"},
        {"a.nodes.load_share_max <= 1KiB",
         "x.yaml:9:5: 'a.nodes.load_share_max <= 1KiB': the metric's unit is 'share', and it is compared "
         "with a size in bytes; end in a share, as in 50%"},
        {"a.oracle.findable.violations < 1h",
         "x.yaml:9:5: 'a.oracle.findable.violations < 1h': the metric's unit is 'violations', and it is "
         "compared with a duration; end in a number, as in 50000 or 50k"},
    };
    (void)state;
    struct sim_error error;
    for (size_t i = 0; i < COUNT(fine); i++)
        assert_string_equal(refusal_of(fine[i], &error), "");
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_string_equal(refusal_of(bad[i].text, &error), bad[i].problem);
    /* A stored run that an earlier version has made can be replayed. */
    struct lab_scenario *scenario;
    assert_true(lab_scenario_again("x.yaml",
                                   "duration: 1h\nkeys: {count: 2}\narrivals: {rate: 1/s}\n"
                                   "strategies: [unbucketed: {}]\n"
                                   "expect: [unbucketed.writes.rows < 5MB]\n",
                                   "", NULL, 0, 1, &scenario, &error));
    assert_true(lab_expects_check(scenario, &error));
    lab_scenario_destroy(scenario);
}

static void test_metric_that_no_expectation_can_name_is_refused(void **state)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"a.partitions.closd > 1",
         "x.yaml:9:5: this run has no metric 'a.partitions.closd'; did you mean 'a.partitions.closed'?"},
        {"a.b.reads.range.cont > 1",
         "x.yaml:9:5: this run has no metric 'a.b.reads.range.cont'; did you mean 'a.b.reads.range.count'?"},
        {"a.partitions.over_limits > 1",
         "x.yaml:9:5: this run has no metric 'a.partitions.over_limits'; did you mean "
         "'a.partitions.over_limit'? It is absent without limits, and of `observed` unless its file lists "
         "all partitions, with `rowCount` for a limit in rows; docs/metrics.md has all"},
        {"a.partitions.bytes > 1", "x.yaml:9:5: this run has no metric 'a.partitions.bytes'; did you mean "
                                   "'a.partitions.all.bytes.mean'?"},
        {"a.x > 1",
         "x.yaml:9:5: this run has no metric 'a.x'; `bucketlab run --json` shows those that it has"},
        {"a.horizon.days > 1",
         "x.yaml:9:5: an expectation cannot name 'a.horizon.days', which is added after expectations are "
         "judged; name another metric; docs/metrics.md has all"},
        {"a.drift.run > 1",
         "x.yaml:9:5: an expectation cannot name 'a.drift.run', which is added after expectations are "
         "judged; name another metric; docs/metrics.md has all"},
    };
    (void)state;
    struct sim_error error;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(refusal_of(cases[i].text, &error), cases[i].problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expectation_splits_into_its_parts),
        cmocka_unit_test(test_expectation_that_is_none_says_why),
        cmocka_unit_test(test_comparison_uses_its_operator),
        cmocka_unit_test(test_number_with_a_unit_that_the_metric_does_not_have_is_refused),
        cmocka_unit_test(test_metric_that_no_expectation_can_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
