/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reductions and coefficients are those of fdlibm's e_log.c and e_exp.c (Sun Microsystems, 1993, freely
 * granted). */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernel/number.h"

/* With 1, as on s390x, only float is evaluated in a wider format, and this file uses no float. */
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1,
               "binary64 must be rounded to binary64 at every step");

#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW  0x1.a39ef35793c76p-33

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double sim_log(double x)
{
    assert(x > 0 && x <= DBL_MAX);
    int k = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        k = -54;
    }
    /* x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). */
    uint64_t bits = to_bits(x);
    k += (int)(bits >> 52) - 1023;
    double m = from_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000));
    if (m >= 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        k++;
    }
    double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
    double even = w * (0x1.999999997fa04p-2 + w * (0x1.c71c51d8e78afp-3 + w * 0x1.39a09d078c69fp-3));
    double odd = z * (0x1.5555555555593p-1 +
                      w * (0x1.2492494229359p-2 + w * (0x1.7466496cb03dep-3 + w * 0x1.2f112df3e5244p-3)));
    double r = even + odd, half_square = 0.5 * f * f, exponent = (double)k;
    return exponent * LN2_HIGH - ((half_square - (s * (half_square + r) + exponent * LN2_LOW)) - f);
}

/* Returns e^r for x = k ln 2 + r with |r| <= ln(2) / 2. k is rounded to a whole number by adding and
 * subtracting 1.5 * 2^52; the low bits of *shifted are k. */
static inline double exp_of_rest(double x, double *shifted)
{
    *shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52;
    double k = *shifted - 0x1.8p52;
    double high = x - k * LN2_HIGH, low = k * LN2_LOW, r = high - low, t = r * r;
    double c =
        r - t * (0x1.555555555553ep-3 +
                 t * (-0x1.6c16c16bebd93p-9 + t * (0x1.1566aaf25de2cp-14 + t * (-0x1.bbd41c5d26bf1p-20 +
                                                                                t * 0x1.6376972bea4d0p-25))));
    return 1.0 - ((low - r * c / (2.0 - c)) - high);
}

/* 2^1024 is not a double, so k = 1024 is split. */
static inline double power_of_two(double shifted)
{
    return from_bits((to_bits(shifted) + 1023) << 52);
}

double sim_exp(double x)
{
    double shifted;
    if (x > 709.782712893384)
        return (double)INFINITY;
    if (!(x > -708.0))
        return 0.0;
    double y = exp_of_rest(x, &shifted);
    if (shifted - 0x1.8p52 == 1024)
        return y * 2.0 * 0x1p1023;
    return y * power_of_two(shifted);
}

static inline __attribute__((always_inline)) void exps(double *values, size_t count)
{
    /* From 512 on, the magnitude's bits plus this number have the highest bit set. Only additions of integers
     * are in SSE2, no comparisons. */
    const uint64_t to_sign = (UINT64_C(1) << 63) - to_bits(512.0);
    uint64_t sums = 0;
    for (size_t i = 0; i < count; i++)
        sums |= (to_bits(values[i]) & ~(UINT64_C(1) << 63)) + to_sign;
    if (sums >> 63 != 0) {
        for (size_t i = 0; i < count; i++)
            values[i] = sim_exp(values[i]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double shifted, y = exp_of_rest(values[i], &shifted);
        values[i] = y * power_of_two(shifted);
    }
}

static void exps_plain(double *values, size_t count)
{
    exps(values, count);
}

#ifdef __x86_64__
/* Without FMA, so each operation is rounded as in the other version. */
static __attribute__((target("avx2"))) void exps_avx2(double *values, size_t count)
{
    exps(values, count);
}
#endif

void sim_exps(double *values, size_t count)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        exps_avx2(values, count);
        return;
    }
#endif
    exps_plain(values, count);
}

double sim_pow(double x, double y)
{
    return sim_exp(y * sim_log(x));
}

/* Shortens numbers to three significant digits and a power of 1000. */

unsigned sim_shorten(double *value, unsigned most)
{
    unsigned power = 0;
    for (; *value >= 999.5 && power < most; power++)
        *value /= 1000;
    return power;
}

int sim_shortened_decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}
