/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expected number of partitions above a limit, and when the first one exceeds it. In: a scenario and a
 * setting. Out: numbers for the judge, and a median. The limits are converted to rows, or, where sizes are
 * drawn, the tail of a sum of bytes is inverted on a lattice, or taken at its saddle point (Lugannani and
 * Rice 1980, in the form of Barndorff-Nielsen). Tails are summed up over the partitions that the stream
 * makes: windows are walked key by key, from the integral of the key's rate; partitions without end and those
 * that count rows are crowds of keys with the same rate, of which the first passage is followed in time. */
#include "tune/expected.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fft_complex.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_bessel.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/metric.h"
#include "lab/tally.h"
#include "tune/odds.h"
#include "tune/sample.h"
#include "workload/trace.h"
#include "workload/workload.h"

#define ATOMS_MAX     512
#define RUNGS         96      /* Poisson means for which the tail of a sum of bytes is computed */
#define RUNG_FIRST    38      /* standard deviations below the limit, of the first of them */
#define NEGLIGIBLE    1e-15   /* a tail that is not computed more closely */
#define STRETCHES_MAX 4000000 /* rates of single keys that are examined */
#define KEYS_TRIED    16      /* before it is concluded that the sum would take too long */
#define BURSTS_DRAWN  1000000 /* the same, for the first partition over a limit */
#define WINDOWS_ASKED 64      /* how many partitions they make */
#define SHAPES_MAX    64      /* sets of spikes that strike a key together */
#define KINDS_MAX     512     /* of windows with different numbers of rows */
#define GENERATIONS   30      /* partitions of a key that are followed one by one */
#define WINDOWS_SHOWN 10000   /* after the run, at most */
#define NODES         64      /* of the time that a key is in bursts */
#define LOOKS         16      /* at what is on disk, in the time that a row is */
#define DAYS_OF_WEEK  7
/* Of a lattice: its points below a limit, and all; parts of an atom; the most increments. */
enum { CELLS = 256, PERIOD = 4 * CELLS, PARTS = 8, THRESHOLD_MAX = 64 };

/* A distribution of the bytes of a row on disk, as atoms in ascending order. */
struct sizes {
    size_t count;
    double bytes[ATOMS_MAX], weight[ATOMS_MAX], above[ATOMS_MAX]; /* above: the chance of a larger size */
    double steps[ATOMS_MAX], chance[ATOMS_MAX]; /* of kinds that count increments: those of such a row, and
                                                   the chance of one more */
    double mean, increments, squares;           /* of increments: the mean, and the mean of their squares */
};

/* The rows of a partition: a number of which each is there with a chance, Poisson of a mean, or up to the
 * increment that reaches a threshold. */
struct number {
    enum { THINNED, POISSON, THRESHOLD } kind;
    double n, chance;
};

/* What is known of a setting's partitions. */
struct model {
    const struct lab_scenario *scenario;
    const struct lab_settings *settings;
    double factor; /* of the rate */
    double rows;   /* that a partition may have, by the limits in rows and of one size */
    double room,
        sized_rows;     /* of drawn sizes: bytes that its rows may have, and about how many rows these are */
    struct sizes sizes; /* of drawn sizes */
    double relative, squares; /* their variance by the square of the mean; the second moment below `room` */
    double jumps;             /* the chance for each row to exceed `room` before it has the rows for it */
    double parts;             /* of a key, at a time */
    double kept_least, kept_most; /* bounds of the share of a window's rows that is on disk at a time */
    int bound;                    /* of the number: below or above 0, a lower or an upper one */
    double rungs[RUNGS];          /* standard normal quantiles of tails; NaN: not computed yet */
    bool is_counted;              /* a partition ends by counting rows: */
    double mean, variance;        /* of the rows of a full one */
    double mean_within;           /* of those that are within the limits */
    double tail;                  /* the chance that a full one exceeds a limit */
    double work;                  /* stretches and windows examined so far */
    struct {
        double share, chance; /* of a window that is in bursts, and the chance of it */
    } nodes[NODES + 2];
    size_t node_count; /* 0: the bursts of the key are known */
    double uneven;     /* with nodes: what the daily curve adds at most to the share in bursts */
    bool lacks_memory;
};

static bool noted(struct model *model, bool has_memory)
{
    model->lacks_memory |= !has_memory;
    return has_memory;
}

/* --- sizes */

/* The size that a share 1 - rest of the sizes does not exceed. */
static double quantile(const struct sim_size *size, double rest)
{
    switch (size->kind) {
    case SIM_SIZE_CONSTANT:
        return size->a;
    case SIM_SIZE_UNIFORM:
        return size->a + (1 - rest) * (size->b - size->a);
    case SIM_SIZE_LOGNORMAL:
        return exp(size->log_mean + size->b * gsl_cdf_ugaussian_Qinv(rest));
    case SIM_SIZE_PARETO:
        return size->a * pow(rest, -1 / size->b);
    }
    return (double)NAN;
}

/* Atoms of equal weight up to the 99 % quantile, then 12 for each factor of ten down to 1e-25; scaled to the
 * mean that the sizes have. */
static void make_sizes(struct model *model, uint32_t stamp)
{
    enum { BULK = 200, TAIL = 12, DECADES = 23 };
    const struct sim_size *size = &model->scenario->workload.row_bytes;
    const struct bk_strategy *strategy = &model->settings->strategy;
    struct sizes *out = &model->sizes;
    double before = 1, sum = 0;
    out->count = BULK + TAIL * DECADES;
    for (size_t i = 0; i < out->count; i++) {
        const double rest =
            i < BULK ? 1 - 0.99 * (double)(i + 1) / BULK : 0.01 * pow(10, -(double)(i + 1 - BULK) / TAIL);
        out->bytes[i] = fmin(quantile(size, i < BULK ? (before + rest) / 2 : sqrt(before * rest)), 0x1p40);
        out->weight[i] = before - rest;
        out->above[i] = before = rest;
        sum += out->weight[i] * out->bytes[i];
    }
    const double scale = fmax(0.9, fmin(1.1, sim_size_mean(size) / sum));
    double squares = 0;
    for (size_t i = 0; i < out->count; i++) {
        const double payload = fmax(1, scale * out->bytes[i]), whole = floor(payload + 0.5);
        if (strategy->kind == BK_KIND_PROBABILISTIC)
            out->chance[i] = tune_distribution_of(strategy, 1).p;
        if (strategy->kind == BK_KIND_WEIGHTED)
            out->chance[i] = modf(payload / (double)strategy->of.weighted.bytes, &out->steps[i]);
        if (strategy->kind == BK_KIND_WEIGHTED && out->steps[i] >= (double)strategy->of.weighted.threshold) {
            out->steps[i] = (double)strategy->of.weighted.threshold; /* more do not matter */
            out->chance[i] = 0;
        }
        out->bytes[i] =
            (double)lab_row_bytes(&model->scenario->row_cost, (uint64_t)whole, stamp) + payload - whole;
        out->mean += out->weight[i] * out->bytes[i];
        out->increments += out->weight[i] * (out->steps[i] + out->chance[i]);
        out->squares +=
            out->weight[i] * (out->steps[i] * out->steps[i] + out->chance[i] * (2 * out->steps[i] + 1));
        squares += out->weight[i] * out->bytes[i] * out->bytes[i];
        model->squares = out->bytes[i] <= model->room ? squares : model->squares;
    }
    model->relative = squares / (out->mean * out->mean) - 1;
}

/* Sums over the sizes, tilted by v^I for I increments: the weights, the increments, the bytes, and the
 * squares of bytes less `slope` times the increments. */
struct tilted {
    double all, increments, bytes, squares;
};

static struct tilted tilt(const struct sizes *sizes, const double *weights, double v, double slope)
{
    struct tilted out = {0, 0, 0, 0};
    for (size_t i = 0; i < sizes->count; i++) {
        const double steps = sizes->steps[i], bytes = sizes->bytes[i],
                     weight = weights[i] * (steps > 0 ? pow(v, steps) : 1),
                     more = weight * v * sizes->chance[i], none = weight * (1 - sizes->chance[i]),
                     off[] = {bytes - slope * steps, bytes - slope * (steps + 1)};
        out.all += none + more;
        out.increments += none * steps + more * (steps + 1);
        out.bytes += (none + more) * bytes;
        out.squares += none * off[0] * off[0] + more * off[1] * off[1];
    }
    return out;
}

/* The cumulant generating function at t of the bytes of this number of rows, its first two derivatives, and
 * the logarithm of a factor that is nearly constant. Up to the increment that reaches a threshold T, e^(tS)
 * v^I has a mean of 1 for the v of Wald's identity, found by Newton's iteration of its logarithm; the factor
 * is that of the increments above T, which are those of a renewal process. False where it does not exist. */
static bool cumulants(const struct sizes *sizes, const struct number *number, double t, double out[4])
{
    double weights[ATOMS_MAX], v = 1;
    const double n = number->n;
    for (size_t i = 0; i < sizes->count; i++)
        weights[i] = sizes->weight[i] * exp(t * sizes->bytes[i]);
    struct tilted sums = tilt(sizes, weights, 1, 0);
    const double untilted = sums.all;
    out[3] = 0;
    if (number->kind == POISSON) {
        out[0] = n * (sums.all - 1);
        out[1] = n * sums.bytes;
        out[2] = n * sums.squares;
    } else if (number->kind == THINNED) {
        const double all = 1 + number->chance * (sums.all - 1), mean = number->chance * sums.bytes / all;
        out[0] = n * log(all);
        out[1] = n * mean;
        out[2] = n * (number->chance * sums.squares / all - mean * mean);
    } else {
        for (int i = 0; i < 60 && v > 0 && fabs(sums.all - 1) > 4 * DBL_EPSILON; i++) {
            v *= exp(-log(sums.all) * sums.all / sums.increments);
            sums = tilt(sizes, weights, v, 0);
        }
        if (!(fabs(sums.all - 1) < 1e-9))
            return false;
        const double slope = sums.bytes / sums.increments;
        sums = tilt(sizes, weights, v, slope);
        out[0] = -n * log(v);
        out[1] = n * slope;
        out[2] = n * sums.squares / sums.increments;
        if (fabs(1 - v) > 1e-6)
            out[3] = log((untilted - 1) / (1 / v - 1) / sums.increments);
    }
    return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]) && isfinite(out[3]);
}

