/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures over seeds: a sample's mean, intervals around it, and whether two samples differ.
 *
 * The figure of a seed is one observation, independent of those of other seeds. The intervals are Student's,
 * exact for normal observations and good for means of nearly any others. Where two settings run on the same
 * rows, seed by seed, their differences are a sample with a far smaller variance than either (common random
 * numbers). With fewer than two observations nothing is known: intervals are then without bounds, and a
 * difference is not significant. All observations are finite. */
#ifndef TUNE_SAMPLE_H
#define TUNE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* A zeroed sample is empty. Two samples of the same observations in the same order are equal to the last bit.
 */
struct tune_sample {
    uint64_t count;
    double mean;
    double squares; /* sum of squared differences from the mean */
    double least, most;
};

struct tune_interval {
    double low, high; /* -INFINITY and INFINITY: no bound */
};

void tune_sample_add(struct tune_sample *sample, double value);
double tune_sample_stddev(const struct tune_sample *sample); /* divides by count - 1; 0 below two */
/* The interval of the mean over all seeds, with this confidence, 0 < confidence < 1. */
struct tune_interval tune_sample_mean_interval(const struct tune_sample *sample, double confidence);
/* The interval of the figure of one more seed. */
struct tune_interval tune_sample_next_interval(const struct tune_sample *sample, double confidence);
/* The chance of a sample mean this far from 0 if the true mean is 0: two-sided, by Student's t. 1 when
 * nothing is known or all differences are 0; 0 when all are the same non-zero number. */
double tune_sample_p_value(const struct tune_sample *differences);
/* Welch's test for samples that are not paired. */
double tune_welch_p_value(const struct tune_sample *one, const struct tune_sample *other);
/* The interval of the mean of `one` less the mean of `other`, by Welch's t, with this confidence. */
struct tune_interval tune_welch_interval(const struct tune_sample *one, const struct tune_sample *other,
                                         double confidence);
/* Holm's correction: p_values[i] is replaced by its corrected value, the chance that any of the tests is this
 * extreme by chance. A value below 0.05 is then significant although there were many tests. Source: Holm
 * 1979, "A simple sequentially rejective multiple test procedure". Returns false when out of memory. */
bool tune_holm(double *p_values, uint64_t count);

#endif
