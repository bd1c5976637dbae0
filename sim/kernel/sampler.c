/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams, each a function of seed, purpose and entity, and what is drawn from them: exponential and
 * normal variates, sizes of rows, Zipf weights, and counts. */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/number.h"
#include "kernel/random.h"
#include "kernel/sampler.h"
#include "ziggurat.h"

__extension__ typedef unsigned __int128 wide;

void sim_random_init(struct sim_random *random, uint64_t seed, enum sim_purpose purpose, uint64_t entity)
{
    uint64_t state = sim_hash(seed, purpose, entity);
    for (int i = 0; i < 4; i++)
        random->s[i] = sim_mix64(state += UINT64_C(0x9e3779b97f4a7c15));
    /* Four consecutive words of splitmix64 are never all 0, the only state that xoshiro must not have. */
}

uint64_t sim_random_below(struct sim_random *random, uint64_t n)
{
    assert(n >= 1);
    wide product = (wide)sim_random_next(random) * n;
    if ((uint64_t)product < n) {
        uint64_t threshold = -n % n;
        while ((uint64_t)product < threshold)
            product = (wide)sim_random_next(random) * n;
    }
    return (uint64_t)(product >> 64);
}

/* Draws exponential and normal variates and sizes, and computes Zipf weights, using only IEEE 754
 * operations. */

static double layer_height(const struct sim_layer *layers, uint64_t layer, double unit)
{
    double low = layers[layer].height, high = layer == 255 ? 1.0 : layers[layer + 1].height;
    return low + unit * (high - low);
}

double sim_exponential_rare(struct sim_random *random, uint64_t bits)
{
    double offset = 0;
    for (;;) {
        uint64_t layer = bits & 255, j = bits >> 11;
        double x = (double)(int64_t)j * sim_exponential_layers[layer].width;
        if (j < sim_exponential_layers[layer].accept)
            return offset + x;
        if (layer == 0) {
            /* The exponential is memoryless: beyond the last edge it has the same distribution again. */
            offset += EXPONENTIAL_TAIL;
        } else {
            double y = layer_height(sim_exponential_layers, layer, sim_random_unit(random));
            if (y < sim_exp(-x))
                return offset + x;
        }
        bits = sim_random_next(random);
    }
}

/* Standard normal, on the condition that it exceeds `edge`, which is above 0; by Marsaglia's method. */
static double sim_normal_tail(struct sim_random *random, double edge)
{
    double x, y;
    do {
        x = sim_exponential(random) / edge;
        y = sim_exponential(random);
    } while (y + y < x * x);
    return edge + x;
}

/* Standard normal, where `bits` is the first draw of the stream. */
static double normal_from(struct sim_random *random, uint64_t bits)
{
    for (;; bits = sim_random_next(random)) {
        uint64_t layer = bits & 255, j = bits >> 11;
        double sign = bits & 256 ? -1.0 : 1.0;
        double x = (double)(int64_t)j * normal_layers[layer].width;
        if (j < normal_layers[layer].accept)
            return sign * x;
        if (layer == 0)
            return sign * sim_normal_tail(random, NORMAL_TAIL);
        double y = layer_height(normal_layers, layer, sim_random_unit(random));
        if (y < sim_exp(-0.5 * x * x))
            return sign * x;
    }
}

double sim_normal(struct sim_random *random)
{
    return normal_from(random, sim_random_next(random));
}

void sim_normals(struct sim_random *random, double *out, size_t count)
{
    struct sim_random state = *random;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = sim_random_next(&state), layer = bits & 255, j = bits >> 11;
        out[i] = (bits & 256 ? -1.0 : 1.0) * ((double)(int64_t)j * normal_layers[layer].width);
        if (j >= normal_layers[layer].accept) {
            *random = state; /* the only place where the state leaves the registers */
            out[i] = normal_from(random, bits);
            state = *random;
        }
    }
    *random = state;
}

