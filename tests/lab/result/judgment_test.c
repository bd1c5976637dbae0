/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the judge calls a strategy within the limits only if something shows it, and chooses by load, evenness
 * and headroom. Method: facts and results made by hand, one cause at a time; properties over drawn facts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/random.h"
#include "lab/judgment.h"

static const struct lab_limits none_may = {.partition_rows = 500, .confidence = 0.95, .tolerance = 0.005};
static const struct lab_limits one_percent = {
    .partition_rows = 500, .over_limit_share = 0.01, .confidence = 0.95, .tolerance = 0.005};

static struct lab_facts sample(uint64_t over, uint64_t partitions)
{
    return (struct lab_facts){.partitions = partitions,
                              .over = over,
                              .over_of = {over, 0},
                              .expected_most = (double)INFINITY,
                              .expected_share = (double)NAN};
}

static struct lab_facts distribution(double least, double most, double share)
{
    struct lab_facts facts = sample(0, 1000);
    facts.has_distribution = true;
    facts.expected_least = least;
    facts.expected_most = most;
    facts.expected_share = share;
    facts.expected_full = least / 1000;
    return facts;
}

static struct lab_facts bounds(double least, double most)
{
    struct lab_facts facts = sample(0, 0);
    facts.has_bounds = true;
    facts.bound_least[LAB_IN_ROWS] = least;
    facts.bound_most[LAB_IN_ROWS] = most;
    return facts;
}

static struct lab_facts certain(uint64_t over)
{
    struct lab_facts facts = sample(over, 1000);
    facts.is_certain = true;
    return facts;
}

static struct lab_facts unknown(uint64_t over)
{
    struct lab_facts facts = sample(over, 1000);
    facts.is_unknown[LAB_IN_BYTES] = true;
    return facts;
}