/* The chance that these rows have more than `room` bytes; with the cumulants at t, and t. */
static double saddle_point(const struct sizes *sizes, const struct number *number, double room, double at[5])
{
    if (!cumulants(sizes, number, 0, at) || !(at[2] > 0))
        return at[1] > room;
    const double distance = (room - at[1]) / sqrt(at[2]), most = 1e4 / sqrt(at[2]);
    double t = 0, low = distance > 0 ? 0 : -64e-4 * most, high = distance > 0 ? most : 0;
    bool exists = true;
    /* Newton's iteration of the mean's logarithm, which is nearly a straight line; else bisection. */
    for (int i = 0; i < 100 && !(exists && fabs(at[1] - room) <= 1e-12 * room) && high - low > 1e-12 * high;
         i++) {
        const double next = t + log(room / at[1]) * at[1] / at[2];
        t = exists && next > low && next < high ? next : (low + high) / 2;
        exists = cumulants(sizes, number, t, at);
        *(exists && at[1] < room ? &low : &high) = t;
    }
    if (!exists && !cumulants(sizes, number, t = low, at))
        return 1;
    at[4] = t;
    const double r = copysign(sqrt(2 * fmax(0, t * room - at[0])), t), u = t * sqrt(at[2]);
    return gsl_cdf_ugaussian_Q(fabs(r) > 1e-3 && u / r > 0 ? r + (log(u / r) - at[3]) / r : distance);
}

/* The chance that a row has more bytes than that; between the middles of atoms, by their logarithms. */
static double row_above(const struct sizes *sizes, double bytes)
{
    const double *above = sizes->above;
    size_t i = 0;
    while (i + 2 < sizes->count && sizes->bytes[i + 1] <= bytes)
        i++;
    const double part = log(bytes / sizes->bytes[i]) / log(sizes->bytes[i + 1] / sizes->bytes[i]),
                 middle = sqrt((above[i] + sizes->weight[i]) * above[i]);
    return fmin(1, middle * pow(sqrt(above[i] * above[i + 1]) / middle, part));
}

/* Rows by their increments and their bytes, of which `room` is between two points. */
struct lattice {
    double chance[THRESHOLD_MAX + 2][CELLS + 2];
    double rows[THRESHOLD_MAX + 1][2 * PERIOD]; /* their transform, as GSL packs complex numbers */
};

/* Atoms are spread from the size before to the size after, and these over three points, which keeps their
 * mean and variance. Rows that exceed `room` alone are all at the first point above it. */
static void fill_lattice(struct lattice *out, const struct model *model, size_t threshold)
{
    const struct sizes *sizes = &model->sizes;
    const double unit = model->room / (CELLS + 0.5), *bytes = sizes->bytes;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < (sizes->count - 1) * PARTS; i++) {
        const size_t atom = i / PARTS;
        const double before = sizes->above[atom] + sizes->weight[atom], rest = sizes->above[atom] / before,
                     part = (double)(i % PARTS) / PARTS, step = 1.0 / PARTS,
                     weight = before * (pow(rest, part) - pow(rest, part + step)),
                     low = sqrt(bytes[atom > 0 ? atom - 1 : 0] * bytes[atom]),
                     size = low * pow(sqrt(bytes[atom] * bytes[atom + 1]) / low, part + step / 2),
                     at = size > model->room ? CELLS + 1 : size / unit,
                     middle = fmax(1, fmin(CELLS, floor(at + 0.5))), off = at - middle,
                     shares[] = {off * (off - 1) / 2, 1 - off * off, off * (off + 1) / 2},
                     all = (sizes->steps[atom] + sizes->chance[atom]) *
                           (model->settings->strategy.kind == BK_KIND_WEIGHTED ? size / bytes[atom] : 1);
        double steps, more = modf(fmin(all, (double)threshold), &steps);
        for (size_t k = 0; k < 6; k++)
            out->chance[(size_t)steps + k / 3][(size_t)middle + k % 3 - 1] +=
                weight * shares[k % 3] * (k < 3 ? 1 - more : more);
    }
}

/* The transforms of one row by its increments, tilted by q^-i at the i-th point. */
static void transform_rows(struct lattice *lattice, size_t threshold, double q)
{
    for (size_t k = 0; k <= threshold; k++) {
        double *rows = lattice->rows[k];
        memset(rows, 0, sizeof lattice->rows[k]);
        for (size_t cell = 0; cell < CELLS + 2; cell++)
            rows[2 * cell] = lattice->chance[k][cell] * pow(q, -(double)cell);
        gsl_fft_complex_radix2_forward(rows, 1, PERIOD);
    }
}

/* The transform of the bytes of this number of rows, at a root of unity. */
static double complex transform(const struct lattice *lattice, const struct number *number, size_t threshold,
                                size_t root)
{
    double complex rows[THRESHOLD_MAX + 1], sums[THRESHOLD_MAX + 1] = {1};
    for (size_t k = 0; k <= threshold; k++)
        rows[k] = lattice->rows[k][2 * root] + lattice->rows[k][2 * root + 1] * (double complex)I;
    if (number->kind == POISSON)
        return cexp(number->n * (rows[0] - 1));
    if (threshold < 2)
        return cexp(number->n *
                    clog(threshold == 1 ? rows[1] / (1 - rows[0]) : 1 + number->chance * (rows[0] - 1)));
    for (size_t i = 1; i <= threshold; i++) /* by the increments that are left */
        for (size_t k = 1; k <= threshold; k++)
            sums[i] += rows[k] / (1 - rows[0]) * sums[k < i ? i - k : 0];
    return sums[threshold];
}

/* The chance that this number of rows has more than `room` bytes: the transform is inverted on a lattice,
 * tilted towards the saddle point until a double holds the chance (Gruebel and Hermesmeier 1999). The saddle
 * point's formula is as good for narrow sums without large rows, and, of large thresholds, for the smaller
 * rows: a larger one may end any part of a full partition. */
static double bytes_above(struct model *model, struct number number)
{
    static const double tilts[] = {0, 0.25, 0.875}; /* of t at the saddle point; 0.25: large rows end it */
    struct sizes sizes = model->sizes;
    const bool is_threshold = number.kind == THRESHOLD,
               has_steps = is_threshold && sizes.steps[sizes.count - 1] > 0,
               is_long = has_steps && number.n > THRESHOLD_MAX;
    const size_t threshold = has_steps ? (size_t)fmin(number.n, THRESHOLD_MAX) : is_threshold;
    const double unit = model->room / (CELLS + 0.5),
                 rows = number.n * number.chance / (is_threshold ? sizes.increments : 1);
    double at[5] = {0}, large = is_long ? 0 : rows * row_above(&sizes, model->room / 2);
    for (size_t i = 0; i < sizes.count; i++) {
        const bool is_apart = is_long && sizes.bytes[i] > model->room / 16;
        const double part = 1 + (sizes.bytes[i] - model->room) / (rows * sizes.mean);
        large += is_apart ? rows * sizes.weight[i] * fmax(0, fmin(1, part)) : 0;
        sizes.bytes[i] = is_apart ? 0 : fmin(sizes.bytes[i], model->room + unit / 2);
    }
    double out = saddle_point(&sizes, &number, model->room, at), t = at[4];
    struct lattice *lattice = NULL;
    if (is_long || !(has_steps || sqrt(at[2]) > 4 * unit || large > 0.01 * out) ||
        !noted(model, (lattice = malloc(sizeof *lattice)) != NULL))
        return is_long ? fmin(1, large + out) : out;
    const double from = t >= 0 ? CELLS + 1 : 0, until = t >= 0 ? PERIOD : CELLS + 1;
    fill_lattice(lattice, model, threshold);
    for (size_t k = t < 0 ? 2 : 0; k < 3 && tilts[k] * t * model->room < 300; k++) {
        const double q = exp(-tilts[k] * t * unit);
        double sum = 0, least = 0;
        transform_rows(lattice, threshold, q);
        for (size_t i = 0; i <= PERIOD / 2; i++) {
            const double complex value = transform(lattice, &number, threshold, i),
                                 z = q * cexp(2 * M_PI * (double)i / PERIOD * (double complex)I),
                                 ends = cpow(z, from) - cpow(z, until);
            sum += (i % (PERIOD / 2) == 0 ? 1 : 2) *
                   creal(value * (cabs(1 - z) < 1e-9 ? until - from : ends / (1 - z))) / PERIOD;
            least = i == 0 ? 1e-11 * creal(value) * pow(q, CELLS + 1) : least;
        }
        out = t < 0 ? 1 - sum : sum > least ? sum : fmin(out, least);
        if (sum > least)
            break;
    }
    free(lattice);
    return fmax(0, fmin(1, out));
}

/* The mean of a Poisson number of rows whose bytes are z standard deviations below the limit. */
static double rung_mean(const struct model *model, double z)
{
    const double half = z * sqrt(model->squares) / (2 * model->sizes.mean),
                 root = sqrt(half * half + model->room / model->sizes.mean) - half;
    return root * root;
}

/* The chance that a window with this mean, or a part of it, has more rows than that. Rows that come in equal
 * steps are as many in each window, up to one on either side: by where the window begins between two steps,
 * and whether these rows are late enough to come after it begins or ends. Each is in one part of its key. */
static double steps_above(const struct model *model, double mean, double rows)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const double exact = mean * model->parts, all = fabs(exact - round(exact)) < 1e-6 ? round(exact) : exact,
                 step_ns = (double)workload->every_ns / model->factor,
                 late = fmin(1, (double)workload->jitter_ns / step_ns), wrap = floor(all) + 1 - all;
    double edges[] = {0, late, wrap, wrap + late - floor(wrap + late), 1}, of_count[4] = {0, 0, 0, 0},
           sum = 0;
    for (size_t i = 1; i < 4; i++) /* insertion sort */
        for (size_t j = i; j > 0 && edges[j - 1] > edges[j]; j--) {
            const double edge = edges[j];
            edges[j] = edges[j - 1];
            edges[j - 1] = edge;
        }
    for (size_t i = 0; i < 8; i++) { /* Gauss's two points are exact for the parabola between edges */
        const double length = edges[i / 2 + 1] - edges[i / 2],
                     at = edges[i / 2] + length * (0.5 + (i % 2 == 0 ? -1 : 1) * 0.5 / sqrt(3)),
                     in = late > 0 ? fmax(0, 1 - at / late) : 0, end = at + all - floor(at + all),
                     out = late > 0 ? fmax(0, 1 - end / late) : 0;
        const size_t due = at + all >= floor(all) + 1 ? 2 : 1;
        of_count[due - 1] += length / 2 * (1 - in) * out;
        of_count[due] += length / 2 * (in * out + (1 - in) * (1 - out));
        of_count[due + 1] += length / 2 * in * (1 - out);
    }
    for (int i = 0; i < 4; i++) {
        const double count = floor(all) - 1 + i;
        if (count > rows)
            sum += of_count[i] * (model->parts > 1 ? lab_binomial_upper((uint64_t)count, (uint64_t)rows + 1,
                                                                        1 / model->parts)
                                                   : 1);
    }
    return sum;
}

