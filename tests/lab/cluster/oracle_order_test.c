/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: agreement and monotone judge only the times of rows, count each row that contradicts an earlier row
 * once, and excuse rows at their bounds. Method: rows placed by hand on both sides of each bound. */
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define BOUND (5 * SIM_MS) /* of one clock; two clocks differ by twice this */

struct placement {
    int64_t time_ns, bucket;
    uint32_t agent;
};

/* Places the rows in this order and compares the violations. */
static void expect(const struct placement *placements, size_t count, uint64_t agreement, uint64_t monotone)
{
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.agents.clock_bound_ns = BOUND;
    stand_open(&stand);
    for (size_t i = 0; i < count; i++)
        stand_place(&stand, 0, i, placements[i].time_ns, placements[i].bucket, placements[i].agent);
    assert_violations(&stand, LAB_ORACLE_AGREEMENT, agreement);
    assert_violations(&stand, LAB_ORACLE_MONOTONE, monotone);
}
#define EXPECT(agreement, monotone, ...)                                                                     \
    expect((const struct placement[]){__VA_ARGS__},                                                          \
           sizeof((const struct placement[]){__VA_ARGS__}) / sizeof(struct placement), agreement, monotone)

static void test_order_kept_is_no_violation(void **state)
{
    (void)state;
    EXPECT(0, 0, {100, 0, 0}, {200, 0, 1}, {300, 1, 0}, {300, 1, 1}, {400, 2, 2});
    EXPECT(0, 0, {400, 2, 2}, {300, 1, 1}, {300, 1, 0}, {200, 0, 1}, {100, 0, 0});
}

/* One time in two buckets: an edge belongs to one side only. A difference of exactly twice the bound is
 * allowed. */
static void test_monotone_with_equal_times_in_two_buckets_is_violated(void **state)
{
    (void)state;
    EXPECT(0, 0, {100, 1, 0}, {100, 1, 1}, {99, 0, 0}, {101, 2, 1});
    EXPECT(0, 1, {100, 1, 0}, {100, 0, 1});
    EXPECT(0, 1, {100, 0, 0}, {100, 1, 1});
    EXPECT(0, 2, {100, 0, 0}, {99, 0, 1}, {100, 2, 0}, {100, 1, 1});
    EXPECT(0, 1, {100, 1, 0}, {101, 0, 0});
    EXPECT(0, 1, {101, 0, 0}, {100, 1, 0});
}

static void test_agreement_within_twice_the_bound_is_excused(void **state)
{
    (void)state;
    EXPECT(0, 1, {0, 1, 0}, {2 * BOUND, 0, 1});
    EXPECT(1, 1, {0, 1, 0}, {2 * BOUND + 1, 0, 1});
    EXPECT(0, 1, {2 * BOUND, 0, 1}, {0, 1, 0});
    EXPECT(1, 1, {2 * BOUND + 1, 0, 1}, {0, 1, 0});
}

/* An agent that contradicts itself breaks the order but agrees with all other agents. */
static void test_agreement_of_one_agent_is_not_judged(void **state)
{
    (void)state;
    EXPECT(0, 1, {0, 1, 7}, {SIM_SECOND, 0, 7});
    EXPECT(0, 1, {SIM_SECOND, 0, 7}, {0, 1, 7});
}

/* The latest row below is the agent's own. The latest row of another agent decides, though it came long
 * before. */
