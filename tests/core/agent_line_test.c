/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: with a greatest age, a row from beyond the line of its key's newest bucket writes the next bucket
 * before the row is put, with all protocols that count in the state row. Method: one situation per test; the
 * host's events are given by hand, and the trace of events and actions is asserted as text (agent_trace.h).
 * Lines are at the multiples of 1000, three rows that fire fill a bucket, the lead is 200, and copies live
 * for 100. */
#include "agent_trace.h"

static struct actor aged(struct trace *trace, enum bk_coordination coordination, enum bk_counter counter)
{
    struct bk_agent_config config = small_config(coordination, counter);
    config.retry_backoff_ns = 0;
    assert_int_equal(bk_strategy_max_age(1000, &config.strategy), BK_OK);
    return actor_of(trace, "A", &config);
}

/* The state is written so that the line of bucket 0 is known. */
static void test_first_row_of_a_key_writes_the_state_before_it_is_put(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_LWT);
    write_row(&a, 850, 7, false);
    is_absent(&a, 851, 0);
    but_state(&a, 852, 0, 0, 0, 0, 0); /* another agent was faster */
    applied(&a, 853, 0);
    ends(&a, "850 A0 writes 7: read state\n"
             "851 A0 is absent: set bucket=0 counter=0 last=0 next=0 if absent\n"
             "852 A0 not applied, bucket=0 counter=0 last=0 next=0: put 7.0\n"
             "853 A0 applied: ack 0, done ok\n");
}

/* The condition shows whether the copy is still valid. The new bucket begins at the line. */
static void test_row_beyond_the_line_rolls_by_its_copy_with_lwt(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_LWT);
    knows(&a, 990, 4, 2, 500, 0);
    write_row(&a, 1010, 7, true);
    applied(&a, 1011, 0);
    applied(&a, 1012, 0);
    applied(&a, 1013, 0);
    write_at(&a, 1014, 999, false); /* late: goes to the newest bucket */
    applied(&a, 1015, 0);
    ends(&a, "1010 A0 fires 7: set bucket=5 counter=0 last=1000 if bucket=4 counter=2 last=500 next=0\n"
             "1011 A0 applied: put 7.5\n"
             "1012 A0 applied: ack 5, set counter=1 if bucket=5 counter=0 last=1000 next=0\n"
             "1013 A0 applied: done ok fired counted\n"
             "1014 A0 writes 7 at 999: put 7.5\n"
             "1015 A0 applied: ack 5, done ok\n");
}

static void test_roll_at_a_line_that_another_has_made_is_taken_over(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_LWT);
    knows(&a, 990, 4, 2, 500, 0);
    write_row(&a, 2010, 7, false);
    is_state(&a, 2011, 0, 4, 2, 500, 0);
    but_state(&a, 2012, 0, 5, 1, 1000, 0); /* rolled at the line before: rolls once more */
    but_state(&a, 2013, 0, 6, 0, 2000, 0);
    applied(&a, 2014, 0);
    ends(&a, "2010 A0 writes 7: read state\n"
             "2011 A0 is bucket=4 counter=2 last=500 next=0: set bucket=5 counter=0 last=2000 if bucket=4 "
             "counter=2 last=500 next=0\n"
             "2012 A0 not applied, bucket=5 counter=1 last=1000 next=0: set bucket=6 counter=0 last=2000 if "
             "bucket=5 counter=1 last=1000 next=0\n"
             "2013 A0 not applied, bucket=6 counter=0 last=2000 next=0: put 7.6\n"
             "2014 A0 applied: ack 6, done ok\n");
}

