/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a lease takes numbers and hands them out one by one, and rows of a key wait while one of them takes
 * the next lease. Method: as in agent_number_test.c; leases have four numbers, partitions three rows. */
#include "agent_source_trace.h"

static void test_lease_is_handed_out_before_the_next_is_taken(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LEASE);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    applied(&a, 1020, 0);
    applied(&a, 1030, 0);
    for (int i = 0; i < 3; i++) {
        write_row(&a, 2000 + 10 * i, 7, false);
        applied(&a, 2005 + 10 * i, 0);
    }
    write_row(&a, 3000, 7, false);
    but_state(&a, 3010, 0, 6, 20, 0, 0);
    applied(&a, 3020, 0);
    applied(&a, 3030, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is absent: set bucket=1 counter=4 last=0 next=0 if absent\n"
             "1020 A0 applied: put 7.0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "2000 A0 writes 7: put 7.0\n"
             "2005 A0 applied: ack 0, done ok\n"
             "2010 A0 writes 7: put 7.0\n"
             "2015 A0 applied: ack 0, done ok\n"
             "2020 A0 writes 7: put 7.1\n"
             "2025 A0 applied: ack 1, done ok\n"
             "3000 A0 writes 7: set bucket=2 counter=8 last=0 next=0 if bucket=1 counter=4 last=0 next=0\n"
             "3010 A0 not applied, bucket=6 counter=20 last=0 next=0: set bucket=7 counter=24 last=0 next=0 "
             "if bucket=6 counter=20 last=0 next=0\n"
             "3020 A0 applied: put 7.6\n"
             "3030 A0 applied: ack 6, done ok\n");
}

static void test_lease_serves_the_rows_that_waited_for_it(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_LEASE);
    config.lease_rows = 2;
    config.operations = 5;
    struct actor a = actor_of(&trace, "A", &config);
    for (int i = 0; i < 4; i++)
        write_row(&a, 1000 + i, 7, false);
    write_row(&a, 1004, 8, false); /* of another key: it does not wait */
    is_absent(&a, 1010, 0);
    applied(&a, 1020, 0); /* 1 is served, 2 takes the next lease, 3 waits for it */
    applied(&a, 1030, 2);
    applied(&a, 1040, 3);
    applied(&a, 1041, 2);
    applied(&a, 1042, 1);
    applied(&a, 1043, 0);
    is_absent(&a, 1050, 4);
    applied(&a, 1051, 4);
    applied(&a, 1052, 4);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1001 A1 writes 7\n"
             "1002 A2 writes 7\n"
             "1003 A3 writes 7\n"
             "1004 A4 writes 8: read state serially\n"
             "1010 A0 is absent: set bucket=0 counter=2 last=0 next=0 if absent\n"
             "1020 A0 applied: put 7.0, A1 put 7.0, A2 set bucket=1 counter=4 last=0 next=0 if bucket=0 "
             "counter=2 last=0 next=0\n"
             "1030 A2 applied: put 7.0, A3 put 7.1\n"
             "1040 A3 applied: ack 1, done ok\n"
             "1041 A2 applied: ack 0, done ok\n"
             "1042 A1 applied: ack 0, done ok\n"
             "1043 A0 applied: ack 0, done ok\n"
             "1050 A4 is absent: set bucket=0 counter=2 last=0 next=0 if absent\n"
             "1051 A4 applied: put 8.0\n"
             "1052 A4 applied: ack 0, done ok\n");
}

static bool has_view(const struct actor *actor, int64_t now_ns, int64_t bucket)
{
    int64_t seen = -1;
    bool is_changing = true;
    bool is_known = bk_agent_view(actor->agent, now_ns, 7, &seen, &is_changing);
    return is_known ? seen == bucket && !is_changing : bucket == -1 && is_changing;
}

