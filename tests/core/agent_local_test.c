/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a single writer counts its rows in memory, and reads a bucket's rows when it does not know their
 * number: after a start, when the state names another bucket, or when the cache had no room. Method: one
 * situation per test; the host's events are given by hand, and the whole trace of events and actions is
 * asserted as text (agent_trace.h). Partitions have three rows. */
#include "agent_source_trace.h"

/* A key whose newest bucket has this many rows, which the agent has counted. */
static void knows_rows(const struct actor *actor, int64_t now_ns, int64_t bucket, uint64_t rows)
{
    write_row(actor, now_ns, 7, false);
    is_state(actor, now_ns, 0, bucket, 0, 600, 0);
    found_rows(actor, now_ns, 0, rows);
    applied(actor, now_ns, 0);
    actor->trace->length = 0;
    actor->trace->text[0] = '\0';
}

static void test_memory_counts_a_new_key_once_and_then_its_own_rows(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    found_rows(&a, 1020, 0, 0);
    applied(&a, 1030, 0);
    put_one(&a, 1040);
    put_one(&a, 1050);
    write_row(&a, 1060, 7, false);
    applied(&a, 1065, 0);
    applied(&a, 1070, 0);
    put_one(&a, 1080);
    put_one(&a, 1090);
    write_row(&a, 1100, 7, false);
    applied(&a, 1105, 0);
    applied(&a, 1110, 0);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1010 A0 is absent: count rows of 0\n"
             "1020 A0 found 0: put 7.0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "1040 A0 writes 7: put 7.0\n"
             "1045 A0 applied: ack 0, done ok\n"
             "1050 A0 writes 7: put 7.0\n"
             "1055 A0 applied: ack 0, done ok\n"
             "1060 A0 writes 7: set bucket=1 counter=0 last=1060 next=0\n"
             "1065 A0 applied: put 7.1\n"
             "1070 A0 applied: ack 1, done ok\n"
             "1080 A0 writes 7: put 7.1\n"
             "1085 A0 applied: ack 1, done ok\n"
             "1090 A0 writes 7: put 7.1\n"
             "1095 A0 applied: ack 1, done ok\n"
             "1100 A0 writes 7: set bucket=2 last=1100\n"
             "1105 A0 applied: put 7.2\n"
             "1110 A0 applied: ack 2, done ok\n");
}

/* The writer that filled the bucket may have raised it and put rows into the next bucket, and so on. */
static void test_memory_that_starts_on_a_full_bucket_counts_the_next_one_too(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1010, 0, 5, 0, 600, 0);
    found_rows(&a, 1020, 0, 3);
    applied(&a, 1030, 0);
    found_rows(&a, 1040, 0, UINT64_MAX);
    applied(&a, 1050, 0);
    found_rows(&a, 1060, 0, 0);
    applied(&a, 1070, 0);
    put_one(&a, 1075);
    put_one(&a, 1080);
    write_row(&a, 1090, 7, false);
    applied(&a, 1091, 0); /* bucket 7 was counted as empty, so bucket 8 is empty too */
    applied(&a, 1092, 0);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1010 A0 is bucket=5 counter=0 last=600 next=0: count rows of 5\n"
             "1020 A0 found 3: set bucket=6 last=1020\n"
             "1030 A0 applied: count rows of 6\n"
             "1040 A0 found 18446744073709551615: set bucket=7 last=1040\n"
             "1050 A0 applied: count rows of 7\n"
             "1060 A0 found 0: put 7.7\n"
             "1070 A0 applied: ack 7, done ok\n"
             "1075 A0 writes 7: put 7.7\n"
             "1080 A0 applied: ack 7, done ok\n"
             "1080 A0 writes 7: put 7.7\n"
             "1085 A0 applied: ack 7, done ok\n"
             "1090 A0 writes 7: set bucket=8 last=1090\n"
             "1091 A0 applied: put 7.8\n"
             "1092 A0 applied: ack 8, done ok\n");
}

/* The state may be older than the rows: the rows of the next bucket are counted before it gets more. */
static void test_memory_that_starts_on_rows_of_others_counts_the_next_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    knows_rows(&a, 1000, 5, 2);
    write_row(&a, 1010, 7, false);
    applied(&a, 1020, 0);
    found_rows(&a, 1030, 0, 1);
    applied(&a, 1040, 0);
    ends(&a, "1010 A0 writes 7: set bucket=6 last=1010\n"
             "1020 A0 applied: count rows of 6\n"
             "1030 A0 found 1: put 7.6\n"
             "1040 A0 applied: ack 6, done ok\n");
}