/* A plain write must not rely on a copy. */
static void test_row_beyond_the_line_reads_the_state_first_without_lwt(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_RMW);
    knows(&a, 990, 4, 2, 500, 0);
    write_row(&a, 1010, 7, false);
    is_state(&a, 1011, 0, 4, 2, 500, 0);
    applied(&a, 1012, 0);
    applied(&a, 1013, 0);
    write_row(&a, 3010, 7, false); /* the copy has expired, and one span passed without rows */
    is_state(&a, 3011, 0, 5, 0, 1000, 0);
    applied(&a, 3012, 0);
    applied(&a, 3013, 0);
    ends(&a, "1010 A0 writes 7: read state\n"
             "1011 A0 is bucket=4 counter=2 last=500 next=0: set bucket=5 counter=0 last=1000\n"
             "1012 A0 applied: put 7.5\n"
             "1013 A0 applied: ack 5, done ok\n"
             "3010 A0 writes 7: read state\n"
             "3011 A0 is bucket=5 counter=0 last=1000 next=0: set bucket=6 counter=0 last=3000\n"
             "3012 A0 applied: put 7.6\n"
             "3013 A0 applied: ack 6, done ok\n");
}

/* The base of the new bucket is the counter's total at the bucket's beginning. */
static void test_row_beyond_the_line_reads_the_counter_for_its_base(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_COLUMN);
    write_row(&a, 1010, 7, false);
    is_state(&a, 1011, 0, 4, 20, 500, 0);
    is_total(&a, 1012, 0, 22);
    applied(&a, 1013, 0);
    applied(&a, 1014, 0);
    ends(&a, "1010 A0 writes 7: read state\n"
             "1011 A0 is bucket=4 counter=20 last=500 next=0: read counter\n"
             "1012 A0 is 22: set bucket=5 counter=22 last=1000\n"
             "1013 A0 applied: put 7.5\n"
             "1014 A0 applied: ack 5, done ok\n");
}

static void test_row_that_cannot_cross_a_line_is_refused(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_RMW);
    write_row(&a, 1010, 7, true);
    is_state(&a, 1011, 0, 4, 2, 500, 0);
    unknown(&a, 1012, 0);
    is_state(&a, 1013, 0, 4, 2, 500, 0);
    unknown(&a, 1014, 0);
    is_state(&a, 1015, 0, 4, 2, 500, 0);
    refused(&a, 1016, 0);
    unknown(&a, 1017, 0);
    ends(&a, "1010 A0 fires 7: read state\n"
             "1011 A0 is bucket=4 counter=2 last=500 next=0: set bucket=5 counter=0 last=1000\n"
             "1012 A0 unknown: read state\n"
             "1013 A0 is bucket=4 counter=2 last=500 next=0: set bucket=5 counter=0 last=1000\n"
             "1014 A0 unknown: read state\n"
             "1015 A0 is bucket=4 counter=2 last=500 next=0: set bucket=5 counter=0 last=1000\n"
             "1016 A0 refused: set bucket=5 counter=0 last=1000 again\n"
             "1017 A0 unknown: done refused fired\n");
}

/* By then the clock is past the line, but the next bucket still ends at the line. */
static void test_full_bucket_rolls_within_its_span(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_LWT);
    knows(&a, 980, 4, 2, 500, 0);
    write_row(&a, 999, 7, true);
    applied(&a, 1005, 0);
    applied(&a, 1006, 0);
    write_row(&a, 1007, 7, false);
    applied(&a, 1008, 0);
    applied(&a, 1009, 0);
    ends(&a, "999 A0 fires 7: put 7.4\n"
             "1005 A0 applied: ack 4, set bucket=5 counter=0 last=999 if bucket=4 counter=2 last=500 next=0\n"
             "1006 A0 applied: done ok fired counted\n"
             "1007 A0 writes 7: set bucket=6 counter=0 last=1000 if bucket=5 counter=0 last=999 next=0\n"
             "1008 A0 applied: put 7.6\n"
             "1009 A0 applied: ack 6, done ok\n");
}

