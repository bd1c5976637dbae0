/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a result, for both engines: lab_result_begin(), then strategy by strategy. */
#ifndef LAB_RESULT_MAKE_H
#define LAB_RESULT_MAKE_H

#include "kernel/archive.h"
#include "lab/result.h"
#include "lab/tally.h"

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

#endif