static void test_memory_outlives_the_cached_state_of_the_same_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    knows_rows(&a, 1000, 5, 0);
    write_row(&a, 2000, 7, false);
    is_state(&a, 2500, 0, 5, 0, 600,
             0); /* an answer that is older than the time to live still serves its row */
    applied(&a, 2510, 0);
    write_row(&a, 3000, 7, false);
    is_state(&a, 3010, 0, 4, 0, 600, 0);
    found_rows(&a, 3500, 0, 1);
    applied(&a, 3510, 0);
    write_row(&a, 4000, 7, false);
    is_state(&a, 4010, 0, 5, 0, 600, 0);
    found_rows(&a, 4500, 0, 3);
    applied(&a, 4510, 0);
    found_rows(&a, 4700, 0, 0);
    applied(&a, 4710, 0);
    ends(&a, "2000 A0 writes 7: read state\n"
             "2500 A0 is bucket=5 counter=0 last=600 next=0: put 7.5\n"
             "2510 A0 applied: ack 5, done ok\n"
             "3000 A0 writes 7: read state\n"
             "3010 A0 is bucket=4 counter=0 last=600 next=0: count rows of 4\n"
             "3500 A0 found 1: put 7.4\n"
             "3510 A0 applied: ack 4, done ok\n"
             "4000 A0 writes 7: read state\n"
             "4010 A0 is bucket=5 counter=0 last=600 next=0: count rows of 5\n"
             "4500 A0 found 3: set bucket=6 last=4500\n"
             "4510 A0 applied: count rows of 6\n"
             "4700 A0 found 0: put 7.6\n"
             "4710 A0 applied: ack 6, done ok\n");
}

/* The rows in memory belong to the bucket in which they were counted, not to the bucket that a reader
 * learned. */
static void test_memory_counts_again_when_a_reader_learned_another_bucket(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    knows_rows(&a, 1000, 5, 0);
    read_rows(&a, 2000, 1, BK_PLAN_WALK);
    is_state(&a, 2010, 0, 8, 0, 1900, 0);
    found_rows(&a, 2020, 0, 1);
    write_row(&a, 2030, 7, false);
    uint32_t reader = read_rows(&a, 2110, 1, BK_PLAN_WALK);
    is_state(&a, 2111, reader, 9, 0, 2100, 0);
    found_rows(&a, 2112, reader, 1);
    found_rows(&a, 2120, 0, 2); /* the count of bucket 8, which has been left meanwhile */
    found_rows(&a, 2130, 0, 1);
    applied(&a, 2140, 0);
    ends(&a, "2000 A0 reads 1: read state\n"
             "2010 A0 is bucket=8 counter=0 last=1900 next=0: read 7.8..8 for 1\n"
             "2020 A0 found 1: done ok found 1 in 1\n"
             "2030 A0 writes 7: count rows of 8\n"
             "2110 A1 reads 1: read state\n"
             "2111 A1 is bucket=9 counter=0 last=2100 next=0: read 7.9..9 for 1\n"
             "2112 A1 found 1: done ok found 1 in 1\n"
             "2120 A0 found 2: count rows of 9\n"
             "2130 A0 found 1: put 7.9\n"
             "2140 A0 applied: ack 9, done ok\n");
}

