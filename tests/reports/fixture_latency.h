/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results with latencies of all sorts, made by hand. */
#ifndef TESTS_REPORTS_FIXTURE_LATENCY_H
#define TESTS_REPORTS_FIXTURE_LATENCY_H

#include "fixture.h"

/* Operations whose latencies have this median, and a tail that grows by half with each nine; and their
 * metrics. */
void fixture_spend(struct lab_strategy_result *strategy, enum lab_latency latency, double median_ns,
                   uint64_t count);
/* So many that took so long each. Before fixture_spent(). */
void fixture_spend_each(struct lab_strategy_result *strategy, enum lab_latency latency, uint64_t ns,
                        uint64_t count);
/* The metrics of all that was spent so, and the histogram as a result has it. */
void fixture_spent(struct lab_strategy_result *strategy, enum lab_latency latency);

enum { FIXTURE_LATENCY_COUNT = 8 };
/* One operation, all alike, 0 ns, 1 ns to 10^9 s, nine and twelve strategies, some that failed, locks. */
struct lab_result *fixture_latency_case(size_t index);

#endif
