/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samplers of exponential and normal variates and of sizes, and Zipf weights, bit-identical on every machine:
 * ziggurats (Marsaglia and Tsang 2000) with precomputed tables, and kernel/number.h where a logarithm or a
 * power is needed. */
#ifndef KERNEL_SAMPLER_H
#define KERNEL_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"

/* A layer of a ziggurat: its candidates are j * width with j in [0, 2^53), and those with j < accept lie
 * below the curve. */
struct sim_layer {
    uint64_t accept;
    double width;
    double height; /* height of the curve at the layer's outer edge */
};

extern const struct sim_layer sim_exponential_layers[256];
double sim_exponential_rare(struct sim_random *random, uint64_t bits);

/* Exponential with mean 1. 99 % of the calls take one draw of the stream. */
static inline double sim_exponential(struct sim_random *random)
{
    uint64_t bits = sim_random_next(random);
    const struct sim_layer *layer = &sim_exponential_layers[bits & 255];
    uint64_t j = bits >> 11;
    if (__builtin_expect(j < layer->accept, 1))
        return (double)(int64_t)j * layer->width;
    /* Only a copy of the state has its address taken, and only in the rare case, so that a caller's loop
     * keeps the state in registers. That saves a fifth of the cost of a row. */
    struct sim_random copy = *random;
    double rare = sim_exponential_rare(&copy, bits);
    *random = copy;
    return rare;
}

/* Standard normal. */
double sim_normal(struct sim_random *random);
/* Sets out[0] to out[count - 1] to the next `count` standard normals. */
void sim_normals(struct sim_random *random, double *out, size_t count);

enum sim_size_kind { SIM_SIZE_CONSTANT, SIM_SIZE_UNIFORM, SIM_SIZE_LOGNORMAL, SIM_SIZE_PARETO };

/* A distribution of sizes in whole bytes, at least 1, at most 2^62. */
struct sim_size {
    enum sim_size_kind kind;
    double a; /* constant: the size; uniform: the smallest size; lognormal: the mean of the size (not of its
                 log); Pareto: the smallest size; all in bytes */
    double
        b; /* uniform: the largest size in bytes, inclusive; lognormal: sigma of the log; Pareto: alpha > 0 */
    double log_mean; /* lognormal: mean of the log; set by sim_size_prepare() */
};

/* Checks a distribution and sets log_mean. Returns 0, or -1 when the parameters are invalid. */
int sim_size_prepare(struct sim_size *size);
/* Draws a size. The distribution must have passed sim_size_prepare(). */
uint64_t sim_size_draw(const struct sim_size *size, struct sim_random *random);
#define SIM_SIZE_MAX 0x1p62
/* Rounds a size to the nearest whole number of bytes in [1, 2^62]. */
static inline uint64_t sim_size_whole(double bytes)
{
    if (!(bytes < SIM_SIZE_MAX))
        return (uint64_t)SIM_SIZE_MAX;
    return bytes < 1 ? 1 : (uint64_t)(int64_t)(bytes + 0.5);
}
/* The mean size in bytes before rounding to whole bytes; infinite for a Pareto with alpha <= 1. */
double sim_size_mean(const struct sim_size *size);

/* Zipf weights k^-s of the ranks k = 1 to count, s >= 0 (0: uniform), or Zipf in pieces: the weights of some
 * ranks, the points, are given, and between two of these the weight is a power of the rank, a straight line
 * on a log-log plot. There is no table; each weight is computed on demand. */
#define SIM_ZIPF_POINTS_MAX 64
struct sim_zipf_point {
    uint64_t rank;
    double weight;
    double s; /* exponent between this point and the next */
};

struct sim_zipf {
    double s; /* the exponent; with points, the mean exponent from the first point to the last */
    uint64_t count;
    double total;
    uint32_t point_count; /* 1: one exponent for all ranks */
    struct sim_zipf_point points[SIM_ZIPF_POINTS_MAX];
};
void sim_zipf_init(struct sim_zipf *zipf, double s, uint64_t count);
/* The caller has set zipf->points without their s, and point_count: the ranks ascend from 1 to count, and the
 * weights are above 0 and never ascend. A count of 1 has one point. */
