/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run of one strategy, from its rows to its end. */
#ifndef LAB_CLUSTER_LOOP_H
#define LAB_CLUSTER_LOOP_H

#include "cluster_run.h"

/* --- cluster_prefetch.c: for the queue to tell of arrivals that will come soon. */
void lab_prefetch(void *context, const struct sim_event *event, uint32_t days);

/* --- cluster_loop.c: from a strategy's beginning to its end. */
/* The rows of all strategies; NULL where there are identifiers in place of rows. */
bool lab_cluster_rows(const struct lab_scenario *scenario, const struct lab_run_context *context,
                      struct lab_rows **out, struct sim_error *error);
/* Runs the strategy of this index to its end. What a result is made of stays until lab_cluster_run_destroy(),
 * which is due even where the error is set; NULL when out of memory. */
struct lab_cluster_run *lab_cluster_run_create(const struct lab_scenario *scenario, size_t index,
                                               const struct lab_rows *rows,
                                               const struct lab_run_context *context,
                                               struct sim_error *error);
void lab_cluster_run_destroy(struct lab_cluster_run *run); /* NULL is fine */
/* The same of what a history says has happened, up to the next strategy's beginning. */
struct lab_cluster_run *lab_cluster_run_replay(const struct lab_scenario *scenario, size_t index,
                                               const struct lab_rows *rows,
                                               const struct lab_run_context *context,
                                               struct lab_replay *replay, struct sim_error *error);

#endif
