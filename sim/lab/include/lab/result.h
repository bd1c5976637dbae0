/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run found: plain data, all that store and reports need, and nothing of how it was run. */
#ifndef LAB_RESULT_H
#define LAB_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/bucketing.h"
#include "lab/histogram.h"
#include "lab/scenario.h"

#define LAB_METRIC_NAME_SIZE 64

/* One figure under its dotted name of the contract, without the label. */
struct lab_metric {
    char name[LAB_METRIC_NAME_SIZE];
    double value;
};

struct lab_metrics {
    struct lab_metric *items; /* in the order of the contract */
    size_t count, capacity;
};

struct lab_strategy_result {
    char *label;
    struct bk_strategy strategy;
    uint64_t placement_digest;
    struct lab_histogram closed_rows, open_rows, closed_bytes, open_bytes; /* weight: rows */
    struct lab_histogram read_partitions; /* partitions per read; empty without reads. weight: 1 */
    struct lab_metrics metrics;
};

struct lab_expect_result {
    char *text;
    double actual;
    bool ok;
};

struct lab_result {
    char *scenario_name, *about;
    char *source;                      /* of the rows: "made", or the trace's file name */
    uint64_t seed, digest, rows, keys; /* keys: that have at least one row */
    int64_t start_ns, end_ns;          /* of the run in virtual time; of a trace: from first to last row */
    struct lab_limits limits;
    size_t strategy_count;
    struct lab_strategy_result *strategies;
    size_t expect_count;
    struct lab_expect_result *expects;
    bool expects_hold;
};

/* Both take NULL for a missing name: 0 for find, and nothing is added without memory (returns false). */
bool lab_metrics_add(struct lab_metrics *metrics, const char *name, double value);
const struct lab_metric *lab_metrics_find(const struct lab_metrics *metrics, const char *name);

/* "LABEL.METRIC" -> the figure, by the longest label that fits; NULL when the run does not have it. */
const struct lab_metric *lab_result_find(const struct lab_result *result, const char *name);
void lab_result_destroy(struct lab_result *result); /* NULL is fine */

#endif
