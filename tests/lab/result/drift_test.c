/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: drift is found if sizes or the share over a limit have changed, and if nothing has changed it is
 * reported no more often than stated. Method: known answers of the distance and of its bound; percentiles of
 * known sizes in Cassandra's buckets; and 4,000 pairs of samples of one distribution, with fixed seeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
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
        spent += 3.0 / 2 * 2 * 2 * exp(-2 * each * each); /* a third is that of the largest */
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
    static const struct {
        const char *name;
        unsigned percent;
    } points[WL_OBSERVED_POINTS] = {{"min", 0},  {"p50", 50}, {"p75", 75}, {"p95", 95},
                                    {"p98", 98}, {"p99", 99}, {"max", 100}};
    uint64_t offsets[CASS_HISTOGRAM_OFFSETS];
    cass_histogram_offsets(offsets, CASS_HISTOGRAM_OFFSETS);
    observed.settings.observed = WL_OBSERVED_PERCENTILES;
    free(observed.metrics.items);
    observed.metrics = (struct lab_metrics){0};
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++) {
        /* A percentile of the sizes 10, 20 .. 100000. */
        double size = (points[i].percent == 0 ? 10 : 1000.0 * points[i].percent) * factor;
        char name[LAB_METRIC_NAME_SIZE] = "partitions.all.bytes.";
        size_t bucket = 0;
        while ((double)offsets[bucket] < size)
            bucket++;
        uint64_t end = points[i].percent == 0 ? offsets[bucket - 1] + 1 : offsets[bucket];
        assert_true(lab_metrics_add(&observed.metrics, strcat(name, points[i].name), (double)end));
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
    print_percentiles(1.5);
    drift = judge(&question);
    assert_true(drift.is_far && drift.distance > 0.1 && drift.distance <= 0.25);
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

static void test_equal_percentiles_and_min_say_all_they_can(void **state)
{
    (void)state;
    static const char *const names[WL_OBSERVED_POINTS] = {"min", "p50", "p75", "p95", "p98", "p99", "max"};
    static const uint64_t points[][WL_OBSERVED_POINTS] = {
        {73, 8239, 8239, 8239, 8239, 8239, 8239},       /* fewer than half have at most 6,866 */
        {7000, 8239, 8239, 8239, 8239, 8239, 8239},     /* none has */
        {73, 8239, 8239, 8239, 8239, 8239, 802187438}}; /* at least one is above 668,489,532 */
    static const double distances[] = {0.3, 0.8, 0.3};
    struct lab_drift_question question = question_of(0);
    question.partitions = 1000;
    question.limit = 1000000;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        again();
        predict(5000, 800);
        predict(8001, 200);
        observed.settings.observed = WL_OBSERVED_PERCENTILES;
        for (size_t j = 0; j < WL_OBSERVED_POINTS; j++) {
            char name[LAB_METRIC_NAME_SIZE] = "partitions.all.bytes.";
            assert_true(lab_metrics_add(&observed.metrics, strcat(name, names[j]), (double)points[i][j]));
        }
        struct lab_drift drift = judge(&question);
        assert_true(fabs(drift.distance - distances[i]) < 1e-12);
        assert_true(drift.beyond == (i == 2) && drift.is_drift);
        assert_true(drift.over == (i == 2 ? 1 : 0) / 1000.0);
    }
}

static void test_the_largest_are_judged_by_themselves(void **state)
{
    (void)state;
    struct lab_drift_question question = question_of(0.1);
    /* Sizes of 20 to 37 MB; one or ten of 10,029 have 21 GB. */
    for (uint64_t large = 0; large <= 10; large += large == 0 ? 1 : 9) {
        again();
        for (uint64_t i = 0; i < 10019; i++) {
            predict(20000000 + i * i / 6, 1);
            observe(20000000 + (10018 - i) * (10018 - i) / 6, 1);
        }
        for (uint64_t i = 0; i < large; i++)
            observe(UINT64_C(21000000000) + i, 1);
        struct lab_drift drift = judge(&question);
        assert_false(drift.is_far);
        assert_true(drift.beyond == large && drift.is_drift == (large > 0));
        assert_true(drift.largest_predicted == 20000000 + UINT64_C(10018) * 10018 / 6);
    }
    /* A count of 20,480 rows makes no more than these, but within the tolerance they are equal. */
    for (uint64_t size = 20480; size <= 25000; size += 1000) {
        again();
        predict(20480, 500);
        predict(9000, 30);
        observe(20480, 40);
        observe(size, 1);
        assert_int_equal(judge(&question).beyond, size > 22600 ? 1 : 0);
    }
    /* Four windows of one row say little of two. */
    again();
    predict(1, 4);
    observe(2, 1);
    assert_int_equal(judge(&question).beyond, 0);
}

/* Draws of one Pareto distribution, of few and of many sizes, are seldom taken for drift. */
static void test_a_heavy_tail_alone_is_rarely_drift(void **state)
{
    (void)state;
    enum { PAIRS = 1500 };
    static const struct {
        size_t predicted, observed;
        double power;
    } cases[] = {{40, 400, 1.1}, {2500, 400, 1.1}, {100, 30, 0.7}, {400, 400, 8}};
    struct lab_drift_question question = question_of(0);
    question.false_alarm = 0.5;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned alarms = 0;
        for (uint64_t pair = 0; pair < PAIRS; pair++) {
            struct sim_random random;
            sim_random_init(&random, 78, SIM_CHOICE, pair * 10 + i);
            again();
            for (size_t j = 0; j < cases[i].predicted + cases[i].observed; j++) {
                double size = 1000 * pow(1 - sim_random_unit(&random), -1 / cases[i].power);
                (j < cases[i].predicted ? predict : observe)((uint64_t)fmin(size, 1e15), 1);
            }
            alarms += judge(&question).beyond > 0;
        }
        /* Each may use a third of a quarter, so 125; a binomial of 1,500 and 1/12 exceeds 195 with 1e-9. */
        print_message("%u alarms in %d looks that may have %d\n", alarms, PAIRS, PAIRS / 12);
        assert_in_range(alarms, 0, 195);
    }
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
    /* Look 1 may use two thirds of a half of a half, so 667 of the pairs; a binomial of 4,000 and 1/6 exceeds
     * 1,170 with a chance far below 1e-9. */
    assert_in_range(alarms, 1, 1170);
    print_message("%u alarms in %u looks that may have %u\n", alarms, PAIRS, PAIRS / 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_distance_is_the_largest_beyond_the_tolerance, begin, end),
        cmocka_unit_test_setup_teardown(test_all_looks_together_use_the_allowed_error, begin, end),
        cmocka_unit_test_setup_teardown(test_a_limit_is_judged_by_both_intervals, begin, end),
        cmocka_unit_test_setup_teardown(test_percentiles_are_ends_of_buckets, begin, end),
        cmocka_unit_test_setup_teardown(test_equal_percentiles_and_min_say_all_they_can, begin, end),
        cmocka_unit_test_setup_teardown(test_the_largest_are_judged_by_themselves, begin, end),
        cmocka_unit_test_setup_teardown(test_a_heavy_tail_alone_is_rarely_drift, begin, end),
        cmocka_unit_test_setup_teardown(test_chance_is_rarely_reported_as_drift, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