/* The chance that a window with this mean, or a bucket, exceeds a limit: its rows are Poisson, unless they
 * come in equal steps. */
static double window_tail(struct model *model, double mean)
{
    const double tail = model->scenario->workload.every_ns > 0 ? steps_above(model, mean, model->rows)
                                                               : tune_poisson_above(mean, model->rows),
                 spread = sqrt(mean * model->squares);
    if (model->sized_rows == (double)INFINITY || !(mean > 0))
        return tail;
    const double at = 2 * (RUNG_FIRST - (model->room - mean * model->sizes.mean) / spread);
    if (at >= RUNGS - 1)
        return 1;
    if (at < 0) /* not by the sum of the rows, but a single one may with the others */
        return fmax(tail, -expm1(-mean * row_above(&model->sizes, model->room - mean * model->sizes.mean)));
    const size_t rung = (size_t)at;
    double means[2];
    for (size_t i = 0; i < 2; i++) {
        double *z = &model->rungs[rung + i];
        means[i] = rung_mean(model, RUNG_FIRST - (double)(rung + i) / 2);
        const struct number number = model->scenario->workload.every_ns > 0
                                         ? (struct number){THINNED, means[i] * model->parts, 1 / model->parts}
                                         : (struct number){POISSON, means[i], 1};
        if (isnan(*z))
            *z = gsl_cdf_ugaussian_Qinv(fmax(DBL_MIN, fmin(1 - DBL_EPSILON, bytes_above(model, number))));
    }
    const double part = (mean - means[0]) / (means[1] - means[0]),
                 z = model->rungs[rung] + part * (model->rungs[rung + 1] - model->rungs[rung]);
    return fmax(tail, gsl_cdf_ugaussian_Q(z));
}

/* The share of a window of this many days in which a key is in bursts: the occupation time of a Markov
 * process of two states (Pedler 1971), at the midpoints of cells and at its ends. */
static void make_nodes(struct model *model, double days)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const double ends = days * (double)SIM_DAY / (double)workload->burst_on_ns,
                 begins = days * (double)SIM_DAY / (double)workload->burst_off_ns,
                 on = wl_burst_share(workload), reach = NODES / 2 * sqrt(2 * on * (1 - on) / (ends + begins)),
                 low = fmax(0, on - reach), width = (fmin(1, on + reach) - low) / NODES;
    double sum = 0;
    for (size_t i = 0; i < NODES + 2; i++) {
        const double x = i < NODES ? low + width * ((double)i + 0.5) : (double)(i - NODES);
        const double in = sqrt(ends * x), out = sqrt(begins * (1 - x)), both = sqrt(ends * begins);
        double density = i == NODES ? 1 - on : on;
        if (i < NODES)
            density = width * ((on * ends + (1 - on) * begins) * gsl_sf_bessel_I0_scaled(2 * in * out) +
                               both * (on * sqrt(x / (1 - x)) + (1 - on) * sqrt((1 - x) / x)) *
                                   gsl_sf_bessel_I1_scaled(2 * in * out));
        model->nodes[i].share = x;
        sum += model->nodes[i].chance = density * exp(-(in - out) * (in - out));
    }
    for (size_t i = 0; i < NODES + 2; i++)
        model->nodes[i].chance /= sum;
    model->node_count = NODES + 2;
}

/* The same, with the bursts of all seeds where those of the key are not known. */
static double mean_tail(struct model *model, double mean)
{
    const double more = model->scenario->workload.burst_factor - 1;
    double sum = 0;
    if (model->node_count == 0)
        return window_tail(model, mean);
    for (size_t i = 0; i < model->node_count; i++) {
        const double share = model->nodes[i].share,
                     in = share + copysign(model->uneven * sin(M_PI * share), more);
        sum += model->nodes[i].chance *
               window_tail(model, mean * (1 + more * in) / wl_burst_mean(&model->scenario->workload));
    }
    return fmin(1, sum);
}

/* How many partitions a key with this mean in each of them is expected to make. */
static double begun(struct model *model, double mean)
{
    const double rows = model->rows, sized_rows = model->sized_rows;
    model->rows = 0;
    model->sized_rows = (double)INFINITY;
    const double tail = mean_tail(model, mean);
    model->rows = rows;
    model->sized_rows = sized_rows;
    return model->parts * tail;
}

/* --- what is known of a setting */

/* Whether the sizes of rows are those of a trace. */
static bool has_own_sizes(const struct lab_scenario *scenario)
{
    return scenario->trace_path != NULL && !scenario->has_row_bytes;
}

/* Converts the limits. False: nothing is known of bytes that have a limit. */
static bool set_limits(struct model *model, int64_t end_ns)
{
    const struct lab_scenario *scenario = model->scenario;
    const struct lab_limits *limits = &scenario->limits;
    const struct wl_workload *workload = &scenario->workload;
    const double limit = (double)limits->partition_bytes, mean = sim_size_mean(&workload->row_bytes);
    char name[WL_KEY_NAME_SIZE];
    struct lab_row_stamps stamps;
    model->rows = limits->partition_rows != 0 ? (double)limits->partition_rows : (double)INFINITY;
    model->sized_rows = (double)INFINITY;
    if (has_own_sizes(scenario))
        return limits->partition_bytes == 0;
    lab_row_stamps_init(&stamps, &scenario->row_cost, workload->start_ns);
    const uint32_t stamp = lab_row_stamp(&stamps, end_ns);
    const uint64_t each = lab_row_bytes(&scenario->row_cost, sim_size_whole(mean), stamp);
    const double header =
        (double)lab_partition_bytes(&scenario->row_cost, wl_key_name(0, name), 1, each > 0 ? each : 1);
    model->room = fmax(0, limit - header);
    if (workload->row_bytes.kind != SIM_SIZE_CONSTANT)
        make_sizes(model, stamp);
    if (limits->partition_bytes == 0)
        return true;
    if (workload->row_bytes.kind == SIM_SIZE_CONSTANT)
        model->rows = fmin(model->rows, floor(model->room / fmax(1, (double)each)));
    else
        model->sized_rows = model->room / model->sizes.mean;
    return true;
}

/* Whether a table divides the strategy's partitions, or overwrites rows. */
static bool is_odd_table(const struct lab_scenario *scenario)
{
    return !lab_design_is_plain(&scenario->design) || lab_design_clusters_by(&scenario->design, LAB_FEED_KEY);
}

bool tune_is_plain(const struct lab_scenario *scenario, const struct lab_settings *settings)
{
    return !is_odd_table(scenario) && settings->change_count == 0 && !settings->is_idgen &&
           settings->observed == WL_OBSERVED_AUTO;
}

bool tune_has_rate(const struct lab_scenario *scenario)
{
    return scenario->trace_path == NULL && scenario->workload.backfill_before_ns == 0;
}

/* Sets the rows of partitions whose rows may make several increments: a renewal process. */
static void set_renewal(struct model *model, const struct number *number, double limit)
{
    const struct sizes *sizes = &model->sizes;
    struct sizes rows = *sizes;
    const double each = sizes->increments, more = (sizes->squares / each - 1) / 2;
    double at[5];
    for (size_t i = 0; i < rows.count; i++)
        rows.bytes[i] = 1;
    model->mean = model->mean_within = (number->n + more) / each;
    model->variance = number->n * (sizes->squares - each * each) / (each * each * each);
    model->tail = limit < 1e18 ? saddle_point(&rows, number, limit + 0.5, at) : 0;
}

/* Sets the distribution of a full partition. False if it is not known. */
static bool set_full(struct model *model)
{
    const struct bk_strategy *strategy = &model->settings->strategy;
    const struct lab_scenario *scenario = model->scenario;
    const enum bk_source source = model->settings->source;
    const bool is_constant =
        !has_own_sizes(scenario) && scenario->workload.row_bytes.kind == SIM_SIZE_CONSTANT;
    const double limit = fmin(model->rows, 1e18);
    struct number number = {THINNED, 0, 1};
    if (strategy->kind == BK_KIND_COUNT) {
        number.n = model->mean = model->mean_within = (double)strategy->of.count.rows;
        model->tail = model->mean > model->rows;
        if (source != BK_SOURCE_EXTERNAL && source != BK_SOURCE_COUNTER && source != BK_SOURCE_LWT &&
            source != BK_SOURCE_LEASE)
            return false;
    } else if (strategy->kind == BK_KIND_PROBABILISTIC || strategy->kind == BK_KIND_WEIGHTED) {
        struct tune_distribution odds =
            tune_distribution_of(strategy, (uint64_t)fmax(1, scenario->workload.row_bytes.a));
        if (strategy->kind == BK_KIND_WEIGHTED && has_own_sizes(scenario))
            return false;
        number = (struct number){THRESHOLD, (double)odds.threshold, 1};
        if (strategy->kind == BK_KIND_WEIGHTED && !is_constant) {
            odds = (struct tune_distribution){.p = fmin(1, model->sizes.increments),
                                              .threshold = odds.threshold};
            if (quantile(&scenario->workload.row_bytes, 1e-6) > (double)strategy->of.weighted.bytes) {
                set_renewal(model, &number, limit);
                odds.threshold = 0;
            }
        }
        if (odds.threshold > 0) { /* rows make one increment at most, or all the same number */
            const double deviation = tune_stddev_rows(&odds);
            struct tune_distribution next = odds;
            next.threshold++;
            model->mean = model->mean_within = tune_mean_rows(&odds);
            model->variance = deviation * deviation;
            model->tail = tune_above(&odds, (uint64_t)limit);
            if (odds.whole == 0 && model->tail < 1) /* n P(N = n) is that of one more increment, at n + 1 */
                model->mean_within *= (1 - tune_above(&next, (uint64_t)limit + 1)) / (1 - model->tail);
        }
    } else {
        return false;
    }
    if (model->sized_rows < (double)INFINITY) {
        const double rows = fmin(model->mean, fmin(model->rows, model->sized_rows)) / 2;
        model->tail = fmax(model->tail, bytes_above(model, number));
        model->jumps =
            fmin(bytes_above(model, (struct number){POISSON, rows, 1}) / rows, model->tail / model->mean);
    }
    /* A tail that a double cannot hold is not 0. */
    if (strategy->kind != BK_KIND_COUNT || model->sized_rows < (double)INFINITY)
        model->tail = fmax(model->tail, DBL_MIN);
    model->is_counted = true;
    return true;
}

