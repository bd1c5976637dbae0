/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: rolls under a lock row: which agent takes the lock, which agent waits, and what a dead holder and a
 * timeout do.
 * Method: one situation per test; the host's events are given by hand, and the trace of events and actions
 * is asserted as text (agent_trace.h). */
#include "agent_trace.h"

static void test_locked_roll_locks_reads_rolls_and_releases(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_RMW);
    knows(&a, 980, 3, 1, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    is_state(&a, 1004, 0, 3, 2, 400, 0);
    applied(&a, 1006, 0);
    applied(&a, 1008, 0);
    is_state(&a, 1010, 0, 3, 3, 400, 0);
    applied(&a, 1012, 0);
    applied(&a, 1014, 0);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, read state\n"
             "1004 A0 is bucket=3 counter=2 last=400 next=0: set counter=3\n"
             "1006 A0 applied: lock owner=11 until=2006 if absent\n"
             "1008 A0 applied: read state\n"
             "1010 A0 is bucket=3 counter=3 last=400 next=0: set bucket=4 counter=0 last=1010\n"
             "1012 A0 applied: lock owner=0 until=0 if owner=11 until=2006\n"
             "1014 A0 applied: done ok fired counted\n");
}

static void test_locked_column_rolls_under_the_lock_only(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_COLUMN);
    write_row(&a, 1000, 7, true);
    is_absent(&a, 1001, 0);
    applied(&a, 1002, 0);
    is_absent(&a, 1004, 0);
    applied(&a, 1006, 0);
    is_total(&a, 1008, 0, 3);
    applied(&a, 1010, 0);
    is_absent(&a, 1012, 0);
    applied(&a, 1014, 0);
    applied(&a, 1016, 0);
    ends(&a, "1000 A0 fires 7: read state\n"
             "1001 A0 is absent: put 7.0\n"
             "1002 A0 applied: ack 0, read state\n"
             "1004 A0 is absent: add 1\n"
             "1006 A0 applied: read counter\n"
             "1008 A0 is 3: lock owner=11 until=2008 if absent\n"
             "1010 A0 applied: read state\n"
             "1012 A0 is absent: set bucket=1 counter=3 last=1012 next=0\n"
             "1014 A0 applied: lock owner=0 until=0 if owner=11 until=2008\n"
             "1016 A0 applied: done ok fired counted\n");
}

/* B holds the lock. A waits twice without touching the lock, finds it released and takes it; by then B has
 * rolled. */
static void test_locked_by_another_is_waited_for(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_LWT);
    knows(&a, 980, 3, 2, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    applied(&a, 1004, 0);
    but_lock(&a, 1006, 0, 12, 1990);
    tick(&a, bk_agent_deadline(a.agent) - 1);
    tick(&a, bk_agent_deadline(a.agent));
    but_lock(&a, 1100, 0, 12, 1990);
    tick(&a, bk_agent_deadline(a.agent));
    but_lock(&a, 1200, 0, 0, 0);
    but_lock(&a, 1202, 0, 12, 2201); /* B was faster */
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, set counter=3 if bucket=3 counter=2 last=400 next=0\n"
             "1004 A0 applied: lock owner=11 until=2004 if absent\n"
             "1006 A0 not applied, owner=12 until=1990\n"
             "1068 A ticks, due at 1069\n"
             "1069 A ticks, due at 1069: A0 lock owner=11 until=2069 if absent\n"
             "1100 A0 not applied, owner=12 until=1990\n"
             "1147 A ticks, due at 1147: A0 lock owner=11 until=2147 if absent\n"
             "1200 A0 not applied, owner=0 until=0: lock owner=11 until=2200 if owner=0 until=0\n"
             "1202 A0 not applied, owner=12 until=2201: done ok fired counted\n");
}

