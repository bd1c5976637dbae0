/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when an agent counts the rows of a key's newest bucket, and how it uses the count: a sum that
 * continues from the last row counted, or all rows each time. Method: one situation per test; the host's
 * events are given by hand, and the whole trace of events and actions is asserted as text (agent_trace.h).
 * Partitions have three rows, and the agent counts after every second row of a key. */
#include "agent_source_trace.h"

static void test_incremental_continues_from_the_last_row_counted(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1002, 0);
    applied(&a, 1004, 0);
    put_one(&a, 1010);
    counts(&a, 1020, 0, 2, 1010, 4);
    applied(&a, 1025, 0);
    put_two(&a, 1030);
    /* Enough rows: the bucket is raised, and all rows of the next bucket are counted. */
    counts(&a, 1050, 0, 2, 1040, 9);
    applied(&a, 1055, 0);
    put_two(&a, 1060);
    counts(&a, 1080, 0, 1, 1060, 3);
    applied(&a, 1085, 0);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1002 A0 is absent: put 7.0\n"
             "1004 A0 applied: ack 0, done ok\n"
             "1010 A0 writes 7: put 7.0\n"
             "1015 A0 applied: ack 0, count rows of 0\n"
             "1020 A0 counts 2 to 1010.4: set bucket=0 counter=2 last=1010 next=4 if absent\n"
             "1025 A0 applied: done ok\n"
             "1030 A0 writes 7: put 7.0\n"
             "1035 A0 applied: ack 0, done ok\n"
             "1040 A0 writes 7: put 7.0\n"
             "1045 A0 applied: ack 0, count rows of 0 after 1010.4\n"
             "1050 A0 counts 2 to 1040.9: set bucket=1 counter=0 last=-inf next=-inf if bucket=0 counter=2 "
             "last=1010 next=4\n"
             "1055 A0 applied: done ok\n"
             "1060 A0 writes 7: put 7.1\n"
             "1065 A0 applied: ack 1, done ok\n"
             "1070 A0 writes 7: put 7.1\n"
             "1075 A0 applied: ack 1, count rows of 1\n"
             "1080 A0 counts 1 to 1060.3: set bucket=1 counter=1 last=1060 next=3 if bucket=1 counter=0 "
             "last=-inf next=-inf\n"
             "1085 A0 applied: done ok\n");
}

static void test_incremental_failed_condition_means_that_another_agent_counted_further(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 1000, 2, 1, 700, 5);
    put_two(&a, 1000);
    counts(&a, 1020, 0, 1, 1010, 4);
    but_state(&a, 1025, 0, 3, 0, INT64_MIN, INT64_MIN);
    put_one(&a, 1030);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1020 A0 counts 1 to 1010.4: set bucket=2 counter=2 last=1010 next=4 if bucket=2 counter=1 "
             "last=700 next=5\n"
             "1025 A0 not applied, bucket=3 counter=0 last=-inf next=-inf: done ok\n"
             "1030 A0 writes 7: put 7.3\n"
             "1035 A0 applied: ack 3, done ok\n");
}

/* Nothing is added twice: the stored sum is read before the next count. */
static void test_incremental_sum_of_unknown_outcome_is_forgotten(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 1000, 2, 1, 700, 5);
    put_two(&a, 1000);
    counts(&a, 1020, 0, 1, 1010, 4);
    unknown(&a, 1025, 0);
    write_row(&a, 1030, 7, false);
    is_state(&a, 1035, 0, 2, 2, 1010, 4);
    applied(&a, 1040, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1020 A0 counts 1 to 1010.4: set bucket=2 counter=2 last=1010 next=4 if bucket=2 counter=1 "
             "last=700 next=5\n"
             "1025 A0 unknown: done ok\n"
             "1030 A0 writes 7: read state\n"
             "1035 A0 is bucket=2 counter=2 last=1010 next=4: put 7.2\n"
             "1040 A0 applied: ack 2, done ok\n");
}

static void test_incremental_sum_refused_is_tried_again_and_then_forgotten(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 1000, 2, 1, 700, 5);
    put_two(&a, 1000);
    counts(&a, 1020, 0, 1, 1010, 4);
    refused(&a, 1025, 0);
    tick(&a, 1030);
    but_state(&a, 1035, 0, -1, 0, 0, 0); /* no agent can have stored this */
    tick(&a, 1045);
    refused(&a, 1050, 0);
    write_row(&a, 1060, 7, false);
    is_absent(&a, 1065, 0);
    applied(&a, 1070, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1020 A0 counts 1 to 1010.4: set bucket=2 counter=2 last=1010 next=4 if bucket=2 counter=1 "
             "last=700 next=5\n"
             "1025 A0 refused\n"
             "1030 A ticks, due at 1030: A0 set bucket=2 counter=2 last=1010 next=4 if bucket=2 counter=1 "
             "last=700 next=5 again\n"
             "1035 A0 not applied, bucket=-1 counter=0 last=0 next=0\n"
             "1045 A ticks, due at 1045: A0 set bucket=2 counter=2 last=1010 next=4 if bucket=2 counter=1 "
             "last=700 next=5 again\n"
             "1050 A0 refused: done ok\n"
             "1060 A0 writes 7: read state\n"
             "1065 A0 is absent: put 7.0\n"
             "1070 A0 applied: ack 0, done ok\n");
}

