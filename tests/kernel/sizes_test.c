/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: sizes from the table of cells equal the inverse distribution function at their draw, follow their
 * distribution including its tails, and are the same bits everywhere. Method: GSL's probability of each size,
 * compared with the draw that produced it; a million draws through GSL's distribution functions (fit.h), and
 * counts far out in the tails within 8 standard deviations of at least 30 expected (false alarm below 1e-10
 * in all); golden values; an allocation that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/sampler.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <inttypes.h>

#include "../no_memory.h"
#include "fit.h"

enum { DRAWS = 1000000, BATCH = 1000 };

/* Sizes so large that rounding to whole bytes is not noticeable, with the error that the header states. */
static const struct {
    struct sim_size size;
    double error;
} some[] = {
    {{.kind = SIM_SIZE_LOGNORMAL, .a = 1e13, .b = 0.1}, 1e-11},
    {{.kind = SIM_SIZE_LOGNORMAL, .a = 1e13, .b = 1}, 3e-10},
    {{.kind = SIM_SIZE_LOGNORMAL, .a = 1e16, .b = 2.5}, 3e-9},
    {{.kind = SIM_SIZE_LOGNORMAL, .a = 4e15, .b = 4}, 1e-8},
    {{.kind = SIM_SIZE_PARETO, .a = 1e13, .b = 9}, 3e-11},
    {{.kind = SIM_SIZE_PARETO, .a = 1e13, .b = 1.2}, 6e-10},
    {{.kind = SIM_SIZE_PARETO, .a = 1e4, .b = 0.25}, 3e-8},
};
#define SOME (sizeof some / sizeof *some)

static struct sim_sizes *made(const struct sim_size *given, struct sim_size *size)
{
    struct sim_sizes *sizes;
    *size = *given;
    assert_int_equal(sim_size_prepare(size), 0);
    assert_true(sim_sizes_create(size, &sizes));
    return sizes;
}

/* The share of sizes that are smaller (side 0) or larger (side 1). Pareto's largest sizes are on side 0. */
static double share(const struct sim_size *size, double bytes, unsigned side)
{
    if (size->kind == SIM_SIZE_LOGNORMAL)
        return side == 0 ? gsl_cdf_lognormal_P(bytes, size->log_mean, size->b)
                         : gsl_cdf_lognormal_Q(bytes, size->log_mean, size->b);
    return side == 0 ? gsl_cdf_pareto_Q(bytes, size->b, size->a) : gsl_cdf_pareto_P(bytes, size->b, size->a);
}

/* The derivative of the share with respect to the logarithm of the size. */
static double log_slope(const struct sim_size *size, double bytes)
{
    return bytes * (size->kind == SIM_SIZE_LOGNORMAL ? gsl_ran_lognormal_pdf(bytes, size->log_mean, size->b)
                                                     : gsl_ran_pareto_pdf(bytes, size->b, size->a));
}

static void test_a_size_is_the_quantile_of_its_draw(void **state)
{
    (void)state;
    for (size_t i = 0; i < SOME; i++) {
        struct sim_size size;
        struct sim_sizes *sizes = made(&some[i].size, &size);
        assert_non_null(sizes);
        struct sim_random random;
        sim_random_init(&random, 1, SIM_ROW_BYTES, i);
        for (int j = 0; j < DRAWS / 5; j++) {
            struct sim_random before = random;
            uint64_t bits = sim_random_next(&before), drawn;
            sim_sizes_draw(sizes, &size, &random, &drawn, 1);
            if (bits >> 54 == 0)
                continue; /* the tail, which needs further draws */
            double p = (double)(bits >> 11) * 0x1p-54, bytes = (double)drawn;
            double off = fabs(share(&size, bytes, bits & 1) - p) / log_slope(&size, bytes);
            double allowed = some[i].error + 0.5 / bytes + 4e-16 / log_slope(&size, bytes);
            if (!(off <= allowed))
                fail_msg("distribution %zu: draw %016" PRIx64 " gives %.17g, which is %.3g off, above %.3g",
                         i, bits, bytes, off, allowed);
        }
        sim_sizes_destroy(sizes);
    }
}

