/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a source that counts all rows of a bucket each time, and the times at which an agent counts. Method:
 * as in agent_sum_test.c; keys that evict each other from the cache, over many rows. */
#include "agent_source_trace.h"
#include "bucketing/hash.h"

static void test_last_bucket_is_counted_and_not_raised(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_INCREMENTAL), s = source_of(&trace, BK_SOURCE_SCAN);
    s.name = "S";
    knows_state(&a, 1000, INT64_MAX - 1, 2, 700, 5);
    put_two(&a, 1000);
    counts(&a, 1020, 0, 9, 1010, 4);
    applied(&a, 1025, 0);
    write_row(&s, 1030, 7, false);
    is_state(&s, 1031, 0, INT64_MAX - 1, 0, 0, 0);
    applied(&s, 1032, 0);
    put_one(&s, 1040);
    found_rows(&s, 1050, 0, 9);
    is_state(&s, 1055, 0, INT64_MAX - 1, 0, 0, 0);
    free(s.agent);
    ends(&a, "1000 A0 writes 7: put 7.9223372036854775806\n"
             "1005 A0 applied: ack 9223372036854775806, done ok\n"
             "1010 A0 writes 7: put 7.9223372036854775806\n"
             "1015 A0 applied: ack 9223372036854775806, count rows of 9223372036854775806 after 700.5\n"
             "1020 A0 counts 9 to 1010.4: set bucket=9223372036854775806 counter=11 last=1010 next=4 if "
             "bucket=9223372036854775806 counter=2 last=700 next=5\n"
             "1025 A0 applied: done ok\n"
             "1030 S0 writes 7: read state\n"
             "1031 S0 is bucket=9223372036854775806 counter=0 last=0 next=0: put 7.9223372036854775806\n"
             "1032 S0 applied: ack 9223372036854775806, done ok\n"
             "1040 S0 writes 7: put 7.9223372036854775806\n"
             "1045 S0 applied: ack 9223372036854775806, count rows of 9223372036854775806\n"
             "1050 S0 found 9: read state\n"
             "1055 S0 is bucket=9223372036854775806 counter=0 last=0 next=0: done ok\n");
}

/* There is no count after the first row: the agent's interval begins there. A clock that is set back ends the
 * interval. */
static void test_count_by_time_comes_with_a_row_late_enough(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_INCREMENTAL);
    config.every_rows = 0;
    config.every_ns = 50;
    config.cache_ttl_ns = 1000;
    struct actor a = actor_of(&trace, "A", &config);
    knows_state(&a, 1000, 2, 0, 700, 5);
    put_one(&a, 1000); /* stored at 1005 */
    put_one(&a, 1049);
    put_one(&a, 1050);
    found_rows(&a, 1060, 0, 0);
    put_one(&a, 1099);
    put_one(&a, 1100);
    found_rows(&a, 1110, 0, 0);
    put_one(&a, 1099); /* stored at 1104, before the last count */
    found_rows(&a, 1111, 0, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1049 A0 writes 7: put 7.2\n"
             "1054 A0 applied: ack 2, done ok\n"
             "1050 A0 writes 7: put 7.2\n"
             "1055 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1060 A0 found 0: done ok\n"
             "1099 A0 writes 7: put 7.2\n"
             "1104 A0 applied: ack 2, done ok\n"
             "1100 A0 writes 7: put 7.2\n"
             "1105 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1110 A0 found 0: done ok\n"
             "1099 A0 writes 7: put 7.2\n"
             "1104 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1111 A0 found 0: done ok\n");
}

static void test_count_by_rows_or_time_whichever_comes_first(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_INCREMENTAL);
    config.every_rows = 3;
    config.every_ns = 50;
    struct actor a = actor_of(&trace, "A", &config);
    knows_state(&a, 1000, 2, 0, 700, 5);
    put_two(&a, 1000);
    put_one(&a, 1020);
    found_rows(&a, 1026, 0, 0);
    put_one(&a, 1030);
    put_one(&a, 1075);
    found_rows(&a, 1081, 0, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, done ok\n"
             "1010 A0 writes 7: put 7.2\n"
             "1015 A0 applied: ack 2, done ok\n"
             "1020 A0 writes 7: put 7.2\n"
             "1025 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1026 A0 found 0: done ok\n"
             "1030 A0 writes 7: put 7.2\n"
             "1035 A0 applied: ack 2, done ok\n"
             "1075 A0 writes 7: put 7.2\n"
             "1080 A0 applied: ack 2, count rows of 2 after 700.5\n"
             "1081 A0 found 0: done ok\n");
}

