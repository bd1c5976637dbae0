/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws sizes by an inverse distribution function that is tabulated in cells, using only IEEE 754
 * operations. */
#include "kernel/sizes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/number.h"

/* A draw is a side and a number v in [0, 2^53); the probability is v / 2^54, counted from 0 upward or from 1
 * downward. */
#define OCTAVES     10u
#define CELL_BITS   6u
#define CELLS       (OCTAVES << CELL_BITS)
#define NODES       3u /* nodes per cell; a cell also uses the first node of the next cell */
#define TAIL_BITS   43 /* v below 2^43 is in the tail */
#define TAIL_EDGE   0x1p-11
#define CELL_SHIFT  (52 - CELL_BITS)
#define CELL_FIRST  ((1023u + TAIL_BITS) << CELL_BITS)
#define SIGMA_MOST  4.0
#define ALPHA_LEAST 0.25
#define LARGEST     0x1p61
#define LN2         0x1.62e42fefa39efp-1
#define ROOT_TAU    0x1.40d931ff62706p+1 /* sqrt(2 pi) */

/* A cubic polynomial in v - middle; its constant includes half a byte for rounding. */
struct cell {
    double middle, c0, c1, c2, c3;
};

struct sim_sizes {
    double normal_edge;           /* lognormal: the normal quantile beyond which the probability is 2^-11 */
    struct cell cells[2 * CELLS]; /* the cells of the two sides alternate */
};

/* The value of v at a node; the nodes of a side are numbered from its first cell. */
static double node_v(unsigned node)
{
    unsigned cell = node / NODES, octave = cell >> CELL_BITS, within = cell & ((1u << CELL_BITS) - 1);
    double width = (double)(UINT64_C(1) << (TAIL_BITS - CELL_BITS + octave));
    return ((double)((1u << CELL_BITS) + within) + (double)(node % NODES) / NODES) * width;
}

/* Computes the normal quantiles of all nodes, which are at most 0, from the median downward by the Taylor
 * series of the quantile, z' = sqrt(2 pi) exp(z^2 / 2). The error of a step is below 1e-14. */
static void walk_normal(double *z)
{
    double at = 0;
    for (unsigned node = CELLS * NODES;; node--) {
        z[node] = at;
        if (node == 0)
            return;
        double g = ROOT_TAU * sim_exp(0.5 * at * at), square = at * at;
        double h = (node_v(node - 1) - node_v(node)) * 0x1p-54 * g;
        at += h * (1 + h * (at / 2 +
                            h * ((1 + 2 * square) / 6 + h * (at * (7 + 6 * square) / 24 +
                                                             h * (7 + square * (46 + 24 * square)) / 120))));
    }
}

/* -log(1 - w) for w below TAIL_EDGE. */
static double minus_log_1_minus(double w)
{
    return w * (1 + w * (1.0 / 2 + w * (1.0 / 3 + w * (1.0 / 4 + w / 5))));
}

static void lay_out(double *values, const struct sim_size *size, unsigned side, const double *z)
{
    for (unsigned node = 0; node <= CELLS * NODES; node++) {
        double p = node_v(node) * 0x1p-54;
        if (size->kind == SIM_SIZE_LOGNORMAL)
            values[node] = sim_exp(size->log_mean + size->b * (side == 0 ? z[node] : -z[node]));
        else
            values[node] = size->a * sim_exp(-sim_log(side == 0 ? p : 1 - p) / size->b);
    }
}

/* Fits the cubic polynomial through four equidistant nodes. */
static void fit(struct cell *cell, const double *y, double low, double high)
{
    double half = (high - low) / 2;
    cell->middle = low + half;
    cell->c0 = (9 * (y[1] + y[2]) - (y[0] + y[3])) / 16 + 0.5;
    cell->c1 = (27 * (y[2] - y[1]) - (y[3] - y[0])) / (16 * half);
    cell->c2 = 9 * ((y[0] + y[3]) - (y[1] + y[2])) / (16 * half * half);
    cell->c3 = 9 * ((y[3] - y[0]) - 3 * (y[2] - y[1])) / (16 * half * half * half);
}

