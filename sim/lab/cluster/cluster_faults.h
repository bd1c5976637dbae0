/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults, from their beginning to their end. */
#ifndef LAB_CLUSTER_FAULTS_H
#define LAB_CLUSTER_FAULTS_H

#include "cluster_run.h"

void lab_faults_begin(struct lab_cluster_run *run);
void lab_fault_strike(struct lab_cluster_run *run, uint32_t fault);
/* One that was drawn strikes. is_kept: of an agent's crash, see lab_agent_crash(). */
void lab_fault_begins(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns,
                      bool is_kept);
void lab_fault_paxos(struct lab_cluster_run *run, uint32_t key);
void lab_fault_end(struct lab_cluster_run *run, uint32_t place);
/* What the fault will put back later. */
void lab_fault_keep(struct lab_cluster_run *run, uint32_t fault);

#endif
