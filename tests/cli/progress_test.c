/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the line of progress is correct, does not jump, and is never wider than the terminal. Method: work at
 * an even or decreasing speed, in large pieces, or without a known end, with a simulated clock. */
#define _POSIX_C_SOURCE 200809L
#include "cli/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base.h"

#define FRAME_MS 200

static struct cli_progress display_of(const char *name)
{
    struct cli_progress display;
    cli_progress_init(&display, name, false);
    display.is_terminal = true;
    return display;
}

static void test_line_shows_share_time_and_rate(void **state)
{
    (void)state;
    char line[CLI_PROGRESS_SIZE];
    struct cli_progress display = display_of("chat");
    for (int64_t ms = FRAME_MS; ms <= 10000; ms += FRAME_MS)
        cli_progress_note(&display, (uint64_t)ms, 40000, (uint64_t)ms * 12, ms);
    cli_progress_line(&display, 80, line);
    assert_string_equal(line, "chat [######..................]  25 %, 0:30 left, 12000 rows/s");
    display.best = "time-2d";
    cli_progress_line(&display, 80, line);
    assert_string_equal(line,
                        "chat [#####...............]  25 %, 0:30 left, 12000 rows/s, best so far time-2d");
    cli_progress_line(&display, 40, line);
    assert_string_equal(line, "chat  25 %, best so far time-2d");
    display.best = NULL;
    display.is_terminal = false;
    cli_progress_line(&display, 0, line);
    assert_string_equal(line, "chat  25 %, 0:30 left, 12000 rows/s");
}

static void test_no_remaining_time_in_the_first_second_or_after_the_end(void **state)
{
    (void)state;
    char line[CLI_PROGRESS_SIZE];
    struct cli_progress display = display_of("chat");
    cli_progress_note(&display, 50, 1000, 50, 400);
    cli_progress_line(&display, 80, line);
    assert_null(strstr(line, "left"));
    cli_progress_note(&display, 500, 1000, 500, 4000);
    cli_progress_line(&display, 80, line);
    assert_non_null(strstr(line, ", 0:04 left"));
    cli_progress_note(&display, 1000, 1000, 1000, 8000);
    cli_progress_line(&display, 80, line);
    assert_non_null(strstr(line, "100 %, "));
    assert_null(strstr(line, "left"));
}

/* A command that continues another one takes over its runs at once, a moment after it began. */
static void test_earlier_work_is_no_part_of_the_rate(void **state)
{
    (void)state;
    for (int64_t taken_ms = 0; taken_ms <= 3000; taken_ms += 300) {
        struct cli_progress display;
        struct lab_progress progress = {.total = 620};
        cli_progress_init(&display, "sensors", false);
        display.next_ms = INT64_MAX;
        for (int64_t ms = FRAME_MS; ms <= 20000; ms += FRAME_MS) {
            progress.done = progress.rows = (ms < taken_ms ? 0 : 500u) + (uint64_t)ms / 1000;
            progress.recalled = ms < taken_ms ? 0 : 500u;
            cli_progress_show(&display, &progress, ms);
            if (ms >= taken_ms + 8000) /* a step a second, and 120 of them at first */
                assert_in_range((uint64_t)display.left_ms, (120000 - (uint64_t)ms) * 2 / 3,
                                (120000 - (uint64_t)ms) * 4 / 3);
        }
    }
}

static void test_unknown_end_gives_the_rate_only(void **state)
{
    (void)state;
    char line[CLI_PROGRESS_SIZE];
    struct cli_progress display = display_of("merge");
    for (int64_t ms = FRAME_MS; ms <= 60000; ms += FRAME_MS)
        cli_progress_note(&display, 0, 0, (uint64_t)(ms < 30000 ? ms : 30000 + (ms - 30000) / 10), ms);
    cli_progress_line(&display, 80, line);
    assert_string_equal(line, "merge, 100 rows/s");
}

/* From 30 s on it is ten times slower. A rate averaged since the beginning would give a remaining time that
 * is four times too short for minutes. */
static void test_work_that_gets_slower_is_believed_within_half_a_minute(void **state)
{
    (void)state;
    struct cli_progress display = display_of("chat");
    double before = -1, jump = 0;
    int64_t ms = FRAME_MS;
    for (uint64_t done = 0; ms <= 60000; ms += FRAME_MS) {
        done += ms <= 30000 ? 1000 : 100;
        cli_progress_note(&display, done, 400000, done, ms);
        if (before >= 0 && display.left_ms >= 0 && display.left_ms - before > jump)
            jump = display.left_ms - before;
        before = display.left_ms;
    }
    double truth = (400000 - 165000) / 100.0 * FRAME_MS;
    assert_true(display.left_ms > 0.9 * truth && display.left_ms < 1.1 * truth);
    assert_true(jump < 0.1 * truth);
}

