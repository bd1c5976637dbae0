/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: numbers fit their columns at every magnitude, and no text controls the terminal, breaks its line or
 * ends its quotes. Method: tables of values at the bounds of each format, and of texts, with the expected
 * output. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base.h"
#include "lab/quantity.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void test_numbers_have_three_digits_and_fit_their_column(void **state)
{
    (void)state;
    static const struct {
        double value;
        size_t width;
        const char *text;
    } cases[] = {
        {-1, 5, "-"},
        {(double)NAN, 5, "-"},
        {(double)INFINITY, 5, "huge"},
        {9.99e20, 4, "huge"},
        {0, 5, "0"},
        {0.004, 5, "<.01"},
        {0.005, 5, "0.01"},
        {1.5, 5, "1.50"},
        {9.994, 5, "9.99"},
        {9.996, 5, "10.0"},
        {99.94, 5, "99.9"},
        {99.96, 5, "100"},
        {99999, 5, "99999"},
        {99999.5, 5, "100k"},
        {9999, 4, "9999"},
        {10000, 4, "10k"},
        {12345, 4, "12k"},
        {9960000, 4, "10M"},
        {1230000, 4, "1.2M"},
        {1230000, 5, "1.23M"},
        {12300000, 5, "12.3M"},
        {999499999, 5, "999M"},
        {999999999, 5, "1.00G"},
        {1e12, 4, "1.0T"},
        {2e15, 5, "2.00P"},
        {3e18, 5, "3.00E"},
        {9.98e20, 4, "998E"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char buffer[CLI_NUMBER_SIZE];
        cli_compact(cases[i].value, cases[i].width, buffer);
        assert_string_equal(buffer, cases[i].text);
        assert_true(strlen(buffer) <= cases[i].width);
    }
}

static void test_sizes_have_units_and_fit(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{-1, "-"},         {(double)NAN, "-"}, {1e21, "huge"},      {0, "0B"},
                 {999.4, "999B"},   {999.5, "1.00KB"},  {1234, "1.23KB"},    {12345, "12.3KB"},
                 {123456, "123KB"}, {999500, "1.00MB"}, {2500000, "2.50MB"}, {7e9, "7.00GB"},
                 {7e12, "7.00TB"},  {7e15, "7.00PB"},   {7e18, "7.00EB"},    {9.98e20, "998EB"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char buffer[CLI_NUMBER_SIZE];
        cli_compact_bytes(cases[i].value, buffer);
        assert_string_equal(buffer, cases[i].text);
        assert_true(strlen(buffer) <= 6);
    }
}

static void test_exact_sizes_and_times_take_the_largest_unit_that_is(void **state)
{
    (void)state;
    char buffer[CLI_NUMBER_SIZE];
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0B"},
                 {999, "999B"},
                 {1000, "1KB"},
                 {1500, "1500B"},
                 {512000, "512KB"},
                 {3000000, "3MB"},
                 {UINT64_C(18000000000000000000), "18000000TB"},
                 {UINT64_MAX, "18446744073709551615B"}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        lab_quantity_bytes_text(sizes[i].bytes, buffer, sizeof buffer);
        assert_string_equal(buffer, sizes[i].text);
    }
    static const struct {
        int64_t ns;
        const char *text;
    } times[] = {{0, "0s"},
                 {1, "1ns"},
                 {1500, "1500ns"},
                 {2000, "2us"},
                 {1500000000, "1500ms"},
                 {90000000000, "90s"},
                 {INT64_C(5400000000000), "90m"},
                 {INT64_C(129600000000000), "36h"},
                 {INT64_C(864000000000000), "10d"}};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        lab_quantity_duration_text(times[i].ns, buffer, sizeof buffer);
        assert_string_equal(buffer, times[i].text);
    }
}

static void test_digits_are_grouped_in_threes(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {1555200, "1,555,200"},
                 {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char buffer[CLI_NUMBER_SIZE];
        cli_grouped(cases[i].value, buffer);
        assert_string_equal(buffer, cases[i].text);
    }
}

static void test_control_characters_never_reach_the_terminal(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
        size_t width;
    } cases[] = {
        {"plain", "plain", 5},
        {"a\033[2J\tb\x7f", "a?[2J?b?", 8},
        {"\xc2\x80\xc2\x9f\xc2\xa0", "??\xc2\xa0", 3}, /* the second set of controls; a space */
        {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9", "\xe2\x80\xa7??", 3}, /* ends of lines */
        {"\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf", "??\xe2\x80\xaf", 3}, /* directions */
        {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9", "\xe2\x81\xa5??", 3}, /* and more of them */
        {"\xffz\xc3", "?z?", 3},                                       /* no UTF-8 */
        {"e\xcc\x81", "e\xcc\x81", 1},                                 /* a mark on the letter before it */
        {"\xe6\xbc\xa2", "\xe6\xbc\xa2", 2},                           /* a wide character */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *shown = NULL;
        size_t size;
        FILE *stream = open_memstream(&shown, &size);
        assert_non_null(stream);
        cli_print_text(stream, cases[i].text);
        assert_int_equal(fclose(stream), 0);
        assert_string_equal(shown, cases[i].shown);
        assert_int_equal(cli_text_width(cases[i].text), cases[i].width);
        free(shown);
    }
}

static void test_quoted_text_is_one_word_for_the_shell(void **state)
{
    (void)state;
    static const struct {
        const char *text, *quoted;
    } cases[] = {{"a/b-1.yaml", "a/b-1.yaml"},
                 {"", "''"},
                 {"two words", "'two words'"},
                 {"it's", "'it'\\''s'"},
                 {"$(x)", "'$(x)'"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *quoted = cli_quoted(cases[i].text);
        assert_string_equal(quoted, cases[i].quoted);
        free(quoted);
    }
}

/* What `print` writes to standard output. */
static char *printed(void (*print)(const char *), const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *kept = stdout, *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    stdout = stream;
    print(text);
    stdout = kept;
    assert_int_equal(fclose(stream), 0);
    return out;
}

static void print_indented(const char *text)
{
    /* 70 columns are taken. */
    assert_true(cli_print_indented(text, 70, 4) <= 80);
}

static void test_lines_break_at_spaces_before_column_80(void **state)
{
    (void)state;
    char *out = printed(cli_print_paragraph, "one");
    assert_string_equal(out, "one\n");
    free(out);
    out = printed(print_indented, "123456789 12 1");
    assert_string_equal(out, " 123456789\n    12 1");
    free(out);
    out = printed(print_indented, "1234567890");
    assert_string_equal(out, "\n    1234567890");
    free(out);
    char text[400] = "";
    for (size_t i = 0; i < 40; i++)
        strcat(text, i == 0 ? "word" : " word");
    out = printed(cli_print_paragraph, text);
    for (const char *line = out; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    /* Nothing but spaces became ends of lines. */
    for (char *c = out; *c != '\0'; c++)
        *c = *c != '\n' ? *c : c[1] == '\0' ? '\0' : ' ';
    assert_string_equal(out, text);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_have_three_digits_and_fit_their_column),
        cmocka_unit_test(test_sizes_have_units_and_fit),
        cmocka_unit_test(test_exact_sizes_and_times_take_the_largest_unit_that_is),
        cmocka_unit_test(test_digits_are_grouped_in_threes),
        cmocka_unit_test(test_control_characters_never_reach_the_terminal),
        cmocka_unit_test(test_quoted_text_is_one_word_for_the_shell),
        cmocka_unit_test(test_lines_break_at_spaces_before_column_80),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
