/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the weeks of a trace are counted from its end. Method: a trace written from made-up weeks. The fuzzer
 * of answers checks what follows from weeks. */
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

#define PATH "growth_test.csv"

static void assert_near(double actual, double wanted, double relative)
{
    if (!(fabs(actual - wanted) <= relative * fabs(wanted)))
        fail_msg("%.17g, wanted %.17g", actual, wanted);
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
    for (int day = 0; day < 58; day++) /* eight weeks and two days; a line's rows are spread over its day */
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
        cmocka_unit_test(test_a_trace_is_read_by_weeks_from_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
