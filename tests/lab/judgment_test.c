/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the strategy that a run recommends is the cheapest without disqualifiers. Method: results made by
 * hand, with one disqualifier at a time, and ties in each figure that decides. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/judgment.h"

enum { STRATEGIES = 3 };

struct fixture {
    struct lab_strategy_result strategies[STRATEGIES];
    struct lab_result result;
    struct lab_score scores[STRATEGIES];
};

static void set(struct fixture *fixture, size_t index, const char *name, double value)
{
    assert_true(lab_metrics_add(&fixture->strategies[index].metrics, name, value));
}

/* All strategies are alike and within limits: 1000 rows, 10 operations, sizes of 100 +- 20 rows. */
static void begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->result = (struct lab_result){.strategies = fixture->strategies,
                                          .strategy_count = STRATEGIES,
                                          .limits = {.partition_rows = 500, .partition_bytes = 0}};
    for (size_t i = 0; i < STRATEGIES; i++) {
        assert_int_equal(bk_strategy_count(100, &fixture->strategies[i].settings.strategy), BK_OK);
        set(fixture, i, "writes.rows", 1000);
        set(fixture, i, "partitions.total", 10);
        set(fixture, i, "partitions.closed.rows.mean", 100);
    }
}

static size_t choose(struct fixture *fixture)
{
    return lab_choose(&fixture->result, fixture->scores);
}

static void end(struct fixture *fixture)
{
    for (size_t i = 0; i < STRATEGIES; i++)
        free(fixture->strategies[i].metrics.items);
}

static void test_cheapest_is_chosen_and_reads_count_as_cost(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    set(&fixture, 0, "writes.extra_ops_per_1000_rows", 5);
    set(&fixture, 0, "reads.count", 41);
    set(&fixture, 0, "reads.partitions_per_read.mean", 2.5);
    set(&fixture, 1, "writes.extra_ops_per_1000_rows", 104);
    set(&fixture, 2, "writes.extra_ops_per_1000_rows", 200);
    assert_int_equal(choose(&fixture), 1);
    assert_true(fixture.scores[0].cost == 107.5 && fixture.scores[1].cost == 104);
    end(&fixture);
}

static void test_strategy_with_a_disqualifier_is_not_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *metric;
        unsigned disqualifier;
    } cases[] = {{"partitions.over_limit_rows", LAB_DISQUALIFIER_ROWS},
                 {"partitions.over_limit_bytes", LAB_DISQUALIFIER_BYTES},
                 {"oracle.findable.violations", LAB_DISQUALIFIER_HIDDEN},
                 {"oracle.newest.violations", LAB_DISQUALIFIER_HIDDEN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        begin(&fixture);
        set(&fixture, 1, "writes.extra_ops_per_1000_rows", 10);
        set(&fixture, 2, "writes.extra_ops_per_1000_rows", 20);
        assert_int_equal(choose(&fixture), 0);
        set(&fixture, 0, cases[i].metric, 1);
        if (strncmp(cases[i].metric, "partitions", 10) == 0)
            set(&fixture, 0, "partitions.over_limit", 1);
        assert_int_equal(choose(&fixture), 1);
        assert_int_equal(fixture.scores[0].disqualifiers, cases[i].disqualifier);
        end(&fixture);
    }
}

/* Rows that are refused without a fault are those that both the oracle and the agents count. */
static void test_strategy_that_refuses_rows_is_not_chosen(void **state)
{
    (void)state;
    static const struct {
        double violations, refused, unresolved;
        bool is_disqualified;
    } cases[] = {{9, 1, 1, true}, {9, 1, 0, false}, {1, 20, 0, false}, {2, 20, 0, true}}; /* of 1000 rows */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        begin(&fixture);
        set(&fixture, 0, "oracle.available.violations", cases[i].violations);
        set(&fixture, 0, "writes.refused", cases[i].refused);
        set(&fixture, 0, "writes.unresolved", cases[i].unresolved);
        set(&fixture, 1, "writes.extra_ops_per_1000_rows", 10);
        set(&fixture, 2, "writes.extra_ops_per_1000_rows", 20);
        assert_int_equal(choose(&fixture), cases[i].is_disqualified ? 1 : 0);
        assert_int_equal(fixture.scores[0].disqualifiers,
                         cases[i].is_disqualified ? LAB_DISQUALIFIER_REFUSED : 0);
        end(&fixture);
    }
}