static void test_readers_see_a_lease_by_its_next_number(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_LEASE);
    config.lease_rows = 4; /* with three rows per bucket */
    struct actor a = actor_of(&trace, "A", &config);
    assert_true(has_view(&a, 900, -1));
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    assert_true(has_view(&a, 1010, -1));
    applied(&a, 1020, 0);
    for (int64_t number = 1; number < 4; number++) {
        assert_true(has_view(&a, 5000, number / 3)); /* whatever the age of the copy */
        write_row(&a, 5000, 7, false);
    }
    assert_true(has_view(&a, 5000, -1));
    free(a.agent);
}

/* The operation sleeps between its tries, and is still the one that sends the requests. */
static void test_refused_lease_request_passes_to_the_next_operation(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LEASE);
    write_row(&a, 1000, 7, false);
    refused(&a, 1010, 0);
    write_row(&a, 1011, 7, false);
    write_row(&a, 1012, 7, false);
    tick(&a, 1015);
    is_absent(&a, 1020, 0);
    refused(&a, 1030, 0);
    tick(&a, 1035);
    tick(&a, 1040);
    refused(&a, 1050, 0); /* 1 takes its turn, and uses the copy that was read */
    unknown(&a, 1060, 1);
    is_state(&a, 1070, 1, 1, 4, 0, 0);
    applied(&a, 1080, 1);
    applied(&a, 1090, 1);
    applied(&a, 1091, 2);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 refused\n"
             "1011 A1 writes 7\n"
             "1012 A2 writes 7\n"
             "1015 A ticks, due at 1015: A0 read state serially again\n"
             "1020 A0 is absent: set bucket=1 counter=4 last=0 next=0 if absent\n"
             "1030 A0 refused\n"
             "1035 A ticks, due at 1040\n"
             "1040 A ticks, due at 1040: A0 set bucket=1 counter=4 last=0 next=0 if absent again\n"
             "1050 A0 refused: done refused, A1 set bucket=1 counter=4 last=0 next=0 if absent\n"
             "1060 A1 unknown: read state serially\n"
             "1070 A1 is bucket=1 counter=4 last=0 next=0: set bucket=2 counter=8 last=0 next=0 if bucket=1 "
             "counter=4 last=0 next=0\n"
             "1080 A1 applied: put 7.1, A2 put 7.1\n"
             "1090 A1 applied: ack 1, done ok\n"
             "1091 A2 applied: ack 1, done ok\n");
}

static void test_lease_without_numbers_left_refuses_all_that_wait(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LEASE);
    for (int i = 0; i < 3; i++)
        write_row(&a, 1000 + i, 7, false);
    is_state(&a, 1010, 0, 0, INT64_MAX - 4, 0, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1001 A1 writes 7\n"
             "1002 A2 writes 7\n"
             "1010 A0 is bucket=0 counter=9223372036854775803 last=0 next=0: done refused, A1 done refused, "
             "A2 done refused\n");
}

/* The largest possible lease is taken once, and then no number remains. */
static void test_lease_of_all_numbers_is_taken_once(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_LEASE);
    config.lease_rows = INT64_MAX - 1;
    struct actor a = actor_of(&trace, "A", &config), b = actor_of(&trace, "B", &config);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    applied(&a, 1020, 0);
    applied(&a, 1030, 0);
    write_row(&a, 1040, 7, false);
    applied(&a, 1050, 0);
    write_row(&b, 1060, 7, false);
    is_state(&b, 1070, 0, (INT64_MAX - 2) / 3, INT64_MAX - 1, 0, 0);
    free(b.agent);
    ends(&a,
         "1000 A0 writes 7: read state serially\n"
         "1010 A0 is absent: set bucket=3074457345618258601 counter=9223372036854775806 last=0 next=0 if "
         "absent\n"
         "1020 A0 applied: put 7.0\n"
         "1030 A0 applied: ack 0, done ok\n"
         "1040 A0 writes 7: put 7.0\n"
         "1050 A0 applied: ack 0, done ok\n"
         "1060 B0 writes 7: read state serially\n"
         "1070 B0 is bucket=3074457345618258601 counter=9223372036854775806 last=0 next=0: done refused\n");
}

