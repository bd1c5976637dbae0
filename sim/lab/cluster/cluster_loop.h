/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one strategy, from its rows to its end. */
#ifndef LAB_CLUSTER_LOOP_H
#define LAB_CLUSTER_LOOP_H

#include "cluster_run.h"

/* --- cluster_loop.c */
/* Makes the rows that all strategies share; *out is NULL for a scenario with identifiers. */
bool lab_cluster_rows(const struct lab_scenario *scenario, const struct lab_run_context *context,
                      struct lab_rows **out, struct sim_error *error);
/* Begins the observers of a run whose agents and cluster exist, and passes them what the cluster stores.
 * False when out of memory. */
bool lab_cluster_observe(struct lab_cluster_run *run);
/* Runs the strategy with this index to its end, or replays the events of a history up to the beginning of the
 * next strategy (replay; may be NULL). *out: the result of this strategy alone. */
bool lab_cluster_play(const struct lab_scenario *scenario, size_t index, const struct lab_rows *rows,
                      const struct lab_run_context *context, struct lab_replay *replay,
                      struct lab_result **out, struct sim_error *error);

/* --- Makes tally, metrics and result of a run from what was stored. */
void lab_cluster_tally(struct lab_cluster_run *run);
/* Makes the result of all strategies from those of each alone, whose contents are moved to *out; each[i]
 * NULL: it was not run. At least one was. */
bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_result **each,
                        struct lab_result **out);
/* Makes a result with only this strategy. */
bool lab_cluster_result_of(const struct lab_scenario *scenario, size_t index, struct lab_cluster_run *run,
                           struct lab_result **out);

#endif
