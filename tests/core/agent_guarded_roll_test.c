/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: guarded counts each bucket separately, and rolls a full bucket where its grant ends, whatever the
 * outcome of the update (docs/guarded.md). Method: one situation per test; the host's events are given by
 * hand, and the trace of events and actions is asserted as text (agent_trace.h). */
#include "agent_guarded_trace.h"

static void test_full_bucket_is_rolled_where_its_grant_ends(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    knows(&a, 100, 0, BEGINNING, BEGINNING, 150);
    write_row(&a, 120, 7, true);
    applied(&a, 121, 0);
    applied(&a, 122, 0);
    is_total(&a, 123, 0, 2);
    fill(&a, 130);
    applied(&a, 131, 0);
    write_row(&a, 140, 7, true); /* a row of the old bucket is only counted there */
    applied(&a, 141, 0);
    applied(&a, 142, 0);
    fill(&a, 155);
    applied(&a, 158, 0); /* bucket 0 starts with time itself: no start to store */
    fill(&a, 250);
    applied(&a, 258, 0);
    applied(&a, 259, 0);
    ends(&a, "120 A0 fires 7: put 7.0\n"
             "121 A0 applied: ack 0, add 1 to 0\n"
             "122 A0 applied: read counter of 0\n"
             "123 A0 is 2: done ok fired counted\n"
             "130 A0 fires 7: put 7.0\n"
             "130 A0 applied: ack 0, add 1 to 0\n"
             "130 A0 applied: read counter of 0\n"
             "130 A0 is 3: set bucket=1 before=-inf start=150 until=250 if bucket=0 before=-inf start=-inf "
             "until=150\n"
             "131 A0 applied: done ok fired counted\n"
             "140 A0 fires 7: put 7.0\n"
             "141 A0 applied: ack 0, add 1 to 0\n"
             "142 A0 applied: done ok fired counted\n"
             "155 A0 fires 7: put 7.1\n"
             "155 A0 applied: ack 1, add 1 to 1\n"
             "155 A0 applied: read counter of 1\n"
             "155 A0 is 3: set bucket=2 before=150 start=250 until=350 if bucket=1 before=-inf start=150 "
             "until=250\n"
             "158 A0 applied: done ok fired counted\n"
             "250 A0 fires 7: put 7.2\n"
             "250 A0 applied: ack 2, add 1 to 2\n"
             "250 A0 applied: read counter of 2\n"
             "250 A0 is 3: set start of 1 to 150\n"
             "258 A0 applied: set bucket=3 before=250 start=350 until=450 if bucket=2 before=150 start=250 "
             "until=350\n"
             "259 A0 applied: done ok fired counted\n");
}

/* When the count is full the clock is past the grant: the next grant begins now. */
static void test_roll_after_the_grant_has_run_out_grants_from_now(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    knows(&a, 100, 0, BEGINNING, BEGINNING, 150);
    write_row(&a, 149, 7, true);
    applied(&a, 180, 0);
    applied(&a, 300, 0);
    is_total(&a, 310, 0, 4);
    applied(&a, 320, 0);
    ends(&a, "149 A0 fires 7: put 7.0\n"
             "180 A0 applied: ack 0, add 1 to 0\n"
             "300 A0 applied: read counter of 0\n"
             "310 A0 is 4: set bucket=1 before=-inf start=150 until=410 if bucket=0 before=-inf start=-inf "
             "until=150\n"
             "320 A0 applied: done ok fired counted\n");
}

static void test_roll_that_finds_a_longer_grant_takes_that(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    fill(&a, 520);
    applied(&a, 530, 0);
    but_state(&a, 540, 0, 5, 400, 500, 650);
    but_state(&a, 550, 0, 6, 500, 650, 750); /* and another agent has rolled */
    write_row(&a, 660, 7, false);
    applied(&a, 661, 0);
    ends(&a, "520 A0 fires 7: put 7.5\n"
             "520 A0 applied: ack 5, add 1 to 5\n"
             "520 A0 applied: read counter of 5\n"
             "520 A0 is 3: set start of 4 to 400\n"
             "530 A0 applied: set bucket=6 before=500 start=600 until=700 if bucket=5 before=400 start=500 "
             "until=600\n"
             "540 A0 not applied, bucket=5 before=400 start=500 until=650: set bucket=6 before=500 start=650 "
             "until=850 if bucket=5 before=400 start=500 until=650\n"
             "550 A0 not applied, bucket=6 before=500 start=650 until=750: done ok fired counted\n"
             "660 A0 writes 7: put 7.6\n"
             "661 A0 applied: ack 6, done ok\n");
}

