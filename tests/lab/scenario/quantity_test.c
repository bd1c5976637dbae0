/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: quantities are parsed exactly, and other texts are refused with the units that fit. Method: tables of
 * texts with their values, and of texts with a part of the error that each must give. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/quantity.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct bad {
    const char *text, *problem;
};

static void expect_problem(const char *text, const char *found, const char *wanted)
{
    if (found == NULL || strstr(found, wanted) == NULL || strchr(found, ';') == NULL)
        fail_msg("'%s': '%s' instead of '%s'", text, found == NULL ? "(none)" : found, wanted);
}

static void test_duration_of_every_unit_is_exact(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0s", 0},
        {"1ns", 1},
        {"7us", 7000},
        {"10ms", 10000000},
        {"0.1s", 100000000},
        {"5s", INT64_C(5000000000)},
        {"1.5h", INT64_C(5400000000000)},
        {"3m", INT64_C(180000000000)},
        {"10d", INT64_C(864000000000000)},
        {"2w", INT64_C(1209600000000000)},
        {"1y", INT64_C(31536000000000000)},
        {"1e3s", INT64_C(1000000000000)},
        {"25e-1us", 2500},
        {"0.000000001s", 1},
        {"1.000s", INT64_C(1000000000)},
        {"5m", INT64_C(300000000000)},
        {"5 min", INT64_C(300000000000)},
        {"90 days", INT64_C(7776000000000000)},
        {"1.5 hours", INT64_C(5400000000000)},
        {"1 year", INT64_C(31536000000000000)},
        {"20seconds", INT64_C(20000000000)},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = -1;
        const char *problem = lab_quantity_duration(cases[i].text, &ns);
        if (problem != NULL || ns != cases[i].ns)
            fail_msg("'%s': %s, %" PRId64 " ns", cases[i].text, problem == NULL ? "read" : problem, ns);
    }
}

static void test_invalid_duration_names_the_units(void **state)
{
    static const struct bad cases[] = {
        {"", "not a duration"},
        {"90", "needs a unit"},
        {"1.5", "needs a unit"},
        {"s", "not a duration"},
        {"ten days", "not a duration"},
        {"10 x", "no such unit of time"},
        {"10 ", "needs a unit"},
        {"10 d ", "no such unit of time"},
        {"10D", "no such unit of time"},
        {"10MB", "no such unit of time"},
        {"10M", "no such unit of time"},
        {"1.d", "not a duration"},
        {".5d", "not a duration"},
        {"1..5d", "not a duration"},
        {"+1d", "not a duration"},
        {"-1d", "negative"},
        {"-", "not a duration"},
        {".nan", "not a duration"},
        {".inf", "not a duration"},
        {"nan", "not a duration"},
        {"inf", "not a duration"},
        {"0x10s", "no such unit"},
        {"1.5ns", "finer than a nanosecond"},
        {"900000000y", "beyond 292 years"},
        {"293y", "beyond 292 years"},
        {"1e30s", "beyond 292 years"},
        {"1e999999999999s", "smaller exponent"},
        {"9223372036854775807ns", "at most 18"},
        {"1d\n", "no such unit"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = -1;
        expect_problem(cases[i].text, lab_quantity_duration(cases[i].text, &ns), cases[i].problem);
        assert_true(ns == 0);
    }
}

static void test_bytes_of_every_unit_are_exact(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"512B", 512},
        {"10KB", 10000},
        {"1.5KB", 1500},
        {"100MB", 100000000},
        {"3GB", UINT64_C(3000000000)},
        {"2TB", UINT64_C(2000000000000)},
        {"1KiB", 1024},
        {"0.5KiB", 512},
        {"1MiB", 1048576},
        {"2GiB", UINT64_C(2147483648)},
        {"1TiB", UINT64_C(1099511627776)},
        {"100 MB", 100000000},
        {"10kB", 10000},
        {"64 bytes", 64},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t bytes = 0;
        assert_null(lab_quantity_bytes(cases[i].text, &bytes));
        assert_true(bytes == cases[i].bytes);
    }
}

