/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the oracle knows which increments of counter columns were lost and which were made twice, and its sum
 * equals the cluster's. Method: each case is made by hand, and thousands of random ones are compared with a
 * plain list. */
#include "events.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

/* The amount that a row adds. Lost and doubled increments are counted as operations; their conserved total is
 * a sum of amounts. */
static uint64_t amount_of(uint64_t row)
{
    return 1 + row % 5;
}

static void open_counters(void)
{
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.run.config.counter = BK_COUNTER_NATIVE;
    stand.run.key_count = 2;
    stand_open(&stand);
}

/* An update of a counter that is applied and answered, or is not even forwarded. */
static void add(uint64_t counter, uint64_t row)
{
    struct cass_statement statement = {.kind = CASS_ADD_COUNTER,
                                       .consistency = CASS_LOCAL_QUORUM,
                                       .key = counter,
                                       .row_id = row,
                                       .delta = (int64_t)amount_of(row),
                                       .timestamp_us = INT64_MIN};
    cass_request(stand.run.cluster, 0, CASS_ANY_NODE, 0, &statement);
    stand_wait_until(&stand, (sim_queue_now(&stand.run.queue) - stand.run.start_ns));
    cass_reply_discard(stand.run.cluster, stand.reply);
}

/* An acknowledged row of a key that fires, and the fate of its increment: it was requested `asked` times, of
 * which the first `made` took effect. */
static void count(uint32_t key, uint64_t row, int asked, int made, bool is_counted)
{
    struct lab_host_operation operation = stand_operation(key, row, 0);
    const struct bk_action action = {.kind = BK_ACT_ADD_COUNTER, .amount = (int64_t)amount_of(row)};
    const struct cass_statement statement = {.key = key};
    operation.fires = true;
    operation.weight = amount_of(row);
    stand_place(&stand, key, row, 0, 0, 0);
    stand_store(&stand, key, row, 0, 0, true);
    stand_acknowledge(&stand, &operation);
    for (int i = 0; i < asked; i++) {
        operation.has_counted = true;
        cluster_emit_of(&stand.run, REQUEST_SENT, 0, &operation, .action = &action, .statement = &statement);
        if (i < made)
            add(key, row);
    }
    stand_finish(&stand, &operation, is_counted, false);
}

static void assert_increments(uint64_t lost, uint64_t doubled)
{
    stand_end(&stand);
    assert_int_equal(stand.run.oracles.verdict.increments_lost, lost);
    assert_int_equal(stand.run.oracles.verdict.increments_doubled, doubled);
    assert_violations(&stand, LAB_ORACLE_CONSERVED, 0);
}

static void test_increments_made_once_are_not_kept(void **state)
{
    (void)state;
    open_counters();
    for (uint64_t row = 0; row < 100; row++)
        count(0, row, 1, 1, true);
    assert_int_equal(stand.run.oracles.increments.used, 0);
    assert_int_equal(stand.run.oracles.verdict.conditions >> LAB_CONDITION_LOST_INCREMENT & 1, 0);
    assert_increments(0, 0);
}

static void test_increments_lost_and_doubled_are_counted(void **state)
{
    (void)state;
    open_counters();
    count(0, 0, 1, 0, false); /* lost */
    assert_true(stand.run.oracles.verdict.conditions >> LAB_CONDITION_LOST_INCREMENT & 1);
    count(0, 1, 1, 1, false); /* unknown, and made */
    count(0, 2, 2, 2, true);  /* doubled */
    count(0, 3, 3, 3, false); /* doubled twice */
    count(0, 4, 2, 1, true);
    count(0, 5, 0, 0, false); /* never requested */
    assert_increments(2, 3);
}

/* An increment of unknown outcome at the end of its operation takes effect later. */
static void test_increments_made_late_are_not_lost(void **state)
{
    (void)state;
    open_counters();
    count(0, 0, 1, 0, false);
    count(0, 1, 2, 1, true);
    count(0, 2, 1, 0, false);
    stand_wait_until(&stand, 60 * SECOND);
    add(0, 0);
    add(0, 1);
    assert_increments(1, 1);
}

/* A message arrives twice, after its increment was forgotten; and an increment is acknowledged without being
 * made. */
static void test_increments_made_again_after_the_end_are_doubled(void **state)
{
    (void)state;
    open_counters();
    count(0, 0, 1, 1, true);
    assert_int_equal(stand.run.oracles.increments.used, 0);
    add(0, 0);
    count(0, 1, 1, 0, true);
    assert_increments(1, 1);
}

/* An increment that was never requested is lost, though another key's row of this number waits for its own
 * increment. */
static void test_increments_never_requested_do_not_count_for_another_key(void **state)
{
    (void)state;
    open_counters();
    count(0, 7, 1, 0, false);
    count(1, 7, 0, 0, false);
    add(0, 7);
    for (uint32_t key = 0; key < 2; key++)
        stand.run.unresolved += 7; /* the rows 0 to 6 */
    assert_increments(1, 0);
}

/* An addition that was never requested is not explained by any row. */
static void test_increments_without_a_row_are_a_difference(void **state)
{
    (void)state;
    open_counters();
    stand.run.oracles.increments.amount_lost = 1;
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_CONSERVED, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_increments_made_once_are_not_kept),
        cmocka_unit_test(test_increments_lost_and_doubled_are_counted),
        cmocka_unit_test(test_increments_made_late_are_not_lost),
        cmocka_unit_test(test_increments_made_again_after_the_end_are_doubled),
        cmocka_unit_test(test_increments_never_requested_do_not_count_for_another_key),
        cmocka_unit_test(test_increments_without_a_row_are_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
