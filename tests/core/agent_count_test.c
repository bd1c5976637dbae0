/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: which actions an agent requests to place a row, to count a row that fires, and to roll its key at the
 * threshold, for each kind of counter. Method: one situation per test; the host's events are given by hand,
 * and the whole trace of events and actions is asserted as text (agent_trace.h). */
#include "agent_trace.h"

static void test_write_row_does_not_fire_reads_the_state_once(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_RMW);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1010, 0, 3, 1, 400, 0);
    applied(&a, 1020, 0);
    write_row(&a, 1099, 7, false); /* the last moment of the copy, which ages from its request on */
    applied(&a, 1100, 0);
    write_row(&a, 1100, 7, false);
    is_absent(&a, 1111, 0);
    applied(&a, 1112, 0);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1010 A0 is bucket=3 counter=1 last=400 next=0: put 7.3\n"
             "1020 A0 applied: ack 3, done ok\n"
             "1099 A0 writes 7: put 7.3\n"
             "1100 A0 applied: ack 3, done ok\n"
             "1100 A0 writes 7: read state\n"
             "1111 A0 is absent: put 7.0\n"
             "1112 A0 applied: ack 0, done ok\n");
}

/* The condition held when the update was applied: the state that it names is as recent as the request. */
static void test_conditional_count_applied_proves_the_state(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1010, 0, 3, 0, 400, 0);
    applied(&a, 1080, 0);
    applied(&a, 1100, 0);
    write_row(&a, 1179, 7, false);
    applied(&a, 1200, 0);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1010 A0 is bucket=3 counter=0 last=400 next=0: put 7.3\n"
             "1080 A0 applied: ack 3, set counter=1 if bucket=3 counter=0 last=400 next=0\n"
             "1100 A0 applied: done ok fired counted\n"
             "1179 A0 writes 7: put 7.3\n"
             "1200 A0 applied: ack 3, done ok\n");
}

static void test_write_row_fires_is_counted(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_RMW);
    write_row(&a, 1000, 7, true);
    is_absent(&a, 1010, 0);
    applied(&a, 1020, 0);
    is_absent(&a, 1030, 0);
    applied(&a, 1040, 0);
    write_row(&a, 1050, 7, true);
    applied(&a, 1060, 0);
    is_state(&a, 1070, 0, 0, 1, 0, 0);
    applied(&a, 1080, 0);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1010 A0 is absent: put 7.0\n"
             "1020 A0 applied: ack 0, read state\n"
             "1030 A0 is absent: set bucket=0 counter=1 last=0 next=0\n"
             "1040 A0 applied: done ok fired counted\n"
             "1050 A0 fires 7: put 7.0\n"
             "1060 A0 applied: ack 0, read state\n"
             "1070 A0 is bucket=0 counter=1 last=0 next=0: set counter=2\n"
             "1080 A0 applied: done ok fired counted\n");
}

static void test_single_rmw_at_threshold_rolls(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_RMW);
    knows(&a, 980, 3, 1, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1010, 0);
    is_state(&a, 1020, 0, 3, 2, 400, 0);
    applied(&a, 1030, 0);
    write_row(&a, 1040, 7, false);
    applied(&a, 1050, 0);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1010 A0 applied: ack 3, read state\n"
             "1020 A0 is bucket=3 counter=2 last=400 next=0: set bucket=4 counter=0 last=1020\n"
             "1030 A0 applied: done ok fired counted\n"
             "1040 A0 writes 7: put 7.4\n"
             "1050 A0 applied: ack 4, done ok\n");
}

