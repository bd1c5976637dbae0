/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: only one of an agent's operations on a key sends requests at a time, and readers begin high enough
 * (docs/guarded.md). Method: one situation per test; the host's events are given by hand, and the trace of
 * events and actions is asserted as text (agent_trace.h). */
#include "agent_guarded_trace.h"

/* One operation sends a request; the others wait, and resume with its result. Another key is not affected. */
static void test_operations_on_one_key_make_one_request_at_a_time(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    uint32_t first = write_row(&a, 50, 7, false), second = write_row(&a, 51, 7, false);
    uint32_t other = write_row(&a, 52, 8, false), third = write_row(&a, 53, 7, false);
    is_state(&a, 60, other, 0, BEGINNING, BEGINNING, 100);
    is_absent(&a, 61, first);
    applied(&a, 62, first);
    applied(&a, 63, third);
    applied(&a, 64, second);
    applied(&a, 65, first);
    applied(&a, 66, other);
    ends(&a, "50 A0 writes 7: read state serially\n"
             "51 A1 writes 7\n"
             "52 A2 writes 8: read state serially\n"
             "53 A3 writes 7\n"
             "60 A2 is bucket=0 before=-inf start=-inf until=100: put 8.0\n"
             "61 A0 is absent: set bucket=0 before=-inf start=-inf until=161 if absent\n"
             "62 A0 applied: put 7.0, A1 put 7.0, A3 put 7.0\n"
             "63 A3 applied: ack 0, done ok\n"
             "64 A1 applied: ack 0, done ok\n"
             "65 A0 applied: ack 0, done ok\n"
             "66 A2 applied: ack 0, done ok\n");
}

/* The first operation's grant is too short for the second one, which then requests one itself; the second
 * one's grant serves the third one too. */
static void test_unserved_operation_makes_the_next_request(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    uint32_t late = write_at(&a, 300, 100, false), now = write_row(&a, 300, 7, false);
    uint32_t early = write_at(&a, 300, 199, false), same = write_row(&a, 301, 7, false);
    is_state(&a, 310, late, 0, BEGINNING, BEGINNING, 200); /* enough for the early row, which overtakes */
    applied(&a, 312, now);
    for (uint32_t i = 0; i < 4; i++)
        applied(&a, 320 + i, (uint32_t[]){late, now, early, same}[i]);
    ends(&a, "300 A0 writes 7 at 100: read state serially\n"
             "300 A1 writes 7\n"
             "300 A2 writes 7 at 199\n"
             "301 A3 writes 7\n"
             "310 A0 is bucket=0 before=-inf start=-inf until=200: put 7.0, A1 set bucket=0 before=-inf "
             "start=-inf until=410 if bucket=0 before=-inf start=-inf until=200, A2 put 7.0\n"
             "312 A1 applied: put 7.0, A3 put 7.0\n"
             "320 A0 applied: ack 0, done ok\n"
             "321 A1 applied: ack 0, done ok\n"
             "322 A2 applied: ack 0, done ok\n"
             "323 A3 applied: ack 0, done ok\n");
}

/* An operation fails; the next one takes over, with its full number of tries. */
static void test_failed_operation_passes_its_turn_on(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_GUARDED, BK_COUNTER_COLUMN);
    config.operations = 3;
    config.retries = 0;
    trace.is_guarded = true;
    struct actor a = actor_of(&trace, "A", &config);
    uint32_t first = write_row(&a, 50, 7, false), second = write_row(&a, 51, 7, false);
    uint32_t reader = read_rows(&a, 52, 5, BK_PLAN_WALK);
    unknown(&a, 60, first);
    refused(&a, 61, second);
    is_state(&a, 62, reader, 0, BEGINNING, BEGINNING, 100);
    found_rows(&a, 63, reader, 5);
    ends(&a, "50 A0 writes 7: read state serially\n"
             "51 A1 writes 7\n"
             "52 A2 reads 5\n"
             "60 A0 unknown: done refused, A1 read state serially\n"
             "61 A1 refused: done refused, A2 read state serially\n"
             "62 A2 is bucket=0 before=-inf start=-inf until=100: read 7.0..0 for 5\n"
             "63 A2 found 5: done ok found 5 in 1\n");
}