/* Whether distributions say anything of this setting. */
static bool is_known(const struct lab_scenario *scenario, const struct lab_settings *settings)
{
    const enum bk_kind kind = settings->strategy.kind;
    const bool counts = kind == BK_KIND_COUNT || kind == BK_KIND_PROBABILISTIC || kind == BK_KIND_WEIGHTED;
    const struct wl_workload *workload = &scenario->workload;
    if (!tune_is_plain(scenario, settings) || scenario->deletes.share > 0 ||
        (counts && lab_shards(&settings->strategy) > 1))
        return false;
    /* Keys that grow are integrated window by window, and bursts are taken for the same on every day. */
    if (wl_has_days(workload) && (workload->has_bursts || (workload->growth > 1 && kind != BK_KIND_TIME)))
        return false;
    return counts || (scenario->engine != LAB_ENGINE_CLUSTER && tune_has_rate(scenario) &&
                      !wl_has_own_times(&scenario->workload));
}

/* False: nothing is known of its partitions. */
static bool model_of(const struct lab_scenario *scenario, const struct lab_settings *settings, double factor,
                     struct model *out)
{
    const struct wl_workload *workload = &scenario->workload;
    const int64_t year_ns = (int64_t)LAB_JUDGED_DAYS * SIM_DAY;
    const int64_t lasts_ns = lab_kind_ends(settings->strategy.kind) && workload->duration_ns < year_ns
                                 ? year_ns
                                 : workload->duration_ns;
    const struct bk_strategy *strategy = &settings->strategy;
    *out = (struct model){.scenario = scenario, .settings = settings, .factor = factor};
    out->parts = strategy->kind == BK_KIND_HASH   ? fmax(1, (double)strategy->of.hash.buckets)
                 : strategy->kind == BK_KIND_TIME ? (double)lab_shards(strategy)
                                                  : 1;
    for (size_t i = 0; i < RUNGS; i++)
        out->rungs[i] = (double)NAN;
    if (!is_known(scenario, settings) || !set_limits(out, workload->start_ns + lasts_ns))
        return false;
    const enum bk_kind kind = settings->strategy.kind;
    return set_full(out) || kind == BK_KIND_TIME || !lab_kind_ends(kind);
}

/* For how many days a partition gets more rows before the first ones leave the disk; infinity: as long as
 * it gets rows. */
static double grows_for(const struct lab_scenario *scenario)
{
    return scenario->row_ttl_ns > 0
               ? ((double)scenario->row_ttl_ns + (double)scenario->gc_grace_ns) / (double)SIM_DAY
               : (double)INFINITY;
}

/* --- windows: sums over keys */

/* The integrals of a key's rate over the windows of a stream, of which the end cuts the last one. */
struct masses {
    uint64_t shape; /* the spikes that strike the key, as bits */
    double *means, share;
    size_t count, capacity;
    size_t run_count; /* of windows that end in the run, */
    double cut;       /* and the part of the next one that is in it */
};

/* The end of the window that holds a time; of other kinds there is one. */
static int64_t window_end(const struct model *model, int64_t time_ns)
{
    const struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route;
    if (model->settings->strategy.kind != BK_KIND_TIME ||
        bk_route(&model->settings->strategy, NULL, &row, &route) != BK_OK)
        return INT64_MAX;
    return route.until_ns;
}

static int64_t run_end(const struct lab_scenario *scenario)
{
    return scenario->workload.start_ns + scenario->workload.duration_ns;
}

/* False: out of memory, or there are too many windows. */
static bool integrate(struct model *model, const struct wl_workload *workload, uint64_t key_index,
                      struct masses *out)
{
    double sum = 0;
    int64_t at_ns = workload->start_ns, until_ns = window_end(model, at_ns);
    struct wl_workload poisson = *workload; /* rows in equal steps have the same rate */
    struct wl_key key;
    struct wl_stretch stretch;
    const int64_t run_end_ns = run_end(model->scenario);
    poisson.every_ns = 0;
    wl_key_init(&key, &poisson, key_index);
    out->count = 0;
    out->share = sim_zipf_share(&workload->popularity, key_index);
    while (wl_key_stretch(&key, &stretch)) {
        while (at_ns < stretch.end_ns) {
            const int64_t next_ns = stretch.end_ns < until_ns ? stretch.end_ns : until_ns,
                          end_ns = at_ns < run_end_ns && run_end_ns < next_ns ? run_end_ns : next_ns;
            model->work++;
            sum += (double)(end_ns - at_ns) * stretch.rate_per_ns * model->factor;
            at_ns = end_ns;
            if (at_ns <= run_end_ns) {
                out->run_count = out->count + (at_ns == until_ns);
                out->cut = at_ns == until_ns ? 0 : sum;
            }
            if (at_ns < until_ns)
                continue;
            if ((out->count == out->capacity && model->work > STRETCHES_MAX) ||
                !noted(model, sim_grow(&out->means, &out->capacity, out->count + 2, sizeof *out->means)))
                return false;
            out->means[out->count++] = sum;
            sum = 0;
            until_ns = window_end(model, at_ns);
        }
    }
    if (!noted(model, sim_grow(&out->means, &out->capacity, out->count + 1, sizeof *out->means)))
        return false;
    out->means[out->count++] = sum;
    return true;
}

static uint64_t shape_of(const struct wl_workload *workload, uint64_t key)
{
    uint64_t shape = 0;
    for (size_t i = 0; i < workload->spike_count && i < 64; i++)
        shape |= (uint64_t)wl_spike_strikes(workload, i, key) << i;
    return shape;
}

/* The most that a key's rate may be, as a multiple of its mean. */
static double peak_of(const struct wl_workload *workload)
{
    double factor = (workload->has_daily ? 1 + workload->daily_amplitude : 1) *
                    wl_days_most(workload, workload->start_ns + workload->duration_ns);
    if (workload->has_bursts) /* a factor below 1 makes the other state the faster one */
        factor *= fmax(1, workload->burst_factor) / wl_burst_mean(workload);
    for (size_t i = 0; i < workload->spike_count; i++)
        factor *= fmax(1, workload->spikes[i].factor);
    return factor;
}

/* The length of a window in days, of months the longest. */
static double window_days(const struct model *model)
{
    const int64_t end_ns = window_end(model, model->scenario->workload.start_ns);
    return model->settings->strategy.of.time.calendar == BK_CALENDAR_MONTH
               ? 31
               : (double)(window_end(model, end_ns) - end_ns) / (double)SIM_DAY;
}

/* The stream without spikes and bursts: for as long as it is judged, or for a number of windows, of which two
 * come after the run. */
static struct wl_workload steady_of(const struct model *model, double days)
{
    struct wl_workload steady = model->scenario->workload;
    const double window = window_days(model), run = (double)steady.duration_ns / (double)SIM_DAY,
                 shown = fmin(WINDOWS_SHOWN, STRETCHES_MAX / 4.0 / (double)steady.key_count);
    const double lasts = fmax(run + 2 * window, fmin(days, shown * window)) * (double)SIM_DAY;
    steady.spike_count = 0;
    steady.has_bursts = false;
    if (lasts < 3e18 && steady.start_ns < INT64_MAX - (int64_t)lasts)
        steady.duration_ns = (int64_t)lasts;
    return steady;
}

/* The chance that a window exceeds a limit. Where its first rows leave the disk before it ends, that of the
 * share that is there at a time is a bound, and the other one looks at overlapping times. */
static double disk_tail(struct model *model, double mean)
{
    const double tail = mean_tail(model, model->bound < 0 ? mean * model->kept_least : mean);
    return model->bound > 0 && model->kept_most < 1
               ? fmin(tail, LOOKS / model->kept_least * mean_tail(model, mean * model->kept_most))
               : tail;
}

/* How a chance enters a sum: as an expected number, or as -log of the chance that it does not happen. */
static double weigh(double chance, bool is_number)
{
    return is_number ? fmin(1, chance) : -log1p(-fmin(chance, 1 - DBL_EPSILON));
}

/* The sum over all keys of one window, of which a key that has all rows would have this many. */
static double sum_keys(struct model *model, double rows, bool is_number)
{
    const struct sim_zipf *popularity = &model->scenario->workload.popularity;
    double sum = 0;
    for (uint64_t key = 0, step; key < popularity->count; key += step) {
        step = sim_zipf_alike(popularity, key);
        const double tail =
            disk_tail(model, rows * sim_zipf_share(popularity, key + step / 2) / model->parts);
        if (tail * model->parts * (double)(popularity->count - key) < NEGLIGIBLE)
            break;
        sum += model->parts * (double)step * weigh(tail, is_number);
    }
    return sum;
}

/* The number of partitions that a window makes, of which a key that has all rows would have this many: from
 * one key on. */
static double begun_by(struct model *model, double rows, uint64_t from)
{
    const struct sim_zipf *popularity = &model->scenario->workload.popularity;
    double sum = 0;
    for (uint64_t key = from, step; key < popularity->count; key += step) {
        step = sim_zipf_alike(popularity, key);
        sum += (double)step * begun(model, rows * sim_zipf_share(popularity, key + step / 2) / model->parts);
    }
    return sum;
}

/* The same of all windows of the run, from some of them. */
static double begun_in_run(struct model *model, const struct masses *masses, uint64_t from)
{
    const size_t step = masses->run_count / WINDOWS_ASKED | 1;
    double sum = 0, asked = 0;
    for (size_t i = step / 2; i < masses->run_count; i += step, asked++)
        sum += begun_by(model, masses->means[i] / masses->share, from);
    return sum * (double)masses->run_count / fmax(1, asked) +
           begun_by(model, masses->cut / masses->share, from);
}

/* The windows of a stream: how many are expected to exceed a limit, or -log of the chance that none does. */
struct windows {
    double *over;            /* by window, */
    double *rows;            /* and the rows of a key that has all, apart from bursts and spikes */
    size_t count, run_count; /* the latter end in the run, whose end cuts the next one */
    double run;              /* in the run, with what that one has until then */
    double begun;            /* how many partitions the run is expected to have */
    double each, days;       /* a window after these, on average, and its length */
    double uneven;           /* and how many more at most, if bursts strike at the peak of the day */
};

/* Sums up the windows of the run, where bursts or spikes make keys differ. False: the sum was not completed:
 * `enough` are expected, it would take too long, or out of memory. */