/* No lock is needed, since all rows beyond the line would write the same state. */
static void test_locked_takes_no_lock_at_a_line(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_LOCKED, BK_COUNTER_RMW);
    write_row(&a, 1010, 7, true);
    is_state(&a, 1011, 0, 4, 2, 500, 0);
    applied(&a, 1012, 0);
    applied(&a, 1013, 0);
    is_state(&a, 1014, 0, 5, 0, 1000, 0);
    applied(&a, 1015, 0);
    ends(&a, "1010 A0 fires 7: read state\n"
             "1011 A0 is bucket=4 counter=2 last=500 next=0: set bucket=5 counter=0 last=1000\n"
             "1012 A0 applied: put 7.5\n"
             "1013 A0 applied: ack 5, read state\n"
             "1014 A0 is bucket=5 counter=0 last=1000 next=0: set counter=1\n"
             "1015 A0 applied: done ok fired counted\n");
}

/* The change is dated at the line and so takes effect immediately; the next row sets the counter back. */
static void test_change_at_a_line_is_dated_at_the_line(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_THREE_STATE, BK_COUNTER_LWT);
    knows(&a, 990, 4, 2, 500, 0);
    write_row(&a, 1010, 7, true);
    applied(&a, 1011, 0);
    applied(&a, 1012, 0);
    applied(&a, 1013, 0);
    write_at(&a, 1014, 999, false);
    applied(&a, 1015, 0);
    ends(&a,
         "1010 A0 fires 7: set bucket=5 last=500 next=1000 if bucket=4 counter=2 last=500 next=0\n"
         "1011 A0 applied: put 7.5\n"
         "1012 A0 applied: ack 5, set counter=1 last=1000 next=0 if bucket=5 counter=2 last=500 next=1000\n"
         "1013 A0 applied: done ok fired counted\n"
         "1014 A0 writes 7 at 999: put 7.4\n"
         "1015 A0 applied: ack 4, done ok\n");
}

/* The times between the lines get a bucket too, so that both dates of the state hold. */
static void test_key_that_slept_through_lines_begins_two_buckets(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_THREE_STATE, BK_COUNTER_LWT);
    write_row(&a, 5020, 7, false);
    is_state(&a, 5021, 0, 4, 2, 500, 900); /* a change that has taken effect and was never reset */
    applied(&a, 5022, 0);
    write_at(&a, 5023, 2500, false); /* late, from a span that had no rows before */
    applied(&a, 5024, 0);
    applied(&a, 5025, 1);
    applied(&a, 5026, 0);
    but_state(&a, 5027, 1, 6, 0, 5000, 0);
    ends(&a,
         "5020 A0 writes 7: read state\n"
         "5021 A0 is bucket=4 counter=2 last=500 next=900: set bucket=6 last=1000 next=5000 if bucket=4 "
         "counter=2 last=500 next=900\n"
         "5022 A0 applied: put 7.6\n"
         "5023 A1 writes 7 at 2500: put 7.5\n"
         "5024 A0 applied: ack 6, set counter=0 last=5000 next=0 if bucket=6 counter=2 last=1000 next=5000\n"
         "5025 A1 applied: ack 5, set counter=0 last=5000 next=0 if bucket=6 counter=2 last=1000 next=5000\n"
         "5026 A0 applied: done ok\n"
         "5027 A1 not applied, bucket=6 counter=0 last=5000 next=0: done ok\n");
}

/* Dates stay a lead apart, so the full bucket ends at the line. */
static void test_no_change_is_dated_within_a_lead_of_a_line(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_THREE_STATE, BK_COUNTER_LWT);
    knows(&a, 580, 4, 2, 500, 0);
    write_row(&a, 600, 7, true);
    applied(&a, 601, 0);
    but_state(&a, 602, 0, 4, 5, 500, 0);
    applied(&a, 603, 0);
    ends(&a, "600 A0 fires 7: put 7.4\n"
             "601 A0 applied: ack 4, set counter=3 if bucket=4 counter=2 last=500 next=0\n"
             "602 A0 not applied, bucket=4 counter=5 last=500 next=0: set counter=6 if bucket=4 counter=5 "
             "last=500 next=0\n"
             "603 A0 applied: done ok fired counted\n");
}

