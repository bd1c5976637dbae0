/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a profile for cassandra-stress (`user profile=FILE`): the table of a strategy, with writes and reads
 * approximately as in the scenario. The grammar is that of apache/cassandra, tools/stress: StressProfile,
 * OptionDistribution.
 *
 * Distributions are approximated by the forms that cassandra-stress supports: fixed, uniform, gaussian,
 * extreme (Weibull).
 *
 * EXTREME(min..max,shape) is min + W, where W is Weibull with this shape and the scale (max - min) / ((ln(max
 * - min)) / 2)^(1/shape). With this scale W exceeds max - min with probability 1 / sqrt(max - min), and the
 * tool then returns max. So the mean depends on max, which is chosen here to get the required mean. */
#ifndef CLI_STRESS_H
#define CLI_STRESS_H

#include <stdint.h>
#include <stdio.h>

#include "kernel/sampler.h"
#include "lab/result.h"
#include "lab/scenario.h"

#define STRESS_DISTRIBUTION_SIZE 128

/* A distribution of whole numbers of at least 1. */
struct stress_figures {
    double mean, stddev;
    uint64_t least, most;
};

/* Writes a distribution with about this mean and standard deviation: "gaussian(1..9,5.0,1.2)". */
void stress_distribution(const struct stress_figures *figures, char distribution[STRESS_DISTRIBUTION_SIZE]);
/* Writes a distribution of row sizes. One without a standard deviation (Pareto with alpha up to 2) is fitted
 * to its median. */
void stress_distribution_of_size(const struct sim_size *size, char distribution[STRESS_DISTRIBUTION_SIZE]);
/* Writes a distribution of the ranks 1 to zipf's count, in which the most popular tenth has the same share as
 * in the Zipf distribution. */
void stress_distribution_of_ranks(const struct sim_zipf *zipf, uint64_t count,
                                  char distribution[STRESS_DISTRIBUTION_SIZE]);

#endif
