/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether draws follow a law: each draw's true distribution function, which must be uniform in [0, 1), is
 * counted in equal bins; their chi-square and their Kolmogorov-Smirnov distance must stay below bounds that a
 * sound sampler passes with a chance below 1e-10 in total. Seeds are fixed, so a failure is a change of code.
 */
#ifndef TESTS_KERNEL_LAW_H
#define TESTS_KERNEL_LAW_H

#include <math.h>
#include <string.h>

#define LAW_BINS_MAX 4096

struct law {
    size_t bin_count;
    double draws;
    double bins[LAW_BINS_MAX];
};

static inline void law_init(struct law *law, size_t bin_count)
{
    memset(law, 0, sizeof *law);
    assert_true(bin_count <= LAW_BINS_MAX);
    law->bin_count = bin_count;
}

static inline void law_add(struct law *law, double uniform)
{
    if (!(uniform >= 0 && uniform <= 1))
        fail_msg("no probability: %g", uniform);
    size_t bin = (size_t)(uniform * (double)law->bin_count);
    law->bins[bin < law->bin_count ? bin : law->bin_count - 1]++;
    law->draws++;
}

static inline void law_check(const struct law *law)
{
    double n = (double)law->bin_count, expected = law->draws / n, square = 0, below = 0, distance = 0;
    for (size_t i = 0; i < law->bin_count; i++) {
        square += (law->bins[i] - expected) * (law->bins[i] - expected) / expected;
        below += law->bins[i];
        double off = fabs(below / law->draws - (double)(i + 1) / n);
        distance = off > distance ? off : distance;
    }
    /* Wilson and Hilferty: the cube root of chi-square over its degrees of freedom is nearly normal; 6.8
     * sigma on either side. P(D sqrt(n) > 3.6) is 2 exp(-2 * 3.6^2) = 1.1e-11. */
    double freedom = n - 1, spread = 2 / (9 * freedom);
    double z = (cbrt(square / freedom) - (1 - spread)) / sqrt(spread);
    if (!(fabs(z) < 6.8) || !(distance * sqrt(law->draws) < 3.6))
        fail_msg("chi-square %g of %g degrees (%g sigma), distance %g", square, freedom, z,
                 distance * sqrt(law->draws));
}

#endif
