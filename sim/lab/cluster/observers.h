/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The observers of a cluster run that the program has. */
#ifndef LAB_CLUSTER_OBSERVERS_H
#define LAB_CLUSTER_OBSERVERS_H

#include "events.h"

extern const struct cluster_observer cluster_event_trace, cluster_history, cluster_oracles, cluster_views,
    cluster_latencies, cluster_twins, cluster_id_twins;

/* --- cluster_views.c: each agent's view of one key's bucket, around its first change. The engine looks at
 * intervals. */
void lab_views_sample(struct lab_cluster_run *run, int64_t now_ns);

/* --- cluster_twin.c: whether a twin is saved and loaded now: at all steps of an agent at one moment, or at
 * none. */
bool cluster_twin_is_due(const struct lab_cluster_run *run, uint32_t agent);

/* --- cluster_result.c: what the observer of latencies does with an event. */
void cluster_latencies_hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event);

#endif