/* The row is stored whatever the outcome of the count. A count without the place of its last row is not used.
 */
static void test_incremental_count_that_fails_is_given_up(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 1000, 2, 1, 700, 5);
    put_two(&a, 1000);
    unknown(&a, 1020, 0);
    but_state(&a, 1025, 0, 2, 1, 700, 5); /* the action had no condition: treated as a refusal */
    tick(&a, 1035);
    found_rows(&a, 1040, 0, 2);
    write_row(&a, 1050, 7, false);
    is_absent(&a, 1055, 0);
    applied(&a, 1060, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1020 A0 unknown: count rows of 2 after 700.5 again\n"
             "1025 A0 not applied, bucket=2 counter=1 last=700 next=5\n"
             "1035 A ticks, due at 1035: A0 count rows of 2 after 700.5 again\n"
             "1040 A0 found 2: done ok\n"
             "1050 A0 writes 7: read state\n"
             "1055 A0 is absent: put 7.0\n"
             "1060 A0 applied: ack 0, done ok\n");
}

static void test_incremental_incomplete_place_is_ignored(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    struct bk_outcome half = {.kind = BK_OUTCOME_APPLIED, .mask = 1, .rows = 1};
    knows_state(&a, 1000, 2, 1, 700, 5);
    put_two(&a, 1000);
    tell(&a, 1020, 0, "counts half", &half);
    tick(&a, 1025);
    counts(&a, 1030, 0, 1, 1010, 4);
    applied(&a, 1035, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1020 A0 counts half\n"
             "1025 A ticks, due at 1025: A0 count rows of 2 after 700.5 again\n"
             "1030 A0 counts 1 to 1010.4: set bucket=2 counter=2 last=1010 next=4 if bucket=2 counter=1 "
             "last=700 next=5\n"
             "1035 A0 applied: done ok\n");
}

static void test_incremental_count_without_a_newer_row_changes_nothing(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 1000, 2, 1, INT64_MIN, 5); /* half of a place is still a place */
    put_two(&a, 1000);
    found_rows(&a, 1020, 0, 0);
    put_two(&a, 1030);
    found_rows(&a, 1050, 0, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, count rows of 2 after -9223372036854775808.5\n"
             "1020 A0 found 0: done ok\n"
             "1030 A0 writes 7: put 7.2\n"
             "1035 A0 applied: ack 2, done ok\n"
             "1040 A0 writes 7: put 7.2\n"
             "1045 A0 applied: ack 2, count rows of 2 after -9223372036854775808.5\n"
             "1050 A0 found 0: done ok\n");
}

static void test_incremental_sum_stops_at_the_largest_number(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_INCREMENTAL);
    assert_int_equal(bk_strategy_count(INT64_MAX, &config.strategy), BK_OK);
    struct actor a = actor_of(&trace, "A", &config);
    knows_state(&a, 1000, 2, INT64_MAX - 3, 700, 5);
    put_two(&a, 1000);
    counts(&a, 1020, 0, 1, 1010, 4);
    applied(&a, 1021, 0);
    put_two(&a, 1030);
    counts(&a, 1050, 0, UINT64_MAX, 1040, 4);
    applied(&a, 1051, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1020 A0 counts 1 to 1010.4: set bucket=2 counter=9223372036854775805 last=1010 next=4 if "
             "bucket=2 counter=9223372036854775804 last=700 next=5\n"
             "1021 A0 applied: done ok\n"
             "1030 A0 writes 7: put 7.2\n"
             "1035 A0 applied: ack 2, done ok\n"
             "1040 A0 writes 7: put 7.2\n"
             "1045 A0 applied: ack 2, count rows of 2 after 1010.4\n"
             "1050 A0 counts 18446744073709551615 to 1040.4: set bucket=2 counter=9223372036854775806 "
             "last=1040 next=4 if bucket=2 counter=9223372036854775805 last=1010 next=4\n"
             "1051 A0 applied: done ok\n");
}

static void test_incremental_negative_sum_is_ignored(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 2000, 3, -8, 700, 5);
    put_two(&a, 2000);
    counts(&a, 2020, 0, 2, 2010, 4);
    applied(&a, 2025, 0);
    ends(&a, "2000 A0 writes 7: put 7.3\n"
             "2005 A0 applied: ack 3, done ok\n"
             "2010 A0 writes 7: put 7.3\n"
             "2015 A0 applied: ack 3, count rows of 3 after 700.5\n"
             "2020 A0 counts 2 to 2010.4: set bucket=3 counter=2 last=2010 next=4 if bucket=3 counter=-8 "
             "last=700 next=5\n"
             "2025 A0 applied: done ok\n");
}

