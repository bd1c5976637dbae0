/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: one agent and two agents go through a three-state change, from the full count to the reset.
 * Method: one situation per test; the host's events are given by hand, and the trace of events and actions
 * is asserted as text (agent_trace.h). */
#include "agent_trace.h"

static void agents_two(struct trace *trace, enum bk_counter counter, struct actor *a, struct actor *b)
{
    struct bk_agent_config config = small_config(BK_THREE_STATE, counter);
    *a = actor_of(trace, "A", &config);
    config.agent_id = 12;
    *b = actor_of(trace, "B", &config);
}

/* A fills the count and sets the date; B, which knew the steady state, learns the date before it comes. Rows
 * from before the date go to bucket 3, later rows to bucket 4; both agents set the counter back. */
static void test_three_state_rmw_two_agents_change_at_the_date(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a, b;
    agents_two(&trace, BK_COUNTER_RMW, &a, &b);
    write_row(&b, 990, 7, false);
    is_state(&b, 992, 0, 3, 2, 400, 0);
    applied(&b, 994, 0);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1002, 0, 3, 2, 400, 0);
    applied(&a, 1004, 0);
    is_state(&a, 1006, 0, 3, 2, 400, 0);
    applied(&a, 1008, 0);
    write_row(&a, 1010, 7, true); /* pre-change: counted, no second change */
    applied(&a, 1012, 0);
    is_state(&a, 1014, 0, 4, 3, 400, 1206);
    applied(&a, 1016, 0);
    write_row(&b, 1050, 7, false); /* B's cache is from before the change: the same bucket */
    applied(&b, 1052, 0);
    write_row(&b, 1199, 7, false);
    is_state(&b, 1201, 0, 4, 4, 400, 1206);
    applied(&b, 1206, 0); /* a row from before the date, stored after it: reset by B */
    is_state(&b, 1207, 0, 4, 4, 400, 1206);
    write_row(&a, 1205, 7, false);
    is_state(&a, 1206, 0, 4, 4, 400, 1206);
    applied(&a, 1207, 0);
    is_state(&a, 1208, 0, 4, 4, 400, 1206); /* read before B's reset took effect */
    applied(&b, 1208, 0);
    applied(&a, 1209, 0);
    write_row(&a, 1210, 7, false);
    applied(&a, 1212, 0);
    write_row(&b, 1210, 7, true);
    applied(&b, 1212, 0);
    is_state(&b, 1214, 0, 4, 0, 1206, 0);
    applied(&b, 1216, 0);
    free(b.agent);
    ends(&a, "990 B0 writes 7: read state\n"
             "992 B0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
             "994 B0 applied: ack 3, done ok\n"
             "1000 A0 fires 7: read state\n"
             "1002 A0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
             "1004 A0 applied: ack 3, read state\n"
             "1006 A0 is bucket=3 counter=2 last=400 next=0: set bucket=4 counter=3 next=1206\n"
             "1008 A0 applied: done ok fired counted\n"
             "1010 A0 fires 7: put 7.3\n"
             "1012 A0 applied: ack 3, read state\n"
             "1014 A0 is bucket=4 counter=3 last=400 next=1206: set counter=4\n"
             "1016 A0 applied: done ok fired counted\n"
             "1050 B0 writes 7: put 7.3\n"
             "1052 B0 applied: ack 3, done ok\n"
             "1199 B0 writes 7: read state\n"
             "1201 B0 is bucket=4 counter=4 last=400 next=1206: put 7.3\n"
             "1206 B0 applied: ack 3, read state\n"
             "1207 B0 is bucket=4 counter=4 last=400 next=1206: set counter=0 last=1206 next=0\n"
             "1205 A0 writes 7: read state\n"
             "1206 A0 is bucket=4 counter=4 last=400 next=1206: put 7.3\n"
             "1207 A0 applied: ack 3, read state\n"
             "1208 A0 is bucket=4 counter=4 last=400 next=1206: set counter=0 last=1206 next=0\n"
             "1208 B0 applied: done ok\n"
             "1209 A0 applied: done ok\n"
             "1210 A0 writes 7: put 7.4\n"
             "1212 A0 applied: ack 4, done ok\n"
             "1210 B0 fires 7: put 7.4\n"
             "1212 B0 applied: ack 4, read state\n"
             "1214 B0 is bucket=4 counter=0 last=1206 next=0: set counter=1\n"
             "1216 B0 applied: done ok fired counted\n");
}