static void test_each_kind_of_evidence_has_its_verdict(void **state)
{
    (void)state;
    const struct {
        const struct lab_limits *limits;
        struct lab_facts facts;
        enum lab_within within;
        enum lab_judged_by by;
    } cases[] = {
        {&none_may, sample(0, 0), LAB_NOT_JUDGED, LAB_BY_NOTHING},
        {&none_may, sample(0, 10), LAB_WITHIN, LAB_BY_SAMPLE},
        {&none_may, sample(1, 1000), LAB_EXCEEDS, LAB_BY_SAMPLE},
        {&one_percent, sample(0, 10), LAB_NOT_JUDGED, LAB_BY_SAMPLE},
        {&one_percent, sample(0, 1000), LAB_WITHIN, LAB_BY_SAMPLE},
        {&one_percent, sample(11, 1000), LAB_NOT_JUDGED, LAB_BY_SAMPLE},
        {&one_percent, sample(40, 1000), LAB_EXCEEDS, LAB_BY_SAMPLE},
        {&none_may, certain(0), LAB_WITHIN, LAB_BY_CERTAINTY},
        {&none_may, certain(1), LAB_EXCEEDS, LAB_BY_CERTAINTY},
        {&one_percent, certain(10), LAB_WITHIN, LAB_BY_CERTAINTY},
        {&one_percent, certain(11), LAB_EXCEEDS, LAB_BY_CERTAINTY},
        {&none_may, distribution(0, 0, 0), LAB_WITHIN, LAB_BY_CERTAINTY},
        {&none_may, distribution(0, 0.04, 4e-5), LAB_WITHIN, LAB_BY_DISTRIBUTION},
        {&none_may, distribution(0.06, 0.07, 7e-5), LAB_EXCEEDS, LAB_BY_DISTRIBUTION},
        {&none_may, distribution(0.01, 0.07, 7e-5), LAB_WITHIN, LAB_BY_SAMPLE},
        {&one_percent, distribution(5, 9, 0.009), LAB_WITHIN, LAB_BY_DISTRIBUTION},
        {&one_percent, distribution(11, 20, 0.02), LAB_EXCEEDS, LAB_BY_DISTRIBUTION},
        {&none_may, bounds(0.01, 0.02), LAB_EXCEEDS, LAB_BY_PERCENTILES},
        {&none_may, bounds(0, 0), LAB_WITHIN, LAB_BY_PERCENTILES},
        {&none_may, bounds(0, 0.02), LAB_NOT_JUDGED, LAB_BY_PERCENTILES},
        {&one_percent, bounds(0.005, 0.01), LAB_WITHIN, LAB_BY_PERCENTILES},
        {&none_may, unknown(0), LAB_NOT_JUDGED, LAB_BY_NOTHING},
        {&none_may, unknown(3), LAB_EXCEEDS, LAB_BY_SAMPLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lab_judgment judgment = lab_judgment_of(cases[i].limits, &cases[i].facts);
        if (judgment.within != cases[i].within || judgment.by != cases[i].by)
            fail_msg("case %zu: %d by %s", i, judgment.within, lab_judged_by_name(judgment.by));
        assert_int_equal(judgment.missing != NULL, judgment.within == LAB_NOT_JUDGED);
        assert_int_equal(judgment.within == LAB_NOT_JUDGED || !isnan(judgment.share), 1);
    }
    const struct lab_limits none = {.confidence = 0.95};
    const struct lab_facts facts = sample(0, 10);
    assert_int_equal(lab_judgment_of(&none, &facts).within, LAB_NOT_JUDGED);
}

/* More partitions above a limit, or a larger expectation, never turn `exceeds` into `within`; a larger share
 * that is allowed never turns `within` into `exceeds`. */
static void test_more_above_the_limit_is_never_better(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 1, 2, 3);
    for (int i = 0; i < 20000; i++) {
        struct lab_limits limits = i % 2 != 0 ? none_may : one_percent;
        const uint64_t partitions = 1 + sim_random_below(&random, 3000);
        struct lab_facts facts = sample(sim_random_below(&random, partitions / 20 + 1), partitions), worse;
        facts.has_distribution = sim_random_below(&random, 2) != 0;
        facts.expected_least = 1e-3 * (double)sim_random_below(&random, 200);
        facts.expected_most = facts.expected_least * (1 + (double)sim_random_below(&random, 3));
        facts.expected_share = fmin(1, facts.expected_most / (double)partitions);
        facts.expected_full = fmin(1, facts.expected_least / (double)partitions);
        worse = facts;
        worse.over_of[LAB_IN_ROWS] = worse.over += 1 + sim_random_below(&random, 3);
        worse.over_of[LAB_IN_ROWS] = worse.over = worse.over < partitions ? worse.over : partitions;
        worse.expected_least *= 2;
        worse.expected_most *= 2;
        worse.expected_share = fmin(1, 2 * worse.expected_share);
        worse.expected_full = fmin(1, 2 * worse.expected_full);
        const enum lab_within before = lab_judgment_of(&limits, &facts).within;
        assert_false(before == LAB_EXCEEDS && lab_judgment_of(&limits, &worse).within == LAB_WITHIN);
        limits.over_limit_share += 0.01;
        assert_false(before == LAB_WITHIN && lab_judgment_of(&limits, &facts).within == LAB_EXCEEDS);
    }
}

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
    fixture->result = (struct lab_result){
        .strategies = fixture->strategies, .strategy_count = STRATEGIES, .limits = none_may};
    for (size_t i = 0; i < STRATEGIES; i++) {
        assert_int_equal(bk_strategy_time(1000, 0, &fixture->strategies[i].settings.strategy), BK_OK);
        set(fixture, i, "writes.rows", 1000);
        set(fixture, i, "partitions.total", 10);
        set(fixture, i, "partitions.closed.rows.mean", 100);
    }
}

