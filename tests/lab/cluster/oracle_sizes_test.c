/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: sizes are judged exactly wherever possible: a partition that closes too early is judged when it
 * closes; by the settings of its own rows if these change; to the row for a single writer that counts in
 * memory; and by their sum for keys that a cache evicts. Method: rows and states by hand on the oracles' test
 * stand, one row to either side of the correct size. */
#include "events.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

static struct lab_host_operation fire(uint64_t row, int64_t time_ns, int64_t bucket)
{
    struct lab_host_operation operation = stand_operation(0, row, bucket);
    operation.fires = true;
    operation.row_time_ns = stand_time(&stand, time_ns);
    operation.begun_ns = sim_queue_now(&stand.run.queue);
    stand_place(&stand, 0, row, time_ns, bucket, 0);
    stand_store(&stand, 0, row, time_ns, bucket, true);
    stand_acknowledge(&stand, &operation);
    return operation;
}

static void fire_counted(uint64_t row, int64_t time_ns, int64_t bucket)
{
    struct lab_host_operation operation = fire(row, time_ns, bucket);
    stand_finish(&stand, &operation, true, false);
}

/* The fourth row comes before the roll, or after it. */
static void test_filled_rows_behind_the_roll_prove_nothing(void **state)
{
    (void)state;
    for (int is_late = 0; is_late < 2; is_late++) {
        stand_open_probabilistic(&stand, BK_THREE_STATE);
        for (uint64_t row = 0; row < 3; row++)
            fire_counted(row, SECOND, 0);
        if (is_late)
            stand_state(&stand, 0, 1, 0, 9 * SECOND);
        fire_counted(3, SECOND, 0);
        if (!is_late)
            stand_state(&stand, 0, 1, 0, 9 * SECOND);
        stand_end(&stand);
        assert_violations(&stand, LAB_ORACLE_FILLED, (uint64_t)is_late);
    }
}

enum blur { BLUR_NONE, BLUR_BEGINS, BLUR_BEGAN, BLUR_UNKNOWN, BLUR_COUNT };

/* Another row is counted during the request of the roll, before it, or after it; or its outcome is unknown.
 */
static bool is_early_roll_excused(enum blur blur)
{
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_wait_until(&stand, SECOND);
    struct lab_host_operation other = {0}, last = fire(0, SECOND, 0);
    struct bk_action roll = {.kind = BK_ACT_WRITE_STATE, .mask = 15, .columns = {1, 0, 1, 0}};
    struct cass_statement unused = {.key = 0};
    if (blur == BLUR_BEGAN)
        other = fire(1, SECOND, 0);
    cluster_emit_of(&stand.run, REQUEST_SENT, 0, &last, .action = &roll, .statement = &unused);
    if (blur == BLUR_BEGINS)
        other = fire(1, SECOND, 0);
    (void)other;
    stand_state(&stand, 0, 1, SECOND, 0);
    last.action = BK_ACT_WRITE_STATE;
    last.outcome.kind = blur == BLUR_UNKNOWN ? BK_OUTCOME_UNKNOWN : BK_OUTCOME_APPLIED;
    cluster_emit_of(&stand.run, HEARD, 0, &last, .flag = false);
    stand_finish(&stand, &last, true, false);
    lab_excuses_settle(&stand.run, true);
    const struct lab_violation *violation = &stand.run.oracles.verdict.violations[LAB_ORACLE_FILLED];
    assert_int_equal(violation->count, 1);
    bool is_excused = !lab_violation_is_bare(violation);
    return is_excused;
}

static void test_filled_a_row_counted_at_the_roll_is_an_excuse(void **state)
{
    (void)state;
    for (enum blur blur = BLUR_NONE; blur < BLUR_COUNT; blur++)
        assert_int_equal(is_early_roll_excused(blur), blur != BLUR_NONE);
}

/* From second 10 on the threshold is 2 instead of 4. */
static void prepare_then(void)
{
    struct bk_strategy next;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    assert_int_equal(bk_strategy_probabilistic(3, 2, &next), BK_OK);
    stand.strategy.settings.change_count = 1;
    stand.strategy.settings.changes[0] =
        (struct lab_change){.at_ns = 10 * SECOND, .keeps_old = true, .strategy = next};
    stand_open(&stand);
}

