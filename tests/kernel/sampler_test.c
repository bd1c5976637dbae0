/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the samplers follow their distributions, including the tails, and give the same bits everywhere.
 * Method: a million draws each through the exact distribution function (fit.h), moments within 8 standard
 * errors and tail counts within 8 standard deviations of at least 250 (false alarm below 1e-11 each), and
 * golden first draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/sampler.h"

#include <inttypes.h>

#include "fit.h"

#define DRAWS 1000000

static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* Checks the mean of `count` draws with the given standard deviation. */
static void assert_mean(double sum, double count, double mean, double stddev)
{
    if (!(fabs(sum / count - mean) <= 8 * stddev / sqrt(count)))
        fail_msg("mean %.9g, not %.9g +- %.3g", sum / count, mean, stddev / sqrt(count));
}

static void assert_count(double count, double draws, double p)
{
    if (!(fabs(count - draws * p) <= 8 * sqrt(draws * p * (1 - p))))
        fail_msg("%g of %g draws, not %g", count, draws, draws * p);
}

static void test_exponential_follows_its_distribution(void **state)
{
    (void)state;
    struct sim_random random;
    struct fit fit, tail;
    fit_init(&fit, 4096);
    fit_init(&tail, 16);
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    double sum = 0, squares = 0, cubes = 0, beyond_8 = 0, beyond_edge = 0;
    const double edge = 7.69711747013104972;
    for (int i = 0; i < DRAWS; i++) {
        double x = sim_exponential(&random);
        fit_add(&fit, -expm1(-x));
        sum += x;
        squares += x * x;
        cubes += x * x * x;
        beyond_8 += x > 8;
        beyond_edge += x > edge;
        if (x > edge)
            fit_add(&tail, -expm1(edge - x));
    }
    fit_check(&fit);
    fit_check(&tail);
    assert_mean(sum, DRAWS, 1, 1);
    assert_mean(squares, DRAWS, 2, sqrt(20));
    assert_mean(cubes, DRAWS, 6, sqrt(720 - 36));
    assert_count(beyond_8, DRAWS, exp(-8));
    assert_count(beyond_edge, DRAWS, exp(-edge));
}

static void test_normal_follows_its_distribution(void **state)
{
    (void)state;
    enum { NORMAL_DRAWS = 4 * DRAWS };
    struct sim_random random;
    struct fit fit, tail;
    fit_init(&fit, 4096);
    fit_init(&tail, 16);
    sim_random_init(&random, 2, SIM_ARRIVAL, 0);
    double sum = 0, squares = 0, cubes = 0, fourths = 0, beyond_4 = 0, positive = 0;
    const double edge = 3.65415288536100880;
    for (int i = 0; i < NORMAL_DRAWS; i++) {
        double x = sim_normal(&random);
        fit_add(&fit, normal_below(x));
        sum += x;
        squares += x * x;
        cubes += x * x * x;
        fourths += x * x * x * x;
        beyond_4 += fabs(x) > 4;
        positive += x > 0;
        if (fabs(x) > edge)
            fit_add(&tail, erfc(fabs(x) / sqrt(2)) / erfc(edge / sqrt(2)));
    }
    fit_check(&fit);
    fit_check(&tail);
    assert_mean(sum, NORMAL_DRAWS, 0, 1);
    assert_mean(squares, NORMAL_DRAWS, 1, sqrt(2));
    assert_mean(cubes, NORMAL_DRAWS, 0, sqrt(15));
    assert_mean(fourths, NORMAL_DRAWS, 3, sqrt(96));
    assert_count(positive, NORMAL_DRAWS, 0.5);
    assert_count(beyond_4, NORMAL_DRAWS, erfc(4 / sqrt(2)));
    assert_count(tail.draws, NORMAL_DRAWS, erfc(edge / sqrt(2)));
}

/* Enough draws to reach the rare branches, in batches of all lengths; single draws give the same values and
 * leave the stream at the same place. */