/* The numbers belong to the agent nevertheless: it knows them from its own request. */
static void test_lease_of_an_evicted_key_serves_the_waiting_rows(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LEASE);
    write_row(&a, 1000, 7, false);
    write_row(&a, 1001, 7, false);
    is_absent(&a, 1010, 0);
    fill_cache(&a, 1011);
    applied(&a, 1020, 0);
    applied(&a, 1030, 0);
    applied(&a, 1031, 1);
    applied(&a, 1050, write_row(&a, 1040, 7, false));
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1001 A1 writes 7\n"
             "1010 A0 is absent: set bucket=1 counter=4 last=0 next=0 if absent\n"
             "1020 A0 applied: put 7.0, A1 put 7.0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "1031 A1 applied: ack 0, done ok\n"
             "1040 A1 writes 7: put 7.0\n"
             "1050 A1 applied: ack 0, done ok\n");
}

/* The copy that the next operation would begin with is gone, so it reads the state. */
static void test_refused_lease_of_an_evicted_key_is_requested_again(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = source_config(BK_SOURCE_LEASE);
    config.retries = 0;
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 1000, 7, false);
    write_row(&a, 1001, 7, false);
    is_absent(&a, 1010, 0);
    fill_cache(&a, 1011);
    refused(&a, 1020, 0);
    is_state(&a, 1030, 1, 2, 8, 0, 0);
    applied(&a, 1040, 1);
    applied(&a, 1050, 1);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1001 A1 writes 7\n"
             "1010 A0 is absent: set bucket=1 counter=4 last=0 next=0 if absent\n"
             "1020 A0 refused: done refused, A1 read state serially\n"
             "1030 A1 is bucket=2 counter=8 last=0 next=0: set bucket=3 counter=12 last=0 next=0 if bucket=2 "
             "counter=8 last=0 next=0\n"
             "1040 A1 applied: put 7.2\n"
             "1050 A1 applied: ack 2, done ok\n");
}

static void test_lease_of_an_evicted_key_is_lost(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LEASE);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    applied(&a, 1020, 0);
    applied(&a, 1030, 0);
    fill_cache(&a, 1040);
    write_row(&a, 1050, 7, false);
    is_state(&a, 1060, 0, 1, 4, 0, 0);
    applied(&a, 1070, 0);
    applied(&a, 1080, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is absent: set bucket=1 counter=4 last=0 next=0 if absent\n"
             "1020 A0 applied: put 7.0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "1050 A0 writes 7: read state serially\n"
             "1060 A0 is bucket=1 counter=4 last=0 next=0: set bucket=2 counter=8 last=0 next=0 if bucket=1 "
             "counter=4 last=0 next=0\n"
             "1070 A0 applied: put 7.1\n"
             "1080 A0 applied: ack 1, done ok\n");
}

/* Neither an expired copy nor a state that a reader then learns takes numbers away. */
static void test_lease_outlives_the_cached_state(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = source_of(&trace, BK_SOURCE_LEASE);
    write_row(&a, 1000, 7, false);
    is_absent(&a, 1010, 0);
    applied(&a, 1020, 0);
    applied(&a, 1030, 0);
    read_rows(&a, 2000, 1, BK_PLAN_WALK);
    is_state(&a, 2010, 0, 9, 28, 0, 0);
    found_rows(&a, 2020, 0, 1);
    write_row(&a, 2030, 7, false);
    applied(&a, 2040, 0);
    ends(&a, "1000 A0 writes 7: read state serially\n"
             "1010 A0 is absent: set bucket=1 counter=4 last=0 next=0 if absent\n"
             "1020 A0 applied: put 7.0\n"
             "1030 A0 applied: ack 0, done ok\n"
             "2000 A0 reads 1: read state\n"
             "2010 A0 is bucket=9 counter=28 last=0 next=0: read 7.9..9 for 1\n"
             "2020 A0 found 1: done ok found 1 in 1\n"
             "2030 A0 writes 7: put 7.0\n"
             "2040 A0 applied: ack 0, done ok\n");
}

