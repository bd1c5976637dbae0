/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samplers that give the same bits on every machine: ziggurats (Marsaglia and Tsang 2000) over committed
 * tables, and kernel/number.h where a logarithm or a power is needed. */
#ifndef KERNEL_SAMPLER_H
#define KERNEL_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"

/* A layer of a ziggurat: candidates j * width, j in [0, 2^53), surely below the curve while j < accept. */
struct sim_layer {
    uint64_t accept;
    double width;
    double height; /* of the curve at the layer's outer edge */
};

extern const struct sim_layer sim_exponential_layers[256];
double sim_exponential_rare(struct sim_random *random, uint64_t bits);

/* Exponential with mean 1. One draw of the stream in 99 % of the calls. */
static inline double sim_exponential(struct sim_random *random)
{
    uint64_t bits = sim_random_next(random);
    const struct sim_layer *layer = &sim_exponential_layers[bits & 255];
    uint64_t j = bits >> 11;
    if (__builtin_expect(j < layer->accept, 1))
        return (double)(int64_t)j * layer->width;
    /* The state's address is given away in the rare case alone, so that a caller's loop keeps it in
     * registers: a fifth of what a row costs. */
    struct sim_random copy = *random;
    double rare = sim_exponential_rare(&copy, bits);
    *random = copy;
    return rare;
}

/* Standard normal. */
double sim_normal(struct sim_random *random);
/* The next so many of them. */
void sim_normals(struct sim_random *random, double *out, size_t count);
/* The same of what lies beyond an edge above 0, by Marsaglia's method. */
double sim_normal_tail(struct sim_random *random, double edge);

enum sim_size_kind { SIM_SIZE_CONSTANT, SIM_SIZE_UNIFORM, SIM_SIZE_LOGNORMAL, SIM_SIZE_PARETO };

/* A distribution of sizes in whole bytes, at least 1, at most 2^62. */
struct sim_size {
    enum sim_size_kind kind;
    double
        a; /* constant: bytes; uniform: least; lognormal: mean of the size (not of its log); pareto: least */
    double b;        /* uniform: most (inclusive); lognormal: sigma of the log; pareto: alpha > 0 */
    double log_mean; /* filled by sim_size_prepare() */
};

/* Checks and completes; returns 0, or -1 when the figures make no distribution. */
int sim_size_prepare(struct sim_size *size);
uint64_t sim_size_draw(const struct sim_size *size, struct sim_random *random);
#define SIM_SIZE_MAX 0x1p62
/* To the nearest whole byte in [1, 2^62]. */
static inline uint64_t sim_size_whole(double bytes)
{
    if (!(bytes < SIM_SIZE_MAX))
        return (uint64_t)SIM_SIZE_MAX;
    return bytes < 1 ? 1 : (uint64_t)(int64_t)(bytes + 0.5);
}
/* The mean size in bytes, infinite for a Pareto with alpha <= 1; rounding to whole bytes left aside. */
double sim_size_mean(const struct sim_size *size);

/* Zipf weights k^-s of the ranks 1..count, s >= 0 (0: uniform). No table: a weight is computed when it is
 * asked for. With points it is Zipf in pieces: the weights of some ranks are given, and between two of them
 * the weight is a power of the rank, a line in double logarithmic paper. */
#define SIM_ZIPF_POINTS_MAX 64
struct sim_zipf_point {
    uint64_t rank;
    double weight;
    double s; /* up to the next point; sim_zipf_init_points() fills it */
};

struct sim_zipf {
    double s; /* with points: of the whole, from the first to the last */
    uint64_t count;
    double total;
    uint32_t point_count; /* 0: one exponent for all */
    struct sim_zipf_point points[SIM_ZIPF_POINTS_MAX];
};
void sim_zipf_init(struct sim_zipf *zipf, double s, uint64_t count);
/* zipf->points and point_count are set: ranks rise from 1 to count, weights are above 0 and do not rise. A
 * count of 1 has one point. */
void sim_zipf_init_points(struct sim_zipf *zipf, uint64_t count);
/* The share of rank index + 1, index from 0; the shares sum to 1. */
double sim_zipf_share(const struct sim_zipf *zipf, uint64_t index);
/* The share of the first `ranks` ranks together, of a distribution with points. */
double sim_zipf_points_share(const struct sim_zipf *zipf, uint64_t ranks);

#endif