/* The line of the row's bucket is unknown, so the row is not counted; the next row begins again. */
static void test_row_of_a_lost_state_is_not_counted(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_RMW);
    knows(&a, 580, 4, 2, 500, 0);
    write_row(&a, 600, 7, true);
    applied(&a, 601, 0);
    is_absent(&a, 602, 0);
    ends(&a, "600 A0 fires 7: put 7.4\n"
             "601 A0 applied: ack 4, read state\n"
             "602 A0 is absent: done ok fired\n");
}

/* An update was accepted, the state row was deleted, and then the update was committed, so the row has only
 * the columns that the update set. */
static void test_roll_at_a_line_completes_a_state_that_lacks_columns(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = aged(&trace, BK_SINGLE, BK_COUNTER_LWT);
    knows(&a, 990, 4, 2, 500, 0);
    write_row(&a, 1010, 7, false);
    but_columns(&a, 1011, 0, 1u << BK_COUNTER, (int64_t[]){0, 3, 0, 0});
    applied(&a, 1012, 0);
    applied(&a, 1013, 0);
    ends(&a,
         "1010 A0 writes 7: set bucket=5 counter=0 last=1000 if bucket=4 counter=2 last=500 next=0\n"
         "1011 A0 not applied, counter=3: set bucket=1 counter=0 last=1000 next=0 if counter=3 bucket=null "
         "last=null next=null\n"
         "1012 A0 applied: put 7.1\n"
         "1013 A0 applied: ack 1, done ok\n");
    trace.length = 0;
    a = aged(&trace, BK_THREE_STATE, BK_COUNTER_LWT);
    write_row(&a, 3010, 7, false);
    tell_columns(&a, 3011, 0, BK_OUTCOME_APPLIED, state_names, 1u << BK_COUNTER, (int64_t[]){0, 3, 0, 0});
    applied(&a, 3012, 0);
    applied(&a, 3013, 0);
    but_columns(&a, 3014, 0, 1u << BK_BUCKET | 1u << BK_NEXT_CHANGE, (int64_t[]){5, 0, 0, 4000});
    ends(&a,
         "3010 A0 writes 7: read state\n"
         "3011 A0 is counter=3: set bucket=2 counter=3 last=1000 next=3000 if counter=3 bucket=null "
         "last=null next=null\n"
         "3012 A0 applied: put 7.2\n"
         "3013 A0 applied: ack 2, set counter=0 last=3000 next=0 if bucket=2 counter=3 last=1000 next=3000\n"
         "3014 A0 not applied, bucket=5 next=4000: done ok\n");
}

static void test_count_takes_no_greatest_age(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    assert_int_equal(bk_strategy_count(5, &config.strategy), BK_OK);
    config.source = BK_SOURCE_LWT;
    assert_int_equal(bk_agent_check(&config), BK_OK);
    assert_int_equal(bk_strategy_max_age(1000, &config.strategy), BK_OK);
    assert_int_equal(bk_agent_check(&config), BK_ERROR_AGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_row_of_a_key_writes_the_state_before_it_is_put),
        cmocka_unit_test(test_row_beyond_the_line_rolls_by_its_copy_with_lwt),
        cmocka_unit_test(test_roll_at_a_line_that_another_has_made_is_taken_over),
        cmocka_unit_test(test_row_beyond_the_line_reads_the_state_first_without_lwt),
        cmocka_unit_test(test_row_beyond_the_line_reads_the_counter_for_its_base),
        cmocka_unit_test(test_row_that_cannot_cross_a_line_is_refused),
        cmocka_unit_test(test_full_bucket_rolls_within_its_span),
        cmocka_unit_test(test_locked_takes_no_lock_at_a_line),
        cmocka_unit_test(test_change_at_a_line_is_dated_at_the_line),
        cmocka_unit_test(test_key_that_slept_through_lines_begins_two_buckets),
        cmocka_unit_test(test_no_change_is_dated_within_a_lead_of_a_line),
        cmocka_unit_test(test_row_of_a_lost_state_is_not_counted),
        cmocka_unit_test(test_roll_at_a_line_completes_a_state_that_lacks_columns),
        cmocka_unit_test(test_count_takes_no_greatest_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
