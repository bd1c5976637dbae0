/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and resumes the run of a strategy as a part of a snapshot (lab/snapshot.h). lab_cluster_go_on() loads
 * the part's saved state, if there is one. */
#ifndef LAB_CLUSTER_SNAPSHOT_H
#define LAB_CLUSTER_SNAPSHOT_H

#include "cluster_run.h"

bool lab_cluster_go_on(struct lab_cluster_run *run, struct sim_error *error);
/* lab_cluster_keep() saves the state if it is due; lab_cluster_keep_end() saves the data for the result of a
 * run that has ended. */
void lab_cluster_keep(struct lab_cluster_run *run);
void lab_cluster_keep_end(struct lab_cluster_run *run);

#endif
