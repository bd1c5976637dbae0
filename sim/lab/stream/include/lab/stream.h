/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine: keys do not interact, so each key is simulated separately, and all strategies get the
 * same rows.
 *
 * A worker processes one key at a time, so memory does not grow with the number of rows. A trace is in time
 * order, so its lines are first sorted by key. */
#ifndef LAB_STREAM_H
#define LAB_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cassandra/ring.h"
#include "lab/context.h"
#include "lab/scenario.h"
#include "lab/tally.h"

/* The result of both workloads, synthetic and trace. */
struct lab_stream_result {
    struct lab_tally *tallies; /* one per strategy */
    uint64_t rows, keys;
    int64_t start_ns, end_ns;
    uint64_t *weeks; /* as in struct lab_result */
    size_t week_count;
};

bool lab_stream_synthetic(const struct lab_scenario *scenario, const struct cass_ring *ring, uint32_t jobs,
                          const struct lab_run_context *context, struct lab_stream_result *out,
                          struct sim_error *error);
bool lab_stream_trace(const struct lab_scenario *scenario, const struct cass_ring *ring,
                      const struct lab_run_context *context, struct lab_stream_result *out,
                      struct sim_error *error);
void lab_stream_result_clear(struct lab_stream_result *result, size_t strategy_count);

#endif
