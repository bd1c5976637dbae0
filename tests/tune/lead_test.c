/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the smallest safe lead is found, by the formula and by trial, and the search reports when there is
 * none. Method: the scenario of the findings, for which a sweep of leads has shown the answer (violations
 * end between 0.9 and 1.3 s); one agent, which needs no lead; clocks that jump, for which no lead is
 * sufficient. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tune/contest.h"

#define NS_PER_MS INT64_C(1000000)
/* Partitions end about 8 times as early, so that a few seconds show the effects of the scenario's minutes;
 * and agents with room for few operations start faster. */
#define FEW_OPERATIONS                                                                                       \
    {                                                                                                        \
        "agents.operations=64"                                                                               \
    }
#define SOON                                                                                                 \
    FEW_OPERATIONS, {"duration=8s"}, {"expect=null"},                                                        \
    {                                                                                                        \
        "strategies=[probabilistic: {bits: 4, threshold: 10, coordination: three-state, lead: 1300ms}]"      \
    }

static struct lab_scenario *load_file(const char *path, const struct lab_override *overrides, size_t count)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_load(path, overrides, count, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    return scenario;
}

static struct lab_scenario *load(const struct lab_override *overrides, size_t count)
{
    return load_file(BUCKETLAB_SOURCE_DIR "/scenarios/findings/lead-sweep.yaml", overrides, count);
}

static void find(const struct lab_scenario *scenario, uint32_t seeds, uint32_t threads, struct tune_lead *out)
{
    struct sim_error error;
    if (!tune_lead_find(scenario, 0, seeds, threads, NULL, NULL, out, &error))
        fail_msg("%s", error.text);
}

static void test_the_lead_of_the_findings_is_found(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {SOON};
    struct lab_scenario *scenario = load(overrides, 4);
    assert_true(tune_has_lead(scenario, 0));
    struct tune_lead one;
    find(scenario, 3, 3, &one);
    assert_true(one.formula_ns == one.write_p999_ns + 1200 * NS_PER_MS);
    assert_true(one.write_p999_ns > 0 && one.write_p999_ns < 500 * NS_PER_MS);
    assert_true(one.safe_ns > 900 * NS_PER_MS && one.safe_ns < 1300 * NS_PER_MS);
    assert_true(one.unsafe_ns < one.safe_ns &&
                one.safe_ns - one.unsafe_ns <= one.formula_ns / 50 + NS_PER_MS);
    for (uint32_t i = 0; i < one.step_count; i++) {
        const struct tune_lead_step *step = &one.steps[i];
        assert_true(i == 0 || one.steps[i - 1].lead_ns < step->lead_ns);
        assert_true((step->violations == 0) == (step->lead_ns >= one.safe_ns));
        assert_true(step->runs >= 1 && step->runs <= 3 && step->rolls > 0);
        assert_true(step->runs == 3 || step->violations > 0 || step->lead_ns > one.safe_ns);
    }
    lab_scenario_destroy(scenario);
}

/* The search begins with the strategy's own lead, since a race has run it. No longer one is tried if the
 * formula's is not longer. It finds the same, except for its resolution. */
static void test_own_lead_is_tried_first(void **state)
{
    (void)state;
    static const struct {
        struct lab_override own;
        int64_t longest_ms; /* -1: twice that of the formula, or more */
    } cases[] = {{{"strategies[0].probabilistic.lead=1300ms"}, 1300},
                 {{"strategies[0].probabilistic.lead=30s"}, 30000},
                 {{"strategies[0].probabilistic.lead=1201ms"}, -1},
                 {{"strategies[0].probabilistic.lead=100ms"}, -1}};
    struct tune_lead first;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lab_override set[] = {SOON, cases[i].own};
        struct lab_scenario *scenario = load(set, 5);
        struct tune_lead found;
        find(scenario, 2, 2, &found);
        const int64_t longest_ns = found.steps[found.step_count - 1].lead_ns;
        if (cases[i].longest_ms < 0)
            assert_true(longest_ns >= 2 * found.formula_ns);
        else
            assert_true(longest_ns == cases[i].longest_ms * NS_PER_MS);
        first = i == 0 ? found : first;
        assert_true(found.unsafe_ns < first.safe_ns && first.unsafe_ns < found.safe_ns);
        lab_scenario_destroy(scenario);
    }
}

static void test_number_of_threads_does_not_change_the_result(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {SOON};
    struct lab_scenario *scenario = load(overrides, 4);
    struct tune_lead one, other;
    memset(&one, 0, sizeof one);
    memset(&other, 0, sizeof other);
    find(scenario, 3, 1, &one);
    find(scenario, 3, 3, &other);
    assert_true(one.safe_ns > 0);
    assert_memory_equal(&one, &other, sizeof one);
    lab_scenario_destroy(scenario);
}