void sim_zipf_init_points(struct sim_zipf *zipf, uint64_t count);
/* The share of the rank index + 1, where index counts from 0; the shares sum to 1. */
double sim_zipf_share(const struct sim_zipf *zipf, uint64_t index);
/* From this index on, how many have nearly the same share: about 1% of the rank, past the first ones. */
uint64_t sim_zipf_alike(const struct sim_zipf *zipf, uint64_t index);
/* The total share of the first `ranks` ranks. */
double sim_zipf_ranks_share(const struct sim_zipf *zipf, uint64_t ranks);

/* Samplers of counts: the number of events in an interval, the number of successes in n trials, the number of
 * trials up to the next success. Results are bit-identical on every machine, since they use the kernel's own
 * log and exp (kernel/number.h).
 *
 * Methods: for large means, transformed rejection (W. Hoermann, 1993, PTRS and BTRS) with densities in C.
 * Loader's saddle-point form (2000), which stays accurate up to the largest mean; for gamma, Marsaglia and
 * Tsang (2000). The distributions are exact up to the rounding of binary64. */

/* The largest count that is drawn. A double represents every whole number up to this one exactly. */
#define SIM_COUNT_MAX (UINT64_C(1) << 52)

/* Poisson: the number of events where `mean` are expected; 0 <= mean <= SIM_COUNT_MAX / 2. */
uint64_t sim_poisson(struct sim_random *random, double mean);
/* Sets out[0] to out[count - 1] to such numbers, if there are enough of them by a table of the mean's
 * probabilities, which are exact to within 2^-53. */
void sim_poissons(struct sim_random *random, double mean, uint64_t *out, size_t count);
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

/* Draws many sizes of one lognormal or Pareto distribution, in a few nanoseconds each.
 *
 * A size is the inverse distribution function of a random number. A precomputed table approximates the
 * function: probabilities from 0 to 1/2 are divided into octaves, and each octave into 64 equal cells, each
 * with a cubic polynomial; probabilities from 1 down to 1/2 likewise. The outer 2^-11 on either side are
 * drawn directly from the tail of the distribution. Source: Lee, Cheung, Villasenor and Luk, "Inversion based
 * noise generation by hierarchical segmentation" (FPL 2006). Before a size is rounded to whole bytes, its
 * relative error is below 3e-10 for a sigma of 1, and below 3e-8 for every distribution that has a table: a
 * statistical test would need 10^15 draws to detect it. */

struct sim_sizes;

/* Makes the table of a distribution that has passed sim_size_prepare(). *out is NULL for a distribution
 * without a table: a constant or uniform one, a sigma above 4, an alpha below 1/4, or sizes near 2^62.
 * Returns false when out of memory. The table takes about 50 KiB and 150 microseconds. */
bool sim_sizes_create(const struct sim_size *size, struct sim_sizes **out);
/* sizes may be NULL. */
void sim_sizes_destroy(struct sim_sizes *sizes);
/* Draws `count` sizes into `out`, with sim_size_draw() when `sizes` is NULL. The distribution is the same
 * either way, but the same stream yields different sizes. */
void sim_sizes_draw(const struct sim_sizes *sizes, const struct sim_size *size, struct sim_random *random,
                    uint64_t *out, size_t count);

/* Of the sizes with a table, those in the outer SIM_OUTER(level), of which nearly all are the largest ones;
 * the others are the body of the distribution. A uniform distribution has no outer sizes. */
#define SIM_LEVELS       2
#define SIM_OUTER(level) ((level) == 0 ? 33.0 / 2048 : 2.0 / 2048)
void sim_sizes_outer(const struct sim_sizes *sizes, const struct sim_size *size, int level,
                     struct sim_random *random, uint64_t *out, size_t count);
/* The quantiles of the body at the middles of `count` equal shares. */
void sim_sizes_body(const struct sim_sizes *sizes, const struct sim_size *size, int level, uint64_t *out,
                    size_t count);

/* The sum of many independent draws of one of some equally probable values. */
struct sim_sum {
    double mean, deviation, cumulants[3]; /* of a value; the third to the fifth in units of the deviation */
    uint64_t least;                       /* draws from which sim_sum_of() may be used */
};
void sim_sum_init(struct sim_sum *sum, const uint64_t *values, size_t count);
/* The sum of n draws, rounded, where `normal` is a standard normal: its quantile at the same probability, by
 * the expansion of Cornish and Fisher (1937) with five cumulants. With n >= sum->least the third and the
 * fourth cumulant of the sum are at most 0.1 and 0.01, and its distribution is exact to within 1e-5. */
uint64_t sim_sum_of(const struct sim_sum *sum, uint64_t n, double normal);

#endif
