/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws exponential, normal and lognormal values and row sizes, with IEEE operations alone. */
#include "kernel/sampler.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "kernel/number.h"
#include "ziggurat.h"

#define SIZE_MAX_BYTES 0x1p62

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
            /* Beyond the last edge the distribution begins anew. */
            offset += EXPONENTIAL_TAIL;
        } else {
            double y = layer_height(sim_exponential_layers, layer, sim_random_unit(random));
            if (y < sim_exp(-x))
                return offset + x;
        }
        bits = sim_random_next(random);
    }
}

/* Marsaglia's method for the tail of the normal distribution. */
static double normal_tail(struct sim_random *random)
{
    double x, y;
    do {
        x = sim_exponential(random) / NORMAL_TAIL;
        y = sim_exponential(random);
    } while (y + y < x * x);
    return NORMAL_TAIL + x;
}

double sim_normal(struct sim_random *random)
{
    for (;;) {
        uint64_t bits = sim_random_next(random);
        uint64_t layer = bits & 255, j = bits >> 11;
        double sign = bits & 256 ? -1.0 : 1.0;
        double x = (double)(int64_t)j * normal_layers[layer].width;
        if (j < normal_layers[layer].accept)
            return sign * x;
        if (layer == 0)
            return sign * normal_tail(random);
        double y = layer_height(normal_layers, layer, sim_random_unit(random));
        if (y < sim_exp(-0.5 * x * x))
            return sign * x;
    }
}

int sim_size_prepare(struct sim_size *size)
{
    double a = size->a, b = size->b;
    bool is_sound = a >= 1 && a <= SIZE_MAX_BYTES;
    size->log_mean = 0;
    switch (size->kind) {
    case SIM_SIZE_CONSTANT:
        break;
    case SIM_SIZE_UNIFORM:
        is_sound = is_sound && b >= a && b <= SIZE_MAX_BYTES;
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
    if (!(bytes < SIZE_MAX_BYTES))
        return (uint64_t)SIZE_MAX_BYTES;
    return bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
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

/* The sum of k^-s for from < k <= until, by Euler and Maclaurin; its error is below 1e-17 of the whole for
 * from >= 1000. */
static double zipf_weights(double s, double from, double until)
{
    double f_from = sim_pow(from, -s), f_until = sim_pow(until, -s);
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
    uint64_t summed = count < ZIPF_SUMMED ? count : ZIPF_SUMMED;
    double total = 0;
    for (uint64_t rank = summed; rank >= 1; rank--)
        total += sim_pow((double)rank, -s);
    if (count > summed)
        total += zipf_weights(s, (double)summed, (double)count);
    zipf->total = total;
}

double sim_zipf_share(const struct sim_zipf *zipf, uint64_t index)
{
    assert(index < zipf->count);
    return (zipf->s == 0 ? 1.0 : sim_pow((double)(index + 1), -zipf->s)) / zipf->total;
}
