/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run found: plain data, all that store and reports need, and nothing of how it was run. */
#ifndef LAB_RESULT_H
#define LAB_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/agent.h"
#include "bucketing/bucketing.h"
#include "lab/histogram.h"
#include "lab/largest.h"
#include "lab/oracle.h"
#include "lab/scenario.h"
#include "lab/timeline.h"

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

/* Every event of a cluster run, folded: `digest` over all of them, and after each `stride` events the low 16
 * bits of the digest so far, so that the first event that differs between two runs can be named. */
#define LAB_EVENT_MARKS_MAX (1u << 17)
struct lab_event_log {
    uint64_t digest, events;
    uint64_t stride; /* a power of two, as small as the marks allow; 0: no cluster run */
    uint16_t *marks; /* events / stride of them */
    size_t mark_count;
};

/* What the agents believe of one key's bucket around its first change, as a chart shows it. */
struct lab_view {
    int64_t time_ns;
    uint32_t agent;
    int64_t bucket;
    bool is_known;    /* the agent's cache knew the key */
    bool is_changing; /* and a change that is still to come */
};
struct lab_views {
    char *key;         /* its name; NULL: no change was seen */
    int64_t change_ns; /* when the change was stored */
    int64_t until_ns;  /* from when on rows go to the next bucket */
    uint32_t agents;
    struct lab_view *items; /* in order of time, then agent */
    size_t count, capacity;
};

/* What a cluster run takes the time of, as its metrics `latency.NAME.*` say it. */
enum lab_latency {
    LAB_LATENCY_WRITE,
    LAB_LATENCY_READ,
    LAB_LATENCY_COUNTER,
    LAB_LATENCY_LWT,
    LAB_LATENCY_LOCK,  /* of identifiers: from the wish for a batch until the lock is had, */
    LAB_LATENCY_LEASE, /* and until the batch is */
    LAB_LATENCY_COUNT
};
/* Of the times that a result keeps: at most 1.6 % more than they were. */
#define LAB_LATENCY_BITS 7

/* What a node holds at the end, replicas included. */
#define LAB_NODE_NAME_SIZE 64
struct lab_node_load {
    char name[LAB_NODE_NAME_SIZE]; /* "node 3", as faults name it; "dc2 node 3" where there are several */
    uint64_t rows, bytes;
};

struct lab_strategy_result {
    char *label;
    /* Where observed is set nothing was run: all partitions count as open. Of WL_OBSERVED_PERCENTILES
     * open_bytes holds hundredths of the partitions in place of partitions, each as large as it can be. */
    struct lab_settings settings;
    uint64_t placement_digest; /* of one that was observed: over its sizes */
    struct lab_histogram closed_rows, open_rows, closed_bytes, open_bytes; /* weight: rows */
    struct lab_histogram read_partitions;            /* partitions per read; empty without reads. weight: 1 */
    struct lab_histogram latency[LAB_LATENCY_COUNT]; /* ns, rounded up to LAB_LATENCY_BITS significant bits;
                                                        empty where nothing was timed. weight: 1 */
    struct lab_largest largest[LAB_SIZE_UNITS]; /* of all, closed and open; none where a table has partitions
                                                   of its own */
    struct lab_timeline timeline; /* of those partitions; empty where nothing was run, and of identifiers */
    struct lab_node_load *nodes;  /* in the order of their numbers; none where timeline is empty */
    size_t node_count;
    struct lab_metrics metrics;
    struct lab_event_log events; /* of a cluster run */
    struct lab_views views;
    struct lab_verdict verdict; /* of a cluster run */
};

struct lab_expect_result {
    char *text;
    double actual;
    bool ok;
};

struct lab_result {
    char *scenario_name, *about;
    char *source;                      /* of the rows: "synthetic", or the trace's file name */
    uint64_t seed, digest, rows, keys; /* keys: that have at least one row */
    int64_t start_ns, end_ns;          /* of the run in virtual time; of a trace: from first to last row */
    uint64_t *weeks;                   /* of a trace: rows of each whole week up to the end, oldest first */
    size_t week_count;                 /* 0: nobody counted */
    struct lab_limits limits;
    struct lab_prices prices;
    size_t strategy_count;
    struct lab_strategy_result *strategies;
    size_t expect_count;
    struct lab_expect_result *expects;
    bool expects_hold;
    bool is_tuned; /* `tune` chose from these by several seeds, of which this run is one: the choice is its */
};

/* "latency.write" and so on. */
const char *lab_latency_name(enum lab_latency latency);
/* lab_kind_name() of its settings. */
const char *lab_result_kind(const struct lab_strategy_result *strategy);
/* Both take NULL for a missing name: 0 for find, and nothing is added when out of memory (returns false). */
bool lab_metrics_add(struct lab_metrics *metrics, const char *name, double value);
const struct lab_metric *lab_metrics_find(const struct lab_metrics *metrics, const char *name);

/* "LABEL.METRIC" -> the figure, by the longest label that fits; NULL when the run does not have it. */
const struct lab_metric *lab_result_find(const struct lab_result *result, const char *name);
/* Whether nothing was run, and all that stands in it was observed. */
bool lab_result_is_observed(const struct lab_result *result);
void lab_result_destroy(struct lab_result *result); /* NULL is fine */
/* Frees what it holds. */
void lab_strategy_result_clear(struct lab_strategy_result *strategy);

#endif
