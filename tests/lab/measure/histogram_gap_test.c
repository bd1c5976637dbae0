/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the gap between two histograms is the largest difference of their distribution functions, wherever it
 * is.
 * Method: known answers at the corners; random sizes compared with the shares counted size by size; and
 * histograms that round compared with the same sizes rounded by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/random.h"
#include "lab/histogram.h"

static struct lab_gap gap_of(const struct lab_histogram *one, const struct lab_histogram *other)
{
    struct lab_gap gap = {.distance = -1};
    assert_true(lab_histogram_gap(one, other, &gap));
    return gap;
}

static void test_equal_distributions_have_no_gap(void **state)
{
    (void)state;
    struct lab_histogram one, other;
    lab_histogram_init(&one);
    lab_histogram_init(&other);
    for (uint64_t size = 0; size < 30; size += 7) {
        lab_histogram_add(&one, size, 2, 1);
        lab_histogram_add(&other, size, 6, 5); /* the same shares of a different total */
    }
    struct lab_gap gap = gap_of(&one, &other);
    assert_true(gap.distance == 0 && gap.size == 0 && gap.one == 0 && gap.other == 0);
    lab_histogram_clear(&one);
    lab_histogram_clear(&other);
}

static void test_disjoint_sizes_have_distance_1(void **state)
{
    (void)state;
    struct lab_histogram one, other;
    lab_histogram_init(&one);
    lab_histogram_init(&other);
    lab_histogram_add(&one, 3, 1, 1);
    lab_histogram_add(&one, 5, UINT64_MAX / 2, 1); /* counts whose product needs 128 bits */
    lab_histogram_add(&other, 6, UINT64_MAX - 1, 1);
    struct lab_gap gap = gap_of(&one, &other);
    assert_true(gap.distance == 1 && gap.size == 5 && gap.one == 1 && gap.other == 0);
    gap = gap_of(&other, &one);
    assert_true(gap.distance == 1 && gap.size == 5 && gap.one == 0 && gap.other == 1);
    lab_histogram_clear(&one);
    lab_histogram_clear(&other);
}

static void test_random_sizes_agree_with_counting(void **state)
{
    (void)state;
    enum { SIZES = 40, ROUNDS = 200 };
    struct sim_random random;
    sim_random_init(&random, 5, SIM_ROW_BYTES, 0);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t counts[2][SIZES] = {{0}}, totals[2] = {0};
        struct lab_histogram distributions[2];
        for (int i = 0; i < 2; i++) {
            lab_histogram_init(&distributions[i]);
            for (uint64_t draws = 1 + sim_random_below(&random, 100); draws > 0; draws--) {
                uint64_t size = sim_random_below(&random, SIZES);
                lab_histogram_add(&distributions[i], size, 1, 1);
                counts[i][size]++;
                totals[i]++;
            }
        }
        double most = 0, one = 0, other = 0;
        for (int size = 0; size < SIZES; size++) {
            one += (double)counts[0][size] / (double)totals[0];
            other += (double)counts[1][size] / (double)totals[1];
            most = fmax(most, fabs(one - other));
        }
        struct lab_gap gap = gap_of(&distributions[0], &distributions[1]);
        assert_true(fabs(gap.distance - most) < 1e-12);
        assert_true(fabs(fabs(gap.one - gap.other) - most) < 1e-12);
        lab_histogram_clear(&distributions[0]);
        lab_histogram_clear(&distributions[1]);
    }
}

/* The same sizes, but one histogram has enough further sizes to be rounded: rounding adds no gap. */
static void test_rounding_makes_no_gap(void **state)
{
    (void)state;
    struct lab_histogram exact, rounded;
    lab_histogram_init(&exact);
    lab_histogram_init(&rounded);
    lab_histogram_add(&exact, 1000001, 1000000000, 1);
    lab_histogram_add(&rounded, 1000001, 1000000000, 1);
    for (uint64_t size = 0; size <= LAB_HISTOGRAM_EXACT; size++)
        lab_histogram_add(&rounded, size, 1, 1);
    assert_true(rounded.is_rounded && !exact.is_rounded);
    struct lab_gap gap = gap_of(&exact, &rounded);
    assert_true(gap.distance < 1e-4 && gap.distance > 6e-5); /* 65,537 in 10^9 */
    assert_false(exact.is_rounded);
    lab_histogram_clear(&exact);
    lab_histogram_clear(&rounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_distributions_have_no_gap),
        cmocka_unit_test(test_disjoint_sizes_have_distance_1),
        cmocka_unit_test(test_random_sizes_agree_with_counting),
        cmocka_unit_test(test_rounding_makes_no_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