/* A contest tries settings that are not in the scenario's file. */
static void test_missing_strategy_is_replaced_by_the_tried_one(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {SOON}, without[] = {FEW_OPERATIONS,
                                                                 {"duration=8s"},
                                                                 {"strategies=[time: {window: 5s}]"},
                                                                 {"expect=null"}};
    struct lab_scenario *named = load(overrides, 4), *other = load(without, 4);
    struct lab_strategy *own = other->strategies;
    struct tune_lead expected, found;
    memset(&expected, 0, sizeof expected);
    memset(&found, 0, sizeof found);
    find(named, 1, 1, &expected);
    other->strategies = named->strategies;
    find(other, 1, 1, &found);
    other->strategies = own;
    assert_true(expected.safe_ns > 0);
    assert_memory_equal(&found, &expected, sizeof found);
    lab_scenario_destroy(named);
    lab_scenario_destroy(other);
}

static void test_one_agent_needs_no_lead(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {FEW_OPERATIONS, {"duration=10s"}, {"agents.count=1"}};
    struct lab_scenario *scenario = load(overrides, 3);
    struct tune_lead found;
    find(scenario, 2, 2, &found);
    assert_true(found.safe_ns == 0 && found.unsafe_ns == -1);
    lab_scenario_destroy(scenario);
}

static void test_no_lead_is_safe_if_clocks_jump(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {
        FEW_OPERATIONS, {"duration=40s"}, {"faults=[{clock_jump: {agent: 1, at: 10s, by: -8s}}]"}};
    struct lab_scenario *scenario = load(overrides, 3);
    struct tune_lead found;
    find(scenario, 2, 2, &found);
    assert_true(found.safe_ns == -1);
    assert_true(found.unsafe_ns == found.steps[found.step_count - 1].lead_ns &&
                found.unsafe_ns > found.formula_ns);
    lab_scenario_destroy(scenario);
}

#define REPLAY_SEEDS 5u
#define REPLAY_LEADS 8000 /* ms */

/* A memory that knows each run. With `odd`, this lead and longer ones up to `odd_to` are unsafe for seed 0,
 * although a shorter one is safe. */
struct replay {
    uint64_t jobs[REPLAY_SEEDS][REPLAY_LEADS]; /* in ms */
    uint32_t least[REPLAY_SEEDS];              /* the shortest safe lead of a seed, in ms */
    uint32_t odd, odd_to;
    unsigned recalled;
};

static bool recall(void *context, uint64_t job, void *out, size_t size)
{
    struct replay *replay = context;
    assert_int_equal(size, sizeof(struct tune_lead_finding));
    for (uint32_t seed = 0; seed < REPLAY_SEEDS; seed++) {
        for (uint32_t lead = 0; lead < REPLAY_LEADS; lead++) {
            if (replay->jobs[seed][lead] != job)
                continue;
            const bool is_odd = seed == 0 && lead >= replay->odd && lead <= replay->odd_to;
            *(struct tune_lead_finding *)out =
                (struct tune_lead_finding){.violations = lead < replay->least[seed] || is_odd,
                                           .rolls = 1,
                                           .write_p999_ns = 100 * NS_PER_MS};
            replay->recalled++;
            return true;
        }
    }
    fail_msg("a lead that is no number of milliseconds, or too long");
    return false;
}

/* A seed that was safe with a shorter lead is skipped. The lead that is found is safe for all seeds, and the
 * next shorter one was unsafe, also if a longer lead is worse by chance. */