static bool sum_run(struct model *model, bool is_number, double enough, struct windows *out)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const bool is_alike = !workload->has_bursts && workload->spike_count <= SHAPES_MAX;
    const double peak =
        workload->rate_per_s * 86400 * window_days(model) * peak_of(workload) * model->factor / model->parts;
    struct masses known[SHAPES_MAX] = {{0}};
    struct wl_workload longer = *workload; /* until the last window of the run ends */
    size_t known_count = 0;
    bool is_fine = true;
    model->work = 0;
    const int64_t end_ns = window_end(model, run_end(model->scenario));
    if (end_ns < INT64_MAX)
        longer.duration_ns = end_ns - workload->start_ns;
    for (uint64_t key = 0; is_fine && key < workload->key_count; key++) {
        const double share = sim_zipf_share(&workload->popularity, key),
                     left = model->parts * (double)(workload->key_count - key);
        const uint64_t shape = is_alike ? shape_of(workload, key) : 0;
        size_t at = 0;
        if (left * (double)(out->run_count + 1) * disk_tail(model, peak * share) < NEGLIGIBLE) {
            out->begun += known_count > 0 ? begun_in_run(model, &known[known_count - 1], key) : 1;
            break;
        }
        while (is_alike && at < known_count && known[at].shape != shape)
            at++;
        if (!is_alike || at == known_count) {
            known_count = at + 1;
            known[at].shape = shape;
            is_fine = known_count < SHAPES_MAX && integrate(model, &longer, key, &known[at]);
        }
        /* Each key that bursts takes as long as those before it. */
        is_fine = is_fine && model->work <= STRETCHES_MAX &&
                  (is_alike || key < KEYS_TRIED ||
                   model->work / (double)(key + 1) * (double)workload->key_count <= STRETCHES_MAX);
        const double scale = is_fine ? share / known[at].share / model->parts : 0;
        double mean = -1, tail = 0;
        for (size_t i = 0; is_fine && i <= out->run_count; i++, model->work++) {
            if (known[at].means[i] != mean)
                tail = model->parts * weigh(disk_tail(model, scale * known[at].means[i]), is_number);
            mean = known[at].means[i];
            out->over[i] += tail;
            out->run += i < out->run_count ? tail : 0;
            out->begun += begun(model, scale * (i < out->run_count ? mean : known[at].cut));
        }
        if (is_fine)
            out->run += model->parts * weigh(disk_tail(model, scale * known[at].cut), is_number);
        is_fine = is_fine && out->run <= enough;
    }
    for (size_t i = 0; i < SHAPES_MAX; i++)
        free(known[i].means);
    return is_fine;
}

/* Sums up those that are judged for this many days. False as above. */
static bool sum_windows(struct model *model, double days, bool is_number, double enough, struct windows *out)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const struct wl_workload steady = steady_of(model, days);
    const double length = window_days(model),
                 level = workload->rate_per_s * 86400 * length * model->factor, /* rows of a mean window */
        uneven = workload->has_bursts && workload->has_daily
                     ? workload->daily_amplitude * fmin(length, ceil(length) / length / M_PI)
                     : 0;
    bool is_own = workload->has_bursts || workload->spike_count > 0;
    struct masses masses = {0};
    double kinds[KINDS_MAX][3], later = 0, more = 0; /* of windows: the rows of each kind, and its numbers */
    size_t kind_count = 0, later_count = 0;
    int64_t from_ns = workload->start_ns, at_ns = from_ns;
    *out = (struct windows){0};
    model->node_count = 0;
    bool is_fine = integrate(model, &steady, 0, &masses);
    out->rows = masses.means;
    out->over = is_fine ? calloc(masses.count, sizeof *out->over) : NULL;
    is_fine = is_fine && noted(model, out->over != NULL);
    out->run_count = is_fine ? masses.run_count : 0;
    out->count = !is_fine ? 0 : masses.count - 1;
    if (is_fine && is_own && !sum_run(model, is_number, enough, out)) {
        is_fine = workload->spike_count == 0 && !model->lacks_memory && out->run <= enough;
        is_own = false; /* the bursts of all seeds instead of those of each key */
        out->run = is_fine ? 0 : out->run;
        memset(out->over, 0, masses.count * sizeof *out->over);
    }
    if (workload->has_bursts)
        make_nodes(model, length);
    if (is_fine && !is_own)
        out->begun = begun_in_run(model, &masses, 0);
    for (size_t i = 0; is_fine && i + 1 < masses.count; i++) {
        const double rows = out->rows[i] /= masses.share;
        size_t at = 0;
        while (at < kind_count && fabs(kinds[at][0] - rows) > 1e-9 * rows)
            at++;
        double numbers[] = {rows, at < kind_count ? kinds[at][1] : sum_keys(model, rows, is_number),
                            at < kind_count ? kinds[at][2] : 0};
        model->uneven = rows > 0 ? uneven * level / rows : 0;
        if (at == kind_count && model->uneven > 0)
            numbers[2] = fmax(0, sum_keys(model, rows, is_number) - numbers[1]);
        model->uneven = 0;
        if (at == kind_count && kind_count < KINDS_MAX)
            memcpy(kinds[kind_count++], numbers, sizeof numbers);
        from_ns = i > 0 && i >= out->run_count ? from_ns : window_end(model, at_ns);
        at_ns = window_end(model, at_ns);
        if (i > 0 && i >= out->run_count) {
            later += numbers[1];
            more += numbers[2];
            later_count++;
        }
        if (!(is_own && i <= out->run_count))
            out->over[i] = numbers[1];
        if (i < out->run_count)
            out->run += is_own ? 0 : numbers[1];
    }
    if (is_fine && later_count > 0) {
        out->each = later / (double)later_count;
        out->uneven = more / (double)later_count;
        out->days = (double)(at_ns - from_ns) / (double)SIM_DAY / (double)later_count;
    }
    if (is_fine && !is_own)
        out->run += sum_keys(model, masses.cut / masses.share, is_number);
    return is_fine;
}

static void windows_clear(struct windows *windows)
{
    free(windows->over);
    free(windows->rows);
}

/* Of those that end within this many days. */
static double windows_within(const struct model *model, const struct windows *windows, double days)
{
    int64_t at_ns = model->scenario->workload.start_ns, until_ns;
    const int64_t end_ns = at_ns + (int64_t)(days * (double)SIM_DAY);
    double sum = 0;
    for (size_t i = 0; i < windows->count && (until_ns = window_end(model, at_ns)) <= end_ns; i++) {
        sum += windows->over[i];
        at_ns = until_ns;
    }
    return sum + windows->each * (double)(end_ns - at_ns) / (double)SIM_DAY / windows->days;
}

/* --- crowds of keys: partitions without end, and those that count rows */

/* Keys that are expected to have equally many rows: `seen` in the run, and `pace` more for each time its
 * length that the stream continues, apart from the daily curve. */
struct crowd {
    double seen, pace, count;
    double known; /* 1: its bursts in the run are known */
};

struct passage {
    struct model *model;
    struct crowd *crowds; /* most rows first */
    size_t count, capacity;
    double bursts; /* relative variance of a key's rows in one time the run */
};

/* Adds keys, which merge with those that are alike; shares never ascend. */
static bool add_crowd(struct passage *out, const struct crowd *crowd)
{
    for (size_t i = out->count; crowd->known == 0 && i-- > 0 && out->crowds[i].pace == crowd->pace;) {
        if (out->crowds[i].seen == crowd->seen && out->crowds[i].known == 0) {
            out->crowds[i].count += crowd->count;
            return true;
        }
    }
    if (out->count >= STRETCHES_MAX ||
        !noted(out->model, sim_grow(&out->crowds, &out->capacity, out->count + 1, sizeof *out->crowds)))
        return false;
    out->crowds[out->count++] = *crowd;
    return true;
}

/* Collects the keys. Keys of nearly the same popularity count as alike, if the same spikes strike them.
 * Bursts of the busiest keys are drawn as far as the run goes, where partitions have no end; otherwise they
 * have their mean and a variance. Spikes do not recur. False: it would take too long, or out of memory. */
static bool gather(struct passage *out)
{
    struct model *model = out->model;
    const struct wl_workload *workload = &model->scenario->workload;
    const double pace = workload->rate_per_s * 1e-9 * (double)workload->duration_ns * model->factor;
    const bool is_drawn = workload->has_bursts && !model->is_counted;
    struct wl_workload steady = *workload;
    struct masses known[SHAPES_MAX] = {{0}}, own = {0}; /* with the mean of bursts; with those of the key */
    size_t known_count = 0;
    bool is_fine = workload->spike_count <= SHAPES_MAX;
    steady.has_bursts = false;
    double share = 0;
    for (uint64_t key = 0, step, alike_end = 0; is_fine && key < workload->key_count; key += step) {
        const uint64_t shape = shape_of(workload, key);
        const bool has_own = is_drawn && model->work <= BURSTS_DRAWN;
        size_t at = 0;
        if (key >= alike_end) {
            const uint64_t alike = has_own ? 1 : sim_zipf_alike(&workload->popularity, key);
            share = sim_zipf_share(&workload->popularity, key + alike / 2) / model->parts;
            alike_end = key + alike;
        }
        step = workload->spike_count > 0 ? 1 : alike_end - key;
        while (at < known_count && known[at].shape != shape)
            at++;
        if (at == known_count) {
            is_fine = at < SHAPES_MAX && integrate(model, &steady, key, &known[at]);
            if (!is_fine)
                break;
            known[at].shape = shape;
            known_count++;
        }
        struct crowd crowd = {known[at].means[0] * share / known[at].share, pace * share,
                              model->parts * (double)step, has_own};
        if (crowd.known != 0) {
            is_fine = integrate(model, workload, key, &own);
            crowd.seen = is_fine ? own.means[0] / model->parts : 0;
        }
        is_fine = is_fine && add_crowd(out, &crowd);
    }
    for (size_t i = 0; i < known_count; i++)
        free(known[i].means);
    free(own.means);
    return is_fine;
}

/* Whether the rows of a key are its mean, up to one: in equal steps, or those of a trace. */
static bool has_steps(const struct model *model)
{
    return model->scenario->workload.every_ns > 0 || !tune_has_rate(model->scenario);
}

/* P(N > rows) of a key or its parts with this mean: Poisson unless there is more variance, or such steps. */
static double above(const struct model *model, double rows, double mean, double more)
{
    return has_steps(model) ? fmax(0, fmin(1, mean - floor(rows)))
           : more > 0       ? gsl_cdf_ugaussian_Q((floor(rows) + 0.5 - mean) / sqrt(mean + more))
                            : tune_poisson_above(mean, rows);
}

