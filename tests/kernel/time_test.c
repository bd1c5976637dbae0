/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: times are written and read as UTC, to the nanosecond, over the whole range of int64. Method: known
 * dates, the C library's gmtime_r() at random times, round trips, and every malformed text that a user may
 * type. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/random.h"
#include "kernel/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define YEAR_1678 INT64_C(-9214560000000000000) /* 1678-01-01T00:00:00Z */
#define YEAR_2262 INT64_C(9214646400000000000)  /* 2262-01-01T00:00:00Z */

static void test_time_known_dates_are_written_and_read(void **state)
{
    (void)state;
    static const struct {
        int64_t time_ns;
        const char *text;
    } known[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {INT64_C(1420070400000000000), "2015-01-01T00:00:00Z"},
        {INT64_C(1767225600000000000), "2026-01-01T00:00:00Z"},
        {INT64_C(951782400000000000), "2000-02-29T00:00:00Z"},
        {INT64_C(951868799500000000), "2000-02-29T23:59:59.5Z"},
        {INT64_C(-2203891200000000000), "1900-03-01T00:00:00Z"},
        {INT64_C(4107542400000000000), "2100-03-01T00:00:00Z"},
        {INT64_C(1709210096000000007), "2024-02-29T12:34:56.000000007Z"},
        {INT64_C(1709210096120000000), "2024-02-29T12:34:56.12Z"},
        {YEAR_1678, "1678-01-01T00:00:00Z"},
        {YEAR_2262 - 1, "2261-12-31T23:59:59.999999999Z"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[SIM_TIME_TEXT_SIZE];
        int64_t time_ns = 1;
        sim_time_format(known[i].time_ns, text);
        assert_string_equal(text, known[i].text);
        assert_int_equal(sim_time_parse(known[i].text, &time_ns), 0);
        assert_true(time_ns == known[i].time_ns);
    }
}

static void test_time_ends_of_the_line_are_written(void **state)
{
    (void)state;
    char text[SIM_TIME_TEXT_SIZE];
    sim_time_format(INT64_MIN, text);
    assert_string_equal(text, "1677-09-21T00:12:43.145224192Z");
    sim_time_format(INT64_MAX, text);
    assert_string_equal(text, "2262-04-11T23:47:16.854775807Z");
}

static void test_time_random_times_agree_with_gmtime(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    for (int i = 0; i < 100000; i++) {
        int64_t time_ns = (int64_t)sim_random_next(&random) >> sim_random_below(&random, 64);
        if (i % 4 == 0)
            time_ns = time_ns / SIM_DAY * SIM_DAY - i % 3;
        int64_t second = time_ns / SIM_SECOND - (time_ns % SIM_SECOND < 0), fraction = time_ns % SIM_SECOND;
        fraction += fraction < 0 ? SIM_SECOND : 0;
        time_t clock = (time_t)second;
        struct tm date;
        assert_non_null(gmtime_r(&clock, &date));
        char text[SIM_TIME_TEXT_SIZE], wanted[64], long_form[80];
        assert_true(strftime(wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%S", &date) > 0);
        snprintf(long_form, sizeof long_form, "%s.%09" PRId64 "Z", wanted, fraction);
        sim_time_format(time_ns, text);
        assert_memory_equal(text, wanted, strlen(wanted));
        assert_true(strlen(text) < SIM_TIME_TEXT_SIZE);
        if (time_ns < YEAR_1678 || time_ns >= YEAR_2262)
            continue;
        int64_t back_ns = 0, long_ns = 0;
        assert_int_equal(sim_time_parse(text, &back_ns), 0);
        assert_int_equal(sim_time_parse(long_form, &long_ns), 0);
        assert_true(back_ns == time_ns && long_ns == time_ns);
    }
}

static void test_time_shorter_forms_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t time_ns;
    } known[] = {
        {"2026-01-01", INT64_C(1767225600000000000)},
        {"2026-01-01T00:30Z", INT64_C(1767227400000000000)},
        {"2026-01-01 00:30:00Z", INT64_C(1767227400000000000)},
        {"2026-01-01T00:30:00.000Z", INT64_C(1767227400000000000)},
        {"2026-01-01T00:30:00.0000000019Z", INT64_C(1767227400000000001)}, /* cut off after the ns */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int64_t time_ns = 1;
        assert_int_equal(sim_time_parse(known[i].text, &time_ns), 0);
        assert_true(time_ns == known[i].time_ns);
    }
}

static void test_time_malformed_texts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "now",
        "2026",
        "2026-01",
        "2026-1-1",
        "26-01-01",
        "2026-00-01",
        "2026-13-01",
        "2026-01-00",
        "2026-01-32",
        "2026-04-31",
        "2026-02-29",
        "1900-02-29",
        "2100-02-29",
        "2000-02-30",
        "2026-01-01T",
        "2026-01-01Z",
        "2026-01-01T00",
        "2026-01-01T00:00",
        "2026-01-01T00:00:00",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+01:00",
        "2026-01-01T00:00:00z",
        "2026-01-01T00:00:00Z ",
        " 2026-01-01",
        "-026-01-01",
        "2026-01-01x",
        "2026/01/01",
        "1677-12-31",
        "2262-01-01",
        "9999-01-01",
        "0000-01-01",
        "20260-01-01",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t time_ns = 77;
        if (sim_time_parse(bad[i], &time_ns) != -1 || time_ns != 77)
            fail_msg("'%s' was read", bad[i]);
    }
    assert_int_equal(sim_time_parse("2000-02-29", &(int64_t){0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_known_dates_are_written_and_read),
        cmocka_unit_test(test_time_ends_of_the_line_are_written),
        cmocka_unit_test(test_time_random_times_agree_with_gmtime),
        cmocka_unit_test(test_time_shorter_forms_are_read),
        cmocka_unit_test(test_time_malformed_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