static void test_three_state_lwt_two_agents_change_and_reset_once(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a, b;
    agents_two(&trace, BK_COUNTER_LWT, &a, &b);
    write_row(&a, 1000, 7, true);
    is_state(&a, 1002, 0, 3, 2, 400, 0);
    write_row(&b, 1003, 7, true);
    is_state(&b, 1004, 0, 3, 2, 400, 0);
    applied(&a, 1005, 0);
    applied(&b, 1006, 0);
    applied(&a, 1008, 0);
    but_state(&b, 1009, 0, 4, 3, 400, 1205); /* B filled the count as well: only one date holds */
    applied(&b, 1010, 0);
    write_row(&a, 1204, 7, false);
    is_state(&a, 1204, 0, 4, 4, 400, 1205);
    write_row(&b, 1204, 7, true);
    is_state(&b, 1204, 0, 4, 4, 400, 1205);
    applied(&b, 1205, 0);
    applied(&a, 1206, 0);
    applied(&b, 1208, 0); /* the reset and the increment in one write */
    but_state(&a, 1209, 0, 4, 1, 1205, 0);
    write_row(&a, 1210, 7, false);
    applied(&a, 1211, 0);
    free(b.agent);
    ends(&a,
         "1000 A0 fires 7: read state\n"
         "1002 A0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
         "1003 B0 fires 7: read state\n"
         "1004 B0 is bucket=3 counter=2 last=400 next=0: put 7.3\n"
         "1005 A0 applied: ack 3, set bucket=4 counter=3 next=1205 if bucket=3 counter=2 last=400 next=0\n"
         "1006 B0 applied: ack 3, set bucket=4 counter=3 next=1206 if bucket=3 counter=2 last=400 next=0\n"
         "1008 A0 applied: done ok fired counted\n"
         "1009 B0 not applied, bucket=4 counter=3 last=400 next=1205: set counter=4 if bucket=4 counter=3 "
         "last=400 next=1205\n"
         "1010 B0 applied: done ok fired counted\n"
         "1204 A0 writes 7: read state\n"
         "1204 A0 is bucket=4 counter=4 last=400 next=1205: put 7.3\n"
         "1204 B0 fires 7: read state\n"
         "1204 B0 is bucket=4 counter=4 last=400 next=1205: put 7.3\n"
         "1205 B0 applied: ack 3, set counter=0 last=1205 next=0 if bucket=4 counter=4 last=400 next=1205\n"
         "1206 A0 applied: ack 3, set counter=0 last=1205 next=0 if bucket=4 counter=4 last=400 next=1205\n"
         "1208 B0 applied: done ok fired\n"
         "1209 A0 not applied, bucket=4 counter=1 last=1205 next=0: done ok\n"
         "1210 A0 writes 7: put 7.4\n"
         "1211 A0 applied: ack 4, done ok\n");
}

static void test_three_state_column_is_reset_by_its_base(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_THREE_STATE, BK_COUNTER_COLUMN);
    knows(&a, 980, 3, 40, 400, 0);
    write_row(&a, 1000, 7, true);
    applied(&a, 1002, 0);
    is_state(&a, 1004, 0, 3, 40, 400, 0);
    applied(&a, 1006, 0);
    is_total(&a, 1008, 0, 43);
    applied(&a, 1010, 0);
    write_row(&a, 1020, 7, true); /* pre-change: nothing to write */
    applied(&a, 1022, 0);
    is_state(&a, 1024, 0, 4, 40, 400, 1208);
    applied(&a, 1026, 0);
    is_total(&a, 1028, 0, 44);
    uint32_t first = write_row(&a, 1207, 7, false);
    is_state(&a, 1207, first, 4, 40, 400, 1208);
    uint32_t second = write_row(&a, 1209, 7, true);
    applied(&a, 1210, first);
    applied(&a, 1210, second);
    is_state(&a, 1211, first, 4, 40, 400, 1208);
    is_total(&a, 1212, first, 44);
    is_state(&a, 1214, second, 4, 40, 400, 1208);
    applied(&a, 1216, first);
    applied(&a, 1218, second);
    is_total(&a, 1220, second, 45);
    applied(&a, 1222, second);
    ends(&a, "1000 A0 fires 7: put 7.3\n"
             "1002 A0 applied: ack 3, read state\n"
             "1004 A0 is bucket=3 counter=40 last=400 next=0: add 1\n"
             "1006 A0 applied: read counter\n"
             "1008 A0 is 43: set bucket=4 next=1208\n"
             "1010 A0 applied: done ok fired counted\n"
             "1020 A0 fires 7: put 7.3\n"
             "1022 A0 applied: ack 3, read state\n"
             "1024 A0 is bucket=4 counter=40 last=400 next=1208: add 1\n"
             "1026 A0 applied: read counter\n"
             "1028 A0 is 44: done ok fired counted\n"
             "1207 A0 writes 7: read state\n"
             "1207 A0 is bucket=4 counter=40 last=400 next=1208: put 7.3\n"
             "1209 A1 fires 7: put 7.4\n"
             "1210 A0 applied: ack 3, read state\n"
             "1210 A1 applied: ack 4, read state\n"
             "1211 A0 is bucket=4 counter=40 last=400 next=1208: read counter\n"
             "1212 A0 is 44: set counter=44 last=1208 next=0\n"
             "1214 A1 is bucket=4 counter=40 last=400 next=1208: add 1\n"
             "1216 A0 applied: done ok\n"
             "1218 A1 applied: read counter\n"
             "1220 A1 is 45: set counter=44 last=1208 next=0\n"
             "1222 A1 applied: done ok fired counted\n");
}