static void test_normals_are_those_of_normal(void **state)
{
    (void)state;
    enum { MOST = 9, BATCHES = 20000 };
    struct sim_random one, several;
    sim_random_init(&one, 1, SIM_NETWORK, 0);
    several = one;
    for (size_t batch = 0; batch < BATCHES; batch++) {
        double drawn[MOST];
        size_t count = batch % (MOST + 1);
        sim_normals(&several, drawn, count);
        for (size_t i = 0; i < count; i++)
            assert_true(drawn[i] == sim_normal(&one));
    }
    assert_true(sim_random_next(&one) == sim_random_next(&several));
}

static void test_size_lognormal_follows_its_distribution(void **state)
{
    (void)state;
    /* The sizes are so large that rounding to whole bytes is not noticeable. */
    const double mean = 1e12, sigma = 0.7;
    struct sim_size size = {.kind = SIM_SIZE_LOGNORMAL, .a = mean, .b = sigma};
    struct sim_random random;
    struct fit fit;
    fit_init(&fit, 4096);
    sim_random_init(&random, 3, SIM_ROW_BYTES, 0);
    assert_int_equal(sim_size_prepare(&size), 0);
    assert_true(sim_size_mean(&size) == mean);
    double sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        double bytes = (double)sim_size_draw(&size, &random);
        sum += bytes;
        fit_add(&fit, normal_below((log(bytes) - (log(mean) - sigma * sigma / 2)) / sigma));
    }
    fit_check(&fit);
    assert_mean(sum, DRAWS, mean, mean * sqrt(expm1(sigma * sigma)));
}

static void test_size_pareto_follows_its_distribution(void **state)
{
    (void)state;
    const double least = 1e9, alpha = 9;
    struct sim_size size = {.kind = SIM_SIZE_PARETO, .a = least, .b = alpha};
    struct sim_random random;
    struct fit fit;
    fit_init(&fit, 4096);
    sim_random_init(&random, 4, SIM_ROW_BYTES, 0);
    assert_int_equal(sim_size_prepare(&size), 0);
    double sum = 0, mean = least * alpha / (alpha - 1);
    assert_true(fabs(sim_size_mean(&size) - mean) <= 1e-6);
    for (int i = 0; i < DRAWS; i++) {
        double bytes = (double)sim_size_draw(&size, &random);
        assert_true(bytes >= least);
        sum += bytes;
        fit_add(&fit, -expm1(alpha * log(least / bytes)));
    }
    fit_check(&fit);
    assert_mean(sum, DRAWS, mean, mean / sqrt(alpha * (alpha - 2)));
    size.b = 1;
    assert_true(sim_size_mean(&size) == (double)INFINITY);
}

static void test_size_uniform_meets_every_number_alike(void **state)
{
    (void)state;
    struct sim_size size = {.kind = SIM_SIZE_UNIFORM, .a = 10, .b = 309};
    struct sim_random random;
    struct fit fit;
    fit_init(&fit, 300);
    sim_random_init(&random, 5, SIM_ROW_BYTES, 0);
    assert_int_equal(sim_size_prepare(&size), 0);
    assert_true(sim_size_mean(&size) == 159.5);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t bytes = sim_size_draw(&size, &random);
        assert_in_range(bytes, 10, 309);
        fit_add(&fit, ((double)bytes - 9.5) / 300);
    }
    fit_check(&fit);
    size.b = 10;
    assert_int_equal(sim_size_prepare(&size), 0);
    assert_int_equal(sim_size_draw(&size, &random), 10);
}