static double endless_tail(struct model *model, double mean, double drawn)
{
    return drawn > 0 ? fmax(above(model, model->rows, mean, drawn),
                            above(model, model->sized_rows, mean, mean * model->relative + drawn))
                     : window_tail(model, mean);
}

/* The chance that no part of a key is over a limit: all have the bursts of the key. */
static double key_kept(const struct passage *passage, double mean, double deviation)
{
    double kept = 0, all = 0;
    for (int i = -40; i <= 40; i++) {
        const double weight = exp(-i * i / 200.0),
                     tail = endless_tail(passage->model, mean + i / 10.0 * deviation, 0);
        kept += weight * exp(passage->model->parts * log1p(-fmin(tail, 1)));
        all += weight;
    }
    return kept / all;
}

/* The rows that come between two times in days since the start, as days of the mean rate, without bursts,
 * spikes and growth. */
static double rows_between(const struct wl_workload *workload, double from, double to)
{
    const double start = (double)workload->start_ns / (double)SIM_DAY, turn = 2 * M_PI,
                 peak = (double)workload->daily_peak_ns / (double)SIM_DAY,
                 amplitude = workload->has_daily ? workload->daily_amplitude / turn : 0,
                 first = start + fmod(from, DAYS_OF_WEEK), length = fmod(to - from, DAYS_OF_WEEK);
    double sum = to - from - length; /* whole weeks are alike */
    for (double day = floor(first); day < first + length; day++) {
        const double low = fmax(first, day), high = fmin(first + length, day + 1);
        sum += wl_week_factor(workload, (int64_t)day) *
               (high - low + amplitude * (sin(turn * (high - day - peak)) - sin(turn * (low - day - peak))));
    }
    return sum;
}

/* By how many days of the mean rate the rows of any time are more than those of a mean rate, at most. */
static double uneven_days(const struct wl_workload *workload)
{
    const double weekend = wl_week_factor(workload, 2);
    return (workload->has_daily ? workload->daily_amplitude / M_PI : 0) * wl_days_most(workload, 0) +
           2 * fabs(weekend - 1);
}

/* The chance that a key has the rows of partitions and this many more. Its rows are Poisson, so the time of
 * each sum is gamma distributed: of rows with a rate of 1, of partitions with this shape and rate, which is
 * exact where each row increments with the same chance. The key's mean has a gamma distribution too, if it
 * has a variance. The tail of the difference is that at its saddle point. */
static double reached(double shape, double rate, double rows, double mean, double drawn)
{
    const double scale = drawn / mean;
    double low = fmax(-(shape + rows) / mean, scale > 0 ? -1 / scale : -DBL_MAX), high = rate, t = low,
           slope = 0, curve = 0;
    for (int i = 0; i <= 50; i++) {
        /* At 0, where the formula has a gap, it is evaluated beside it. */
        t = i < 50 || t * t * curve > 1e-6 ? (low + high) / 2 : 1e-3 / sqrt(curve);
        const double times[] = {1 / (rate - t), 1 / (1 - t), 1 / (1 + t * scale)};
        slope = shape * times[0] + rows * times[1] - mean * times[2];
        curve = shape * times[0] * times[0] + rows * times[1] * times[1] + drawn * times[2] * times[2];
        *(slope < 0 ? &low : &high) = t;
    }
    const double in_key = scale > 0 ? log1p(t * scale) / scale : t,
                 exponent = mean * in_key + shape * log1p(-t / rate) + rows * log1p(-t),
                 r = copysign(sqrt(2 * fmax(0, t * slope + exponent)), t), u = t * sqrt(curve);
    return gsl_cdf_ugaussian_P(r + log(u / r) / r);
}

/* Of the partitions of a key with this many rows. Each row may be one that is too large; otherwise, its j-th
 * partition, if it exceeds a limit, does so once the key has that many rows more than the partitions before
 * it, which are a renewal process. pace: rows in one time the run; rows must not leave the disk before. */
static double sum_counted(const struct model *model, double mean, double drawn, double pace, bool is_number)
{
    const double most = model->variance > 0 ? (double)INFINITY : model->mean - 1,
                 limit = fmin(most, fmin(model->rows, model->sized_rows)),
                 days = (double)model->scenario->workload.duration_ns / (double)SIM_DAY,
                 open = grows_for(model->scenario) / days, held = pace * open,
                 each = is_number ? model->mean : model->mean_within,
                 by_rows = fmax(0, model->tail - model->jumps * model->mean);
    const double first = above(model, limit, mean, drawn), left = (mean - floor(limit) - 0.5) / each,
                 tail = isfinite(open) ? by_rows * above(model, limit - 1, held, 0) : by_rows;
    const double jumps = isfinite(open) && model->bound < 0 ? 0 : model->jumps;
    double later = 0, more = 1;
    if (!(mean > 0))
        return 0;
    if (left > GENERATIONS)
        later = left + (model->variance / (each * each) - 1) / 2;
    for (double j = 1; left <= GENERATIONS && (j < left + 2 || more > 1e-9 * later); j++) {
        /* Of rows in equal steps: with that of where the key begins between two of them. */
        const double rows = j * each, unit = (j * model->variance + 1.0 / 12) / (rows + 0.5);
        if (!has_steps(model))
            more = reached(rows * each / (model->variance + each), each / (model->variance + each),
                           floor(limit) + 1, mean, drawn);
        else if (model->variance > 0 && mean > floor(limit))
            more = reached((rows + 0.5) / unit, 1, 0, (mean - floor(limit)) / unit, 0);
        else
            more = above(model, limit + rows, mean, 0);
        later += more;
    }
    return mean * jumps + weigh(tail * first, is_number) + later * weigh(tail, is_number);
}

/* Whether a key is expected to have equally many rows in all ages of its partitions, apart from spikes. */
static bool has_level_ages(const struct model *model)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const int64_t age_ns = model->settings->strategy.max_age_ns;
    return tune_has_rate(model->scenario) && !workload->has_bursts &&
           (!workload->has_daily || age_ns % SIM_DAY == 0) &&
           (!workload->has_weekend || age_ns % SIM_WEEK == 0);
}

/* The same where partitions end at the multiples of an age, after each of which the key begins again. The
 * number ascends ever faster with the rows: it is least if all ages have equally many, and greatest if one
 * has those of all spikes, and all have the peak of the rate, or end no partition early. */
static double sum_aged(const struct passage *passage, const struct crowd *crowd, double times, bool is_number)
{
    const struct model *model = passage->model;
    const struct wl_workload *workload = &model->scenario->workload;
    const double rows = crowd->pace * times,
                 ages = times * (double)workload->duration_ns / (double)model->settings->strategy.max_age_ns,
                 count = model->bound < 0 ? ceil(ages) + 1 : fmax(1, ages);
    if (model->bound <= 0)
        return count * sum_counted(model, rows / count, 0, crowd->pace, is_number);
    const double spikes = fmax(0, crowd->seen - crowd->pace),
                 most = rows / count * (has_level_ages(model) ? 1 : peak_of(workload));
    return fmin(model->tail * ((rows + spikes) / model->mean + count + 1),
                count * sum_counted(model, most, 0, crowd->pace, is_number) +
                    sum_counted(model, most + spikes, 0, crowd->pace, is_number));
}

/* The expected number of partitions above a limit when the stream has lasted `times` as long as the run; or
 * -log of the chance that there is none. A value above `most` need not be exact. Where rows leave the disk, a
 * partition has at least those of the time until then, and the bound above looks at overlapping times. */
static double sum_until(const struct passage *passage, double times, bool is_number, double most)
{
    const struct model *model = passage->model;
    const struct wl_workload *workload = &model->scenario->workload;
    const double days = (double)workload->duration_ns / (double)SIM_DAY,
                 open = model->is_counted ? (double)INFINITY : grows_for(model->scenario) / days;
    const bool is_capped = model->bound > 0 && times > open;
    const double looks = is_capped ? LOOKS * times / open : 1;
    double sum = 0, left = 0;
    if (model->bound < 0)
        times = fmin(times, open);
    const double more = fmax(0, times - 1), rows = rows_between(workload, days, days * (1 + more)) / days,
                 part = rows_between(workload, 0, days * fmin(1, times)) / rows_between(workload, 0, days);
    for (size_t i = 0; i < passage->count; i++)
        left += passage->crowds[i].count;
    for (size_t i = 0; i < passage->count && sum <= most; i++) {
        const struct crowd *crowd = &passage->crowds[i];
        double mean = crowd->seen * part + crowd->pace * rows,
               drawn = passage->bursts * crowd->pace * crowd->pace * fmax(0, times - crowd->known);
        const double all = mean, of_all = drawn; /* rows, with those that have left the disk */
        if (is_capped) {
            const double kept = open * (1 + 1.0 / LOOKS);
            mean = fmin(mean, crowd->pace * (kept + uneven_days(workload) / days) +
                                  fmax(0, crowd->seen - crowd->pace));
            drawn = passage->bursts * crowd->pace * crowd->pace * kept;
        }
        /* A key's parts are Poisson, given its bursts. */
        const bool is_divided = drawn > 0 && passage->model->parts > 1;
        const double tail =
            model->is_counted && model->settings->strategy.max_age_ns > 0
                ? sum_aged(passage, crowd, times, is_number)
            : model->is_counted
                ? sum_counted(model, mean, drawn, crowd->pace, is_number)
                : fmin(is_divided ? 1 : endless_tail(passage->model, all, of_all),
                       looks * endless_tail(passage->model, is_divided ? mean + 4 * sqrt(drawn) : mean,
                                            is_divided ? 0 : drawn));
        if (tail * left < NEGLIGIBLE && crowd->known == 0 && workload->spike_count == 0)
            break;
        left -= crowd->count;
        if (model->is_counted)
            sum += crowd->count * tail;
        else if (!is_divided)
            sum += crowd->count * weigh(tail, is_number);
        else if (tail > NEGLIGIBLE)
            sum -= crowd->count / model->parts *
                   fmax(looks * log(key_kept(passage, mean, sqrt(drawn))),
                        log(key_kept(passage, all, sqrt(of_all))));
    }
    return sum;
}

