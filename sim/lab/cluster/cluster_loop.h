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
void lab_cluster_run_destroy(struct lab_cluster_run *run); /* run may be NULL */
/* As lab_cluster_run_create(), but replays the events of a history, up to the beginning of the next
 * strategy. */
struct lab_cluster_run *lab_cluster_run_replay(const struct lab_scenario *scenario, size_t index,
                                               const struct lab_rows *rows,
                                               const struct lab_run_context *context,
                                               struct lab_replay *replay, struct sim_error *error);

/* --- Makes tally, metrics and result of a run from what was stored. */
void lab_cluster_tally(struct lab_cluster_run *run);
/* Makes the result of all strategies from those of each alone, whose contents are moved to *out. */
bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_result **each,
                        struct lab_result **out);
/* Makes a result with only this strategy. */
bool lab_cluster_result_of(const struct lab_scenario *scenario, size_t index, struct lab_cluster_run *run,
                           struct lab_result **out);
/* Makes the result of the strategies that were judged, in their order; runs[i] NULL: not judged. */
bool lab_cluster_result_some(const struct lab_scenario *scenario, struct lab_cluster_run **runs,
                             struct lab_result **out);

#endif
