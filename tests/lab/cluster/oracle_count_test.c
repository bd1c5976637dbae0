/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: no_gaps and bounded judge the rows of a partition, and when they came. Method: partitions are filled
 * by hand to their bound and one row beyond; states and dates are on both sides of the decisive moment. */
#include <math.h>

#include "cluster_view.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

/* --- no_gaps */

static void test_no_gaps_of_filled_buckets_is_no_violation(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    for (uint64_t row = 0; row < 6; row++) {
        if (row % 2 == 0 && row > 0)
            stand_state(&stand, 0, (int64_t)row / 2, (int64_t)row * SECOND - 1, 0);
        stand_wait_until(&stand, (int64_t)row * SECOND);
        stand_write(&stand, 0, row, (int64_t)row * SECOND, (int64_t)row / 2);
    }
    stand_end(&stand);
    assert_true(stand.run.oracles.verdict.is_judged[LAB_ORACLE_NO_GAPS]);
    assert_int_equal(stand.run.oracles.keys[0].gaps_judged, 2);
    assert_violations(&stand, LAB_ORACLE_NO_GAPS, 0);
}

/* Buckets that were skipped, and a bucket whose only row was put and never stored. */
static void test_no_gaps_empty_buckets_are_counted(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_place(&stand, 0, 0, 0, 0, 0);
    stand_write(&stand, 0, 1, 0, 2);
    stand_wait_until(&stand, SECOND);
    stand_state(&stand, 0, 4, SECOND - 1, 0);
    assert_violations(&stand, LAB_ORACLE_NO_GAPS, 3);
}

/* No bucket is judged twice when the state goes back and forward again. A row that comes too late changes
 * nothing. */
static void test_no_gaps_each_bucket_is_judged_once(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_wait_until(&stand, SECOND);
    stand_state(&stand, 0, 1, 1, 0);
    assert_violations(&stand, LAB_ORACLE_NO_GAPS, 1);
    stand_write(&stand, 0, 0, 0, 0);
    stand_state(&stand, 0, 0, 1, 0);
    stand_state(&stand, 0, 1, 2, 0);
    stand_state(&stand, 0, 2, 3, 0);
    assert_violations(&stand, LAB_ORACLE_NO_GAPS, 2);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_NO_GAPS, 2);
}

/* Before the date of a change the old bucket is the current bucket. */
static void test_no_gaps_of_a_dated_change_are_judged_when_the_date_has_come(void **state)
{
    (void)state;
    for (int64_t late_ns = -1; late_ns <= 0; late_ns++) {
        for (int has_row = 0; has_row <= 1; has_row++) {
            stand_open_probabilistic(&stand, BK_THREE_STATE);
            stand_wait_until(&stand, SECOND);
            stand_state(&stand, 0, 1, 0, 5 * SECOND);
            assert_int_equal(lab_state_bucket_at(&stand.run, 0, stand_time(&stand, 5 * SECOND - 1)), 0);
            assert_int_equal(lab_state_bucket_at(&stand.run, 0, stand_time(&stand, 5 * SECOND)), 1);
            stand_wait_until(&stand, 5 * SECOND - 1);
            if (has_row)
                stand_write(&stand, 0, 0, 5 * SECOND - 1, 0);
            stand_wait_until(&stand, 5 * SECOND + late_ns);
            stand_state(&stand, 0, 1, 5 * SECOND, 0);
            assert_violations(&stand, LAB_ORACLE_NO_GAPS, late_ns == 0 && !has_row);
            assert_int_equal(lab_state_bucket_at(&stand.run, 0, stand_time(&stand, 5 * SECOND - 1)), 0);
            stand_wait_until(&stand, 6 * SECOND);
            stand_end(&stand); /* judged again at the end, for dates that have come since */
            assert_violations(&stand, LAB_ORACLE_NO_GAPS, !has_row);
        }
    }
}

/* With plain changes, the row that rolled the key still belongs to the old bucket. */
static void test_state_bucket_of_plain_changes_begins_after_the_row(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_state(&stand, 0, 1, 3 * SECOND, 0);
    assert_int_equal(lab_state_bucket_at(&stand.run, 0, stand_time(&stand, 3 * SECOND)), 0);
    assert_int_equal(lab_state_bucket_at(&stand.run, 0, stand_time(&stand, 3 * SECOND + 1)), 1);
    /* A skipped bucket has no separate date. */
    stand_state(&stand, 0, 3, 5 * SECOND, 0);
    assert_int_equal(lab_state_bucket_at(&stand.run, 0, stand_time(&stand, 5 * SECOND)), 2);
    assert_int_equal(lab_state_bucket_at(&stand.run, 0, stand_time(&stand, 1)), 2);
    assert_int_equal(stand.run.oracles.verdict.rolls, 3);
}

