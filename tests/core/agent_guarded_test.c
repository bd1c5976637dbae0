/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: guarded places a row only by committed grants (docs/guarded.md): it extends a grant with a condition
 * on the whole grant, looks up the starts that the state no longer holds, and reads again what is unknown.
 * Method: one situation per test; the host's events are given by hand, and the whole trace of events and
 * actions is asserted as text (agent_trace.h). */
#include "agent_guarded_trace.h"

static void test_first_row_of_a_key_requests_its_first_grant(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    write_row(&a, 50, 7, false);
    is_absent(&a, 52, 0);
    applied(&a, 54, 0);
    applied(&a, 56, 0);
    write_row(&a, 151, 7, false); /* the last moment of the grant, whatever the age of the copy */
    applied(&a, 153, 0);
    write_row(&a, 152, 7, false);
    applied(&a, 154, 0);
    applied(&a, 156, 0);
    ends(&a, "50 A0 writes 7: read state serially\n"
             "52 A0 is absent: set bucket=0 before=-inf start=-inf until=152 if absent\n"
             "54 A0 applied: put 7.0\n"
             "56 A0 applied: ack 0, done ok\n"
             "151 A0 writes 7: put 7.0\n"
             "153 A0 applied: ack 0, done ok\n"
             "152 A0 writes 7: set bucket=0 before=-inf start=-inf until=252 if bucket=0 before=-inf "
             "start=-inf until=152\n"
             "154 A0 applied: put 7.0\n"
             "156 A0 applied: ack 0, done ok\n");
}

/* Another agent was faster, and its grant serves equally well. */
static void test_grant_that_another_agent_got_is_used(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    write_row(&a, 50, 7, false);
    is_absent(&a, 52, 0);
    but_state(&a, 54, 0, 0, BEGINNING, BEGINNING, 140);
    applied(&a, 56, 0);
    write_row(&a, 200, 7, false);
    but_state(&a, 202, 0, 0, BEGINNING, BEGINNING, 190); /* longer, but still too short */
    but_state(&a, 204, 0, 1, BEGINNING, 190, 290);       /* rolled meanwhile */
    applied(&a, 206, 0);
    write_at(&a, 207, 189, false);
    applied(&a, 208, 0);
    write_at(&a, 209, 190, false);
    applied(&a, 210, 0);
    ends(&a, "50 A0 writes 7: read state serially\n"
             "52 A0 is absent: set bucket=0 before=-inf start=-inf until=152 if absent\n"
             "54 A0 not applied, bucket=0 before=-inf start=-inf until=140: put 7.0\n"
             "56 A0 applied: ack 0, done ok\n"
             "200 A0 writes 7: set bucket=0 before=-inf start=-inf until=300 if bucket=0 before=-inf "
             "start=-inf until=140\n"
             "202 A0 not applied, bucket=0 before=-inf start=-inf until=190: set bucket=0 before=-inf "
             "start=-inf until=402 if bucket=0 before=-inf start=-inf until=190\n"
             "204 A0 not applied, bucket=1 before=-inf start=190 until=290: put 7.1\n"
             "206 A0 applied: ack 1, done ok\n"
             "207 A0 writes 7 at 189: put 7.0\n"
             "208 A0 applied: ack 0, done ok\n"
             "209 A0 writes 7 at 190: put 7.1\n"
             "210 A0 applied: ack 1, done ok\n");
}

/* An operation that lost a race sends its request again; the state that it has read is sufficient for a row
 * that waited. */
static void test_lost_race_serves_the_waiting_rows(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    knows(&a, 50, 0, BEGINNING, BEGINNING, 60);
    write_row(&a, 200, 7, false);
    write_at(&a, 201, 100, false);
    write_row(&a, 202, 7, false);
    but_state(&a, 203, 0, 0, BEGINNING, BEGINNING, 120);
    applied(&a, 204, 1);
    applied(&a, 205, 0);
    applied(&a, 206, 0);
    applied(&a, 207, 2);
    ends(&a, "200 A0 writes 7: set bucket=0 before=-inf start=-inf until=300 if bucket=0 before=-inf "
             "start=-inf until=60\n"
             "201 A1 writes 7 at 100\n"
             "202 A2 writes 7\n"
             "203 A0 not applied, bucket=0 before=-inf start=-inf until=120: set bucket=0 before=-inf "
             "start=-inf until=403 if bucket=0 before=-inf start=-inf until=120, A1 put 7.0\n"
             "204 A1 applied: ack 0, done ok\n"
             "205 A0 applied: put 7.0, A2 put 7.0\n"
             "206 A0 applied: ack 0, done ok\n"
             "207 A2 applied: ack 0, done ok\n");
}

