/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a run: plain data, everything that store and reports need, and nothing about how it was
 * run. */
#ifndef LAB_RESULT_H
#define LAB_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/agent.h"
#include "bucketing/bucketing.h"
#include "cassandra/ring.h"
#include "kernel/archive.h"
#include "lab/histogram.h"
#include "lab/oracle.h"
#include "lab/scenario.h"
#include "lab/tally.h"

#define LAB_METRIC_NAME_SIZE 64

/* A metric: its dotted name (lab/metric.h), without the label, and its value. */
struct lab_metric {
    char name[LAB_METRIC_NAME_SIZE];
    double value;
};

struct lab_metrics {
    struct lab_metric *items; /* in the order of lab_metric_table */
    size_t count, capacity;
};

/* A digest of the events of a cluster run: `digest` covers all of them, and after every `stride` events the
 * low 16 bits of the digest so far are stored as a mark, so that the first event that differs between two
 * runs can be found. */
#define LAB_EVENT_MARKS_MAX (1u << 17)
struct lab_event_log {
    uint64_t digest, events;
    uint64_t stride; /* a power of two, as small as LAB_EVENT_MARKS_MAX allows; 0: not a cluster run */
    uint16_t *marks; /* events / stride marks */
    size_t mark_count;
};

/* An agent's view of one key's bucket around the key's first change, for a chart. */
struct lab_view {
    int64_t time_ns;
    uint32_t agent;
    int64_t bucket;
    bool is_known;    /* the key was in the agent's cache */
    bool is_changing; /* the cache also had a change whose date was still ahead */
};
struct lab_views {
    char *key;         /* name of the key; NULL: there was no change */
    int64_t change_ns; /* when the change was stored */
    int64_t until_ns;  /* when rows begin to go to the next bucket */
    uint32_t agents;
    struct lab_view *items; /* sorted by time, then agent */
    size_t count, capacity;
};

/* Operations whose latency a cluster run measures, for its metrics `latency.NAME.*`. */
enum lab_latency {
    LAB_LATENCY_WRITE,
    LAB_LATENCY_READ,
    LAB_LATENCY_COUNTER,
    LAB_LATENCY_LWT,
    LAB_LATENCY_LOCK,  /* identifiers: from the request for a batch until the lock is acquired, */
    LAB_LATENCY_LEASE, /* and until the batch is leased */
    LAB_LATENCY_COUNT
};
/* Significant bits of the latencies in a result, which are rounded up by at most 1.6 %. */
#define LAB_LATENCY_BITS 7

/* The rows and bytes of a node at the end of the run, including replicas. */
#define LAB_NODE_NAME_SIZE 64
struct lab_node_load {
    char name[LAB_NODE_NAME_SIZE]; /* "node 3", as faults name it; "dc2 node 3" with several datacenters */
    uint64_t rows, bytes;
};

struct lab_strategy_result {
    char *label;
    /* If settings.observed is set, nothing was run, and all partitions count as open. With
     * WL_OBSERVED_PERCENTILES, open_bytes has hundredths of the partitions instead of partitions, each with
     * its largest possible size. */
    struct lab_settings settings;
    uint64_t placement_digest; /* for an observed strategy, a digest of its sizes */
    struct lab_histogram closed_rows, open_rows, closed_bytes, open_bytes; /* weight: rows */
    struct lab_sizes sizes[LAB_SIZE_UNITS]; /* of a race of `tune`, instead of the bins of these histograms */
    struct lab_histogram read_partitions;   /* partitions per read; empty without reads. weight: 1 */
    struct lab_histogram latency[LAB_LATENCY_COUNT]; /* in ns, rounded up to LAB_LATENCY_BITS significant
                                                        bits; empty if nothing was measured. weight: 1 */
    struct lab_largest largest[LAB_SIZE_UNITS]; /* of all partitions, closed and open; none if the scenario's
                                                   table has other partitions than (key, bucket) */
    struct lab_timeline
        timeline; /* timeline of those partitions; empty if nothing was run, and for identifiers */
    struct lab_node_load *nodes; /* in the order of their numbers; none if the timeline is empty */
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
    char *source;                      /* source of the rows: "synthetic", or the trace's file name */
    uint64_t seed, digest, rows, keys; /* keys: number of keys with at least one row */
    int64_t start_ns, end_ns; /* start and end of the run in virtual time; for a trace, the times of its first
                                 and last row */
    uint64_t *weeks;          /* trace: the rows of each whole week up to the end, oldest first */
    size_t week_count;        /* 0: not counted */
    struct lab_limits limits;
    struct lab_prices prices;
    size_t strategy_count;
    struct lab_strategy_result *strategies;
    size_t expect_count;
    struct lab_expect_result *expects;
    bool expects_hold;
    bool is_tuned; /* the run belongs to a `tune`, which chose among these strategies by this and other seeds
                    */
};

