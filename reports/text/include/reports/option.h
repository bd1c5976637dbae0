/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the answer says about one strategy of a run, or one setting of `tune`. Both commands fill this value,
 * and one function makes the answer of it (reports/answer.h). */
#ifndef REPORTS_OPTION_H
#define REPORTS_OPTION_H

#include <stdbool.h>

#include "lab/judgment.h"

struct report_option {
    const char *label; /* as in the scenario */
    const struct lab_settings *settings;
    struct lab_score score;
    /* NaN: not known. */
    double rows_mean, bytes_mean, rows_max,
        bytes_max;             /* of closed partitions, or of all if none has closed */
    double ops;                /* operations in addition to the inserts, per 1000 rows */
    double per_read;           /* partitions per read, on average */
    double first_over_days;    /* from the first row until a partition exceeds a limit; infinity: never */
    double holds_at, fails_at; /* the highest multiple of the rate that was tried and is within the limits,
                                  and the lowest that is not */
};

#endif
