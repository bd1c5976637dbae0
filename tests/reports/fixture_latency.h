/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made results with latencies of all sorts. */
#ifndef TESTS_REPORTS_FIXTURE_LATENCY_H
#define TESTS_REPORTS_FIXTURE_LATENCY_H

#include "fixture.h"

/* Adds operations whose latencies have this median and a tail that grows by half with each nine, and their
 * metrics. */
void fixture_spend(struct lab_strategy_result *strategy, enum lab_latency latency, double median_ns,
                   uint64_t count);
/* Adds `count` operations that took `ns` each. Call it before fixture_spent(). */
void fixture_spend_each(struct lab_strategy_result *strategy, enum lab_latency latency, uint64_t ns,
                        uint64_t count);
/* Adds the metrics of all these operations, and leaves the histogram as a result has it. */
void fixture_spent(struct lab_strategy_result *strategy, enum lab_latency latency);

enum { FIXTURE_LATENCY_COUNT = 8 };
/* The cases: one operation, all alike, 0 ns, 1 ns to 10^9 s, nine and twelve strategies, failures, locks. */
struct lab_result *fixture_latency_case(size_t index);

#endif