static void test_row_older_than_the_state_shows_is_looked_up(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    write_at(&a, 520, 400, false);
    applied(&a, 521, 0);
    write_at(&a, 530, 399, false);
    is_start(&a, 531, 0, 300);
    applied(&a, 532, 0);
    write_at(&a, 540, 100, true);
    is_start(&a, 541, 0, 300);
    is_start(&a, 542, 0, 101);
    is_start(&a, 543, 0, 100);
    applied(&a, 544, 0);
    applied(&a, 545, 0); /* counted, but no roll: its bucket is closed */
    write_at(&a, 550, -5, false);
    is_start(&a, 551, 0, 300);
    is_start(&a, 552, 0, 101);
    is_start(&a, 553, 0, 100);
    applied(&a, 554, 0); /* bucket 0 has no start to look up */
    ends(&a, "520 A0 writes 7 at 400: put 7.4\n"
             "521 A0 applied: ack 4, done ok\n"
             "530 A0 writes 7 at 399: read start of 3\n"
             "531 A0 is start=300: put 7.3\n"
             "532 A0 applied: ack 3, done ok\n"
             "540 A0 fires 7 at 100: read start of 3\n"
             "541 A0 is start=300: read start of 2\n"
             "542 A0 is start=101: read start of 1\n"
             "543 A0 is start=100: put 7.1\n"
             "544 A0 applied: ack 1, add 1 to 1\n"
             "545 A0 applied: done ok fired counted\n"
             "550 A0 writes 7 at -5: read start of 3\n"
             "551 A0 is start=300: read start of 2\n"
             "552 A0 is start=101: read start of 1\n"
             "553 A0 is start=100: put 7.0\n"
             "554 A0 applied: ack 0, done ok\n");
}

/* A start that is missing or impossible is not guessed. */
static void test_start_that_is_missing_is_requested_again_and_then_refused(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    write_at(&a, 520, 350, false);
    no_start(&a, 522, 0);
    is_start(&a, 529, 0, 400); /* bucket 4 starts at 400 */
    unknown(&a, 540, 0);
    write_at(&a, 550, 250, false);
    no_start(&a, 552, 0);
    is_start(&a, 558, 0, 300);
    unknown(&a, 560, 0); /* the start of another bucket has a separate number of tries */
    unknown(&a, 561, 0);
    is_start(&a, 562, 0, 200);
    refused(&a, 563, 0);
    applied(&a, 569, 0);
    ends(&a, "520 A0 writes 7 at 350: read start of 3\n"
             "522 A0 is absent: read start of 3 again\n"
             "529 A0 is start=400: read start of 3 again\n"
             "540 A0 unknown: done refused\n"
             "550 A0 writes 7 at 250: read start of 3\n"
             "552 A0 is absent: read start of 3 again\n"
             "558 A0 is start=300: read start of 2\n"
             "560 A0 unknown: read start of 2 again\n"
             "561 A0 unknown: read start of 2 again\n"
             "562 A0 is start=200: put 7.2\n"
             "563 A0 refused: put 7.2 again\n"
             "569 A0 applied: ack 2, done ok\n");
}

static void test_row_of_the_future_is_refused_before_anything_is_requested(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    write_at(&a, 100, 111, true);
    write_at(&a, 100, 110, false);
    is_state(&a, 101, 0, 0, BEGINNING, BEGINNING, 200);
    applied(&a, 102, 0);
    /* A grant cannot extend beyond the last time. */
    write_at(&a, INT64_MAX, INT64_MAX - 1, false);
    write_at(&a, INT64_MAX, INT64_MAX - 2, false);
    applied(&a, INT64_MAX, 0);
    applied(&a, INT64_MAX, 0);
    ends(&a, "100 A0 fires 7 at 111: done refused fired\n"
             "100 A0 writes 7 at 110: read state serially\n"
             "101 A0 is bucket=0 before=-inf start=-inf until=200: put 7.0\n"
             "102 A0 applied: ack 0, done ok\n"
             "9223372036854775807 A0 writes 7 at 9223372036854775806: done refused\n"
             "9223372036854775807 A0 writes 7 at 9223372036854775805: set bucket=0 before=-inf start=-inf "
             "until=9223372036854775806 if bucket=0 before=-inf start=-inf until=200\n"
             "9223372036854775807 A0 applied: put 7.0\n"
             "9223372036854775807 A0 applied: ack 0, done ok\n");
}