/* Two rows of one agent are stored after the date; the first row's reset is known when the second row comes.
 */
static void test_three_state_reset_by_a_neighbour_is_not_repeated(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_THREE_STATE, BK_COUNTER_RMW);
    knows(&a, 1140, 4, 3, 400, 1200);
    write_row(&a, 1190, 7, false);
    write_row(&a, 1191, 7, false);
    applied(&a, 1201, 0);
    is_state(&a, 1202, 0, 4, 3, 400, 1200);
    applied(&a, 1203, 0);
    applied(&a, 1203, 1);
    /* The reset does not make the rest of the state younger than its request at 1201. */
    uint32_t last = write_row(&a, 1301, 7, false);
    is_state(&a, 1302, last, 4, 0, 1200, 0);
    applied(&a, 1303, last);
    ends(&a, "1190 A0 writes 7: put 7.3\n"
             "1191 A1 writes 7: put 7.3\n"
             "1201 A0 applied: ack 3, read state\n"
             "1202 A0 is bucket=4 counter=3 last=400 next=1200: set counter=0 last=1200 next=0\n"
             "1203 A0 applied: done ok\n"
             "1203 A1 applied: ack 3, done ok\n"
             "1301 A1 writes 7: read state\n"
             "1302 A1 is bucket=4 counter=0 last=1200 next=0: put 7.4\n"
             "1303 A1 applied: ack 4, done ok\n");
}

/* The cached copy says that the date has come. Another agent reset the counter long ago, and what was counted
 * since must stay. */
static void test_three_state_reset_that_another_agent_made_is_not_repeated(void **state)
{
    (void)state;
    for (int counter = BK_COUNTER_RMW; counter <= BK_COUNTER_COLUMN; counter += 2) {
        struct trace trace = {.length = 0};
        struct actor a = lone(&trace, BK_THREE_STATE, (enum bk_counter)counter);
        knows(&a, 1140, 4, 3, 400, 1200);
        write_row(&a, 1210, 7, false);
        applied(&a, 1212, 0);
        is_state(&a, 1214, 0, 4, 2, 1200, 0);
        write_row(&a, 1215, 7, false);
        applied(&a, 1216, 0);
        ends(&a, "1210 A0 writes 7: put 7.4\n"
                 "1212 A0 applied: ack 4, read state\n"
                 "1214 A0 is bucket=4 counter=2 last=1200 next=0: done ok\n"
                 "1215 A0 writes 7: put 7.4\n"
                 "1216 A0 applied: ack 4, done ok\n");
    }
}

/* A count on the state from before the reset ends after the reset: the reset remains known. */
static void test_three_state_count_of_before_the_reset_does_not_undo_it(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_THREE_STATE, BK_COUNTER_RMW);
    knows(&a, 1130, 4, 3, 400, 1200);
    uint32_t count = write_row(&a, 1190, 7, true), reset = write_row(&a, 1191, 7, false);
    applied(&a, 1192, count);
    is_state(&a, 1195, count, 4, 3, 400, 1200);
    applied(&a, 1201, reset);
    is_state(&a, 1202, reset, 4, 3, 400, 1200);
    applied(&a, 1203, reset);
    applied(&a, 1204, count);
    reset = write_row(&a, 1205, 7, false);
    applied(&a, 1206, reset);
    ends(&a, "1190 A0 fires 7: put 7.3\n"
             "1191 A1 writes 7: put 7.3\n"
             "1192 A0 applied: ack 3, read state\n"
             "1195 A0 is bucket=4 counter=3 last=400 next=1200: set counter=4\n"
             "1201 A1 applied: ack 3, read state\n"
             "1202 A1 is bucket=4 counter=3 last=400 next=1200: set counter=0 last=1200 next=0\n"
             "1203 A1 applied: done ok\n"
             "1204 A0 applied: done ok fired counted\n"
             "1205 A0 writes 7: put 7.4\n"
             "1206 A0 applied: ack 4, done ok\n");
}

/* The state was being read while another agent reset the counter: the date is now in last_change, and still
 * decides. */