static void test_memory_rows_wait_for_the_operation_that_counts(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    for (int i = 0; i < 4; i++)
        write_row(&a, 1000 + i, i == 3 ? 8 : 7, false);
    is_absent(&a, 1010, 0);
    found_rows(&a, 1020, 0, 1); /* room for two rows; the third raises the bucket */
    applied(&a, 1030, 0);
    applied(&a, 1031, 1);
    uint32_t more = write_row(&a, 1032, 7, false);
    applied(&a, 1040, 2);
    found_rows(&a, 1050, 2, 0);
    applied(&a, 1060, more);
    applied(&a, 1061, 2);
    is_absent(&a, 1070, 3);
    found_rows(&a, 1071, 3, 0);
    applied(&a, 1072, 3);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1001 A1 writes 7\n"
             "1002 A2 writes 7\n"
             "1003 A3 writes 8: read state\n"
             "1010 A0 is absent: count rows of 0\n"
             "1020 A0 found 1: put 7.0, A1 put 7.0, A2 set bucket=1 counter=0 last=1020 next=0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "1031 A1 applied: ack 0, done ok\n"
             "1032 A1 writes 7\n"
             "1040 A2 applied: count rows of 1\n"
             "1050 A2 found 0: put 7.1, A1 put 7.1\n"
             "1060 A1 applied: ack 1, done ok\n"
             "1061 A2 applied: ack 1, done ok\n"
             "1070 A3 is absent: count rows of 0\n"
             "1071 A3 found 0: put 8.0\n"
             "1072 A3 applied: ack 0, done ok\n");
}

/* The reader learns the state that the rows wait for, while the operation that sent the request has no
 * answer. */
static void test_memory_serves_waiting_rows_after_a_read(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    int64_t bucket;
    bool is_changing;
    knows_rows(&a, 1000, 5, 0);
    assert_true(bk_agent_view(a.agent, 1010, 7, &bucket, &is_changing) && bucket == 5 && !is_changing);
    assert_false(bk_agent_view(a.agent, 2000, 7, &bucket, &is_changing)); /* the copy has expired */
    write_row(&a, 2000, 7, false);
    write_row(&a, 2001, 7, false);
    uint32_t reader = read_rows(&a, 2002, 1, BK_PLAN_WALK);
    is_state(&a, 2010, reader, 5, 0, 900, 0);
    found_rows(&a, 2011, reader, 1);
    applied(&a, 2012, 1);
    is_state(&a, 2020, 0, 5, 0, 900, 0);
    applied(&a, 2021, 0);
    ends(&a, "2000 A0 writes 7: read state\n"
             "2001 A1 writes 7\n"
             "2002 A2 reads 1: read state\n"
             "2010 A2 is bucket=5 counter=0 last=900 next=0: read 7.5..5 for 1, A1 put 7.5\n"
             "2011 A2 found 1: done ok found 1 in 1\n"
             "2012 A1 applied: ack 5, done ok\n"
             "2020 A0 is bucket=5 counter=0 last=900 next=0: put 7.5\n"
             "2021 A0 applied: ack 5, done ok\n");
}

/* Of the rows that waited, the first one that needs a request sends it; later rows that need none continue.
 */
static void test_memory_without_a_cache_requests_one_row_after_the_other(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_MEMORY);
    config.cache_ttl_ns = 0;
    struct actor a = actor_of(&trace, "A", &config);
    for (int i = 0; i < 3; i++)
        write_row(&a, 1000 + i, 7, false);
    is_absent(&a, 1010, 0);
    found_rows(&a, 1020, 0, 2);
    is_absent(&a, 1030, 1);
    applied(&a, 1040, 1);
    found_rows(&a, 1050, 1, 0);
    is_state(&a, 1060, 2, 1, 0, 1030, 0);
    for (uint32_t i = 0; i < 3; i++)
        applied(&a, 1070 + i, i);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1001 A1 writes 7\n"
             "1002 A2 writes 7\n"
             "1010 A0 is absent: count rows of 0\n"
             "1020 A0 found 2: put 7.0, A1 read state\n"
             "1030 A1 is absent: set bucket=1 counter=0 last=1030 next=0\n"
             "1040 A1 applied: count rows of 1\n"
             "1050 A1 found 0: put 7.1, A2 read state\n"
             "1060 A2 is bucket=1 counter=0 last=1030 next=0: put 7.1\n"
             "1070 A0 applied: ack 0, done ok\n"
             "1071 A1 applied: ack 1, done ok\n"
             "1072 A2 applied: ack 1, done ok\n");
}

