/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a strategy's tally to its figures, under the names of the contract and in its order. */
#ifndef LAB_METRICS_H
#define LAB_METRICS_H

#include "lab/result.h"
#include "lab/tally.h"

/* Adds every metric that the run has. False when out of memory. */
bool lab_metrics_of_tally(const struct lab_tally *tally, const struct lab_scenario *scenario, uint32_t nodes,
                          struct lab_metrics *out);
/* Mean, stddev, percentiles and the rest of sizes, under PREFIX; nothing for an empty histogram, which has no
 * mean. Weighted: by rows. */
bool lab_metrics_of_sizes(const struct lab_histogram *histogram, const char *prefix, bool is_weighted,
                          struct lab_metrics *out);
/* p50, p99 and p999 of times in ns, in milliseconds, under PREFIX; nothing for an empty histogram. */
bool lab_metrics_of_latency(const struct lab_histogram *histogram, const char *prefix,
                            struct lab_metrics *out);

#endif
