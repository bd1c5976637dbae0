/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run of the cluster engine that gets no memory fails as the environment's error, gives no result and
 * leaks nothing. Method: the linker puts the functions below in the place of malloc and its kin; allocation
 * 1, 2, 3 ... fails until the run succeeds by itself, and then has the digest of one that was never refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/run.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);

static long allocations_left = -1; /* negative: without end */

static bool is_refused(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return is_refused() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
    return is_refused() ? NULL : __real_strdup(text);
}

/* Few operations and a small cache, but more pending events than the queue begins with, so that it grows. */
static const char made[] = "name: memory\n"
                           "duration: 1s\n"
                           "keys: {count: 2200}\n"
                           "arrivals: {rate: 20/s}\n"
                           "row: {bytes: 100}\n"
                           "reads: {latest: {rows: 5, rate: 2500/s}}\n"
                           "cluster: {nodes: 3, replication_factor: 3}\n"
                           "agents: {count: 2, cache_entries: 8}\n"
                           "faults:\n"
                           "  - {slow_node: {node: 0, at: 200ms, lasts: 300ms}}\n"
                           "  - {cut: {between: [agents, node 1], at: 200ms, lasts: 300ms}}\n"
                           "  - {agent_crash: {agent: 1, at: 200ms, lasts: 300ms}}\n"
                           "strategies:\n"
                           "  - probabilistic: {bits: 1, threshold: 1}\n"
                           "  - time: {window: 500ms}\n"
                           "expect: [time.writes.rows > 0]\n";
static const char traced[] = "name: memory\n"
                             "trace: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/traces/small.csv}\n"
                             "cluster: {nodes: 1, replication_factor: 1}\n"
                             "agents: {count: 1, cache_entries: 8}\n"
                             "strategies: [none: {}]\n";

static void run_with_refusals(const char *text, long least)
{
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    if (!lab_scenario_parse("memory.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error) ||
        !lab_run(scenario, 1, NULL, &result, &error))
        fail_msg("%s", error.text);
    uint64_t digest = result->digest;
    lab_result_destroy(result);
    long refused = 0;
    for (bool ok = false; !ok; refused++) {
        result = (struct lab_result *)&error;
        error = (struct sim_error){SIM_ERROR_NONE, ""};
        allocations_left = refused;
        ok = lab_run(scenario, 1, NULL, &result, &error);
        bool is_spent = allocations_left < 0;
        allocations_left = -1;
        if (ok == is_spent)
            fail_msg("refusal %ld: %s", refused, ok ? "is not noticed" : error.text);
        assert_int_equal(error.class, ok ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        if (!ok) {
            assert_null(result);
            continue;
        }
        assert_int_equal(result->digest, digest);
        lab_result_destroy(result);
    }
    assert_true(refused > least);
    lab_scenario_destroy(scenario);
}

static void test_cluster_run_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(made, 60);
}

static void test_cluster_run_of_a_trace_without_memory_fails_clean(void **state)
{
    (void)state;
    run_with_refusals(traced, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster_run_without_memory_fails_clean),
        cmocka_unit_test(test_cluster_run_of_a_trace_without_memory_fails_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