/* A row that was long under way to a bucket that has been left since is not counted and triggers no count. */
static void test_row_of_an_older_bucket_is_no_row_to_count_after(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 1000, 2, 0, 700, 5);
    uint32_t slow = write_row(&a, 1000, 7, false), slower = write_row(&a, 1001, 7, false);
    uint32_t quick = write_row(&a, 1002, 7, false), second = write_row(&a, 1003, 7, false);
    applied(&a, 1010, quick);
    applied(&a, 1011, second);
    counts(&a, 1012, second, 4, 1003, 0);
    applied(&a, 1013, second);
    uint32_t next = write_row(&a, 1020, 7, false);
    applied(&a, 1025, next);
    applied(&a, 1026, slow);
    applied(&a, 1027, slower);
    next = write_row(&a, 1030, 7, false);
    applied(&a, 1031, next);
    found_rows(&a, 1032, next, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1001 A1 writes 7: put 7.2\n"
             "1002 A2 writes 7: put 7.2\n"
             "1003 A3 writes 7: put 7.2\n"
             "1010 A2 applied: ack 2, done ok\n"
             "1011 A3 applied: ack 2, count rows of 2 after 700.5\n"
             "1012 A3 counts 4 to 1003.0: set bucket=3 counter=0 last=-inf next=-inf if bucket=2 counter=0 "
             "last=700 next=5\n"
             "1013 A3 applied: done ok\n"
             "1020 A3 writes 7: put 7.3\n"
             "1025 A3 applied: ack 3, done ok\n"
             "1026 A0 applied: ack 2, done ok\n"
             "1027 A1 applied: ack 2, done ok\n"
             "1030 A1 writes 7: put 7.3\n"
             "1031 A1 applied: ack 3, count rows of 3\n"
             "1032 A1 found 0: done ok\n");
}

/* The agent does not remember its last count. */
static void test_row_of_an_evicted_key_is_counted_later(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL);
    knows_state(&a, 1000, 2, 0, 700, 5);
    write_row(&a, 1000, 7, false);
    fill_cache(&a, 1001);
    applied(&a, 1010, 0);
    counts(&a, 1012, 0, 1, 1000, 0);
    applied(&a, 1013, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1010 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1012 A0 counts 1 to 1000.0: set bucket=2 counter=1 last=1000 next=0 if bucket=2 counter=0 "
             "last=700 next=5\n"
             "1013 A0 applied: done ok\n");
}

/* The state that routed the row is used instead of the cache, which keeps nothing. */
static void test_count_without_a_cache_uses_what_routed_the_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_INCREMENTAL);
    config.cache_ttl_ns = 0;
    config.every_rows = 1;
    struct actor a = actor_of(&trace, "A", &config);
    for (int i = 0; i < 2; i++) {
        write_row(&a, 1000 + 100 * i, 7, false);
        is_state(&a, 1010 + 100 * i, 0, 2, i, 700 + i, 5);
        applied(&a, 1020 + 100 * i, 0);
        counts(&a, 1030 + 100 * i, 0, 1, 701 + i, 5);
        applied(&a, 1040 + 100 * i, 0);
    }
    ends(&a, "1000 A0 writes 7: read state\n"
             "1010 A0 is bucket=2 counter=0 last=700 next=5: put 7.2\n"
             "1020 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1030 A0 counts 1 to 701.5: set bucket=2 counter=1 last=701 next=5 if bucket=2 counter=0 "
             "last=700 next=5\n"
             "1040 A0 applied: done ok\n"
             "1100 A0 writes 7: read state\n"
             "1110 A0 is bucket=2 counter=1 last=701 next=5: put 7.2\n"
             "1120 A0 applied: ack 2, count rows of 2 after 701.5\n"
             "1130 A0 counts 1 to 702.5: set bucket=2 counter=2 last=702 next=5 if bucket=2 counter=1 "
             "last=701 next=5\n"
             "1140 A0 applied: done ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incremental_continues_from_the_last_row_counted),
        cmocka_unit_test(test_incremental_failed_condition_means_that_another_agent_counted_further),
        cmocka_unit_test(test_incremental_sum_of_unknown_outcome_is_forgotten),
        cmocka_unit_test(test_incremental_sum_refused_is_tried_again_and_then_forgotten),
        cmocka_unit_test(test_incremental_count_that_fails_is_given_up),
        cmocka_unit_test(test_incremental_incomplete_place_is_ignored),
        cmocka_unit_test(test_incremental_count_without_a_newer_row_changes_nothing),
        cmocka_unit_test(test_incremental_sum_stops_at_the_largest_number),
        cmocka_unit_test(test_incremental_negative_sum_is_ignored),
        cmocka_unit_test(test_row_of_an_older_bucket_is_no_row_to_count_after),
        cmocka_unit_test(test_row_of_an_evicted_key_is_counted_later),
        cmocka_unit_test(test_count_without_a_cache_uses_what_routed_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
