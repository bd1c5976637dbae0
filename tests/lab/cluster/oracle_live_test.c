/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a fault lasts as long as its delays, and live judges only the time after the last fault. Method:
 * faults, and rows that fire, on both sides of each decisive moment. */
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

/* --- health: the client's timeout is 1 s. */

static void assert_health(int64_t unhealthy_ns, int64_t well_ns)
{
    assert_int_equal(lab_health_unhealthy_ns(&stand.run), unhealthy_ns);
    assert_int_equal(lab_health_well_ns(&stand.run), well_ns);
}

static void test_health_without_faults_is_well_from_the_start(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    assert_health(0, 0);
    stand_wait_until(&stand, 5 * SECOND);
    assert_health(0, 5 * SECOND);
    assert_int_equal(stand.run.oracles.health.stretch, 0);
    assert_int_equal(stand.run.oracles.verdict.conditions & 1u << LAB_CONDITION_FAULTS, 0);
}

/* A fault lasts until all that it delayed has ended too. */
static void test_health_fault_settles(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_wait_until(&stand, 2 * SECOND);
    lab_health_fault(&stand.run, true);
    assert_true(stand.run.oracles.verdict.conditions >> LAB_CONDITION_FAULTS & 1);
    stand_wait_until(&stand, 5 * SECOND);
    assert_health(3 * SECOND, -1);
    lab_health_fault(&stand.run, false);
    stand_wait_until(&stand, 6 * SECOND - 1);
    assert_health(4 * SECOND - 1, -1);
    stand_wait_until(&stand, 6 * SECOND);
    assert_health(4 * SECOND, 0);
    stand_wait_until(&stand, 9 * SECOND);
    assert_health(4 * SECOND, 3 * SECOND);
    assert_int_equal(stand.run.oracles.health.stretch, 1);
    lab_health_fault(&stand.run, true);
    stand_wait_until(&stand, 10 * SECOND);
    assert_health(5 * SECOND, -1);
    assert_int_equal(stand.run.oracles.health.stretch, 2);
}

/* The cluster is healthy when the last fault has ended. A fault that begins while another one settles extends
 * the same unhealthy span. */
static void test_health_faults_that_overlap_are_one(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    lab_health_fault(&stand.run, true);
    stand_wait_until(&stand, 2 * SECOND);
    lab_health_fault(&stand.run, true);
    stand_wait_until(&stand, 4 * SECOND);
    lab_health_fault(&stand.run, false);
    stand_wait_until(&stand, 6 * SECOND);
    assert_health(6 * SECOND, -1);
    lab_health_fault(&stand.run, false);
    stand_wait_until(&stand, 7 * SECOND - 1);
    lab_health_fault(&stand.run, true);
    stand_wait_until(&stand, 8 * SECOND);
    lab_health_fault(&stand.run, false);
    assert_int_equal(stand.run.oracles.health.stretch, 1);
    stand_wait_until(&stand, 20 * SECOND);
    assert_health(9 * SECOND, 11 * SECOND);
    lab_health_fault(&stand.run, true);
    assert_int_equal(stand.run.oracles.health.stretch, 2);
    assert_health(9 * SECOND, -1);
}

/* A fault whose end is known in advance: by itself, within another fault, and beyond it. */
static void test_health_pulses_end_by_themselves(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    lab_health_pulse(&stand.run, stand_time(&stand, 3 * SECOND));
    stand_wait_until(&stand, 1 * SECOND);
    lab_health_pulse(&stand.run, stand_time(&stand, 2 * SECOND)); /* within the first fault */
    stand_wait_until(&stand, 4 * SECOND);
    assert_health(4 * SECOND, 0);
    stand_wait_until(&stand, 10 * SECOND);
    lab_health_fault(&stand.run, true);
    lab_health_pulse(&stand.run, stand_time(&stand, 11 * SECOND));
    stand_wait_until(&stand, 20 * SECOND);
    assert_health(14 * SECOND, -1);
    lab_health_pulse(&stand.run, stand_time(&stand, 30 * SECOND));
    lab_health_fault(&stand.run, false);
    stand_wait_until(&stand, 31 * SECOND - 1);
    assert_health(25 * SECOND - 1, -1);
    stand_wait_until(&stand, 31 * SECOND);
    assert_health(25 * SECOND, 0);
    lab_health_pulse(&stand.run, stand_time(&stand, 31 * SECOND)); /* an instant: a clock jumps */
    stand_wait_until(&stand, 40 * SECOND);
    assert_health(26 * SECOND, 8 * SECOND);
    assert_int_equal(stand.run.oracles.health.stretch, 3);
}

