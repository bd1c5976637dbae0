/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available and filled. Method: on the oracles' test stand operations end by hand, before, within and after a
 * fault and its grace, and partitions close with one firing row too few. */
#include <stdlib.h>

#include "cluster_agents.h"
#include "cluster_view.h"
#include "events.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

static void tell(enum cluster_event_kind kind, struct lab_host_operation *operation)
{
    const struct cluster_event event = {.kind = kind, .operation = operation, .flag = true};
    cluster_available.on_event(&stand.run, NULL, &event);
}

/* S = T + B = 1.01 s; two steps are the bound, and the grace is the lag of 2 s and two steps. */
static void open_single(void)
{
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.run.config.retry_backoff_ns = 10 * SIM_MS;
    stand_open(&stand);
}

static void test_available_row_that_is_refused_while_all_is_well(void **state)
{
    (void)state;
    static const struct {
        int64_t fault_s, begun_s, ended_s; /* a fault that lasts a second; 0: none */
        uint64_t expected;
    } cases[] = {{0, 20, 21, 1},  {10, 20, 21, 1}, {19, 20, 21, 0},
                 {20, 20, 24, 0}, {15, 20, 21, 0}, {10, 15, 21, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_single();
        struct lab_host_operation operation = stand_operation(0, 0, 0);
        operation.begun_ns = stand_time(&stand, cases[i].begun_s * SECOND);
        if (cases[i].fault_s > 0) {
            stand_wait_until(&stand, cases[i].fault_s * SECOND);
            lab_health_pulse(&stand.run, stand_time(&stand, (cases[i].fault_s + 1) * SECOND));
        }
        stand_wait_until(&stand, cases[i].ended_s * SECOND);
        tell(CLUSTER_ROW_FAILED, &operation);
        assert_violations(&stand, LAB_ORACLE_AVAILABLE, cases[i].expected);
    }
}

static void test_available_row_that_is_acknowledged_too_late(void **state)
{
    (void)state;
    for (int64_t late_ms = 0; late_ms <= 1; late_ms++) {
        open_single();
        assert_int_equal(stand.run.oracles.available_ns, 2020 * SIM_MS);
        struct lab_host_operation operation = stand_operation(0, 0, 0);
        operation.begun_ns = stand_time(&stand, 20 * SECOND);
        stand_wait_until(&stand, 22020 * SIM_MS + late_ms * SIM_MS);
        tell(CLUSTER_ROW_UNUSUAL, &operation);
        assert_violations(&stand, LAB_ORACLE_AVAILABLE, (uint64_t)late_ms);
    }
}

/* 4 steps alone, 12 where others contend; with lwt, rows of one agent contend with each other. */
static void test_available_row_that_contends_has_a_longer_bound(void **state)
{
    (void)state;
    static const struct {
        enum bk_source source;
        uint32_t agents;
        int64_t steps;
    } cases[] = {{BK_SOURCE_EXTERNAL, 1, 4}, {BK_SOURCE_EXTERNAL, 3, 12}, {BK_SOURCE_LEASE, 1, 4},
                 {BK_SOURCE_LEASE, 3, 12},   {BK_SOURCE_LWT, 1, 12},      {BK_SOURCE_LWT, 3, 12}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct bk_strategy counted;
        bool is_guarded = cases[i / 2].source == BK_SOURCE_EXTERNAL, is_late = i % 2 != 0;
        assert_int_equal(bk_strategy_count(30, &counted), BK_OK);
        if (is_guarded)
            stand_prepare_probabilistic(&stand, BK_GUARDED);
        else
            stand_prepare(&stand, &counted, BK_SINGLE);
        stand.run.config.source = cases[i / 2].source;
        stand.run.config.retry_backoff_ns = 10 * SIM_MS;
        stand.run.agent_count = cases[i / 2].agents;
        stand_open(&stand);
        int64_t bound_ns = cases[i / 2].steps * 1010 * SIM_MS;
        assert_int_equal(stand.run.oracles.available_ns, bound_ns);
        struct lab_host_operation operation = stand_operation(0, 0, 0);
        operation.begun_ns = stand_time(&stand, 20 * SECOND);
        stand_wait_until(&stand, 20 * SECOND + bound_ns + is_late);
        tell(CLUSTER_ROW_UNUSUAL, &operation);
        assert_violations(&stand, LAB_ORACLE_AVAILABLE, is_late);
        stand.run.agent_count = 0; /* there are no agents to free */
    }
}

/* Faults do not excuse an operation that never ends. */
static void test_available_operation_that_never_ends(void **state)
{
    (void)state;
    static const int64_t spent_s[] = {1, 599, 600, 700};
    for (size_t i = 0; i < sizeof spent_s / sizeof *spent_s; i++) {
        for (int is_forgotten = 0; is_forgotten < 2; is_forgotten++) {
            open_single();
            lab_health_fault(&stand.run, true);
            struct lab_host_operation operation = stand_operation(0, 0, 0);
            operation.begun_ns = stand_time(&stand, 0);
            stand_wait_until(&stand, spent_s[i] * SECOND);
            if (!is_forgotten)
                lab_push(&stand.run, stand_time(&stand, SIM_HOUR), LAB_EVENT_TICK, 0);
            tell(CLUSTER_LOST, &operation);
            assert_violations(&stand, LAB_ORACLE_AVAILABLE, is_forgotten || spent_s[i] >= 600);
        }
    }
}

/* The threshold is 4. */
static void test_filled_partition_that_closes_too_early(void **state)
{
    (void)state;
    for (uint64_t rows = 3; rows <= 4; rows++) {
        for (int64_t bucket = 0; bucket <= 1; bucket++) {
            open_single();
            for (uint64_t row = 0; row < rows; row++) {
                struct lab_host_operation operation = stand_operation(0, row, 0);
                operation.fires = true;
                stand_place(&stand, 0, row, SECOND, 0, 0);
                stand_store(&stand, 0, row, SECOND, 0, true);
                stand_acknowledge(&stand, &operation);
            }
            stand_state(&stand, 0, bucket, SECOND, 0);
            stand_end(&stand);
            assert_violations(&stand, LAB_ORACLE_FILLED, rows == 3 && bucket == 1);
        }
    }
}

/* An increment that was made twice replaces a row of its own key; with guarded, a row of its own bucket. */
static void test_filled_doubled_increment_counts_for_its_own_key(void **state)
{
    (void)state;
    for (int is_guarded = 0; is_guarded < 2; is_guarded++) {
        for (uint32_t key = 0; key < 2; key++) {
            for (int64_t bucket = 0; bucket < 2; bucket++) {
                stand_prepare_probabilistic(&stand, is_guarded ? BK_GUARDED : BK_SINGLE);
                stand.run.config.counter = BK_COUNTER_NATIVE;
                stand.run.key_count = 2;
                stand_open(&stand);
                for (uint64_t row = 0; row < 3; row++) {
                    struct lab_host_operation operation = stand_operation(0, row, 0);
                    operation.fires = true;
                    stand_place(&stand, 0, row, SECOND, 0, 0);
                    stand_store(&stand, 0, row, SECOND, 0, true);
                    stand_acknowledge(&stand, &operation);
                }
                stand_place(&stand, 0, 3, SECOND, 1, 0);
                cluster_emit(&stand.run, COUNTER_ADDED, .bytes = lab_counter_key(&stand.run, key, bucket),
                             .number = 9, .value = 1);
                stand_state(&stand, 0, 1, SECOND, 0);
                bool is_explained = key == 0 && (bucket == 0 || !is_guarded);
                assert_violations(&stand, LAB_ORACLE_FILLED, !is_explained);
            }
        }
    }
}

/* Messages take a second. One that was sent during a delay by a factor of 10 arrives 9 s after the fault;
 * what comes later is judged again. If no message was delayed, only the client's timeout is waited for. */
static void test_health_returns_when_the_last_delayed_message_has_arrived(void **state)
{
    (void)state;
    for (int64_t is_sent = 0; is_sent <= 1; is_sent++) {
        stand_prepare_probabilistic(&stand, BK_SINGLE);
        stand.scenario.network.latency_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = SECOND};
        struct lab_fault declared = {.kinds = 1u << LAB_FAULT_DELAY, .at_ns = 10 * SECOND, .factor = 10};
        stand.scenario.faults = &declared;
        stand.scenario.fault_count = 1;
        stand_open(&stand);
        stand_wait_until(&stand, 10 * SECOND);
        const struct lab_active_fault delay = {.is_used = true, .kind = LAB_FAULT_DELAY, .factor = 10};
        lab_fault_begins(&stand.run, &delay, SIM_QUEUE_TIME_MAX, false); /* until the test ends it */
        const struct cass_statement write = {.kind = CASS_WRITE_ROW, .consistency = CASS_ONE};
        if (is_sent)
            cass_request(stand.run.cluster, 0, CASS_ANY_NODE, 0, &write);
        stand_wait_until(&stand, 11 * SECOND);
        lab_fault_end(&stand.run, 0);
        int64_t well_ns = 12 * SECOND + is_sent * 9 * SECOND;
        stand_wait_until(&stand, well_ns - 1);
        assert_true(lab_health_well_ns(&stand.run) < 0);
        stand_wait_until(&stand, well_ns + SECOND);
        assert_int_equal(lab_health_well_ns(&stand.run), SECOND);
        free(stand.run.active);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_available_row_that_is_refused_while_all_is_well),
        cmocka_unit_test(test_available_row_that_is_acknowledged_too_late),
        cmocka_unit_test(test_available_row_that_contends_has_a_longer_bound),
        cmocka_unit_test(test_available_operation_that_never_ends),
        cmocka_unit_test(test_health_returns_when_the_last_delayed_message_has_arrived),
        cmocka_unit_test(test_filled_partition_that_closes_too_early),
        cmocka_unit_test(test_filled_doubled_increment_counts_for_its_own_key),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
