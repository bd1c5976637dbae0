/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the source of a row's number if the row has none: a counter column, a conditional update for each row,
 * or one for a lease of many. Method: one situation per test; the host's events are given by hand, and the
 * trace of events and actions is asserted as text (agent_trace.h). Partitions have three rows. */
#include "agent_source_trace.h"

static void test_counter_numbers_a_row_by_the_total_after_its_own_increment(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_COUNTER);
    write_row(&a, 1000, 7, false);
    applied(&a, 1010, 0);
    is_total(&a, 1020, 0, 3);
    applied(&a, 1030, 0);
    write_row(&a, 1040, 7, false);
    applied(&a, 1050, 0);
    is_total(&a, 1060, 0, 4);
    refused(&a, 1070, 0);
    tick(&a, 1075);
    applied(&a, 1080, 0);
    ends(&a, "1000 A0 writes 7: add 1\n"
             "1010 A0 applied: read counter\n"
             "1020 A0 is 3: put 7.0\n"
             "1030 A0 applied: ack 0, done ok fired counted\n"
             "1040 A0 writes 7: add 1\n"
             "1050 A0 applied: read counter\n"
             "1060 A0 is 4: put 7.1\n"
             "1070 A0 refused\n"
             "1075 A ticks, due at 1075: A0 put 7.1 again\n"
             "1080 A0 applied: ack 1, done ok fired counted\n");
}

/* Impossible totals: 0 after an increment, a negative total, and a total that no number can follow. */
static void test_impossible_counter_total_still_gives_the_row_a_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_COUNTER);
    const int64_t totals[] = {0, -5, INT64_MAX};
    for (int i = 0; i < 3; i++) {
        write_row(&a, 1000 + 10 * i, 7, false);
        applied(&a, 1001 + 10 * i, 0);
        is_total(&a, 1002 + 10 * i, 0, totals[i]);
        applied(&a, 1003 + 10 * i, 0);
    }
    ends(&a, "1000 A0 writes 7: add 1\n"
             "1001 A0 applied: read counter\n"
             "1002 A0 is 0: put 7.0\n"
             "1003 A0 applied: ack 0, done ok fired counted\n"
             "1010 A0 writes 7: add 1\n"
             "1011 A0 applied: read counter\n"
             "1012 A0 is -5: put 7.0\n"
             "1013 A0 applied: ack 0, done ok fired counted\n"
             "1020 A0 writes 7: add 1\n"
             "1021 A0 applied: read counter\n"
             "1022 A0 is 9223372036854775807: put 7.3074457345618258602\n"
             "1023 A0 applied: ack 3074457345618258602, done ok fired counted\n");
}

static void test_counter_increment_of_unknown_outcome_is_not_changed(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_COUNTER);
    write_row(&a, 1000, 7, false);
    unknown(&a, 1010, 0);
    is_total(&a, 1020, 0, 7);
    applied(&a, 1030, 0);
    ends(&a, "1000 A0 writes 7: add 1\n"
             "1010 A0 unknown: read counter\n"
             "1020 A0 is 7: put 7.2\n"
             "1030 A0 applied: ack 2, done ok fired\n");
}

/* As often as counter_retries says, whatever retries says for other actions. */
static void test_counter_increment_of_unknown_outcome_is_repeated_when_it_may(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_COUNTER);
    config.retries = 0;
    config.counter_retries = 2;
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 1000, 7, false);
    unknown(&a, 1010, 0);
    unknown(&a, 1020, 0);
    unknown(&a, 1030, 0);
    is_total(&a, 1040, 0, 7);
    applied(&a, 1050, 0);
    write_row(&a, 1060, 7, false);
    unknown(&a, 1070, 0);
    applied(&a, 1080, 0);
    is_total(&a, 1090, 0, 9);
    applied(&a, 1100, 0);
    ends(&a, "1000 A0 writes 7: add 1\n"
             "1010 A0 unknown: add 1 again\n"
             "1020 A0 unknown: add 1 again\n"
             "1030 A0 unknown: read counter\n"
             "1040 A0 is 7: put 7.2\n"
             "1050 A0 applied: ack 2, done ok fired\n"
             "1060 A0 writes 7: add 1\n"
             "1070 A0 unknown: add 1 again\n"
             "1080 A0 applied: read counter\n"
             "1090 A0 is 9: put 7.2\n"
             "1100 A0 applied: ack 2, done ok fired counted\n");
}