static void test_locked_by_another_that_has_rolled_is_released_untouched(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_LWT);
    knows(&a, 980, 3, 2, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    applied(&a, 1004, 0);
    but_lock(&a, 1006, 0, 0, 0);
    applied(&a, 1008, 0);
    is_state(&a, 1010, 0, 4, 0, 1007, 0);
    applied(&a, 1012, 0);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, set counter=3 if bucket=3 counter=2 last=400 next=0\n"
             "1004 A0 applied: lock owner=11 until=2004 if absent\n"
             "1006 A0 not applied, owner=0 until=0: lock owner=11 until=2006 if owner=0 until=0\n"
             "1008 A0 applied: read state serially\n"
             "1010 A0 is bucket=4 counter=0 last=1007 next=0: lock owner=0 until=0 if owner=11 until=2006\n"
             "1012 A0 applied: done ok fired counted\n");
}

/* The holder is dead: its lock is still valid at first and expires during the wait. Another lock vanishes. */
static void test_lock_of_a_dead_holder_is_taken_over_once_expired(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_LWT);
    knows(&a, 980, 3, 2, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    applied(&a, 1004, 0);
    but_lock(&a, 1006, 0, 12, 1008);
    tick(&a, bk_agent_deadline(a.agent));
    tell_columns(&a, 1100, 0, BK_OUTCOME_NOT_APPLIED, lock_names, 0, (int64_t[4]){0});
    but_lock(&a, 1102, 0, 13, 1102);
    applied(&a, 1104, 0);
    is_state(&a, 1106, 0, 3, 4, 400, 0);
    but_state(&a, 1108, 0, 3, 5, 400,
              /* Another row was counted: the roll is still due, and the lock is still held. */
              0);
    applied(&a, 1110, 0);
    but_lock(&a, 1112, 0, 13, 2000);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, set counter=3 if bucket=3 counter=2 last=400 next=0\n"
             "1004 A0 applied: lock owner=11 until=2004 if absent\n"
             "1006 A0 not applied, owner=12 until=1008\n"
             "1069 A ticks, due at 1069: A0 lock owner=11 until=2069 if owner=12 until=1008\n"
             "1100 A0 not applied, absent: lock owner=11 until=2100 if absent\n"
             "1102 A0 not applied, owner=13 until=1102: lock owner=11 until=2102 if owner=13 until=1102\n"
             "1104 A0 applied: read state serially\n"
             "1106 A0 is bucket=3 counter=4 last=400 next=0: set bucket=4 counter=0 last=1106 if bucket=3 "
             "counter=4 last=400 next=0\n"
             "1108 A0 not applied, bucket=3 counter=5 last=400 next=0: set bucket=4 counter=0 last=1108 if "
             "bucket=3 counter=5 last=400 next=0\n"
             "1110 A0 applied: lock owner=0 until=0 if owner=11 until=2102\n"
             "1112 A0 not applied, owner=13 until=2000: done ok fired counted\n");
}

static void test_lock_of_unknown_outcome_is_found_to_be_held(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_LWT);
    knows(&a, 980, 3, 2, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    applied(&a, 1004, 0);
    unknown(&a, 1500, 0);
    but_lock(&a, 1502, 0, 11, 2004); /* its own lock: the first try had taken effect */
    is_state(&a, 1504, 0, 3, 3, 400, 0);
    unknown(&a, 1900, 0);
    but_state(&a, 1902, 0, 4, 0, 1504, 0); /* the first try of the roll too */
    unknown(&a, 1950, 0);
    unknown(&a, 1960, 0);
    unknown(&a, 1970, 0);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, set counter=3 if bucket=3 counter=2 last=400 next=0\n"
             "1004 A0 applied: lock owner=11 until=2004 if absent\n"
             "1500 A0 unknown: lock owner=11 until=2004 if absent again\n"
             "1502 A0 not applied, owner=11 until=2004: read state serially\n"
             "1504 A0 is bucket=3 counter=3 last=400 next=0: set bucket=4 counter=0 last=1504 if bucket=3 "
             "counter=3 last=400 next=0\n"
             "1900 A0 unknown: set bucket=4 counter=0 last=1504 if bucket=3 counter=3 last=400 next=0 again\n"
             "1902 A0 not applied, bucket=4 counter=0 last=1504 next=0: lock owner=0 until=0 if owner=11 "
             "until=2004\n"
             "1950 A0 unknown: lock owner=0 until=0 if owner=11 until=2004 again\n"
             "1960 A0 unknown: lock owner=0 until=0 if owner=11 until=2004 again\n"
             "1970 A0 unknown: done ok fired counted\n");
}

