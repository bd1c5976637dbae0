/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds of a share by Clopper and Pearson: the tail of the binomial distribution as an incomplete beta
 * function, by its continued fraction (modified Lentz), and a bisection. */
#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "lab/choice.h"

#define SHARE_TOLERANCE 1e-12
#define FRACTION_ENDS   1e-15
#define FRACTION_MOST   10000000
#define TINY            1e-300
#define TWO_PI          6.283185307179586476925

/* log(Gamma(x)) less Stirling's (x - 1/2) log(x) - x + log(2 pi) / 2, by his series; x >= 1. Below 16 by the
 * recurrence of Gamma. */
static double stirling_rest(double x)
{
    double rest = 0, first = x;
    for (; x < 16; x++)
        rest -= log(x);
    double square = x * x;
    rest += (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / (1680 * square)) / square) / square) / x;
    return x == first ? rest : rest + (x - 0.5) * log(x) - x - ((first - 0.5) * log(first) - first);
}

/* x^a (1 - x)^b / B(a, b), by what a and b differ from their means by, so that large logarithms do not
 * cancel. */
static double front(double a, double b, double x)
{
    double n = a + b, difference = a - n * x;
    double exponent = a * log1p(difference / (n * x)) + b * log1p(-difference / (n * (1 - x)));
    return sqrt(a / n * b / TWO_PI) * exp(stirling_rest(n) - stirling_rest(a) - stirling_rest(b) - exponent);
}

static double not_zero(double value)
{
    return fabs(value) < TINY ? TINY : value;
}

static double fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (double m = 1; m < FRACTION_MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        value *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) < FRACTION_ENDS)
            break;
    }
    return value;
}

/* The regularised incomplete beta function I_x(a, b), 0 < x < 1: P(X >= a) of a + b - 1 trials. */
static double beta(double a, double b, double x)
{
    double scale = front(a, b, x);
    return x < (a + 1) / (a + b + 2) ? scale * fraction(a, b, x) / a : 1 - scale * fraction(b, a, 1 - x) / b;
}

/* The share with which so many hits or more have this chance. */
static double share_of(uint64_t hits, uint64_t count, double chance)
{
    double low = 0, high = 1;
    while (high - low > SHARE_TOLERANCE * high) {
        double middle = low + (high - low) / 2;
        *(beta((double)hits, (double)(count - hits) + 1, middle) > chance ? &high : &low) = middle;
    }
    return low + (high - low) / 2;
}

double lab_share_most(uint64_t hits, uint64_t count, double confidence)
{
    assert(hits <= count && confidence > 0 && confidence < 1);
    if (hits == 0 && count > 0)
        return -expm1(log1p(-confidence) / (double)count);
    return hits == count ? 1 : share_of(hits + 1, count, confidence);
}

double lab_share_least(uint64_t hits, uint64_t count, double confidence)
{
    assert(hits <= count && confidence > 0 && confidence < 1);
    return hits == 0 ? 0 : share_of(hits, count, 1 - confidence);
}
