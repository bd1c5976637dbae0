/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the distribution of rows per partition is accurate to 1e-10 in both tails. Method: the published
 * figures; a table computed with 80 digits (odds_reference.py); small distributions in integers; identities
 * beyond the table's range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judgment.h"
#include "tune/odds.h"

#define ACCURACY 1e-10

static double chance(uint32_t bits)
{
    return ldexp(1, -(int)bits);
}

/* P(N = rows): the last row increments the counter, and the rows before it have threshold - 1 increments. */
static double chance_of(const struct tune_distribution *distribution, uint64_t rows)
{
    return distribution->p * lab_binomial_pmf(rows - 1, distribution->threshold - 1, distribution->p);
}

static void check_close(const char *what, const struct tune_distribution *distribution, uint64_t rows,
                        double value, double wanted)
{
    /* The comparison is written so that a NaN fails. */
    if (!(fabs(value - wanted) <= ACCURACY * fabs(wanted)))
        fail_msg("%s, p %a, threshold %" PRIu64 ", rows %" PRIu64 ": %.17g, not %.17g", what, distribution->p,
                 distribution->threshold, rows, value, wanted);
}

/* All digits of the published figure. */
static void check_digits(double value, int digits, const char *wanted)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*g", digits, value);
    assert_string_equal(text, wanted);
}

static void test_distributions_have_their_published_figures(void **state)
{
    static const struct {
        uint32_t bits;
        uint64_t threshold;
        const char *stddev, *increments;
    } cases[] = {{9, 40, "3235", "1.953"}, {7, 160, "1613", "7.812"}, {11, 10, "6475", "0.4883"}};
    const struct tune_distribution distribution = {chance(9), 40, 0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tune_distribution same = {chance(cases[i].bits), cases[i].threshold, 0};
        check_digits(tune_mean_rows(&same), 10, "20480");
        check_digits(tune_stddev_rows(&same), 4, cases[i].stddev);
        check_digits(tune_increments_per_1000_rows(&same), 4, cases[i].increments);
    }
    check_digits(tune_stddev_rows(&distribution), 14, "3235.0085007616");
    check_digits(tune_above(&distribution, 20000), 12, "0.538460811385");
    check_digits(tune_below(&distribution, 12000), 8, "0.0011304044");
    check_digits(tune_above(&distribution, 32000), 8, "0.00095968816");
    check_digits(tune_below(&distribution, 4200), 7, "1.338744e-15");
    check_digits(tune_above(&distribution, 58000), 8, "5.8165184e-16");
}

static void test_odds_reference_table_is_met(void **state)
{
    (void)state;
    FILE *file = fopen(BUCKETLAB_SOURCE_DIR "/tests/tune/odds_reference.txt", "r");
    assert_non_null(file);
    char line[256];
    int values = 0, deep = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        struct tune_distribution distribution = {.whole = 0};
        uint64_t rows;
        double below, above, pmf;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%la %" SCNu64 " %" SCNu64 " %lf %lf %lf", &distribution.p,
                                &distribution.threshold, &rows, &below, &above, &pmf),
                         6);
        check_close("below", &distribution, rows, tune_below(&distribution, rows), below);
        check_close("above", &distribution, rows, tune_above(&distribution, rows), above);
        check_close("pmf", &distribution, rows, chance_of(&distribution, rows), pmf);
        values += 3;
        deep += (below > 0 && below < 1e-25) + (above > 0 && above < 1e-25);
    }
    fclose(file);
    assert_true(values >= 200);
    assert_true(deep >= 50);
}

/* With one bit, P(N <= n) is a whole number of 2^-n, an exact double. Its quantile is n; the quantile of a
 * slightly larger probability is n + 1, as long as neighbouring values differ by more than that. */
static void test_odds_one_bit_equal_counted_outcomes(void **state)
{
    (void)state;
    enum { N_MAX = 50, SPACED_N_MAX = 30 };
    uint64_t choose[N_MAX + 2] = {1};
    for (uint64_t n = 1; n <= N_MAX; n++) {
        for (uint64_t k = n; k > 0; k--)
            choose[k] += choose[k - 1];
        uint64_t at_least = 0;
        for (uint64_t threshold = n; threshold >= 1; threshold--) {
            at_least += choose[threshold];
            const struct tune_distribution distribution = {0.5, threshold, 0};
            double reached = ldexp((double)at_least, -(int)n);
            check_close("below", &distribution, n + 1, tune_below(&distribution, n + 1), reached);
            check_close("above", &distribution, n, tune_above(&distribution, n), 1 - reached);
            assert_int_equal(tune_quantile(&distribution, reached), n);
            if (n <= SPACED_N_MAX)
                assert_int_equal(tune_quantile(&distribution, reached * (1 + 1e-13)), n + 1);
        }
    }
}

