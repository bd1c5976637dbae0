/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: work that other ranks do for a run gives the same result as without them, to the last bit; a rank that
 * fails, damaged bytes, a stop, and a lack of memory on any rank end the run with one line, and nothing
 * leaks. Method: the ranks are threads of this process (thread_ranks.h), so that the linker's refusals of
 * memory (tests/no_memory.h) reach all of them. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../no_memory.h"
#include "../stream/same.h"
#include "thread_ranks.h"

#define STREAM                                                                                               \
    "name: team\nduration: 1h\nkeys: {count: 300, popularity: {zipf: 1.1}}\narrivals: {rate: 1/s}\n"         \
    "row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\nreads: {latest: {rows: 20, rate: 60/h}}\n"
static const char stream[] = STREAM
    "strategies:\n  - time: {window: 10m}\n  - {label: c, count: {rows: 20, counter: external, max_age: "
    "5m}}\n"
    "  - hash: {buckets: 4}\n  - probabilistic: {bits: 2, threshold: 4}\nexpect: [c.writes.rows > 0]\n";
static const char table[] =
    "name: team\nduration: 1h\nkeys: {count: 300, popularity: {zipf: 1.1}}\n"
    "arrivals: {rate: 1/s}\nstrategies: [time: {window: 1m}, hash: {buckets: 4}]\n"
    "table:\n  name: t\n  columns: {k: key, b: bucket, at: time, v: {values: 3, zipf: 1}}\n"
    "  partition_key: [b, v]\n  clustering: [at]\n";
static const char thinned[] = "name: team\nengine: thinned\nduration: 1d\nkeys: {count: 40}\n"
                              "arrivals: {rate: 10/s}\nstrategies:\n  - time: {window: 1h}\n"
                              "  - probabilistic: {bits: 5, threshold: 8}\n";
#define RING "cluster: {nodes: 3, replication_factor: 3}\nagents: {count: 2, cache_entries: 8}\n"
static const char cluster[] = "name: team\nduration: 5s\nkeys: {count: 3}\narrivals: {rate: 20/s}\n" RING
                              "reads: {latest: {rows: 5, rate: 5/s}}\n"
                              "faults: [node_down: {node: 0, at: 1s, lasts: 2s}]\n"
                              "strategies:\n  - hash: {buckets: 4}\n  - time: {window: 1s}\n"
                              "  - probabilistic: {bits: 2, threshold: 4, coordination: locked}\n"
                              "  - count: {rows: 9, counter: lwt}\nexpect: [count.writes.rows > 0]\n";
static const char identifiers[] = "name: team\nduration: 1s\nidentifiers: {each: 50}\n" RING
                                  "strategies:\n  - {label: a, idgen: {batch: 5}}\n"
                                  "  - {label: b, idgen: {batch: 5, stripes: 2}}\n";
static const char *const texts[] = {stream, table, thinned, cluster, identifiers};
#define TEXTS (sizeof texts / sizeof *texts)

static lab_team_service *const services[LAB_SERVICES] = {
    [LAB_SERVICE_KEYS] = lab_serve_keys, [LAB_SERVICE_STRATEGIES] = lab_serve_strategies};

static bool run(const struct lab_scenario *scenario, uint32_t count, enum thread_fate fate, bool is_stopped,
                struct lab_result **out, struct sim_error *error)
{
    struct thread_world world;
    const struct lab_team team = {.ranks = world_begin(&world, count, fate, services)};
    struct lab_progress progress = {0};
    const struct lab_run_context context = {.progress = &progress, .team = &team};
    atomic_store(&progress.stop, is_stopped);
    *error = (struct sim_error){SIM_ERROR_NONE, ""};
    bool is_fine = lab_run_in(scenario, 1 + count % 2, &context, out, error);
    world_end(&world);
    assert_true(count > 1 || world.counter == 0);
    return is_fine;
}

static void test_other_ranks_do_not_change_the_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct lab_scenario *scenario = same_scenario(texts[i]);
        struct lab_result *expected = same_undisturbed(scenario), *result;
        struct sim_error error;
        for (uint32_t count = 1; count <= THREAD_RANKS_MAX; count++) {
            if (!run(scenario, count, DELIVERED, false, &result, &error))
                fail_msg("%s", error.text);
            const char *difference = same_difference(expected, result);
            if (difference != NULL)
                fail_msg("%s differ", difference);
            lab_result_destroy(result);
        }
        lab_result_destroy(expected);
        lab_scenario_destroy(scenario);
    }
}

/* If rank 0 does all the work, nothing fails. */
static void test_damaged_bytes_end_the_run_with_one_line(void **state)
{
    static const enum thread_fate fates[] = {CUT_ORDER, CUT_WORK, LONG_WORK};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t text = 0; text < TEXTS; text++) {
            struct lab_scenario *scenario = same_scenario(texts[text]);
            struct lab_result *result;
            struct sim_error error;
            int tries = 0;
            while (run(scenario, 2, fates[i], false, &result, &error)) {
                lab_result_destroy(result);
                assert_true(++tries < 1000);
            }
            assert_null(result);
            assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
            assert_string_equal(
                error.text,
                fates[i] == CUT_ORDER
                    ? "what a rank has sent came damaged; start the same command again (on rank 1, here)"
                    : "what a rank has sent came damaged; start the same command again");
            lab_scenario_destroy(scenario);
        }
    }
}

static void test_stop_reaches_other_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct lab_scenario *scenario = same_scenario(texts[i]);
        struct lab_result *result;
        struct sim_error error;
        assert_false(run(scenario, 3, DELIVERED, true, &result, &error));
        assert_null(result);
        assert_non_null(strstr(error.text, "stopped before the end"));
        lab_scenario_destroy(scenario);
    }
}

static void test_ranks_without_memory_fail_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct lab_scenario *scenario = same_scenario(texts[i]);
        struct lab_result *expected = same_undisturbed(scenario), *result;
        struct sim_error error;
        unsigned failed = 0;
        bool is_spent = true;
        for (long nth = 0; is_spent; nth += nth < 100 ? 1 : 37) {
            allocations_left = nth;
            bool ok = run(scenario, 3, DELIVERED, false, &result, &error);
            is_spent = allocations_left < 0;
            allocations_left = ALLOCATIONS_WITHOUT_END;
            assert_true(ok || is_spent);
            failed += !ok;
            if (ok)
                assert_int_equal(result->digest, expected->digest);
            else
                assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
            if (ok)
                lab_result_destroy(result);
        }
        assert_true(failed > 20);
        lab_result_destroy(expected);
        lab_scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_ranks_do_not_change_the_result),
        cmocka_unit_test(test_damaged_bytes_end_the_run_with_one_line),
        cmocka_unit_test(test_stop_reaches_other_ranks),
        cmocka_unit_test(test_ranks_without_memory_fail_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