static void test_impossible_source_settings_are_refused(void **state)
{
    (void)state;
    struct bk_agent_config config = source_config((enum bk_source)(BK_SOURCE_MEMORY + 1));
    assert_int_equal(bk_agent_check(&config), BK_ERROR_SOURCE);
    config = source_config((enum bk_source) - 1);
    assert_int_equal(bk_agent_check(&config), BK_ERROR_SOURCE);
    for (enum bk_source source = BK_SOURCE_EXTERNAL; source <= BK_SOURCE_MEMORY; source++) {
        config = source_config(source);
        assert_int_equal(bk_agent_check(&config), BK_OK);
        config.coordination = BK_LOCKED; /* there is no roll to coordinate */
        assert_int_equal(bk_agent_check(&config), BK_ERROR_COORDINATION);
        config = source_config(source);
        assert_int_equal(bk_strategy_hash(4, &config.strategy), BK_OK);
        assert_int_equal(bk_agent_check(&config), source == BK_SOURCE_EXTERNAL ? BK_OK : BK_ERROR_SOURCE);
        bool counts = source == BK_SOURCE_INCREMENTAL || source == BK_SOURCE_SCAN;
        config = source_config(source);
        config.every_rows = 0;
        assert_int_equal(bk_agent_check(&config), counts ? BK_ERROR_SOURCE : BK_OK);
        config.every_ns = -1;
        assert_int_equal(bk_agent_check(&config), counts ? BK_ERROR_SOURCE : BK_OK);
        config.every_rows = 1;
        assert_int_equal(bk_agent_check(&config), counts ? BK_ERROR_SOURCE : BK_OK);
        config.every_rows = 0;
        config.every_ns = 1;
        assert_int_equal(bk_agent_check(&config), BK_OK);
        bool leases = source == BK_SOURCE_LEASE;
        config = source_config(source);
        config.lease_rows = 0;
        assert_int_equal(bk_agent_check(&config), leases ? BK_ERROR_SOURCE : BK_OK);
        assert_int_equal(bk_agent_size(&config) == 0, leases);
        config.lease_rows = INT64_MAX;
        assert_int_equal(bk_agent_check(&config), leases ? BK_ERROR_SOURCE : BK_OK);
        config.lease_rows = INT64_MAX - 1;
        assert_int_equal(bk_agent_check(&config), BK_OK);
    }
}

/* A bucket has three rows, from 2000 on two, and from 3000 on five. */
static struct actor changing(struct trace *trace, enum bk_source source)
{
    struct bk_agent_config config = source_config(source);
    struct bk_strategy two, five;
    bk_strategy_count(2, &two);
    bk_strategy_count(5, &five);
    assert_int_equal(bk_history_begin(&config.strategy, &config.history), BK_OK);
    assert_int_equal(bk_history_change(&config.history, 2000, &two), BK_OK);
    assert_int_equal(bk_history_change(&config.history, 3000, &five), BK_OK);
    return actor_of(trace, "A", &config);
}

static void write_one(const struct actor *actor, int64_t now_ns)
{
    write_row(actor, now_ns, 7, false);
    applied(actor, now_ns + 1, 0);
    applied(actor, now_ns + 2, 0);
}

/* The state stores the number with which the newest bucket begins, once that number is not a multiple of
 * three: bucket 1 ends with the two rows that it has, and bucket 3 is filled up to five. */