static void test_invalid_bytes_name_the_units(void **state)
{
    static const struct bad cases[] = {
        {"512", "needs a unit"},
        {"10kb", "no such unit of size"},
        {"10K", "no such unit of size"},
        {"1.5B", "whole bytes"},
        {"-1KB", "negative"},
        {"1e9TB", "beyond 2^63"},
        {"", "not a size"},
        {".inf", "not a size"},
        {"10 M", "no such unit of size"},
        {"100 ", "needs a unit"},
        {"10s", "no such unit"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t bytes = 1;
        expect_problem(cases[i].text, lab_quantity_bytes(cases[i].text, &bytes), cases[i].problem);
        assert_true(bytes == 0);
    }
}

static void test_rate_and_share_are_per_second_and_of_one(void **state)
{
    double value;
    (void)state;
    assert_null(lab_quantity_rate("200/s", &value));
    assert_true(value == 200.0);
    assert_null(lab_quantity_rate("3/h", &value));
    assert_true(value == 3.0 / 3600);
    assert_null(lab_quantity_rate("30/m", &value));
    assert_true(value == 0.5);
    assert_null(lab_quantity_rate("30/min", &value));
    assert_true(value == 0.5);
    assert_null(lab_quantity_rate("0.5/d", &value));
    assert_true(value == 0.5 / 86400);
    assert_null(lab_quantity_rate("500/sec", &value));
    assert_true(value == 500.0);
    assert_null(lab_quantity_rate("30 /minute", &value));
    assert_true(value == 0.5);
    assert_null(lab_quantity_rate("2k/s", &value));
    assert_true(value == 2000.0);
    assert_null(lab_quantity_rate("1.5 M/s", &value));
    assert_true(value == 1500000.0);
    expect_problem("5k", lab_quantity_rate("5k", &value), "no such unit");
    assert_null(lab_quantity_share("1 %", &value));
    assert_true(value == 0.01);
    assert_null(lab_quantity_share("1%", &value));
    assert_true(value == 0.01);
    assert_null(lab_quantity_share("100%", &value));
    assert_true(value == 1.0);
    assert_null(lab_quantity_share("0%", &value));
    assert_true(value == 0.0);
    expect_problem("200", lab_quantity_rate("200", &value), "needs a unit");
    expect_problem("200/w", lab_quantity_rate("200/w", &value), "no such unit");
    expect_problem("-2/s", lab_quantity_rate("-2/s", &value), "negative");
    expect_problem(".nan", lab_quantity_rate(".nan", &value), "not a rate");
    expect_problem("1", lab_quantity_share("1", &value), "add %");
    expect_problem("0.01", lab_quantity_share("0.01", &value), "add %");
    expect_problem("101%", lab_quantity_share("101%", &value), "at most 100%");
    expect_problem("1/s", lab_quantity_share("1/s", &value), "no such unit");
    assert_true(value == 0.0);
}

static void test_number_is_finite_and_plain(void **state)
{
    static const char *const bad[] = {"",         ".nan",  ".inf", "-.inf", "nan",   "inf",
                                      "infinity", "0x1p3", "1,5",  "1_0",   "1 ",    " 1",
                                      "--1",      "+-1",   "1e",   "abc",   "1e400", "."};
    double value;
    (void)state;
    assert_null(lab_quantity_number("1.1", &value));
    assert_true(value == 1.1);
    assert_null(lab_quantity_number("-2.5e-3", &value));
    assert_true(value == -2.5e-3);
    assert_null(lab_quantity_number("1e-9", &value));
    assert_true(value == 1e-9);
    assert_null(lab_quantity_number("+4", &value));
    assert_true(value == 4.0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        value = 1;
        expect_problem(bad[i], lab_quantity_number(bad[i], &value), "");
        assert_true(value == 0.0);
    }
}

static void test_whole_number_takes_only_digits(void **state)
{
    static const char *const bad[] = {"",        "-1",  "+1",  "1.0", "1e3",  "_1",  "1_",
                                      "1__0",    "0x1", "1 ",  " 1",  "1_a",  "ten", "18446744073709551616",
                                      "1.0005k", "20m", "1kk", "1e3", "20k ", "k",   "18446744073709552k"};
    uint64_t value;
    (void)state;
    assert_null(lab_quantity_whole("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    assert_null(lab_quantity_whole("1_000_000", &value));
    assert_true(value == 1000000);
    assert_null(lab_quantity_whole("20k", &value));
    assert_true(value == 20000);
    assert_null(lab_quantity_whole("1.5M", &value));
    assert_true(value == 1500000);
    assert_null(lab_quantity_whole("2 G", &value));
    assert_true(value == 2000000000);
    assert_null(lab_quantity_whole("007", &value));
    assert_true(value == 7);
    for (size_t i = 0; i < COUNT(bad); i++) {
        value = 1;
        expect_problem(bad[i], lab_quantity_whole(bad[i], &value), "");
        assert_true(value == 0);
    }
}

static void test_signed_duration_has_its_sign(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {{"-2s", INT64_C(-2000000000)},
                 {"+2s", INT64_C(2000000000)},
                 {"2s", INT64_C(2000000000)},
                 {"-0s", 0},
                 {"-1ns", -1}};
    static const struct bad bads[] = {{"-2", "needs a unit"}, {"-", "not a duration"},
                                      {"", "not a duration"}, {"+-2s", "negative"},
                                      {"--2s", "negative"},   {"-2MB", "no such unit of time"},
                                      {"-293y", "beyond 292"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = 7;
        assert_null(lab_quantity_signed_duration(cases[i].text, &ns));
        assert_true(ns == cases[i].ns);
    }
    for (size_t i = 0; i < COUNT(bads); i++) {
        int64_t ns = 7;
        expect_problem(bads[i].text, lab_quantity_signed_duration(bads[i].text, &ns), bads[i].problem);
        assert_true(ns == 0);
    }
}

static void test_drift_is_parts_per_million(void **state)
{
    static const struct bad bads[] = {{"20", "needs a unit"}, {"20%", "no such unit"}, {"", "not a drift"},
                                      {"ppm", "not a drift"}, {"-1ppm", "negative"},   {"20 pp", "ppm"},
                                      {"20PPM", "ppm"}};
    double drift = 7;
    (void)state;
    assert_null(lab_quantity_drift("20ppm", &drift));
    assert_true(drift == 20e-6);
    assert_null(lab_quantity_drift("0.5ppm", &drift));
    assert_true(drift == 0.5e-6);
    assert_null(lab_quantity_drift("0ppm", &drift));
    assert_true(drift == 0.0);
    for (size_t i = 0; i < COUNT(bads); i++) {
        drift = 7;
        expect_problem(bads[i].text, lab_quantity_drift(bads[i].text, &drift), bads[i].problem);
        assert_true(drift == 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration_of_every_unit_is_exact),
        cmocka_unit_test(test_invalid_duration_names_the_units),
        cmocka_unit_test(test_bytes_of_every_unit_are_exact),
        cmocka_unit_test(test_invalid_bytes_name_the_units),
        cmocka_unit_test(test_rate_and_share_are_per_second_and_of_one),
        cmocka_unit_test(test_number_is_finite_and_plain),
        cmocka_unit_test(test_whole_number_takes_only_digits),
        cmocka_unit_test(test_signed_duration_has_its_sign),
        cmocka_unit_test(test_drift_is_parts_per_million),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
