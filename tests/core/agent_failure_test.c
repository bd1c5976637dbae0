/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: retries, the ends of operations, reads, and the deadlines of sleeping operations.
 * Method: one situation per test; the host's events are given by hand, and the trace of events and actions
 * is asserted as text (agent_trace.h). */
#include "agent_trace.h"

/* The first try may have stored the row in bucket 3, so the row stays there, although the agent knows bucket
 * 4 by then. */
static void test_put_that_times_out_twice_stays_in_its_first_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    knows(&a, 980, 3, 2, 400, 0);
    uint32_t slow = write_row(&a, 1000, 7, false);
    uint32_t quick = write_row(&a, 1001, 7, true);
    applied(&a, 1002, quick);
    applied(&a, 1004, quick);
    unknown(&a, 1010, slow);
    quick = write_row(&a, 1011, 7, false);
    applied(&a, 1012, quick);
    unknown(&a, 1020, slow);
    applied(&a, 1022, slow);
    ends(&a,
         "1000 A0 writes 7: put 7.3\n"
         "1001 A1 fires 7: put 7.3\n"
         "1002 A1 applied: ack 3, set bucket=4 counter=0 last=1002 if bucket=3 counter=2 last=400 next=0\n"
         "1004 A1 applied: done ok fired counted\n"
         "1010 A0 unknown: put 7.3 again\n"
         "1011 A1 writes 7: put 7.4\n"
         "1012 A1 applied: ack 4, done ok\n"
         "1020 A0 unknown: put 7.3 again\n"
         "1022 A0 applied: ack 3, done ok\n");
}

static void test_put_without_tries_left_is_refused_or_unknown(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_RMW);
    knows(&a, 980, 3, 2, 400, 0);
    write_row(&a, 1000, 7, false);
    refused(&a, 1010, 0);
    tick(&a, 1015);
    refused(&a, 1020, 0);
    tick(&a, 1030);
    refused(&a, 1040, 0);
    write_row(&a, 1050, 7, true);
    refused(&a, 1052, 0);
    tick(&a, 1057);
    unknown(&a, 1060, 0);
    refused(&a, 1062, 0); /* refused at last, but the earlier try may have taken effect */
    /* The outcome is a failed condition, but the action had none: it was not applied. */
    write_row(&a, 1070, 7, false);
    but_state(&a, 1072, 0, 3, 2, 400, 0);
    tick(&a, 1077);
    applied(&a, 1078, 0);
    ends(&a, "1000 A0 writes 7: put 7.3\n"
             "1010 A0 refused\n"
             "1015 A ticks, due at 1015: A0 put 7.3 again\n"
             "1020 A0 refused\n"
             "1030 A ticks, due at 1030: A0 put 7.3 again\n"
             "1040 A0 refused: done refused\n"
             "1050 A0 fires 7: put 7.3\n"
             "1052 A0 refused\n"
             "1057 A ticks, due at 1057: A0 put 7.3 again\n"
             "1060 A0 unknown: put 7.3 again\n"
             "1062 A0 refused: done unknown fired\n"
             "1070 A0 writes 7: put 7.3\n"
             "1072 A0 not applied, bucket=3 counter=2 last=400 next=0\n"
             "1077 A ticks, due at 1077: A0 put 7.3 again\n"
             "1078 A0 applied: ack 3, done ok\n");
}

static void test_state_that_cannot_be_read_refuses_the_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_RMW);
    write_row(&a, 1000, 7, true);
    unknown(&a, 1010, 0);
    refused(&a, 1020, 0);
    tick(&a, 1030);
    unknown(&a, 1040, 0);
    read_rows(&a, 1050, 5, BK_PLAN_WALK);
    unknown(&a, 1060, 0);
    unknown(&a, 1070, 0);
    unknown(&a, 1080, 0);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1010 A0 unknown: read state again\n"
             "1020 A0 refused\n"
             "1030 A ticks, due at 1030: A0 read state again\n"
             "1040 A0 unknown: done refused fired\n"
             "1050 A0 reads 5: read state\n"
             "1060 A0 unknown: read state again\n"
             "1070 A0 unknown: read state again\n"
             "1080 A0 unknown: done refused\n");
}

