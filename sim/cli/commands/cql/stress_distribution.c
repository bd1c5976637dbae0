/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Approximates distributions of sizes and popularity by those of cassandra-stress. */
#include "stress_distribution.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define SHAPE_LEAST 0.2
#define SHAPE_MOST  20.0
#define WIDTH_MOST  1e15
#define HALVINGS    100
#define RANKS_LEAST 20u
#define RANKS_ADDED 100000u

/* The CV of a Weibull distribution, which decreases with the shape. */
static double variation(double shape)
{
    return sqrt(expm1(lgamma(1 + 2 / shape) - 2 * lgamma(1 + 1 / shape)));
}

static double scale_of(double width, double shape)
{
    return width / pow(0.5 * log(width), 1 / shape);
}

/* Writes an extreme (Weibull) distribution; false when none has this mean and standard deviation. */
static bool extreme(const struct stress_figures *figures, char *distribution)
{
    double excess = figures->mean - (double)figures->least;
    double wanted = figures->stddev / excess, low = SHAPE_LEAST, high = SHAPE_MOST;
    if (!(excess > 0) || wanted > variation(low) || wanted < variation(high))
        return false;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        *(variation(middle) > wanted ? &low : &high) = middle;
    }
    double shape = (low + high) / 2, scale = excess / tgamma(1 + 1 / shape);
    /* The scale increases with the width only from here on. */
    low = exp(1 / shape) * 1.001;
    high = WIDTH_MOST;
    if (low >= high || scale < scale_of(low, shape) || scale > scale_of(high, shape))
        return false;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        *(scale_of(middle, shape) < scale ? &low : &high) = middle;
    }
    snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "extreme(%" PRIu64 "..%.0f,%.4f)", figures->least,
             (double)figures->least + round((low + high) / 2), shape);
    return true;
}

void stress_distribution(const struct stress_figures *figures, char distribution[STRESS_DISTRIBUTION_SIZE])
{
    double mean = figures->mean;
    if (figures->most <= figures->least || figures->stddev * 4 < 1) {
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", fmax(1, round(mean)));
        return;
    }
    /* Narrow distributions are nearly normal; wide ones are skewed, like a Weibull distribution. */
    if (figures->stddev * 2 > mean - (double)figures->least && extreme(figures, distribution))
        return;
    snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "gaussian(%" PRIu64 "..%" PRIu64 ",%.3f,%.3f)",
             figures->least, figures->most, mean, figures->stddev);
}

void stress_distribution_of_size(const struct sim_size *size, char distribution[STRESS_DISTRIBUTION_SIZE])
{
    struct stress_figures figures = {.mean = sim_size_mean(size), .least = 1, .most = (uint64_t)WIDTH_MOST};
    switch (size->kind) {
    case SIM_SIZE_CONSTANT:
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", size->a);
        return;
    case SIM_SIZE_UNIFORM:
        if (size->a < size->b)
            snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "uniform(%.0f..%.0f)", size->a, size->b);
        else
            snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", size->a);
        return;
    case SIM_SIZE_LOGNORMAL:
        figures.stddev = figures.mean * sqrt(expm1(size->b * size->b));
        figures.most = (uint64_t)fmin(WIDTH_MOST, figures.mean + 6 * figures.stddev);
        break;
    case SIM_SIZE_PARETO:
        if (size->b <= 2) {
            snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", size->a * pow(2, 1 / size->b));
            return;
        }
        figures.least = (uint64_t)fmax(1, size->a);
        figures.stddev = size->a / (size->b - 1) * sqrt(size->b / (size->b - 2));
        figures.most = (uint64_t)fmin(WIDTH_MOST, figures.mean + 6 * figures.stddev);
        break;
    }
    stress_distribution(&figures, distribution);
}

/* The share of the first `ranks` ranks; for many ranks, by an integral. */
static double share_of(const struct sim_zipf *zipf, uint64_t ranks)
{
    double share = 0;
    uint64_t rank = 0;
    if (zipf->point_count > 0)
        return sim_zipf_points_share(zipf, ranks);
    for (; rank < ranks && rank < RANKS_ADDED; rank++)
        share += sim_zipf_share(zipf, rank);
    if (rank == ranks)
        return share;
    double from = (double)rank + 0.5, to = (double)ranks + 0.5, s = zipf->s;
    double rest = fabs(1 - s) < 1e-9 ? log(to / from) : (pow(to, 1 - s) - pow(from, 1 - s)) / (1 - s);
    return share + sim_zipf_share(zipf, 0) * rest;
}

void stress_distribution_of_ranks(const struct sim_zipf *zipf, uint64_t count,
                                  char distribution[STRESS_DISTRIBUTION_SIZE])
{
    double width = (double)count - 1, tenth = ceil((double)count / 10), share;
    if (count <= 1) {
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(1)");
        return;
    }
    share = share_of(zipf, (uint64_t)tenth);
    /* P(1 + W <= tenth) = share, solved for the shape. */
    double part = -log1p(-share) / (0.5 * log(width));
    double shape = log(part) / log((tenth - 1) / width);
    bool is_skewed = count >= RANKS_LEAST && zipf->s > 0 && share < 1 && part < 1 && shape >= SHAPE_LEAST / 4;
    if (is_skewed)
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "extreme(1..%" PRIu64 ",%.4f)", count, shape);
    else
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "%s(1..%" PRIu64 ")",
                 zipf->s > 0 ? "exp" : "uniform", count);
}
