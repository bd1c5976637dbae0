/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests whether draws follow a distribution. Each draw is mapped through the true distribution function,
 * which must give uniform values in [0, 1), and counted in equal bins. Their chi-square and their
 * Kolmogorov-Smirnov distance must stay below bounds that a correct sampler exceeds with a chance below 1e-10
 * in total. Seeds are fixed, so a failure means that the code has changed. */
#ifndef TESTS_KERNEL_FIT_H
#define TESTS_KERNEL_FIT_H

#include <math.h>
#include <string.h>

#define FIT_BINS_MAX 4096

struct fit {
    size_t bin_count;
    double draws;
    double bins[FIT_BINS_MAX];
};

static inline void fit_init(struct fit *fit, size_t bin_count)
{
    memset(fit, 0, sizeof *fit);
    assert_true(bin_count <= FIT_BINS_MAX);
    fit->bin_count = bin_count;
}

static inline void fit_add(struct fit *fit, double uniform)
{
    if (!(uniform >= 0 && uniform <= 1))
        fail_msg("no probability: %g", uniform);
    size_t bin = (size_t)(uniform * (double)fit->bin_count);
    fit->bins[bin < fit->bin_count ? bin : fit->bin_count - 1]++;
    fit->draws++;
}

static inline void fit_check(const struct fit *fit)
{
    double n = (double)fit->bin_count, expected = fit->draws / n, square = 0, below = 0, distance = 0;
    for (size_t i = 0; i < fit->bin_count; i++) {
        square += (fit->bins[i] - expected) * (fit->bins[i] - expected) / expected;
        below += fit->bins[i];
        double off = fabs(below / fit->draws - (double)(i + 1) / n);
        distance = off > distance ? off : distance;
    }
    /* Wilson and Hilferty: the cube root of chi-square over its degrees of freedom is nearly normal; 6.8
     * sigma on either side. P(D sqrt(n) > 3.6) is 2 exp(-2 * 3.6^2) = 1.1e-11. */
    double freedom = n - 1, spread = 2 / (9 * freedom);
    double z = (cbrt(square / freedom) - (1 - spread)) / sqrt(spread);
    if (!(fabs(z) < 6.8) || !(distance * sqrt(fit->draws) < 3.6))
        fail_msg("chi-square %g of %g degrees (%g sigma), distance %g", square, freedom, z,
                 distance * sqrt(fit->draws));
}

#endif
