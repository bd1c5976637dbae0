/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the samplers of counts follow their distributions, and give the same bits everywhere. Method: several
 * hundred thousand draws each through GSL's exact distribution function, at means on both sides of each
 * change of method, tested by fit.h (a count is placed uniformly within its step of the distribution
 * function); means far beyond GSL's range by their moments within 8 standard errors (false alarm below 1e-11
 * each); and golden first draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/sampler.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <inttypes.h>

#include "../share.h"
#include "fit.h"

#define DRAWS   ((int)test_part(300000))
#define BINS    256
#define AT_ONCE 500 /* numbers of one call of sim_poissons() */
/* From the build with gcc -O3 on x86-64. */
#define GOLDEN UINT64_C(0x6763f80405c611d2)

/* A uniform position within a step of the distribution function: `share` high, from `below` up. */
static double within(double below, double share, struct sim_random *spread)
{
    double place = below + share * sim_random_unit(spread);
    return place < 0 ? 0 : place > 1 ? 1 : place;
}

static void test_poisson_follows_its_distribution(void **state)
{
    (void)state;
    static const double means[] = {0.01, 1, 9.99, 10, 10.7, 25, 300, 20440.5, 1e6};
    struct sim_random random, spread;
    sim_random_init(&spread, 9, SIM_FUZZ, 0);
    for (size_t i = 0; i < 2 * (sizeof means / sizeof *means); i++) {
        const double mean = means[i / 2];
        uint64_t drawn[AT_ONCE];
        struct fit fit;
        fit_init(&fit, BINS);
        sim_random_init(&random, 1, SIM_ARRIVAL, i);
        for (int draw = 0; draw < DRAWS; draw++) {
            if (i % 2 == 1 && draw % AT_ONCE == 0)
                sim_poissons(&random, mean, drawn, AT_ONCE);
            unsigned k = (unsigned)(i % 2 == 1 ? drawn[draw % AT_ONCE] : sim_poisson(&random, mean));
            double share = gsl_ran_poisson_pdf(k, mean);
            fit_add(&fit, within(gsl_cdf_poisson_P(k, mean) - share, share, &spread));
        }
        fit_check(&fit);
    }
    assert_int_equal(sim_poisson(&random, 0), 0);
}

static void test_binomial_follows_its_distribution(void **state)
{
    (void)state;
    static const struct {
        unsigned n;
        double p;
    } cases[] = {{1, 0.3},           {40, 0.25},         {39, 0.2499}, {100, 0.5},
                 {100, 0.93},        {64, 0.5},          {20480, 0.4}, {20480, 0.0005},
                 {20480, 1.0 / 512}, {1000000000, 1e-6}, {5, 0.999}};
    struct sim_random random, spread;
    sim_random_init(&spread, 9, SIM_FUZZ, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fit fit;
        fit_init(&fit, BINS);
        sim_random_init(&random, 2, SIM_ARRIVAL, i);
        for (int draw = 0; draw < DRAWS; draw++) {
            unsigned k = (unsigned)sim_binomial(&random, cases[i].n, cases[i].p);
            assert_true(k <= cases[i].n);
            double share = gsl_ran_binomial_pdf(k, cases[i].p, cases[i].n);
            fit_add(&fit, within(gsl_cdf_binomial_P(k, cases[i].p, cases[i].n) - share, share, &spread));
        }
        fit_check(&fit);
    }
    assert_int_equal(sim_binomial(&random, 1000, 0), 0);
    assert_int_equal(sim_binomial(&random, 1000, 1), 1000);
    assert_int_equal(sim_binomial(&random, 0, 0.4), 0);
}

static void test_gamma_follows_its_distribution(void **state)
{
    (void)state;
    static const double shapes[] = {1, 1.5, 2, 40, 900};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct sim_random random;
        struct fit fit;
        fit_init(&fit, BINS);
        sim_random_init(&random, 3, SIM_ARRIVAL, i);
        for (int draw = 0; draw < DRAWS; draw++)
            fit_add(&fit, gsl_cdf_gamma_P(sim_gamma(&random, shapes[i]), shapes[i], 1));
        fit_check(&fit);
    }
}