/* After an unknown outcome the state shows what happened. */
static void test_roll_of_unknown_outcome_reads_the_state_and_continues(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    fill(&a, 520);
    applied(&a, 521, 0);
    unknown(&a, 530, 0);
    is_state(&a, 540, 0, 5, 400, 500, 600); /* not yet, or never: the same update once more */
    unknown(&a, 550, 0);
    is_state(&a, 560, 0, 6, 500, 600, 700);
    write_row(&a, 599, 7, true);
    applied(&a, 600, 0);
    applied(&a, 601, 0);
    ends(&a, "520 A0 fires 7: put 7.5\n"
             "520 A0 applied: ack 5, add 1 to 5\n"
             "520 A0 applied: read counter of 5\n"
             "520 A0 is 3: set start of 4 to 400\n"
             "521 A0 applied: set bucket=6 before=500 start=600 until=700 if bucket=5 before=400 start=500 "
             "until=600\n"
             "530 A0 unknown: read state serially\n"
             "540 A0 is bucket=5 before=400 start=500 until=600: set bucket=6 before=500 start=600 until=800 "
             "if bucket=5 before=400 start=500 until=600\n"
             "550 A0 unknown: read state serially\n"
             "560 A0 is bucket=6 before=500 start=600 until=700: done ok fired counted\n"
             "599 A0 fires 7: put 7.5\n"
             "600 A0 applied: ack 5, add 1 to 5\n"
             "601 A0 applied: done ok fired counted\n");
}

/* The row is stored, and the roll is left to the next row that fires. Each action has its own tries. */
static void test_tries_of_a_roll_are_bounded_and_the_row_stays(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    write_row(&a, 520, 7, true);
    applied(&a, 521, 0);
    applied(&a, 522, 0);
    unknown(&a, 523, 0);
    unknown(&a, 524, 0);
    is_total(&a, 525, 0, 9);
    unknown(&a, 526, 0);
    unknown(&a, 527, 0);
    applied(&a, 528, 0);
    refused(&a, 529, 0);
    unknown(&a, 535, 0);
    unknown(&a, 536, 0);
    fill(&a, 540);
    unknown(&a, 541, 0);
    unknown(&a, 542, 0);
    unknown(&a, 543, 0);
    ends(&a, "520 A0 fires 7: put 7.5\n"
             "521 A0 applied: ack 5, add 1 to 5\n"
             "522 A0 applied: read counter of 5\n"
             "523 A0 unknown: read counter of 5 again\n"
             "524 A0 unknown: read counter of 5 again\n"
             "525 A0 is 9: set start of 4 to 400\n"
             "526 A0 unknown: set start of 4 to 400 again\n"
             "527 A0 unknown: set start of 4 to 400 again\n"
             "528 A0 applied: set bucket=6 before=500 start=600 until=700 if bucket=5 before=400 start=500 "
             "until=600\n"
             "529 A0 refused: set bucket=6 before=500 start=600 until=700 if bucket=5 before=400 start=500 "
             "until=600 again\n"
             "535 A0 unknown: read state serially\n"
             "536 A0 unknown: done ok fired counted\n"
             "540 A0 fires 7: put 7.5\n"
             "540 A0 applied: ack 5, add 1 to 5\n"
             "540 A0 applied: read counter of 5\n"
             "540 A0 is 3: set start of 4 to 400\n"
             "541 A0 unknown: set start of 4 to 400 again\n"
             "542 A0 unknown: set start of 4 to 400 again\n"
             "543 A0 unknown: done ok fired counted\n");
}

/* Counting fails; the knowledge about the key stays valid. */
static void test_count_that_fails_leaves_the_row_stored_and_the_grant_known(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    write_row(&a, 520, 7, true);
    applied(&a, 521, 0);
    unknown(&a, 522, 0); /* of an addition: not repeated */
    write_row(&a, 530, 7, true);
    applied(&a, 531, 0);
    applied(&a, 532, 0);
    unknown(&a, 533, 0);
    unknown(&a, 534, 0);
    unknown(&a, 535, 0);
    write_row(&a, 540, 7, false);
    applied(&a, 541, 0);
    ends(&a, "520 A0 fires 7: put 7.5\n"
             "521 A0 applied: ack 5, add 1 to 5\n"
             "522 A0 unknown: done ok fired\n"
             "530 A0 fires 7: put 7.5\n"
             "531 A0 applied: ack 5, add 1 to 5\n"
             "532 A0 applied: read counter of 5\n"
             "533 A0 unknown: read counter of 5 again\n"
             "534 A0 unknown: read counter of 5 again\n"
             "535 A0 unknown: done ok fired counted\n"
             "540 A0 writes 7: put 7.5\n"
             "541 A0 applied: ack 5, done ok\n");
}