static void test_sizes_follow_their_distribution_and_its_tails(void **state)
{
    (void)state;
    static const double edges[] = {0x1p-10, 0x1p-11, 0x1p-12, 3e-5};
    for (size_t i = 0; i < SOME; i++) {
        struct sim_size size;
        struct sim_sizes *sizes = made(&some[i].size, &size);
        struct sim_random random;
        struct fit fit;
        double beyond[2][4] = {{0}};
        fit_init(&fit, 4096);
        sim_random_init(&random, 2, SIM_ROW_BYTES, i);
        for (int j = 0; j < DRAWS / BATCH; j++) {
            uint64_t drawn[BATCH];
            sim_sizes_draw(sizes, &size, &random, drawn, BATCH);
            for (int k = 0; k < BATCH; k++) {
                double p[2] = {share(&size, (double)drawn[k], 0), share(&size, (double)drawn[k], 1)};
                fit_add(&fit, p[0] < 0 ? 0 : p[0]);
                for (int side = 0; side < 2; side++) {
                    for (int edge = 0; edge < 4; edge++)
                        beyond[side][edge] += p[side] < edges[edge];
                }
            }
        }
        fit_check(&fit);
        for (int side = 0; side < 2; side++) {
            for (int edge = 0; edge < 4; edge++) {
                double expected = DRAWS * edges[edge];
                if (!(fabs(beyond[side][edge] - expected) <= 8 * sqrt(expected)))
                    fail_msg("distribution %zu, side %d: %g of %g beyond %g", i, side, beyond[side][edge],
                             expected, edges[edge]);
            }
        }
        sim_sizes_destroy(sizes);
    }
}

static void test_small_sizes_are_rounded_like_single_ones(void **state)
{
    (void)state;
    /* For the two most common kinds, every size is as frequent as with sim_size_draw(). */
    static const struct sim_size small[] = {{.kind = SIM_SIZE_LOGNORMAL, .a = 4, .b = 1},
                                            {.kind = SIM_SIZE_PARETO, .a = 1.3, .b = 1.5}};
    for (size_t i = 0; i < 2; i++) {
        struct sim_size size;
        struct sim_sizes *sizes = made(&small[i], &size);
        double counts[2][20] = {{0}};
        struct sim_random random;
        sim_random_init(&random, 3, SIM_ROW_BYTES, i);
        for (int j = 0; j < 2 * DRAWS; j++) {
            uint64_t drawn;
            sim_sizes_draw(j % 2 == 0 ? sizes : NULL, &size, &random, &drawn, 1);
            assert_true(drawn >= 1);
            counts[j % 2][drawn < 20 ? drawn : 0]++;
        }
        for (int k = 0; k < 20; k++) {
            double sum = counts[0][k] + counts[1][k];
            if (!(fabs(counts[0][k] - counts[1][k]) <= 8 * sqrt(sum)))
                fail_msg("distribution %zu, %d bytes: %g and %g times", i, k, counts[0][k], counts[1][k]);
        }
        sim_sizes_destroy(sizes);
    }
}

static void test_sizes_without_a_layout_are_drawn_one_by_one(void **state)
{
    (void)state;
    static const struct sim_size not_laid_out[] = {
        {.kind = SIM_SIZE_CONSTANT, .a = 350},
        {.kind = SIM_SIZE_UNIFORM, .a = 10, .b = 20},
        {.kind = SIM_SIZE_LOGNORMAL, .a = 350, .b = 4.1},
        {.kind = SIM_SIZE_LOGNORMAL, .a = 0x1p60, .b = 1},
        {.kind = SIM_SIZE_PARETO, .a = 350, .b = 0.2},
        {.kind = SIM_SIZE_PARETO, .a = 0x1p61, .b = 2},
    };
    for (size_t i = 0; i < sizeof not_laid_out / sizeof *not_laid_out; i++) {
        struct sim_size size;
        assert_null(made(&not_laid_out[i], &size));
        struct sim_random random, again;
        uint64_t drawn[8];
        sim_random_init(&random, 4, SIM_ROW_BYTES, i);
        again = random;
        sim_sizes_draw(NULL, &size, &random, drawn, 8);
        for (int j = 0; j < 8; j++)
            assert_int_equal(drawn[j], sim_size_draw(&size, &again));
        assert_memory_equal(&random, &again, sizeof random);
    }
}

/* Together they are the distribution: the outer sizes by their probabilities, the body by its quantiles. */
static void test_outer_sizes_and_the_body_are_the_whole(void **state)
{
    (void)state;
    enum { QUANTILES = 1000 };
    for (size_t i = 0; i < 2 * SOME; i++) {
        const int level = i % 2;
        struct sim_size size;
        struct sim_sizes *sizes = made(&some[i / 2].size, &size);
        const unsigned large = size.kind == SIM_SIZE_LOGNORMAL;
        const double outer = SIM_OUTER(level), tail = 0x1p-11;
        uint64_t drawn[BATCH];
        struct sim_random random;
        struct fit fit;
        fit_init(&fit, level == 0 ? 33 : 2);
        sim_random_init(&random, 6, SIM_ROW_BYTES, i);
        for (int j = 0; j < DRAWS / 5 / BATCH; j++) {
            sim_sizes_outer(sizes, &size, level, &random, drawn, BATCH);
            for (int k = 0; k < BATCH; k++) {
                const double above = share(&size, (double)drawn[k], large),
                             below = share(&size, (double)drawn[k], 1 - large);
                fit_add(&fit, (above < 0.5 ? above : outer - (below > 0 ? below : 0)) / outer);
            }
        }
        fit_check(&fit);
        sim_sizes_body(sizes, &size, level, drawn, QUANTILES);
        for (int k = 0; k < QUANTILES; k++) {
            const double p = tail + (1 - outer) * (k + 0.5) / QUANTILES;
            assert_true(fabs(share(&size, (double)drawn[k], 1 - large) - p) < 2e-5);
        }
        sim_sizes_destroy(sizes);
    }
}

