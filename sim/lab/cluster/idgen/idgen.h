/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Identifiers in the cluster engine: clients that lease batches of identifiers with the core's bk_idgen, over
 * the mock cluster. Clients replace the agents, with the same places, clocks and faults; there are no
 * rows. */
#ifndef LAB_IDGEN_H
#define LAB_IDGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/queue.h"
#include "lab/result.h"

struct lab_cluster_run;
struct lab_idgen;

/* The functions of a run whose strategy is idgen; run->idgen is NULL in all other runs. */
bool lab_idgen_create(struct lab_cluster_run *run, struct sim_error *error);
void lab_idgen_destroy(struct lab_cluster_run *run);
void lab_idgen_begin(struct lab_cluster_run *run);
/* Handles an event of a client; returns false for any other event. */
bool lab_idgen_dispatch(struct lab_cluster_run *run, const struct sim_event *event);
void lab_idgen_crash(struct lab_cluster_run *run, uint32_t client);
void lab_idgen_restart(struct lab_cluster_run *run, uint32_t client);
/* Called when a client's pause has ended: it acts on what it has got. */
void lab_idgen_resume(struct lab_cluster_run *run, uint32_t client);
/* Called when the client's timeout was postponed: it is now the event with this handle. */
void lab_idgen_waits(struct lab_cluster_run *run, const struct sim_event *timeout, uint64_t handle);
/* Called at the end of a run: outstanding requests stay unanswered. */
void lab_idgen_leave(struct lab_cluster_run *run);
/* Reads from the replicas what was leased; the cluster must still exist. */
void lab_idgen_tally(struct lab_cluster_run *run);
bool lab_idgen_metrics(const struct lab_cluster_run *run, struct lab_metrics *out);

#endif