int sim_size_prepare(struct sim_size *size)
{
    double a = size->a, b = size->b;
    bool is_sound = a >= 1 && a <= SIM_SIZE_MAX;
    size->log_mean = 0;
    switch (size->kind) {
    case SIM_SIZE_CONSTANT:
        break;
    case SIM_SIZE_UNIFORM:
        is_sound = is_sound && b >= a && b <= SIM_SIZE_MAX;
        break;
    case SIM_SIZE_LOGNORMAL:
        is_sound = is_sound && b >= 0 && b <= 10;
        if (is_sound)
            size->log_mean = sim_log(a) - 0.5 * b * b;
        break;
    case SIM_SIZE_PARETO:
        is_sound = is_sound && b > 0 && b <= 1000;
        break;
    default:
        is_sound = false;
    }
    return is_sound ? 0 : -1;
}

uint64_t sim_size_draw(const struct sim_size *size, struct sim_random *random)
{
    double bytes;
    switch (size->kind) {
    case SIM_SIZE_UNIFORM: {
        uint64_t least = (uint64_t)size->a;
        return least + sim_random_below(random, (uint64_t)size->b - least + 1);
    }
    case SIM_SIZE_LOGNORMAL:
        bytes = sim_exp(size->log_mean + size->b * sim_normal(random));
        break;
    case SIM_SIZE_PARETO:
        bytes = size->a * sim_exp(sim_exponential(random) / size->b);
        break;
    default:
        bytes = size->a;
    }
    return sim_size_whole(bytes);
}

double sim_size_mean(const struct sim_size *size)
{
    switch (size->kind) {
    case SIM_SIZE_UNIFORM:
        return (size->a + size->b) / 2;
    case SIM_SIZE_PARETO:
        return size->b > 1 ? size->a * size->b / (size->b - 1) : (double)INFINITY;
    default:
        return size->a;
    }
}

#define ZIPF_SUMMED 1000

/* The sum of (k / origin)^-s for from < k <= until, by the Euler-Maclaurin formula; its relative error is
 * below 1e-17 for from >= 1000. */
static double zipf_weights(double s, double origin, double from, double until)
{
    double f_from = sim_pow(from / origin, -s), f_until = sim_pow(until / origin, -s);
    double ratio = sim_log(until / from), y = (1 - s) * ratio, integral;
    if (y > -1e-3 && y < 1e-3)
        integral = from * f_from * ratio * (1 + y * (1.0 / 2 + y * (1.0 / 6 + y * (1.0 / 24 + y / 120))));
    else
        integral = from * f_from * (sim_exp(y) - 1) / (1 - s);
    double slope = (-s * f_until / until + s * f_from / from) / 12;
    return integral + (f_until - f_from) / 2 + slope;
}

/* The weight of a rank in the piece that begins at the point. */
static double piece_weight(const struct sim_zipf_point *point, uint64_t rank)
{
    bool is_level = rank == point->rank || point->s == 0;
    return point->weight * (is_level ? 1.0 : sim_pow((double)rank / (double)point->rank, -point->s));
}

/* The total weight of the ranks from the point's rank to until - 1. */
static double piece_weights(const struct sim_zipf_point *point, uint64_t until)
{
    double sum = 0;
    uint64_t summed = until - point->rank < ZIPF_SUMMED ? until : point->rank + ZIPF_SUMMED;
    for (uint64_t rank = summed; rank-- > point->rank;)
        sum += piece_weight(point, rank);
    if (summed < until)
        sum += point->weight *
               zipf_weights(point->s, (double)point->rank, (double)(summed - 1), (double)(until - 1));
    return sum;
}

static double weight_of_ranks(const struct sim_zipf *zipf, uint64_t ranks)
{
    double total = 0;
    for (uint32_t i = 0; i < zipf->point_count && zipf->points[i].rank <= ranks; i++) {
        bool is_last = i + 1 == zipf->point_count || zipf->points[i + 1].rank > ranks;
        total += piece_weights(&zipf->points[i], is_last ? ranks + 1 : zipf->points[i + 1].rank);
    }
    return total;
}

