/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws from the Poisson, binomial, gamma and related distributions, using only IEEE 754 operations. */
#include "kernel/counts.h"

#include <assert.h>
#include <math.h>

#include "kernel/number.h"
#include "kernel/sampler.h"

/* Below this mean, events are drawn one by one. */
#define COUNTED_MEAN 10.0
#define HALF_LOG_TAU 0.918938533204672741780329736406 /* log(2 pi) / 2 */

static uint64_t poisson_counted(struct sim_random *random, double mean)
{
    uint64_t count = 0;
    for (double at = sim_exponential(random); at < mean; at += sim_exponential(random))
        count++;
    return count;
}

double sim_stirling_error(double n)
{
    static const double small[16] = {
        0,
        0.0810614667953272582196702,
        0.0413406959554092940938221,
        0.02767792568499833914878929,
        0.02079067210376509311152277,
        0.01664469118982119216319487,
        0.01387612882307074799874573,
        0.01189670994589177009505572,
        0.010411265261972096497478567,
        0.009255462182712732917728637,
        0.008330563433362871256469318,
        0.007573675487951840794972024,
        0.006942840107209529865664152,
        0.006408994188004207068439631,
        0.005951370112758847735624416,
        0.005554733551962801371038690,
    };
    if (n < 16)
        return small[(int)n];
    double square = n * n;
    return (1.0 / 12 -
            (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) / square) /
           n;
}

/* x log(x / mean) + mean - x, without cancellation where x and mean are large and close to each other
 * (Loader's bd0). */
static double deviance(double x, double mean)
{
    if (fabs(x - mean) >= 0.1 * (x + mean))
        return x * sim_log(x / mean) + mean - x;
    double v = (x - mean) / (x + mean), sum = (x - mean) * v, term = 2 * x * v;
    for (int j = 3;; j += 2) {
        term *= v * v;
        double next = sum + term / j;
        if (next == sum)
            return sum;
        sum = next;
    }
}

static double log_poisson(double k, double mean)
{
    if (k == 0)
        return -mean;
    return -sim_stirling_error(k) - deviance(k, mean) - HALF_LOG_TAU - 0.5 * sim_log(k);
}

static uint64_t poisson_rejected(struct sim_random *random, double mean)
{
    const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    const double sure = 0.9277 - 3.6224 / (b - 2), scale = 1.1239 + 1.1328 / (b - 3.4);
    for (;;) {
        double u = sim_random_unit(random) - 0.5, v = 1 - sim_random_unit(random), edge = 0.5 - fabs(u);
        double at = (2 * a / edge + b) * u + mean + 0.43;
        if (!(at >= 0 && at <= (double)SIM_COUNT_MAX) || (edge < 0.013 && v > edge))
            continue;
        double k = (double)(int64_t)at;
        if ((edge >= 0.07 && v <= sure) ||
            sim_log(v * scale / (a / (edge * edge) + b)) <= log_poisson(k, mean))
            return (uint64_t)at;
    }
}

uint64_t sim_poisson(struct sim_random *random, double mean)
{
    assert(mean >= 0 && mean <= (double)(SIM_COUNT_MAX / 2));
    return mean < COUNTED_MEAN ? poisson_counted(random, mean) : poisson_rejected(random, mean);
}

/* Jumps from one success to the next by geometric gaps. */
static uint64_t binomial_counted(struct sim_random *random, uint64_t n, double p)
{
    if (p == 0)
        return 0;
    struct sim_trials trials;
    uint64_t count = 0;
    sim_trials_init(&trials, p);
    for (uint64_t at = sim_trials_next(&trials, random); at <= n; at += sim_trials_next(&trials, random))
        count++;
    return count;
}

/* -log(1 - p), accurate also for small p. */
static double minus_log_1_minus(double p)
{
    if (p >= 1e-3)
        return -sim_log(1 - p);
    return p * (1 + p * (1.0 / 2 + p * (1.0 / 3 + p * (1.0 / 4 + p * (1.0 / 5 + p / 6)))));
}

static double log_binomial(double k, double n, double p)
{
    if (k == 0)
        return -n * minus_log_1_minus(p);
    if (k == n)
        return n * sim_log(p);
    return sim_stirling_error(n) - sim_stirling_error(k) - sim_stirling_error(n - k) - deviance(k, n * p) -
           deviance(n - k, n * (1 - p)) - HALF_LOG_TAU - 0.5 * (sim_log(k) + sim_log((n - k) / n));
}

static uint64_t binomial_rejected(struct sim_random *random, uint64_t n, double p)
{
    const double all = (double)n, spread = sqrt(all * p * (1 - p)), b = 1.15 + 2.53 * spread;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p, sure = 0.92 - 4.2 / b;
    const double scale = (2.83 + 5.1 / b) * spread, middle = (double)(int64_t)((all + 1) * p);
    const double at_middle = log_binomial(middle, all, p);
    for (;;) {
        double u = sim_random_unit(random) - 0.5, v = 1 - sim_random_unit(random), edge = 0.5 - fabs(u);
        double at = (2 * a / edge + b) * u + all * p + 0.5;
        if (!(at >= 0 && at < all + 1))
            continue;
        double k = (double)(int64_t)at;
        if ((edge >= 0.07 && v <= sure) ||
            sim_log(v * scale / (a / (edge * edge) + b)) <= log_binomial(k, all, p) - at_middle)
            return (uint64_t)at;
    }
}

uint64_t sim_binomial(struct sim_random *random, uint64_t n, double p)
{
    assert(n <= SIM_COUNT_MAX && p >= 0 && p <= 1);
    if (p > 0.5)
        return n - sim_binomial(random, n, 1 - p);
    return (double)n * p < COUNTED_MEAN ? binomial_counted(random, n, p) : binomial_rejected(random, n, p);
}

double sim_gamma(struct sim_random *random, double shape)
{
    assert(shape >= 1);
    if (shape == 1)
        return sim_exponential(random);
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = sim_normal(random), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        double u = 1 - sim_random_unit(random), square = x * x;
        if (u < 1 - 0.0331 * square * square || sim_log(u) < 0.5 * square + d * (1 - v + sim_log(v)))
            return d * v;
    }
}

double sim_order(struct sim_random *random, uint64_t k, uint64_t n)
{
    assert(k >= 1 && k <= n && n <= SIM_COUNT_MAX);
    double below = sim_gamma(random, (double)k), above = sim_gamma(random, (double)(n - k + 1));
    return below / (below + above);
}

void sim_trials_init(struct sim_trials *trials, double p)
{
    assert(p > 0 && p <= 1);
    trials->gap = p == 1 ? 0 : 1 / minus_log_1_minus(p);
}

uint64_t sim_trials_next(const struct sim_trials *trials, struct sim_random *random)
{
    double failures = sim_exponential(random) * trials->gap;
    return failures < (double)SIM_COUNT_MAX ? (uint64_t)failures + 1 : SIM_COUNT_MAX;
}
