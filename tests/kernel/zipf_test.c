/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: Zipf shares are those of the distribution and sum to 1, for any number of keys. Method: sums over all
 * ranks up to 10^6, and true totals from mpmath (number_reference.py) up to 10^9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/sampler.h"

#include <math.h>

#include "reference.h"

static const double exponents[] = {0, 0.5, 1, 1 + 1e-9, 1.0005, 1.1, 2, 10};
#define EXPONENTS (sizeof exponents / sizeof *exponents)

static void test_zipf_shares_sum_to_one(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 10, 999, 1000, 1001, 1002, 1000000};
    for (size_t e = 0; e < EXPONENTS; e++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct sim_zipf zipf;
            sim_zipf_init(&zipf, exponents[e], counts[c]);
            /* Kahan summation, so that a million rounding errors do not add up. */
            double sum = 0, lost = 0, last = 1;
            for (uint64_t i = 0; i < counts[c]; i++) {
                double share = sim_zipf_share(&zipf, i) - lost, next = sum + share;
                lost = (next - sum) - share;
                sum = next;
            }
            if (!(fabs(sum - 1) <= 1e-12))
                fail_msg("s %.10g, %g keys: shares sum to 1 %+g", exponents[e], (double)counts[c], sum - 1);
            for (uint64_t i = 0; i < counts[c] && i < 2000; i++) {
                double share = sim_zipf_share(&zipf, i);
                assert_true(share > 0 && share <= last);
                assert_true(exponents[e] == 0 || i == 0 || share < last);
                last = share;
            }
        }
    }
}

static void init_points(struct sim_zipf *zipf, uint64_t count)
{
    static const struct sim_zipf_point points[] = {{.rank = 1, .weight = 5000}, {.rank = 2, .weight = 5000},
                                                   {.rank = 30, .weight = 700}, {.rank = 900, .weight = 3},
                                                   {.rank = 5000, .weight = 1}, {.rank = 0, .weight = 0.5}};
    zipf->point_count = 0;
    for (size_t i = 0; i + 1 < sizeof points / sizeof *points && points[i].rank < count; i++)
        zipf->points[zipf->point_count++] = points[i];
    zipf->points[zipf->point_count] = (struct sim_zipf_point){.rank = count, .weight = 0.5};
    zipf->point_count++;
    sim_zipf_init_points(zipf, count);
}

static void test_zipf_in_pieces_meets_its_points_and_sums_to_one(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 31, 900, 1000, 4999, 5001, 6500, 300000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct sim_zipf zipf;
        init_points(&zipf, counts[c]);
        double sum = 0, last = 1;
        for (uint64_t i = 0; i < counts[c]; i++) {
            double share = sim_zipf_share(&zipf, i);
            if (!(share > 0 && share <= last * (1 + 1e-12)))
                fail_msg("%g keys: rank %g has %.17g after %.17g", (double)counts[c], (double)i + 1, share,
                         last);
            last = share;
            sum += share;
            if (i == counts[c] / 2 && !(fabs(sim_zipf_ranks_share(&zipf, i + 1) - sum) <= 1e-11))
                fail_msg("%g keys: the first %g have %.17g, and add up to %.17g", (double)counts[c],
                         (double)i + 1, sim_zipf_ranks_share(&zipf, i + 1), sum);
        }
        if (!(fabs(sum - 1) <= 1e-11))
            fail_msg("%g keys: shares sum to 1 %+g", (double)counts[c], sum - 1);
        for (uint32_t i = 0; i < zipf.point_count; i++) {
            double ratio = sim_zipf_share(&zipf, zipf.points[i].rank - 1) / sim_zipf_share(&zipf, 0);
            assert_true(fabs(ratio * zipf.points[0].weight / zipf.points[i].weight - 1) <= 1e-12);
        }
    }
}

static void test_zipf_in_pieces_of_one_exponent_is_zipf(void **state)
{
    (void)state;
    struct sim_zipf whole, pieces = {.point_count = 3,
                                     .points = {{.rank = 1, .weight = 8000000},
                                                {.rank = 100, .weight = 8000},
                                                {.rank = 1000000, .weight = 0.008}}};
    sim_zipf_init(&whole, 1.5, 1000000);
    sim_zipf_init_points(&pieces, 1000000);
    assert_true(fabs(pieces.s - 1.5) <= 1e-12);
    for (uint64_t rank = 1; rank <= 1000000; rank = rank * 3 + 1)
        assert_true(fabs(sim_zipf_share(&pieces, rank - 1) / sim_zipf_share(&whole, rank - 1) - 1) <= 1e-11);
}

static void test_zipf_totals_match_the_true_ones(void **state)
{
    (void)state;
    FILE *file = reference_open();
    struct reference reference;
    int count = 0;
    for (; reference_next(file, "zipf", &reference); count++) {
        struct sim_zipf zipf;
        sim_zipf_init(&zipf, reference.x, (uint64_t)reference.y);
        if (!(fabs(zipf.total / reference.high - 1) <= 1e-12))
            fail_msg("s %.10g, %g keys: total off by %g", reference.x, reference.y,
                     zipf.total / reference.high - 1);
    }
    fclose(file);
    assert_int_equal(count, 21);
}

static void test_zipf_shares_follow_the_power(void **state)
{
    (void)state;
    for (size_t e = 0; e < EXPONENTS; e++) {
        struct sim_zipf zipf;
        sim_zipf_init(&zipf, exponents[e], UINT64_C(1000000000));
        double first = sim_zipf_share(&zipf, 0);
        for (uint64_t rank = 1; rank <= 1000000000; rank = rank * 7 + 1) {
            double wanted = pow((double)rank, -exponents[e]), share = sim_zipf_share(&zipf, rank - 1);
            assert_true(fabs(share / first / wanted - 1) <= 1e-13);
        }
        assert_true(sim_zipf_share(&zipf, 999999999) > 0);
    }
    /* The uniform distribution: exactly the same share for each key. */
    struct sim_zipf uniform;
    sim_zipf_init(&uniform, 0, 10);
    for (uint64_t i = 0; i < 10; i++)
        assert_true(sim_zipf_share(&uniform, i) == 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zipf_shares_sum_to_one),
        cmocka_unit_test(test_zipf_in_pieces_meets_its_points_and_sums_to_one),
        cmocka_unit_test(test_zipf_in_pieces_of_one_exponent_is_zipf),
        cmocka_unit_test(test_zipf_totals_match_the_true_ones),
        cmocka_unit_test(test_zipf_shares_follow_the_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