/* External counts are judged at the end, up to the highest bucket of any put. */
static void test_no_gaps_of_counts_are_judged_at_the_end(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    stand.run.key_count = 2;
    stand_open(&stand);
    stand_write(&stand, 0, 0, 0, 0);
    stand_write(&stand, 0, 10, 0, 1);
    stand_write(&stand, 0, 50, 0, 5);
    stand_place(&stand, 0, 30, 0, 3, 0);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_NO_GAPS, 3);
}

/* --- bounded */

/* The first n for which fewer than `threshold` rows fire with a chance of at most 10^-12, found by increasing
 * n one by one, with Chernoff's bound. `exact` is the exact n, from the sum of the binomial distribution. */
static uint64_t distribution_of(double p, uint64_t threshold, uint64_t *exact)
{
    *exact = 0;
    for (uint64_t n = threshold;; n++) {
        double rows = (double)n, a = ((double)threshold - 1) / rows, tail = 0, log_choose = 0;
        for (uint64_t k = 0; k < threshold && *exact == 0; k++) {
            if (k > 0)
                log_choose += log((rows - (double)k + 1) / (double)k);
            tail += exp(log_choose + (double)k * log(p) + (rows - (double)k) * log1p(-p));
        }
        if (*exact == 0 && tail <= 1e-12)
            *exact = n;
        double divergence = (1 - a) * log((1 - a) / (1 - p)) + (a > 0 ? a * log(a / p) : 0);
        if (a < p && rows * divergence >= log(1e12))
            return n;
    }
}

struct filling {
    uint64_t rows;         /* in bucket 0 */
    uint64_t rows_at_once; /* placed within one second; the others come every second */
    uint64_t lost;         /* lost increments */
    int64_t unhealthy_ns;  /* within the time in which the rows come */
};

static bool is_out_of_bound(const struct filling *filling)
{
    stand_open(&stand);
    struct lab_host_operation operation;
    for (uint64_t row = 0; row < filling->rows; row++) {
        operation = stand_operation(0, row, 0);
        operation.fires = row < filling->lost;
        stand_place(&stand, 0, row, 0, 0, 0);
        stand_store(&stand, 0, row, 0, 0, true);
        stand_acknowledge(&stand, &operation);
        stand_finish(&stand, &operation, false, false);
        if (row == filling->rows_at_once && filling->unhealthy_ns > 0)
            lab_health_pulse(&stand.run, stand_time(&stand, (int64_t)row * SECOND + filling->unhealthy_ns));
        if (row + 1 >= filling->rows_at_once)
            stand_wait_until(&stand, (int64_t)(row + 1) * SECOND);
    }
    stand_end(&stand);
    uint64_t violations = stand_violations(&stand, LAB_ORACLE_BOUNDED);
    stand_close();
    assert_true(violations <= 1);
    return violations == 1;
}

static void expect_bound(struct filling filling, uint64_t bound)
{
    const struct stand prepared = stand;
    filling.rows = bound;
    if (is_out_of_bound(&filling))
        fail_msg("%llu rows exceed the bound", (unsigned long long)bound);
    stand = prepared;
    filling.rows = bound + 1;
    if (!is_out_of_bound(&filling))
        fail_msg("%llu rows do not exceed the bound", (unsigned long long)bound + 1);
    stand = prepared;
}

/* A lag of only the oracle's own 2 s overlaps three whole seconds, each of which has the largest number of
 * rows. */
static void test_bounded_follows_the_distribution_and_the_lag(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 3; bits++) {
        for (uint64_t threshold = 1; threshold <= 5; threshold += 2) {
            struct bk_strategy strategy;
            assert_int_equal(bk_strategy_probabilistic(bits, threshold, &strategy), BK_OK);
            stand_prepare(&stand, &strategy, BK_SINGLE);
            uint64_t exact = threshold,
                     distribution =
                         bits == 0 ? threshold : distribution_of(pow(0.5, bits), threshold, &exact);
            assert_in_range(distribution, exact, exact + exact / 5 + 1);
            expect_bound((struct filling){.rows_at_once = 1}, distribution + 3);
            expect_bound((struct filling){.rows_at_once = 5}, distribution + 3 * 5);
        }
    }
}