static void test_single_lwt_at_threshold_rolls_from_the_cache_or_reads_again(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    write_row(&a, 990, 7, true);
    is_state(&a, 992, 0, 3, 0, 400, 0);
    applied(&a, 994, 0);
    but_state(&a, 996, 0, 3, 1, 400, 0);
    applied(&a, 998, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1010, 0);
    applied(&a, 1020, 0);
    write_row(&a, 1030, 7, false);
    applied(&a, 1040, 0);
    ends(&a,
         "990 A0 fires 7: read state\n"
         "992 A0 is bucket=3 counter=0 last=400 next=0: put 7.3\n"
         "994 A0 applied: ack 3, set counter=1 if bucket=3 counter=0 last=400 next=0\n"
         "996 A0 not applied, bucket=3 counter=1 last=400 next=0: set counter=2 if bucket=3 counter=1 "
         "last=400 next=0\n"
         "998 A0 applied: done ok fired counted\n"
         "1000 A0 fires 7: put 7.3\n"
         "1010 A0 applied: ack 3, set bucket=4 counter=0 last=1010 if bucket=3 counter=2 last=400 next=0\n"
         "1020 A0 applied: done ok fired counted\n"
         "1030 A0 writes 7: put 7.4\n"
         "1040 A0 applied: ack 4, done ok\n");
}

static void test_single_column_at_threshold_moves_the_base(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_COLUMN);
    write_row(&a, 1000, 7, true);
    is_absent(&a, 1002, 0);
    applied(&a, 1004, 0);
    is_absent(&a, 1006, 0);
    applied(&a, 1008, 0);
    is_total(&a, 1010, 0, 2);
    write_row(&a, 1020, 7, true);
    applied(&a, 1022, 0);
    is_absent(&a, 1024, 0);
    applied(&a, 1026, 0);
    is_total(&a, 1028, 0, 3);
    applied(&a, 1030, 0);
    write_row(&a, 1040, 7, true);
    applied(&a, 1042, 0);
    is_state(&a, 1044, 0, 1, 3, 1028, 0);
    applied(&a, 1046, 0);
    is_total(&a, 1048, 0, 4);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1002 A0 is absent: put 7.0\n"
             "1004 A0 applied: ack 0, read state\n"
             "1006 A0 is absent: add 1\n"
             "1008 A0 applied: read counter\n"
             "1010 A0 is 2: done ok fired counted\n"
             "1020 A0 fires 7: put 7.0\n"
             "1022 A0 applied: ack 0, read state\n"
             "1024 A0 is absent: add 1\n"
             "1026 A0 applied: read counter\n"
             "1028 A0 is 3: set bucket=1 counter=3 last=1028 next=0\n"
             "1030 A0 applied: done ok fired counted\n"
             "1040 A0 fires 7: put 7.1\n"
             "1042 A0 applied: ack 1, read state\n"
             "1044 A0 is bucket=1 counter=3 last=1028 next=0: add 1\n"
             "1046 A0 applied: read counter\n"
             "1048 A0 is 4: done ok fired counted\n");
}

/* Columns that an answer does not contain count as 0. The next update requires that they are null, and sets
 * them. */
static void test_state_of_some_columns_is_filled_with_zeros(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    write_row(&a, 1000, 7, true);
    tell_columns(&a, 1001, 0, BK_OUTCOME_APPLIED, state_names, 1, (int64_t[]){5, 0, 0, 0});
    applied(&a, 1002, 0);
    applied(&a, 1003, 0);
    ends(&a,
         "1000 A0 fires 7: read state\n"
         "1001 A0 is bucket=5: put 7.5\n"
         "1002 A0 applied: ack 5, set bucket=5 counter=1 last=0 next=0 if bucket=5 counter=null last=null "
         "next=null\n"
         "1003 A0 applied: done ok fired counted\n");
}

