/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records probes (rare paths), conditions that a guarantee may except, and the agents' views. */
#ifndef LAB_CLUSTER_WATCH_H
#define LAB_CLUSTER_WATCH_H

#include "cluster_run.h"

/* --- cluster_watch.c: probes and conditions. */
void lab_watch_asked(struct lab_cluster_run *run, struct lab_host_operation *operation,
                     const struct bk_action *action, const struct cass_statement *statement);
void lab_watch_outcome(struct lab_cluster_run *run, struct lab_host_operation *operation,
                       enum bk_outcome_kind outcome);
/* Called when the operation's write of the state, if it had one, is no longer under way. */
void lab_state_write_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                           enum bk_outcome_kind outcome);
/* Called when a key's state has changed although no write of it is under way, or has changed back. */
void lab_watch_late_effect(struct lab_cluster_run *run, uint32_t key);
/* Called when a fault of this kind begins. */
void lab_watch_fault(struct lab_cluster_run *run, enum lab_fault_kind kind);

#endif
