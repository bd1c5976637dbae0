/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: log, exp and power are within 2 ulp of the true values and give the same bits everywhere. Method: true
 * values from mpmath (number_reference.py) at the edges of the range reductions and at random points;
 * comparison with libm at a million random points; and a golden hash over the bits, which no compiler or
 * machine may change. The source is included, so that sim_exps() is tested for registers of each width. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/random.h"
#include "number.c"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference.h"

/* The distance of `got` from high + low, in units of the last place of high. */
static double ulps(double got, double high, double low)
{
    double ulp = nextafter(fabs(high), (double)INFINITY) - fabs(high);
    return fabs((got - high) - low) / ulp;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void test_log_reference_values_within_two_ulp(void **state)
{
    (void)state;
    FILE *file = reference_open();
    struct reference reference;
    int count = 0;
    for (; reference_next(file, "log", &reference); count++) {
        double off = ulps(sim_log(reference.x), reference.high, reference.low);
        if (!(off <= 2))
            fail_msg("log(%a) is off by %g ulp", reference.x, off);
    }
    fclose(file);
    assert_true(count > 70);
}

static void test_exp_reference_values_within_two_ulp(void **state)
{
    (void)state;
    FILE *file = reference_open();
    struct reference reference;
    int count = 0;
    for (; reference_next(file, "exp", &reference); count++) {
        double off = ulps(sim_exp(reference.x), reference.high, reference.low);
        if (!(off <= 2))
            fail_msg("exp(%a) is off by %g ulp", reference.x, off);
    }
    fclose(file);
    assert_true(count > 70);
}

static void test_pow_reference_values_within_its_bound(void **state)
{
    (void)state;
    FILE *file = reference_open();
    struct reference reference;
    int count = 0;
    for (; reference_next(file, "pow", &reference); count++) {
        double off = ulps(sim_pow(reference.x, reference.y), reference.high, reference.low);
        if (!(off <= 2 + 3 * fabs(reference.y * log(reference.x))))
            fail_msg("pow(%a, %a) is off by %g ulp", reference.x, reference.y, off);
    }
    fclose(file);
    assert_true(count == 40);
}

/* glibc's functions are accurate to 1 ulp. */
static void test_log_and_exp_random_points_agree_with_libm(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    for (int i = 0; i < 1000000; i++) {
        double unit = sim_random_unit(&random);
        double x = ldexp(1 + unit, (int)sim_random_below(&random, 2046) - 1022);
        if (i % 2 == 0)
            x = 0.5 + 1.5 * unit;
        if (!(ulps(sim_log(x), log(x), 0) <= 3))
            fail_msg("log(%a) is not libm's", x);
        double y = i % 2 == 0 ? 2 * unit - 1 : 1417 * unit - 707.9;
        if (!(ulps(sim_exp(y), exp(y), 0) <= 3))
            fail_msg("exp(%a) is not libm's", y);
    }
}

static void test_number_special_values_are_exact(void **state)
{
    (void)state;
    assert_true(bits_of(sim_log(1)) == 0);
    assert_true(bits_of(sim_exp(0.0)) == bits_of(1) && bits_of(sim_exp(-0.0)) == bits_of(1));
    assert_true(sim_exp(710) == (double)INFINITY && sim_exp((double)INFINITY) == (double)INFINITY);
    assert_true(isfinite(sim_exp(709.782712893384)) &&
                sim_exp(nextafter(709.782712893384, 710)) == (double)INFINITY);
    assert_true(sim_exp(-708) == 0 && sim_exp(-1e300) == 0 && sim_exp(-(double)INFINITY) == 0);
    assert_true(sim_exp(-707.9999) >= DBL_MIN);
    assert_true(sim_pow(1, -700) == 1 && sim_pow(1, 0) == 1 && sim_pow(1e9, 0) == 1 &&
                sim_pow(1e9, -0.0) == 1);
    assert_true(sim_pow(10, 400) == (double)INFINITY && sim_pow(10, -400) == 0);
    for (int k = -1022; k < 1024; k++)
        assert_true(ulps(sim_log(ldexp(1, k)), k * 0x1.62e42fefa39efp-1, 0) <= 2);
}

static void test_number_never_falls_where_the_true_one_rises(void **state)
{
    (void)state;
    /* Across the seams of the range reductions: a downward jump there would break the order of times. */
    double last_log = sim_log(0x1.6a09e667f0000p-1), last_exp = sim_exp(0.3465);
    for (int i = 1; i < 100000; i++) {
        double next_log = sim_log(0x1.6a09e667f0000p-1 + i * 0x1p-40),
               next_exp = sim_exp(0.3465 + i * 0x1p-30);
        assert_true(next_log >= last_log && next_exp >= last_exp);
        last_log = next_log;
        last_exp = next_exp;
    }
}

static void test_number_bits_are_the_same_everywhere(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 2, SIM_ARRIVAL, 0);
    uint64_t hash[3] = {0, 0, 0};
    for (int i = 0; i < 100000; i++) {
        double x = sim_random_unit(&random), y = sim_random_unit(&random);
        hash[0] = sim_mix64(hash[0] + bits_of(sim_log(x * 100 + 0x1p-60)));
        hash[1] = sim_mix64(hash[1] + bits_of(sim_exp(40 * y - 30)));
        hash[2] = sim_mix64(hash[2] + bits_of(sim_pow(1 + 1000 * x, -3 * y)));
    }
    static const uint64_t golden[3] = {UINT64_C(0x6b36835f0d5f0082), UINT64_C(0xa5e8796dd28f7aa1),
                                       UINT64_C(0x304570913b98aafd)};
    for (int i = 0; i < 3; i++) {
        if (hash[i] != golden[i])
            fail_msg("bits of function %d: 0x%016" PRIx64, i, hash[i]);
    }
}

