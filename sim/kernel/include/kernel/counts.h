/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samplers of counts: the number of events in an interval, the number of successes in n trials, the number of
 * trials up to the next success. Results are bit-identical on every machine, since they use the kernel's own
 * log and exp (kernel/number.h).
 *
 * Methods: for large means, transformed rejection (W. Hoermann, 1993, PTRS and BTRS) with densities in C.
 * Loader's saddle-point form (2000), which stays accurate up to the largest mean; for gamma, Marsaglia and
 * Tsang (2000). The distributions are exact up to the rounding of binary64. */
#ifndef KERNEL_COUNTS_H
#define KERNEL_COUNTS_H

#include <stdint.h>

#include "kernel/random.h"

/* The largest count that is drawn. A double represents every whole number up to this one exactly. */
#define SIM_COUNT_MAX (UINT64_C(1) << 52)

/* Poisson: the number of events where `mean` are expected; 0 <= mean <= SIM_COUNT_MAX / 2. */
uint64_t sim_poisson(struct sim_random *random, double mean);
/* Binomial: the number of successes in n trials of probability p; n <= SIM_COUNT_MAX, 0 <= p <= 1. */
uint64_t sim_binomial(struct sim_random *random, uint64_t n, double p);
/* The error of Stirling's formula: log n! - (n log n - n + log(2 pi n) / 2), for whole n >= 1; exact to
 * within 2e-16. */
double sim_stirling_error(double n);
/* Gamma with scale 1 and the given shape, which is also the mean; shape >= 1. */
double sim_gamma(struct sim_random *random, double shape);
/* The k-th order statistic: the k-th smallest of n points that are uniform in (0, 1), 1 <= k <= n <=
 * SIM_COUNT_MAX. */
double sim_order(struct sim_random *random, uint64_t k, uint64_t n);

/* Geometric: the number of trials up to and including the first success. */
struct sim_trials {
    double gap; /* number of trials per unit of an exponential variate; 0: every trial succeeds */
};
/* p: the probability of success, 0 < p <= 1. */
void sim_trials_init(struct sim_trials *trials, double p);
/* From 1 to SIM_COUNT_MAX; larger draws return SIM_COUNT_MAX. */
uint64_t sim_trials_next(const struct sim_trials *trials, struct sim_random *random);

#endif
