/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a distribution of cassandra-stress has the requested mean and standard deviation, and is in a form
 * that the tool has. Method: figures and distributions of each kind, at the edges where one form gives way to
 * the next; of the tool's Weibull the mean and the standard deviation are computed from the text, and of
 * ranks the share of the most popular tenth. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stress.h"

static const char *distribution_of(double mean, double stddev, uint64_t least, uint64_t most)
{
    static char distribution[STRESS_DISTRIBUTION_SIZE];
    const struct stress_figures figures = {mean, stddev, least, most};
    stress_distribution(&figures, distribution);
    return distribution;
}

static const char *distribution_of_size(enum sim_size_kind kind, double a, double b)
{
    static char distribution[STRESS_DISTRIBUTION_SIZE];
    struct sim_size size = {.kind = kind, .a = a, .b = b};
    assert_int_equal(sim_size_prepare(&size), 0);
    stress_distribution_of_size(&size, distribution);
    return distribution;
}

static const char *distribution_of_ranks(double s, uint64_t count)
{
    static char distribution[STRESS_DISTRIBUTION_SIZE];
    struct sim_zipf zipf;
    sim_zipf_init(&zipf, s, count);
    stress_distribution_of_ranks(&zipf, count, distribution);
    return distribution;
}

/* extreme(least..most,shape), as the tool draws it. */
static void read_extreme(const char *distribution, double *least, double *scale, double *shape)
{
    uint64_t first, last;
    assert_int_equal(sscanf(distribution, "extreme(%" SCNu64 "..%" SCNu64 ",%lf)", &first, &last, shape), 3);
    *least = (double)first;
    double most = (double)last;
    *scale = (most - *least) / pow(0.5 * log(most - *least), 1 / *shape);
}

static void check_extreme(const char *distribution, double mean, double stddev)
{
    double least, scale, shape;
    read_extreme(distribution, &least, &scale, &shape);
    double first = tgamma(1 + 1 / shape), second = tgamma(1 + 2 / shape);
    assert_true(fabs(least + scale * first - mean) < 0.005 * mean);
    assert_true(fabs(scale * sqrt(second - first * first) - stddev) < 0.005 * stddev);
}

static void test_constant_distribution_is_fixed(void **state)
{
    (void)state;
    assert_string_equal(distribution_of(12.4, 5, 12, 12), "fixed(12)");
    assert_string_equal(distribution_of(12.6, 0.2, 1, 100), "fixed(13)");
    assert_string_equal(distribution_of(0.2, 0.2, 1, 100), "fixed(1)");
}

static void test_narrow_distribution_is_normal(void **state)
{
    (void)state;
    assert_string_equal(distribution_of(100, 10, 1, 1000), "gaussian(1..1000,100.000,10.000)");
}

static void test_wide_distribution_is_a_weibull_of_equal_mean_and_stddev(void **state)
{
    (void)state;
    check_extreme(distribution_of(100, 60, 1, 1000), 100, 60);
    check_extreme(distribution_of(1000, 1000, 10, 100000), 1000, 1000);
    check_extreme(distribution_of(1000, 3000, 1, 1000000), 1000, 3000);
}

/* A mean at the smallest size, a standard deviation that no shape has, and a scale that is too small. */
static void test_distribution_outside_weibulls_range_is_normal(void **state)
{
    (void)state;
    assert_string_equal(distribution_of(5, 10, 5, 1000), "gaussian(5..1000,5.000,10.000)");
    assert_string_equal(distribution_of(100, 1e7, 1, 1000), "gaussian(1..1000,100.000,10000000.000)");
    assert_string_equal(distribution_of(1.5, 0.5, 1, 9), "gaussian(1..9,1.500,0.500)");
    assert_string_equal(distribution_of(1e15, 3e15, 1, 1000000),
                        "gaussian(1..1000000,1000000000000000.000,3000000000000000.000)");
}

static void test_sizes_keep_their_distribution_or_its_figures(void **state)
{
    (void)state;
    assert_string_equal(distribution_of_size(SIM_SIZE_CONSTANT, 350, 0), "fixed(350)");
    assert_string_equal(distribution_of_size(SIM_SIZE_UNIFORM, 10, 20), "uniform(10..20)");
    assert_string_equal(distribution_of_size(SIM_SIZE_UNIFORM, 20, 20), "fixed(20)");
    check_extreme(distribution_of_size(SIM_SIZE_LOGNORMAL, 350, 0.8), 350, 350 * sqrt(expm1(0.64)));
    assert_int_equal(strncmp(distribution_of_size(SIM_SIZE_LOGNORMAL, 350, 0.1), "gaussian(1..", 12), 0);
    /* Without a standard deviation, the mean is the middle; with one, it is computed from the parameters. */
    assert_string_equal(distribution_of_size(SIM_SIZE_PARETO, 100, 1), "fixed(200)");
    assert_string_equal(distribution_of_size(SIM_SIZE_PARETO, 100, 2), "fixed(141)");
    check_extreme(distribution_of_size(SIM_SIZE_PARETO, 100, 3), 150, 50 * sqrt(3));
}

/* The share of ranks 1 to count / 10, according to the text. */
static double share_of_tenth(const char *distribution, uint64_t count)
{
    double least, scale, shape;
    read_extreme(distribution, &least, &scale, &shape);
    return 1 - exp(-pow((ceil((double)count / 10) - 1) / scale, shape));
}

static void test_the_most_popular_tenth_keeps_its_share(void **state)
{
    (void)state;
    assert_string_equal(distribution_of_ranks(1, 1), "fixed(1)");
    assert_string_equal(distribution_of_ranks(1, 19), "exp(1..19)");
    assert_string_equal(distribution_of_ranks(0, 19), "uniform(1..19)");
    assert_string_equal(distribution_of_ranks(0, 1000), "uniform(1..1000)");
    assert_string_equal(distribution_of_ranks(60, 1000), "exp(1..1000)");
    static const struct {
        double s;
        uint64_t count;
    } cases[] = {{0.5, 100}, {1, 1000}, {1, 2000000}, {0.8, 3000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_zipf zipf;
        double share = 0;
        sim_zipf_init(&zipf, cases[i].s, cases[i].count);
        for (uint64_t rank = 0; rank < (cases[i].count + 9) / 10; rank++)
            share += sim_zipf_share(&zipf, rank);
        assert_true(fabs(share_of_tenth(distribution_of_ranks(cases[i].s, cases[i].count), cases[i].count) -
                         share) < 0.002);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant_distribution_is_fixed),
        cmocka_unit_test(test_narrow_distribution_is_normal),
        cmocka_unit_test(test_wide_distribution_is_a_weibull_of_equal_mean_and_stddev),
        cmocka_unit_test(test_distribution_outside_weibulls_range_is_normal),
        cmocka_unit_test(test_sizes_keep_their_distribution_or_its_figures),
        cmocka_unit_test(test_the_most_popular_tenth_keeps_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
