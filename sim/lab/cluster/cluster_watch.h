/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rare paths are walked, what happens that a guarantee may except, and what agents believe. */
#ifndef LAB_CLUSTER_WATCH_H
#define LAB_CLUSTER_WATCH_H

#include "cluster_run.h"

/* --- cluster_watch.c: rare paths, and conditions. */
void lab_watch_asked(struct lab_cluster_run *run, struct lab_host_operation *operation,
                     const struct bk_action *action, const struct cass_statement *statement);
void lab_watch_outcome(struct lab_cluster_run *run, struct lab_host_operation *operation,
                       enum bk_outcome_kind outcome);
/* Its write of the state is no longer under way, if it was one. */
void lab_state_write_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                           enum bk_outcome_kind outcome);
/* The key's state has changed though no write of it is under way, or has gone back. */
void lab_watch_late_effect(struct lab_cluster_run *run, uint32_t key);
/* A fault of that kind strikes. */
void lab_watch_fault(struct lab_cluster_run *run, enum lab_fault_kind kind);

/* --- cluster_views.c: what each agent believes of one key's bucket, around its first change. */
void lab_views_sample(struct lab_cluster_run *run, int64_t now_ns);
void lab_views_change(struct lab_cluster_run *run, uint32_t key, int64_t now_ns, int64_t until_ns);

#endif
