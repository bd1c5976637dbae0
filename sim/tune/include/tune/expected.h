/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many partitions are expected to exceed a limit, by the distribution of their sizes, and when the first
 * one does.
 *
 * The rows of a partition are: N for `count`; negative binomial for `probabilistic` (tune/odds.h) and for
 * `weighted`, where rows may make several increments and are a renewal process; and, for windows of `time`,
 * buckets of `hash` and the partitions of `unbucketed`, Poisson, given the integral of the key's rate, which
 * bursts, spikes and the daily curve change, or, of rows in equal steps, binomial. The bytes of rows of drawn
 * sizes are a sum of independent sizes, whose distribution is inverted from its transform.
 *
 * Partitions that end are expected for LAB_JUDGED_DAYS of the stream, or for the run if it is longer: the
 * run, and after it the windows of the stream without spikes. There, bursts are those of all seeds: the share
 * of a window in bursts has a known distribution, and the upper bound lets them strike at the peak of the
 * day. Partitions that count rows are the renewal process of each key, in each age. Those without end are
 * expected for the run. Rows that have left the disk do not count.
 *
 * Nothing is known where rows are deleted, where a table has other partitions than (key, bucket), and where
 * settings change during the run. With agents, the number is a lower bound for partitions that count rows,
 * except that `count: external` never has more than N. Of a trace, windows and hash buckets are what they are
 * in the run. */
#ifndef TUNE_EXPECTED_H
#define TUNE_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/judgment.h"
#include "lab/result.h"
#include "lab/scenario.h"

#define TUNE_EXPECTED_ENOUGH 1.0

struct tune_prospect {
    const struct lab_scenario *scenario; /* with a limit */
    double factor;                       /* of the scenario's rate */
    double rows, keys;                   /* of the run at this rate, for a trace */
    bool is_verdict; /* where more than TUNE_EXPECTED_ENOUGH partitions exceed a limit, and none may, the
                        upper bound may be infinite */
    double seconds, busiest; /* the length of the run, and the rows of the busiest key, for limited rates */
};
/* Sets the members of *out that begin with `expected`, and has_distribution; the others are not changed.
 * Deterministic; costs some milliseconds at most, or up to a second where keys burst. False: out of memory.
 */
bool tune_expected_of(const struct tune_prospect *prospect, const struct lab_settings *settings,
                      struct lab_facts *out);
/* What is known of the busiest second of a partition, of each rate that has a limit; is_counted stays false.
 * False: out of memory. */
bool tune_rates_of(const struct tune_prospect *prospect, const struct lab_settings *settings,
                   struct lab_rate_facts *out);
/* Adds the metrics rates.*; false when out of memory. */
bool tune_rates_add(const struct tune_prospect *prospect, struct lab_strategy_result *strategy);
/* Six digits, so that a metric does not depend on the last bits of a machine's logarithm. */
double tune_rounded(double value);
/* Whether partitions are those of (key, bucket) alone, of rows that the lab makes, by settings that stay. */
bool tune_is_plain(const struct lab_scenario *scenario, const struct lab_settings *settings);
/* Whether the rows of each key come at the rate of the scenario: Poisson, or in equal steps. */
bool tune_has_rate(const struct lab_scenario *scenario);

/* The growth of a trace, whose rate is modelled as r e^(gt). Whole weeks are compared, because rates have
 * daily and weekly cycles: each week of the second half with the week half the trace earlier. The logarithms
 * of these ratios are a sample, and g is their mean divided by the time between the weeks. The trace counts
 * as growing if the confidence interval of g is above 0. So at least four weeks are needed, and a stream that
 * shrinks, or only fluctuates, does not grow. */
enum { TUNE_GROWTH_WEEKS = 4 };

struct tune_growth {
    uint64_t weeks; /* whole weeks of the trace; below TUNE_GROWTH_WEEKS the growth is not known */
    double per_day; /* g; 0 if the trace does not grow or its growth is not known */
};

/* Reads the scenario's trace and determines the growth of its rows in [start_ns, end_ns). */
bool tune_growth_read(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                      double confidence, struct tune_growth *out, struct sim_error *error);
/* Determines the growth from a run with the trace, which may have counted the rows by week, so that the trace
 * need not be read again. A synthetic stream grows as its scenario says. */
bool tune_growth_of_run(const struct lab_scenario *scenario, const struct lab_result *result,
                        double confidence, struct tune_growth *out, struct sim_error *error);
/* Returns the number of days in which the rate doubles; infinity if it does not grow. */
double tune_growth_doubles(const struct tune_growth *growth);

/* When the first partition exceeds a limit, if the stream continues at its rate, or a trace at its growth.
 * The run to which the figures belong. */
struct tune_outlook {
    const struct lab_scenario *scenario;
    struct tune_growth growth;            /* of the stream */
    double days, rows;                    /* its length, and all its rows */
    uint64_t busiest_rows, busiest_bytes; /* of the key that has the most; 0: not known */
    double unbucketed_days;               /* until a key has more rows than a partition may have */
};

/* The unbucketed_days of an outlook whose other members are set. False, here and below: out of memory. */
bool tune_unbucketed_days(const struct tune_outlook *outlook, double *out);
/* Days from the first row until a partition exceeds a limit; infinity: never; NaN: not known.
 * seen_days: when one did (the metric partitions.first_over_days); NaN: none did. rows_most, bytes_most: of
 * the largest partition. Otherwise it is the median of the first passage by the distribution, on the
 * condition that it is after the run if there was one; or, of partitions without end, the largest one's
 * growth where there is no distribution; and windows of a trace grow with its rate. Nothing is derived from
 * the length of the run alone. */
bool tune_first_over_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                          double seen_days, uint64_t rows_most, uint64_t bytes_most, double *out);
/* Adds what is known about limits beside the run's own partitions, to a single run: the metrics expected.*
 * and horizon.*. For a trace of four weeks or more, the file may be read to determine its growth, with which
 * what a node holds grows (capacity.*). Call it once. */
bool tune_horizons_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error);

#endif