/* A sum of exponential variates is a gamma variate; cumulants of a coin whose sides are 1/4 and 3/4. */
static void test_sum_is_the_quantile_of_its_normal(void **state)
{
    (void)state;
    const struct sim_sum exponential = {1e9, 1e9, {2, 6, 24}, 0};
    for (double z = -5; z <= 5; z += 0.125) {
        const double off =
            gsl_cdf_gamma_P((double)sim_sum_of(&exponential, 600, z), 600, 1e9) - gsl_cdf_ugaussian_P(z);
        if (!(fabs(off) < 1e-5))
            fail_msg("normal %g: %g off", z, off);
    }
    static const uint64_t coin[] = {7, 7, 8, 7};
    const double wanted[] = {7.25, sqrt(3.0 / 16), 2 / sqrt(3), -2.0 / 3, -40 / (3 * sqrt(3))};
    struct sim_sum sum;
    sim_sum_init(&sum, coin, 4);
    const double found[] = {sum.mean, sum.deviation, sum.cumulants[0], sum.cumulants[1], sum.cumulants[2]};
    for (size_t i = 0; i < 5; i++)
        assert_true(fabs(found[i] - wanted[i]) < 1e-12);
    assert_int_equal(sum.least, 256);
    assert_int_equal(sim_sum_of(&sum, 400, 0), 2900);
}

/* A hash over many draws, which reach every octave and both tails, in batches of any length. */
static void test_sizes_are_the_same_bits_everywhere(void **state)
{
    (void)state;
    static const uint64_t golden[SOME] = {UINT64_C(0x168ee1559823b0c5), UINT64_C(0xf9c554d47fca222b),
                                          UINT64_C(0x09227cd472befb7d), UINT64_C(0xadef0fd66636ac3d),
                                          UINT64_C(0x0ebd541fc445d2fa), UINT64_C(0x739db74d398744d0),
                                          UINT64_C(0xf7e0816839231759)};
    for (size_t i = 0; i < SOME; i++) {
        struct sim_size size;
        struct sim_sizes *sizes = made(&some[i].size, &size);
        uint64_t hashes[2] = {0, 0}, drawn[BATCH];
        for (int pass = 0; pass < 2; pass++) {
            struct sim_random random;
            sim_random_init(&random, 5, SIM_ROW_BYTES, i);
            for (size_t done = 0, batch = pass == 0 ? BATCH : 1; done < 100000; done += batch) {
                batch = pass == 0 ? BATCH : batch % 7 + 1;
                batch = batch < 100000 - done ? batch : 100000 - done;
                sim_sizes_draw(sizes, &size, &random, drawn, batch);
                for (size_t j = 0; j < batch; j++)
                    hashes[pass] = sim_mix64(hashes[pass] + drawn[j]);
            }
        }
        assert_int_equal(hashes[0], hashes[1]);
        if (hashes[0] != golden[i])
            fail_msg("distribution %zu: UINT64_C(0x%016" PRIx64 ")", i, hashes[0]);
        sim_sizes_destroy(sizes);
    }
}

static void test_without_memory_nothing_is_created(void **state)
{
    (void)state;
    struct sim_size size = some[1].size;
    assert_int_equal(sim_size_prepare(&size), 0);
    for (long left = 0; left < 2; left++) {
        struct sim_sizes *sizes;
        atomic_store(&allocations_left, left);
        bool is_made = sim_sizes_create(&size, &sizes);
        atomic_store(&allocations_left, ALLOCATIONS_WITHOUT_END);
        assert_false(is_made);
        assert_null(sizes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_size_is_the_quantile_of_its_draw),
        cmocka_unit_test(test_sizes_follow_their_distribution_and_its_tails),
        cmocka_unit_test(test_small_sizes_are_rounded_like_single_ones),
        cmocka_unit_test(test_sizes_without_a_layout_are_drawn_one_by_one),
        cmocka_unit_test(test_outer_sizes_and_the_body_are_the_whole),
        cmocka_unit_test(test_sum_is_the_quantile_of_its_normal),
        cmocka_unit_test(test_sizes_are_the_same_bits_everywhere),
        cmocka_unit_test(test_without_memory_nothing_is_created),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