/* Of two rows that find the count full together, only one requests the lock, because the lock could not
 * distinguish them. */
static void test_lock_is_requested_by_one_operation_of_a_key(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_LOCKED, BK_COUNTER_COLUMN);
    config.operations = 3;
    struct actor a = actor_of(&trace, "A", &config);
    knows(&a, 980, 3, 40, 400, 0);
    uint32_t first = write_row(&a, 1000, 7, true), second = write_row(&a, 1000, 7, true);
    uint32_t other = write_row(&a, 1000, 8, true);
    uint32_t all[] = {first, second, other};
    is_state(&a, 1001, other, 3, 40, 400, 0);
    for (size_t i = 0; i < 3; i++)
        applied(&a, 1002, all[i]);
    for (size_t i = 0; i < 3; i++)
        is_state(&a, 1003, all[i], 3, 40, 400, 0);
    for (size_t i = 0; i < 3; i++)
        applied(&a, 1004, all[i]);
    for (size_t i = 0; i < 3; i++)
        is_total(&a, 1005, all[i], 44);
    for (int i = 0; i < 3; i++) {
        refused(&a, 1100 + 100 * i, first);
        refused(&a, 1100 + 100 * i, other);
        tick(&a, 1150 + 100 * i);
    }
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1000 A1 fires 7: put 7.3\n"
             "1000 A2 fires 8: read state\n"
             "1001 A2 is bucket=3 counter=40 last=400 next=0: put 8.3\n"
             "1002 A0 applied: ack 3, read state\n"
             "1002 A1 applied: ack 3, read state\n"
             "1002 A2 applied: ack 3, read state\n"
             "1003 A0 is bucket=3 counter=40 last=400 next=0: add 1\n"
             "1003 A1 is bucket=3 counter=40 last=400 next=0: add 1\n"
             "1003 A2 is bucket=3 counter=40 last=400 next=0: add 1\n"
             "1004 A0 applied: read counter\n"
             "1004 A1 applied: read counter\n"
             "1004 A2 applied: read counter\n"
             "1005 A0 is 44: lock owner=11 until=2005 if absent\n"
             "1005 A1 is 44: done ok fired counted\n"
             "1005 A2 is 44: lock owner=11 until=2005 if absent\n"
             "1100 A0 refused\n"
             "1100 A2 refused\n"
             "1150 A ticks, due at 1105: A0 lock owner=11 until=2005 if absent again, A2 lock owner=11 "
             "until=2005 if absent again\n"
             "1200 A0 refused\n"
             "1200 A2 refused\n"
             "1250 A ticks, due at 1210: A0 lock owner=11 until=2005 if absent again, A2 lock owner=11 "
             "until=2005 if absent again\n"
             "1300 A0 refused: done ok fired counted\n"
             "1300 A2 refused: done ok fired counted\n"
             "1350 A ticks\n");
}