static void test_scan_raises_a_bucket_that_is_full_and_still_the_newest(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_SCAN);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1002, 0);
    applied(&a, 1004, 0);
    put_one(&a, 1010);
    found_rows(&a, 1020, 0, 2);
    put_two(&a, 1030);
    found_rows(&a, 1050, 0, 3);
    is_absent(&a, 1055, 0);
    applied(&a, 1060, 0);
    put_two(&a, 1070);
    found_rows(&a, 1085, 0, 4);
    is_state(&a, 1086, 0, 1, 0, 1055, 0);
    unknown(&a, 1087, 0); /* the last try: a repeat writes the same each time */
    refused(&a, 1088, 0);
    tick(&a, 1098);
    applied(&a, 1099, 0);
    put_two(&a, 1100);
    found_rows(&a, 1120, 0, 3);
    is_state(&a, 1121, 0, 4, 0, 1090, 0); /* others have rolled the key */
    put_one(&a, 1130);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1002 A0 is absent: put 7.0\n"
             "1004 A0 applied: ack 0, done ok\n"
             "1010 A0 writes 7: put 7.0\n"
             "1015 A0 applied: ack 0, count rows of 0\n"
             "1020 A0 found 2: done ok\n"
             "1030 A0 writes 7: put 7.0\n"
             "1035 A0 applied: ack 0, done ok\n"
             "1040 A0 writes 7: put 7.0\n"
             "1045 A0 applied: ack 0, count rows of 0\n"
             "1050 A0 found 3: read state\n"
             "1055 A0 is absent: set bucket=1 counter=0 last=1055 next=0\n"
             "1060 A0 applied: done ok\n"
             "1070 A0 writes 7: put 7.1\n"
             "1075 A0 applied: ack 1, done ok\n"
             "1080 A0 writes 7: put 7.1\n"
             "1085 A0 applied: ack 1, count rows of 1\n"
             "1085 A0 found 4: read state\n"
             "1086 A0 is bucket=1 counter=0 last=1055 next=0: set bucket=2 last=1086\n"
             "1087 A0 unknown: set bucket=2 last=1086 again\n"
             "1088 A0 refused\n"
             "1098 A ticks, due at 1098: A0 set bucket=2 last=1086 again\n"
             "1099 A0 applied: done ok\n"
             "1100 A0 writes 7: put 7.2\n"
             "1105 A0 applied: ack 2, done ok\n"
             "1110 A0 writes 7: put 7.2\n"
             "1115 A0 applied: ack 2, count rows of 2\n"
             "1120 A0 found 3: read state\n"
             "1121 A0 is bucket=4 counter=0 last=1090 next=0: done ok\n"
             "1130 A0 writes 7: put 7.4\n"
             "1135 A0 applied: ack 4, done ok\n");
}

static void test_scan_that_fails_leaves_the_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_SCAN);
    config.every_rows = 1;
    config.retries = 1;
    struct actor a = actor_of(&trace, "A", &config);
    knows_state(&a, 1000, 2, 0, 0, 0);
    put_one(&a, 1000);
    unknown(&a, 1010, 0);
    unknown(&a, 1011, 0);
    write_row(&a, 1020, 7, false);
    is_state(&a, 1021, 0, 2, 0, 0, 0);
    applied(&a, 1022, 0);
    found_rows(&a, 1023, 0, 3);
    is_state(&a, 1024, 0, -2, 0, 0, 0);
    tick(&a, 1029);
    unknown(&a, 1030, 0);
    write_row(&a, 1040, 7, false);
    is_state(&a, 1041, 0, 2, 0, 0, 0);
    applied(&a, 1042, 0);
    found_rows(&a, 1043, 0, 3);
    is_state(&a, 1044, 0, 2, 0, 0, 0);
    but_state(&a, 1045, 0, 3, 0, 0, 0); /* the action had no condition: treated as a refusal */
    tick(&a, 1050);
    unknown(&a, 1051, 0);
    ends(&a, "1000 A0 writes 7: put 7.2\n"
             "1005 A0 applied: ack 2, count rows of 2\n"
             "1010 A0 unknown: count rows of 2 again\n"
             "1011 A0 unknown: done ok\n"
             "1020 A0 writes 7: read state\n"
             "1021 A0 is bucket=2 counter=0 last=0 next=0: put 7.2\n"
             "1022 A0 applied: ack 2, count rows of 2\n"
             "1023 A0 found 3: read state\n"
             "1024 A0 is bucket=-2 counter=0 last=0 next=0\n"
             "1029 A ticks, due at 1029: A0 read state again\n"
             "1030 A0 unknown: done ok\n"
             "1040 A0 writes 7: read state\n"
             "1041 A0 is bucket=2 counter=0 last=0 next=0: put 7.2\n"
             "1042 A0 applied: ack 2, count rows of 2\n"
             "1043 A0 found 3: read state\n"
             "1044 A0 is bucket=2 counter=0 last=0 next=0: set bucket=3 last=1044\n"
             "1045 A0 not applied, bucket=3 counter=0 last=0 next=0\n"
             "1050 A ticks, due at 1050: A0 set bucket=3 last=1044 again\n"
             "1051 A0 unknown: done ok\n");
}

