/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an oracle that receives only the events that concern it finds the same as an oracle that receives all
 * events, and nothing else of the run changes. Method: drawn scenarios are run both ways, and their digests,
 * violations, conditions and rare paths are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/fuzz.h"
#include "lab/run.h"

#define SEEDS 400u

static void check_same(const struct lab_strategy_result *told_all, const struct lab_strategy_result *told,
                       uint64_t seed)
{
    const struct lab_verdict *all = &told_all->verdict, *some = &told->verdict;
    if (told_all->events.digest != told->events.digest)
        fail_msg("seed %llu: the digests of events differ", (unsigned long long)seed);
    assert_int_equal(all->conditions, some->conditions);
    assert_memory_equal(all->lapsed, some->lapsed, sizeof all->lapsed);
    assert_memory_equal(all->probes, some->probes, sizeof all->probes);
    for (int i = 0; i < LAB_ORACLE_COUNT; i++) {
        const struct lab_violation *one = &all->violations[i], *other = &some->violations[i];
        if (one->count != other->count || one->is_excused != other->is_excused ||
            strcmp(one->text, other->text) != 0)
            fail_msg("seed %llu: %s differs: %llu '%s', and %llu '%s' with only its own events",
                     (unsigned long long)seed, lab_oracle_name((enum lab_oracle)i),
                     (unsigned long long)one->count, one->text, (unsigned long long)other->count,
                     other->text);
    }
}

static void test_oracles_told_of_what_concerns_them_judge_as_those_told_of_all(void **state)
{
    static const struct lab_fuzz_base nothing = {0};
    static const struct lab_run_context told_all = {.tells_all = true}, told = {.tells_all = false};
    uint64_t violations = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_scenario *scenario = NULL;
        struct lab_result *all = NULL, *some = NULL;
        struct sim_error error = {SIM_ERROR_NONE, ""};
        if (!lab_fuzz_scenario(&nothing, seed, &scenario, &error) ||
            !lab_run_in(scenario, 1, &told_all, &all, &error) ||
            !lab_run_in(scenario, 1, &told, &some, &error))
            fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
        assert_int_equal(all->digest, some->digest);
        for (size_t i = 0; i < all->strategy_count; i++)
            check_same(&all->strategies[i], &some->strategies[i], seed);
        for (int i = 0; i < LAB_ORACLE_COUNT; i++)
            violations += all->strategies[0].verdict.violations[i].count;
        lab_result_destroy(all);
        lab_result_destroy(some);
        lab_scenario_destroy(scenario);
    }
    assert_true(violations > 100); /* including excused ones: there was something to find */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracles_told_of_what_concerns_them_judge_as_those_told_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