static void test_agreement_also_compares_rows_before_the_agents_latest(void **state)
{
    (void)state;
    const int64_t late = 10 * SIM_SECOND, later = 20 * SIM_SECOND;
    EXPECT(1, 1, {late, 0, 1}, {later, 0, 2}, {late - 2 * BOUND - 1, 1, 2});
    EXPECT(0, 1, {late, 0, 1}, {later, 0, 2}, {late - 2 * BOUND, 1, 2});
    EXPECT(1, 1, {later, 0, 2}, {late, 0, 1}, {late - 2 * BOUND - 1, 1, 2});
    EXPECT(1, 1, {late - 1, 0, 2}, {later, 0, 2}, {late, 0, 1}, {late - 2 * BOUND - 1, 1, 2});
    EXPECT(0, 1, {late - 1, 0, 1}, {later, 0, 2}, {late - 2 * BOUND - 1, 1, 2});
    /* The same from below: the earliest row above decides. */
    EXPECT(1, 1, {late, 1, 1}, {0, 1, 2}, {late + 2 * BOUND + 1, 0, 2});
    EXPECT(0, 1, {late, 1, 1}, {0, 1, 2}, {late + 2 * BOUND, 0, 2});
    EXPECT(1, 1, {0, 1, 2}, {late, 1, 1}, {late + 2 * BOUND + 1, 0, 2});
}

/* Other buckets are between the two, with and without rows of their own. */
static void test_order_is_judged_across_all_buckets(void **state)
{
    (void)state;
    EXPECT(1, 1, {SIM_SECOND, 0, 0}, {SIM_SECOND + 1, 1, 0}, {SIM_SECOND + 2, 2, 0}, {0, 3, 1});
    EXPECT(1, 1, {SIM_SECOND, 0, 0}, {0, 9, 1});
    EXPECT(1, 1, {0, 9, 1}, {SIM_SECOND, 0, 0});
    EXPECT(1, 1, {0, 3, 1}, {2, 5, 1}, {1, 4, 1}, {SIM_SECOND, 2, 0});
    /* A new bucket between two others learns the times of the rows below it. */
    EXPECT(1, 1, {SIM_SECOND, 0, 0}, {2 * SIM_SECOND, 9, 0}, {0, 4, 1});
    /* A row is made known to all buckets above it, including those that existed before the row. */
    EXPECT(3, 3, {0, 4, 0}, {1, 5, 0}, {2 * SIM_SECOND, 0, 1}, {SIM_SECOND, 5, 0}, {SIM_SECOND + 1, 4, 0});
}

/* Each row is judged once, however many rows it contradicts; earlier rows are not judged again. */
static void test_order_violations_are_counted_in_rows(void **state)
{
    (void)state;
    EXPECT(1, 1, {0, 1, 0}, {1, 1, 0}, {2, 2, 0}, {SIM_SECOND, 0, 1});
    EXPECT(3, 3, {SIM_SECOND, 0, 1}, {0, 1, 0}, {1, 1, 0}, {2, 2, 0});
    /* A row that contradicts others in both directions counts once. */
    EXPECT(1, 2, {SIM_SECOND, 0, 0}, {0, 2, 0}, {SIM_SECOND / 2, 1, 1});
    EXPECT(2, 2, {SIM_SECOND, 0, 0}, {0, 2, 1}, {SIM_SECOND / 2, 1, 2});
}

/* Clocks can jump so far that differences of times overflow. */
static void test_agreement_over_the_whole_range_of_clocks_is_judged(void **state)
{
    (void)state;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.agents.clock_bound_ns = 365 * SIM_DAY;
    stand_open(&stand);
    const int64_t far = INT64_MAX / 8 * 7;
    stand_arrive(&stand, 0, 3);
    stand_place(&stand, 0, 0, far - stand_time(&stand, 0), 0, 0);
    stand_place(&stand, 0, 1, -far, 1, 1);
    assert_violations(&stand, LAB_ORACLE_AGREEMENT, 1);
    stand_place(&stand, 0, 2, far - stand_time(&stand, 0), 0, 2);
    assert_violations(&stand, LAB_ORACLE_AGREEMENT, 2);
    assert_violations(&stand, LAB_ORACLE_MONOTONE, 2);
}

/* Rows of different keys are independent. */
static void test_order_of_different_keys_is_not_compared(void **state)
{
    (void)state;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.run.key_count = 3;
    stand_open(&stand);
    stand_place(&stand, 1, 0, 0, 7, 0);
    stand_place(&stand, 0, 0, SIM_SECOND, 0, 1);
    stand_place(&stand, 2, 0, SIM_SECOND, 6, 2);
    assert_violations(&stand, LAB_ORACLE_AGREEMENT, 0);
    assert_violations(&stand, LAB_ORACLE_MONOTONE, 0);
}