static bool passage_of(struct model *model, struct passage *out)
{
    const struct wl_workload *workload = &model->scenario->workload;
    *out = (struct passage){.model = model};
    if (workload->has_bursts) {
        const double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns,
                     share = wl_burst_share(workload), mean = wl_burst_mean(workload),
                     more = workload->burst_factor - 1;
        out->bursts = 2 * more * more * share * (1 - share) * (on * off / (on + off)) / (mean * mean) /
                      (double)workload->duration_ns;
    }
    return gather(out);
}

/* --- the expected number */

/* Of partitions above a limit; and of their share in the run. */
struct bounds {
    double least, most, share_least, share_most;
};

/* Of the windows of this many days, or of the run alone. False: the upper bound is not known. */
static bool window_bounds(struct model *model, double days, bool is_longer, double enough, struct bounds *out)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const double open = grows_for(model->scenario), length = window_days(model);
    struct windows windows;
    model->bound = 1;
    model->kept_least = fmin(1, open / length);
    model->kept_most = workload->has_bursts || workload->spike_count > 0 || workload->growth > 1
                           ? 1
                           : fmin(1, (open * (1 + 1.0 / LOOKS) + uneven_days(workload)) / length);
    const bool is_whole = sum_windows(model, days, true, enough, &windows);
    out->least = out->most = is_whole && is_longer ? windows_within(model, &windows, days) : windows.run;
    out->share_least = out->share_most = windows.run / fmax(windows.begun, DBL_MIN);
    if (is_whole && is_longer)
        out->most += windows.uneven * (days - (double)workload->duration_ns / (double)SIM_DAY) / length;
    windows_clear(&windows);
    if (model->kept_least == 1)
        return is_whole;
    model->bound = -1;
    const bool has_least = sum_windows(model, days, true, enough, &windows);
    out->least = has_least && is_longer ? windows_within(model, &windows, days) : windows.run;
    out->share_least = has_least ? windows.run / fmax(windows.begun, DBL_MIN) : 0;
    windows_clear(&windows);
    return is_whole;
}

/* Where only the numbers of rows and keys are known: most partitions exceed a limit if few keys have all
 * rows, and fewest if all have equally many. */
static struct bounds counted_bounds(const struct model *model, double rows, double keys, double times)
{
    const double each = times * rows / fmax(1, keys);
    const double begun = model->settings->strategy.max_age_ns > 0 ? rows : rows / model->mean;
    return (struct bounds){.least = keys * sum_counted(model, each, 0, each / times, true),
                           .most = model->tail * (times * begun + keys)};
}

bool tune_expected_of(const struct tune_prospect *prospect, const struct lab_settings *settings,
                      struct lab_facts *out)
{
    const struct lab_scenario *scenario = prospect->scenario;
    const struct wl_workload *workload = &scenario->workload;
    const enum bk_kind kind = settings->strategy.kind;
    const double days = lab_judged_days(settings, 1e9 * prospect->seconds),
                 times = days * 86400 / prospect->seconds,
                 enough = prospect->is_verdict && scenario->limits.over_limit_share == 0
                              ? TUNE_EXPECTED_ENOUGH
                              : (double)INFINITY;
    struct model model;
    struct bounds sum = {.least = 0};
    bool is_whole = true;
    out->has_distribution = false;
    out->expected_most = (double)INFINITY;
    out->expected_least = out->expected_full = 0;
    out->expected_share = (double)NAN;
    out->expected_days = days;
    if (!model_of(scenario, settings, prospect->factor, &model))
        return true;
    if (kind == BK_KIND_TIME) {
        is_whole = window_bounds(&model, days, times > 1, enough, &sum);
    } else if (model.is_counted) {
        sum = tune_has_rate(scenario)
                  ? counted_bounds(&model,
                                   workload->rate_per_s * 1e-9 * (double)workload->duration_ns * model.factor,
                                   (double)workload->key_count, times)
                  : counted_bounds(&model, prospect->rows, prospect->keys, times);
        sum.share_most = model.tail;
        sum.share_least = settings->strategy.max_age_ns == 0 && scenario->row_ttl_ns == 0 ? model.tail : 0;
    }
    if (!lab_kind_ends(kind) || (model.is_counted && tune_has_rate(scenario) && sum.most > NEGLIGIBLE)) {
        struct passage passage;
        is_whole = passage_of(&model, &passage);
        model.bound = 1;
        sum.most = is_whole ? sum_until(&passage, times, true, enough) : 0;
        model.bound = -1;
        sum.least = is_whole ? fmin(sum.most, sum_until(&passage, times, true, enough)) : 0;
        if (!model.is_counted) {
            double partitions = DBL_MIN;
            for (size_t i = 0; i < passage.count; i++)
                partitions += passage.crowds[i].count / model.parts * begun(&model, passage.crowds[i].seen);
            sum.share_most = sum.most / partitions;
            sum.share_least = sum.least / partitions;
        }
        is_whole = is_whole && sum.most <= enough;
        free(passage.crowds);
    }
    /* Agents make more of their partitions exceed a limit, if anything, unless rows have a number. */
    out->has_distribution = scenario->engine != LAB_ENGINE_CLUSTER ||
                            (kind == BK_KIND_COUNT && settings->source == BK_SOURCE_EXTERNAL);
    /* An age may end a partition of a trace early. */
    if (settings->strategy.max_age_ns == 0 || tune_has_rate(scenario))
        out->expected_least = sum.least;
    if (is_whole && out->has_distribution)
        out->expected_most = model.is_counted && model.tail == 0 ? 0 : fmax(DBL_MIN, sum.most);
    if (is_whole || model.is_counted) {
        out->expected_share = model.is_counted ? model.tail : fmax(DBL_MIN, fmin(1, sum.share_most));
        out->expected_full = fmin(1, sum.share_least);
    }
    return !model.lacks_memory;
}

double tune_rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

static double figure(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? (double)NAN : metric->value;
}

/* Adds the metrics expected.* to each strategy of a run. */
static bool add_expected(const struct lab_scenario *scenario, struct lab_result *result,
                         struct sim_error *error)
{
    const struct lab_limits *limits = &scenario->limits;
    struct tune_prospect prospect = {
        .scenario = scenario,
        .factor = 1,
        .rows = (double)result->rows,
        .keys = (double)result->keys,
        .seconds =
            fmax(1, (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns)) / (double)SIM_SECOND};
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_strategy_result *strategy = &result->strategies[i];
        const double total = figure(strategy, "partitions.total"),
                     busiest = figure(strategy, "keys.rows.max");
        struct lab_facts facts;
        prospect.busiest = isnan(busiest) ? 0 : busiest;
        if (!tune_rates_add(&prospect, strategy))
            return sim_fail_memory(error);
        if (!lab_limits_sizes(limits) || isnan(total))
            continue;
        if (!tune_expected_of(&prospect, &strategy->settings, &facts))
            return sim_fail_memory(error);
        const bool is_known = facts.has_distribution && isfinite(facts.expected_most);
        const struct {
            bool is_there;
            const char *name;
            double value;
        } metrics[] = {
            {is_known, "expected.over_limit", facts.expected_most},
            {is_known || facts.expected_least > 0, "expected.over_limit_least", facts.expected_least},
            {is_known && !isnan(facts.expected_share), "expected.share", facts.expected_share},
            {facts.expected_full > 0, "expected.full_share", facts.expected_full}};
        for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
            if (metrics[k].is_there &&
                !lab_metrics_add(&strategy->metrics, metrics[k].name, tune_rounded(metrics[k].value)))
                return sim_fail_memory(error);
        }
    }
    return true;
}

/* --- the growth of a trace */

/* weeks: the rows of each, oldest first. */
static struct tune_growth growth_of(const uint64_t *weeks, uint64_t count, double confidence)
{
    struct tune_growth growth = {.weeks = count};
    struct tune_sample ratios = {.count = 0};
    uint64_t half = count / 2;
    if (count < TUNE_GROWTH_WEEKS)
        return growth;
    for (uint64_t i = count - 2 * half; i < count - half; i++)
        tune_sample_add(&ratios, log(((double)weeks[i + half] + 0.5) / ((double)weeks[i] + 0.5)));
    if (tune_sample_mean_interval(&ratios, confidence).low > 0)
        growth.per_day = ratios.mean / (double)(DAYS_OF_WEEK * half);
    return growth;
}

bool tune_growth_read(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                      double confidence, struct tune_growth *out, struct sim_error *error)
{
    struct wl_trace *trace = NULL;
    struct wl_trace_batch batch;
    uint64_t count = ((uint64_t)end_ns - (uint64_t)start_ns) / (uint64_t)SIM_WEEK;
    *out = (struct tune_growth){.weeks = count};
    if (count < TUNE_GROWTH_WEEKS)
        return true;
    uint64_t *weeks = calloc(count, sizeof *weeks);
    bool is_fine = weeks != NULL || sim_fail_memory(error);
    is_fine = is_fine && wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &trace, error);
    for (bool more = is_fine; more;) {
        is_fine = wl_trace_next(trace, &batch, &more, error);
        more = more && is_fine;
        if (more)
            wl_trace_slot_rows(&batch, end_ns - (int64_t)count * SIM_WEEK, SIM_WEEK, weeks, count);
    }
    if (is_fine)
        *out = growth_of(weeks, count, confidence);
    wl_trace_close(trace);
    free(weeks);
    return is_fine;
}

bool tune_growth_of_run(const struct lab_scenario *scenario, const struct lab_result *result,
                        double confidence, struct tune_growth *out, struct sim_error *error)
{
    if (scenario->trace_path == NULL) {
        *out = (struct tune_growth){.per_day = log(fmax(1, scenario->workload.growth)) / 365};
        return true;
    }
    if (result->week_count == 0)
        return tune_growth_read(scenario, result->start_ns, result->end_ns, confidence, out, error);
    *out = growth_of(result->weeks, result->week_count, confidence);
    return true;
}

double tune_growth_doubles(const struct tune_growth *growth)
{
    return growth->per_day > 0 ? log(2) / growth->per_day : (double)INFINITY;
}

/* The number of days from the start until the stream has `times` as many rows as in its first `days`. */
static double growth_rows_at(const struct tune_growth *growth, double days, double times)
{
    if (growth->per_day == 0)
        return days * times;
    return log1p(times * expm1(growth->per_day * days)) / growth->per_day;
}

/* Until its rate is `times` the mean rate of its first `days`. */
static double growth_rate_at(const struct tune_growth *growth, double days, double times)
{
    double grown = growth->per_day * days;
    if (grown == 0)
        return times >= 1 ? (double)INFINITY : 0;
    return log(times * expm1(grown) / grown) / growth->per_day;
}

/* --- the horizon */

