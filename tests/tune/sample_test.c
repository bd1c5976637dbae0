/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: intervals and tests over seeds are correct, even with little or no data.
 *
 * Method: known answers, computed with mpmath at 40 digits from the textbooks' formulas; edge cases by
 * hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lab/judgment.h"
#include "tune/sample.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const double some[] = {3.5, 4.25, 2.125, 5, 4.75};
static const double differences[] = {0.5, -0.25, 1, 0.75, 0.25, 1.5};

static struct tune_sample sample_of(const double *values, size_t count)
{
    struct tune_sample sample = {0};
    for (size_t i = 0; i < count; i++)
        tune_sample_add(&sample, values[i]);
    return sample;
}

static void assert_near(double actual, double wanted)
{
    if (!(fabs(actual - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.17g, wanted %.17g", actual, wanted);
}

static void test_a_sample_has_its_mean_and_intervals(void **state)
{
    (void)state;
    struct tune_sample sample = sample_of(some, COUNT(some));
    assert_int_equal(sample.count, 5);
    assert_near(sample.mean, 3.925);
    assert_near(tune_sample_stddev(&sample), 1.1578536176909411);
    assert_true(sample.least == 2.125 && sample.most == 5);
    struct tune_interval mean = tune_sample_mean_interval(&sample, 0.95);
    assert_near(mean.low, 2.487334847723173);
    assert_near(mean.high, 5.362665152276827);
    struct tune_interval next = tune_sample_next_interval(&sample, 0.999);
    assert_near(next.low, -6.9960059349976575);
    assert_near(next.high, 14.846005934997657);
}

static void test_one_observation_gives_no_interval(void **state)
{
    (void)state;
    struct tune_sample sample = {0};
    for (int count = 0; count < 2; count++) {
        struct tune_interval mean = tune_sample_mean_interval(&sample, 0.95);
        struct tune_interval next = tune_sample_next_interval(&sample, 0.95);
        assert_true(mean.low == -HUGE_VAL && mean.high == HUGE_VAL);
        assert_true(next.low == -HUGE_VAL && next.high == HUGE_VAL);
        assert_true(tune_sample_stddev(&sample) == 0);
        assert_true(tune_sample_p_value(&sample) == 1);
        assert_true(tune_welch_p_value(&sample, &sample) == 1);
        struct tune_interval difference = tune_welch_interval(&sample, &sample, 0.95);
        assert_true(difference.low == -HUGE_VAL && difference.high == HUGE_VAL);
        tune_sample_add(&sample, 7);
    }
}

/* Values such as 0.1, whose running mean could drift by rounding. */
static void test_equal_observations_spread_by_nothing(void **state)
{
    (void)state;
    struct tune_sample sample = {0};
    for (int i = 0; i < 1000; i++)
        tune_sample_add(&sample, 0.1);
    struct tune_interval next = tune_sample_next_interval(&sample, 0.999);
    assert_true(sample.mean == 0.1 && sample.squares == 0);
    assert_true(next.low == 0.1 && next.high == 0.1);
    assert_true(tune_sample_p_value(&sample) == 0);
    const double zeros[] = {0, 0, 0};
    struct tune_sample none = sample_of(zeros, COUNT(zeros));
    assert_true(tune_sample_p_value(&none) == 1);
    assert_true(tune_welch_p_value(&none, &none) == 1);
    assert_true(tune_welch_p_value(&none, &sample) == 0);
    struct tune_interval difference = tune_welch_interval(&none, &sample, 0.95);
    assert_true(difference.low == -0.1 && difference.high == -0.1);
}

static void test_statistical_tests_match_known_values(void **state)
{
    (void)state;
    struct tune_sample one = sample_of(some, COUNT(some));
    struct tune_sample other = sample_of(differences, COUNT(differences));
    assert_near(tune_sample_p_value(&other), 0.053103491751797856);
    assert_near(tune_welch_p_value(&one, &other), 0.0013560663655282283);
    assert_near(tune_welch_p_value(&other, &one), 0.0013560663655282283);
    struct tune_interval difference = tune_welch_interval(&one, &other, 0.95);
    assert_near(difference.low, 1.8834236176918645);
    assert_near(difference.high, 4.7165763823081355);
}

static void test_holm_corrects_step_by_step(void **state)
{
    (void)state;
    double p[] = {0.04, 0.01, 0.03, 0.005};
    assert_true(tune_holm(p, COUNT(p)));
    assert_near(p[3], 0.02); /* x 4 */
    assert_near(p[1], 0.03); /* x 3 */
    assert_near(p[2], 0.06); /* x 2 */
    assert_near(p[0], 0.06); /* x 1 is 0.04: raised to the one before it */
    double large[] = {0.9, 0.8};
    assert_true(tune_holm(large, COUNT(large)));
    assert_true(large[0] == 1 && large[1] == 1);
    assert_true(tune_holm(NULL, 0));
}

static void test_shares_have_exact_bounds(void **state)
{
    (void)state;
    assert_near(lab_share_most(3, 1000, 0.95), 0.0077352447184794597);
    assert_near(lab_share_most(0, 1000, 0.95), 0.0029912495450952962);
    assert_near(lab_share_most(7, 10, 0.95), 0.91273556608584969);
    assert_true(lab_share_most(10, 10, 0.95) == 1 && lab_share_most(0, 0, 0.95) == 1);
    assert_near(lab_share_least(3, 1000, 0.95), 0.00081817539822180042);
    assert_near(lab_share_least(7, 10, 0.95), 0.39337578389458657);
    assert_near(lab_share_least(10, 10, 0.95), 0.74113444910694772);
    assert_true(lab_share_least(0, 10, 0.95) == 0 && lab_share_least(0, 0, 0.95) == 0);
}

/* With many trials the bounds are close to those of the normal distribution. */
static void test_shares_of_many_trials(void **state)
{
    (void)state;
    uint64_t count = UINT64_C(1000000000000), hits = UINT64_C(2000000000);
    double share = 0.002, error = sqrt(share * (1 - share) / 1e12);
    double most = lab_share_most(hits, count, 0.999), least = lab_share_least(hits, count, 0.999);
    assert_true(fabs((most - share) / error - 3.0902) < 0.001);
    assert_true(fabs((share - least) / error - 3.0902) < 0.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sample_has_its_mean_and_intervals),
        cmocka_unit_test(test_one_observation_gives_no_interval),
        cmocka_unit_test(test_equal_observations_spread_by_nothing),
        cmocka_unit_test(test_statistical_tests_match_known_values),
        cmocka_unit_test(test_holm_corrects_step_by_step),
        cmocka_unit_test(test_shares_have_exact_bounds),
        cmocka_unit_test(test_shares_of_many_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
