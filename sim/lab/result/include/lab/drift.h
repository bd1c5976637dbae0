/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests whether observed sizes of partitions still fit the prediction of a run. There are three tests, of
 * the whole distribution, of the largest partitions, and of the share over the limit. Their probability of a
 * false alarm is bounded for any distribution, except for the second one's tail.
 *
 * The distribution: except with probability d, the cumulative shares of n independent draws are nowhere more
 * than sqrt(ln(2/d) / 2n) from the true ones (Dvoretzky, Kiefer and Wolfowitz; the constant is Massart's, The
 * Annals of Probability 18, 1990). Predicted and observed sizes are such draws, so a distance above the sum
 * of both bounds is drift. The limit: it is drift when the Clopper-Pearson interval of the observed share is
 * above that of the predicted share. Sizes that differ by at most the tolerance are considered equal.
 *
 * The largest: of m predicted sizes, those above x, the k = sqrt(m) largest, are taken to be of a Pareto
 * distribution or to fall faster, as the tails of all strategies do; s is the sum of their logarithms over x.
 * For any exponent, the j largest of n observed sizes all reach y with a probability of at most
 *
 *     C(n, j) (k + 1) .. (k + j) / ((m + 1) .. (m + j)) (1 + j log(y / x) / s)^-k,
 *
 * since new sizes rank at random among the old ones, and this is the tail of an exponential variable over the
 * sum of k others (Hill, The Annals of Statistics 3, 1975). It is drift when this is below its part of the
 * error budget, of which j spends 1 / (j (j + 1)).
 *
 * Repeated looks at the same table share one error budget: look k spends false_alarm / (k (k + 1)), and the
 * sum over all looks is false_alarm, however the looks depend on each other. */
#ifndef LAB_DRIFT_H
#define LAB_DRIFT_H

#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* The most partitions that are judged as the largest ones; a change of more is seen in the distribution. */
#define LAB_DRIFT_LARGEST 1000

struct lab_drift_question {
    const struct lab_strategy_result *predicted, *observed; /* both must have partition sizes in `unit` */
    enum lab_size_unit unit; /* LAB_IN_BYTES if the observed sizes are percentiles */
    uint64_t partitions;     /* the number of observed partitions, if the sizes are percentiles */
    uint64_t limit;          /* in `unit`; 0: none */
    double tolerance;        /* 0.1: sizes within 10 % of each other are considered equal */
    double false_alarm;      /* probability of a false alarm over all looks; above 0, below 1 */
    uint64_t look;           /* from 1 */
};

struct lab_drift {
    double distance, allowed; /* shares; a distance above `allowed` is drift */
    uint64_t size;            /* the size at which the cumulative shares have this distance; 0: none */
    double observed, predicted;
    bool has_limit;               /* the next three are set */
    double over;                  /* the observed share over the limit plus tolerance */
    double over_least, over_most; /* lower bound of the observed share; upper bound of the predicted share */
    uint64_t observed_count, predicted_count;
    uint64_t beyond,
        beyond_size; /* this many have at least this size, which the prediction cannot explain; 0: none */
    uint64_t largest_predicted;
    bool is_far,
        is_over;   /* is_far: the distribution has drifted; is_over: more partitions exceed the limit */
    bool is_drift; /* any of the three */
};

/* Makes all tests. Returns false when out of memory. */
bool lab_drift_judge(const struct lab_drift_question *question, struct lab_drift *out);
/* Adds the results as metrics drift.*, for the observed strategy; drift.run is the number of the predicting
 * run. */
bool lab_drift_metrics(const struct lab_drift *drift, int64_t run, uint64_t look, struct lab_metrics *out);

/* Results from sizes that a running Cassandra reported: one for each such file of the scenario. */
/* Reads the scenario's files; call it before the run, so that an invalid file is found early. *out:
 * observed_count results in the order of the scenario; NULL when there are none. The caller must free them
 * with lab_observed_free(), or pass them to lab_observed_append(). */
bool lab_observed_read(const struct lab_scenario *scenario, const struct lab_progress *progress,
                       struct lab_strategy_result **out, struct sim_error *error);
void lab_observed_free(struct lab_strategy_result *results, size_t count); /* results may be NULL */
/* Moves them to the end of the result's strategies, where lab_result_begin() has reserved room, and chains
 * their digests to the run's. */
void lab_observed_append(struct lab_result *result, struct lab_strategy_result *results, size_t count);

#endif