static void test_extension_of_unknown_outcome_reads_the_state_and_continues(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    write_row(&a, 600, 7, false);
    unknown(&a, 610, 0);
    is_state(&a, 611, 0, 5, 400, 500, 600); /* the update takes effect after the read */
    but_state(&a, 612, 0, 5, 400, 500, 700);
    applied(&a, 613, 0);
    write_row(&a, 700, 7, false);
    unknown(&a, 710, 0);
    is_state(&a, 711, 0, 5, 400, 500, 800); /* the update took effect before the read */
    applied(&a, 712, 0);
    ends(&a, "600 A0 writes 7: set bucket=5 before=400 start=500 until=700 if bucket=5 before=400 start=500 "
             "until=600\n"
             "610 A0 unknown: read state serially\n"
             "611 A0 is bucket=5 before=400 start=500 until=600: set bucket=5 before=400 start=500 until=811 "
             "if bucket=5 before=400 start=500 until=600\n"
             "612 A0 not applied, bucket=5 before=400 start=500 until=700: put 7.5\n"
             "613 A0 applied: ack 5, done ok\n"
             "700 A0 writes 7: set bucket=5 before=400 start=500 until=800 if bucket=5 before=400 start=500 "
             "until=700\n"
             "710 A0 unknown: read state serially\n"
             "711 A0 is bucket=5 before=400 start=500 until=800: put 7.5\n"
             "712 A0 applied: ack 5, done ok\n");
}

static void test_first_grant_of_unknown_outcome_reads_the_state_first(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    write_row(&a, 50, 7, false);
    is_absent(&a, 51, 0);
    unknown(&a, 52, 0);
    is_absent(&a, 53, 0);
    applied(&a, 54, 0);
    applied(&a, 55, 0);
    ends(&a, "50 A0 writes 7: read state serially\n"
             "51 A0 is absent: set bucket=0 before=-inf start=-inf until=151 if absent\n"
             "52 A0 unknown: read state serially\n"
             "53 A0 is absent: set bucket=0 before=-inf start=-inf until=253 if absent\n"
             "54 A0 applied: put 7.0\n"
             "55 A0 applied: ack 0, done ok\n");
}

/* Repeatable actions are repeated twice, and after a refusal only after a wait. */
static void test_tries_are_bounded_and_the_row_is_refused(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    write_row(&a, 50, 7, true);
    unknown(&a, 51, 0);
    refused(&a, 52, 0);
    refused(&a, 63, 0);
    write_row(&a, 70, 7, false);
    is_absent(&a, 71, 0);
    refused(&a, 72, 0);
    unknown(&a, 78, 0);
    unknown(&a, 79, 0);
    write_row(&a, 80, 7, false);
    is_absent(&a, 81, 0);
    unknown(&a, 82, 0);
    is_absent(&a, 83, 0);
    unknown(&a, 84, 0);
    is_absent(&a, 85, 0);
    unknown(&a, 86, 0);
    ends(&a, "50 A0 fires 7: read state serially\n"
             "51 A0 unknown: read state serially again\n"
             "52 A0 refused: read state serially again\n"
             "63 A0 refused: done refused fired\n"
             "70 A0 writes 7: read state serially\n"
             "71 A0 is absent: set bucket=0 before=-inf start=-inf until=171 if absent\n"
             "72 A0 refused: set bucket=0 before=-inf start=-inf until=171 if absent again\n"
             "78 A0 unknown: read state serially\n"
             "79 A0 unknown: done refused\n"
             "80 A0 writes 7: read state serially\n"
             "81 A0 is absent: set bucket=0 before=-inf start=-inf until=181 if absent\n"
             "82 A0 unknown: read state serially\n"
             "83 A0 is absent: set bucket=0 before=-inf start=-inf until=283 if absent\n"
             "84 A0 unknown: read state serially\n"
             "85 A0 is absent: set bucket=0 before=-inf start=-inf until=485 if absent\n"
             "86 A0 unknown: done refused\n");
}

/* If a grant is requested more often than requests can be answered, longer grants are requested: up to eight
 * times as long, from the current time on. */
