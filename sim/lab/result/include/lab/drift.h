/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether observed sizes of partitions still fit what a run predicts: two tests, of the whole distribution
 * and of the share over the limit, whose chance of a false alarm is bounded without any assumption about the
 * distribution.
 *
 * The distribution: except with chance d, the shares of n independent draws are nowhere further than
 * sqrt(ln(2/d) / 2n) from the true ones (Dvoretzky, Kiefer and Wolfowitz; the constant is Massart's, The
 * Annals of Probability 18, 1990). Predicted and observed sizes are such draws, so a distance above the sum
 * of both bounds is drift. The limit: it is drift when the Clopper-Pearson interval of the observed share
 * lies above that of the predicted one. Sizes that differ by no more than the tolerance count as equal.
 *
 * Many looks at one table are one question: look k spends false_alarm / (k (k + 1)), which adds up to
 * false_alarm over all looks, however they depend on each other. */
#ifndef LAB_DRIFT_H
#define LAB_DRIFT_H

#include "lab/result.h"

struct lab_drift_question {
    const struct lab_strategy_result *predicted, *observed; /* both have partition sizes in the unit */
    enum lab_size_unit unit; /* LAB_IN_BYTES if the observed sizes are percentiles */
    uint64_t partitions;     /* the number observed, if the sizes are percentiles */
    uint64_t limit;          /* in the unit; 0: none */
    double tolerance;        /* 0.1: sizes within 10 % of each other are the same */
    double false_alarm;      /* chance over all looks together; above 0, below 1 */
    uint64_t look;           /* from 1 */
};

struct lab_drift {
    double distance, allowed; /* shares; a distance above `allowed` is drift */
    uint64_t size;            /* the size with this distance between the shares up to it; 0: none */
    double observed, predicted;
    bool has_limit;               /* the next three are set */
    double over;                  /* the observed share over the limit and tolerance */
    double over_least, over_most; /* lower bound of that share; upper bound of the predicted share */
    uint64_t observed_count, predicted_count;
    bool is_far, is_over; /* the distribution has drifted; more partitions are over the limit */
};

/* False when out of memory. */
bool lab_drift_judge(const struct lab_drift_question *question, struct lab_drift *out);
/* Adds the figures to the observed strategy's: drift.run is the number of the predicting run. */
bool lab_drift_metrics(const struct lab_drift *drift, int64_t run, uint64_t look, struct lab_metrics *out);

#endif