/* The operation sleeps before its next try, longer each time, and still keeps its turn. */
static void test_operation_in_its_back_off_keeps_its_turn(void **state)
{
    (void)state;
    struct trace trace = {.is_guarded = true};
    struct bk_agent_config config = small_config(BK_GUARDED, BK_COUNTER_COLUMN);
    struct actor a = actor_of(&trace, "A", &config);
    uint32_t first = write_row(&a, 50, 7, false);
    refused(&a, 51, first);
    uint32_t second = write_row(&a, 52, 7, false);
    tick(&a, bk_agent_deadline(a.agent));
    unknown(&a, 70, first);
    tick(&a, bk_agent_deadline(a.agent));
    is_state(&a, 100, first, 0, BEGINNING, BEGINNING, 120);
    applied(&a, 101, first);
    applied(&a, 102, second);
    ends(&a, "50 A0 writes 7: read state serially\n"
             "51 A0 refused\n"
             "52 A1 writes 7\n"
             "65 A ticks, due at 65: A0 read state serially again\n"
             "70 A0 unknown\n"
             "94 A ticks, due at 94: A0 read state serially again\n"
             "100 A0 is bucket=0 before=-inf start=-inf until=120: put 7.0, A1 put 7.0\n"
             "101 A0 applied: ack 0, done ok\n"
             "102 A1 applied: ack 0, done ok\n");
}

/* Two rows of one agent fill the count together, and a third is beyond the grant: one roll serves them all.
 */
static void test_roll_serves_all_that_wait_for_it(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    uint32_t first = write_row(&a, 590, 7, true), second = write_row(&a, 591, 7, true);
    applied(&a, 592, first);
    applied(&a, 593, second);
    applied(&a, 594, first);
    applied(&a, 595, second);
    is_total(&a, 596, first, 3);
    is_total(&a, 597, second, 4);
    uint32_t third = write_row(&a, 600, 7, false);
    applied(&a, 601, first);
    applied(&a, 602, first);
    applied(&a, 603, third);
    ends(&a, "590 A0 fires 7: put 7.5\n"
             "591 A1 fires 7: put 7.5\n"
             "592 A0 applied: ack 5, add 1 to 5\n"
             "593 A1 applied: ack 5, add 1 to 5\n"
             "594 A0 applied: read counter of 5\n"
             "595 A1 applied: read counter of 5\n"
             "596 A0 is 3: set start of 4 to 400\n"
             "597 A1 is 4\n"
             "600 A2 writes 7\n"
             "601 A0 applied: set bucket=6 before=500 start=600 until=701 if bucket=5 before=400 start=500 "
             "until=600\n"
             "602 A0 applied: done ok fired counted, A1 done ok fired counted, A2 put 7.6\n"
             "603 A2 applied: ack 6, done ok\n");
}

/* There are three bounds: of the row from its agent's clock, of that clock from the true time, and of the
 * reader's clock from the true time. */
static void test_reader_uses_its_copy_while_no_later_row_can_be_there(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    read_rows(&a, 569, 1, BK_PLAN_WALK);
    found_rows(&a, 570, 0, 1);
    read_rows(&a, 570, 1, BK_PLAN_WALK);
    is_state(&a, 571, 0, 6, 500, 600, 700);
    found_rows(&a, 572, 0, 1);
    read_rows(&a, 669, 1, BK_PLAN_WALK);
    found_rows(&a, 670, 0, 1);
    ends(&a, "569 A0 reads 1: read 7.5..5 for 1\n"
             "570 A0 found 1: done ok found 1 in 1\n"
             "570 A0 reads 1: read state serially\n"
             "571 A0 is bucket=6 before=500 start=600 until=700: read 7.6..6 for 1\n"
             "572 A0 found 1: done ok found 1 in 1\n"
             "669 A0 reads 1: read 7.6..6 for 1\n"
             "670 A0 found 1: done ok found 1 in 1\n");
}