static void test_grant_that_is_contended_for_is_longer(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    write_row(&a, 3000, 7, false);
    but_state(&a, 3010, 0, 5, 400, 500, 700);
    unknown(&a, 3020, 0);
    is_state(&a, 3030, 0, 5, 400, 500, 800);
    but_state(&a, 3040, 0, 5, 400, 500, 900);
    but_state(&a, 3050, 0, 5, 400, 500, 1000);
    applied(&a, 3060, 0);
    applied(&a, 3070, 0);
    ends(&a, "3000 A0 writes 7: set bucket=5 before=400 start=500 until=3100 if bucket=5 before=400 "
             "start=500 until=600\n"
             "3010 A0 not applied, bucket=5 before=400 start=500 until=700: set bucket=5 before=400 "
             "start=500 until=3210 if bucket=5 before=400 start=500 until=700\n"
             "3020 A0 unknown: read state serially\n"
             "3030 A0 is bucket=5 before=400 start=500 until=800: set bucket=5 before=400 start=500 "
             "until=3430 if bucket=5 before=400 start=500 until=800\n"
             "3040 A0 not applied, bucket=5 before=400 start=500 until=900: set bucket=5 before=400 "
             "start=500 until=3840 if bucket=5 before=400 start=500 until=900\n"
             "3050 A0 not applied, bucket=5 before=400 start=500 until=1000: set bucket=5 before=400 "
             "start=500 until=3850 if bucket=5 before=400 start=500 until=1000\n"
             "3060 A0 applied: put 7.5\n"
             "3070 A0 applied: ack 5, done ok\n");
}

static void test_race_lost_too_often_is_given_up(void **state)
{
    (void)state;
    struct trace trace = {.is_guarded = true};
    struct actor a = knowing(&trace);
    write_row(&a, 3000, 7, false);
    for (int64_t i = 1; i < 64; i++)
        but_state(&a, 3000, 0, 5, 400, 500, 600 + i);
    trace.length = 0;
    but_state(&a, 3001, 0, 5, 400, 500, 664);
    ends(&a, "3001 A0 not applied, bucket=5 before=400 start=500 until=664: done refused\n");
}

/* Late answers report shorter grants: these are true, but outdated. */
static void test_older_answer_does_not_replace_a_newer_copy(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = guarded(&trace);
    knows(&a, 110, 1, BEGINNING, 100, 300);
    read_rows(&a, 280, 1, BK_PLAN_WALK);
    is_state(&a, 281, 0, 1, BEGINNING, 100, 200); /* no database answers so, but it does no harm */
    found_rows(&a, 282, 0, 1);
    write_row(&a, 290, 7, false);
    applied(&a, 291, 0);
    ends(&a, "280 A0 reads 1: read state serially\n"
             "281 A0 is bucket=1 before=-inf start=100 until=200: read 7.1..1 for 1\n"
             "282 A0 found 1: done ok found 1 in 1\n"
             "290 A0 writes 7: put 7.1\n"
             "291 A0 applied: ack 1, done ok\n");
}

static void test_impossible_state_counts_as_refused(void **state)
{
    (void)state;
    static const int64_t impossible[][4] = {
        {-1, BEGINNING, BEGINNING, 100},
        {INT64_MAX, 1, 2, 3},
        {0, BEGINNING, BEGINNING, BEGINNING},
        {0, BEGINNING, 5, 100},
        {0, 5, 5, 100},
        {1, BEGINNING, BEGINNING, 100},
        {1, 5, 6, 100},
        {2, BEGINNING, 6, 100},
        {2, 7, 7, 100},
        {2, 7, 100, 100},
    };
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        struct trace trace = {.length = 0};
        struct actor a = guarded(&trace);
        write_row(&a, 50, 7, false);
        trace.length = 0;
        tell(&a, 51, 0, "is wrong",
             &(struct bk_outcome){
                 .kind = BK_OUTCOME_APPLIED,
                 .mask = 15,
                 .columns = {impossible[i][0], impossible[i][1], impossible[i][2], impossible[i][3]}});
        is_absent(&a, 57, 0);
        but_state(&a, 58, 0, impossible[i][0], impossible[i][1], impossible[i][2], impossible[i][3]);
        trace.length = 0;
        but_state(&a, 69, 0, 0, BEGINNING, BEGINNING, 200);
        applied(&a, 70, 0);
        ends(&a, "69 A0 not applied, bucket=0 before=-inf start=-inf until=200: put 7.0\n"
                 "70 A0 applied: ack 0, done ok\n");
    }
}

/* Columns are missing, or the row that a condition named is gone, or a row exists where the condition
 * required none. */
