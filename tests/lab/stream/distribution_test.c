/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a stationary stream under the probabilistic strategy makes partitions of the exact distribution.
 * Method: 40 keys of half a million rows each, 20 million in all; of each key the first m closed partitions,
 * where m is so small that the end of the stream cuts none of them (partitions that close before a fixed end
 * are biased towards small sizes). Mean, standard deviation and quantiles are within 4 standard errors;
 * Kolmogorov and Smirnov's distance stays below the bound that chance exceeds once in 10^9 (Massart: 2 exp(-2
 * n d^2)). Seeds are fixed, so the test passes always or never. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bucketing/bucketing.h"
#include "kernel/time.h"
#include "tune/odds.h"
#include "workload/workload.h"

#define KEYS         40u
#define ROWS_PER_KEY 500000u

static int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The rows of the key's first m closed partitions. */
static void first_partitions(const struct wl_workload *workload, const struct bk_strategy *strategy,
                             uint64_t key_index, size_t m, uint64_t *sizes)
{
    struct wl_key key;
    struct bk_key_state state = {0};
    int64_t times[512];
    uint64_t ids[512], rows = 0;
    size_t closed = 0, count;
    wl_key_init(&key, workload, key_index);
    do {
        count = wl_key_rows(&key, INT64_MAX, 512, times, ids, NULL);
        for (size_t i = 0; i < count && closed < m; i++) {
            struct bk_row row = {times[i], 0, ids[i], 1};
            struct bk_effect effect;
            rows++;
            assert_int_equal(bk_advance(strategy, &state, &row, &effect), BK_OK);
            if (effect.rolled) {
                sizes[closed++] = rows;
                rows = 0;
            }
        }
    } while (count == 512 && closed < m);
    assert_int_equal(closed, m);
}

static void assert_quantile(const uint64_t *sizes, size_t n, const struct tune_distribution *distribution,
                            double p)
{
    /* The standard error of a quantile is sqrt(p (1 - p) / n) / density; in ranks it needs no density. */
    double error = sqrt(p * (1 - p) * (double)n);
    double low = floor(p * (double)n - 4 * error) - 1, high = ceil(p * (double)n + 4 * error);
    uint64_t exact = tune_quantile(distribution, p);
    if (low >= 0)
        assert_true(sizes[(size_t)low] <= exact);
    if (high < (double)n)
        assert_true(sizes[(size_t)high] >= exact);
}

static void assert_distribution(const struct bk_strategy *strategy, double p, uint64_t threshold, size_t m)
{
    struct wl_workload workload = {
        .seed = 20,
        .duration_ns = SIM_DAY,
        .key_count = KEYS,
        .rate_per_s = (double)KEYS * ROWS_PER_KEY / 86400.0,
        .row_bytes = {SIM_SIZE_CONSTANT, 1, 0, 0},
        .row_cells = 1,
    };
    sim_zipf_init(&workload.popularity, 0, KEYS);
    struct tune_distribution distribution = {p, threshold, 0};
    size_t n = KEYS * m;
    uint64_t *sizes = malloc(n * sizeof *sizes);
    assert_non_null(sizes);
    for (uint64_t key = 0; key < KEYS; key++)
        first_partitions(&workload, strategy, key, m, sizes + key * m);
    qsort(sizes, n, sizeof *sizes, compare_u64);

    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        mean += (double)sizes[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += ((double)sizes[i] - mean) * ((double)sizes[i] - mean) / (double)n;
    double stddev = tune_stddev_rows(&distribution), root = sqrt((double)n);
    assert_true(fabs(mean - tune_mean_rows(&distribution)) < 4 * stddev / root);
    /* Excess kurtosis of the negative binomial; the error of the deviation is sd sqrt((kurtosis - 1) / 4n).
     */
    double kurtosis = 3 + 6.0 / (double)threshold + p * p / ((1 - p) * (double)threshold);
    assert_true(fabs(sqrt(square) - stddev) <
                4 * stddev * sqrt((kurtosis - 1) / 4) / root + stddev / (double)n);
    assert_quantile(sizes, n, &distribution, 0.01);
    assert_quantile(sizes, n, &distribution, 0.50);
    assert_quantile(sizes, n, &distribution, 0.99);

    double distance = 0;
    for (size_t i = 0; i < n; i++) {
        double below = tune_below(&distribution, sizes[i]), upto = 1 - tune_above(&distribution, sizes[i]);
        distance = fmax(distance, fmax((double)(i + 1) / (double)n - upto, below - (double)i / (double)n));
    }
    assert_true(distance < sqrt(log(2 / 1e-9) / 2) / root);
    free(sizes);
}

static void test_distribution_of_9_bits_and_40_holds(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(9, 40, &strategy), BK_OK);
    assert_distribution(&strategy, 1.0 / 512, 40, 16);
}

static void test_distribution_of_4_bits_and_10_holds(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(4, 10, &strategy), BK_OK);
    assert_distribution(&strategy, 1.0 / 16, 10, 2500);
}

static void test_distribution_of_a_chance_of_1_in_300_holds(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic_chance(1, 300, 40, &strategy), BK_OK);
    assert_distribution(&strategy, 1.0 / 300, 40, 30);
}

/* This checks the test: the distribution of a threshold one lower is rejected. */
static void test_distribution_of_another_threshold_is_distinguished(void **state)
{
    (void)state;
    struct tune_distribution right = {1.0 / 16, 10, 0}, wrong = {1.0 / 16, 9, 0};
    double distance = 0;
    for (uint64_t rows = 10; rows < 1000; rows++)
        distance = fmax(distance, fabs(tune_above(&right, rows) - tune_above(&wrong, rows)));
    assert_true(distance > 2 * sqrt(log(2 / 1e-9) / 2) / sqrt(KEYS * 2500.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution_of_9_bits_and_40_holds),
        cmocka_unit_test(test_distribution_of_4_bits_and_10_holds),
        cmocka_unit_test(test_distribution_of_a_chance_of_1_in_300_holds),
        cmocka_unit_test(test_distribution_of_another_threshold_is_distinguished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