static void test_seed_that_was_safe_is_not_tried_until_the_end(void **state)
{
    static const struct {
        uint32_t least[REPLAY_SEEDS], odd, odd_to, expected; /* ms */
        unsigned runs;
    } cases[] = {
        {{500, 500, 500, 500, 500}, 1, 0, 500, 28},        {{100, 200, 300, 400, 1000}, 1, 0, 1000, 19},
        {{1000, 400, 300, 200, 100}, 1, 0, 1000, 14},      {{100, 1200, 100, 1200, 100}, 1, 0, 1200, 24},
        {{300, 100, 1000, 100, 100}, 990, 1050, 1051, 24}, {{300, 100, 1000, 100, 100}, 1005, 1015, 1016, 24},
        {{2300, 2300, 2300, 2300, 2300}, 1, 0, 2300, 25}, /* the formula's lead, 1300 ms, is unsafe */
    };
    (void)state;
    const struct lab_override overrides[] = {SOON};
    struct lab_scenario *scenario = load(overrides, 4);
    struct replay *replay = calloc(1, sizeof *replay);
    assert_non_null(replay);
    for (uint32_t seed = 0; seed < REPLAY_SEEDS; seed++) {
        for (uint32_t lead = 0; lead < REPLAY_LEADS; lead++)
            replay->jobs[seed][lead] =
                tune_lead_job(&scenario->strategies[0], lead * NS_PER_MS, scenario->seed + seed);
    }
    const struct tune_memory memory = {.context = replay, .recall = recall};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tune_lead found;
        struct sim_error error;
        memcpy(replay->least, cases[i].least, sizeof replay->least);
        replay->odd = cases[i].odd;
        replay->odd_to = cases[i].odd_to;
        replay->recalled = 0;
        assert_true(tune_lead_find(scenario, 0, REPLAY_SEEDS, 1, &memory, NULL, &found, &error));
        const int64_t expected_ns = cases[i].expected * NS_PER_MS;
        assert_true(found.safe_ns >= expected_ns && found.unsafe_ns < expected_ns);
        assert_true(found.safe_ns - found.unsafe_ns <= found.formula_ns / 50 + NS_PER_MS);
        assert_int_equal(replay->recalled, cases[i].runs);
    }
    free(replay);
    lab_scenario_destroy(scenario);
}

/* With max_age, no_gaps is not judged: a day's first bucket need not follow the last one of the day before.
 */
static void test_run_does_not_end_at_a_violation_that_is_not_judged(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {
        {"duration=25h"},
        {"expect=null"},
        {"faults=[agent_pause: {agent: 2, at: 1d, lasts: 30s}]"},
        {"strategies=[{label: dated daily-8x2, probabilistic: {bits: 8, threshold: 2, coordination: "
         "three-state, lead: 5300ms, counter: lwt, "
         "max_age: 1d}}]"}};
    struct lab_scenario *scenario =
        load_file(BUCKETLAB_SOURCE_DIR "/scenarios/daily-partitions.yaml", overrides, 4);
    const struct lab_run_context whole = {.no_latencies = true},
                                 short_of = {.no_latencies = true, .stops_at = 1 << LAB_ORACLE_NO_GAPS};
    struct lab_result *expected, *found;
    struct sim_error error;
    assert_true(lab_run_in(scenario, 1, &whole, &expected, &error));
    assert_true(lab_run_in(scenario, 1, &short_of, &found, &error));
    const struct lab_verdict *verdict = &expected->strategies[0].verdict;
    assert_false(verdict->is_judged[LAB_ORACLE_NO_GAPS]);
    assert_true(verdict->violations[LAB_ORACLE_NO_GAPS].count > 0);
    assert_true(found->strategies[0].verdict.rolls == verdict->rolls && found->rows == expected->rows);
    lab_result_destroy(expected);
    lab_result_destroy(found);
    lab_scenario_destroy(scenario);
}

static void test_progress_counts_its_runs(void **state)
{
    (void)state;
    const struct lab_override overrides[] = {FEW_OPERATIONS, {"duration=10s"}, {"agents.count=1"}};
    struct lab_scenario *scenario = load(overrides, 3);
    struct lab_progress progress = {.done = 100, .total = 100, .rows = 100};
    struct tune_lead found;
    struct sim_error error;
    assert_true(tune_lead_find(scenario, 0, 2, 2, NULL, &progress, &found, &error));
    uint64_t runs = 0;
    for (uint32_t i = 0; i < found.step_count; i++)
        runs += found.steps[i].runs;
    assert_true(runs > 0 && progress.done == 100 + runs && progress.rows == 100 + runs);
    assert_true(progress.total > progress.done);
    lab_scenario_destroy(scenario);
}

static void test_a_search_can_be_stopped(void **state)
{
    (void)state;
    struct lab_scenario *scenario = load(NULL, 0);
    struct lab_progress progress = {.stop = true};
    struct tune_lead found;
    struct sim_error error;
    assert_false(tune_lead_find(scenario, 0, 8, 2, NULL, &progress, &found, &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    lab_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lead_of_the_findings_is_found),
        cmocka_unit_test(test_own_lead_is_tried_first),
        cmocka_unit_test(test_number_of_threads_does_not_change_the_result),
        cmocka_unit_test(test_missing_strategy_is_replaced_by_the_tried_one),
        cmocka_unit_test(test_one_agent_needs_no_lead),
        cmocka_unit_test(test_no_lead_is_safe_if_clocks_jump),
        cmocka_unit_test(test_seed_that_was_safe_is_not_tried_until_the_end),
        cmocka_unit_test(test_run_does_not_end_at_a_violation_that_is_not_judged),
        cmocka_unit_test(test_progress_counts_its_runs),
        cmocka_unit_test(test_a_search_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