static void test_impossible_answers_count_as_refused(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    write_row(&a, 600, 7, false);
    tell_columns(&a, 601, 0, BK_OUTCOME_NOT_APPLIED, guarded_names, 0, (int64_t[4]){0});
    tell_columns(&a, 607, 0, BK_OUTCOME_NOT_APPLIED, guarded_names, 13, (int64_t[]){5, 400, 500, 700});
    applied(&a, 618, 0);
    applied(&a, 619, 0);
    write_at(&a, 620, 350, false);
    tell(&a, 621, 0, "not applied", &(struct bk_outcome){.kind = BK_OUTCOME_NOT_APPLIED});
    is_start(&a, 627, 0, 300);
    applied(&a, 628, 0);
    fill(&a, 640);
    unknown(&a, 641, 0);
    applied(&a, 642, 0);
    unknown(&a, 643, 0);
    is_absent(&a, 644, 0); /* the known state is kept: the condition fails on it, or holds */
    applied(&a, 645, 0);
    ends(&a, "600 A0 writes 7: set bucket=5 before=400 start=500 until=700 if bucket=5 before=400 start=500 "
             "until=600\n"
             "601 A0 not applied, absent: set bucket=5 before=400 start=500 until=700 if bucket=5 before=400 "
             "start=500 until=600 again\n"
             "607 A0 not applied, bucket=5 start=500 until=700: set bucket=5 before=400 start=500 until=700 "
             "if bucket=5 before=400 start=500 until=600 again\n"
             "618 A0 applied: put 7.5\n"
             "619 A0 applied: ack 5, done ok\n"
             "620 A0 writes 7 at 350: read start of 3\n"
             "621 A0 not applied: read start of 3 again\n"
             "627 A0 is start=300: put 7.3\n"
             "628 A0 applied: ack 3, done ok\n"
             "640 A0 fires 7: put 7.5\n"
             "640 A0 applied: ack 5, add 1 to 5\n"
             "640 A0 applied: read counter of 5\n"
             "640 A0 is 3: set start of 4 to 400\n"
             "641 A0 unknown: set start of 4 to 400 again\n"
             "642 A0 applied: set bucket=6 before=500 start=700 until=800 if bucket=5 before=400 start=500 "
             "until=700\n"
             "643 A0 unknown: read state serially\n"
             "644 A0 is absent: set bucket=6 before=500 start=700 until=900 if bucket=5 before=400 start=500 "
             "until=700\n"
             "645 A0 applied: done ok fired counted\n");
}

static void test_view_shows_what_the_copy_covers(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = knowing(&trace);
    static const struct {
        int64_t now_ns, bucket;
        bool is_known, is_changing;
    } looks[] = {{399, 0, false, false}, {400, 4, true, true},  {499, 4, true, true},
                 {500, 5, true, false},  {599, 5, true, false}, {600, 0, false, false}};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        int64_t bucket = 0;
        bool is_changing = false;
        assert_true(bk_agent_view(a.agent, looks[i].now_ns, 7, &bucket, &is_changing) == looks[i].is_known);
        assert_true(bucket == looks[i].bucket && is_changing == looks[i].is_changing);
        assert_false(bk_agent_view(a.agent, looks[i].now_ns, 8, &bucket, &is_changing));
    }
    free(a.agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_row_of_a_key_requests_its_first_grant),
        cmocka_unit_test(test_grant_that_another_agent_got_is_used),
        cmocka_unit_test(test_lost_race_serves_the_waiting_rows),
        cmocka_unit_test(test_row_older_than_the_state_shows_is_looked_up),
        cmocka_unit_test(test_start_that_is_missing_is_requested_again_and_then_refused),
        cmocka_unit_test(test_row_of_the_future_is_refused_before_anything_is_requested),
        cmocka_unit_test(test_extension_of_unknown_outcome_reads_the_state_and_continues),
        cmocka_unit_test(test_first_grant_of_unknown_outcome_reads_the_state_first),
        cmocka_unit_test(test_tries_are_bounded_and_the_row_is_refused),
        cmocka_unit_test(test_grant_that_is_contended_for_is_longer),
        cmocka_unit_test(test_race_lost_too_often_is_given_up),
        cmocka_unit_test(test_older_answer_does_not_replace_a_newer_copy),
        cmocka_unit_test(test_impossible_state_counts_as_refused),
        cmocka_unit_test(test_impossible_answers_count_as_refused),
        cmocka_unit_test(test_view_shows_what_the_copy_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
