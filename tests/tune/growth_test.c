/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a trace's growth is the growth of its weeks, is absent when weeks only fluctuate, and gives the day by
 * which a number of rows will have arrived. Method: made-up weeks, a trace written from such weeks, and the
 * sum of a growing rate in small steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel/time.h"
#include "tune/expected.h"

#define WEEKS 9
#define PATH  "growth_test.csv"

static void assert_near(double actual, double wanted, double relative)
{
    if (!(fabs(actual - wanted) <= relative * fabs(wanted)))
        fail_msg("%.17g, wanted %.17g", actual, wanted);
}

static void test_growing_weeks_show_their_growth(void **state)
{
    (void)state;
    uint64_t weeks[WEEKS];
    for (int i = 0; i < WEEKS; i++) /* doubles every four weeks; every other week has 10% more */
        weeks[i] = (uint64_t)(1e9 * exp2(i / 4.0) * (i % 2 == 0 ? 1.1 : 1));
    struct tune_growth growth = tune_growth_of(weeks + 1, WEEKS - 1, 0.95);
    assert_int_equal(growth.weeks, WEEKS - 1);
    assert_near(tune_growth_doubles(&growth), 28, 1e-6);
    growth = tune_growth_of(weeks, WEEKS, 0.95); /* an odd first week is ignored */
    assert_near(tune_growth_doubles(&growth), 28, 1e-6);
}

static void test_few_fluctuating_or_shrinking_weeks_do_not_grow(void **state)
{
    (void)state;
    static const uint64_t few[] = {10, 20, 40}, even[] = {5, 5, 5, 5}, less[] = {80, 40, 20, 10, 5, 2},
                          restless[] = {100, 90, 300, 120, 80, 310}, none[] = {0, 0, 0, 0};
    static const struct {
        const uint64_t *weeks;
        uint64_t count;
    } cases[] = {{few, 3}, {even, 4}, {less, 6}, {restless, 6}, {none, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tune_growth growth = tune_growth_of(cases[i].weeks, cases[i].count, 0.95);
        assert_true(growth.per_day == 0);
        assert_true(isinf(tune_growth_doubles(&growth)));
        assert_true(tune_growth_rows_at(&growth, 30, 7) == 210);
        assert_true(isinf(tune_growth_rate_at(&growth, 30, 7)));
    }
}

static void test_rows_and_rate_reach_what_a_sum_reaches(void **state)
{
    (void)state;
    const struct tune_growth growth = {.weeks = 10, .per_day = 0.01};
    const double step = 1e-3;
    double sum = 0, in_first = 0, day = 0;
    for (; day < 70; day += step)
        in_first += step * exp(growth.per_day * (day + step / 2));
    double wanted_rows = tune_growth_rows_at(&growth, 70, 9),
           wanted_rate = tune_growth_rate_at(&growth, 70, 3);
    for (day = 0; sum < 9 * in_first; day += step)
        sum += step * exp(growth.per_day * (day + step / 2));
    assert_near(wanted_rows, day, 1e-4);
    assert_near(exp(growth.per_day * wanted_rate), 3 * in_first / 70, 1e-4);
}

static void test_a_trace_is_read_by_weeks_from_its_end(void **state)
{
    (void)state;
    struct lab_scenario scenario = {0};
    static char path[] = PATH;
    struct tune_growth growth;
    struct sim_error error = {0};
    FILE *file = fopen(PATH, "w");
    assert_non_null(file);
    fputs("timestamp_ms,key,count\n", file);
    for (int day = 0; day < 58;
         day++) /* two days more than eight weeks; a line's rows are spread over its day */
        fprintf(file, "%lld,k,%lld\n", 1767225600000LL + day * 86400000LL, llround(1e6 * exp2(day / 14.0)));
    assert_int_equal(fclose(file), 0);
    scenario.trace_path = path;
    int64_t start_ns = INT64_C(1767225600) * SIM_SECOND;
    assert_true(tune_growth_read(&scenario, start_ns, start_ns + 58 * SIM_DAY, 0.95, &growth, &error));
    assert_int_equal(growth.weeks, 8);
    assert_near(tune_growth_doubles(&growth), 14, 1e-5);
    assert_true(tune_growth_read(&scenario, start_ns, start_ns + 27 * SIM_DAY, 0.95, &growth, &error));
    assert_true(growth.weeks == 3 && growth.per_day == 0);
    remove(PATH);
    assert_false(tune_growth_read(&scenario, start_ns, start_ns + 58 * SIM_DAY, 0.95, &growth, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing_weeks_show_their_growth),
        cmocka_unit_test(test_few_fluctuating_or_shrinking_weeks_do_not_grow),
        cmocka_unit_test(test_rows_and_rate_reach_what_a_sum_reaches),
        cmocka_unit_test(test_a_trace_is_read_by_weeks_from_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
