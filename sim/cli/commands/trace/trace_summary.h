/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace is: its span, keys, rates, sizes and gaps, found in two passes. */
#ifndef CLI_TRACE_SUMMARY_H
#define CLI_TRACE_SUMMARY_H

#include "lab/histogram.h"
#include "lab/scenario.h"
#include "tune/growth.h"
#include "workload/trace.h"

#define TRACE_PARTS     16
#define TRACE_RANKS_MAX 64

/* Rows in one slot of time, the one that has most. */
struct trace_peak {
    int64_t slot_ns; /* 0: not known */
    int64_t begin_ns;
    uint64_t rows;
    double over_mean; /* how many times those of a slot on average */
    double empty;     /* share of the slots without a row */
};

struct trace_summary {
    char read_as[WL_TRACE_TEXT_SIZE];
    uint64_t rows, bytes;
    uint32_t keys;
    int64_t first_ns, last_ns;
    bool has_sizes, has_gaps;
    double top_key, top_1_percent, top_10_percent; /* shares of the rows */
    struct trace_peak minute, hour;
    double second_half; /* rows of the second half of the span over those of the first */
    struct tune_growth growth;
    bool has_day;                    /* the trace spans two days or more */
    int busiest_hour, quietest_hour; /* of the day, UTC */
    double busiest_over_mean, quietest_over_mean;
    /* Rows in equal parts of the span, and of keys by rank from the one that has most, far apart in the tail.
     */
    uint64_t parts[TRACE_PARTS];
    uint32_t rank_count, ranks[TRACE_RANKS_MAX];
    uint64_t rank_rows[TRACE_RANKS_MAX];
    struct lab_histogram key_rows, sizes, gaps_ms; /* gaps: between rows of a key */
};

bool trace_summary_make(const struct lab_scenario *scenario, struct trace_summary *out,
                        struct sim_error *error);
/* The least size that is not below `share` of them; 0 when there are none. */
uint64_t trace_summary_quantile(const struct lab_histogram *histogram, double share);
void trace_summary_clear(struct trace_summary *summary);

#endif
