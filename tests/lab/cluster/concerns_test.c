/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an oracle that receives only the events that concern it finds the same as an oracle that receives all
 * events, and nothing else of the run changes. Method: drawn scenarios are run both ways, and their digests,
 * violations, conditions and rare paths are compared. Agents seldom break a rule. In a second test the
 * oracles therefore receive wrong actions, the same ones both ways. A third one compares runs with and
 * without latencies, whose other metrics are the same as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../share.h"
#include "cluster_run.h"
#include "lab/fuzz.h"
#include "lab/run.h"
#include "oracles.h"

#define SEEDS test_part(400)
/* One in this many actions is shown wrong. */
#define WRONG_EVERY 11u

void __real_lab_oracles_acted(struct lab_cluster_run *run, uint32_t agent,
                              struct lab_host_operation *operation, const struct bk_action *next);
void __wrap_lab_oracles_acted(struct lab_cluster_run *run, uint32_t agent,
                              struct lab_host_operation *operation, const struct bk_action *next);

static bool shows_wrong;
static uint64_t shown, asked; /* actions of the current run, and those of them that read the state first */

void __wrap_lab_oracles_acted(struct lab_cluster_run *run, uint32_t agent,
                              struct lab_host_operation *operation, const struct bk_action *next)
{
    struct bk_action wrong = *next;
    /* An operation that reads the state first is shown like one that uses the cached copy. */
    bool asks_first = operation->action == BK_ACT_DONE && next->kind == BK_ACT_READ_STATE;
    if (shows_wrong && asks_first && ++asked % WRONG_EVERY != 0) {
        wrong.kind = operation->is_read ? BK_ACT_READ_ROWS : BK_ACT_PUT_ROW;
        __real_lab_oracles_acted(run, agent, operation, &wrong);
        return;
    }
    if (!shows_wrong || ++shown % WRONG_EVERY != 0) {
        __real_lab_oracles_acted(run, agent, operation, next);
        return;
    }
    if (shown / WRONG_EVERY % 4 == 0 && next->kind != BK_ACT_DONE)
        wrong.kind = BK_ACT_READ_STATE;
    wrong.bucket++;
    wrong.amount++;
    wrong.mask ^= 1;
    wrong.if_mask ^= 1;
    wrong.columns[0]++;
    wrong.expected[0]++;
    wrong.step.rows++;
    wrong.rows_found++;
    __real_lab_oracles_acted(run, agent, operation, &wrong);
}

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

static struct lab_result *run_in(const struct lab_scenario *scenario, const struct lab_run_context *context,
                                 uint64_t seed)
{
    struct lab_result *result = NULL;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    shown = asked = 0;
    if (!lab_run_in(scenario, 1, context, &result, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    return result;
}

static struct lab_scenario *drawn(uint64_t seed)
{
    static const struct lab_fuzz_base nothing = {0};
    struct lab_scenario *scenario = NULL;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    if (!lab_fuzz_scenario(&nothing, seed, &scenario, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    return scenario;
}

/* Runs all seeds both ways, and returns the number of violations. */
static uint64_t compare(void)
{
    static const struct lab_run_context told_all = {.tells_all = true}, told = {.tells_all = false};
    uint64_t violations = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_scenario *scenario = drawn(seed);
        struct lab_result *all = run_in(scenario, &told_all, seed), *some = run_in(scenario, &told, seed);
        assert_int_equal(all->digest, some->digest);
        for (size_t i = 0; i < all->strategy_count; i++)
            check_same(&all->strategies[i], &some->strategies[i], seed);
        for (int i = 0; i < LAB_ORACLE_COUNT; i++)
            violations += all->strategies[0].verdict.violations[i].count;
        lab_result_destroy(all);
        lab_result_destroy(some);
        lab_scenario_destroy(scenario);
    }
    return violations;
}

static void test_oracles_with_filtered_events_give_the_same_verdicts(void **state)
{
    (void)state;
    shows_wrong = false;
    assert_true(compare() > test_part(100)); /* including excused ones: there was something to find */
}

static void test_oracles_with_filtered_events_find_the_same_wrong_actions(void **state)
{
    (void)state;
    shows_wrong = true;
    assert_true(compare() > test_part(10000));
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
    shows_wrong = false;
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracles_with_filtered_events_give_the_same_verdicts),
        cmocka_unit_test(test_oracles_with_filtered_events_find_the_same_wrong_actions),
        cmocka_unit_test(test_without_latencies_all_else_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