/* What was read and decided under a lock is not written after the lock has expired. */
static void test_expired_lock_rolls_nothing(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_RMW);
    int64_t now_ns = 1000;
    for (int i = 0; i < 3; i++, now_ns += 5000) {
        write_row(&a, now_ns, 7, true);
        is_state(&a, now_ns, 0, 3, 2, 400, 0);
        applied(&a, now_ns, 0);
        is_state(&a, now_ns, 0, 3, 2, 400, 0);
        applied(&a, now_ns, 0);
        applied(&a, now_ns, 0);
        is_state(&a, now_ns + (i == 0 ? 1000 : 999), 0, 3, 3, 400, 0);
        if (i == 1)
            unknown(&a, now_ns + 1000, 0);
        if (i == 2)
            refused(&a, now_ns + 995, 0);
        applied(&a, now_ns + 2000, 0);
    }
    ends(&a, "1000 A0 fires 7: read state\n"
             "1000 A0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
             "1000 A0 applied: ack 3, read state\n"
             "1000 A0 is bucket=3 counter=2 last=400 next=0: set counter=3\n"
             "1000 A0 applied: lock owner=11 until=2000 if absent\n"
             "1000 A0 applied: read state\n"
             "2000 A0 is bucket=3 counter=3 last=400 next=0: lock owner=0 until=0 if owner=11 until=2000\n"
             "3000 A0 applied: done ok fired counted\n"
             "6000 A0 fires 7: read state\n"
             "6000 A0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
             "6000 A0 applied: ack 3, read state\n"
             "6000 A0 is bucket=3 counter=2 last=400 next=0: set counter=3\n"
             "6000 A0 applied: lock owner=11 until=7000 if absent\n"
             "6000 A0 applied: read state\n"
             "6999 A0 is bucket=3 counter=3 last=400 next=0: set bucket=4 counter=0 last=6999\n"
             "7000 A0 unknown: lock owner=0 until=0 if owner=11 until=7000\n"
             "8000 A0 applied: done ok fired counted\n"
             "11000 A0 fires 7: read state\n"
             "11000 A0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
             "11000 A0 applied: ack 3, read state\n"
             "11000 A0 is bucket=3 counter=2 last=400 next=0: set counter=3\n"
             "11000 A0 applied: lock owner=11 until=12000 if absent\n"
             "11000 A0 applied: read state\n"
             "11999 A0 is bucket=3 counter=3 last=400 next=0: set bucket=4 counter=0 last=11999\n"
             "11995 A0 refused: lock owner=0 until=0 if owner=11 until=12000\n"
             "13000 A0 applied: done ok fired counted\n");
}

/* A replica that is behind still has room above its bucket; under the lock the agent sees that the key is in
 * the last bucket. */
static void test_lock_over_the_last_bucket_is_released(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_RMW);
    const int64_t last = INT64_MAX - 1;
    knows(&a, 1000, last, 2, 0, 0);
    write_row(&a, 1020, 7, true);
    applied(&a, 1022, 0);
    is_state(&a, 1024, 0, last - 1, 2, 0, 0);
    applied(&a, 1026, 0);
    applied(&a, 1028, 0);
    is_state(&a, 1030, 0, last, 3, 0, 0);
    applied(&a, 1032, 0);
    ends(&a,
         "1020 A0 fires 7: put 7.9223372036854775806\n"
         "1022 A0 applied: ack 9223372036854775806, read state\n"
         "1024 A0 is bucket=9223372036854775805 counter=2 last=0 next=0: set counter=3\n"
         "1026 A0 applied: lock owner=11 until=2026 if absent\n"
         "1028 A0 applied: read state\n"
         "1030 A0 is bucket=9223372036854775806 counter=3 last=0 next=0: lock owner=0 until=0 if owner=11 "
         "until=2026\n"
         "1032 A0 applied: done ok fired counted\n");
}