/* The reader uses the state that it read, however little that state grants. A key without a state has had no
 * rows. */
static void test_reader_without_a_fresh_copy_reads_the_state(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    read_rows(&a, 900, 1, BK_PLAN_WALK);
    is_absent(&a, 901, 0);
    found_rows(&a, 902, 0, 0);
    read_rows(&a, 910, 3, BK_PLAN_PAIR);
    is_state(&a, 911, 0, 5, 400, 500, 600);
    found_rows(&a, 912, 0, 3);
    read_rows(&a, 920, 3, BK_PLAN_WALK);
    unknown(&a, 921, 0);
    unknown(&a, 922, 0);
    unknown(&a, 923, 0);
    ends(&a, "900 A0 reads 1: read state serially\n"
             "901 A0 is absent: read 7.0..0 for 1\n"
             "902 A0 found 0: done ok found 0 in 1\n"
             "910 A0 reads 3: read state serially\n"
             "911 A0 is bucket=5 before=400 start=500 until=600: read 7.4..5 for 3\n"
             "912 A0 found 3: done ok found 3 in 2\n"
             "920 A0 reads 3: read state serially\n"
             "921 A0 unknown: read state serially again\n"
             "922 A0 unknown: read state serially again\n"
             "923 A0 unknown: done refused\n");
}

/* What another operation requested before the reader began may be older than a row that the reader must find.
 */
static void test_reader_that_waited_reads_the_state_itself_unless_the_grant_is_long(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    uint32_t writer = write_row(&a, 600, 7, false), reader = read_rows(&a, 601, 1, BK_PLAN_WALK);
    but_state(&a, 602, writer, 6, 500, 600, 631);
    is_state(&a, 603, reader, 7, 600, 631, 731);
    found_rows(&a, 604, reader, 1);
    applied(&a, 605, writer);
    writer = write_row(&a, 731, 7, false);
    reader = read_rows(&a, 732, 1, BK_PLAN_WALK);
    applied(&a, 733, writer);
    found_rows(&a, 734, reader, 1);
    applied(&a, 735, writer);
    ends(&a, "600 A0 writes 7: set bucket=5 before=400 start=500 until=700 if bucket=5 before=400 start=500 "
             "until=600\n"
             "601 A1 reads 1\n"
             "602 A0 not applied, bucket=6 before=500 start=600 until=631: put 7.6, A1 read state serially\n"
             "603 A1 is bucket=7 before=600 start=631 until=731: read 7.7..7 for 1\n"
             "604 A1 found 1: done ok found 1 in 1\n"
             "605 A0 applied: ack 6, done ok\n"
             "731 A0 writes 7: set bucket=7 before=600 start=631 until=831 if bucket=7 before=600 start=631 "
             "until=731\n"
             "732 A1 reads 1\n"
             "733 A0 applied: put 7.7, A1 read 7.7..7 for 1\n"
             "734 A1 found 1: done ok found 1 in 1\n"
             "735 A0 applied: ack 7, done ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_on_one_key_make_one_request_at_a_time),
        cmocka_unit_test(test_unserved_operation_makes_the_next_request),
        cmocka_unit_test(test_failed_operation_passes_its_turn_on),
        cmocka_unit_test(test_operation_in_its_back_off_keeps_its_turn),
        cmocka_unit_test(test_roll_serves_all_that_wait_for_it),
        cmocka_unit_test(test_reader_uses_its_copy_while_no_later_row_can_be_there),
        cmocka_unit_test(test_reader_without_a_fresh_copy_reads_the_state),
        cmocka_unit_test(test_reader_that_waited_reads_the_state_itself_unless_the_grant_is_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
