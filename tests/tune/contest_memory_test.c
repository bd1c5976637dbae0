/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when out of memory, a contest fails with an environment error, is cleared and leaks nothing. Method:
 * each of its first thirty allocations fails, and some fifty later ones; a contest that tolerates the failure
 * recommends the same setting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../no_memory.h"
#include "tune/contest.h"

static const char stream[] = "duration: 2h\n"
                             "keys: {count: 3}\n"
                             "arrivals: {rate: 0.2/s}\n"
                             "row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n"
                             "reads: {latest: {rows: 20, rate: 0.01/s}}\n"
                             "limits: {partition_rows: 400, partition_writes: 40/s}\n"
                             "tune: {seeds: 3, risk: 5%}\n"
                             "strategies:\n"
                             "  - probabilistic: {bits: 3, threshold: 9}\n"
                             "  - time: {window: 10m}\n";
/* With agents the contest also judges a lead. */
static const char cluster[] =
    "duration: 2s\n"
    "keys: {count: 2}\n"
    "arrivals: {rate: 30/s}\n"
    "cluster: {nodes: 1, replication_factor: 1}\n"
    "agents: {count: 2, cache_entries: 8, operations: 32}\n"
    "limits: {partition_rows: 50}\n"
    "tune: {seeds: 2, risk: 50%}\n"
    "strategies:\n"
    "  - probabilistic: {bits: 1, threshold: 3, coordination: three-state, lead: 2s}\n";

static bool compete(struct tune_contest *contest, const struct lab_scenario *scenario,
                    struct sim_error *error)
{
    return tune_contest_begin(contest, scenario, &scenario->tune, 1, NULL, error) &&
           tune_contest_run(contest, 1, NULL, error);
}

static void compete_with_refusals(const char *text, long allocations_least, bool has_lead)
{
    struct lab_scenario *scenario;
    struct tune_contest contest;
    struct sim_error error = {.class = SIM_ERROR_NONE};
    if (!lab_scenario_parse("x.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    allocations_left = INT32_MAX;
    assert_true(compete(&contest, scenario, &error));
    long allocations = INT32_MAX - allocations_left;
    allocations_left = ALLOCATIONS_WITHOUT_END;
    size_t recommended = contest.recommended;
    assert_int_equal(contest.led != SIZE_MAX, has_lead);
    tune_contest_clear(&contest);
    assert_true(allocations >= allocations_least);
    print_message("%ld allocations\n", allocations);

    long tried = 0, borne = 0; /* an event queue works without its calendar */
    long stride = 1 + allocations / 50;
    for (long refused = 0; refused < allocations; refused += refused < 30 ? 1 : stride) {
        error.class = SIM_ERROR_NONE;
        allocations_left = refused;
        bool ok = compete(&contest, scenario, &error);
        bool is_spent = allocations_left < 0;
        allocations_left = ALLOCATIONS_WITHOUT_END;
        if (!is_spent)
            fail_msg("refusal %ld of %ld: %s", refused, allocations, ok ? "is not noticed" : error.text);
        if (ok)
            assert_int_equal(contest.recommended, recommended);
        else
            assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        borne += ok;
        tried++;
        tune_contest_clear(&contest); /* after a failure for the second time */
    }
    assert_true(borne * 10 < tried);
    assert_true(compete(&contest, scenario, &error));
    assert_int_equal(contest.recommended, recommended);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

static void test_contest_without_memory_fails_clean(void **state)
{
    (void)state;
    compete_with_refusals(stream, 400, false);
    compete_with_refusals(cluster, 400, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contest_without_memory_fails_clean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