/* A bucket below 0, the last bucket, a count that cannot be continued: no agent has stored these. */
static void test_impossible_state_counts_as_missing(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1000, 0, -1, 0, 0, 0);
    tick(&a, 1005);
    is_state(&a, 1005, 0, INT64_MAX, 0, 0, 0);
    tick(&a, 1015);
    is_state(&a, 1015, 0, 0, INT64_MAX, 0, 0);
    write_row(&a, 1020, 7, true);
    is_state(&a, 1022, 0, INT64_MAX - 2, 2, 0, 0);
    applied(&a, 1024, 0);
    but_state(&a, 1026, 0, -1, 0, 0, 0);
    tick(&a, 1031);
    but_state(&a, 1033, 0, -1, 0, 0, 0);
    tick(&a, 1043);
    but_state(&a, 1045, 0, -1, 0, 0, 0);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1000 A0 is bucket=-1 counter=0 last=0 next=0\n"
             "1005 A ticks, due at 1005: A0 read state again\n"
             "1005 A0 is bucket=9223372036854775807 counter=0 last=0 next=0\n"
             "1015 A ticks, due at 1015: A0 read state again\n"
             "1015 A0 is bucket=0 counter=9223372036854775807 last=0 next=0: done refused fired\n"
             "1020 A0 fires 7: read state\n"
             "1022 A0 is bucket=9223372036854775805 counter=2 last=0 next=0: put 7.9223372036854775805\n"
             "1024 A0 applied: ack 9223372036854775805, set bucket=9223372036854775806 counter=0 last=1024 "
             "if bucket=9223372036854775805 counter=2 last=0 next=0\n"
             "1026 A0 not applied, bucket=-1 counter=0 last=0 next=0\n"
             "1031 A ticks, due at 1031: A0 set bucket=9223372036854775806 counter=0 last=1024 if "
             "bucket=9223372036854775805 counter=2 last=0 next=0 again\n"
             "1033 A0 not applied, bucket=-1 counter=0 last=0 next=0\n"
             "1043 A ticks, due at 1043: A0 set bucket=9223372036854775806 counter=0 last=1024 if "
             "bucket=9223372036854775805 counter=2 last=0 next=0 again\n"
             "1045 A0 not applied, bucket=-1 counter=0 last=0 next=0: done ok fired\n");
}

/* A host's broken state must not make a number overflow. */
static void test_last_bucket_counts_and_does_not_roll(void **state)
{
    (void)state;
    const int64_t last = INT64_MAX - 1;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_SINGLE, BK_COUNTER_LWT);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1001, 0, last, 2, 0, 0);
    applied(&a, 1002, 0);
    applied(&a, 1003, 0);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1001 A0 is bucket=9223372036854775806 counter=2 last=0 next=0: put 7.9223372036854775806\n"
             "1002 A0 applied: ack 9223372036854775806, set counter=3 "
             "if bucket=9223372036854775806 counter=2 last=0 next=0\n"
             "1003 A0 applied: done ok fired counted\n");
}

static void test_last_bucket_of_guarded_does_not_roll(void **state)
{
    (void)state;
    const int64_t last = INT64_MAX - 1;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_GUARDED, BK_COUNTER_COLUMN);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1001, 0, last, 700, 800, 2000);
    applied(&a, 1002, 0);
    applied(&a, 1003, 0);
    is_total(&a, 1004, 0, THRESHOLD);
    applied(&a, 1005, 0);
    ends(&a, "1000 A0 fires 7: read state serially\n"
             "1001 A0 is bucket=9223372036854775806 counter=700 last=800 next=2000: "
             "put 7.9223372036854775806\n"
             "1002 A0 applied: ack 9223372036854775806, add 1\n"
             "1003 A0 applied: read counter\n"
             "1004 A0 is 3: set start of 9223372036854775805 to 700\n"
             "1005 A0 applied: done ok fired counted\n");
}

/* Otherwise the key's other rows would wait for as long as the clock has jumped. */
static void test_clock_set_forward_during_a_try_makes_no_long_wait(void **state)
{
    (void)state;
    const int64_t far = INT64_MAX / 8 * 7, longest_grant_ns = 8 * 100;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_GUARDED, BK_COUNTER_COLUMN);
    write_row(&a, -far, 7, false);
    unknown(&a, far, 0);
    int64_t due_ns = bk_agent_deadline(a.agent);
    assert_true(due_ns > far && due_ns - far <= longest_grant_ns * 3 / 2);
    free(a.agent);
}

static void test_read_walks_down_from_the_bucket_of_the_state(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_THREE_STATE, BK_COUNTER_RMW);
    read_rows(&a, 1000, 50, BK_PLAN_WALK);
    is_state(&a, 1001, 0, 3, 2, 400, 1100); /* the next bucket may hold rows of clocks that are ahead */
    found_rows(&a, 1002, 0, 0);
    found_rows(&a, 1003, 0, 40);
    found_rows(&a, 1004, 0, 10);
    read_rows(&a, 1010, 50, BK_PLAN_PAIR); /* the cache now has the state */
    found_rows(&a, 1011, 0, 20);
    unknown(&a, 1012, 0);
    found_rows(&a, 1013, 0, 3); /* the end of a short history */
    read_rows(&a, 1200, 50, BK_PLAN_DEFAULT);
    is_absent(&a, 1201, 0);
    refused(&a, 1202, 0);
    tick(&a, 1207);
    refused(&a, 1208, 0);
    tick(&a, 1218);
    refused(&a, 1219, 0);
    ends(&a, "1000 A0 reads 50: read state\n"
             "1001 A0 is bucket=3 counter=2 last=400 next=1100: read 7.3..3 for 50\n"
             "1002 A0 found 0: read 7.2..2 for 50\n"
             "1003 A0 found 40: read 7.1..1 for 10\n"
             "1004 A0 found 10: done ok found 50 in 3\n"
             "1010 A0 reads 50: read 7.2..3 for 50\n"
             "1011 A0 found 20: read 7.0..1 for 30\n"
             "1012 A0 unknown: read 7.0..1 for 30 again\n"
             "1013 A0 found 3: done ok found 23 in 4\n"
             "1200 A0 reads 50: read state\n"
             "1201 A0 is absent: read 7.0..0 for 50\n"
             "1202 A0 refused\n"
             "1207 A ticks, due at 1207: A0 read 7.0..0 for 50 again\n"
             "1208 A0 refused\n"
             "1218 A ticks, due at 1218: A0 read 7.0..0 for 50 again\n"
             "1219 A0 refused: done unknown\n");
}

