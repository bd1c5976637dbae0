/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means, standard deviations and confidence intervals of a sample (Welford, Student). */
#include "tune/sample.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

/* Welford's update. */
void tune_sample_add(struct tune_sample *sample, double value)
{
    assert(isfinite(value));
    if (sample->count == 0 || value < sample->least)
        sample->least = value;
    if (sample->count == 0 || value > sample->most)
        sample->most = value;
    sample->count++;
    double before = value - sample->mean;
    sample->mean += before / (double)sample->count;
    sample->squares += before * (value - sample->mean);
    /* If all observations are equal, only rounding errors would remain. */
    if (sample->least == sample->most) {
        sample->mean = value;
        sample->squares = 0;
    }
}

double tune_sample_stddev(const struct tune_sample *sample)
{
    return sample->count < 2 ? 0 : sqrt(sample->squares / (double)(sample->count - 1));
}

static struct tune_interval around(const struct tune_sample *sample, double confidence, double scale)
{
    assert(confidence > 0 && confidence < 1);
    if (sample->count < 2)
        return (struct tune_interval){-HUGE_VAL, HUGE_VAL};
    double t = gsl_cdf_tdist_Qinv((1 - confidence) / 2, (double)sample->count - 1);
    double half = t * tune_sample_stddev(sample) * scale;
    return (struct tune_interval){sample->mean - half, sample->mean + half};
}

struct tune_interval tune_sample_mean_interval(const struct tune_sample *sample, double confidence)
{
    return around(sample, confidence, sqrt(1 / (double)sample->count));
}

struct tune_interval tune_sample_next_interval(const struct tune_sample *sample, double confidence)
{
    return around(sample, confidence, sqrt(1 + 1 / (double)sample->count));
}

static double two_sided(double t, double degrees)
{
    return fmin(1, 2 * gsl_cdf_tdist_Q(fabs(t), degrees));
}

double tune_sample_p_value(const struct tune_sample *differences)
{
    if (differences->count < 2)
        return 1;
    double error = tune_sample_stddev(differences) / sqrt((double)differences->count);
    if (error == 0)
        return differences->mean == 0 ? 1 : 0;
    return two_sided(differences->mean / error, (double)differences->count - 1);
}

/* Computes the standard error of the difference of two means, each of at least two observations, and Welch's
 * degrees of freedom. Returns false if neither sample has a variance. */
static bool welch(const struct tune_sample *one, const struct tune_sample *other, double *error,
                  double *degrees)
{
    double n = (double)one->count, m = (double)other->count;
    double a = one->squares / (n - 1) / n, b = other->squares / (m - 1) / m;
    if (a + b == 0)
        return false;
    /* Uses shares of the sum, so that the squares of small variances do not underflow. */
    double share = a / (a + b);
    *degrees = 1 / (share * share / (n - 1) + (1 - share) * (1 - share) / (m - 1));
    *error = sqrt(a + b);
    return true;
}

double tune_welch_p_value(const struct tune_sample *one, const struct tune_sample *other)
{
    double error, degrees;
    if (one->count < 2 || other->count < 2)
        return 1;
    if (!welch(one, other, &error, &degrees))
        return one->mean == other->mean ? 1 : 0;
    return two_sided((one->mean - other->mean) / error, degrees);
}

struct tune_interval tune_welch_interval(const struct tune_sample *one, const struct tune_sample *other,
                                         double confidence)
{
    double error, degrees, difference = one->mean - other->mean;
    assert(confidence > 0 && confidence < 1);
    if (one->count < 2 || other->count < 2)
        return (struct tune_interval){-HUGE_VAL, HUGE_VAL};
    if (!welch(one, other, &error, &degrees))
        return (struct tune_interval){difference, difference};
    double half = gsl_cdf_tdist_Qinv((1 - confidence) / 2, degrees) * error;
    return (struct tune_interval){difference - half, difference + half};
}

bool tune_holm(double *p_values, uint64_t count)
{
    size_t *order = calloc(count + 1, sizeof *order);
    double most = 0;
    if (order == NULL)
        return false;
    gsl_sort_index(order, p_values, 1, count);
    for (uint64_t i = 0; i < count; i++)
        p_values[order[i]] = most = fmax(most, fmin(1, p_values[order[i]] * (double)(count - i)));
    free(order);
    return true;
}
