/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions in the few forms that cassandra-stress has: fixed, uniform, gaussian, extreme (Weibull).
 *
 * EXTREME(min..max,shape) is min + W, W Weibull with this shape and the scale (max - min) / ((ln(max - min))
 * / 2)^(1/shape): the tool chooses it so that W passes max - min with probability 1 / sqrt(max - min), and
 * then gives max. So its mean follows from max, and max is chosen here for the mean. */
#ifndef CLI_STRESS_DISTRIBUTION_H
#define CLI_STRESS_DISTRIBUTION_H

#include <stdint.h>

#include "kernel/sampler.h"

#define STRESS_DISTRIBUTION_SIZE 128

/* Whole numbers of at least 1. */
struct stress_figures {
    double mean, stddev;
    uint64_t least, most;
};

/* A distribution with about this mean and standard deviation, "gaussian(1..9,5.0,1.2)". */
void stress_distribution(const struct stress_figures *figures, char distribution[STRESS_DISTRIBUTION_SIZE]);
/* Of row sizes. One without a standard deviation (Pareto, alpha up to 2) goes by its middle. */
void stress_distribution_of_size(const struct sim_size *size, char distribution[STRESS_DISTRIBUTION_SIZE]);
/* Of ranks 1 to zipf's count: as large a share goes to the most popular tenth as by Zipf's distribution. */
void stress_distribution_of_ranks(const struct sim_zipf *zipf, uint64_t count,
                                  char distribution[STRESS_DISTRIBUTION_SIZE]);

#endif