static void test_three_state_row_of_before_the_date_routed_after_the_reset_is_old(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct actor a = lone(&trace, BK_THREE_STATE, BK_COUNTER_RMW);
    write_row(&a, 1204, 7, false);
    is_state(&a, 1220, 0, 4, 0, 1205, 0);
    applied(&a, 1222, 0);
    write_row(&a, 1223, 7, false);
    applied(&a, 1224, 0);
    ends(&a, "1204 A0 writes 7: read state\n"
             "1220 A0 is bucket=4 counter=0 last=1205 next=0: put 7.3\n"
             "1222 A0 applied: ack 3, done ok\n"
             "1223 A0 writes 7: put 7.4\n"
             "1224 A0 applied: ack 4, done ok\n");
}

static void test_three_state_dates_of_zero_or_beyond_the_range_are_invalid(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_THREE_STATE, BK_COUNTER_LWT);
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, -200, 7, true);
    is_state(&a, -200, 0, 0, 2, 0, 0);
    applied(&a, -200, 0);
    applied(&a, -200, 0);
    free(a.agent);
    config.lead_ns = INT64_MAX - 10;
    config.strategy.of.probabilistic.threshold = 1;
    a = actor_of(&trace, "B", &config);
    write_row(&a, 50, 7, true);
    is_state(&a, 50, 0, 0, 0, 0, 20);
    applied(&a, 50, 0); /* a reset and an increment: the count is full again */
    applied(&a, 50, 0);
    ends(&a, "-200 A0 fires 7: read state\n"
             "-200 A0 is bucket=0 counter=2 last=0 next=0: put 7.0\n"
             "-200 A0 applied: ack 0, set bucket=1 counter=3 next=1 if bucket=0 counter=2 last=0 next=0\n"
             "-200 A0 applied: done ok fired counted\n"
             "50 B0 fires 7: read state\n"
             "50 B0 is bucket=0 counter=0 last=0 next=20: put 7.0\n"
             "50 B0 applied: ack 0, set bucket=1 counter=1 last=20 next=9223372036854775806 if bucket=0 "
             "counter=0 last=0 next=20\n"
             "50 B0 applied: done ok fired counted\n");
}

static void test_reset_that_fails_leaves_the_row_stored(void **state)
{
    (void)state;
    struct trace trace = {.length = 0};
    struct bk_agent_config config = small_config(BK_THREE_STATE, BK_COUNTER_RMW);
    config.retries = 0;
    struct actor a = actor_of(&trace, "A", &config);
    write_row(&a, 1000, 7, false);
    is_state(&a, 1001, 0, 0, 2, 0, 1000); /* bucket 0 has no bucket before it */
    applied(&a, 1002, 0);
    is_state(&a, 1003, 0, 0, 2, 0, 1000);
    unknown(&a, 1004, 0);
    write_row(&a, 1005, 7, false);
    is_state(&a, 1006, 0, 0, 2, 0, 1000);
    applied(&a, 1007, 0);
    unknown(&a, 1008, 0);
    write_row(&a, 1010, 7, false);
    is_state(&a, 1011, 0, 0, 2, 0, 1020);
    applied(&a, 1012, 0);
    ends(&a, "1000 A0 writes 7: read state\n"
             "1001 A0 is bucket=0 counter=2 last=0 next=1000: put 7.0\n"
             "1002 A0 applied: ack 0, read state\n"
             "1003 A0 is bucket=0 counter=2 last=0 next=1000: set counter=0 last=1000 next=0\n"
             "1004 A0 unknown: done ok\n"
             "1005 A0 writes 7: read state\n"
             "1006 A0 is bucket=0 counter=2 last=0 next=1000: put 7.0\n"
             "1007 A0 applied: ack 0, read state\n"
             "1008 A0 unknown: done ok\n"
             "1010 A0 writes 7: read state\n"
             "1011 A0 is bucket=0 counter=2 last=0 next=1020: put 7.0\n"
             "1012 A0 applied: ack 0, done ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_state_rmw_two_agents_change_at_the_date),
        cmocka_unit_test(test_three_state_lwt_two_agents_change_and_reset_once),
        cmocka_unit_test(test_three_state_column_is_reset_by_its_base),
        cmocka_unit_test(test_three_state_reset_by_a_neighbour_is_not_repeated),
        cmocka_unit_test(test_three_state_reset_that_another_agent_made_is_not_repeated),
        cmocka_unit_test(test_three_state_count_of_before_the_reset_does_not_undo_it),
        cmocka_unit_test(test_three_state_row_of_before_the_date_routed_after_the_reset_is_old),
        cmocka_unit_test(test_three_state_dates_of_zero_or_beyond_the_range_are_invalid),
        cmocka_unit_test(test_reset_that_fails_leaves_the_row_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