static bool is_laid_out(const struct sim_size *size)
{
    double largest; /* the size at the last node */
    if (size->kind == SIM_SIZE_LOGNORMAL)
        largest = size->b > SIGMA_MOST ? LARGEST : sim_exp(size->log_mean + size->b * 3.3);
    else if (size->kind == SIM_SIZE_PARETO)
        largest = size->b < ALPHA_LEAST ? LARGEST : size->a * sim_exp(11 * LN2 / size->b);
    else
        return false;
    return largest < LARGEST;
}

bool sim_sizes_create(const struct sim_size *size, struct sim_sizes **out)
{
    *out = NULL;
    if (!is_laid_out(size))
        return true;
    enum { ALL_NODES = CELLS * NODES + 1 };
    struct sim_sizes *sizes = malloc(sizeof *sizes);
    double *z = malloc(2 * ALL_NODES * sizeof *z);
    if (sizes == NULL || z == NULL) {
        free(sizes);
        free(z);
        return false;
    }
    if (size->kind == SIM_SIZE_LOGNORMAL) {
        walk_normal(z);
        sizes->normal_edge = -z[0];
    }
    double *values = z + ALL_NODES;
    for (unsigned side = 0; side < 2; side++) {
        lay_out(values, size, side, z);
        for (unsigned i = 0; i < CELLS; i++)
            fit(&sizes->cells[2 * i + side], &values[i * NODES], node_v(i * NODES), node_v((i + 1) * NODES));
    }
    free(z);
    *out = sizes;
    return true;
}

void sim_sizes_destroy(struct sim_sizes *sizes)
{
    free(sizes);
}

static uint64_t draw_tail(const struct sim_sizes *sizes, const struct sim_size *size,
                          struct sim_random *random, uint64_t bits)
{
    unsigned side = bits & 1;
    if (size->kind == SIM_SIZE_LOGNORMAL) {
        double beyond = sim_normal_tail(random, sizes->normal_edge);
        return sim_size_whole(sim_exp(size->log_mean + size->b * (side == 0 ? -beyond : beyond)));
    }
    /* The exponential is memoryless: beyond 11 ln 2 it has the same distribution again. */
    double exponential = side == 0 ? 11 * LN2 + sim_exponential(random)
                                   : minus_log_1_minus((double)(int64_t)(bits >> 11) * 0x1p-54);
    return sim_size_whole(size->a * sim_exp(exponential / size->b));
}

static void draw_laid_out(const struct sim_sizes *sizes, const struct sim_size *size,
                          struct sim_random *random, uint64_t *out, size_t count)
{
    struct sim_random stream = *random;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = sim_random_next(&stream), as_double;
        double v = (double)(int64_t)(bits >> 11);
        memcpy(&as_double, &v, sizeof v);
        int64_t number = (int64_t)(as_double >> CELL_SHIFT) - (int64_t)CELL_FIRST;
        if (__builtin_expect(number < 0, 0)) {
            /* A copy, so that the stream itself stays in registers; see sim_exponential(). */
            struct sim_random copy = stream;
            out[i] = draw_tail(sizes, size, &copy, bits);
            stream = copy;
            continue;
        }
        const struct cell *cell = &sizes->cells[2 * (uint64_t)number + (bits & 1)];
        double x = v - cell->middle, y = cell->c0 + x * (cell->c1 + x * (cell->c2 + x * cell->c3));
        int64_t whole = (int64_t)y;
        out[i] = (uint64_t)(whole < 1 ? 1 : whole);
    }
    *random = stream;
}

void sim_sizes_draw(const struct sim_sizes *sizes, const struct sim_size *size, struct sim_random *random,
                    uint64_t *out, size_t count)
{
    if (sizes != NULL) {
        draw_laid_out(sizes, size, random, out, count);
        return;
    }
    if (size->kind == SIM_SIZE_CONSTANT) {
        uint64_t bytes = sim_size_draw(size, random);
        for (size_t i = 0; i < count; i++)
            out[i] = bytes;
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = sim_size_draw(size, random);
}
