/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: UTF-8 is decoded as RFC 3629 defines it, control characters are not shown, and a mistyped name finds
 * the intended one. Method: every code point and every sequence of two bytes, compared with an encoder by the
 * RFC's table; names mistyped in each way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/text.h"

static size_t encode(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[length] | code);
    return length;
}

static void test_utf8_each_code_point_is_read_as_written(void **state)
{
    (void)state;
    for (unsigned code = 0; code <= 0x10ffff; code++) {
        char text[4];
        size_t length = encode(code, text);
        bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
        unsigned found = 0x77777777;
        if (sim_utf8(text, 4, &found) != (is_surrogate ? 0 : length) ||
            found != (is_surrogate ? 0x77777777 : code))
            fail_msg("U+%04X", code);
        /* The sequence without its last byte is refused. */
        if (sim_utf8(text, length - 1, NULL) != 0)
            fail_msg("U+%04X cut off", code);
    }
}

/* Of all pairs of a lead byte and a second byte, only those in the RFC's table are valid. */
static void test_utf8_invalid_sequences_are_refused(void **state)
{
    (void)state;
    static bool is_good[256][256];
    for (unsigned code = 0x80; code <= 0x10ffff; code++) {
        char text[4];
        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        encode(code, text);
        is_good[(unsigned char)text[0]][(unsigned char)text[1]] = true;
    }
    for (unsigned lead = 0x80; lead < 0x100; lead++) {
        for (unsigned second = 0; second < 0x100; second++) {
            const char text[] = {(char)lead, (char)second, (char)0xbf, (char)0x80};
            const char broken[] = {(char)lead, (char)second, 'x', (char)0x80};
            const char late[] = {(char)lead, (char)second, (char)0x80, (char)0xc0};
            size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
            bool is_fine = is_good[lead][second];
            assert_int_equal(sim_utf8(text, 4, NULL), is_fine ? length : 0);
            assert_int_equal(sim_utf8(broken, 4, NULL), is_fine && length == 2 ? 2 : 0);
            assert_int_equal(sim_utf8(late, 4, NULL), is_fine && length < 4 ? length : 0);
        }
    }
}

/* The sanitizer detects a read past the terminating NUL. */
static void test_utf8_of_terminated_text_ends_with_it(void **state)
{
    (void)state;
    static const char *const cut[] = {"\xc3", "\xe2\x82", "\xe2", "\xf0\x9f\x92", "\xf0\x9f", "\xf0"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        assert_int_equal(sim_utf8(cut[i], SIM_UTF8_SIZE_MAX, NULL), 0);
    assert_int_equal(sim_utf8("", SIM_UTF8_SIZE_MAX, NULL), 1);
    assert_int_equal(sim_utf8("", 0, NULL), 0);
}

static void test_utf8_valid_counts_whole_characters_at_the_front(void **state)
{
    (void)state;
    assert_int_equal(sim_utf8_valid("", 0), 0);
    assert_int_equal(sim_utf8_valid("ab\xc3\xa9z", 5), 5);
    assert_int_equal(sim_utf8_valid("ab\xc3\xa9z", 3), 2);
    assert_int_equal(sim_utf8_valid("ab\xffz", 4), 2);
    assert_int_equal(sim_utf8_valid("a\0b", 3), 3);
    assert_int_equal(sim_utf8_valid("\xed\xa0\x80", 3), 0);
}

/* The control characters among all code points, by Unicode's definitions: general category Cc, Zl and Zp, the
 * property Bidi_Control (its twelve), the deprecated U+206A to U+206F, and the noncharacters that XML
 * excludes. */
static void test_step_removes_control_characters(void **state)
{
    (void)state;
    static const unsigned refused[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                          {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x206f},
                                          {0xfffe, 0xffff}, {0xd800, 0xdfff}};
    for (unsigned code = 0; code <= 0x10ffff; code++) {
        char text[4];
        size_t length = encode(code, text);
        bool is_fine, is_wanted = true, is_surrogate = code >= 0xd800 && code <= 0xdfff;
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
            is_wanted = is_wanted && !(code >= refused[i][0] && code <= refused[i][1]);
        size_t step = sim_text_step(text, 4, "", &is_fine);
        if (is_fine != is_wanted || step != (is_surrogate ? 1 : length))
            fail_msg("U+%04X", code);
        sim_text_step(text, 4, "\n\t", &is_fine);
        if (is_fine != (is_wanted || code == '\n' || code == '\t'))
            fail_msg("U+%04X where line breaks are kept", code);
    }
}

static void test_nearest_finds_the_intended_name(void **state)
{
    (void)state;
    static const char *const names[] = {"threshold", "bits",  "coordination",
                                        "lead",      "label", "over_limit_share"};
    static const char *const cases[][2] = {
        {"threshold", "threshold"},
        {"treshold", "threshold"},
        {"thresholds", "threshold"},
        {"thershold", "threshold"},
        {"threxhold", "threshold"},
        {"bit", "bits"},
        {"bist", "bits"},
        {"lable", "label"},
        {"laed", "lead"},
        {"coordinatoin", "coordination"},
        {"over_limit", "over_limit_share"}, /* the beginning of a name */
        {"over_limits", "over_limit_share"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(sim_nearest(cases[i][0], names, 6), cases[i][1]);
}

static void test_nearest_of_a_distant_name_is_none(void **state)
{
    (void)state;
    static const char *const names[] = {"threshold", "bits", "no"};
    static const char *const cases[] = {"", "x", "window", "threshing-floor", "xy", "thre"};
    char long_name[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_null(sim_nearest(cases[i], names, 3));
    assert_null(sim_nearest("bits", names, 0));
    memset(long_name, 'b', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const char *const long_names[] = {long_name};
    assert_null(sim_nearest(long_name, names, 3));
    assert_null(sim_nearest("b", long_names, 1));
}

static void test_nearest_of_equals_is_the_first(void **state)
{
    (void)state;
    static const char *const names[] = {"node_up", "node_ip"};
    assert_ptr_equal(sim_nearest("node_xp", names, 2), names[0]);
    static const char *const commands[] = {"run", "tune", "tuna"};
    assert_ptr_equal(sim_nearest("tun", commands, 3), commands[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8_each_code_point_is_read_as_written),
        cmocka_unit_test(test_utf8_invalid_sequences_are_refused),
        cmocka_unit_test(test_utf8_of_terminated_text_ends_with_it),
        cmocka_unit_test(test_utf8_valid_counts_whole_characters_at_the_front),
        cmocka_unit_test(test_step_removes_control_characters),
        cmocka_unit_test(test_nearest_finds_the_intended_name),
        cmocka_unit_test(test_nearest_of_a_distant_name_is_none),
        cmocka_unit_test(test_nearest_of_equals_is_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