static void test_counter_increment_refused_to_the_last_refuses_the_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_COUNTER);
    write_row(&a, 1000, 7, false);
    refused(&a, 1010, 0);
    tick(&a, 1015);
    but_state(&a, 1020, 0, 0, 0, 0, 0); /* the action had no condition: treated as a refusal */
    tick(&a, 1030);
    refused(&a, 1040, 0);
    ends(&a, "1000 A0 writes 7: add 1\n"
             "1010 A0 refused\n"
             "1015 A ticks, due at 1015: A0 add 1 again\n"
             "1020 A0 not applied, bucket=0 counter=0 last=0 next=0\n"
             "1030 A ticks, due at 1030: A0 add 1 again\n"
             "1040 A0 refused: done refused fired\n");
}

static void test_counter_total_not_reported_refuses_the_row_and_leaves_the_read_unknown(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_COUNTER);
    write_row(&a, 1000, 7, false);
    applied(&a, 1010, 0);
    unknown(&a, 1020, 0);
    refused(&a, 1030, 0);
    tick(&a, 1040);
    unknown(&a, 1050, 0);
    read_rows(&a, 1060, 5, BK_PLAN_WALK);
    unknown(&a, 1070, 0);
    unknown(&a, 1080, 0);
    unknown(&a, 1090, 0);
    ends(&a, "1000 A0 writes 7: add 1\n"
             "1010 A0 applied: read counter\n"
             "1020 A0 unknown: read counter again\n"
             "1030 A0 refused\n"
             "1040 A ticks, due at 1040: A0 read counter again\n"
             "1050 A0 unknown: done refused fired counted\n"
             "1060 A0 reads 5: read counter\n"
             "1070 A0 unknown: read counter again\n"
             "1080 A0 unknown: read counter again\n"
             "1090 A0 unknown: done unknown\n");
}

static void test_counter_total_shows_a_reader_the_newest_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_COUNTER);
    read_rows(&a, 1000, 4, BK_PLAN_WALK);
    is_total(&a, 1010, 0, 7);
    found_rows(&a, 1020, 0, 1);
    found_rows(&a, 1030, 0, 3);
    read_rows(&a, 1040, 4, BK_PLAN_WALK);
    is_total(&a, 1050, 0, 0);
    found_rows(&a, 1060, 0, 0);
    ends(&a, "1000 A0 reads 4: read counter\n"
             "1010 A0 is 7: read 7.2..2 for 4\n"
             "1020 A0 found 1: read 7.1..1 for 3\n"
             "1030 A0 found 3: done ok found 4 in 2\n"
             "1040 A0 reads 4: read counter\n"
             "1050 A0 is 0: read 7.0..0 for 4\n"
             "1060 A0 found 0: done ok found 0 in 1\n");
}

/* The second row's copy of the state expired long ago; the condition shows whether it still holds. */
static void test_lwt_takes_one_number_for_each_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    applied(&a, 1020, 0);
    applied(&a, 1030, 0);
    write_row(&a, 9000, 7, false);
    applied(&a, 9010, 0);
    applied(&a, 9020, 0);
    read_rows(&a, 9030, 5, BK_PLAN_WALK); /* reads begin at the bucket of the last number */
    is_state(&a, 9035, 0, 1, 4, 0, 0);
    found_rows(&a, 9040, 0, 5);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is absent: set bucket=0 counter=1 last=0 next=0 if absent\n"
             "1020 A0 applied: put 7.0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "9000 A0 writes 7: set bucket=0 counter=2 last=0 next=0 if bucket=0 counter=1 last=0 next=0\n"
             "9010 A0 applied: put 7.0\n"
             "9020 A0 applied: ack 0, done ok\n"
             "9030 A0 reads 5: read state\n"
             "9035 A0 is bucket=1 counter=4 last=0 next=0: read 7.1..1 for 5\n"
             "9040 A0 found 5: done ok found 5 in 1\n");
}

