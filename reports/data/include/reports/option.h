/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the answer says about one strategy of a run, or one setting of `tune`, and the answer. Both commands
 * fill these values, and one function makes the answer of them (reports/answer.h). */
#ifndef REPORTS_OPTION_H
#define REPORTS_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/judgment.h"
#include "lab/result.h"

/* How long a table without buckets stays within the limits. If that is at least a year, no buckets are needed
 * yet. */
#define REPORT_ENOUGH_DAYS 365.0

struct report_horizon {
    double days_left;    /* days after the end of the run for which `unbucketed` stays within the limits;
                            infinity: without end; NaN: it exceeds them already */
    double doubles_days; /* days in which the rate of a trace doubles; infinity: it does not grow */
    bool is_trace;
    uint64_t limit_rows, limit_bytes; /* 0: none */
    double rows_most, bytes_most;     /* size of its largest partition at the end of the run */
};

/* The horizon of a run with at least one strategy. */
struct report_horizon report_horizon_of(const struct lab_result *result);

struct report_option {
    const char *label; /* as in the scenario */
    const struct lab_settings *settings;
    struct lab_score score;
    double closed; /* partitions that have, in all seeds; 0 and sizes known: those are of open ones */
    /* NaN: not known. */
    double rows_mean, bytes_mean; /* of closed partitions, or of all if none has closed */
    double rows_max, bytes_max;   /* of all partitions */
    double ops;                   /* operations in addition to the inserts, per 1000 rows */
    double per_read;              /* partitions per read, on average */
    double first_over_days;       /* from the first row until a partition exceeds a limit; infinity: never */
    double holds_at, fails_at;    /* the highest multiple of the rate that was tried and is within the
                                     limits, and the lowest that is not */
    uint32_t seeds; /* all of them have the largest partition, the first one is tried at other rates */
    double rows, refused, refused_share, replaced, misrouted; /* rows; replaced by a later one with the same
                                          primary key; refused_share: lab_refused_share() */
    double reads, reads_failed;
    double node_days, node_bytes, node_disk, node_writes, node_reads; /* the metrics capacity.* */
};

/* What all options have in common. */
struct report_terms {
    const struct lab_limits *limits;
    const struct lab_prices *prices;
    struct report_horizon horizon; /* of a table without buckets */
    bool is_observed;              /* nothing was run: sizes were read from files */
};

struct report_answer_line {
    const char *label, *text;
};

/* Each text is one line, and neither NULL nor empty. Labels are written as in the scenario. */
enum { REPORT_ANSWER_LINES_MAX = 9 };
struct report_answer {
    const char *asked;    /* the scenario, its strategies, rows, keys and limits; "" for options of `tune` */
    const char *headline; /* one sentence that can be acted on */
    struct report_answer_line lines[REPORT_ANSWER_LINES_MAX];
    size_t line_count;
    size_t chosen;                  /* index of the option; SIZE_MAX: none */
    const struct lab_score *scores; /* one per option */
    const char *const *verdicts; /* one per option: what is against it, or why it is within the limits; "" for
                                    identifiers */
};

#endif
