/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: with a greatest age no grant of guarded extends beyond a line, and the first row beyond the line rolls
 * the key before the row is put (docs/guarded.md). Method: one situation per test; the host's events are
 * given by hand, and the trace of events and actions is asserted as text (agent_trace.h). Lines are at the
 * multiples of 1000. */
#include "agent_guarded_trace.h"

static struct actor aged(struct trace *trace)
{
    struct bk_agent_config config = small_config(BK_GUARDED, BK_COUNTER_COLUMN);
    config.operations = 4;
    config.retry_backoff_ns = 0;
    assert_int_equal(bk_strategy_max_age(1000, &config.strategy), BK_OK);
    trace->is_guarded = true;
    return actor_of(trace, "A", &config);
}

/* The first grant and a longer one end at the line of their row, whatever the clock shows by then. */
static void test_every_grant_ends_at_the_line(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace);
    write_row(&a, 850, 7, false);
    is_absent(&a, 851, 0);
    applied(&a, 852, 0);
    applied(&a, 853, 0);
    write_row(&a, 970, 7, false);
    but_state(&a, 1010, 0, 0, BEGINNING, BEGINNING, 960);
    applied(&a, 1020, 0);
    applied(&a, 1021, 0);
    ends(
        &a,
        "850 A0 writes 7: read state serially\n"
        "851 A0 is absent: set bucket=0 before=-inf start=-inf until=951 if absent\n"
        "852 A0 applied: put 7.0\n"
        "853 A0 applied: ack 0, done ok\n"
        "970 A0 writes 7: set bucket=0 before=-inf start=-inf until=1000 if bucket=0 before=-inf start=-inf "
        "until=951\n"
        "1010 A0 not applied, bucket=0 before=-inf start=-inf until=960: set bucket=0 before=-inf start=-inf "
        "until=1000 if bucket=0 before=-inf start=-inf until=960\n"
        "1020 A0 applied: put 7.0\n"
        "1021 A0 applied: ack 0, done ok\n");
}

/* A row beyond the line: the start that drops out of the state is stored, then the key rolls, then the row is
 * put. The new bucket begins at the line, so a row from between the old grant and the line goes to the old
 * bucket. */
static void test_row_beyond_the_line_rolls_before_it_is_put(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace);
    knows(&a, 510, 5, 400, 500, 600);
    write_row(&a, 1000, 7, true);
    applied(&a, 1001, 0);
    applied(&a, 1002, 0);
    applied(&a, 1003, 0);
    applied(&a, 1004, 0);
    is_total(&a, 1005, 0, 1);
    write_at(&a, 1010, 999, false);
    applied(&a, 1011, 0);
    ends(&a,
         "1000 A0 fires 7: set start of 4 to 400\n"
         "1001 A0 applied: set bucket=6 before=500 start=1000 until=1101 if bucket=5 before=400 start=500 "
         "until=600\n"
         "1002 A0 applied: put 7.6\n"
         "1003 A0 applied: ack 6, add 1 to 6\n"
         "1004 A0 applied: read counter of 6\n"
         "1005 A0 is 1: done ok fired counted\n"
         "1010 A0 writes 7 at 999: put 7.5\n"
         "1011 A0 applied: ack 5, done ok\n");
}

/* A key that has had no rows across several lines rolls once, and its new bucket ends at the next line after
 * the row. */
static void test_row_beyond_several_lines_rolls_once(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace);
    knows(&a, 510, 1, BEGINNING, 500, 600);
    write_row(&a, 4990, 7, false);
    applied(&a, 4991, 0);
    applied(&a, 4992, 0);
    write_at(&a, 4993, 2500, false); /* of a time that had no rows */
    applied(&a, 4994, 0);
    ends(&a,
         "4990 A0 writes 7: set bucket=2 before=500 start=1000 until=5000 if bucket=1 before=-inf start=500 "
         "until=600\n"
         "4991 A0 applied: put 7.2\n"
         "4992 A0 applied: ack 2, done ok\n"
         "4993 A0 writes 7 at 2500: put 7.2\n"
         "4994 A0 applied: ack 2, done ok\n");
}

/* The bucket's grant ends at a line, so the next row beyond the line begins the next bucket, and no bucket is
 * left empty. */
static void test_full_bucket_before_its_line_is_left_to_the_row_beyond(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace);
    knows(&a, 900, 0, BEGINNING, BEGINNING, 940);
    fill(&a, 930); /* its grant ends before the line */
    applied(&a, 931, 0);
    fill(&a, 950);
    ends(&a, "930 A0 fires 7: put 7.0\n"
             "930 A0 applied: ack 0, add 1 to 0\n"
             "930 A0 applied: read counter of 0\n"
             "930 A0 is 3: set bucket=1 before=-inf start=940 until=1000 if bucket=0 before=-inf start=-inf "
             "until=940\n"
             "931 A0 applied: done ok fired counted\n"
             "950 A0 fires 7: put 7.1\n"
             "950 A0 applied: ack 1, add 1 to 1\n"
             "950 A0 applied: read counter of 1\n"
             "950 A0 is 3: done ok fired counted\n");
}

