/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The binomial distribution with full relative accuracy in both tails, for n up to 2^64 - 1. `tune` and the
 * bounds of a share (lab/judgment.h) use it.
 *
 * GSL's gsl_cdf_binomial_* and gsl_sf_beta_inc_e lose digits (six are left at n = 4e15), and on underflow
 * they call the error handler, which aborts. Here the probability at k is Loader's saddle-point form, and the
 * rest of the tail is a sum of positive terms or, if that sum were long, an integral of a positive function.
 * Source: C. Loader, Fast and Accurate Computation of Binomial Probabilities, 2000. */
#ifndef LAB_BINOMIAL_H
#define LAB_BINOMIAL_H

#include <stdint.h>

/* X ~ Binomial(n, p), 0 < p <= 1. */
double lab_binomial_pmf(uint64_t n, uint64_t k, double p);   /* P(X = k) */
double lab_binomial_lower(uint64_t n, uint64_t k, double p); /* P(X <= k) */
double lab_binomial_upper(uint64_t n, uint64_t k, double p); /* P(X >= k) */

#endif