static void test_refused_memory_request_passes_to_the_next_operation(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_MEMORY);
    config.retries = 1;
    struct actor a = actor_of(&trace, "A", &config);
    for (int i = 0; i < 4; i++)
        write_row(&a, 1000 + i, 7, false);
    refused(&a, 1010, 0);
    tick(&a, 1015);
    is_state(&a, 1020, 0, -1, 0, 0, 0);
    is_state(&a, 1030, 1, 5, 0, 600, 0);
    unknown(&a, 1040, 1);
    refused(&a, 1050, 1); /* 2 knows the state, and counts */
    found_rows(&a, 1060, 2, 3);
    but_state(&a, 1070, 2, 5, 0, 600, 0); /* the action had no condition: treated as a refusal */
    tick(&a, 1075);
    unknown(&a, 1080, 2); /* 3 knows the count too, and raises the bucket */
    applied(&a, 1090, 3);
    found_rows(&a, 1100, 3, 0);
    applied(&a, 1110, 3);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1001 A1 writes 7\n"
             "1002 A2 writes 7\n"
             "1003 A3 writes 7\n"
             "1010 A0 refused\n"
             "1015 A ticks, due at 1015: A0 read state again\n"
             "1020 A0 is bucket=-1 counter=0 last=0 next=0: done refused, A1 read state\n"
             "1030 A1 is bucket=5 counter=0 last=600 next=0: count rows of 5\n"
             "1040 A1 unknown: count rows of 5 again\n"
             "1050 A1 refused: done refused, A2 count rows of 5\n"
             "1060 A2 found 3: set bucket=6 last=1060\n"
             "1070 A2 not applied, bucket=5 counter=0 last=600 next=0\n"
             "1075 A ticks, due at 1075: A2 set bucket=6 last=1060 again\n"
             "1080 A2 unknown: done refused, A3 set bucket=6 last=1080\n"
             "1090 A3 applied: count rows of 6\n"
             "1100 A3 found 0: put 7.6\n"
             "1110 A3 applied: ack 6, done ok\n");
}

/* A state that another operation requested may have expired: the operation reads the state again and uses the
 * local count. */
static void test_memory_count_longer_than_the_cache_ttl_is_repeated(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_MEMORY);
    config.retries = 0;
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 1000, 7, false);
    write_row(&a, 1001, 7, false);
    is_state(&a, 1010, 0, 5, 0, 600, 0);
    refused(&a, 1020, 0);
    found_rows(&a, 1200, 1, 2);
    is_state(&a, 1210, 1, 5, 0, 600, 0);
    applied(&a, 1220, 1);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1001 A1 writes 7\n"
             "1010 A0 is bucket=5 counter=0 last=600 next=0: count rows of 5\n"
             "1020 A0 refused: done refused, A1 count rows of 5\n"
             "1200 A1 found 2: read state\n"
             "1210 A1 is bucket=5 counter=0 last=600 next=0: put 7.5\n"
             "1220 A1 applied: ack 5, done ok\n");
}

/* Rows are counted, or a bucket is raised, for a key that has meanwhile been evicted. */
static void test_memory_of_an_evicted_key_is_counted_again(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1010, 0, 5, 0, 600, 0);
    fill_cache(&a, 1011);
    found_rows(&a, 1020, 0, 0);
    is_state(&a, 1030, 0, 5, 0, 600, 0);
    found_rows(&a, 1040, 0, 3);
    fill_cache(&a, 1041);
    applied(&a, 1050, 0);
    found_rows(&a, 1060, 0, 1);
    applied(&a, 1070, 0);
    fill_cache(&a, 1071);
    write_row(&a, 1080, 7, false);
    is_state(&a, 1085, 0, 6, 0, 600, 0);
    found_rows(&a, 1090, 0, 2);
    applied(&a, 1095, 0);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1010 A0 is bucket=5 counter=0 last=600 next=0: count rows of 5\n"
             "1020 A0 found 0: read state\n"
             "1030 A0 is bucket=5 counter=0 last=600 next=0: count rows of 5\n"
             "1040 A0 found 3: set bucket=6 last=1040\n"
             "1050 A0 applied: count rows of 6\n"
             "1060 A0 found 1: put 7.6\n"
             "1070 A0 applied: ack 6, done ok\n"
             "1080 A0 writes 7: read state\n"
             "1085 A0 is bucket=6 counter=0 last=600 next=0: count rows of 6\n"
             "1090 A0 found 2: put 7.6\n"
             "1095 A0 applied: ack 6, done ok\n");
}