static void test_bounded_chance_of_any_ratio_is_the_same_distribution(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    uint64_t exact;
    assert_int_equal(bk_strategy_probabilistic_chance(2, 7, 4, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    expect_bound((struct filling){.rows_at_once = 1}, distribution_of(2.0 / 7, 4, &exact) + 3);
}

/* A lost increment raises the threshold by one. */
static void test_bounded_lost_increments_raise_the_threshold(void **state)
{
    (void)state;
    uint64_t exact;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    expect_bound((struct filling){.rows_at_once = 1, .lost = 2}, distribution_of(0.125, 4 + 2, &exact) + 3);
}

/* Every second of lead, grant, cache, lock and unhealthy time counts, including a second that has only begun.
 */
static void test_bounded_lag_is_all_that_a_roll_may_wait_for(void **state)
{
    (void)state;
    const uint64_t grants = 4u << BK_GRANT_DOUBLINGS_MAX; /* grown by contention */
    uint64_t exact, distribution = distribution_of(0.125, 4, &exact);
    stand_prepare_probabilistic(&stand, BK_THREE_STATE);
    stand.run.config.lead_ns = 2 * SECOND;
    stand.run.config.cache_ttl_ns = 3 * SECOND;
    stand.run.config.grant_ns = 4 * SECOND;
    stand.run.config.lock_lasts_ns = SECOND;
    expect_bound((struct filling){.rows_at_once = 1}, distribution + 2 + 2 + 3 + grants + 2 + 1);
    stand.run.config.lead_ns++;
    expect_bound((struct filling){.rows_at_once = 1}, distribution + 2 + 2 + 3 + grants + 2 + 2);
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.network.latency_ns.a = 50e6; /* 20 trips take a second */
    stand.scenario.agents.timeout_ns = 100 * SIM_MS;
    struct stand slow = stand;
    stand_open(&slow);
    assert_int_equal(slow.run.oracles.lag_ns, 3 * SECOND);
    stand_close();
    /* A fault of 4 s, followed by the client's timeout. */
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    expect_bound((struct filling){.rows_at_once = 1, .unhealthy_ns = 4 * SECOND},
                 distribution + 2 + 4 + 1 + 1);
    expect_bound((struct filling){.rows_at_once = 1, .unhealthy_ns = 4 * SECOND + 1},
                 distribution + 2 + 4 + 1 + 2);
}

/* Faults before the partition's first row or after its last row excuse nothing. */
static void test_bounded_faults_at_other_times_do_not_count(void **state)
{
    (void)state;
    uint64_t exact, bound = distribution_of(0.125, 4, &exact) + 3;
    stand_open_probabilistic(&stand, BK_SINGLE);
    lab_health_pulse(&stand.run, stand_time(&stand, 5 * SECOND));
    stand_wait_until(&stand, 6 * SECOND);
    for (uint64_t row = 0; row <= bound; row++) {
        stand_write(&stand, 0, row, 0, 0);
        stand_wait_until(&stand, (int64_t)(7 + row) * SECOND);
    }
    lab_health_fault(&stand.run, true);
    stand_wait_until(&stand, 1000 * SECOND);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_BOUNDED, 1);
}

/* `count` involves no chance and has no lag. */
static void test_bounded_count_is_exact(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    expect_bound((struct filling){.rows_at_once = 10}, 10);
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0)
            assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
        else if (kind == 1)
            assert_int_equal(bk_strategy_time(SIM_HOUR, 0, &strategy), BK_OK);
        else
            assert_int_equal(bk_strategy_hash(4, &strategy), BK_OK);
        stand_prepare(&stand, &strategy, BK_SINGLE);
        stand_open(&stand);
        stand_end(&stand);
        assert_false(stand.run.oracles.verdict.is_judged[LAB_ORACLE_BOUNDED]);
        assert_false(stand.run.oracles.verdict.is_judged[LAB_ORACLE_LIVE]);
    }
}

/* Eviction raises the bound only if more than four keys can share a set of the cache; otherwise an agent
 * counts its bucket again within every_rows. */