static double exponent(const struct sim_zipf_point *from, const struct sim_zipf_point *to)
{
    return sim_log(from->weight / to->weight) / sim_log((double)to->rank / (double)from->rank);
}

void sim_zipf_init_points(struct sim_zipf *zipf, uint64_t count)
{
    struct sim_zipf_point *points = zipf->points;
    uint32_t last = zipf->point_count - 1;
    assert(zipf->point_count >= 1 && zipf->point_count <= SIM_ZIPF_POINTS_MAX);
    assert(points[0].rank == 1 && points[last].rank == count);
    for (uint32_t i = 0; i < last; i++)
        points[i].s = exponent(&points[i], &points[i + 1]);
    points[last].s = 0;
    zipf->s = last == 0 ? 0 : exponent(&points[0], &points[last]);
    zipf->count = count;
    zipf->total = weight_of_ranks(zipf, count);
}

void sim_zipf_init(struct sim_zipf *zipf, double s, uint64_t count)
{
    assert(s >= 0 && count >= 1);
    zipf->s = zipf->points[0].s = s;
    zipf->count = count;
    zipf->point_count = 1;
    zipf->points[0].rank = 1;
    zipf->points[0].weight = 1;
    zipf->total = weight_of_ranks(zipf, count);
}

double sim_zipf_ranks_share(const struct sim_zipf *zipf, uint64_t ranks)
{
    return weight_of_ranks(zipf, ranks) / zipf->total;
}

double sim_zipf_share(const struct sim_zipf *zipf, uint64_t index)
{
    assert(index < zipf->count);
    uint32_t low = 0, high = zipf->point_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (zipf->points[middle].rank <= index + 1)
            low = middle;
        else
            high = middle;
    }
    return piece_weight(&zipf->points[low], index + 1) / zipf->total;
}

uint64_t sim_zipf_alike(const struct sim_zipf *zipf, uint64_t index)
{
    const uint64_t left = zipf->count - index, alike = index < 256 ? 1 : index / 128;
    const bool is_even = sim_zipf_share(zipf, index) == sim_zipf_share(zipf, zipf->count - 1);
    return is_even || alike > left ? left : alike;
}

/* Draws from the Poisson, binomial, gamma and related distributions, using only IEEE 754 operations. */

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

/* The widest table of sim_poissons(), and how far from the mean numbers are in it: beyond, their probability
 * is below 2^-53 in all. */
#define POISSON_CELLS 512u
static double poisson_width(double mean)
{
    return 19 * sqrt(mean) + 30;
}

/* A number that is drawn, or another one, with the probability 1 - cut / 2^64. */
struct poisson_cell {
    uint64_t cut, number, other;
};

/* Makes the cells, which are equally probable (Walker's alias method, in Vose's form). Returns their number.
 */
static size_t poisson_cells(double mean, struct poisson_cell *cells)
{
    double chances[POISSON_CELLS], sum = 0;
    uint16_t small[POISSON_CELLS], large[POISSON_CELLS];
    const double half = poisson_width(mean) / 2;
    const uint64_t mode = (uint64_t)mean, least = mean > half ? (uint64_t)(mean - half) : 0;
    const size_t count = (size_t)(mode - least) + (size_t)half;
    size_t small_count = 0, large_count = 0;
    chances[mode - least] = 1;
    for (size_t i = (size_t)(mode - least); i > 0; i--)
        chances[i - 1] = chances[i] * ((double)(least + i) / mean);
    for (size_t i = (size_t)(mode - least) + 1; i < count; i++)
        chances[i] = chances[i - 1] * (mean / (double)(least + i));
    for (size_t i = 0; i < count; i++)
        sum += chances[i];
    for (size_t i = 0; i < count; i++) {
        cells[i] = (struct poisson_cell){UINT64_MAX, least + i, least + i};
        chances[i] *= (double)count / sum;
        if (chances[i] < 1)
            small[small_count++] = (uint16_t)i;
        else
            large[large_count++] = (uint16_t)i;
    }
    while (small_count > 0 && large_count > 0) {
        const uint16_t one = small[--small_count], other = large[large_count - 1];
        cells[one].cut = (uint64_t)(chances[one] * 0x1p64);
        cells[one].other = least + other;
        chances[other] -= 1 - chances[one];
        if (chances[other] < 1) {
            small[small_count++] = other;
            large_count--;
        }
    }
    return count;
}

