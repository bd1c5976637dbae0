/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every figure that a run reports for a strategy, computed from the naive engine's lists. */
#ifndef TESTS_LAB_NAIVE_METRICS_H
#define TESTS_LAB_NAIVE_METRICS_H

#include "cassandra/ring.h"
#include "naive.h"

/* Rows and bytes of each node, including replicas; `loads` has one element for each node of the ring. */
struct naive_load {
    uint64_t rows, bytes;
};
void naive_loads(const struct naive_input *input, const struct naive_result *naive,
                 const struct cass_ring *ring, bool is_table, struct naive_load *loads);
/* Adds the metrics in the order of the contract. */
void naive_metrics(const struct naive_input *input, const struct lab_scenario *scenario,
                   const struct naive_result *naive, const struct naive_load *loads,
                   const struct lab_settings *settings, struct lab_metrics *out);

#endif