/* Returns the ratio of the nearest limit to these rows and bytes; infinity without limits. */
static double room_above(const struct lab_limits *limits, uint64_t rows, uint64_t bytes)
{
    double least = (double)INFINITY;
    if (limits->partition_rows != 0 && rows > 0)
        least = fmin(least, (double)limits->partition_rows / (double)rows);
    if (limits->partition_bytes != 0 && bytes > 0)
        least = fmin(least, (double)limits->partition_bytes / (double)bytes);
    return least;
}

/* The median of the time at which the first partition exceeds a limit, in times the length of the run. If
 * none did within a run that is longer (is_after), on that condition. NaN: not known. */
static double passage_median(struct model *model, bool is_after)
{
    struct passage passage;
    double low = 0, high = 1, target = (double)NAN;
    if (passage_of(model, &passage))
        target = M_LN2;
    if (target > 0 && is_after && (low = sum_until(&passage, 1, false, (double)INFINITY)) > M_LN2)
        target += low;
    low = target > M_LN2;
    while (isfinite(target) && high < 1e15 && sum_until(&passage, high, false, target) < target) {
        low = high;
        high *= 2;
    }
    for (int i = 0; isfinite(target) && i < 30; i++) {
        const double middle = (low + high) / 2;
        *(sum_until(&passage, middle, false, target) < target ? &low : &high) = middle;
    }
    free(passage.crowds);
    return isfinite(target) ? tune_rounded(high) : isinf(target) ? 1 : (double)NAN;
}

/* When the first partition without end exceeds a limit: by the distribution, or, where that is not known, as
 * the largest one grows, which has this many rows and bytes after the run. NaN: rows leave the disk before,
 * so it may never. */
static bool endless_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                         uint64_t rows, uint64_t bytes, double *out)
{
    const struct lab_scenario *scenario = outlook->scenario;
    const struct sim_size *size = &scenario->workload.row_bytes;
    const double room = room_above(&scenario->limits, rows, bytes), g = outlook->growth.per_day;
    struct lab_disk_windows disk;
    const bool is_wild =
        scenario->limits.partition_bytes != 0 &&
        (!(sim_size_mean(size) < 0x1p40) || (size->kind == SIM_SIZE_PARETO && !(size->b > 2)));
    struct model model = {.lacks_memory = false};
    const double median = !is_wild && model_of(scenario, settings, 1, &model)
                              ? passage_median(&model, rows > 0 && room >= 1)
                              : (double)NAN;
    /* The largest one has the rows of the last time that they stay on disk. */
    lab_disk_windows_init(&disk, scenario, NULL, 0, (int64_t)(outlook->days * (double)SIM_DAY));
    const double kept =
                     disk.window_ns == 0
                         ? outlook->days
                         : fmin(outlook->days, (double)disk.kept * (double)disk.window_ns / (double)SIM_DAY),
                 days = isnan(median)
                            ? growth_rows_at(&outlook->growth, kept, room * exp(g * (outlook->days - kept)))
                            : outlook->days * median;
    *out = days > grows_for(scenario) ? (double)NAN : days;
    return !model.lacks_memory;
}

bool tune_unbucketed_days(const struct tune_outlook *outlook, double *out)
{
    const struct lab_settings unbucketed = {.strategy = {.kind = BK_KIND_UNBUCKETED}};
    return endless_days(outlook, &unbucketed, outlook->busiest_rows, outlook->busiest_bytes, out);
}

/* The same of windows: in the one in which the sum reaches that of the median, once the keys have enough of
 * its rows. Of the window that the end of the run cuts, only its rest comes after the run. */
static double windows_median(struct model *model, const struct windows *windows, bool is_after)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const size_t from = is_after && windows->run >= M_LN2 ? windows->run_count : 0;
    int64_t at_ns = workload->start_ns, until_ns = window_end(model, at_ns);
    double left = M_LN2, low = 0, high = 1, cut = from > 0 ? windows->run : 0;
    size_t i = 0;
    for (; i < from; i++)
        cut -= windows->over[i];
    left += fmin(cut, i < windows->count ? windows->over[i] : windows->each);
    for (i = 0; i < windows->count && (i < from || windows->over[i] < left); i++) {
        left -= i < from ? 0 : windows->over[i];
        at_ns = until_ns;
        until_ns = window_end(model, at_ns);
    }
    double days = (double)(at_ns - workload->start_ns) / (double)SIM_DAY,
           length = (double)(until_ns - at_ns) / (double)SIM_DAY;
    if (i == windows->count) {
        const double more = floor(left / windows->each);
        if (!(windows->each > 0 && more < 1e15))
            return (double)INFINITY;
        days += more * windows->days;
        left -= more * windows->each;
        length = windows->days;
    }
    if (i <= windows->run_count && (workload->has_bursts || workload->spike_count > 0))
        return days + length * left / (i < windows->count ? windows->over[i] : windows->each);
    const double rows = windows->rows[i < windows->count ? i : windows->count - 1],
                 all = rows_between(workload, days, days + length);
    for (int k = 0; k < 40; k++) {
        const double middle = (low + high) / 2,
                     part = rows_between(workload, days, days + middle * length) / all;
        *(sum_keys(model, rows * part, false) < left ? &low : &high) = middle;
    }
    return days + length * high;
}

/* The same for partitions that end. */
static double ending_days(const struct tune_outlook *outlook, struct model *model, bool is_after)
{
    struct windows windows;
    double first;
    if (model->is_counted && model->tail == 0)
        return (double)INFINITY;
    if (model->is_counted && model->settings->strategy.max_age_ns > 0 && !has_level_ages(model))
        return (double)NAN; /* there are only bounds */
    if (model->is_counted && !tune_has_rate(model->scenario))
        return growth_rows_at(&outlook->growth, outlook->days,
                              M_LN2 * model->mean / model->tail / outlook->rows);
    if (model->is_counted)
        return outlook->days * passage_median(model, is_after);
    if (window_days(model) > grows_for(model->scenario))
        return (double)NAN;
    for (double days = LAB_JUDGED_DAYS;; days *= 2) { /* until a stream that grows reaches it */
        first = sum_windows(model, days, false, (double)INFINITY, &windows)
                    ? windows_median(model, &windows, is_after)
                    : (double)NAN;
        windows_clear(&windows);
        if (!(outlook->growth.per_day > 0 && first > days && days < 100 * LAB_JUDGED_DAYS))
            return first;
    }
}

bool tune_first_over_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                          double seen_days, uint64_t rows_most, uint64_t bytes_most, double *out)
{
    const struct lab_scenario *scenario = outlook->scenario;
    const enum bk_kind kind = settings->strategy.kind;
    const int64_t start_ns = scenario->workload.start_ns, end_ns = start_ns + scenario->workload.duration_ns;
    const double room = room_above(&scenario->limits, rows_most, bytes_most), days = outlook->days;
    struct model model;
    *out = seen_days;
    if (!isnan(seen_days))
        return true;
    if (!lab_kind_ends(kind))
        return endless_days(outlook, settings, rows_most, bytes_most, out);
    if (scenario->trace_path != NULL && kind == BK_KIND_TIME) {
        if (outlook->growth.per_day > 0)
            *out = fmax(days, growth_rate_at(&outlook->growth, days, room));
        return true;
    }
    if ((kind == BK_KIND_TIME && lab_partitions_grow(scenario, settings, start_ns, end_ns)) ||
        !model_of(scenario, settings, 1, &model))
        return true;
    /* No partition has more rows than its key so far. */
    const bool is_after = rows_most > 0 && room >= 1;
    const double first = ending_days(outlook, &model, is_after);
    *out = isnan(first) ? first : fmax(is_after ? days : 0, fmax(first, outlook->unbucketed_days));
    return !model.lacks_memory;
}

static uint64_t whole(const struct lab_strategy_result *strategy, const char *name)
{
    const double value = figure(strategy, name);
    return isnan(value) ? 0 : (uint64_t)value;
}

static bool add(struct lab_strategy_result *strategy, const char *name, double days)
{
    return isnan(days) || lab_metrics_add(&strategy->metrics, name, fmin(days, LAB_DAYS_MOST));
}

/* A trace grows on, which its run does not know. */
static void grow_capacity(const struct tune_outlook *outlook, struct lab_strategy_result *strategy)
{
    struct lab_metrics *metrics = &strategy->metrics;
    const double times =
        lab_growth_times(outlook->growth.per_day, outlook->days, figure(strategy, "capacity.days"));
    for (size_t i = 0; i < metrics->count && times > 1; i++) {
        struct lab_metric *one = &metrics->items[i];
        if (strcmp(one->name, "capacity.bytes_per_node") == 0 ||
            strcmp(one->name, "capacity.disk_per_node") == 0)
            one->value *= times;
    }
}

static bool add_all(struct tune_outlook *outlook, struct lab_strategy_result *strategy)
{
    /* Of the rows that this strategy stored. */
    outlook->busiest_rows = whole(strategy, "keys.rows.max");
    outlook->busiest_bytes = whole(strategy, "keys.bytes.max");
    double days;
    return tune_unbucketed_days(outlook, &outlook->unbucketed_days) &&
           tune_first_over_days(outlook, &strategy->settings, figure(strategy, "partitions.first_over_days"),
                                whole(strategy, "partitions.all.rows.max"),
                                whole(strategy, "partitions.all.bytes.max"), &days) &&
           add(strategy, "horizon.days", days) &&
           add(strategy, "horizon.unbucketed_days", outlook->unbucketed_days) &&
           (outlook->growth.per_day == 0 ||
            add(strategy, "horizon.doubles_days", tune_growth_doubles(&outlook->growth)));
}

bool tune_horizons_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error)
{
    const struct lab_limits *limits = &scenario->limits;
    struct tune_outlook outlook = {.scenario = scenario,
                                   .days =
                                       fmax(1, (double)(result->end_ns - result->start_ns)) / (double)SIM_DAY,
                                   .rows = (double)result->rows};
    if (!add_expected(scenario, result, error))
        return false;
    if (!lab_limits_sizes(limits) || is_odd_table(scenario) || result->strategy_count == 0 ||
        isnan(figure(&result->strategies[0], "keys.rows.max")))
        return true;
    if (!tune_growth_of_run(scenario, result, scenario->tune.confidence, &outlook.growth, error))
        return false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_strategy_result *strategy = &result->strategies[i];
        if (scenario->trace_path != NULL)
            grow_capacity(&outlook, strategy);
        if (strategy->settings.observed == WL_OBSERVED_AUTO && !add_all(&outlook, strategy))
            return sim_fail_memory(error);
    }
    return true;
}