static void test_lwt_lost_condition_takes_the_number_that_is_next_now(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1010, 0, 0, 2, 0, 0);
    but_state(&a, 1020, 0, 1, 6, 0, 0);
    tell_columns(&a, 1030, 0, BK_OUTCOME_NOT_APPLIED, state_names, 0, (int64_t[4]){0}); /* dropped */
    applied(&a, 1040, 0);
    applied(&a, 1050, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is bucket=0 counter=2 last=0 next=0: set bucket=0 counter=3 last=0 next=0 if bucket=0 "
             "counter=2 last=0 next=0\n"
             "1020 A0 not applied, bucket=1 counter=6 last=0 next=0: set bucket=2 counter=7 last=0 next=0 if "
             "bucket=1 counter=6 last=0 next=0\n"
             "1030 A0 not applied, absent: set bucket=0 counter=1 last=0 next=0 if absent\n"
             "1040 A0 applied: put 7.0\n"
             "1050 A0 applied: ack 0, done ok\n");
}

static void test_lwt_that_loses_too_often_refuses_the_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1001, 0);
    for (int64_t i = 1; i < 64; i++)
        but_state(&a, 1001 + i, 0, 0, i, 0, 0);
    trace.length = 0;
    but_state(&a, 1100, 0, 21, 64, 0, 0);
    ends(&a, "1100 A0 not applied, bucket=21 counter=64 last=0 next=0: done refused\n");
}

/* The number may be taken, now or later, so the agent takes another one. */
static void test_lwt_of_unknown_outcome_reads_before_the_next_update(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    unknown(&a, 1020, 0);
    is_state(&a, 1030, 0, 0, 1, 0, 0);
    applied(&a, 1040, 0);
    applied(&a, 1050, 0);
    write_row(&a, 1060, 7, false);
    unknown(&a, 1070, 0);
    is_state(&a, 1080, 0, 0, 2, 0, 0);
    unknown(&a, 1090, 0);
    is_state(&a, 1100, 0, 0, 2, 0, 0);
    unknown(&a, 1110, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is absent: set bucket=0 counter=1 last=0 next=0 if absent\n"
             "1020 A0 unknown: read state serially\n"
             "1030 A0 is bucket=0 counter=1 last=0 next=0: set bucket=0 counter=2 last=0 next=0 if bucket=0 "
             "counter=1 last=0 next=0\n"
             "1040 A0 applied: put 7.0\n"
             "1050 A0 applied: ack 0, done ok\n"
             "1060 A0 writes 7: set bucket=0 counter=3 last=0 next=0 if bucket=0 counter=2 last=0 next=0\n"
             "1070 A0 unknown: read state serially\n"
             "1080 A0 is bucket=0 counter=2 last=0 next=0: set bucket=0 counter=3 last=0 next=0 if bucket=0 "
             "counter=2 last=0 next=0\n"
             "1090 A0 unknown: read state serially\n"
             "1100 A0 is bucket=0 counter=2 last=0 next=0: set bucket=0 counter=3 last=0 next=0 if bucket=0 "
             "counter=2 last=0 next=0\n"
             "1110 A0 unknown: done refused\n");
}

static void test_lwt_refused_is_repeated_as_it_was(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    unknown(&a, 1005, 0);
    is_absent(&a, 1010, 0);
    refused(&a, 1020, 0);
    tick(&a, 1030);
    applied(&a, 1040, 0);
    applied(&a, 1050, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1005 A0 unknown: read state serially again\n"
             "1010 A0 is absent: set bucket=0 counter=1 last=0 next=0 if absent\n"
             "1020 A0 refused\n"
             "1030 A ticks, due at 1030: A0 set bucket=0 counter=1 last=0 next=0 if absent again\n"
             "1040 A0 applied: put 7.0\n"
             "1050 A0 applied: ack 0, done ok\n");
}