static void test_lock_held_too_long_or_lost_too_often_is_given_up(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_LOCKED, BK_COUNTER_COLUMN);
    knows(&a, 980, 3, 40, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    is_state(&a, 1004, 0, 3, 40, 400, 0);
    applied(&a, 1006, 0);
    is_total(&a, 1008, 0, 43);
    for (int i = 0; i < 3; i++) {
        but_lock(&a, 1100 + 100 * i, 0, 12, 9000);
        tick(&a, 1190 + 100 * i);
    }
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, read state\n"
             "1004 A0 is bucket=3 counter=40 last=400 next=0: add 1\n"
             "1006 A0 applied: read counter\n"
             "1008 A0 is 43: lock owner=11 until=2008 if absent\n"
             "1100 A0 not applied, owner=12 until=9000\n"
             "1190 A ticks, due at 1163: A0 lock owner=11 until=2163 if absent\n"
             "1200 A0 not applied, owner=12 until=9000\n"
             "1290 A ticks, due at 1247: A0 lock owner=11 until=2247 if absent\n"
             "1300 A0 not applied, owner=12 until=9000: done ok fired counted\n"
             "1390 A ticks\n");
    trace.length = 0;
    a = lone(&trace, BK_LOCKED, BK_COUNTER_COLUMN);
    knows(&a, 980, 3, 40, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    is_state(&a, 1004, 0, 3, 40, 400, 0);
    applied(&a, 1006, 0);
    is_total(&a, 1008, 0, 43);
    for (int i = 0; i < 63; i++)
        but_lock(&a, 1010, 0, 12, 1000 - i);
    trace.length = 0;
    but_lock(&a, 1010, 0, 12, 900);
    ends(&a, "1010 A0 not applied, owner=12 until=900: done ok fired counted\n");
}

/* How long an agent waits at time 0 for a lock that another agent never releases. */
static int64_t first_wait_ns(uint64_t agent_id, int64_t mean_ns)
{
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_LOCKED, BK_COUNTER_COLUMN);
    config.agent_id = agent_id;
    config.lock_backoff_ns = mean_ns;
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 0, 7, true);
    is_absent(&a, 0, 0);
    applied(&a, 0, 0);
    is_absent(&a, 0, 0);
    applied(&a, 0, 0);
    is_total(&a, 0, 0, 3);
    but_lock(&a, 0, 0, 99, INT64_MAX);
    int64_t wait_ns = bk_agent_deadline(a.agent);
    free(a.agent);
    return wait_ns;
}

static void test_lock_back_off_is_about_its_mean_and_differs(void **state)
{
    (void)state;
    const int64_t mean_ns = INT64_C(20000000000);
    int64_t sum_ns = 0, waits[64];
    for (int i = 0; i < 64; i++) {
        waits[i] = first_wait_ns((uint64_t)i + 1, mean_ns);
        assert_true(waits[i] >= mean_ns / 2 && waits[i] <= mean_ns / 2 * 3);
        for (int j = 0; j < i; j++)
            assert_true(waits[i] != waits[j]);
        sum_ns += waits[i] / 64;
        int64_t longest_ns = first_wait_ns((uint64_t)i + 1, INT64_MAX);
        assert_true(longest_ns >= INT64_MAX / 2 && longest_ns < INT64_MAX);
    }
    /* The mean of 64 has a standard deviation of 0.72 s. */
    assert_true(sum_ns > INT64_C(17000000000) && sum_ns < INT64_C(23000000000));
}

