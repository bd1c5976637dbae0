/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clopper-Pearson bounds: finds by bisection the probability of success at which a tail of the binomial
 * distribution has a given probability. */
#include <assert.h>
#include <math.h>

#include "lab/binomial.h"
#include "lab/judgment.h"

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