static void keep_limit(struct fixture *fixture)
{
    for (size_t i = 0; i < STRATEGIES; i++)
        set(fixture, i, "partitions.over_limit_rows", 0);
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

static void test_least_load_is_chosen_and_reads_count(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    keep_limit(&fixture);
    set(&fixture, 0, "writes.extra_ops_per_1000_rows", 5);
    set(&fixture, 0, "reads.count", 45);
    set(&fixture, 0, "reads.partitions_per_read.mean", 2);
    set(&fixture, 0, "reads.latest.count", 5);
    set(&fixture, 0, "reads.latest.partitions_per_read.mean", 0.5);
    set(&fixture, 0, "reads.range.count", 40);
    set(&fixture, 0, "reads.range.partitions_per_read.mean", 2.5);
    set(&fixture, 1, "writes.extra_ops_per_1000_rows", 101);
    set(&fixture, 2, "writes.extra_ops_per_1000_rows", 200);
    assert_int_equal(choose(&fixture), 1);
    assert_true(fixture.scores[0].cost == 107.5 && fixture.scores[0].candidate.load == 1107.5);
    end(&fixture);
}

static void test_equal_loads_are_decided_by_evenness_then_by_headroom(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    keep_limit(&fixture);
    const double costs[STRATEGIES] = {1.2, 4.5, 36}, stddevs[STRATEGIES] = {39, 16, 3};
    for (size_t i = 0; i < STRATEGIES; i++) {
        set(&fixture, i, "writes.extra_ops_per_1000_rows", costs[i]);
        set(&fixture, i, "partitions.closed.rows.stddev", stddevs[i]);
    }
    assert_int_equal(choose(&fixture), 1);
    assert_true(fixture.scores[1].candidate.cv == 0.16);
    fixture.result.limits.tolerance = 0;
    assert_int_equal(choose(&fixture), 0);
    end(&fixture);
    begin(&fixture);
    keep_limit(&fixture);
    set(&fixture, 0, "partitions.all.rows.max", 400);
    set(&fixture, 1, "partitions.all.rows.max", 300);
    set(&fixture, 2, "partitions.all.rows.max", 300);
    assert_int_equal(choose(&fixture), 1);
    end(&fixture);
}

static void test_whatever_loses_rows_or_answers_disqualifies(void **state)
{
    (void)state;
    const struct {
        const char *metric;
        double value;
        unsigned disqualifier;
    } cases[] = {{"oracle.findable.violations", 1, LAB_DISQUALIFIER_HIDDEN},
                 {"oracle.newest.violations", 1, LAB_DISQUALIFIER_HIDDEN},
                 {"reads.failed", 1, LAB_DISQUALIFIER_FAILED},
                 {"writes.misrouted", 1, LAB_DISQUALIFIER_MISROUTED},
                 {"guarantees.broken", 1, LAB_DISQUALIFIER_BROKEN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        begin(&fixture);
        keep_limit(&fixture);
        set(&fixture, 0, cases[i].metric, cases[i].value);
        set(&fixture, 1, cases[i].metric, 0);
        assert_int_equal(choose(&fixture), 1);
        assert_int_equal(fixture.scores[0].disqualifiers, cases[i].disqualifier);
        end(&fixture);
    }
}

static void test_refused_rows_disqualify(void **state)
{
    (void)state;
    for (int unprovoked = 0; unprovoked <= 2; unprovoked++) {
        struct fixture fixture;
        begin(&fixture);
        keep_limit(&fixture);
        set(&fixture, 0, "writes.refused", 500);
        set(&fixture, 0, "writes.refused_unprovoked", unprovoked);
        assert_int_equal(choose(&fixture), unprovoked > 1 ? 1 : 0);
        assert_int_equal(fixture.scores[0].disqualifiers, unprovoked > 1 ? LAB_DISQUALIFIER_REFUSED : 0);
        end(&fixture);
    }
}

static void test_endless_observed_and_unjudged_strategies_are_not_chosen(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    assert_true(choose(&fixture) == SIZE_MAX); /* nothing says how many partitions exceed the limit */
    keep_limit(&fixture);
    assert_true(lab_metrics_add(&fixture.strategies[0].metrics, "partitions.growing", 1));
    fixture.strategies[1].settings.observed = WL_OBSERVED_PARTITIONS;
    assert_int_equal(choose(&fixture), 2);
    assert_int_equal(fixture.scores[0].disqualifiers, LAB_DISQUALIFIER_ENDLESS);
    assert_int_equal(fixture.scores[1].disqualifiers, LAB_DISQUALIFIER_OBSERVED);
    fixture.result.is_tuned = true;
    assert_true(choose(&fixture) == SIZE_MAX);
    fixture.result.is_tuned = false;
    fixture.result.limits.partition_rows = 0;
    assert_true(choose(&fixture) == SIZE_MAX);
    end(&fixture);
}

/* Runs of earlier versions do not have the metric. */
static void test_a_run_that_does_not_say_whether_it_grows(void **state)
{
    (void)state;
    static const struct {
        enum bk_kind kind;
        const char *metric;
        double value;
        unsigned disqualifiers;
    } cases[] = {{BK_KIND_UNBUCKETED, "tells.nothing", 1, LAB_DISQUALIFIER_ENDLESS},
                 {BK_KIND_HASH, "rows.expired", 0, LAB_DISQUALIFIER_ENDLESS},
                 {BK_KIND_HASH, "rows.expired", 9, 0},
                 {BK_KIND_COUNT, "tells.nothing", 1, 0},
                 {BK_KIND_UNBUCKETED, "partitions.growing", 0, 0},
                 {BK_KIND_TIME, "partitions.growing", 1, LAB_DISQUALIFIER_ENDLESS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        begin(&fixture);
        keep_limit(&fixture);
        fixture.strategies[0].settings.strategy.kind = cases[i].kind;
        assert_true(lab_metrics_add(&fixture.strategies[0].metrics, cases[i].metric, cases[i].value));
        choose(&fixture);
        assert_int_equal(fixture.scores[0].disqualifiers, cases[i].disqualifiers);
        end(&fixture);
    }
}

static void test_sequence_numbers_are_needed_only_if_nothing_else_will_do(void **state)
{
    (void)state;
    struct lab_candidate candidates[] = {
        {.is_eligible = true, .requirements = 1u << LAB_REQUIRES_SEQUENCE, .load = 1000},
        {.is_eligible = true, .load = 4000},
        {.is_eligible = false, .load = 500}};
    assert_int_equal(lab_choose_from(candidates, 3, 0.005), 1);
    candidates[1].is_eligible = false;
    assert_int_equal(lab_choose_from(candidates, 3, 0.005), 0);
    candidates[0].is_eligible = false;
    assert_true(lab_choose_from(candidates, 3, 0.005) == SIZE_MAX);
}

static void test_headroom_decides_between_cvs_of_the_same_percent(void **state)
{
    (void)state;
    struct lab_candidate candidates[] = {{.is_eligible = true, .load = 1000, .cv = 0.0013, .fullness = 0.95},
                                         {.is_eligible = true, .load = 1000, .cv = 0.0034, .fullness = 0.12},
                                         {.is_eligible = true, .load = 1000, .cv = 0.0063, .fullness = 0.01}};
    assert_int_equal(lab_choose_from(candidates, 3, 0.005), 1);
}

static void test_requirements_are_those_of_the_settings(void **state)
{
    (void)state;
    struct lab_settings settings = {.strategy = {.kind = BK_KIND_COUNT}, .source = BK_SOURCE_EXTERNAL};
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_SEQUENCE);
    settings.source = BK_SOURCE_LEASE;
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_LWT);
    settings.source = BK_SOURCE_SCAN;
    assert_int_equal(lab_requirements(&settings), 0);
    settings.source = BK_SOURCE_MEMORY;
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_WRITER);
    settings = (struct lab_settings){.strategy = {.kind = BK_KIND_HASH}};
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_FAN_OUT);
    settings = (struct lab_settings){.strategy = {.kind = BK_KIND_PROBABILISTIC}};
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_WRITER);
    settings.coordination = BK_GUARDED;
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_LWT);
    settings.coordination = BK_THREE_STATE;
    assert_int_equal(lab_requirements(&settings), 1U << LAB_REQUIRES_LEAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_of_evidence_has_its_verdict),
        cmocka_unit_test(test_more_above_the_limit_is_never_better),
        cmocka_unit_test(test_least_load_is_chosen_and_reads_count),
        cmocka_unit_test(test_equal_loads_are_decided_by_evenness_then_by_headroom),
        cmocka_unit_test(test_whatever_loses_rows_or_answers_disqualifies),
        cmocka_unit_test(test_refused_rows_disqualify),
        cmocka_unit_test(test_endless_observed_and_unjudged_strategies_are_not_chosen),
        cmocka_unit_test(test_a_run_that_does_not_say_whether_it_grows),
        cmocka_unit_test(test_sequence_numbers_are_needed_only_if_nothing_else_will_do),
        cmocka_unit_test(test_headroom_decides_between_cvs_of_the_same_percent),
        cmocka_unit_test(test_requirements_are_those_of_the_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
