/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: runs of identifiers give their clients identifiers, count those that are given twice or lost, and are
 * reproducible. Method: the oracle's intervals are compared with a map of every number; small scenarios have
 * figures that are known in advance. */
#include <stdlib.h>

#include "kernel/random.h"
#include "oracles.h"
#include "run_of.h"

#define NUMBERS 400

static void test_spans_count_what_a_map_counts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct lab_id_spans spans = {0};
        uint8_t map[NUMBERS + 1] = {0};
        struct sim_random random;
        sim_random_init(&random, seed, SIM_CHOICE, 0);
        for (int i = 0; i < 60; i++) {
            int64_t first = (int64_t)sim_random_below(&random, NUMBERS - 20);
            int64_t end = first + 1 + (int64_t)sim_random_below(&random, 20);
            uint64_t twice, expected = 0, runs = 0;
            for (int64_t at = first; at < end; at++) {
                expected += map[at];
                map[at] = 1;
            }
            assert_true(lab_id_spans_add(&spans, first, end, &twice));
            assert_int_equal(twice, expected);
            for (int at = 0; at < NUMBERS; at++)
                runs += map[at] == 1 && map[at + 1] == 0;
            assert_int_equal(spans.count, runs); /* no two of them touch */
        }
        free(spans.items);
    }
}

/* Any number of adjacent identifiers form one span. */
static void test_adjacent_spans_take_no_memory(void **state)
{
    (void)state;
    struct lab_id_spans spans = {0};
    uint64_t twice;
    for (int64_t at = 0; at < 100000; at++)
        assert_true(lab_id_spans_add(&spans, at * 3, at * 3 + 3, &twice) && twice == 0);
    assert_int_equal(spans.count, 1);
    assert_true(spans.capacity <= 16);
    free(spans.items);
}

#define ONE_NODE                                                                                             \
    "cluster: {nodes: 1, network: {latency: 1ms}, node: {write: 0s, read: 0s, scan_row: 0s, "                \
    "scan_tombstone: 0s}}\n"

/* A single client: a lease takes four round trips of 2 ms, and its release one more before the next can
 * begin. */
static void test_one_client_alone_takes_five_round_trips_a_batch(void **state)
{
    (void)state;
    struct lab_result *result = run("duration: 1s\nidentifiers: {}\n" ONE_NODE
                                    "agents: {count: 1}\nstrategies: [idgen: {batch: 10}]\n");
    assert_true(metric(result, "ids.given") == 1000); /* 100 leases, one every 10 ms */
    assert_true(metric(result, "ids.per_second") == 1000);
    /* An operation under way at the end of the run is finished. */
    assert_true(metric(result, "locks.tried") == 101 && metric(result, "locks.acquired") == 101);
    assert_true(metric(result, "ids.in_hand") == 10);
    assert_true(metric(result, "locks.busy") == 0 && metric(result, "ids.failed") == 0);
    assert_true(metric(result, "ids.lost") == 0 && metric(result, "ids.leased") == 1010);
    assert_true(metric(result, "writes.state_reads") == 101 && metric(result, "writes.state_writes") == 101);
    assert_true(metric(result, "latency.lock.p50") == 6 && metric(result, "latency.lease.p50") == 10);
    const struct lab_histogram *latency = result->strategies[0].latency;
    assert_true(latency[LAB_LATENCY_LOCK].most == 6000000 && latency[LAB_LATENCY_LEASE].most == 10000000);
    assert_true(metric(result, "oracle.unique.violations") == 0);
    assert_string_equal(lab_result_kind(&result->strategies[0]), "idgen");
}

static void test_clients_stop_when_each_has_its_identifiers(void **state)
{
    (void)state;
    struct lab_result *result = run("duration: 1h\nidentifiers: {each: 25, think: 1ms}\n" ONE_NODE
                                    "agents: {count: 4}\nstrategies: [idgen: {batch: 10, stripes: 2}]\n");
    assert_true(metric(result, "ids.given") == 100);
    assert_true(metric(result, "ids.client_least") == 25 && metric(result, "ids.client_most") == 25);
    assert_true(metric(result, "ids.leased") == 120 && metric(result, "ids.in_hand") == 20);
    assert_true(metric(result, "ids.lost") == 0);
    assert_true(metric(result, "ids.per_second") > 10); /* not over the whole hour */
}

/* The identifiers in hand of a client that dies are lost, and its lock blocks others no longer than the lock
 * lasts. */