static void compare_exps(void (*vectorised)(double *values, size_t count))
{
    enum { SIDE_BY_SIDE = 8, ROUNDS = 20000 };
    static const double unusual[] = {
        -708.0, -709.0, 709.0, 709.78, 710.0, (double)INFINITY, -(double)INFINITY, 0.0};
    struct sim_random random;
    sim_random_init(&random, 1, SIM_CHOICE, 0);
    for (int i = 0; i < ROUNDS; i++) {
        double values[SIDE_BY_SIDE], wanted[SIDE_BY_SIDE];
        for (int j = 0; j < SIDE_BY_SIDE; j++)
            values[j] = (2 * sim_random_unit(&random) - 1) * (i % 2 == 0 ? 708.0 : 20.0);
        if (i % 8 == 0)
            values[i / 8 % SIDE_BY_SIDE] = unusual[i / 64 % SIDE_BY_SIDE];
        for (int j = 0; j < SIDE_BY_SIDE; j++)
            wanted[j] = sim_exp(values[j]);
        size_t count = i % 16 == 1 ? (size_t)(i / 16 % SIDE_BY_SIDE) : SIDE_BY_SIDE;
        vectorised(values, count);
        for (size_t j = 0; j < count; j++)
            assert_true(bits_of(values[j]) == bits_of(wanted[j]));
    }
}

static void test_vectorised_exp_equals_exp_bit_by_bit(void **state)
{
    (void)state;
    compare_exps(sim_exps);
    compare_exps(exps_plain);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        compare_exps(exps_avx2);
#endif
}

static void test_log_of_a_non_positive_number_asserts(void **state)
{
    (void)state;
    static const double bad[] = {0.0, -0.0, -1.0, (double)INFINITY, (double)NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            signal(SIGABRT, SIG_DFL);
            close(STDERR_FILENO);
            volatile double result = sim_log(bad[i]);
            (void)result;
            _exit(0);
        }
        int status;
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

/* Values on either side of each edge. */
static void test_power_is_chosen_after_rounding(void **state)
{
    (void)state;
    static const struct {
        double value;
        unsigned most, power;
        const char *digits;
    } cases[] = {{0, 6, 0, "0.00"},      {1, 6, 0, "1.00"},        {9.994, 6, 0, "9.99"},
                 {9.996, 6, 0, "10.0"},  {99.94, 6, 0, "99.9"},    {99.96, 6, 0, "100"},
                 {999.4, 6, 0, "999"},   {999.5, 6, 1, "1.00"},    {999499, 6, 1, "999"},
                 {999600, 6, 2, "1.00"}, {999499, 0, 0, "999499"}, {2e9, 2, 2, "2000"},
                 {1.23e18, 6, 6, "1.23"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = cases[i].value;
        char digits[32];
        assert_int_equal(sim_shorten(&value, cases[i].most), cases[i].power);
        snprintf(digits, sizeof digits, "%.*f", sim_shortened_decimals(value), value);
        assert_string_equal(digits, cases[i].digits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_reference_values_within_two_ulp),
        cmocka_unit_test(test_exp_reference_values_within_two_ulp),
        cmocka_unit_test(test_pow_reference_values_within_its_bound),
        cmocka_unit_test(test_log_and_exp_random_points_agree_with_libm),
        cmocka_unit_test(test_number_special_values_are_exact),
        cmocka_unit_test(test_number_never_falls_where_the_true_one_rises),
        cmocka_unit_test(test_number_bits_are_the_same_everywhere),
        cmocka_unit_test(test_vectorised_exp_equals_exp_bit_by_bit),
        cmocka_unit_test(test_log_of_a_non_positive_number_asserts),
        cmocka_unit_test(test_power_is_chosen_after_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
