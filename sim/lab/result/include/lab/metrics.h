/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes the metrics of a strategy from its tally, in the order of lab_metric_table. */
#ifndef LAB_METRICS_H
#define LAB_METRICS_H

#include "lab/result.h"
#include "lab/tally.h"

/* Adds every metric that the run has. start_ns: the start of the run. Returns false when out of memory. */
bool lab_metrics_of_tally(const struct lab_tally *tally, const struct lab_scenario *scenario,
                          int64_t start_ns, uint32_t nodes, struct lab_metrics *out);
/* Adds mean, standard deviation, percentiles and the other metrics of sizes, with the prefix; nothing for an
 * empty histogram. is_weighted: weighted by rows. */
bool lab_metrics_of_sizes(const struct lab_histogram *histogram, const char *prefix, bool is_weighted,
                          struct lab_metrics *out);
/* Adds p50, p99 and p999 of times, in milliseconds, with the prefix; nothing for an empty histogram. The
 * histogram is in ns. */
bool lab_metrics_of_latency(const struct lab_histogram *histogram, const char *prefix,
                            struct lab_metrics *out);

#endif