static void test_size_draws_stay_whole_and_in_range(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 6, SIM_ROW_BYTES, 0);
    struct sim_size sizes[] = {
        {.kind = SIM_SIZE_PARETO, .a = 1, .b = 0.01},    {.kind = SIM_SIZE_PARETO, .a = 0x1p62, .b = 1000},
        {.kind = SIM_SIZE_LOGNORMAL, .a = 1, .b = 10},   {.kind = SIM_SIZE_LOGNORMAL, .a = 0x1p62, .b = 10},
        {.kind = SIM_SIZE_UNIFORM, .a = 1, .b = 0x1p62}, {.kind = SIM_SIZE_CONSTANT, .a = 1},
        {.kind = SIM_SIZE_CONSTANT, .a = 0x1p62}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(sim_size_prepare(&sizes[i]), 0);
        uint64_t least = UINT64_MAX, most = 0;
        for (int j = 0; j < 20000; j++) {
            uint64_t bytes = sim_size_draw(&sizes[i], &random);
            least = bytes < least ? bytes : least;
            most = bytes > most ? bytes : most;
        }
        assert_true(least >= 1 && most <= UINT64_C(1) << 62);
        if (i == 0)
            assert_true(most == UINT64_C(1) << 62);
        if (i == 2)
            assert_true(least == 1);
    }
    struct sim_size constant = {.kind = SIM_SIZE_CONSTANT, .a = 350};
    struct sim_random before = random;
    assert_int_equal(sim_size_prepare(&constant), 0);
    assert_int_equal(sim_size_draw(&constant, &random), 350);
    assert_memory_equal(&before, &random, sizeof random);
    /* With sigma 0 every lognormal draw equals the mean. */
    struct sim_size sharp = {.kind = SIM_SIZE_LOGNORMAL, .a = 350, .b = 0};
    assert_int_equal(sim_size_prepare(&sharp), 0);
    assert_int_equal(sim_size_draw(&sharp, &random), 350);
}