/* A run takes 20 s and reports nothing in between. */
static void test_large_pieces_neither_jump_nor_stay_at_zero(void **state)
{
    (void)state;
    struct cli_progress display = display_of("sweep");
    int64_t last_said_ms = 0;
    for (int64_t ms = FRAME_MS; ms < 200000; ms += FRAME_MS) {
        double before = display.left_ms;
        cli_progress_note(&display, (uint64_t)(ms / 20000), 10, (uint64_t)(ms / 20000), ms);
        if (before >= 0 && display.left_ms >= 0)
            assert_true(display.left_ms - before < 2000);
        if (ms > 40000) {
            double truth = 200000.0 - (double)ms;
            assert_true(display.left_ms < truth + 25000 && display.left_ms > truth - 25000);
        }
        char line[CLI_PROGRESS_SIZE];
        cli_progress_line(&display, 80, line);
        if (strstr(line, "0:00 left") != NULL)
            fail();
        if (strstr(line, "0:01 left") == NULL)
            last_said_ms = ms;
        assert_true(ms - last_said_ms < 15000);
    }
}

static void test_line_is_narrower_than_the_terminal(void **state)
{
    (void)state;
    static const char *const names[] = {
        "a", "chat-channels", "a-name-that-is-longer-than-the-line-has-room-for",
        "\xd0\xba\xd0\xb0\xd0\xbd\xd0\xb0\xd0\xbb\xd1\x8b-\xd1\x87\xd0\xb0\xd1\x82\xd0\xb0-\xd0\xb7\xd0\xb0",
        ("\xe9\xa2\x91\xe9\x81\x93\xe9\xa2\x91\xe9\x81\x93\xe9\xa2\x91\xe9\x81\x93\xe9\xa2\x91\xe9\x81\x93"
         "\xe9\xa2\x91\xe9\x81\x93\xe9\xa2\x91\xe9\x81\x93")};
    for (size_t name = 0; name < sizeof names / sizeof names[0]; name++) {
        for (size_t columns = 1; columns <= 200; columns++) {
            for (uint64_t total = 0; total <= 1000000000; total = total * 100000 + 10000) {
                char line[CLI_PROGRESS_SIZE];
                struct cli_progress display = display_of(names[name]);
                for (int64_t ms = 1000; ms <= 100000; ms += 1000)
                    cli_progress_note(&display, (uint64_t)ms / 12, total, (uint64_t)ms * 1234567, ms);
                cli_progress_line(&display, columns, line);
                assert_true(cli_text_width(line) < columns);
                if (columns >= 40 && total > 0)
                    assert_non_null(strstr(line, " %"));
                if (columns >= 80 && total > 0)
                    assert_non_null(strstr(line, " rows/s"));
                if (columns >= 80 && total > 0)
                    assert_non_null(strstr(line, "[#") == NULL ? strstr(line, "[.") : strstr(line, "[#"));
            }
        }
    }
}

static void test_hours_and_days_are_reported_as_such(void **state)
{
    (void)state;
    char line[CLI_PROGRESS_SIZE];
    struct cli_progress display = display_of("chat");
    for (int64_t ms = 1000; ms <= 36000; ms += 1000)
        cli_progress_note(&display, (uint64_t)ms, 36000 * 101, (uint64_t)ms, ms);
    cli_progress_line(&display, 80, line);
    assert_non_null(strstr(line, ", 1:00:00 left"));
    display.left_ms = 86400e3 * 3.5;
    cli_progress_line(&display, 80, line);
    assert_non_null(strstr(line, ", 3 days left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_shows_share_time_and_rate),
        cmocka_unit_test(test_no_remaining_time_in_the_first_second_or_after_the_end),
        cmocka_unit_test(test_earlier_work_is_no_part_of_the_rate),
        cmocka_unit_test(test_unknown_end_gives_the_rate_only),
        cmocka_unit_test(test_work_that_gets_slower_is_believed_within_half_a_minute),
        cmocka_unit_test(test_large_pieces_neither_jump_nor_stay_at_zero),
        cmocka_unit_test(test_line_is_narrower_than_the_terminal),
        cmocka_unit_test(test_hours_and_days_are_reported_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
