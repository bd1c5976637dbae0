/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run of either engine that runs out of memory fails with the environment's error, gives no result and
 * leaks nothing. Method: allocation 1, 2, 3 ... fails until the run succeeds by itself; its digest is then
 * that of an undisturbed run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../no_memory.h"
#include "../../share.h"
#include "lab/run.h"

/* Few operations and a small cache, but more pending events than the queue's first capacity, so that it
 * grows. */
static const char cluster[] =
    "name: memory\n"
    "duration: 1s\n"
    "keys: {count: 2200}\n"
    "arrivals: {rate: 20/s}\n"
    "row: {bytes: 100}\n"
    "reads: {latest: {rows: 5, rate: 2500/s}}\n"
    "limits: {partition_reads: 9/s}\n"
    "cluster: {nodes: 3, replication_factor: 3}\n"
    "agents: {count: 2, cache_entries: 8}\n"
    "faults:\n"
    "  - {slow_node: {node: 0, at: 200ms, lasts: 300ms}}\n"
    "  - {network_partition: {between: [agents, node 1], at: 200ms, lasts: 300ms}}\n"
    "  - {agent_crash: {agent: 1, at: 200ms, lasts: 300ms}}\n"
    "strategies:\n"
    "  - probabilistic: {bits: 1, threshold: 1}\n"
    "  - time: {window: 500ms}\n"
    "expect: [time.writes.rows > 0]\n";
static const char cluster_traced[] = "name: memory\n"
                                     "trace: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/traces/small.csv}\n"
                                     "cluster: {nodes: 1, replication_factor: 1}\n"
                                     "agents: {count: 1, cache_entries: 8}\n"
                                     "strategies: [unbucketed: {}]\n";

/* Enough partitions for the lists of a reader, the cells of a hash and the slots of a histogram to grow. */
#define STRATEGIES                                                                                           \
    "reads: {latest: {rows: 40, rate: 0.05/s}}\n"                                                            \
    "strategies:\n"                                                                                          \
    "  - count: {rows: 1, counter: external}\n"                                                              \
    "  - hash: {buckets: 100}\n"                                                                             \
    "  - probabilistic: {bits: 1, threshold: 20}\n"
static const char stream[] =
    "name: memory\n"
    "duration: 1h\n"
    "keys: {count: 9}\n"
    "arrivals: {rate: 1/s}\n"
    "row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n" STRATEGIES "expect: [hash.writes.rows > 0]\n";
static const char stream_traced[] =
    "name: memory\n"
    "duration: 1h\n"
    "trace: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/traces/small.csv}\n" STRATEGIES;

/* Tables: partitions of separate keys, and of shared keys; the distributions of their values. */
#define TABLE                                                                                                \
    "name: memory\n"                                                                                         \
    "duration: 10m\n"                                                                                        \
    "keys: {count: 4}\n"                                                                                     \
    "arrivals: {rate: 1/s}\n"                                                                                \
    "strategies: [time: {window: 1m}, hash: {buckets: 4}]\n"                                                 \
    "table:\n  name: t\n  columns: {k: key, b: bucket, at: time, v: {values: 3, zipf: 1}}\n"
static const char table_apart[] = TABLE "  partition_key: [k, b]\n  clustering: [v, at]\n";
static const char table_together[] = TABLE "  partition_key: [b, v]\n  clustering: [at]\n";

/* An observed strategy next to another one, and by itself. */
#define OBSERVED                                                                                             \
    "  - observed: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/observed/messages.csv}\n"                       \
    "  - observed: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/observed/messages.txt, label: o}\n"
static const char observed_beside[] =
    "name: memory\n"
    "duration: 1m\n"
    "keys: {count: 4}\n"
    "arrivals: {rate: 1/s}\n"
    "strategies:\n"
    "  - unbucketed: {}\n" OBSERVED
    "expect: [observed.partitions.total == 120, unbucketed.writes.rows > 0]\n";
static const char observed_alone[] =
    "name: memory\nstrategies:\n" OBSERVED "expect: [o.partitions.all.bytes.p50 > 0]\n";

static void run_with_refusals(const char *text, uint32_t jobs, long least)
{
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    if (!lab_scenario_parse("memory.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error) ||
        !lab_run(scenario, jobs, NULL, &result, &error))
        fail_msg("%s", error.text);
    uint64_t digest = result->digest;
    lab_result_destroy(result);
    long refused = 0;
    /* The calendar of an event queue, four arrays, and larger rings for its timeouts are optional. */
    size_t borne = 0;
    for (bool is_spent = true; is_spent; refused = test_next_fault(refused)) {
        result = (struct lab_result *)&error;
        error = (struct sim_error){SIM_ERROR_NONE, ""};
        allocations_left = refused;
        bool ok = lab_run(scenario, jobs, NULL, &result, &error);
        is_spent = allocations_left < 0;
        allocations_left = ALLOCATIONS_WITHOUT_END;
        if (!ok && !is_spent)
            fail_msg("refusal %ld: %s", refused, error.text);
        assert_int_equal(error.class, ok ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        if (!ok) {
            assert_null(result);
            continue;
        }
        assert_int_equal(result->digest, digest);
        lab_result_destroy(result);
        borne += is_spent;
    }
    assert_true(refused > least);
    assert_true(borne <= (scenario->agents.present ? 10 * scenario->strategy_count : 0));
    lab_scenario_destroy(scenario);
}

static void test_cluster_run_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(cluster, 1, 60);
}

static void test_cluster_run_of_a_trace_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(cluster_traced, 1, 30);
}

static void test_stream_run_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(stream, 1, 60);
}

/* The cells of a hash grow at a row that is placed, or at one of the last second that is looked at again. */
static void test_hash_without_memory_fails_clean_where_its_cells_grow(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 20; seed++) {
        char text[256];
        snprintf(text, sizeof text,
                 "name: memory\nseed: %d\nduration: 9s\nkeys: {count: 1}\narrivals: {rate: 1/s}\n"
                 "strategies: [hash: {buckets: 100}]\n",
                 seed);
        run_with_refusals(text, 1, 20);
    }
}

static void test_stream_run_of_two_workers_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(stream, 2, 80);
}

static void test_stream_run_of_a_trace_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(stream_traced, 1, 60);
}

static void test_run_with_a_table_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(table_apart, 1, 30);
    run_with_refusals(table_together, 1, 30);
    run_with_refusals(table_together, 2, 30);
}

static void test_run_with_observed_sizes_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(observed_beside, 1, 40);
    run_with_refusals(observed_alone, 1, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream_run_without_memory_fails_clean),
        cmocka_unit_test(test_hash_without_memory_fails_clean_where_its_cells_grow),
        cmocka_unit_test(test_stream_run_of_two_workers_without_memory_fails_clean),
        cmocka_unit_test(test_stream_run_of_a_trace_without_memory_fails_clean),
        cmocka_unit_test(test_run_with_a_table_without_memory_fails_clean),
        cmocka_unit_test(test_run_with_observed_sizes_without_memory_fails_clean),
        cmocka_unit_test(test_cluster_run_without_memory_fails_clean),
        cmocka_unit_test(test_cluster_run_of_a_trace_without_memory_fails_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
