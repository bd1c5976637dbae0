/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a number is rounded before it is shortened, and keeps three digits. Method: values on either side of
 * each edge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "kernel/number.h"

static void test_power_is_chosen_after_rounding(void **state)
{
    (void)state;
    static const struct {
        double value;
        unsigned most, power;
        const char *digits;
    } cases[] = {{0, 6, 0, "0.00"},      {1, 6, 0, "1.00"},        {9.994, 6, 0, "9.99"},
                 {9.996, 6, 0, "10.0"},  {99.94, 6, 0, "99.9"},    {99.96, 6, 0, "100"},
                 {999.4, 6, 0, "999"},   {999.5, 6, 1, "1.00"},    {999499, 6, 1, "999"},
                 {999600, 6, 2, "1.00"}, {999499, 0, 0, "999499"}, {2e9, 2, 2, "2000"},
                 {1.23e18, 6, 6, "1.23"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = cases[i].value;
        char digits[32];
        assert_int_equal(sim_shorten(&value, cases[i].most), cases[i].power);
        snprintf(digits, sizeof digits, "%.*f", sim_shortened_decimals(value), value);
        assert_string_equal(digits, cases[i].digits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_power_is_chosen_after_rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
