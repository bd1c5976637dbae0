/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How both engines make a result: begin, then strategy by strategy. */
#ifndef LAB_RESULT_MAKE_H
#define LAB_RESULT_MAKE_H

#include "kernel/archive.h"
#include "lab/result.h"
#include "lab/tally.h"

/* NULL when out of memory. The digest begins with rows and keys. There is room for all strategies, and for
 * those that were observed behind them. */
struct lab_result *lab_result_begin(const struct lab_scenario *scenario, uint64_t rows, uint64_t keys,
                                    int64_t start_ns, int64_t end_ns);
/* Adds the scenario's next strategy, with its label and digest, which is chained to the run's; NULL when out
 * of memory, also when the tally lost something for want of it. The metrics are the caller's to add. */
struct lab_strategy_result *lab_result_add(struct lab_result *result, const struct lab_scenario *scenario,
                                           size_t index, const struct lab_tally *tally);
/* Moves the histograms out of the tally. */
/* nodes.c: what each node holds of the strategy's rows, if any. False when out of memory. */
bool lab_result_nodes(struct lab_strategy_result *strategy, const struct lab_scenario *scenario,
                      const struct lab_tally *tally);
void lab_result_take(struct lab_strategy_result *strategy, struct lab_tally *tally);

/* result_archive.c: both ways; loading takes a result of zeros, and lab_result_destroy() is due in any case.
 */
void lab_result_archive(struct lab_result *result, struct sim_archive *archive);

#endif