/* The longest of them counts, even if a fault begins and ends meanwhile. */
static void test_health_pulse_within_a_longer_one_shortens_nothing(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    lab_health_pulse(&stand.run, stand_time(&stand, 30 * SECOND));
    stand_wait_until(&stand, 10 * SECOND);
    lab_health_pulse(&stand.run, stand_time(&stand, 12 * SECOND));
    stand_wait_until(&stand, 14 * SECOND);
    assert_health(14 * SECOND, -1);
    lab_health_fault(&stand.run, true);
    stand_wait_until(&stand, 15 * SECOND);
    lab_health_fault(&stand.run, false);
    stand_wait_until(&stand, 31 * SECOND - 1);
    assert_health(31 * SECOND - 1, -1);
    stand_wait_until(&stand, 40 * SECOND);
    assert_health(31 * SECOND, 9 * SECOND);
}

/* A network that loses messages by itself is never healthy. */
static void test_health_of_a_lossy_network_is_never_well(void **state)
{
    (void)state;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.network.loss = 1e-9;
    stand_open(&stand);
    lab_health_pulse(&stand.run, stand_time(&stand, 3 * SECOND));
    stand_wait_until(&stand, SIM_HOUR);
    assert_health(SIM_HOUR, -1);
    assert_true(stand.run.oracles.verdict.conditions >> LAB_CONDITION_FAULTS & 1);
}

/* --- live: threshold 4, so 24 rows make a partition full, and the lag is 2 s. */

#define FULL 24u
#define LAG  (2 * SECOND)

static void fire(uint32_t key, int64_t bucket, uint64_t rows)
{
    for (; rows > 0; rows--) {
        uint64_t row = stand.run.keys[key].rows;
        struct lab_host_operation operation = stand_operation(key, row, bucket);
        operation.fires = true;
        stand_place(&stand, key, row, 0, bucket, 0);
        stand_store(&stand, key, row, 0, bucket, true);
        stand_acknowledge(&stand, &operation);
        stand_finish(&stand, &operation, true, false);
    }
}

static void test_live_partition_that_does_not_close_is_violated(void **state)
{
    (void)state;
    for (int64_t late_ns = 0; late_ns <= 1; late_ns++) {
        stand_open_probabilistic(&stand, BK_SINGLE);
        stand_wait_until(&stand, LAG);
        fire(0, 0, FULL);
        stand_wait_until(&stand, 2 * LAG + late_ns);
        fire(0, 0, 1);
        stand_end(&stand);
        assert_true(stand.run.oracles.verdict.is_judged[LAB_ORACLE_LIVE]);
        assert_violations(&stand, LAB_ORACLE_LIVE, (uint64_t)late_ns);
    }
}

/* Any number of rows may come until then: a roll that is still under way closes nothing. */
static void test_live_partition_may_grow_for_the_lag(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_wait_until(&stand, LAG);
    fire(0, 0, FULL - 1);
    stand_wait_until(&stand, 5 * LAG);
    fire(0, 0, 500); /* the first of these rows fills the partition */
    stand_wait_until(&stand, 6 * LAG);
    fire(0, 0, 500);
    fire(0, 1, 1);
    stand_wait_until(&stand, 9 * LAG);
    fire(0, 1, FULL - 1);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_LIVE, 0);
}

/* Rows from before the cluster was healthy for the lag, or from before the last fault, are not counted. */
static void test_live_counts_from_when_all_was_well(void **state)
{
    (void)state;
    for (int64_t late_ns = -1; late_ns <= 0; late_ns++) {
        stand_open_probabilistic(&stand, BK_SINGLE);
        stand_wait_until(&stand, LAG);
        fire(0, 0, FULL);
        lab_health_fault(&stand.run, true);
        stand_wait_until(&stand, 10 * SECOND);
        lab_health_fault(&stand.run, false);
        stand_wait_until(&stand, 11 * SECOND + LAG + late_ns);
        fire(0, 0, FULL);
        stand_wait_until(&stand, 60 * SECOND);
        fire(0, 0, 1);
        stand_end(&stand);
        assert_violations(&stand, LAB_ORACLE_LIVE, late_ns == 0);
    }
}