static void test_lwt_impossible_state_refuses_the_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1010, 0, -1, 0, 0, 0);
    tick(&a, 1015);
    is_state(&a, 1020, 0, 0, -1, 0, 0);
    tick(&a, 1030);
    is_state(&a, 1040, 0, 0, INT64_MAX, 0, 0);
    write_row(&a, 1050, 7, false);
    is_absent(&a, 1060, 0);
    but_state(&a, 1070, 0, 0, -1, 0, 0);
    tick(&a, 1075);
    applied(&a, 1080, 0);
    applied(&a, 1090, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is bucket=-1 counter=0 last=0 next=0\n"
             "1015 A ticks, due at 1015: A0 read state serially again\n"
             "1020 A0 is bucket=0 counter=-1 last=0 next=0\n"
             "1030 A ticks, due at 1030: A0 read state serially again\n"
             "1040 A0 is bucket=0 counter=9223372036854775807 last=0 next=0: done refused\n"
             "1050 A0 writes 7: read state serially\n"
             "1060 A0 is absent: set bucket=0 counter=1 last=0 next=0 if absent\n"
             "1070 A0 not applied, bucket=0 counter=-1 last=0 next=0\n"
             "1075 A ticks, due at 1075: A0 set bucket=0 counter=1 last=0 next=0 if absent again\n"
             "1080 A0 applied: put 7.0\n"
             "1090 A0 applied: ack 0, done ok\n");
}

/* A reader does not need the count and accepts any; it must not lead to a negative number. */
static void test_lwt_takes_no_number_from_a_count_that_a_reader_left(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    read_rows(&a, 1000, 1, BK_PLAN_WALK);
    is_state(&a, 1010, 0, 2, -4, 0, 0);
    found_rows(&a, 1020, 0, 1);
    write_row(&a, 1030, 7, false);
    is_state(&a, 1040, 0, 2, 8, 0, 0);
    applied(&a, 1050, 0);
    applied(&a, 1060, 0);
    ends(&a, "1000 A0 reads 1: read state\n"
             "1010 A0 is bucket=2 counter=-4 last=0 next=0: read 7.2..2 for 1\n"
             "1020 A0 found 1: done ok found 1 in 1\n"
             "1030 A0 writes 7: read state serially\n"
             "1040 A0 is bucket=2 counter=8 last=0 next=0: set bucket=2 counter=9 last=0 next=0 if bucket=2 "
             "counter=8 last=0 next=0\n"
             "1050 A0 applied: put 7.2\n"
             "1060 A0 applied: ack 2, done ok\n");
}

static void test_lwt_gives_the_last_number_there_is_and_no_more(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1010, 0, INT64_C(3074457345618258601), INT64_MAX - 2, 0, 0);
    applied(&a, 1020, 0);
    applied(&a, 1030, 0);
    write_row(&a, 1040, 7, false);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is bucket=3074457345618258601 counter=9223372036854775805 last=0 next=0: set "
             "bucket=3074457345618258601 counter=9223372036854775806 last=0 next=0 if "
             "bucket=3074457345618258601 counter=9223372036854775805 last=0 next=0\n"
             "1020 A0 applied: put 7.3074457345618258601\n"
             "1030 A0 applied: ack 3074457345618258601, done ok\n"
             "1040 A0 writes 7: done refused\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter_numbers_a_row_by_the_total_after_its_own_increment),
        cmocka_unit_test(test_impossible_counter_total_still_gives_the_row_a_bucket),
        cmocka_unit_test(test_counter_increment_of_unknown_outcome_is_not_changed),
        cmocka_unit_test(test_counter_increment_of_unknown_outcome_is_repeated_when_it_may),
        cmocka_unit_test(test_counter_increment_refused_to_the_last_refuses_the_row),
        cmocka_unit_test(test_counter_total_not_reported_refuses_the_row_and_leaves_the_read_unknown),
        cmocka_unit_test(test_counter_total_shows_a_reader_the_newest_bucket),
        cmocka_unit_test(test_lwt_takes_one_number_for_each_row),
        cmocka_unit_test(test_lwt_lost_condition_takes_the_number_that_is_next_now),
        cmocka_unit_test(test_lwt_that_loses_too_often_refuses_the_row),
        cmocka_unit_test(test_lwt_of_unknown_outcome_reads_before_the_next_update),
        cmocka_unit_test(test_lwt_refused_is_repeated_as_it_was),
        cmocka_unit_test(test_lwt_impossible_state_refuses_the_row),
        cmocka_unit_test(test_lwt_takes_no_number_from_a_count_that_a_reader_left),
        cmocka_unit_test(test_lwt_gives_the_last_number_there_is_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
