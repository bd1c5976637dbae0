/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Identifiers in the cluster engine: clients that lease batches of them with the core's bk_idgen, over the
 * mock cluster. Clients stand where agents stand, and have their clocks and their faults; there are no rows.
 */
#ifndef LAB_IDGEN_H
#define LAB_IDGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/queue.h"
#include "lab/result.h"

struct lab_cluster_run;
struct lab_idgen;

/* All of a run whose strategy is idgen; run->idgen is NULL in every other. */
bool lab_idgen_create(struct lab_cluster_run *run, struct sim_error *error);
void lab_idgen_destroy(struct lab_cluster_run *run);
void lab_idgen_begin(struct lab_cluster_run *run);
/* Whether the event was the clients'. */
bool lab_idgen_dispatch(struct lab_cluster_run *run, const struct sim_event *event);
void lab_idgen_crash(struct lab_cluster_run *run, uint32_t client);
void lab_idgen_restart(struct lab_cluster_run *run, uint32_t client);
/* A pause of the client is over: it acts on what it has heard. */
void lab_idgen_resume(struct lab_cluster_run *run, uint32_t client);
/* Its timeout comes later, as the event with this handle. */
void lab_idgen_waits(struct lab_cluster_run *run, const struct sim_event *timeout, uint64_t handle);
/* Everything that is asked at the end stays unanswered. */
void lab_idgen_leave(struct lab_cluster_run *run);
/* What was leased is read from the replicas, while the cluster is there. */
void lab_idgen_tally(struct lab_cluster_run *run);
bool lab_idgen_metrics(const struct lab_cluster_run *run, struct lab_metrics *out);

#endif
