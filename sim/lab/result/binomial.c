/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The binomial distribution by Loader's saddle-point expansion and continued fractions. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "kernel/sampler.h"
#include "lab/judgment.h"

#define TWO_PI 6.283185307179586476925

/* Above this variance a tail is integrated: its sum would have more than about a thousand terms, and the ends
 * of the integral are at least a hundred standard deviations away. */
#define SUM_VARIANCE_MAX 1e4

/* (1 - p)^n. Rounding 1 - p first would multiply its rounding error by n. */
static double all_failures(uint64_t n, double p)
{
    double q = 1 - p;
    return 1 - q == p ? pow(q, (double)n) : exp((double)n * log1p(-p));
}

/* k - np, accurate even where the two nearly cancel: each number is split into parts that a double represents
 * exactly, and the rounding error of the product of the high part is added. */
static double excess(uint64_t n, uint64_t k, double p)
{
    const uint64_t low_bits = (UINT64_C(1) << 12) - 1;
    double n_high = (double)(n & ~low_bits);
    double k_high = (double)(k & ~low_bits);
    double product = n_high * p;
    double rest = fma(n_high, p, -product);
    double low = fma((double)(n & low_bits), p, -(double)(k & low_bits));
    return (k_high - product) - (low + rest);
}

/* log(1 + d) - d, d > -1. For |d| up to 1/2, log(1 + d) = 2 atanh(r) with r = d / (2 + d), and the first term
 * of that series minus d is -d r. Near 0, where nearly all calls are, five more terms have an error below
 * r^10; up to 1/2, seventeen terms have an error below r^34 < 1e-16. */
static double log1p_minus(double d)
{
    if (d > 0.5 || d < -0.5)
        return log1p(d) - d;
    double r = d / (2 + d), square = r * r, rest = 0;
    for (int odd = d > -0.01 && d < 0.01 ? 11 : 35; odd >= 3; odd -= 2)
        rest = rest * square + 1.0 / odd;
    return r * (2 * square * rest - d);
}

/* mean ((1 + d) log(1 + d) - d) with d = difference / mean and value = mean + difference: Loader's bd0. Never
 * negative, so the two of an exponent add up without cancellation. */
static double deviance(double value, double mean, double difference)
{
    double d = difference / mean;
    if (d > 0.5 || d < -0.5)
        return value * log(value / mean) - difference;
    return mean * ((1 + d) * log1p_minus(d) + d * d);
}

double lab_binomial_pmf(uint64_t n, uint64_t k, double p)
{
    if (k > n)
        return 0;
    if (p == 1)
        return k == n ? 1 : 0;
    if (k == 0)
        return all_failures(n, p);
    if (k == n)
        return pow(p, (double)n);
    double successes = (double)k;
    double failures = (double)(n - k);
    double difference = excess(n, k, p);
    double exponent =
        deviance(successes, (double)n * p, difference) + deviance(failures, (double)n * (1 - p), -difference);
    double stirling =
        sim_stirling_error((double)n) - sim_stirling_error(successes) - sim_stirling_error(failures);
    return sqrt((double)n / successes / (TWO_PI * failures)) * exp(stirling - exponent);
}

/* 1 + P(k - 1) / P(k) + P(k - 2) / P(k) + ..., where the odds are those against success: the ratio of
 * consecutive terms decreases, so the remainder after a term is at most a geometric series. The sum upwards
 * is that of the n - k failures. */
static double sum_down(uint64_t n, uint64_t k, double odds)
{
    double sum = 1;
    double term = 1;
    for (uint64_t j = k; j > 0; j--) {
        double ratio = (double)j / (double)(n - j + 1) * odds;
        term *= ratio;
        sum += term;
        if (term * ratio < DBL_EPSILON / 8 * sum * (1 - ratio))
            break;
    }
    return sum;
}

