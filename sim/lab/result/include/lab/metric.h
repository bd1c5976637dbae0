/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of metrics: each metric of a strategy, or family of metrics, has one row with its name, its unit,
 * its meaning, and when a run does not have it.
 *
 * Engines add metrics by these names (lab/metrics.h). Expectations, `check`, `diff`, `sweep`, shell
 * completion and the reference in docs/metrics.md read this table. */
#ifndef LAB_METRIC_H
#define LAB_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/result.h"
#include "lab/tally.h"

#define LAB_METRIC_UNIT_MAP(X)                                                                               \
    X(PARTITIONS, "partitions")                                                                              \
    X(ROWS, "rows")                                                                                          \
    X(BYTES, "bytes")                                                                                        \
    X(OPERATIONS, "operations")                                                                              \
    X(READS, "reads")                                                                                        \
    X(MS, "ms")                                                                                              \
    X(SHARE, "share")                                                                                        \
    X(RATIO, "ratio")                                                                                        \
    X(ROWS_PER_S, "rows/s")                                                                                  \
    X(OPERATIONS_PER_S, "operations/s")                                                                      \
    X(TOMBSTONES, "tombstones")                                                                              \
    X(IDENTIFIERS, "identifiers")                                                                            \
    X(IDENTIFIERS_PER_S, "identifiers/s")                                                                    \
    X(LEASES, "leases")                                                                                      \
    X(LOCKS, "locks")                                                                                        \
    X(DAYS, "days")                                                                                          \
    X(EVENTS, "events")                                                                                      \
    X(NUMBER, "number")                                                                                      \
    X(VIOLATIONS, "see below")

enum lab_metric_unit {
#define LAB_METRIC_UNIT_ENUM(name, text) LAB_METRIC_##name,
    LAB_METRIC_UNIT_MAP(LAB_METRIC_UNIT_ENUM)
#undef LAB_METRIC_UNIT_ENUM
};
const char *lab_metric_unit_name(enum lab_metric_unit unit);

/* The range of times in days; a span of this length means never. */
#define LAB_DAYS_MOST 106751.0

/* To which largest partition a metric refers, so that `check` can name the partition. */
enum lab_metric_largest { LAB_LARGEST_NONE, LAB_LARGEST_ROWS, LAB_LARGEST_BYTES, LAB_LARGEST_EITHER };

struct lab_metric_row {
    const char *section; /* its heading in docs/metrics.md */
    const char *name;    /* "partitions.total"; a part that is * is replaced by each of `members` */
    const char *members; /* separated by spaces; NULL: none */
    enum lab_metric_unit unit;
    enum lab_metric_largest largest;
    bool is_of_kinds; /* with several kinds of read, the metric also exists as reads.KIND and the rest of its
                         name */
    bool is_late;     /* added to a result after its expectations were judged, so none can name the metric */
    const char *absent; /* the text after "absent "; NULL: every run has the metric */
    const char *meaning;
};

extern const struct lab_metric_row lab_metric_table[];
extern const size_t lab_metric_row_count;

/* The row of a metric's name, without the label of a strategy; NULL: there is no such metric. Cost: linear in
 * the table. */
const struct lab_metric_row *lab_metric_row_of(const char *name);
/* The name that `name` probably means: the first one that has all parts of `name` in their order and few
 * more, or else the nearest in spelling; NULL: there is none. "partitions.bytes" is
 * "partitions.all.bytes.mean". */
const char *lab_metric_nearest(const char *name, const char *const *names, size_t count);
/* Calls `each` with the name of every metric of the row: once, or once for each member. */
void lab_metric_names(const struct lab_metric_row *row, void (*each)(void *context, const char *name),
                      void *context);

/* Adds the metrics of a strategy that its tally has, in the order of lab_metric_table. start_ns: the start of
 * the run. Returns false when out of memory. */
bool lab_metrics_of_tally(const struct lab_tally *tally, const struct lab_scenario *scenario,
                          int64_t start_ns, uint32_t nodes, struct lab_metrics *out);
/* Adds what a node holds when the rows have reached their time to live, or after LAB_CAPACITY_DAYS without
 * one, and what it does; `seconds`: the length of the run. On average over nodes and time; a synthetic stream
 * grows on, from the rate at its start. Also adds how many partitions a range is expected to query, where all
 * begin before the stream. */
#define LAB_CAPACITY_DAYS 365.0
/* TimeWindowCompactionStrategy rewrites one of about 25 windows at a time; SizeTieredCompactionStrategy may
 * rewrite all of a table. */
#define LAB_DISK_SPARE 0.04
/* How many times as many rows come in the first kept_days as at the mean rate of the first run_days, if the
 * rate grows e-fold in 1 / per_day. */
double lab_growth_times(double per_day, double run_days, double kept_days);
bool lab_metrics_of_capacity(const struct lab_tally *tally, const struct lab_scenario *scenario,
                             const struct lab_settings *settings, double seconds, struct lab_metrics *out);
/* Adds mean, standard deviation, percentiles and the other metrics of sizes, with the prefix; nothing for an
 * empty histogram. is_weighted: weighted by rows. */
bool lab_metrics_of_sizes(const struct lab_histogram *histogram, const char *prefix, bool is_weighted,
                          struct lab_metrics *out);
/* Adds p50, p99 and p999 of times, in milliseconds, with the prefix; nothing for an empty histogram. The
 * histogram is in ns. */
bool lab_metrics_of_latency(const struct lab_histogram *histogram, const char *prefix,
                            struct lab_metrics *out);

#endif
