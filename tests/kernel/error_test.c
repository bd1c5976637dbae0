/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an error is one line of valid UTF-8 within the size limit, whatever it quotes. Method: texts of every
 * length around the limit in characters of one to four bytes, control characters, and an error that quotes
 * itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/error.h"

#include <string.h>

#define TEXT_MAX (sizeof((struct sim_error *)0)->text - 1)

static void test_fail_fills_class_and_text(void **state)
{
    (void)state;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    assert_false(sim_fail(&error, SIM_ERROR_INPUT, "%s:%d:%d: unknown field '%s'", "x.yaml", 14, 9, "tresh"));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_string_equal(error.text, "x.yaml:14:9: unknown field 'tresh'");
    assert_false(sim_fail(&error, SIM_ERROR_CHECK, "%s; try again", error.text));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    assert_string_equal(error.text, "x.yaml:14:9: unknown field 'tresh'; try again");
    assert_false(sim_fail(NULL, SIM_ERROR_INPUT, "nobody listens to %d", 1));
    assert_false(sim_fail_memory(&error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(strstr(error.text, "memory"));
    assert_false(sim_fail_memory(NULL));
}

static void test_fail_control_characters_become_question_marks(void **state)
{
    (void)state;
    struct sim_error error;
    for (int c = 1; c < 256; c++) {
        assert_false(sim_fail(&error, SIM_ERROR_INPUT, "a%cb", c));
        char wanted[] = {'a', (char)(c < 0x20 || c == 0x7f ? '?' : c), 'b', '\0'};
        assert_string_equal(error.text, wanted);
    }
    assert_false(sim_fail(&error, SIM_ERROR_INPUT, "a\r\n\x1b[31mb"));
    assert_string_equal(error.text, "a???[31mb");
}

/* `lead` ASCII characters, then `count` characters of `size` bytes each. */
static void check_cut(size_t lead, const char *character, size_t count)
{
    static char text[8192];
    size_t size = strlen(character), length = lead + count * size;
    assert_true(length < sizeof text);
    memset(text, 'x', lead);
    for (size_t i = 0; i < count; i++)
        memcpy(text + lead + i * size, character, size);
    text[length] = '\0';

    struct sim_error error;
    assert_false(sim_fail(&error, SIM_ERROR_INPUT, "%s", text));
    if (length <= TEXT_MAX) {
        assert_string_equal(error.text, text);
        return;
    }
    /* Only whole characters, as many as fit before the dots. */
    size_t kept = lead;
    while (kept + size <= TEXT_MAX - 3)
        kept += size;
    assert_int_equal(strlen(error.text), kept + 3);
    assert_memory_equal(error.text, text, kept);
    assert_string_equal(error.text + kept, "...");
}

static void test_fail_long_text_is_cut_at_a_character(void **state)
{
    (void)state;
    static const char *const characters[] = {"y", "\xd0\x9f", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t c = 0; c < sizeof characters / sizeof *characters; c++) {
        for (size_t lead = 0; lead < 9; lead++) {
            for (size_t count = 1000 / strlen(characters[c]); count < 1100 / strlen(characters[c]); count++)
                check_cut(lead, characters[c], count);
            check_cut(lead, characters[c], 2000);
        }
    }
}

static void test_fail_long_text_that_is_no_utf8_is_cut_all_the_same(void **state)
{
    (void)state;
    char text[3000];
    memset(text, '\x80', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct sim_error error;
    assert_false(sim_fail(&error, SIM_ERROR_INPUT, "file: %s", text));
    size_t length = strlen(error.text);
    assert_in_range(length, TEXT_MAX - 8, TEXT_MAX);
    assert_string_equal(error.text + length - 3, "...");
    assert_memory_equal(error.text, "file: \x80", 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_fills_class_and_text),
        cmocka_unit_test(test_fail_control_characters_become_question_marks),
        cmocka_unit_test(test_fail_long_text_is_cut_at_a_character),
        cmocka_unit_test(test_fail_long_text_that_is_no_utf8_is_cut_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