static double integrand(double a1, double b1, double x, double y, double slope, double s)
{
    if (s >= x)
        return 0;
    /* The linear parts of the two logarithms nearly cancel: `slope` is their difference. */
    return exp(a1 * log1p_minus(-s / x) + b1 * log1p_minus(s / y) - slope * s);
}

/* The double exponential rule for a half-line (Takahasi and Mori 1974): with s = exp(v - exp(-v)) the
 * integral of f(s) over s > 0 is that of f(s) s (1 + exp(-v)) over all v, which the trapezoidal rule takes at
 * v = -29/8, -28/8, ... 48/8. Nodes before the first weigh less than 1e-17 of the sum. */
#define FIRST_NODE (-29)
#define LAST_NODE  48
#define NODE_STEP  0.125

/* The integral over s from 0 to x of (1 - s/x)^a1 (1 + s/y)^b1, which falls from 1 like exp(-slope s) at
 * first and like a Gaussian's tail later. A quarter of this step size changes no tail by more than 3e-15. */
static double integral(double a1, double b1, double x, double y, double slope)
{
    double scale = 1 / (slope + sqrt(a1 / (x * x) + b1 / (y * y)));
    double sum = 0;
    for (int i = FIRST_NODE; i <= LAST_NODE; i++) {
        const double inner = exp(-i * NODE_STEP), s = exp(i * NODE_STEP - inner);
        const double value = integrand(a1, b1, x, y, slope, scale * s) * (s * (1 + inner));
        sum += value;
        if (i > 0 && value < DBL_EPSILON / 64 * sum)
            break;
    }
    return sum * scale * NODE_STEP;
}

/* P(X <= k) when `downwards`, otherwise P(X >= k), for k on that side of the mean and 0 < p < 1. */
static double tail_from(uint64_t n, uint64_t k, double p, bool downwards)
{
    double edge = lab_binomial_pmf(n, k, p);
    double q = 1 - p;
    if (edge == 0)
        return 0;
    if ((double)n * p * q <= SUM_VARIANCE_MAX)
        return edge * (downwards ? sum_down(n, k, q / p) : sum_down(n, n - k, p / q));
    /* P(X >= k) = I_p(k, n - k + 1) and P(X <= k) = I_q(n - k, k + 1), each computed as the value of its
     * integrand at the edge times the integral of the integrand divided by that value. */
    double successes = (double)k;
    double failures = (double)(n - k);
    if (downwards)
        return edge * (failures / q) *
               integral(failures - 1, successes, q, p, -(excess(n - 1, k, p)) / (p * q));
    return edge * (successes / p) *
           integral(successes - 1, failures, p, q, excess(n - 1, k - 1, p) / (p * q));
}

/* The smaller tail is computed directly, and the larger one as its complement, so neither loses digits. */
double lab_binomial_lower(uint64_t n, uint64_t k, double p)
{
    if (k >= n)
        return 1;
    if (p == 1)
        return 0;
    return excess(n, k, p) < 0 ? tail_from(n, k, p, true) : 1 - tail_from(n, k + 1, p, false);
}

double lab_binomial_upper(uint64_t n, uint64_t k, double p)
{
    if (k == 0)
        return 1;
    if (k > n)
        return 0;
    if (p == 1)
        return 1;
    return excess(n, k, p) > 0 ? tail_from(n, k, p, false) : 1 - tail_from(n, k - 1, p, true);
}

/* Clopper-Pearson bounds: finds by bisection the probability of success at which a tail of the binomial
 * distribution has a given probability. */

#define SHARE_TOLERANCE 1e-12

/* The probability of success at which `hits` or more successes have the given probability. */
static double share_of(uint64_t hits, uint64_t count, double chance)
{
    double low = 0, high = 1;
    while (high - low > SHARE_TOLERANCE * high) {
        double middle = low + (high - low) / 2;
        *(lab_binomial_upper(count, hits, middle) > chance ? &high : &low) = middle;
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