/* This many rows fire before the change and after it, and then the key rolls: too early or not. */
static void test_filled_under_changed_settings_by_those_of_its_rows(void **state)
{
    (void)state;
    static const struct {
        uint64_t before, after, expected;
    } cases[] = {{4, 0, 0}, {3, 0, 1}, {2, 0, 1}, {0, 2, 0}, {0, 1, 1}, {1, 1, 0}, {3, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        prepare_then();
        for (uint64_t row = 0; row < cases[i].before; row++)
            fire_counted(row, 9 * SECOND, 0);
        for (uint64_t row = 0; row < cases[i].after; row++)
            fire_counted(cases[i].before + row, 10 * SECOND, 0);
        stand_state(&stand, 0, 1, 11 * SECOND, 0);
        assert_violations(&stand, LAB_ORACLE_FILLED, cases[i].expected);
    }
}

/* Without a roll the row that brings the count to its own threshold is one row too many. */
static void test_bounded_under_changed_settings_by_those_of_the_row(void **state)
{
    (void)state;
    static const struct {
        uint64_t before, after, expected;
    } cases[] = {{3, 0, 0}, {4, 0, 1}, {0, 1, 0}, {0, 2, 1}, {3, 1, 1}, {1, 1, 1}, {0, 5, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        prepare_then();
        stand_wait_until(&stand, 9 * SECOND);
        for (uint64_t row = 0; row < cases[i].before; row++)
            fire_counted(row, 9 * SECOND, 0);
        stand_wait_until(&stand, 10 * SECOND);
        for (uint64_t row = 0; row < cases[i].after; row++)
            fire_counted(cases[i].before + row, 10 * SECOND, 0);
        assert_violations(&stand, LAB_ORACLE_BOUNDED, cases[i].expected);
    }
}

static void prepare_count(enum bk_source source)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    stand.run.config.source = source;
    stand.run.config.cache_entries = 4;
}

/* Exact to the row, unless the writer may have had to count again. */
static void test_bounded_in_memory_is_exact(void **state)
{
    (void)state;
    for (uint64_t rows = 10; rows <= 11; rows++) {
        for (int is_unhealthy = 0; is_unhealthy < 2; is_unhealthy++) {
            for (uint32_t keys = 4; keys <= 5; keys++) {
                prepare_count(BK_SOURCE_MEMORY);
                stand.run.key_count = keys;
                stand_open(&stand);
                for (uint64_t row = 0; row < rows; row++) {
                    stand_write(&stand, 0, row, 0, 0);
                    if (row == 5 && is_unhealthy)
                        lab_health_pulse(&stand.run, stand_time(&stand, SECOND));
                    stand_wait_until(&stand, (int64_t)row * SECOND / 10);
                }
                stand_end(&stand);
                assert_violations(&stand, LAB_ORACLE_BOUNDED, rows == 11 && !is_unhealthy && keys == 4);
            }
        }
    }
}

static void test_filled_counts_find_no_more_rows_than_there_are(void **state)
{
    (void)state;
    static const enum bk_source sources[] = {BK_SOURCE_SCAN, BK_SOURCE_INCREMENTAL, BK_SOURCE_MEMORY};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        for (uint64_t rows = 9; rows <= 10; rows++) {
            prepare_count(sources[i]);
            stand_open(&stand);
            for (uint64_t row = 0; row < rows; row++)
                stand_write(&stand, 0, row, 0, 0);
            stand_state(&stand, 0, 1, 0, 0);
            assert_violations(&stand, LAB_ORACLE_FILLED, rows == 9);
        }
    }
}

/* Of rows 0 to 10, one number below 10 is unused, or belongs to a row that was refused. */
static void test_filled_each_number_is_of_one_row(void **state)
{
    (void)state;
    for (int is_refused = 0; is_refused < 2; is_refused++) {
        prepare_count(BK_SOURCE_EXTERNAL);
        stand_open(&stand);
        for (uint64_t row = 0; row < 11; row++) {
            if (row != 5)
                stand_write(&stand, 0, row, 0, row < 10 ? 0 : 1);
            else if (is_refused)
                stand_place(&stand, 0, row, 0, LAB_UNPLACED, 0);
        }
        stand_end(&stand);
        assert_violations(&stand, LAB_ORACLE_FILLED, !is_refused);
    }
}

/* Each of many partitions stays within the bound of a single one; together they have too many rows. */
static void test_bounded_evicted_keys_are_judged_by_their_sum(void **state)
{
    (void)state;
    for (int is_late = 0; is_late < 2; is_late++) {
        uint64_t each = is_late ? 10 + 3 * 40 + 2 + 2 * 20 : 10 + 3 * 40 + 2;
        prepare_count(BK_SOURCE_SCAN);
        stand.run.config.every_rows = 2;
        stand.run.key_count = 5;
        stand.scenario.agents.timeout_ns = 10 * SECOND; /* no request fails by itself */
        stand_open(&stand);
        for (uint64_t row = 0; row < 30 * each; row++) {
            stand_write(&stand, 0, row, 0, (int64_t)(row / each));
            stand_wait_until(&stand, (int64_t)row * SECOND / 40);
        }
        stand_end(&stand);
        assert_violations(&stand, LAB_ORACLE_BOUNDED, (uint64_t)is_late);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filled_rows_behind_the_roll_prove_nothing),
        cmocka_unit_test(test_filled_a_row_counted_at_the_roll_is_an_excuse),
        cmocka_unit_test(test_filled_under_changed_settings_by_those_of_its_rows),
        cmocka_unit_test(test_bounded_under_changed_settings_by_those_of_the_row),
        cmocka_unit_test(test_bounded_in_memory_is_exact),
        cmocka_unit_test(test_filled_counts_find_no_more_rows_than_there_are),
        cmocka_unit_test(test_filled_each_number_is_of_one_row),
        cmocka_unit_test(test_bounded_evicted_keys_are_judged_by_their_sum),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