static void test_impossible_size_distributions_are_refused(void **state)
{
    (void)state;
    const double no_number = (double)NAN, infinite = (double)INFINITY;
    const struct sim_size bad[] = {
        {.kind = SIM_SIZE_CONSTANT, .a = 0},
        {.kind = SIM_SIZE_CONSTANT, .a = 0.99},
        {.kind = SIM_SIZE_CONSTANT, .a = -5},
        {.kind = SIM_SIZE_CONSTANT, .a = no_number},
        {.kind = SIM_SIZE_CONSTANT, .a = infinite},
        {.kind = SIM_SIZE_CONSTANT, .a = 0x1.0000000000001p62},
        {.kind = SIM_SIZE_UNIFORM, .a = 10, .b = 9},
        {.kind = SIM_SIZE_UNIFORM, .a = 0, .b = 9},
        {.kind = SIM_SIZE_UNIFORM, .a = 10, .b = no_number},
        {.kind = SIM_SIZE_UNIFORM, .a = 10, .b = infinite},
        {.kind = SIM_SIZE_LOGNORMAL, .a = 10, .b = -0.1},
        {.kind = SIM_SIZE_LOGNORMAL, .a = 10, .b = 10.1},
        {.kind = SIM_SIZE_LOGNORMAL, .a = 10, .b = no_number},
        {.kind = SIM_SIZE_LOGNORMAL, .a = 0, .b = 1},
        {.kind = SIM_SIZE_PARETO, .a = 10, .b = 0},
        {.kind = SIM_SIZE_PARETO, .a = 10, .b = -1},
        {.kind = SIM_SIZE_PARETO, .a = 10, .b = 1001},
        {.kind = SIM_SIZE_PARETO, .a = 10, .b = no_number},
        {.kind = SIM_SIZE_PARETO, .a = 0, .b = 1},
        {.kind = (enum sim_size_kind)(SIM_SIZE_PARETO + 1), .a = 10, .b = 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sim_size size = bad[i];
        if (sim_size_prepare(&size) != -1)
            fail_msg("size %zu was taken", i);
    }
}

/* The first eight draws of every sampler as bits, the same for any compiler on any machine. */
static void test_sampler_bits_are_the_same_everywhere(void **state)
{
    (void)state;
    static const uint64_t golden[5][8] = {
        {UINT64_C(0x3fd842b4d64b0f63), UINT64_C(0x3ff1649445c75746), UINT64_C(0x40050f01d1122f38),
         UINT64_C(0x3fcf7cf2cf30789c), UINT64_C(0x3ffd76db2c365139), UINT64_C(0x3fd541c6d1f58488),
         UINT64_C(0x3ffa696d2c2f354f), UINT64_C(0x4006c69f77e2481f)},
        {UINT64_C(0xbff091184a0c82e4), UINT64_C(0x3ff169c6161f6d1f), UINT64_C(0xbfe61311ff074425),
         UINT64_C(0xbfde8d8d5f403e74), UINT64_C(0x3fe76045d1139c99), UINT64_C(0xbfcc3e3049514f11),
         UINT64_C(0x3ff0a00b47e407be), UINT64_C(0x4004dce322797c34)},
        {UINT64_C(0x0002a1d594456a33), UINT64_C(0x0002aa2b47cf70a3), UINT64_C(0x0001325ff040b68c),
         UINT64_C(0x000084ce978eae41), UINT64_C(0x000016cb21cc6dea), UINT64_C(0x0001eac761292f8d),
         UINT64_C(0x000250a18051876d), UINT64_C(0x00018bd6070aa9c7)},
        {UINT64_C(0x0002b686611b5f74), UINT64_C(0x0002e15fbff58ecd), UINT64_C(0x000d5c0673ba784a),
         UINT64_C(0x0008aa6ceee647d7), UINT64_C(0x000249fc796d1889), UINT64_C(0x0002616ad16cee71),
         UINT64_C(0x00020a74c1b03051), UINT64_C(0x000392092abde836)},
        {UINT64_C(0x0005f707c347b0f3), UINT64_C(0x0003fc9f6d64161c), UINT64_C(0x0007da66db8334e4),
         UINT64_C(0x00109d226f01d6f8), UINT64_C(0x0005ac94000a7794), UINT64_C(0x00098230aa0d6af1),
         UINT64_C(0x0003fe5c0584c118), UINT64_C(0x00118d07d5caaf02)},
    };
    static struct sim_size sizes[] = {{.kind = SIM_SIZE_UNIFORM, .a = 1, .b = 1e15},
                                      {.kind = SIM_SIZE_LOGNORMAL, .a = 1e15, .b = 1},
                                      {.kind = SIM_SIZE_PARETO, .a = 1e15, .b = 1.5}};
    for (size_t i = 0; i < 5; i++) {
        struct sim_random random;
        sim_random_init(&random, 1, SIM_ROW_BYTES, i);
        if (i >= 2)
            assert_int_equal(sim_size_prepare(&sizes[i - 2]), 0);
        for (size_t j = 0; j < 8; j++) {
            double x = i == 0 ? sim_exponential(&random) : i == 1 ? sim_normal(&random) : 0;
            uint64_t bits;
            memcpy(&bits, &x, sizeof bits);
            if (i >= 2)
                bits = sim_size_draw(&sizes[i - 2], &random);
            if (bits != golden[i][j])
                fail_msg("sampler %zu, draw %zu: 0x%016" PRIx64, i, j, bits);
        }
    }
}

/* Eight draws seldom reach the rare branches; this hash over many draws does. */
static void test_sampler_rare_branches_give_the_same_bits_everywhere(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 1);
    uint64_t hash[2] = {0, 0};
    for (int i = 0; i < 100000; i++) {
        double x[2] = {sim_exponential(&random), sim_normal(&random)};
        for (int j = 0; j < 2; j++) {
            uint64_t bits;
            memcpy(&bits, &x[j], sizeof bits);
            hash[j] = sim_mix64(hash[j] + bits);
        }
    }
    if (hash[0] != UINT64_C(0xb8a3f12d5c2459e8) || hash[1] != UINT64_C(0xe6948e149639b5a5))
        fail_msg("bits: 0x%016" PRIx64 " 0x%016" PRIx64, hash[0], hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exponential_follows_its_distribution),
        cmocka_unit_test(test_normal_follows_its_distribution),
        cmocka_unit_test(test_normals_are_those_of_normal),
        cmocka_unit_test(test_size_lognormal_follows_its_distribution),
        cmocka_unit_test(test_size_pareto_follows_its_distribution),
        cmocka_unit_test(test_size_uniform_meets_every_number_alike),
        cmocka_unit_test(test_size_draws_stay_whole_and_in_range),
        cmocka_unit_test(test_impossible_size_distributions_are_refused),
        cmocka_unit_test(test_sampler_bits_are_the_same_everywhere),
        cmocka_unit_test(test_sampler_rare_branches_give_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