/* The name of a latency: "latency.write" and so on. */
const char *lab_latency_name(enum lab_latency latency);
/* lab_kind_name() of the strategy's settings. */
const char *lab_result_kind(const struct lab_strategy_result *strategy);
/* lab_metrics_add() appends a metric; it returns false, and adds nothing, when out of memory.
 * lab_metrics_find() returns NULL when there is no metric of this name. */
bool lab_metrics_add(struct lab_metrics *metrics, const char *name, double value);
const struct lab_metric *lab_metrics_find(const struct lab_metrics *metrics, const char *name);

/* Finds the metric "LABEL.METRIC", by the longest label that matches; NULL when the run does not have it. */
const struct lab_metric *lab_result_find(const struct lab_result *result, const char *name);
/* Whether nothing was run, and all strategies were observed. */
bool lab_result_is_observed(const struct lab_result *result);
void lab_result_destroy(struct lab_result *result); /* result may be NULL */
/* Frees the contents. */
void lab_strategy_result_clear(struct lab_strategy_result *strategy);

/* Makes a result, for both engines: lab_result_begin(), then strategy by strategy. */
/* Makes a result without strategies; NULL when out of memory. The digest begins with rows and keys. It has
 * room for all strategies, and for the observed ones after them. */
struct lab_result *lab_result_begin(const struct lab_scenario *scenario, uint64_t rows, uint64_t keys,
                                    int64_t start_ns, int64_t end_ns);
/* Adds the scenario's next strategy, with its label and its digest, which is chained to the run's. NULL when
 * out of memory, and when the tally has lost something because memory ran out. The caller must add the
 * metrics. */
struct lab_strategy_result *lab_result_add(struct lab_result *result, const struct lab_scenario *scenario,
                                           size_t index, const struct lab_tally *tally);
/* nodes.c: computes the rows and bytes of each node, if the strategy has rows. Returns false when out of
 * memory. */
bool lab_result_nodes(struct lab_strategy_result *strategy, const struct lab_scenario *scenario,
                      const struct lab_tally *tally);
/* Moves the histograms out of the tally. */
void lab_result_take(struct lab_strategy_result *strategy, struct lab_tally *tally);

/* books.c: whether each row of the workload is in a partition, was refused, or its outcome is unknown, under
 * every strategy of a complete run. Fails with SIM_ERROR_ENVIRONMENT. */
bool lab_books_check(const struct lab_scenario *scenario, const struct lab_result *result,
                     struct sim_error *error);

/* result_archive.c: saves or loads. Loading needs a zeroed result; lab_result_destroy() must be called even
 * after a failure. */
void lab_result_archive(struct lab_result *result, struct sim_archive *archive);

/* Makes the ring of a scenario's cluster, for the stream engine. */
/* Tokens are derived from the scenario's seed. Errors: as for cass_ring_create(). */
bool lab_ring_create(const struct lab_scenario *scenario, struct cass_ring **out, struct sim_error *error);

#endif
