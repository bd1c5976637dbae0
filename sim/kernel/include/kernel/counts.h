/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samplers of counts: how many events fall into a stretch, how many of n are of a kind, how long to the next
 * one. The same bits on every machine, from the kernel's own log and exp (kernel/number.h).
 *
 * Where a mean is large: transformed rejection (W. Hoermann, 1993, PTRS and BTRS) against densities by
 * C. Loader's saddle-point form (2000), which keeps its digits up to the largest mean. Gamma: Marsaglia and
 * Tsang (2000). Distributions hold to the rounding of binary64. */
#ifndef KERNEL_COUNTS_H
#define KERNEL_COUNTS_H

#include <stdint.h>

#include "kernel/random.h"

/* No count that is drawn is larger: a double tells it from its neighbours. */
#define SIM_COUNT_MAX (UINT64_C(1) << 52)

/* Events of a Poisson process where `mean` are expected; 0 <= mean <= SIM_COUNT_MAX / 2. */
uint64_t sim_poisson(struct sim_random *random, double mean);
/* How many of n are of a kind that each is with chance p; n <= SIM_COUNT_MAX, 0 <= p <= 1. */
uint64_t sim_binomial(struct sim_random *random, uint64_t n, double p);
/* log n! less Stirling's formula for it, n log n - n + log(2 pi n) / 2; n >= 1 and whole. Within 2e-16. */
double sim_stirling_error(double n);
/* Gamma with mean `shape` >= 1 and scale 1. */
double sim_gamma(struct sim_random *random, double shape);
/* Where the k-th in order of n points lies that are uniform in (0, 1), 1 <= k <= n <= SIM_COUNT_MAX. */
double sim_order(struct sim_random *random, uint64_t k, uint64_t n);

/* Trials up to and including the first success. */
struct sim_trials {
    double gap; /* trials in one unit of an exponential; 0: each succeeds */
};
/* 0 < p <= 1. */
void sim_trials_init(struct sim_trials *trials, double p);
/* At least 1; at most SIM_COUNT_MAX, which stands for all beyond it. */
uint64_t sim_trials_next(const struct sim_trials *trials, struct sim_random *random);

#endif
