/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of `trace` share: the summary of a trace, and a synthetic scenario that is fitted to it. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <jansson.h>

#include "lab/histogram.h"
#include "lab/scenario.h"
#include "tune/expected.h"
#include "workload/trace.h"

/* --- trace.c: a summary of the trace's span, keys, rates, sizes and gaps */

#define TRACE_PARTS     16
#define TRACE_RANKS_MAX 64

/* The time slot with the most rows. */
struct trace_peak {
    int64_t slot_ns; /* 0: not known */
    int64_t begin_ns;
    uint64_t rows;
    double over_mean; /* its rows as a multiple of the mean of all slots */
    double empty;     /* share of the slots that have no rows */
};

struct trace_summary {
    char read_as[WL_TRACE_TEXT_SIZE];
    uint64_t rows, bytes;
    uint32_t keys;
    int64_t first_ns, last_ns;
    bool has_sizes, has_gaps;
    bool is_sorted;    /* the rows were not in order of time */
    bool has_arrivals; /* the trace has a column with the times of arrival */
    uint64_t late_rows;
    double late_mean_ns;                           /* of the late rows */
    double top_key, top_1_percent, top_10_percent; /* shares of the rows */
    struct trace_peak minute, hour;
    double second_half; /* ratio of the rows in the second half of the span to those in the first half */
    struct tune_growth growth;
    bool has_day;                    /* the trace spans two days or more */
    int busiest_hour, quietest_hour; /* hour of the day, UTC */
    double busiest_over_mean, quietest_over_mean;
    /* parts: rows in equal parts of the span. rank_rows: rows of the keys with the given ranks, where rank 1
     * has the most rows; ranks are far apart in the tail. */
    uint64_t parts[TRACE_PARTS];
    uint32_t rank_count, ranks[TRACE_RANKS_MAX];
    uint64_t rank_rows[TRACE_RANKS_MAX];
    struct lab_histogram key_rows, sizes, gaps_ms; /* gaps: between rows of a key */
    struct lab_histogram late_ms;                  /* of the late rows */
};

/* --- trace_fit.c: a synthetic scenario whose partitions are close to the trace's */

/* Fits a scenario on one seed, compares it on another, writes it to path, and describes it: prints it, or,
 * with is_json, sets *json. Fails with SIM_ERROR_CHECK, with all this done, when a figure deviates too
 * much. */
bool trace_fit(const struct lab_scenario *trace, const struct trace_summary *summary, const char *path,
               bool is_json, json_t **json, struct sim_error *error);

#endif
