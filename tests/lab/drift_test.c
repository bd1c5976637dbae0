/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: drift is found if sizes or the share over a limit have changed, and if nothing has changed it is
 * reported no more often than stated. Method: known answers of the distance and of its bound; percentiles of
 * known sizes in Cassandra's buckets; and 4,000 pairs of samples of one distribution, with fixed seeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cassandra/estimated_histogram.h"
#include "kernel/random.h"
#include "lab/drift.h"

static struct lab_strategy_result predicted, observed;

static int begin(void **state)
{
    (void)state;
    memset(&predicted, 0, sizeof predicted);
    memset(&observed, 0, sizeof observed);
    struct lab_strategy_result *const sides[] = {&predicted, &observed};
    for (size_t i = 0; i < 2; i++) {
        lab_histogram_init(&sides[i]->closed_bytes);
        lab_histogram_init(&sides[i]->open_bytes);
        lab_histogram_init(&sides[i]->closed_rows);
        lab_histogram_init(&sides[i]->open_rows);
    }
    observed.settings.observed = WL_OBSERVED_PARTITIONS;
    return 0;
}

static int end(void **state)
{
    (void)state;
    lab_strategy_result_clear(&predicted);
    lab_strategy_result_clear(&observed);
    return 0;
}

static void again(void)
{
    end(NULL);
    begin(NULL);
}

static void predict(uint64_t size, uint64_t count)
{
    lab_histogram_add(size % 2 == 0 ? &predicted.closed_bytes : &predicted.open_bytes, size, count, 1);
}

static void observe(uint64_t size, uint64_t count)
{
    lab_histogram_add(&observed.open_bytes, size, count, 1);
}

static struct lab_drift_question question_of(double tolerance)
{
    return (struct lab_drift_question){.predicted = &predicted,
                                       .observed = &observed,
                                       .unit = LAB_IN_BYTES,
                                       .tolerance = tolerance,
                                       .false_alarm = 0.01,
                                       .look = 1};
}

static struct lab_drift judge(const struct lab_drift_question *question)
{
    struct lab_drift drift;
    assert_true(lab_drift_judge(question, &drift));
    return drift;
}

static void test_the_distance_is_the_largest_beyond_the_tolerance(void **state)
{
    (void)state;
    struct lab_drift_question exact = question_of(0), loose = question_of(0.1);
    for (uint64_t size = 100; size < 1000; size += 100) {
        predict(size, 10);
        observe(size, 3);
    }
    assert_true(judge(&exact).distance == 0 && judge(&exact).size == 0);
    again();
    /* 40 % of the sizes are 9 % larger, 10 % are twice as large, and half are unchanged. */
    predict(1000, 50);
    predict(2001, 50);
    observe(1090, 40);
    observe(2000, 10);
    observe(2001, 50);
    struct lab_drift drift = judge(&exact);
    assert_true(drift.distance == 0.5 && drift.size == 1090 && drift.observed == 0 && drift.predicted == 0.5);
    drift = judge(&loose);
    assert_float_equal(drift.distance, 0.1, 1e-12);
    assert_true(drift.size == 2000 && drift.observed == 0.4 && drift.predicted == 0.5);
    assert_false(drift.is_far);
    again();
    /* The opposite case: smaller than predicted. */
    predict(1000, 100);
    observe(909, 10);
    observe(910, 90);
    drift = judge(&loose);
    assert_float_equal(drift.distance, 0.1, 1e-12);
    assert_true(drift.size == 909 && drift.observed == 0.1 && drift.predicted == 0);
}

static void test_all_looks_together_use_the_allowed_error(void **state)
{
    (void)state;
    struct lab_drift_question question = question_of(0.1);
    double spent = 0;
    predict(1000, 300);
    observe(1000, 200);
    for (question.look = 1; question.look <= 1000; question.look++) {
        /* Both bounds with the same chance d: allowed = sqrt(ln(2 / d) / 2) (1 / sqrt(200) + 1 / sqrt(300)).
         */
        double each = judge(&question).allowed / (1 / sqrt(200) + 1 / sqrt(300));
        spent += 2 * 2 * exp(-2 * each * each);
    }
    assert_float_equal(spent, 0.01 * 1000 / 1001, 1e-9);
}