static void test_count_that_fails_leaves_the_row_stored(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    config.retries = 1;
    config.retry_backoff_ns = 0; /* immediately */
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1001, 0, 3, 0, 400, 0);
    applied(&a, 1002, 0);
    refused(&a, 1003, 0);
    refused(&a, 1004, 0); /* no retry is left for the read */
    write_row(&a, 1010, 7, true);
    is_state(&a, 1011, 0, 3, 0, 400, 0);
    applied(&a, 1012, 0);
    is_state(&a, 1013, 0, 3, 0, 400, 0);
    unknown(&a, 1014, 0);
    unknown(&a, 1015, 0);          /* no retry is left for the write */
    write_row(&a, 1020, 7, false); /* and the cache has forgotten the key */
    is_state(&a, 1021, 0, 3, 1, 400, 0);
    applied(&a, 1022, 0);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1001 A0 is bucket=3 counter=0 last=400 next=0: put 7.3\n"
             "1002 A0 applied: ack 3, read state\n"
             "1003 A0 refused: read state again\n"
             "1004 A0 refused: done ok fired\n"
             "1010 A0 fires 7: read state\n"
             "1011 A0 is bucket=3 counter=0 last=400 next=0: put 7.3\n"
             "1012 A0 applied: ack 3, read state\n"
             "1013 A0 is bucket=3 counter=0 last=400 next=0: set counter=1\n"
             "1014 A0 unknown: set counter=1 again\n"
             "1015 A0 unknown: done ok fired\n"
             "1020 A0 writes 7: read state\n"
             "1021 A0 is bucket=3 counter=1 last=400 next=0: put 7.3\n"
             "1022 A0 applied: ack 3, done ok\n");
}

static void test_add_of_unknown_outcome_is_repeated_only_if_configured(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_COLUMN);
    for (config.counter_retries = 0; config.counter_retries < 2; config.counter_retries++) {
        struct actor a = actor_of(&trace, config.counter_retries == 0 ? "A" : "B", &config);
        knows(&a, 980, 3, 40, 400, 0);
        write_row(&a, 1000, 7, true);
        applied(&a, 1002, 0);
        is_state(&a, 1004, 0, 3, 40, 400, 0);
        refused(&a, 1006, 0);
        tick(&a, 1011);
        if (config.counter_retries == 1) {
            refused(&a, 1012, 0);
            tick(&a, 1022);
        }
        unknown(&a, 1024, 0);
        write_row(&a, 1030, 7, true);
        is_state(&a, 1031, 0, 3, 40, 400, 0);
        applied(&a, 1032, 0);
        is_state(&a, 1034, 0, 3, 40, 400, 0);
        unknown(&a, 1036, 0);
        if (config.counter_retries == 1) {
            applied(&a, 1038, 0);
            refused(&a, 1040, 0);
            tick(&a, 1045);
            refused(&a, 1046, 0);
            tick(&a, 1056);
            refused(&a, 1057, 0); /* counted, but the total is unknown */
        }
        ends(&a, config.counter_retries == 0 ? "1000 A0 fires 7: put 7.3\n"
                                               "1002 A0 applied: ack 3, read state\n"
                                               "1004 A0 is bucket=3 counter=40 last=400 next=0: add 1\n"
                                               "1006 A0 refused\n"
                                               "1011 A ticks, due at 1011: A0 add 1 again\n"
                                               "1024 A0 unknown: done ok fired\n"
                                               "1030 A0 fires 7: read state\n"
                                               "1031 A0 is bucket=3 counter=40 last=400 next=0: put 7.3\n"
                                               "1032 A0 applied: ack 3, read state\n"
                                               "1034 A0 is bucket=3 counter=40 last=400 next=0: add 1\n"
                                               "1036 A0 unknown: done ok fired\n"
                                             : "1000 B0 fires 7: put 7.3\n"
                                               "1002 B0 applied: ack 3, read state\n"
                                               "1004 B0 is bucket=3 counter=40 last=400 next=0: add 1\n"
                                               "1006 B0 refused\n"
                                               "1011 B ticks, due at 1011: B0 add 1 again\n"
                                               "1012 B0 refused\n"
                                               "1022 B ticks, due at 1022: B0 add 1 again\n"
                                               "1024 B0 unknown: done ok fired\n"
                                               "1030 B0 fires 7: read state\n"
                                               "1031 B0 is bucket=3 counter=40 last=400 next=0: put 7.3\n"
                                               "1032 B0 applied: ack 3, read state\n"
                                               "1034 B0 is bucket=3 counter=40 last=400 next=0: add 1\n"
                                               "1036 B0 unknown: add 1 again\n"
                                               "1038 B0 applied: read counter\n"
                                               "1040 B0 refused\n"
                                               "1045 B ticks, due at 1045: B0 read counter again\n"
                                               "1046 B0 refused\n"
                                               "1056 B ticks, due at 1056: B0 read counter again\n"
                                               "1057 B0 refused: done ok fired counted\n");
    }
}