static void test_odds_at_the_edges_are_exact(void **state)
{
    (void)state;
    static const uint64_t thresholds[] = {1, 2, 40, 1000000, UINT64_C(1) << 62};
    static const double chances[] = {0x1p-32, 0x1p-9, 1.0 / 300, 0.5, 299.0 / 300, 1};
    for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
        for (size_t j = 0; j < sizeof(chances) / sizeof(chances[0]); j++) {
            const struct tune_distribution distribution = {chances[j], thresholds[i], 0};
            uint64_t threshold = thresholds[i];
            assert_true(tune_below(&distribution, 0) == 0);
            assert_true(tune_below(&distribution, threshold) == 0);
            assert_true(tune_above(&distribution, 0) == 1);
            assert_true(tune_above(&distribution, threshold - 1) == 1);
            assert_int_equal(tune_quantile(&distribution, 0), threshold);
        }
    }
}

/* With threshold 1 the distribution is geometric, and its tail is a power. */
static void test_distribution_threshold_1_is_geometric(void **state)
{
    (void)state;
    static const double chances[] = {0x1p-32, 0x1p-9, 1.0 / 300, 0.3, 0.5};
    for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
        const struct tune_distribution distribution = {chances[i], 1, 0};
        for (double mean_count = 1e-3; mean_count < 600; mean_count *= 3) {
            uint64_t rows = (uint64_t)ceil(mean_count / distribution.p);
            double log_tail = (double)rows * log1p(-distribution.p);
            check_close("above", &distribution, rows, tune_above(&distribution, rows), exp(log_tail));
            check_close("below", &distribution, rows + 1, tune_below(&distribution, rows + 1),
                        -expm1(log_tail));
        }
    }
}

/* Beyond the table: distributions of up to 2^63 rows, where the tails and the probability of the value
 * between them must still agree, and where a sum over single terms would not end. */
static void test_odds_huge_distributions_stay_consistent(void **state)
{
    (void)state;
    static const struct tune_distribution distributions[] = {
        {0x1p-32, 1000000, 0},
        {0x1p-32, UINT64_C(1) << 30, 0},
        {0x1p-9, UINT64_C(1) << 53, 0},
        {0.5, UINT64_C(1) << 62, 0},
        {1e-12, 1000000, 0},
        {1.0 / 3, UINT64_C(1) << 60, 0},
    };
    for (size_t i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++) {
        const struct tune_distribution *distribution = &distributions[i];
        double mean = tune_mean_rows(distribution), stddev = tune_stddev_rows(distribution);
        for (int deviate = -11; deviate <= 11; deviate++) {
            uint64_t rows = (uint64_t)(mean + deviate * stddev);
            double below = tune_below(distribution, rows), above = tune_above(distribution, rows),
                   pmf = chance_of(distribution, rows);
            assert_true(fabs(below + pmf + above - 1) < 1e-13);
            /* Skewness changes these tails by less than a factor of 2. */
            double normal = 0.5 * erfc(fabs((double)deviate) / sqrt(2));
            double tail = deviate < 0 ? below : above;
            assert_true(tail > normal / 3 && tail < normal * 3);
        }
    }
}

