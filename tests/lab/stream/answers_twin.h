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

/* What follows from facts. */
struct twin_verdict {
    enum lab_within within;
    enum lab_judged_by by;
    double share, most; /* most: NaN: there is none; -1: a confidence bound */
    unsigned exceeded;
};
struct twin_verdict twin_judge(const struct lab_limits *limits, const struct lab_facts *facts);

/* Each returns false when something differs, and describes it. */

/* answers_judge.c */
bool twin_judged(const struct answer *answer, const char *label, const struct lab_limits *limits,
                 const struct lab_facts *facts, const struct lab_judgment *told);
bool twin_verdicts(const struct answer *answer);
bool twin_judgments(const struct answer *answer);
/* Observed partitions, by the list that they were read from. */
bool twin_known(const struct answer *answer, const struct lab_strategy_result *observed,
                const struct lab_limits *limits, const struct naive_result *naive);
/* The points of tablehistograms: Min, five percentiles and Max, the end and the lower end of the bucket of
 * each. */
#define TWIN_POINTS 7
struct twin_points {
    uint64_t size[TWIN_POINTS], above[TWIN_POINTS], count; /* count: of the partitions */
};
/* Whether observed partitions have drifted from those of a strategy of the run. points: NULL for a list. */
bool twin_drift(const struct answer *answer, size_t index, const struct lab_strategy_result *observed,
                enum lab_size_unit unit, const struct twin_points *points);
bool twin_choice(const struct answer *answer);
/* The rule of choice, for candidates that are drawn so that they tie and lie on the edge of the tolerance. */
bool twin_rule(const struct answer *answer);
/* The rule of choice itself. */
size_t twin_choose(const struct lab_candidate *all, size_t count, double tolerance);
/* answers_contest.c: a search with some seeds, and whether `run`, `tune` with the run's seed, and `check`
 * judge alike. */
bool twin_tune(const struct answer *answer);
bool twin_agree(const struct answer *answer);

/* answers_twin.c */
/* What decides when the first partition exceeds a limit. */
struct twin_outlook {
    double growth, days;        /* the length of the run */
    double seen;                /* the day on which it happened; NaN: it did not */
    double rows, bytes;         /* of the largest partition */
    double key_rows, key_bytes; /* of the largest key */
    double whole_days;          /* the horizon without buckets */
};
/* Whether this many days, or NaN, are the horizon of a setting, or of partitions without end. */
/* Whether partitions still grow at the end: the run has no whole one, and no row has left the disk. */
bool twin_grows(const struct answer *answer, const struct lab_settings *settings);
bool twin_horizon(const struct answer *answer, const struct lab_settings *settings,
                  const struct twin_outlook *outlook, double told);
bool twin_endless(const struct answer *answer, const struct lab_settings *settings,
                  const struct twin_outlook *outlook, double rows, double bytes, double told);
bool twin_horizons(const struct answer *answer);
/* Expected numbers of partitions above drawn limits. */
bool twin_expected(const struct answer *answer);
/* Popularity by its definition; buckets of settings that change, which the naive engine shares with the core.
 */
bool twin_shares(const struct answer *answer);
bool twin_spikes(const struct answer *answer);
bool twin_rates(const struct answer *answer);
bool twin_windows(const struct answer *answer);
bool twin_eras(const struct answer *answer);
bool twin_values(const struct answer *answer);

__attribute__((format(printf, 2, 3))) bool twin_differs(const struct answer *answer, const char *format, ...);
double twin_metric(const struct lab_strategy_result *strategy, const char *name); /* NaN: absent */
double twin_or_zero(double value);
double twin_cv(const struct lab_settings *settings, double seen);
bool twin_is_near(double told, double wanted);
/* P(T > t) of Student's distribution. */
double twin_student_above(double t, double degrees);
/* P(at most k of n), each with chance p. */
double twin_binomial_upto(double k, double n, double p);

#endif
