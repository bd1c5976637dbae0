/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second opinion on what a run's answer says: verdicts, costs, the choice, expected numbers, growth and
 * horizons, each computed from its definition in the plainest way: tails term by term, growth from the list
 * of all rows, equations by putting the answer into them. It shares the metrics of the run, which the naive
 * engine checks to the last bit (naive_check()), and no code with sim/tune or the judge. */
#ifndef TESTS_LAB_ANSWERS_TWIN_H
#define TESTS_LAB_ANSWERS_TWIN_H

#include "lab/judgment.h"
#include "naive.h"

struct answer {
    const struct lab_scenario *scenario;
    const struct naive_input *input;
    const struct lab_result *result; /* with the metrics expected.* and horizon.* */
    struct sim_random *random;
    char *message; /* the first difference */
    size_t size;
};

/* Each returns false when something differs, and describes it. */
bool twin_verdicts(const struct answer *answer);
bool twin_choice(const struct answer *answer);
/* The rule of choice, for candidates that are drawn so that they tie and lie on the edge of the tolerance. */
bool twin_rule(const struct answer *answer);
/* The rule of choice itself. */
size_t twin_choose(const struct lab_candidate *all, size_t count, double tolerance);
/* answers_contest.c: `tune` with two seeds. */
bool twin_tune(const struct answer *answer);
bool twin_horizons(const struct answer *answer);
/* Expected numbers of partitions above drawn limits. */
bool twin_expected(const struct answer *answer);
/* Popularity by its definition; buckets of settings that change, which the naive engine shares with the core.
 */
bool twin_shares(const struct answer *answer);
bool twin_eras(const struct answer *answer);

__attribute__((format(printf, 2, 3))) bool twin_differs(const struct answer *answer, const char *format, ...);
double twin_metric(const struct lab_strategy_result *strategy, const char *name); /* NaN: absent */

#endif