static void test_lock_times_at_the_end_of_time_stay_below_never(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_LOCKED, BK_COUNTER_COLUMN);
    config.lock_backoff_ns = config.lock_lasts_ns = config.retry_backoff_ns = INT64_MAX;
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 10, 7, true);
    is_absent(&a, 10, 0);
    applied(&a, 10, 0);
    is_absent(&a, 10, 0);
    applied(&a, 10, 0);
    is_total(&a, 10, 0, 3);
    but_lock(&a, 10, 0, 12, 9000);
    tick(&a, INT64_MAX - 1);
    refused(&a, INT64_MAX, 0);
    tick(&a, INT64_MAX);
    refused(&a, INT64_MAX, 0);
    tick(&a, INT64_MAX);
    refused(&a, INT64_MAX, 0);
    ends(&a, "10 A0 fires 7: read state\n"
             "10 A0 is absent: put 7.0\n"
             "10 A0 applied: ack 0, read state\n"
             "10 A0 is absent: add 1\n"
             "10 A0 applied: read counter\n"
             "10 A0 is 3: lock owner=11 until=9223372036854775806 if absent\n"
             "10 A0 not applied, owner=12 until=9000\n"
             "9223372036854775806 A ticks, due at 6797104756409969506: A0 lock owner=11 "
             "until=9223372036854775806 if owner=12 until=9000\n"
             "9223372036854775807 A0 refused\n"
             "9223372036854775807 A ticks, due at 9223372036854775806: A0 lock owner=11 "
             "until=9223372036854775806 if owner=12 until=9000 again\n"
             "9223372036854775807 A0 refused\n"
             "9223372036854775807 A ticks, due at 9223372036854775806: A0 lock owner=11 "
             "until=9223372036854775806 if owner=12 until=9000 again\n"
             "9223372036854775807 A0 refused: done ok fired counted\n");
}

static void test_locked_read_that_fails_releases_the_lock(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_LOCKED, BK_COUNTER_LWT);
    config.retries = 0;
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1001, 0, 3, 2, 400, 0);
    applied(&a, 1002, 0);
    applied(&a, 1003, 0);
    but_lock(&a, 1004, 0, 0, 0); /* free: taken even if no retry remains */
    applied(&a, 1005, 0);
    unknown(&a, 1006, 0);
    applied(&a, 1007, 0);
    write_row(&a, 1010, 7, true);
    is_state(&a, 1011, 0, 3, 3, 400, 0);
    applied(&a, 1012, 0);
    applied(&a, 1013, 0);
    but_lock(&a, 1014, 0, 12, 2000); /* held, and no retry remains */
    ends(&a, "1000 A0 fires 7: read state\n"
             "1001 A0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
             "1002 A0 applied: ack 3, set counter=3 if bucket=3 counter=2 last=400 next=0\n"
             "1003 A0 applied: lock owner=11 until=2003 if absent\n"
             "1004 A0 not applied, owner=0 until=0: lock owner=11 until=2004 if owner=0 until=0\n"
             "1005 A0 applied: read state serially\n"
             "1006 A0 unknown: lock owner=0 until=0 if owner=11 until=2004\n"
             "1007 A0 applied: done ok fired counted\n"
             "1010 A0 fires 7: read state\n"
             "1011 A0 is bucket=3 counter=3 last=400 next=0: put 7.3\n"
             "1012 A0 applied: ack 3, set counter=4 if bucket=3 counter=3 last=400 next=0\n"
             "1013 A0 applied: lock owner=11 until=2013 if absent\n"
             "1014 A0 not applied, owner=12 until=2000: done ok fired counted\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locked_roll_locks_reads_rolls_and_releases),
        cmocka_unit_test(test_locked_column_rolls_under_the_lock_only),
        cmocka_unit_test(test_locked_by_another_is_waited_for),
        cmocka_unit_test(test_locked_by_another_that_has_rolled_is_released_untouched),
        cmocka_unit_test(test_lock_of_a_dead_holder_is_taken_over_once_expired),
        cmocka_unit_test(test_lock_of_unknown_outcome_is_found_to_be_held),
        cmocka_unit_test(test_lock_is_requested_by_one_operation_of_a_key),
        cmocka_unit_test(test_expired_lock_rolls_nothing),
        cmocka_unit_test(test_lock_over_the_last_bucket_is_released),
        cmocka_unit_test(test_lock_held_too_long_or_lost_too_often_is_given_up),
        cmocka_unit_test(test_lock_back_off_is_about_its_mean_and_differs),
        cmocka_unit_test(test_lock_times_at_the_end_of_time_stay_below_never),
        cmocka_unit_test(test_locked_read_that_fails_releases_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