static void test_memory_of_a_repeatedly_evicted_key_refuses_the_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    write_row(&a, 1000, 7, false);
    write_row(&a, 1000, 7, false);
    for (int64_t i = 1; i < 64; i++) {
        is_absent(&a, 1000 + 10 * i, 0);
        fill_cache(&a, 1001 + 10 * i);
        found_rows(&a, 1002 + 10 * i, 0, 0);
    }
    is_absent(&a, 1640, 0);
    fill_cache(&a, 1641);
    trace.length = 0;
    found_rows(&a, 1642, 0, 0);
    is_absent(&a, 1650, 1);
    found_rows(&a, 1651, 1, 0);
    applied(&a, 1652, 1);
    ends(&a, "1642 A0 found 0: done refused, A1 read state\n"
             "1650 A1 is absent: count rows of 0\n"
             "1651 A1 found 0: put 7.0\n"
             "1652 A1 applied: ack 0, done ok\n");
}

static void test_memory_last_bucket_full_refuses_rows(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    knows_rows(&a, 1000, INT64_MAX - 1, 2);
    write_row(&a, 1010, 7, false);
    write_row(&a, 1020, 7, false);
    ends(&a, "1010 A0 writes 7: done refused\n"
             "1020 A0 writes 7: done refused\n");
}

/* The host reports every bucket as full. */
static void test_memory_with_only_full_buckets_refuses_the_row(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_MEMORY);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1000, 0);
    for (int raised = 0; raised < 64; raised++) {
        found_rows(&a, 1000, 0, 1000);
        applied(&a, 1000, 0);
    }
    assert_null(strstr(trace.text, "done"));
    found_rows(&a, 1000, 0, 1000);
    assert_non_null(strstr(trace.text, "found 1000: done refused\n"));
    /* The next row continues from there. */
    write_row(&a, 1001, 7, false);
    assert_non_null(strstr(trace.text, "1001 A0 writes 7: set bucket=65 "));
    free(a.agent);
}

/* An agent has no pointers into itself, so it can be moved. */
static void test_memory_moved_during_a_request_continues(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_MEMORY);
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 1000, 7, false);
    write_row(&a, 1001, 7, false);
    is_absent(&a, 1010, 0);
    a.agent = move_agent(a.agent, bk_agent_size(&config));
    found_rows(&a, 1020, 0, 0);
    a.agent = move_agent(a.agent, bk_agent_size(&config));
    applied(&a, 1030, 0);
    put_one(&a, 1040);
    applied(&a, 1050, 1);
    a.agent = move_agent(a.agent, bk_agent_size(&config));
    uint32_t raiser = write_row(&a, 1060, 7, false);
    applied(&a, 1061, raiser);
    applied(&a, 1062, raiser);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1001 A1 writes 7\n"
             "1010 A0 is absent: count rows of 0\n"
             "1020 A0 found 0: put 7.0, A1 put 7.0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "1040 A0 writes 7: put 7.0\n"
             "1045 A0 applied: ack 0, done ok\n"
             "1050 A1 applied: ack 0, done ok\n"
             "1060 A1 writes 7: set bucket=1 counter=0 last=1060 next=0\n"
             "1061 A1 applied: put 7.1\n"
             "1062 A1 applied: ack 1, done ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_counts_a_new_key_once_and_then_its_own_rows),
        cmocka_unit_test(test_memory_that_starts_on_a_full_bucket_counts_the_next_one_too),
        cmocka_unit_test(test_memory_that_starts_on_rows_of_others_counts_the_next_bucket),
        cmocka_unit_test(test_memory_outlives_the_cached_state_of_the_same_bucket),
        cmocka_unit_test(test_memory_counts_again_when_a_reader_learned_another_bucket),
        cmocka_unit_test(test_memory_rows_wait_for_the_operation_that_counts),
        cmocka_unit_test(test_memory_serves_waiting_rows_after_a_read),
        cmocka_unit_test(test_memory_without_a_cache_requests_one_row_after_the_other),
        cmocka_unit_test(test_refused_memory_request_passes_to_the_next_operation),
        cmocka_unit_test(test_memory_count_longer_than_the_cache_ttl_is_repeated),
        cmocka_unit_test(test_memory_of_an_evicted_key_is_counted_again),
        cmocka_unit_test(test_memory_of_a_repeatedly_evicted_key_refuses_the_row),
        cmocka_unit_test(test_memory_last_bucket_full_refuses_rows),
        cmocka_unit_test(test_memory_with_only_full_buckets_refuses_the_row),
        cmocka_unit_test(test_memory_moved_during_a_request_continues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
