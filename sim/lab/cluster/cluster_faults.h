/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Begins and ends faults. */
#ifndef LAB_CLUSTER_FAULTS_H
#define LAB_CLUSTER_FAULTS_H

#include "cluster_run.h"

void lab_faults_begin(struct lab_cluster_run *run);
void lab_fault_strike(struct lab_cluster_run *run, uint32_t fault);
/* Begins a fault whose values are all drawn. is_kept: for an agent's crash, see lab_agent_crash(). */
void lab_fault_begins(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns,
                      bool is_kept);
void lab_fault_end(struct lab_cluster_run *run, uint32_t place);
/* Saves the state that the fault restores later. */
void lab_fault_keep(struct lab_cluster_run *run, uint32_t fault);

#endif