static void test_bounded_eviction_counts_where_a_set_has_a_fifth_key(void **state)
{
    (void)state;
    static const struct {
        uint32_t keys, entries;
        bool is_evicted;
    } cases[] = {{4, 4, false}, {5, 4, true}, {5, 4096, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bk_strategy strategy;
        assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
        stand_prepare(&stand, &strategy, BK_SINGLE);
        stand.run.config.source = BK_SOURCE_SCAN;
        stand.run.config.every_rows = 2;
        stand.run.config.cache_entries = cases[i].entries;
        stand.run.key_count = cases[i].keys;
        expect_bound((struct filling){.rows_at_once = 1}, 10 + 3 + 2 * 28 * cases[i].is_evicted);
    }
}

/* The fourth row that fires rolls its key before its operation ends: it is number 4, and the threshold is 4.
 */
struct closing {
    enum bk_coordination coordination;
    uint64_t rows;       /* rows that fire and are counted */
    uint64_t overlapped; /* rows at the start that are all under way together */
    uint64_t lost;       /* rows after those that are not counted */
    bool is_rolled, is_unhealthy, is_young;
};

static uint64_t late_rolls(const struct closing *closing)
{
    struct lab_host_operation operations[8];
    stand_prepare_probabilistic(&stand, closing->coordination);
    stand_open(&stand);
    if (!closing->is_young)
        stand_wait_until(&stand, 60 * SECOND);
    if (closing->is_unhealthy)
        lab_health_pulse(&stand.run, stand_time(&stand, 59 * SECOND));
    for (uint64_t row = 0; row < closing->rows + closing->lost; row++) {
        operations[row] = stand_operation(0, row, 0);
        operations[row].fires = true;
        stand_place(&stand, 0, row, 0, 0, 0);
        stand_store(&stand, 0, row, 0, 0, true);
        stand_acknowledge(&stand, &operations[row]);
        if (closing->is_rolled && row + 1 == closing->rows)
            stand_state(&stand, 0, 1, 0, 0);
        for (uint64_t ends = row + 1 == closing->overlapped ? 0 : row;
             row + 1 >= closing->overlapped && ends <= row; ends++)
            stand_finish(&stand, &operations[ends], ends < closing->rows, false);
    }
    uint64_t violations = stand_violations(&stand, LAB_ORACLE_BOUNDED);
    return violations;
}

static void test_bounded_roll_that_comes_an_increment_late(void **state)
{
    (void)state;
    static const struct {
        struct closing closing;
        uint64_t expected;
    } cases[] = {
        {{BK_SINGLE, 3, 0, 0, false, false, false}, 0},      {{BK_SINGLE, 4, 0, 0, false, false, false}, 1},
        {{BK_SINGLE, 4, 0, 0, true, false, false}, 0},       {{BK_LOCKED, 4, 0, 0, false, false, false}, 1},
        {{BK_THREE_STATE, 4, 0, 0, false, false, false}, 1}, {{BK_GUARDED, 4, 0, 0, false, false, false}, 0},
        {{BK_SINGLE, 4, 0, 0, false, true, false}, 0},       {{BK_SINGLE, 4, 0, 0, false, false, true}, 0},
        {{BK_SINGLE, 4, 2, 0, false, false, false}, 0},      {{BK_SINGLE, 5, 2, 0, false, false, false}, 1},
        {{BK_LOCKED, 5, 2, 0, false, false, false}, 0},      {{BK_SINGLE, 3, 0, 2, false, false, false}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t late = late_rolls(&cases[i].closing);
        if (late != cases[i].expected)
            fail_msg("case %zu: %llu late", i, (unsigned long long)late);
    }
}

/* The bound is found even if no partition of a run can fill up. */
static void test_bounded_of_the_smallest_chance_ends(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic_chance(1, UINT64_MAX, 1000000000, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    stand_open(&stand);
    stand_write(&stand, 0, 0, 0, 0);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_BOUNDED, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_gaps_of_filled_buckets_is_no_violation),
        cmocka_unit_test(test_no_gaps_empty_buckets_are_counted),
        cmocka_unit_test(test_no_gaps_each_bucket_is_judged_once),
        cmocka_unit_test(test_no_gaps_of_a_dated_change_are_judged_when_the_date_has_come),
        cmocka_unit_test(test_state_bucket_of_plain_changes_begins_after_the_row),
        cmocka_unit_test(test_no_gaps_of_counts_are_judged_at_the_end),
        cmocka_unit_test(test_bounded_follows_the_distribution_and_the_lag),
        cmocka_unit_test(test_bounded_chance_of_any_ratio_is_the_same_distribution),
        cmocka_unit_test(test_bounded_lost_increments_raise_the_threshold),
        cmocka_unit_test(test_bounded_lag_is_all_that_a_roll_may_wait_for),
        cmocka_unit_test(test_bounded_faults_at_other_times_do_not_count),
        cmocka_unit_test(test_bounded_count_is_exact),
        cmocka_unit_test(test_bounded_eviction_counts_where_a_set_has_a_fifth_key),
        cmocka_unit_test(test_bounded_roll_that_comes_an_increment_late),
        cmocka_unit_test(test_bounded_of_the_smallest_chance_ends),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