/* A partition that did not close before a fault is not judged by the time before the fault. */
static void test_live_judges_the_time_after_the_last_fault_only(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_wait_until(&stand, LAG);
    fire(0, 0, FULL);
    stand_wait_until(&stand, 10 * SECOND);
    fire(0, 0, 1);
    lab_health_pulse(&stand.run, stand_time(&stand, 11 * SECOND));
    stand_wait_until(&stand, 60 * SECOND);
    stand_end(&stand);
    assert_true(stand.run.oracles.verdict.is_judged[LAB_ORACLE_LIVE]);
    assert_violations(&stand, LAB_ORACLE_LIVE, 0);
}

static void test_live_is_counted_in_keys(void **state)
{
    (void)state;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.run.key_count = 3;
    stand_open(&stand);
    stand_wait_until(&stand, LAG);
    fire(0, 0, FULL);
    fire(1, 0, FULL);
    fire(2, 0, FULL);
    fire(0, 1, FULL);
    stand_wait_until(&stand, 10 * SECOND);
    fire(0, 0, 2);
    fire(1, 0, 1);
    fire(0, 1, 1);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_LIVE, 2);
}

/* Faults that end too late for the lag, or never. */
static void test_live_is_not_judged_before_all_was_well_for_the_lag(void **state)
{
    (void)state;
    for (int64_t left_ns = -1; left_ns <= 0; left_ns++) {
        stand_open_probabilistic(&stand, BK_SINGLE);
        lab_health_fault(&stand.run, true);
        stand_wait_until(&stand, 10 * SECOND);
        lab_health_fault(&stand.run, false);
        stand_wait_until(&stand, 11 * SECOND + LAG + left_ns);
        stand_end(&stand);
        assert_int_equal(stand.run.oracles.verdict.is_judged[LAB_ORACLE_LIVE], left_ns == 0);
    }
    stand_open_probabilistic(&stand, BK_SINGLE);
    lab_health_fault(&stand.run, true);
    stand_wait_until(&stand, SIM_HOUR);
    stand_end(&stand);
    assert_false(stand.run.oracles.verdict.is_judged[LAB_ORACLE_LIVE]);
}

/* A partition that the state has left may get rows from outdated caches, and need not close again. */
static void test_live_partition_below_the_states_bucket_is_closed(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_THREE_STATE);
    stand_wait_until(&stand, LAG);
    fire(0, 0, FULL);
    stand_state(&stand, 0, 1, 0, 20 * SECOND);
    stand_wait_until(&stand, 10 * SECOND);
    fire(0, 0, 1);
    assert_int_equal(stand.run.oracles.keys[0].stuck_stretch, 0);
    stand_state(&stand, 0, 0, 0, 0);
    fire(0, 0, 1);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_LIVE, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_health_without_faults_is_well_from_the_start),
        cmocka_unit_test(test_health_fault_settles),
        cmocka_unit_test(test_health_faults_that_overlap_are_one),
        cmocka_unit_test(test_health_pulses_end_by_themselves),
        cmocka_unit_test(test_health_pulse_within_a_longer_one_shortens_nothing),
        cmocka_unit_test(test_health_of_a_lossy_network_is_never_well),
        cmocka_unit_test(test_live_partition_that_does_not_close_is_violated),
        cmocka_unit_test(test_live_partition_may_grow_for_the_lag),
        cmocka_unit_test(test_live_counts_from_when_all_was_well),
        cmocka_unit_test(test_live_judges_the_time_after_the_last_fault_only),
        cmocka_unit_test(test_live_is_counted_in_keys),
        cmocka_unit_test(test_live_is_not_judged_before_all_was_well_for_the_lag),
        cmocka_unit_test(test_live_partition_below_the_states_bucket_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