static void test_the_batch_of_a_client_that_dies_is_lost(void **state)
{
    (void)state;
    struct lab_result *result =
        run("duration: 10s\nidentifiers: {think: 100ms}\n" ONE_NODE "agents: {count: 1, restart: 1s}\n"
            "faults: [agent_crash: {agent: 0, at: 2s}]\n"
            "strategies: [idgen: {batch: 1000}]\n");
    double given = metric(result, "ids.given"), lost = metric(result, "ids.lost");
    assert_true(lost > 970 && lost < 990); /* some 20 were given by then */
    assert_true(metric(result, "ids.leased") == 2000);
    assert_true(given + lost + metric(result, "ids.in_hand") == 2000);
}

/* A lock of either kind that a dead holder left is taken over after it has expired. */
static void test_locks_of_crashed_clients_expire(void **state)
{
    (void)state;
    static const char *const locks[] = {"columns", "lwt"};
    for (int i = 0; i < 2; i++) {
        struct lab_result *result =
            run_filled("duration: 10s\nidentifiers: {}\n" ONE_NODE "agents: {count: 2}\n"
                       "faults: [agent_crash: {agent: 0, at: 1003ms, lasts: 1h},\n"
                       "  agent_crash: {agent: 1, at: 1003ms, lasts: 500ms}]\n"
                       "strategies: [idgen: {lock: %s, lock_lasts: 1s}]\n",
                       locks[i]);
        assert_true(metric(result, "ids.client_most") > metric(result, "ids.client_least"));
        assert_true(metric(result, "oracle.unique.violations") == 0);
    }
}

static void test_a_limit_ends_leases_in_failure(void **state)
{
    (void)state;
    struct lab_result *result = run("duration: 1s\nidentifiers: {}\n" ONE_NODE "agents: {count: 8}\n"
                                    "strategies: [idgen: {backoff: {constant: 1ms, attempts: 2}}]\n");
    assert_true(metric(result, "ids.failed") > 10);
}

/* The oracle is effective: where nothing is guaranteed, and clocks jump, it finds identifiers given twice. */
static void test_levels_without_overlap_repeat_identifiers(void **state)
{
    (void)state;
    double twice = 0;
    for (int seed = 1; seed <= 10 && twice == 0; seed++) {
        struct lab_result *result =
            run_filled("seed: %d\nduration: 30s\nidentifiers: {}\n"
                       "cluster: {nodes: 3, consistency: {state: ONE}}\nagents: {count: 6}\n"
                       "faults: [node_down: {node: 0, at: 5s, lasts: 5s}]\n"
                       "strategies: [idgen: {batch: 10}]\n",
                       seed);
        twice = metric(result, "oracle.unique.violations");
        assert_true((result->strategies[0].verdict.conditions >> LAB_CONDITION_WEAK_LEVELS & 1) == 1);
    }
    assert_true(twice > 0);
}

static void test_the_same_seed_is_the_same_run(void **state)
{
    (void)state;
    uint64_t digests[3];
    for (int i = 0; i < 3; i++) {
        struct lab_result *result = run_filled("seed: %d\nduration: 2s\nidentifiers: {}\nagents: {count: 5}\n"
                                               "strategies: [idgen: {stripes: 3, choice: rotate}]\n",
                                               i < 2 ? 1 : 2);
        digests[i] = result->digest;
    }
    assert_int_equal(digests[0], digests[1]);
    assert_int_not_equal(digests[0], digests[2]);
}

/* Guarantees are looked up by kind and protocol; for an identifier's strategy the protocol is its lock. */
static void test_each_lock_has_a_guarantee_of_its_own(void **state)
{
    (void)state;
    struct lab_settings settings = {.is_idgen = true, .idgen = {.lock = BK_IDGEN_LOCK_COLUMNS}};
    assert_true(lab_settings_kind(&settings) == LAB_KIND_IDGEN);
    const struct lab_guarantee *columns =
        lab_guarantee_find(LAB_KIND_IDGEN, lab_settings_protocol(&settings), LAB_ORACLE_UNIQUE);
    settings.idgen.lock = BK_IDGEN_LOCK_LWT;
    const struct lab_guarantee *lwt =
        lab_guarantee_find(LAB_KIND_IDGEN, lab_settings_protocol(&settings), LAB_ORACLE_UNIQUE);
    assert_non_null(columns);
    assert_non_null(lwt);
    assert_ptr_not_equal(columns, lwt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        runs_test(test_spans_count_what_a_map_counts),
        runs_test(test_adjacent_spans_take_no_memory),
        runs_test(test_one_client_alone_takes_five_round_trips_a_batch),
        runs_test(test_clients_stop_when_each_has_its_identifiers),
        runs_test(test_the_batch_of_a_client_that_dies_is_lost),
        runs_test(test_locks_of_crashed_clients_expire),
        runs_test(test_a_limit_ends_leases_in_failure),
        runs_test(test_levels_without_overlap_repeat_identifiers),
        runs_test(test_the_same_seed_is_the_same_run),
        runs_test(test_each_lock_has_a_guarantee_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
