/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the first partition exceeds a limit, if the stream continues at its rate, or a trace at its growth. */
#ifndef TUNE_HORIZON_H
#define TUNE_HORIZON_H

#include "lab/judgment.h"
#include "lab/scenario.h"
#include "tune/growth.h"

/* The run to which the figures belong. */
struct tune_outlook {
    const struct lab_scenario *scenario;
    struct tune_growth growth;            /* of a trace; a synthetic stream keeps its rate */
    double days;                          /* its length */
    uint64_t busiest_rows, busiest_bytes; /* of the key that has the most; 0: not known */
};

/* Whether partitions that never close stop growing within the run, since their rows expire. */
bool tune_rows_stop(const struct lab_scenario *scenario, double days);
/* Days from the first row until a partition exceeds a limit; infinity: never; NaN: not known.
 * seen_days: when one did (the metric partitions.first_over_days); NaN: none did. rows_most, bytes_most: of
 * the largest partition. Otherwise partitions without end grow with their key; the distribution gives the
 * expectation, where it is known and not only bounded; and windows of a trace grow with its rate. Nothing is
 * derived from the length of the run alone. */
double tune_first_over_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                            const struct lab_facts *facts, double seen_days, uint64_t rows_most,
                            uint64_t bytes_most);
/* When the busiest key has as many rows as a partition may have. */
double tune_unbucketed_days(const struct tune_outlook *outlook);
/* Adds what is known about limits beside the run's own partitions, to a single run: the metrics expected.*
 * and horizon.*. For a trace of four weeks or more, the file may be read to determine its growth. */
bool tune_horizons_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error);

#endif