static void test_conditional_count_of_unknown_outcome_reads_first_and_ends(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    config.counter_retries = 2;
    struct actor a = actor_of(&trace, "A", &config);
    knows(&a, 980, 3, 0, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    unknown(&a, 1004, 0);
    is_state(&a, 1006, 0, 3, 1, 400, 0);
    refused(&a, 1008, 0); /* certainly not applied: the same action again */
    tick(&a, 1013);
    unknown(&a, 1014, 0);
    is_state(&a, 1016, 0, 3, 1, 400, 0);
    unknown(&a, 1018, 0);
    ends(
        &a,
        "1000 A0 fires 7: put 7.3\n"
        "1002 A0 applied: ack 3, set counter=1 if bucket=3 counter=0 last=400 next=0\n"
        "1004 A0 unknown: read state serially\n"
        "1006 A0 is bucket=3 counter=1 last=400 next=0: set counter=2 if bucket=3 counter=1 last=400 next=0\n"
        "1008 A0 refused\n"
        "1013 A ticks, due at 1013: A0 set counter=2 if bucket=3 counter=1 last=400 next=0 again\n"
        "1014 A0 unknown: read state serially\n"
        "1016 A0 is bucket=3 counter=1 last=400 next=0: set counter=2 if bucket=3 counter=1 last=400 next=0\n"
        "1018 A0 unknown: done ok fired\n");
}

/* The row neither counts for the new bucket nor closes it. */
static void test_row_of_a_closed_bucket_is_not_counted(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    knows(&a, 980, 3, 2, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    but_state(&a, 1004, 0, 4, 2, 1001, 0);
    ends(&a,
         "1000 A0 fires 7: put 7.3\n"
         "1002 A0 applied: ack 3, set bucket=4 counter=0 last=1002 if bucket=3 counter=2 last=400 next=0\n"
         "1004 A0 not applied, bucket=4 counter=2 last=1001 next=0: done ok fired\n");
}

/* The row was deleted while an update was under way, which then left a row of the columns that it set. */
static void test_conditional_count_completes_a_state_that_lacks_columns(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    knows(&a, 980, 3, 0, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    but_columns(&a, 1004, 0, 1u << BK_COUNTER, (int64_t[]){0, 1, 0, 0});
    applied(&a, 1006, 0);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, set counter=1 if bucket=3 counter=0 last=400 next=0\n"
             "1004 A0 not applied, counter=1: set bucket=0 counter=2 last=0 next=0 if counter=1 bucket=null "
             "last=null next=null\n"
             "1006 A0 applied: done ok fired counted\n");
}

static void test_conditional_count_that_loses_too_often_is_given_up(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    write_row(&a, 1000, 7, true);
    is_absent(&a, 1001, 0);
    applied(&a, 1002, 0);
    for (int i = 0; i < 63; i++)
        but_state(&a, 1003, 0, 0, i % 2, 0, 0);
    trace.length = 0;
    but_state(&a, 1004, 0, 0, 0, 0, 0);
    ends(&a, "1004 A0 not applied, bucket=0 counter=0 last=0 next=0: done ok fired\n");
    trace.length = 0;
    a = lone(&trace, BK_LOCKED, BK_COUNTER_LWT);
    knows(&a, 980, 3, 2, 400, 0);
    write_row(&a, 1000, 7, true);
    for (int i = 0; i < 3; i++)
        applied(&a, 1002, 0);
    is_state(&a, 1003, 0, 3, 3, 400, 0);
    for (int i = 0; i < 63; i++)
        but_state(&a, 1004, 0, 3, 4 + i, 400, 0);
    trace.length = 0;
    but_state(&a, 1005, 0, 3, 99, 400, 0);
    applied(&a, 1006, 0);
    ends(&a, "1005 A0 not applied, bucket=3 counter=99 last=400 next=0: lock owner=0 until=0 if owner=11 "
             "until=2002\n"
             "1006 A0 applied: done ok fired counted\n");
}

/* An answer that was sent before a roll and comes after it does not bring the old bucket back. */
static void test_outdated_answers_do_not_lower_the_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_RMW);
    knows(&a, 980, 3, 0, 400, 0);
    uint32_t late = write_row(&a, 1000, 7, true), early = write_row(&a, 1000, 7, true);
    applied(&a, 1001, late);
    applied(&a, 1001, early);
    is_state(&a, 1002, late, 3, 1, 400, 0);
    is_state(&a, 1003, early, 3, 2, 400, 0);
    applied(&a, 1004, early); /* rolled */
    applied(&a, 1005, late);  /* set only the counter */
    late = write_row(&a, 1010, 7, true);
    applied(&a, 1011, late);
    is_state(&a, 1012, late, 3, 0, 400, 0); /* read before the roll */
    early = write_row(&a, 1014, 7, false);
    applied(&a, 1015, early);
    applied(&a, 1016, late); /* and the count that is based on it does neither */
    late = write_row(&a, 1017, 7, false);
    applied(&a, 1018, late);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1000 A1 fires 7: put 7.3\n"
             "1001 A0 applied: ack 3, read state\n"
             "1001 A1 applied: ack 3, read state\n"
             "1002 A0 is bucket=3 counter=1 last=400 next=0: set counter=2\n"
             "1003 A1 is bucket=3 counter=2 last=400 next=0: set bucket=4 counter=0 last=1003\n"
             "1004 A1 applied: done ok fired counted\n"
             "1005 A0 applied: done ok fired counted\n"
             "1010 A0 fires 7: put 7.4\n"
             "1011 A0 applied: ack 4, read state\n"
             "1012 A0 is bucket=3 counter=0 last=400 next=0: set counter=1\n"
             "1014 A1 writes 7: put 7.4\n"
             "1015 A1 applied: ack 4, done ok\n"
             "1016 A0 applied: done ok fired counted\n"
             "1017 A0 writes 7: put 7.4\n"
             "1018 A0 applied: ack 4, done ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_row_does_not_fire_reads_the_state_once),
        cmocka_unit_test(test_conditional_count_applied_proves_the_state),
        cmocka_unit_test(test_write_row_fires_is_counted),
        cmocka_unit_test(test_single_rmw_at_threshold_rolls),
        cmocka_unit_test(test_single_lwt_at_threshold_rolls_from_the_cache_or_reads_again),
        cmocka_unit_test(test_single_column_at_threshold_moves_the_base),
        cmocka_unit_test(test_state_of_some_columns_is_filled_with_zeros),
        cmocka_unit_test(test_count_that_fails_leaves_the_row_stored),
        cmocka_unit_test(test_add_of_unknown_outcome_is_repeated_only_if_configured),
        cmocka_unit_test(test_conditional_count_of_unknown_outcome_reads_first_and_ends),
        cmocka_unit_test(test_row_of_a_closed_bucket_is_not_counted),
        cmocka_unit_test(test_conditional_count_completes_a_state_that_lacks_columns),
        cmocka_unit_test(test_conditional_count_that_loses_too_often_is_given_up),
        cmocka_unit_test(test_outdated_answers_do_not_lower_the_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
