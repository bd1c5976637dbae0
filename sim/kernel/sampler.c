/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws exponential and normal variates and sizes, and computes Zipf weights, using only IEEE 754
 * operations. */
#include "kernel/sampler.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "kernel/number.h"
#include "ziggurat.h"

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

double sim_normal_tail(struct sim_random *random, double edge)
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

void sim_zipf_init(struct sim_zipf *zipf, double s, uint64_t count)
{
    assert(s >= 0 && count >= 1);
    zipf->s = s;
    zipf->count = count;
    zipf->point_count = 0;
    uint64_t summed = count < ZIPF_SUMMED ? count : ZIPF_SUMMED;
    double total = 0;
    for (uint64_t rank = summed; rank >= 1; rank--)
        total += sim_pow((double)rank, -s);
    if (count > summed)
        total += zipf_weights(s, 1, (double)summed, (double)count);
    zipf->total = total;
}

/* The weight of a rank in the piece that begins at the point. */
static double piece_weight(const struct sim_zipf_point *point, uint64_t rank)
{
    return point->weight *
           (rank == point->rank ? 1.0 : sim_pow((double)rank / (double)point->rank, -point->s));
}

/* The total weight of the ranks from the point's rank to until - 1. */
static double piece_weights(const struct sim_zipf_point *point, uint64_t until)
{
    double sum = 0;
    uint64_t rank = point->rank;
    for (; rank < until && rank - point->rank < ZIPF_SUMMED; rank++)
        sum += piece_weight(point, rank);
    if (rank < until)
        sum += point->weight *
               zipf_weights(point->s, (double)point->rank, (double)(rank - 1), (double)(until - 1));
    return sum;
}

static double points_weight(const struct sim_zipf *zipf, uint64_t ranks)
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
    zipf->total = points_weight(zipf, count);
}

double sim_zipf_points_share(const struct sim_zipf *zipf, uint64_t ranks)
{
    return points_weight(zipf, ranks) / zipf->total;
}

static double points_share(const struct sim_zipf *zipf, uint64_t rank)
{
    uint32_t low = 0, high = zipf->point_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (zipf->points[middle].rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return piece_weight(&zipf->points[low], rank) / zipf->total;
}

double sim_zipf_share(const struct sim_zipf *zipf, uint64_t index)
{
    assert(index < zipf->count);
    if (zipf->point_count > 0)
        return points_share(zipf, index + 1);
    return (zipf->s == 0 ? 1.0 : sim_pow((double)(index + 1), -zipf->s)) / zipf->total;
}
