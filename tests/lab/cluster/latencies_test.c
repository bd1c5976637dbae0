/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run without latencies and views is otherwise the same run. Method: drawn scenarios are run both
 * ways, and their digests, violations, conditions, rare paths and other metrics are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../share.h"
#include "lab/fuzz.h"
#include "lab/run.h"

#define SEEDS test_part(400)

static void check_same(const struct lab_strategy_result *whole, const struct lab_strategy_result *without,
                       uint64_t seed)
{
    const struct lab_verdict *all = &whole->verdict, *some = &without->verdict;
    if (whole->events.digest != without->events.digest)
        fail_msg("seed %llu: the digests of events differ", (unsigned long long)seed);
    assert_int_equal(all->conditions, some->conditions);
    assert_memory_equal(all->lapsed, some->lapsed, sizeof all->lapsed);
    assert_memory_equal(all->probes, some->probes, sizeof all->probes);
    for (int i = 0; i < LAB_ORACLE_COUNT; i++) {
        const struct lab_violation *one = &all->violations[i], *other = &some->violations[i];
        if (one->count != other->count || one->is_excused != other->is_excused ||
            strcmp(one->text, other->text) != 0)
            fail_msg("seed %llu: %s differs: %llu '%s', and %llu '%s' without latencies",
                     (unsigned long long)seed, lab_oracle_name((enum lab_oracle)i),
                     (unsigned long long)one->count, one->text, (unsigned long long)other->count,
                     other->text);
    }
}

static struct lab_result *run_in(const struct lab_scenario *scenario, const struct lab_run_context *context,
                                 uint64_t seed)
{
    struct lab_result *result = NULL;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    if (!lab_run_in(scenario, 1, context, &result, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    return result;
}

static struct lab_scenario *drawn(uint64_t seed)
{
    static const struct lab_fuzz_base nothing = {0};
    struct lab_scenario *scenario = NULL;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    if (!lab_fuzz_scenario(&nothing, seed, true, &scenario, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    return scenario;
}

static void check_metrics(const struct lab_metrics *all, const struct lab_metrics *without, uint64_t seed)
{
    size_t left_out = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct lab_metric *metric = lab_metrics_find(without, all->items[i].name);
        const bool is_latency = strstr(all->items[i].name, "latency.") != NULL;
        left_out += is_latency;
        if (is_latency
                ? metric != NULL
                : metric == NULL || memcmp(&metric->value, &all->items[i].value, sizeof metric->value) != 0)
            fail_msg("seed %llu: %s differs", (unsigned long long)seed, all->items[i].name);
    }
    assert_int_equal(without->count + left_out, all->count);
}

static void test_without_latencies_all_else_is_the_same(void **state)
{
    static const struct lab_run_context whole = {.only_judges = false}, without = {.no_latencies = true};
    size_t timed = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_scenario *scenario = drawn(seed);
        struct lab_result *all = run_in(scenario, &whole, seed), *some = run_in(scenario, &without, seed);
        assert_int_equal(all->digest, some->digest);
        for (size_t i = 0; i < all->strategy_count && !scenario->identifiers.present; i++) {
            check_same(&all->strategies[i], &some->strategies[i], seed);
            check_metrics(&all->strategies[i].metrics, &some->strategies[i].metrics, seed);
            assert_int_equal(some->strategies[i].views.count, 0);
            for (int kind = 0; kind < LAB_LATENCY_COUNT; kind++) {
                timed += all->strategies[i].latency[kind].count > 0;
                assert_int_equal(some->strategies[i].latency[kind].count, 0);
            }
        }
        lab_result_destroy(all);
        lab_result_destroy(some);
        lab_scenario_destroy(scenario);
    }
    assert_true(timed > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_latencies_all_else_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