static void test_stateless_strategies_read_no_state(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    for (int kind = BK_UNBUCKETED; kind < BK_KIND_COUNT; kind++) {
        struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
        if (bk_kind_fires((enum bk_kind)kind))
            continue;
        if (kind == BK_UNBUCKETED)
            bk_strategy_unbucketed(&config.strategy);
        if (kind == BK_TIME)
            bk_strategy_time(1000, 0, &config.strategy);
        if (kind == BK_COUNT)
            bk_strategy_count(10, &config.strategy);
        if (kind == BK_HASH)
            bk_strategy_hash(6, &config.strategy);
        struct actor a = actor_of(&trace, (const char *[]){"N", "T", "C", "", "H"}[kind], &config);
        write_row(&a, 2500, 7, true);
        applied(&a, 2501, 0);
        read_rows(&a, 2502, 5, kind == BK_HASH ? BK_PLAN_ALL : BK_PLAN_PAIR);
        found_rows(&a, 2503, 0, 1);
        if (kind == BK_TIME || kind == BK_COUNT)
            found_rows(&a, 2504, 0, 4);
        if (kind == BK_HASH)
            ends(&a, "2500 N0 fires 7: put 7.0\n"
                     "2501 N0 applied: ack 0, done ok\n"
                     "2502 N0 reads 5: read 7.0..0 for 5\n"
                     "2503 N0 found 1: done ok found 1 in 1\n"
                     "2500 T0 fires 7: put 7.2\n"
                     "2501 T0 applied: ack 2, done ok\n"
                     "2502 T0 reads 5: read 7.1..2 for 5\n"
                     "2503 T0 found 1: read 7.0..0 for 4\n"
                     "2504 T0 found 4: done ok found 5 in 3\n"
                     "2500 C0 fires 7: put 7.0\n"
                     "2501 C0 applied: ack 0, done ok\n"
                     "2502 C0 reads 5: read 7.1..2 for 5\n"
                     "2503 C0 found 1: read 7.0..0 for 4\n"
                     "2504 C0 found 4: done ok found 5 in 3\n"
                     "2500 H0 fires 7: put 7.5\n"
                     "2501 H0 applied: ack 5, done ok\n"
                     "2502 H0 reads 5: read 7.0..5 for 5\n"
                     "2503 H0 found 1: done ok found 1 in 6\n");
        else
            free(a.agent);
    }
}

static void test_deadline_is_that_of_the_first_operation_to_wake(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    config.operations = 3;
    struct actor a = actor_of(&trace, "A", &config);
    assert_true(bk_agent_deadline(a.agent) == INT64_MAX);
    knows(&a, 980, 3, 0, 400, 0);
    uint32_t first = write_row(&a, 1000, 7, false), second = write_row(&a, 1000, 7, false);
    refused(&a, 1001, second);
    refused(&a, 1003, first);
    tick(&a, 1005);
    tick(&a, 1006);
    tick(&a, 1007);
    refused(&a, 1007, second);
    tick(&a, 1100); /* both together, in the order of their numbers */
    applied(&a, 1101, first);
    applied(&a, 1101, second);
    tick(&a, 1102);
    ends(&a, "1000 A0 writes 7: put 7.3\n"
             "1000 A1 writes 7: put 7.3\n"
             "1001 A1 refused\n"
             "1003 A0 refused\n"
             "1005 A ticks, due at 1006\n"
             "1006 A ticks, due at 1006: A1 put 7.3 again\n"
             "1007 A ticks, due at 1008\n"
             "1007 A1 refused\n"
             "1100 A ticks, due at 1008: A0 put 7.3 again, A1 put 7.3 again\n"
             "1101 A0 applied: ack 3, done ok\n"
             "1101 A1 applied: ack 3, done ok\n"
             "1102 A ticks\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_that_times_out_twice_stays_in_its_first_bucket),
        cmocka_unit_test(test_put_without_tries_left_is_refused_or_unknown),
        cmocka_unit_test(test_state_that_cannot_be_read_refuses_the_row),
        cmocka_unit_test(test_impossible_state_counts_as_missing),
        cmocka_unit_test(test_last_bucket_counts_and_does_not_roll),
        cmocka_unit_test(test_last_bucket_of_guarded_does_not_roll),
        cmocka_unit_test(test_clock_set_forward_during_a_try_makes_no_long_wait),
        cmocka_unit_test(test_read_walks_down_from_the_bucket_of_the_state),
        cmocka_unit_test(test_stateless_strategies_read_no_state),
        cmocka_unit_test(test_deadline_is_that_of_the_first_operation_to_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
