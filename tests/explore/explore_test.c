/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the explorer reaches every state once, and tells the shortest path to each broken guarantee.
 * Method: worlds whose numbers of states follow from counting by hand; the same world with one thread and
 * with two; a path whose length is known; and a path that the world's moves can repeat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "explore/explore.h"

static struct explore_config world_of(const char *protocol, uint32_t agents, uint32_t rows)
{
    struct explore_config config = {.agents = agents,
                                    .rows = rows,
                                    .fires = (1u << rows) - 1,
                                    .threshold = 1,
                                    .threads = 1,
                                    .states_max = UINT64_MAX,
                                    .memory_bytes = (size_t)1 << 24};
    assert_true(explore_find_protocol(protocol, NULL, &config));
    config.agent.cache_ttl_ns = EXPLORE_TICK_NS;
    config.agent.lead_ns = config.agent.grant_ns = config.agent.lock_lasts_ns = 2 * EXPLORE_TICK_NS;
    config.agent.cache_entries = 4;
    config.agent.operations = 1;
    config.agent.retries = 1;
    config.agent.agent_id = 1;
    return config;
}

static struct explore_result explore(const struct explore_config *config)
{
    struct explore_result result;
    struct sim_error error = {0};
    if (!explore_run(config, NULL, NULL, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

static void assert_counts(const struct explore_config *config, uint64_t states, uint64_t transitions,
                          uint32_t depth)
{
    struct explore_result result = explore(config);
    assert_true(result.is_complete && result.broken_count == 0);
    assert_int_equal(result.states, states);
    assert_int_equal(result.transitions, transitions);
    assert_int_equal(result.depth - 1, depth);
    explore_result_free(&result);
}

/* With `count` a row is put at once. So each row that was taken is asked for, stored, or done, and the states
 * with k rows are 3^k: agents are alike, and with as many agents as rows one is always free to take the next
 * row. */
static void test_rows_that_are_only_put_have_three_states_each(void **state)
{
    (void)state;
    struct explore_config one = world_of("count", 1, 1), two = world_of("count", 2, 2),
                          three = world_of("count", 3, 3);
    assert_counts(&one, 1 + 3, 3, 3);
    assert_counts(&two, 1 + 3 + 9, 1 + 2 + 3 + 12, 6);
    assert_counts(&three, 1 + 3 + 9 + 27, 1 + 2 + 3 + 12 + 9 + 54, 9);
}

/* One row of `count, counter` has three requests, of `count, lwt` too, each asked for and then answered; and
 * a state before, and one after them. */
static void test_one_row_has_two_states_for_each_request(void **state)
{
    (void)state;
    struct explore_config counter = world_of("count, counter", 1, 1), lwt = world_of("count, lwt", 1, 1);
    assert_counts(&counter, 1 + 3 * 2 + 1, 7, 7);
    assert_counts(&lwt, 1 + 3 * 2 + 1, 7, 7);
}

/* A second that may pass at n places of the path above doubles what follows; where an answer waits, none
 * passes. With `count` and one row it may pass before the row is taken (then its time differs), or while the
 * request is under way.
 *
 *     tick 0: free, asked, stored, done          tick 1: free', asked' of either time, stored' , done' of
 * either no tick from stored (an answer waits) nor from done (nothing is left) */
static void test_time_passes_unless_an_answer_waits(void **state)
{
    (void)state;
    struct explore_config config = world_of("count", 1, 1);
    config.ticks = 1;
    assert_counts(&config, 4 + 1 + 2 + 2 + 2, 3 + 2 + 1 + 2 + 2, 4);
}

/* take; read effect, answer; put effect, answer: acknowledged; update effect, answer; take; put effect. */
static void test_shortest_break_is_as_short_as_by_hand(void **state)
{
    (void)state;
    struct explore_config config = world_of("single", 2, 2);
    config.agent.counter = BK_COUNTER_LWT;
    struct explore_result result = explore(&config);
    assert_int_equal(result.broken_count, 1);
    const struct explore_break *broken = &result.broken[0];
    assert_int_equal(broken->oracle, LAB_ORACLE_MONOTONE);
    assert_int_equal(broken->steps, 9);
    assert_int_equal(broken->path[0].kind, EXPLORE_WRITE);
    assert_int_equal(broken->path[4].acknowledged, 1);
    assert_int_equal(broken->path[8].action.kind, BK_ACT_PUT_ROW);
    assert_int_equal(broken->path[8].action.bucket, 1);
    assert_string_equal(broken->text,
                        "row 1 is in bucket 1, and row 0, which is of the same time, in bucket 0");
    explore_result_free(&result);
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    struct explore_config config = world_of("three-state", 2, 3);
    config.ticks = 2;
    config.faults = 1;
    config.may = 1u << EXPLORE_LATE;
    config.threshold = 2;
    config.agent.strategy.of.probabilistic.threshold = 2;
    struct explore_result one = explore(&config);
    config.threads = 2;
    struct explore_result two = explore(&config);
    assert_true(one.is_complete && two.is_complete && one.states > 100000);
    assert_int_equal(one.states, two.states);
    assert_int_equal(one.transitions, two.transitions);
    assert_int_equal(one.depth, two.depth);
    assert_int_equal(one.probes, two.probes);
    assert_int_equal(one.broken_count, two.broken_count);
    assert_true(one.broken_count > 0);
    for (uint32_t i = 0; i < one.broken_count; i++) {
        assert_int_equal(one.broken[i].steps, two.broken[i].steps);
        assert_memory_equal(one.broken[i].path, two.broken[i].path,
                            one.broken[i].steps * sizeof *one.broken[i].path);
    }
    explore_result_free(&one);
    explore_result_free(&two);
}

/* The reduction leaves out states, but no store, and so no break and nothing that is met. */
static void test_reduced_search_reaches_every_store(void **state)
{
    (void)state;
    static const char *const protocols[] = {"single", "locked", "three-state", "guarded", "count, lwt"};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        struct explore_config config = world_of(protocols[i], 2, 2);
        config.ticks = 1;
        config.faults = 1;
        config.may = 1u << EXPLORE_LATE | 1u << EXPLORE_UNKNOWN | 1u << EXPLORE_CRASH;
        struct explore_result reduced = explore(&config);
        config.is_whole = true;
        struct explore_result whole = explore(&config);
        assert_true(reduced.is_complete && whole.is_complete && reduced.states < whole.states);
        assert_int_equal(reduced.stores, whole.stores);
        assert_int_equal(reduced.probes, whole.probes);
        assert_int_equal(reduced.broken_count, whole.broken_count);
        for (uint32_t b = 0; b < whole.broken_count; b++) {
            assert_int_equal(reduced.broken[b].oracle, whole.broken[b].oracle);
            assert_int_equal(reduced.broken[b].steps, whole.broken[b].steps);
        }
        explore_result_free(&reduced);
        explore_result_free(&whole);
    }
}

static void test_search_ends_at_its_bounds(void **state)
{
    (void)state;
    struct explore_config config = world_of("guarded", 2, 2);
    config.ticks = 3;
    config.states_max = 5000;
    struct explore_result result = explore(&config);
    assert_true(!result.is_complete && result.states >= 5000 && result.states < 10000 && result.frontier > 0);
    explore_result_free(&result);
    config.states_max = UINT64_MAX;
    config.memory_bytes = 1 << 16; /* 4096 entries, of which 15 of 16 are used */
    result = explore(&config);
    assert_true(!result.is_complete && result.states >= 3840 && result.states < 4096);
    explore_result_free(&result);
}

/* A level of many states has more successors than the free entries of a small table, whatever the threads. */
static void test_search_ends_before_its_table_is_full(void **state)
{
    (void)state;
    struct explore_config config = world_of("guarded", 2, 3);
    config.ticks = 3;
    for (config.memory_bytes = 1; config.memory_bytes < 1 << 20; config.memory_bytes *= 4)
        for (config.threads = 1; config.threads <= 64; config.threads *= 8) {
            struct explore_result result = explore(&config);
            assert_true(!result.is_complete && result.states > 512);
            explore_result_free(&result);
        }
}

static void test_a_world_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct explore_result result;
    struct sim_error error = {0};
    struct explore_config config = world_of("guarded", EXPLORE_AGENTS_MAX + 1, 2);
    assert_false(explore_run(&config, NULL, NULL, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    config = world_of("guarded", 2, 2);
    config.agent.grant_ns = 0;
    assert_false(explore_run(&config, NULL, NULL, &result, &error));
    assert_false(explore_find_protocol("guraded", NULL, &config));
    assert_false(explore_find_protocol("single", "paxos", &config));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_that_are_only_put_have_three_states_each),
        cmocka_unit_test(test_one_row_has_two_states_for_each_request),
        cmocka_unit_test(test_time_passes_unless_an_answer_waits),
        cmocka_unit_test(test_shortest_break_is_as_short_as_by_hand),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_reduced_search_reaches_every_store),
        cmocka_unit_test(test_search_ends_at_its_bounds),
        cmocka_unit_test(test_search_ends_before_its_table_is_full),
        cmocka_unit_test(test_a_world_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
