/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the distribution of a weighted partition's bytes is that of bk_advance(), and its bounds are valid.
 * Method: the exact distribution compared with a sum over all sequences in small cases, and with partitions
 * that the core makes from random ids. Seeds are fixed, so the result is always the same. The
 * Kolmogorov-Smirnov distance must stay below a bound that chance exceeds once in 10^10 (Massart: 2 exp(-2 n
 * d^2)), means and tails within 8 standard errors (below 1e-14 each by the normal distribution, which sums of
 * this many parts follow closely). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bucketing/route.h"
#include "kernel/random.h"
#include "tune/odds.h"

#define PARTITIONS 20000u

static void assert_near(double actual, double expected, double relative)
{
    if (!(fabs(actual - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not %.17g", actual, expected);
}

struct unit {
    uint64_t bytes, threshold, row_bytes;
};

static struct tune_distribution distribution_of(const struct unit *unit)
{
    return tune_weighted(unit->bytes, unit->threshold, unit->row_bytes);
}

/* P(N > n) by stepping through the counter's values row by row. */
static double naive_above(const struct unit *distribution, uint64_t rows)
{
    double at[64] = {1},
           p = (double)(distribution->row_bytes % distribution->bytes) / (double)distribution->bytes;
    uint64_t whole = distribution->row_bytes / distribution->bytes;
    for (uint64_t n = 0; n < rows; n++) {
        double next[64] = {0};
        for (uint64_t count = 0; count < distribution->threshold; count++) {
            if (count + whole < distribution->threshold)
                next[count + whole] += at[count] * (1 - p);
            if (count + whole + 1 < distribution->threshold)
                next[count + whole + 1] += at[count] * p;
        }
        for (size_t i = 0; i < 64; i++)
            at[i] = next[i];
    }
    double sum = 0;
    for (uint64_t count = 0; count < distribution->threshold; count++)
        sum += at[count];
    return sum;
}

static void test_distribution_is_the_sum_over_all_sequences(void **state)
{
    (void)state;
    for (uint64_t threshold = 1; threshold <= 40; threshold += 13) {
        for (uint64_t row_bytes = 25; row_bytes <= 700; row_bytes += 75) {
            const struct unit unit = {100, threshold, row_bytes};
            const struct tune_distribution distribution = distribution_of(&unit);
            double mean = 0, squares = 0;
            double above = 1;
            for (uint64_t rows = 0; above > 1e-18; rows++) {
                above = naive_above(&unit, rows);
                mean += above;
                squares += (2 * (double)rows + 1) * above;
                if (rows % 7 != 0 || above == 0)
                    continue;
                assert_near(tune_above(&distribution, rows), above, 1e-9);
                double below = tune_below(&distribution, rows + 1);
                assert_true(fabs(below - (1 - above)) < 1e-12);
            }
            assert_near(tune_mean_rows(&distribution), mean, 1e-9);
            double stddev = sqrt(fmax(squares - mean * mean, 0));
            assert_true(fabs(tune_stddev_rows(&distribution) - stddev) < 1e-5);
        }
    }
}

static void test_quantile_is_the_least_that_reaches(void **state)
{
    (void)state;
    for (uint64_t row_bytes = 30; row_bytes < 900; row_bytes += 110) {
        const struct tune_distribution distribution = tune_weighted(100, 25, row_bytes);
        for (double p = 0.01; p < 1; p += 0.07) {
            const uint64_t rows = tune_quantile(&distribution, p);
            assert_true(1 - tune_above(&distribution, rows) >= p - 1e-12);
            assert_true(1 - tune_above(&distribution, rows - 1) < p + 1e-12);
        }
    }
    const struct tune_distribution small = tune_weighted(512, 40, 1), exact = tune_weighted(100, 25, 500),
                                   endless = tune_weighted(UINT64_MAX, UINT64_C(1) << 40, 3);
    assert_true(small.p == 1.0 / 512 && small.threshold == 40 && small.whole == 0);
    assert_int_equal(tune_quantile(&exact, 0), 5);
    assert_int_equal(tune_quantile(&exact, 0.999), 5);
    assert_true(tune_quantile(&endless, 0.5) == UINT64_MAX);
}

/* --- comparison with the core */

typedef uint64_t size_maker(struct sim_random *random, uint64_t row);

static uint64_t size_const;
static uint64_t constant(struct sim_random *random, uint64_t row)
{
    (void)random;
    (void)row;
    return size_const;
}
static uint64_t mixed(struct sim_random *random, uint64_t row)
{
    (void)row;
    return sim_random_below(random, 20) == 0 ? 1000 : 20;
}
static uint64_t in_stretches(struct sim_random *random, uint64_t row)
{
    (void)random;
    return row / 1000 % 3 == 0 ? 900 : 7;
}
static uint64_t heavy(struct sim_random *random, uint64_t row)
{
    (void)row;
    return sim_random_below(random, 100) == 0 ? 1000 + sim_random_below(random, 20000) : 40;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t sizes[PARTITIONS];

static void make_partitions(const struct unit *distribution, size_maker *size, uint64_t seed)
{
    struct bk_strategy strategy;
    struct bk_key_state state = {0};
    struct sim_random ids, draws;
    assert_int_equal(bk_strategy_weighted(distribution->bytes, distribution->threshold, &strategy), BK_OK);
    sim_random_init(&ids, seed, SIM_FUZZ, 0);
    sim_random_init(&draws, seed, SIM_FUZZ, 1);
    uint64_t bytes = 0;
    for (uint64_t row = 0; state.bucket < (int64_t)PARTITIONS; row++) {
        struct bk_row next = {.id = sim_random_next(&ids), .bytes = size(&draws, row)};
        struct bk_effect effect;
        bytes += next.bytes;
        assert_int_equal(bk_advance(&strategy, &state, &next, &effect), BK_OK);
        if (!effect.rolled)
            continue;
        sizes[state.bucket - 1] = bytes;
        bytes = 0;
    }
}

static double mean_of_sizes(double *stddev)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < PARTITIONS; i++)
        sum += (double)sizes[i];
    double mean = sum / PARTITIONS;
    for (size_t i = 0; i < PARTITIONS; i++)
        squares += ((double)sizes[i] - mean) * ((double)sizes[i] - mean);
    *stddev = sqrt(squares / PARTITIONS);
    return mean;
}

static void test_rows_of_one_size_follow_the_distribution(void **state)
{
    (void)state;
    static const uint64_t row_bytes[] = {50, 333, 1000, 1500, 7300};
    for (size_t i = 0; i < sizeof row_bytes / sizeof *row_bytes; i++) {
        const struct unit unit = {1000, 20, row_bytes[i]};
        const struct tune_distribution distribution = distribution_of(&unit);
        const double bytes = (double)row_bytes[i];
        size_const = row_bytes[i];
        make_partitions(&unit, constant, i + 1);
        double stddev, mean = mean_of_sizes(&stddev), own = tune_stddev_rows(&distribution) * bytes;
        assert_true(fabs(mean - tune_mean_rows(&distribution) * bytes) <= 8 * own / sqrt(PARTITIONS) + 1e-6);
        assert_true(fabs(stddev - own) <= 0.06 * own + 1e-6);
        qsort(sizes, PARTITIONS, sizeof *sizes, compare);
        double most = sqrt(log(2e10) / (2.0 * PARTITIONS));
        for (size_t j = 0; j < PARTITIONS; j++) {
            if (j + 1 < PARTITIONS && sizes[j + 1] == sizes[j])
                continue;
            double below = 1 - tune_above(&distribution, sizes[j] / row_bytes[i]);
            assert_true(fabs(below - (double)(j + 1) / PARTITIONS) <= most);
        }
    }
}

static void check_bounds(const struct unit *unit)
{
    for (uint64_t bytes = 0; bytes < 3 * unit->bytes * unit->threshold; bytes += unit->bytes / 2) {
        double below = 0, above = 0;
        for (size_t i = 0; i < PARTITIONS; i++) {
            below += sizes[i] < bytes;
            above += sizes[i] > bytes;
        }
        double most[] = {tune_weighted_below_most(unit->bytes, unit->threshold, bytes),
                         tune_weighted_above_about(unit->bytes, unit->threshold, bytes, (double)unit->bytes)};
        assert_true(below <= PARTITIONS * most[0] + 8 * sqrt(PARTITIONS * most[0] + 8));
        assert_true(above <= PARTITIONS * most[1] + 8 * sqrt(PARTITIONS * most[1] + 8));
    }
}

/* The mean is bytes x threshold; for independent sizes the standard deviation has a formula, and for any
 * order an upper bound. */
static void test_rows_of_any_size_up_to_the_unit_keep_the_bounds(void **state)
{
    (void)state;
    const struct unit distribution = {1000, 20, 0};
    double target = 20000, most = 1000 * sqrt(20), stddev;
    make_partitions(&distribution, mixed, 11);
    double mean = mean_of_sizes(&stddev);
    double first = (1000.0 + 19 * 20) / 20, second = (1000.0 * 1000 + 19 * 400) / 20;
    double own = 1000 * sqrt(20 * (1 - second / (1000 * first)));
    assert_true(fabs(mean - target) <= 8 * own / sqrt(PARTITIONS));
    assert_true(fabs(stddev - own) <= 0.06 * own && own < 0.6 * most);
    check_bounds(&distribution);
    make_partitions(&distribution, in_stretches, 12);
    mean = mean_of_sizes(&stddev);
    assert_true(fabs(mean - target) <= 8 * most / sqrt(PARTITIONS));
    assert_true(stddev <= most * 1.06);
    check_bounds(&distribution);
}

/* For small rows: compared with the exact value for one size, and with the core's partitions for two sizes.
 * The bound is about twice as high. */
static void test_small_rows_of_known_sizes_are_about_as_declared(void **state)
{
    (void)state;
    const struct tune_distribution same = tune_weighted(1000, 20, 10);
    const struct unit two = {10000, 5, 0};
    for (uint64_t bytes = 25000; bytes <= 36000; bytes += 1000)
        assert_true(fabs(tune_weighted_above_about(1000, 20, bytes, 5) / tune_above(&same, bytes / 10) - 1) <
                    0.06);
    const double first = (1000.0 + 19 * 20) / 20, second = (1000.0 * 1000 + 19 * 400) / 20;
    const double rest = second / (2 * first);
    make_partitions(&two, mixed, 14);
    for (uint64_t bytes = 60000; bytes <= 120000; bytes += 5000) {
        double above = 0, about = tune_weighted_above_about(10000, 5, bytes, rest);
        for (size_t i = 0; i < PARTITIONS; i++)
            above += sizes[i] > bytes;
        assert_true(fabs(above - PARTITIONS * about) <=
                    0.1 * PARTITIONS * about + 8 * sqrt(PARTITIONS * about));
        assert_true(tune_weighted_above_about(10000, 5, bytes, 10000) > 1.3 * about);
    }
}

/* Above a million increments and near the mode: the tail decreases, and is that of a normal number of
 * increments to within its skewness. */
static void test_tails_of_large_thresholds_are_finite_and_decrease(void **state)
{
    (void)state;
    for (uint64_t threshold = 999999; threshold <= 100000000; threshold = threshold * 10 + 1) {
        const double deviation = sqrt((double)threshold);
        double before = 1;
        for (int sigma = 1; sigma <= 12; sigma++) {
            const double more = ((double)threshold + sigma * deviation) * 1000;
            const double above = tune_weighted_above_about(1000, threshold, (uint64_t)more + 1000, 1000);
            assert_true(above > 0 && above < before);
            assert_true(sigma > 3 || fabs(2 * above / erfc(sigma / sqrt(2)) - 1) < 0.02);
            before = above;
        }
    }
}

/* Rows above the unit overshoot, on average by at most the amount that Lorden's inequality allows. */
static void test_rows_above_the_unit_overshoot_by_no_more_than_lorden_allows(void **state)
{
    (void)state;
    const struct unit unit = {1000, 20, 0};
    make_partitions(&unit, heavy, 13);
    double stddev, mean = mean_of_sizes(&stddev), error = 8 * stddev / sqrt(PARTITIONS);
    /* A size is 40, or 1000 + u with u uniform below 20000: the weight is at most 1 + floor of size /
     * 1000. */
    double first = 0.99 * 40 / 1000 + 0.01 * (1000 + 9999.5) / 1000, second = 0.99 * 40 / 1000;
    for (int u = 0; u < 20000; u++) {
        double whole = 1 + u / 1000, p = u % 1000 / 1000.0;
        second += 0.01 / 20000 * (whole * whole * (1 - p) + (whole + 1) * (whole + 1) * p);
    }
    assert_true(mean >= 20000 - error);
    assert_true(mean <= 20000 + 1000 * (second / first - 1) + error);
    assert_true(mean > 22000); /* the overshoot is noticeable */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution_is_the_sum_over_all_sequences),
        cmocka_unit_test(test_quantile_is_the_least_that_reaches),
        cmocka_unit_test(test_rows_of_one_size_follow_the_distribution),
        cmocka_unit_test(test_rows_of_any_size_up_to_the_unit_keep_the_bounds),
        cmocka_unit_test(test_small_rows_of_known_sizes_are_about_as_declared),
        cmocka_unit_test(test_tails_of_large_thresholds_are_finite_and_decrease),
        cmocka_unit_test(test_rows_above_the_unit_overshoot_by_no_more_than_lorden_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