static void test_order_follows_its_distribution(void **state)
{
    (void)state;
    static const uint64_t cases[][2] = {{1, 1}, {1, 7}, {7, 7}, {3, 10}, {500, 20000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_random random;
        struct fit fit;
        fit_init(&fit, BINS);
        sim_random_init(&random, 4, SIM_ARRIVAL, i);
        uint64_t k = cases[i][0], n = cases[i][1];
        for (int draw = 0; draw < DRAWS; draw++)
            fit_add(&fit, gsl_cdf_beta_P(sim_order(&random, k, n), (double)k, (double)(n - k + 1)));
        fit_check(&fit);
    }
}

static void test_trials_follow_their_distribution(void **state)
{
    (void)state;
    static const double chances[] = {0.9, 0.5, 1.0 / 512, 1e-6};
    struct sim_random random, spread;
    struct sim_trials trials;
    sim_random_init(&spread, 9, SIM_FUZZ, 2);
    for (size_t i = 0; i < sizeof chances / sizeof *chances; i++) {
        struct fit fit;
        fit_init(&fit, BINS);
        sim_random_init(&random, 5, SIM_ARRIVAL, i);
        sim_trials_init(&trials, chances[i]);
        for (int draw = 0; draw < DRAWS; draw++) {
            unsigned k = (unsigned)sim_trials_next(&trials, &random);
            assert_true(k >= 1);
            double above = exp((double)(k - 1) * log1p(-chances[i]));
            fit_add(&fit, within(1 - above, above * chances[i], &spread));
        }
        fit_check(&fit);
    }
    sim_trials_init(&trials, 1);
    assert_int_equal(sim_trials_next(&trials, &random), 1);
    sim_trials_init(&trials, 0x1p-64);
    for (int i = 0; i < 1000; i++)
        assert_true(sim_trials_next(&trials, &random) <= SIM_COUNT_MAX);
}

static void assert_near(double sum, double draws, double mean, double stddev)
{
    if (!(fabs(sum / draws - mean) <= 8 * stddev / sqrt(draws)))
        fail_msg("mean %.17g, not %.17g +- %.3g", sum / draws, mean, stddev / sqrt(draws));
}

/* The sums are of deviations and their squares, so that no digits are lost. */
static void test_huge_means_keep_their_moments(void **state)
{
    (void)state;
    static const double means[] = {1e8, 1e11, 1e14, 0x1p51};
    enum { SAMPLERS = 3 };
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        struct sim_random random;
        double once[SAMPLERS] = {0}, square[SAMPLERS] = {0};
        const double p = 0.3,
                     spreads[SAMPLERS] = {sqrt(means[i]), sqrt(means[i] * p * (1 - p)), sqrt(means[i])};
        sim_random_init(&random, 6, SIM_ARRIVAL, i);
        for (int draw = 0; draw < DRAWS; draw++) {
            double off[SAMPLERS] = {(double)sim_poisson(&random, means[i]) - means[i],
                                    (double)sim_binomial(&random, (uint64_t)means[i], p) - means[i] * p,
                                    sim_gamma(&random, means[i]) - means[i]};
            for (int k = 0; k < SAMPLERS; k++) {
                off[k] /= spreads[k];
                once[k] += off[k];
                square[k] += off[k] * off[k];
            }
        }
        for (int k = 0; k < SAMPLERS; k++) {
            assert_near(once[k], DRAWS, 0, 1);
            assert_near(square[k], DRAWS, 1, sqrt(2));
        }
    }
}

static void test_first_draws_are_the_same_everywhere(void **state)
{
    (void)state;
    struct sim_random random;
    struct sim_trials trials;
    sim_random_init(&random, 7, SIM_ARRIVAL, 0);
    sim_trials_init(&trials, 1.0 / 512);
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= 1000; i++) {
        sum = sim_mix64(sum + sim_poisson(&random, (double)i * 0.7));
        sum = sim_mix64(sum + sim_poisson(&random, (double)i * 1e9));
        sum = sim_mix64(sum + sim_binomial(&random, i * i, 1.0 / (double)i));
        sum = sim_mix64(sum + sim_trials_next(&trials, &random));
        sum = sim_mix64(sum + (uint64_t)(sim_order(&random, i, 1000) * 0x1p50));
    }
    uint64_t drawn[AT_ONCE];
    sim_poissons(&random, 25, drawn, AT_ONCE);
    for (size_t i = 0; i < AT_ONCE; i++)
        sum = sim_mix64(sum + drawn[i]);
    if (sum != GOLDEN)
        fail_msg("0x%016" PRIx64, sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisson_follows_its_distribution),
        cmocka_unit_test(test_binomial_follows_its_distribution),
        cmocka_unit_test(test_gamma_follows_its_distribution),
        cmocka_unit_test(test_order_follows_its_distribution),
        cmocka_unit_test(test_trials_follow_their_distribution),
        cmocka_unit_test(test_huge_means_keep_their_moments),
        cmocka_unit_test(test_first_draws_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