static void test_lwt_fills_buckets_by_the_time_of_the_row_that_asks(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = changing(&trace, BK_SOURCE_LWT);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1001, 0, 1, 5, 0, 0);
    applied(&a, 1002, 0);
    applied(&a, 1003, 0);
    trace.length = 0;
    for (int64_t now_ns = 2000; now_ns < 2003; now_ns++)
        write_one(&a, now_ns);
    write_one(&a, 3000);
    write_one(&a, 1990); /* late: by the settings of its time bucket 3 has room too */
    ends(&a, "2000 A0 writes 7: set bucket=2 counter=7 last=0 next=0 if bucket=1 counter=6 last=0 next=0\n"
             "2001 A0 applied: put 7.2\n"
             "2002 A0 applied: ack 2, done ok\n"
             "2001 A0 writes 7: set bucket=2 counter=8 last=0 next=0 if bucket=2 counter=7 last=0 next=0\n"
             "2002 A0 applied: put 7.2\n"
             "2003 A0 applied: ack 2, done ok\n"
             "2002 A0 writes 7: set bucket=3 counter=9 last=8 next=0 if bucket=2 counter=8 last=0 next=0\n"
             "2003 A0 applied: put 7.3\n"
             "2004 A0 applied: ack 3, done ok\n"
             "3000 A0 writes 7: set bucket=3 counter=10 last=8 next=0 if bucket=3 counter=9 last=8 next=0\n"
             "3001 A0 applied: put 7.3\n"
             "3002 A0 applied: ack 3, done ok\n"
             "1990 A0 writes 7: set bucket=3 counter=11 last=8 next=0 if bucket=3 counter=10 last=8 next=0\n"
             "1991 A0 applied: put 7.3\n"
             "1992 A0 applied: ack 3, done ok\n");
}

/* All numbers of a lease fill buckets by the settings under which it was taken, as the state does, whichever
 * row gets the number. The next lease uses other settings. New settings that come in between do not change a
 * request under way. */
static void test_lease_fills_buckets_by_the_row_that_took_it(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = changing(&trace, BK_SOURCE_LEASE);
    struct bk_strategy nine;
    struct bk_history forgetful;
    bk_strategy_count(9, &nine);
    assert_int_equal(bk_history_begin(&nine, &forgetful), BK_OK);
    write_row(&a, 1999, 7, false);
    is_state(&a, 2000, 0, 0, 2, 0, 0);
    applied(&a, 2001, 0);
    applied(&a, 2002, 0);
    for (int64_t now_ns = 2010; now_ns < 2013; now_ns++) {
        write_row(&a, now_ns, 7, false);
        applied(&a, now_ns + 1, 0);
    }
    write_row(&a, 2020, 7, false);
    assert_int_equal(bk_agent_change(a.agent, &forgetful), BK_OK);
    applied(&a, 2021, 0);
    applied(&a, 2022, 0);
    ends(&a, "1999 A0 writes 7: read state serially\n"
             "2000 A0 is bucket=0 counter=2 last=0 next=0: set bucket=1 counter=6 last=0 next=0 if bucket=0 "
             "counter=2 last=0 next=0\n"
             "2001 A0 applied: put 7.0\n"
             "2002 A0 applied: ack 0, done ok\n"
             "2010 A0 writes 7: put 7.1\n"
             "2011 A0 applied: ack 1, done ok\n"
             "2011 A0 writes 7: put 7.1\n"
             "2012 A0 applied: ack 1, done ok\n"
             "2012 A0 writes 7: put 7.1\n"
             "2013 A0 applied: ack 1, done ok\n"
             "2020 A0 writes 7: set bucket=3 counter=10 last=8 next=0 if bucket=1 counter=6 last=0 next=0\n"
             "2021 A0 applied: put 7.2\n"
             "2022 A0 applied: ack 2, done ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lease_is_handed_out_before_the_next_is_taken),
        cmocka_unit_test(test_lease_serves_the_rows_that_waited_for_it),
        cmocka_unit_test(test_readers_see_a_lease_by_its_next_number),
        cmocka_unit_test(test_refused_lease_request_passes_to_the_next_operation),
        cmocka_unit_test(test_lease_without_numbers_left_refuses_all_that_wait),
        cmocka_unit_test(test_lease_of_all_numbers_is_taken_once),
        cmocka_unit_test(test_lease_of_an_evicted_key_serves_the_waiting_rows),
        cmocka_unit_test(test_refused_lease_of_an_evicted_key_is_requested_again),
        cmocka_unit_test(test_lease_of_an_evicted_key_is_lost),
        cmocka_unit_test(test_lease_outlives_the_cached_state),
        cmocka_unit_test(test_lwt_fills_buckets_by_the_time_of_the_row_that_asks),
        cmocka_unit_test(test_lease_fills_buckets_by_the_row_that_took_it),
        cmocka_unit_test(test_impossible_source_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