static void test_a_limit_is_judged_by_both_intervals(void **state)
{
    (void)state;
    struct lab_drift_question question = question_of(0.1);
    question.limit = 5000;
    predict(1000, 1000);
    observe(1000, 970);
    observe(5500, 30); /* within the tolerance */
    struct lab_drift drift = judge(&question);
    assert_true(drift.has_limit && drift.over == 0 && !drift.is_over);
    again();
    predict(1000, 1000);
    observe(1000, 970);
    observe(5501, 30);
    drift = judge(&question);
    assert_true(drift.over == 0.03 && drift.is_over && !drift.is_far);
    assert_true(drift.over_least > drift.over_most && drift.over_least < 0.03 && drift.over_most > 0);
    again();
    predict(1000, 1000);
    observe(1000, 998);
    observe(5501, 2);
    assert_false(judge(&question).is_over);
    question.limit = 0;
    assert_false(judge(&question).has_limit);
}

/* The percentiles that nodetool would print for the predicted sizes times `factor`. */
static void print_percentiles(double factor)
{
    static const unsigned to[] = {50, 75, 95, 98, 99, 100};
    uint64_t offsets[CASS_HISTOGRAM_OFFSETS];
    cass_histogram_offsets(offsets, CASS_HISTOGRAM_OFFSETS);
    observed.settings.observed = WL_OBSERVED_PERCENTILES;
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        double size = 1000.0 * to[i] * factor; /* a percentile of the sizes 10, 20 .. 100000 */
        size_t bucket = 0;
        while ((double)offsets[bucket] < size)
            bucket++;
        observe(offsets[bucket], i == 0 ? to[0] : to[i] - to[i - 1]);
    }
}

static void test_percentiles_are_ends_of_buckets(void **state)
{
    (void)state;
    struct lab_drift_question question = question_of(0);
    for (uint64_t size = 10; size <= 100000; size += 10)
        predict(size, 1);
    question.partitions = 10000;
    print_percentiles(1);
    struct lab_drift drift = judge(&question);
    assert_true(drift.distance == 0 && !drift.has_limit);
    assert_true(drift.observed_count == 10000 && drift.predicted_count == 10000);
    /* Half as large again: p50 is 75,000, and its bucket begins at 61,214 or above. */
    lab_histogram_clear(&observed.open_bytes);
    lab_histogram_init(&observed.open_bytes);
    print_percentiles(1.5);
    drift = judge(&question);
    assert_true(drift.is_far && drift.distance > 0.1 && drift.distance <= 0.25);
    lab_histogram_clear(&observed.open_bytes);
    lab_histogram_init(&observed.open_bytes);
    print_percentiles(0.5);
    drift = judge(&question);
    assert_true(drift.is_far && drift.distance > 0.1);
}

/* A size whose logarithm has a triangular distribution: skewed, and with ties. */
static uint64_t draw(struct sim_random *random)
{
    double a = sim_random_unit(random), b = sim_random_unit(random);
    return (uint64_t)(1 << (unsigned)(8 * (a + b))) * 10;
}

static void test_chance_is_rarely_reported_as_drift(void **state)
{
    (void)state;
    enum { PAIRS = 4000 };
    struct lab_drift_question question = question_of(0);
    unsigned alarms = 0;
    question.false_alarm = 0.5;
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        struct sim_random random;
        sim_random_init(&random, 77, SIM_CHOICE, pair);
        again();
        for (size_t i = 0; i < 60; i++)
            predict(draw(&random), 1);
        for (size_t i = 0; i < 40; i++)
            observe(draw(&random), 1);
        alarms += judge(&question).is_far;
    }
    /* Look 1 may use a half of a half, so 1,000 of the pairs; a binomial of 4,000 and 1/4 exceeds 1,170 with
     * a chance of 1e-9. */
    assert_in_range(alarms, 1, 1170);
    print_message("%u alarms in %u looks that may have %u\n", alarms, PAIRS, PAIRS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_distance_is_the_largest_beyond_the_tolerance, begin, end),
        cmocka_unit_test_setup_teardown(test_all_looks_together_use_the_allowed_error, begin, end),
        cmocka_unit_test_setup_teardown(test_a_limit_is_judged_by_both_intervals, begin, end),
        cmocka_unit_test_setup_teardown(test_percentiles_are_ends_of_buckets, begin, end),
        cmocka_unit_test_setup_teardown(test_chance_is_rarely_reported_as_drift, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