/* Only some strategies choose the bucket by time. With the others, rows in order of their numbers or in no
 * order are never out of place. */
static void test_order_is_judged_where_buckets_follow_times(void **state)
{
    (void)state;
    static const bool is_ordered[BK_KINDS] = {[BK_KIND_UNBUCKETED] = true,
                                              [BK_KIND_TIME] = true,
                                              [BK_KIND_PROBABILISTIC] = true,
                                              [BK_KIND_WEIGHTED] = true};
    struct bk_strategy strategies[BK_KINDS];
    assert_int_equal(bk_strategy_unbucketed(&strategies[BK_KIND_UNBUCKETED]), BK_OK);
    assert_int_equal(bk_strategy_time(SIM_HOUR, 0, &strategies[BK_KIND_TIME]), BK_OK);
    assert_int_equal(bk_strategy_count(10, &strategies[BK_KIND_COUNT]), BK_OK);
    assert_int_equal(bk_strategy_probabilistic(3, 4, &strategies[BK_KIND_PROBABILISTIC]), BK_OK);
    assert_int_equal(bk_strategy_hash(10, &strategies[BK_KIND_HASH]), BK_OK);
    assert_int_equal(bk_strategy_weighted(3, 4, &strategies[BK_KIND_WEIGHTED]), BK_OK);
    for (int kind = 0; kind < BK_KINDS; kind++) {
        stand_prepare(&stand, &strategies[kind], BK_SINGLE);
        stand_open(&stand);
        stand_place(&stand, 0, 0, 0, 1, 0);
        stand_place(&stand, 0, 1, SIM_SECOND, 0, 1);
        const bool *is_judged = stand.run.oracles.verdict.is_judged;
        assert_int_equal(is_judged[LAB_ORACLE_AGREEMENT], is_ordered[kind]);
        assert_int_equal(is_judged[LAB_ORACLE_MONOTONE], is_ordered[kind]);
        assert_violations(&stand, LAB_ORACLE_AGREEMENT, is_ordered[kind]);
        assert_violations(&stand, LAB_ORACLE_MONOTONE, is_ordered[kind]);
    }
}

/* The first violation is described in words, with key and time; later violations are only counted. */
static void test_violation_first_is_reported(void **state)
{
    (void)state;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.run.key_count = 2;
    stand_open(&stand);
    stand_place(&stand, 1, 0, SIM_SECOND, 0, 3);
    stand_wait_until(&stand, 2 * SIM_SECOND);
    stand_place(&stand, 1, 1, 0, 1, 4);
    stand_wait_until(&stand, 3 * SIM_SECOND);
    stand_place(&stand, 1, 2, 1, 1, 4);
    const struct lab_violation *first = &stand.run.oracles.verdict.violations[LAB_ORACLE_AGREEMENT];
    assert_int_equal(first->count, 2);
    assert_int_equal(first->key, 1);
    assert_int_equal(first->time_ns, stand_time(&stand, 2 * SIM_SECOND));
    assert_string_equal(first->text, "agent 4 puts row 1 of 0.000000 s into bucket 1, and another one of "
                                     "1.000000 s into a lower one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_kept_is_no_violation),
        cmocka_unit_test(test_monotone_with_equal_times_in_two_buckets_is_violated),
        cmocka_unit_test(test_agreement_within_twice_the_bound_is_excused),
        cmocka_unit_test(test_agreement_of_one_agent_is_not_judged),
        cmocka_unit_test(test_agreement_also_compares_rows_before_the_agents_latest),
        cmocka_unit_test(test_order_is_judged_across_all_buckets),
        cmocka_unit_test(test_order_violations_are_counted_in_rows),
        cmocka_unit_test(test_agreement_over_the_whole_range_of_clocks_is_judged),
        cmocka_unit_test(test_order_of_different_keys_is_not_compared),
        cmocka_unit_test(test_order_is_judged_where_buckets_follow_times),
        cmocka_unit_test(test_violation_first_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