/* Writes a row of the key, answers the agent's actions, and returns whether the agent counted. */
static bool write_and_answer(struct bk_agent *agent, int64_t now_ns, uint64_t key)
{
    const struct bk_row row = {.time_ns = now_ns, .id = bk_murmur3_128_u64((uint64_t)now_ns).h2};
    struct bk_action action;
    uint32_t operation;
    bool has_counted = false;
    assert_int_equal(bk_agent_write(agent, now_ns, key, &row, &operation), BK_OK);
    while (bk_agent_next(agent, &action)) {
        struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
        has_counted = has_counted || action.kind == BK_ACT_COUNT_ROWS;
        if (action.kind != BK_ACT_ACK && action.kind != BK_ACT_DONE)
            assert_int_equal(bk_agent_outcome(agent, now_ns, operation, &outcome), BK_OK);
    }
    return has_counted;
}

/* Eight keys take turns of `stay` rows in a cache of four, so each turn begins without the knowledge of the
 * last one. Each row is then counted with a chance of 1 in 10: of 20000 rows fewer than 1700 or more than
 * 2300 are counted at most once in 10^9, and 28 times 10 rows pass without a count at 20000 / 10^12. The seed
 * is fixed. */
static void test_key_that_the_cache_evicts_is_counted_as_often(void **state)
{
    (void)state;
    static const enum bk_source sources[] = {BK_SOURCE_SCAN, BK_SOURCE_INCREMENTAL};
    for (uint64_t stay = 1; stay <= 7; stay += 3) {
        for (int i = 0; i < 2; i++) {
            struct trace trace = {.length = 0};
            struct bk_agent_config config = source_config(sources[i]);
            config.every_rows = 10;
            assert_int_equal(bk_strategy_count(1000000, &config.strategy), BK_OK);
            struct actor a = actor_of(&trace, "A", &config);
            uint64_t counts = 0, since[8] = {0};
            for (uint64_t row = 0; row < 20000; row++) {
                uint64_t key = row / stay % 8;
                bool has_counted = write_and_answer(a.agent, 1000 + (int64_t)row, key);
                counts += has_counted;
                since[key] = has_counted ? 0 : since[key] + 1;
                assert_true(since[key] < 280);
            }
            assert_in_range(counts, 1700, 2300);
            free(a.agent);
        }
    }
}

/* With counts by time, the first row of an evicted key is counted; rows of a key that stays are not. */
static void test_key_that_the_cache_evicts_is_counted_at_once_by_time(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_SCAN);
    config.every_rows = 0;
    config.every_ns = 1000000;
    struct actor a = actor_of(&trace, "A", &config);
    for (uint64_t key = 0; key < 4; key++)
        assert_false(write_and_answer(a.agent, 1000 + (int64_t)key, key));
    for (uint64_t row = 4; row < 100; row++) {
        int64_t now_ns = 1000 + 2 * (int64_t)row;
        assert_true(write_and_answer(a.agent, now_ns, row % 5));
        assert_false(write_and_answer(a.agent, now_ns + 1, row % 5));
    }
    free(a.agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_bucket_is_counted_and_not_raised),
        cmocka_unit_test(test_count_by_time_comes_with_a_row_late_enough),
        cmocka_unit_test(test_count_by_rows_or_time_whichever_comes_first),
        cmocka_unit_test(test_scan_raises_a_bucket_that_is_full_and_still_the_newest),
        cmocka_unit_test(test_scan_that_fails_leaves_the_bucket),
        cmocka_unit_test(test_key_that_the_cache_evicts_is_counted_as_often),
        cmocka_unit_test(test_key_that_the_cache_evicts_is_counted_at_once_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
