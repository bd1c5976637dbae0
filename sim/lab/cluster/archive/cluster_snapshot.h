/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The states of strategies in a snapshot of the run. */
#ifndef LAB_CLUSTER_SNAPSHOT_H
#define LAB_CLUSTER_SNAPSHOT_H

#include "cluster_run.h"

bool lab_cluster_go_on(struct lab_cluster_run *run, struct sim_error *error);
/* Keeps the state, when that is due; and what the result of a run that is over is made of. */
void lab_cluster_keep(struct lab_cluster_run *run);
void lab_cluster_keep_end(struct lab_cluster_run *run);

#endif