/* 0 of 10, 2 of 10, 40 of 1000 partitions, with 1 % allowed. */
static void test_share_that_may_be_over_is_judged_by_its_interval(void **state)
{
    (void)state;
    static const struct {
        double over, total, may;
        bool is_trace;
        unsigned disqualifier;
    } cases[] = {{0, 10, 0, false, 0},
                 {1, 1000, 0, false, LAB_DISQUALIFIER_ROWS},
                 {9, 1000, 0.01, false, 0},
                 {11, 1000, 0.01, false, LAB_DISQUALIFIER_OPEN},
                 {11, 1000, 0.01, true, LAB_DISQUALIFIER_ROWS},
                 {40, 1000, 0.01, false, LAB_DISQUALIFIER_ROWS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        char source[] = "rows.csv";
        begin(&fixture);
        free(fixture.strategies[0].metrics.items);
        fixture.strategies[0].metrics = (struct lab_metrics){.items = NULL};
        set(&fixture, 0, "writes.rows", 1000);
        set(&fixture, 0, "partitions.total", cases[i].total);
        set(&fixture, 0, "partitions.over_limit", cases[i].over);
        set(&fixture, 0, "partitions.over_limit_rows", cases[i].over);
        fixture.result.limits.over_limit_share = cases[i].may;
        fixture.result.limits.confidence = 0.95;
        fixture.result.source = cases[i].is_trace ? source : NULL;
        choose(&fixture);
        assert_int_equal(fixture.scores[0].disqualifiers, cases[i].disqualifier);
        assert_true(isnan(fixture.scores[0].over_most) == cases[i].is_trace);
        end(&fixture);
    }
    assert_true(fabs(lab_share_most(0, 1200, 0.975) - 0.0030693) < 1e-6);
}

static void test_unbounded_or_observed_strategies_are_not_chosen(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    assert_int_equal(bk_strategy_hash(8, &fixture.strategies[0].settings.strategy), BK_OK);
    fixture.strategies[1].settings.observed = WL_OBSERVED_PARTITIONS;
    assert_int_equal(choose(&fixture), 2);
    assert_int_equal(fixture.scores[0].disqualifiers, LAB_DISQUALIFIER_ENDLESS);
    assert_int_equal(fixture.scores[1].disqualifiers, LAB_DISQUALIFIER_OBSERVED);
    set(&fixture, 0, "rows.expired", 900);
    assert_int_equal(choose(&fixture), 0);
    end(&fixture);
}

static void test_equal_costs_are_decided_by_narrower_sizes(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    const double costs[STRATEGIES] = {100, 100.9, 101.1}, spreads[STRATEGIES] = {20, 10, 5};
    for (size_t i = 0; i < STRATEGIES; i++) {
        set(&fixture, i, "writes.extra_ops_per_1000_rows", costs[i]);
        set(&fixture, i, "partitions.closed.rows.stddev", spreads[i]);
    }
    assert_int_equal(choose(&fixture), 1);
    assert_true(fixture.scores[1].cv == 0.1);
    end(&fixture);
}

static void test_nothing_is_chosen_without_a_demand_or_candidates(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    fixture.result.limits.partition_rows = 0;
    assert_true(choose(&fixture) == SIZE_MAX && isnan(fixture.scores[0].over));
    fixture.result.limits.partition_bytes = 1000;
    assert_int_equal(choose(&fixture), 0);
    for (size_t i = 0; i < STRATEGIES; i++) {
        set(&fixture, i, "partitions.over_limit", 4);
        set(&fixture, i, "partitions.over_limit_bytes", 4);
    }
    assert_true(choose(&fixture) == SIZE_MAX && fixture.scores[2].over == 0.4);
    end(&fixture);
}

static void test_requirements_are_those_of_the_settings(void **state)
{
    (void)state;
    struct lab_settings settings = {.strategy = {.kind = BK_COUNT}, .source = BK_SOURCE_EXTERNAL};
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_SEQUENCE);
    settings.source = BK_SOURCE_LEASE;
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_LWT);
    settings.source = BK_SOURCE_SCAN;
    assert_int_equal(lab_requirements(&settings), 0);
    settings = (struct lab_settings){.strategy = {.kind = BK_HASH}};
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_FAN_OUT);
    settings = (struct lab_settings){.strategy = {.kind = BK_PROBABILISTIC}};
    assert_int_equal(lab_requirements(&settings), 0);
    settings.coordination = BK_GUARDED;
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_LWT);
    settings.coordination = BK_THREE_STATE;
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_LEAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requirements_are_those_of_the_settings),
        cmocka_unit_test(test_cheapest_is_chosen_and_reads_count_as_cost),
        cmocka_unit_test(test_strategy_with_a_disqualifier_is_not_chosen),
        cmocka_unit_test(test_strategy_that_refuses_rows_is_not_chosen),
        cmocka_unit_test(test_share_that_may_be_over_is_judged_by_its_interval),
        cmocka_unit_test(test_unbounded_or_observed_strategies_are_not_chosen),
        cmocka_unit_test(test_equal_costs_are_decided_by_narrower_sizes),
        cmocka_unit_test(test_nothing_is_chosen_without_a_demand_or_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