void sim_poissons(struct sim_random *random, double mean, uint64_t *out, size_t count)
{
    struct poisson_cell cells[POISSON_CELLS];
    const double width = poisson_width(mean);
    if (mean < COUNTED_MEAN || width > (double)count || width >= POISSON_CELLS) {
        for (size_t i = 0; i < count; i++)
            out[i] = sim_poisson(random, mean);
        return;
    }
    const size_t cell_count = poisson_cells(mean, cells);
    struct sim_random state = *random;
    for (size_t i = 0; i < count; i++) {
        const wide product = (wide)sim_random_next(&state) * cell_count;
        const struct poisson_cell *cell = &cells[(size_t)(product >> 64)];
        out[i] = (uint64_t)product < cell->cut ? cell->number : cell->other;
    }
    *random = state;
}

/* -log(1 - p), accurate also for small p. */
static double minus_log_1_minus(double p)
{
    if (p >= 1e-3)
        return -sim_log(1 - p);
    return p * (1 + p * (1.0 / 2 + p * (1.0 / 3 + p * (1.0 / 4 + p * (1.0 / 5 + p / 6)))));
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
    for (;;) {
        double u = sim_random_unit(random) - 0.5, v = 1 - sim_random_unit(random), edge = 0.5 - fabs(u);
        double at = (2 * a / edge + b) * u + all * p + 0.5;
        if (!(at >= 0 && at < all + 1))
            continue;
        double k = (double)(int64_t)at;
        if ((edge >= 0.07 && v <= sure) || sim_log(v * scale / (a / (edge * edge) + b)) <=
                                               log_binomial(k, all, p) - log_binomial(middle, all, p))
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

/* Draws sizes by an inverse distribution function that is tabulated in cells, using only IEEE 754
 * operations. */

/* A draw is a side and a number v in [0, 2^53); the probability is v / 2^54, counted from 0 upward or from 1
 * downward. */
#define OCTAVES     10u
#define CELL_BITS   6u
#define CELLS       (OCTAVES << CELL_BITS)
#define NODES       3u /* nodes per cell; a cell also uses the first node of the next cell */
#define TAIL_BITS   43 /* v below 2^43 is in the tail */
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

/* The size of a draw; 0: it is in the tail. */
static inline uint64_t size_of(const struct sim_sizes *sizes, uint64_t bits)
{
    uint64_t as_double;
    double v = (double)(int64_t)(bits >> 11);
    memcpy(&as_double, &v, sizeof v);
    int64_t number = (int64_t)(as_double >> CELL_SHIFT) - (int64_t)CELL_FIRST;
    if (__builtin_expect(number < 0, 0))
        return 0;
    const struct cell *cell = &sizes->cells[2 * (uint64_t)number + (bits & 1)];
    double x = v - cell->middle, y = cell->c0 + x * (cell->c1 + x * (cell->c2 + x * cell->c3));
    int64_t whole = (int64_t)y;
    return (uint64_t)(whole < 1 ? 1 : whole);
}

static void draw_laid_out(const struct sim_sizes *sizes, const struct sim_size *size,
                          struct sim_random *random, uint64_t *out, size_t count)
{
    struct sim_random stream = *random;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = sim_random_next(&stream);
        out[i] = size_of(sizes, bits);
        if (__builtin_expect(out[i] == 0, 0)) {
            /* A copy, so that the stream itself stays in registers; see sim_exponential(). */
            struct sim_random copy = stream;
            out[i] = draw_tail(sizes, size, &copy, bits);
            stream = copy;
        }
    }
    *random = stream;
}

/* The side of the largest sizes. */
static uint64_t large_side(const struct sim_size *size)
{
    return size->kind == SIM_SIZE_LOGNORMAL;
}

/* In units of 2^-11: of the large side, its outer part; of the other one, the tail. */
static uint64_t outer_units(int level)
{
    return level == 0 ? 32 : 1;
}

void sim_sizes_outer(const struct sim_sizes *sizes, const struct sim_size *size, int level,
                     struct sim_random *random, uint64_t *out, size_t count)
{
    const uint64_t side = large_side(size), units = outer_units(level);
    for (size_t i = 0; i < count; i++) {
        const uint64_t unit = sim_random_below(random, units + 1);
        const uint64_t v = (sim_random_next(random) >> (64 - TAIL_BITS)) + (unit % units << TAIL_BITS);
        const uint64_t bits = v << 11 | (unit < units ? side : 1 - side);
        out[i] = size_of(sizes, bits);
        out[i] = out[i] > 0 ? out[i] : draw_tail(sizes, size, random, bits);
    }
}

void sim_sizes_body(const struct sim_sizes *sizes, const struct sim_size *size, int level, uint64_t *out,
                    size_t count)
{
    const double low = sizes == NULL ? 0 : 0x1p-11, high = low * (double)outer_units(level);
    for (size_t i = 0; i < count; i++) {
        const double p = low + (1 - low - high) * (((double)i + 0.5) / (double)count);
        const uint64_t side = p < 0.5 ? 1 - large_side(size) : large_side(size);
        if (sizes != NULL)
            out[i] = size_of(sizes, (uint64_t)((p < 0.5 ? p : 1 - p) * 0x1p54) << 11 | side);
        else
            out[i] = (uint64_t)(size->a + p * ((double)(uint64_t)size->b - size->a + 1));
    }
}

void sim_sum_init(struct sim_sum *sum, const uint64_t *values, size_t count)
{
    double powers[6] = {0};
    *sum = (struct sim_sum){.least = 256};
    for (size_t i = 0; i < count; i++)
        sum->mean += (double)values[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double power = 1 / (double)count;
        for (int j = 0; j < 6; j++, power *= (double)values[i] - sum->mean)
            powers[j] += power;
    }
    if (powers[2] <= 0)
        return;
    const double variance = powers[2], third = powers[3] / (variance * sqrt(variance)),
                 fourth = powers[4] / (variance * variance) - 3,
                 fifth = powers[5] / (variance * variance * sqrt(variance)) - 10 * third;
    *sum = (struct sim_sum){sum->mean, sqrt(variance), {third, fourth, fifth}, sum->least};
    const double least = 100 * (third * third > fabs(fourth) ? third * third : fabs(fourth));
    sum->least = least > (double)sum->least ? (uint64_t)least : sum->least;
}

uint64_t sim_sum_of(const struct sim_sum *sum, uint64_t n, double normal)
{
    const double all = (double)n, root = sqrt(all), z = normal, z2 = z * z, k3 = sum->cumulants[0] / root,
                 k4 = sum->cumulants[1] / all, k5 = sum->cumulants[2] / (all * root);
    const double w = z + k3 * (z2 - 1) / 6 + k4 * z * (z2 - 3) / 24 - k3 * k3 * z * (2 * z2 - 5) / 36 +
                     k5 * (z2 * (z2 - 6) + 3) / 120 - k3 * k4 * (z2 * (z2 - 5) + 2) / 24 +
                     k3 * k3 * k3 * (z2 * (12 * z2 - 53) + 17) / 324;
    const double value = all * sum->mean + root * sum->deviation * w + 0.5;
    return value < SIM_SIZE_MAX ? (uint64_t)(value > 0 ? value : 0) : (uint64_t)SIM_SIZE_MAX;
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
