/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when memory runs out, parsing a scenario fails with the environment's error, creates nothing and leaks
 * nothing. Method: allocation 1, 2, 3 ... fails until parsing succeeds by itself. The YAML library's internal
 * allocations are not refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../no_memory.h"
#include "lab/fuzz.h"
#include "lab/scenario.h"
#include "lab/sweep.h"

#define ALLOCATIONS_MIN 10 /* fewer allocations mean that the linker's switch is missing */
#define ALLOCATIONS_MAX 1000

static void fail_each_allocation(bool (*load)(struct lab_scenario **out, struct sim_error *error))
{
    int count = 0;
    for (; count < ALLOCATIONS_MAX; count++) {
        struct sim_error error = {SIM_ERROR_NONE, ""};
        struct lab_scenario *scenario = (struct lab_scenario *)&error;
        allocations_left = count;
        bool ok = load(&scenario, &error);
        allocations_left = ALLOCATIONS_WITHOUT_END;
        if (ok) {
            lab_scenario_destroy(scenario);
            break;
        }
        assert_null(scenario);
        assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        assert_non_null(strstr(error.text, "out of memory; "));
    }
    assert_in_range(count, ALLOCATIONS_MIN, ALLOCATIONS_MAX - 1);
}

static bool load_example(struct lab_scenario **out, struct sim_error *error)
{
    static const struct lab_override overrides[] = {
        {"arrivals.spikes[0].factor=3"},
        {"strategies.hash.label=h"},
        {"expect=[h.partitions.total > 1]"},
        {"row.schema={file: ../tests/cassandra5/cql_types.cql, table: as_value}"},
        {"cluster.node.like=../tests/cassandra5/latency/one-v1.json"}};
    return lab_scenario_load(BUCKETLAB_SOURCE_DIR "/scenarios/chat-channels.yaml", overrides, 5, NULL, out,
                             error);
}

static bool parse_trace(struct lab_scenario **out, struct sim_error *error)
{
    static const char text[] =
        "trace: {file: a.csv}\nstrategies:\n  - unbucketed: {label: a}\n  - time: {window: 1d}\n"
        "  - hash: {buckets: 2}\n  - observed: {file: b.csv, table: k.t, label: o}\nexpect: [a.x < 1, time.x "
        "< 2, hash.x < 3]\n";
    return lab_scenario_parse("folder/x.yaml", text, sizeof text - 1, NULL, 0, NULL, out, error);
}

static bool load_faults(struct lab_scenario **out, struct sim_error *error)
{
    return lab_scenario_load(BUCKETLAB_SOURCE_DIR "/scenarios/faults.yaml", NULL, 0, NULL, out, error);
}

static bool draw_seed(struct lab_scenario **out, struct sim_error *error)
{
    static const char text[] = "agents: {count: 3}\nstrategies: [{unbucketed: {}}, {hash: {buckets: 2}}]\n";
    static const struct lab_override overrides[] = {{"cluster.nodes=4"}};
    const struct lab_fuzz_base base = {"x.yaml", text, sizeof text - 1, overrides, 1, 0};
    return lab_fuzz_scenario(&base, 3, true, out, error);
}

/* Part of the text must be removed, and part must remain. */
static bool is_long(void *context, const char *text)
{
    (void)context;
    return strlen(text) > 300;
}

static void test_scenario_without_memory_fails_and_leaks_nothing(void **state)
{
    (void)state;
    fail_each_allocation(load_example);
}

static void test_trace_scenario_without_memory_fails_and_leaks_nothing(void **state)
{
    (void)state;
    fail_each_allocation(parse_trace);
}

static void test_faults_without_memory_fail_and_leak_nothing(void **state)
{
    (void)state;
    fail_each_allocation(load_faults);
}

static void test_drawn_scenario_without_memory_fails_and_leaks_nothing(void **state)
{
    (void)state;
    fail_each_allocation(draw_seed);
}

static void test_sweep_without_memory_fails_and_leaks_nothing(void **state)
{
    (void)state;
    static const char text[] = "duration: 1d\nkeys: {count: 10}\narrivals: {rate: 1/s}\n"
                               "strategies:\n  - hash: {buckets: 2}\nsweep:\n  seeds: [3, 4]\n  grid:\n"
                               "    strategies.hash.buckets: [2, 3]\n    duration: [1d, 2d]\n"
                               "  list:\n    - {duration: 3d, seed: 9}\n";
    int count = 0;
    for (bool is_done = false; !is_done && count < ALLOCATIONS_MAX; count++) {
        struct sim_error error = {SIM_ERROR_NONE, ""};
        struct lab_sweep *sweep = (struct lab_sweep *)&error;
        struct lab_scenario *scenario = NULL;
        const struct lab_override overrides[] = {{"keys.count=20"}};
        allocations_left = count;
        bool is_read = lab_sweep_parse("x.yaml", text, sizeof text - 1, overrides, 1, NULL, &sweep, &error);
        is_done = is_read && lab_sweep_scenario(sweep, 8, &scenario, &error);
        allocations_left = ALLOCATIONS_WITHOUT_END;
        assert_int_equal(error.class, is_done ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        assert_true(is_read == (sweep != NULL) && is_done == (scenario != NULL));
        if (is_done)
            assert_true(scenario->seed == 9);
        lab_scenario_destroy(scenario);
        lab_sweep_destroy(sweep);
    }
    assert_in_range(count, ALLOCATIONS_MIN, ALLOCATIONS_MAX - 1);
}

static void test_shrinking_without_memory_fails_and_leaks_nothing(void **state)
{
    (void)state;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct lab_scenario *scenario;
    assert_true(draw_seed(&scenario, &error));
    int count = 0;
    for (bool is_done = false; !is_done && count < ALLOCATIONS_MAX; count++) {
        char *shrunk = NULL;
        error.class = SIM_ERROR_NONE;
        allocations_left = count;
        is_done = lab_shrink(scenario->text, 20, is_long, NULL, &shrunk, &error);
        allocations_left = ALLOCATIONS_WITHOUT_END;
        assert_int_equal(error.class, is_done ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        assert_true(is_done == (shrunk != NULL));
        if (is_done)
            assert_in_range(strlen(shrunk), 300, strlen(scenario->text) - 1);
        free(shrunk);
    }
    assert_in_range(count, ALLOCATIONS_MIN, ALLOCATIONS_MAX - 1);
    lab_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenario_without_memory_fails_and_leaks_nothing),
        cmocka_unit_test(test_faults_without_memory_fail_and_leak_nothing),
        cmocka_unit_test(test_trace_scenario_without_memory_fails_and_leaks_nothing),
        cmocka_unit_test(test_drawn_scenario_without_memory_fails_and_leaks_nothing),
        cmocka_unit_test(test_sweep_without_memory_fails_and_leaks_nothing),
        cmocka_unit_test(test_shrinking_without_memory_fails_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