static void test_roll_that_loses_too_often_is_given_up(void **state)
{
    (void)state;
    struct trace trace = {.is_guarded = true};
    struct actor a = knowing(&trace);
    fill(&a, 520);
    applied(&a, 521, 0);
    for (int64_t i = 1; i < 64; i++)
        but_state(&a, 3002, 0, 5, 400, 500, 600 + i);
    trace.length = 0;
    but_state(&a, 3003, 0, 5, 400, 500, 800);
    ends(&a, "3003 A0 not applied, bucket=5 before=400 start=500 until=800: done ok fired counted\n");
}

/* The copy has been evicted for other keys; the row keeps the state by which it was placed. */
static void test_roll_continues_when_the_copy_is_no_longer_in_the_cache(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_GUARDED, BK_COUNTER_COLUMN);
    config.operations = 8;
    config.cache_entries = 4;
    trace.is_guarded = true;
    struct actor a = actor_of(&trace, "A", &config);
    knows(&a, 510, 5, 400, 500, 600);
    uint32_t row = write_row(&a, 520, 7, true);
    for (uint64_t key = 8; key < 12; key++) {
        uint32_t other = write_row(&a, 530, key, false);
        is_state(&a, 531, other, 0, BEGINNING, BEGINNING, 600);
    }
    applied(&a, 540, row);
    applied(&a, 541, row);
    is_total(&a, 542, row, 3);
    applied(&a, 543, row);
    applied(&a, 544, row);
    for (uint32_t other = 1; other < 5; other++)
        applied(&a, 550, other);
    row = write_row(&a, 610, 7, false);
    applied(&a, 611, row);
    ends(&a, "520 A0 fires 7: put 7.5\n"
             "530 A1 writes 8: read state serially\n"
             "531 A1 is bucket=0 before=-inf start=-inf until=600: put 8.0\n"
             "530 A2 writes 9: read state serially\n"
             "531 A2 is bucket=0 before=-inf start=-inf until=600: put 9.0\n"
             "530 A3 writes 10: read state serially\n"
             "531 A3 is bucket=0 before=-inf start=-inf until=600: put 10.0\n"
             "530 A4 writes 11: read state serially\n"
             "531 A4 is bucket=0 before=-inf start=-inf until=600: put 11.0\n"
             "540 A0 applied: ack 5, add 1 to 5\n"
             "541 A0 applied: read counter of 5\n"
             "542 A0 is 3: set start of 4 to 400\n"
             "543 A0 applied: set bucket=6 before=500 start=600 until=700 if bucket=5 before=400 start=500 "
             "until=600\n"
             "544 A0 applied: done ok fired counted\n"
             "550 A1 applied: ack 0, done ok\n"
             "550 A2 applied: ack 0, done ok\n"
             "550 A3 applied: ack 0, done ok\n"
             "550 A4 applied: ack 0, done ok\n"
             "610 A4 writes 7: put 7.6\n"
             "611 A4 applied: ack 6, done ok\n");
}

static void test_roll_at_the_end_of_time_is_left(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    knows(&a, INT64_MAX - 50, 0, BEGINNING, BEGINNING, INT64_MAX - 1);
    fill(&a, INT64_MAX - 10);
    ends(&a, "9223372036854775797 A0 fires 7: put 7.0\n"
             "9223372036854775797 A0 applied: ack 0, add 1 to 0\n"
             "9223372036854775797 A0 applied: read counter of 0\n"
             "9223372036854775797 A0 is 3: done ok fired counted\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_bucket_is_rolled_where_its_grant_ends),
        cmocka_unit_test(test_roll_after_the_grant_has_run_out_grants_from_now),
        cmocka_unit_test(test_roll_that_finds_a_longer_grant_takes_that),
        cmocka_unit_test(test_roll_of_unknown_outcome_reads_the_state_and_continues),
        cmocka_unit_test(test_tries_of_a_roll_are_bounded_and_the_row_stays),
        cmocka_unit_test(test_count_that_fails_leaves_the_row_stored_and_the_grant_known),
        cmocka_unit_test(test_roll_that_loses_too_often_is_given_up),
        cmocka_unit_test(test_roll_continues_when_the_copy_is_no_longer_in_the_cache),
        cmocka_unit_test(test_roll_at_the_end_of_time_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