static void test_quantile_is_the_smallest_that_reaches(void **state)
{
    (void)state;
    static const double chances[] = {0x1p-32, 1e-6, 0x1p-9, 1.0 / 300, 0.3, 0.5, 299.0 / 300, 1};
    static const uint64_t thresholds[] = {1, 2, 10, 40, 1000, 1000000};
    static const double probabilities[] = {1e-30, 1e-12, 0.001, 0.01,  0.25,
                                           0.5,   0.75,  0.99,  0.999, 1 - 1e-12};
    for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
        for (size_t j = 0; j < sizeof(thresholds) / sizeof(thresholds[0]); j++) {
            const struct tune_distribution distribution = {chances[i], thresholds[j], 0};
            uint64_t last = 0;
            for (size_t k = 0; k < sizeof(probabilities) / sizeof(probabilities[0]); k++) {
                double p = probabilities[k];
                uint64_t rows = tune_quantile(&distribution, p);
                assert_true(rows >= last && rows >= distribution.threshold);
                last = rows;
                /* The tolerance is 1e-12 of the smaller side: in huge distributions, neighbours differ by
                 * less than a double can represent. */
                assert_true(p < 0.5 ? tune_below(&distribution, rows + 1) >= p * (1 - 1e-12)
                                    : tune_above(&distribution, rows) <= (1 - p) * (1 + 1e-12));
                if (rows > distribution.threshold)
                    assert_true(p < 0.5 ? tune_below(&distribution, rows) < p * (1 + 1e-12)
                                        : tune_above(&distribution, rows - 1) > (1 - p) * (1 - 1e-12));
            }
        }
    }
}

static void test_quantile_beyond_64_bits_is_the_largest_number(void **state)
{
    (void)state;
    const struct tune_distribution far = {0x1p-32, UINT64_C(1) << 40, 0};
    assert_int_equal(tune_quantile(&far, 0.5), UINT64_MAX);
    const struct tune_distribution near = {0.5, UINT64_C(1) << 63, 0};
    assert_int_equal(tune_quantile(&near, 1 - 0x1p-53), UINT64_MAX);
    const struct tune_distribution most = {0.5, UINT64_MAX, 0};
    assert_int_equal(tune_quantile(&most, 0.5), UINT64_MAX);
    assert_true(tune_above(&most, UINT64_MAX) == 1);
    const struct tune_distribution tiny = {0x1p-64, 1, 0};
    check_close("above", &tiny, UINT64_MAX, tune_above(&tiny, UINT64_MAX), exp(-1));
}

/* Across the places where the formula changes: a chance that grows with the mean, and falls with the rows.
 * Far out the geometric series is above the tail, by less than 3 %. */
static void test_poisson_tail_is_a_chance_and_monotone(void **state)
{
    static const double rows[] = {0, 9, 99999, 998999, 999999, 1000000, 1000001, 4e9, 1e12};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double deviation = sqrt(rows[i] + 1);
        double before = 0;
        for (int step = -80; step <= 400; step++) {
            const double mean = rows[i] + step * deviation / 8, above = tune_poisson_above(mean, rows[i]);
            const double slack = above < 1e-12 ? 0.03 : 1e-7;
            assert_true(above >= before * (1 - slack) && above <= 1);
            assert_true(tune_poisson_above(mean, rows[i] + 1) <= above * (1 + slack));
            before = above;
        }
        assert_true(before > 0.999 && tune_poisson_above(1e12 * (rows[i] + 1), rows[i]) == 1);
    }
}

/* The sum of the probabilities from rows + 1 on. */
static double poisson_sum(double mean, double rows)
{
    const long double m = (long double)mean;
    long double k = (long double)rows + 1, sum = 0, term = expl(k * logl(m) - m - lgammal(k + 1));
    do {
        sum += term;
        k += 1;
        term *= m / k;
    } while (k < m || term > sum * 1e-19L);
    return (double)sum;
}

static void test_poisson_tail_is_the_sum_of_its_terms(void **state)
{
    static const double rows[] = {9, 999, 29999, 30001, 99999, 300000, 968793, 2000000};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int step = i == 0 ? -8 : -20; step <= 20; step++) {
            const double mean = rows[i] + 1 + step * sqrt(rows[i]) / 4;
            assert_true(fabs(tune_poisson_above(mean, rows[i]) / poisson_sum(mean, rows[i]) - 1) < 1e-7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distributions_have_their_published_figures),
        cmocka_unit_test(test_odds_reference_table_is_met),
        cmocka_unit_test(test_poisson_tail_is_a_chance_and_monotone),
        cmocka_unit_test(test_poisson_tail_is_the_sum_of_its_terms),
        cmocka_unit_test(test_odds_one_bit_equal_counted_outcomes),
        cmocka_unit_test(test_odds_at_the_edges_are_exact),
        cmocka_unit_test(test_distribution_threshold_1_is_geometric),
        cmocka_unit_test(test_odds_huge_distributions_stay_consistent),
        cmocka_unit_test(test_quantile_is_the_smallest_that_reaches),
        cmocka_unit_test(test_quantile_beyond_64_bits_is_the_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