/* Another agent was faster: the row uses the state that it finds, or rolls it. */
static void test_roll_at_a_line_that_another_has_made_is_taken_over(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace);
    knows(&a, 510, 5, 400, 500, 600);
    write_row(&a, 2100, 7, false);
    applied(&a, 2101, 0);
    /* The state was rolled at the line before: the row rolls it once more and stores the start of 5. */
    but_state(&a, 2102, 0, 6, 500, 1000, 1100);
    applied(&a, 2103, 0);
    but_state(&a, 2104, 0, 7, 1000, 2000, 2150);
    applied(&a, 2105, 0);
    ends(&a,
         "2100 A0 writes 7: set start of 4 to 400\n"
         "2101 A0 applied: set bucket=6 before=500 start=1000 until=2201 if bucket=5 before=400 start=500 "
         "until=600\n"
         "2102 A0 not applied, bucket=6 before=500 start=1000 until=1100: set start of 5 to 500\n"
         "2103 A0 applied: set bucket=7 before=1000 start=2000 until=2303 if bucket=6 before=500 start=1000 "
         "until=1100\n"
         "2104 A0 not applied, bucket=7 before=1000 start=2000 until=2150: put 7.7\n"
         "2105 A0 applied: ack 7, done ok\n");
}

static void test_row_that_cannot_roll_at_a_line_is_refused(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace);
    knows(&a, 510, 1, BEGINNING, 500, 600);
    write_row(&a, 1100, 7, true);
    unknown(&a, 1101, 0);
    is_state(&a, 1102, 0, 1, BEGINNING, 500, 600);
    refused(&a, 1103, 0);
    refused(&a, 1104, 0);
    ends(&a,
         "1100 A0 fires 7: set bucket=2 before=500 start=1000 until=1200 if bucket=1 before=-inf start=500 "
         "until=600\n"
         "1101 A0 unknown: read state serially\n"
         "1102 A0 is bucket=1 before=-inf start=500 until=600: set bucket=2 before=500 start=1000 until=1302 "
         "if "
         "bucket=1 before=-inf start=500 until=600\n"
         "1103 A0 refused: set bucket=2 before=500 start=1000 until=1302 if bucket=1 before=-inf start=500 "
         "until=600 again\n"
         "1104 A0 refused: done refused fired\n");
}

/* From the date of a change on there may be other lines, or none. */
static void test_lines_are_those_of_the_settings_of_their_time(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace);
    struct bk_strategy first, next;
    struct bk_history history;
    assert_int_equal(bk_strategy_probabilistic(1, THRESHOLD, &first), BK_OK);
    next = first;
    assert_int_equal(bk_strategy_max_age(1000, &first), BK_OK);
    assert_int_equal(bk_strategy_max_age(1300, &next), BK_OK);
    assert_int_equal(bk_history_begin(&first, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, 1500, &next), BK_OK);
    next.max_age_ns = 0;
    assert_int_equal(bk_history_change(&history, 5000, &next), BK_OK);
    assert_int_equal(bk_agent_change(a.agent, &history), BK_OK);
    knows(&a, 1910, 1, BEGINNING, 1200, 1300);
    write_row(&a, 2590, 7, false); /* the line at 2000 no longer exists, the next is 2600 */
    applied(&a, 2591, 0);
    applied(&a, 2592, 0);
    write_row(&a, 2600, 7, false);
    applied(&a, 2601, 0);
    applied(&a, 2602, 0);
    write_row(&a, 9000, 7, false); /* the line at 3900 is the last */
    applied(&a, 9001, 0);
    applied(&a, 9002, 0);
    applied(&a, 9003, 0);
    write_row(&a, 99000, 7, false);
    applied(&a, 99001, 0);
    applied(&a, 99002, 0);
    ends(
        &a,
        "2590 A0 writes 7: set bucket=1 before=-inf start=1200 until=2600 if bucket=1 before=-inf start=1200 "
        "until=1300\n"
        "2591 A0 applied: put 7.1\n"
        "2592 A0 applied: ack 1, done ok\n"
        "2600 A0 writes 7: set bucket=2 before=1200 start=2600 until=2700 if bucket=1 before=-inf start=1200 "
        "until=2600\n"
        "2601 A0 applied: put 7.2\n"
        "2602 A0 applied: ack 2, done ok\n"
        "9000 A0 writes 7: set start of 1 to 1200\n"
        "9001 A0 applied: set bucket=3 before=2600 start=3900 until=9101 if bucket=2 before=1200 start=2600 "
        "until=2700\n"
        "9002 A0 applied: put 7.3\n"
        "9003 A0 applied: ack 3, done ok\n"
        "99000 A0 writes 7: set bucket=3 before=2600 start=3900 until=99100 if bucket=3 before=2600 "
        "start=3900 "
        "until=9101\n"
        "99001 A0 applied: put 7.3\n"
        "99002 A0 applied: ack 3, done ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_grant_ends_at_the_line),
        cmocka_unit_test(test_row_beyond_the_line_rolls_before_it_is_put),
        cmocka_unit_test(test_row_beyond_several_lines_rolls_once),
        cmocka_unit_test(test_full_bucket_before_its_line_is_left_to_the_row_beyond),
        cmocka_unit_test(test_roll_at_a_line_that_another_has_made_is_taken_over),
        cmocka_unit_test(test_row_that_cannot_roll_at_a_line_is_refused),
        cmocka_unit_test(test_lines_are_those_of_the_settings_of_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
