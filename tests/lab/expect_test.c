/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an expectation splits into metric, comparison and number, and holds as its comparison says. Method:
 * tables of texts, good and bad, and the truth table of the six comparisons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/expect.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_expectation_splits_into_its_parts(void **state)
{
    static const struct {
        const char *text, *metric;
        enum lab_compare compare;
        double value;
    } cases[] = {
        {"probabilistic.partitions.closed.rows.p999 <= 32000", "probabilistic.partitions.closed.rows.p999",
         LAB_LESS_EQUAL, 32000},
        {"hash.partitions.over_limit == 0", "hash.partitions.over_limit", LAB_EQUAL, 0},
        {"a.b<1", "a.b", LAB_LESS, 1},
        {"  a.b\t>  -1.5e3  ", "a.b", LAB_GREATER, -1500},
        {"a.b>=1e-9", "a.b", LAB_GREATER_EQUAL, 1e-9},
        {"a.b != 7", "a.b", LAB_NOT_EQUAL, 7},
        {"a.bytes.max <= 10MB", "a.bytes.max", LAB_LESS_EQUAL, 10e6},
        {"a.latency.write.p99 < 5ms", "a.latency.write.p99", LAB_LESS, 5},
        {"a.latency.write.p99 < 2s", "a.latency.write.p99", LAB_LESS, 2000},
        {"a label < b.total > 3", "a label < b.total", LAB_GREATER, 3},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expectation_splits_into_its_parts),
        cmocka_unit_test(test_expectation_that_is_none_says_why),
        cmocka_unit_test(test_comparison_uses_its_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
