/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the oracles may see of a run in addition to its ledger: clocks, settings, registers, states of keys.
 */
#ifndef LAB_CLUSTER_VIEW_H
#define LAB_CLUSTER_VIEW_H

#include "cluster_run.h"

/* What a clock shows at that time that is off, drifts, or has a resolution. */
int64_t lab_agent_shows_at(const struct lab_cluster_run *run, uint32_t agent, int64_t time_ns);
/* At that time, unless it has jumped since; and now. */
static inline int64_t lab_agent_clock_at(const struct lab_cluster_run *run, uint32_t agent, int64_t time_ns)
{
    const struct lab_host_agent *host = &run->agents[agent];
    int64_t off = host->offset_ns | host->drift_ppb | host->jump_ns;
    bool is_right = (off | run->scenario->agents.clock_resolution_ns) == 0;
    return is_right ? time_ns : lab_agent_shows_at(run, agent, time_ns);
}
static inline int64_t lab_agent_clock(const struct lab_cluster_run *run, uint32_t agent)
{
    return lab_agent_clock_at(run, agent, sim_queue_now(&run->queue));
}
/* The most by which the host may wake it later than it asked to, after such a wait. */
int64_t lab_agent_late_ns(const struct lab_cluster_run *run, uint32_t agent, int64_t wait_ns);
/* The agent's strategy for rows of that time. */
const struct bk_strategy *lab_agent_strategy(const struct lab_cluster_run *run, uint32_t agent,
                                             int64_t time_ns);
/* The register of a key's state row, and back; of its lock row; of the start of a bucket. */
uint64_t lab_state_register(uint32_t key);
bool lab_register_is_state(uint64_t key, uint32_t *out);
uint64_t lab_lock_register(uint32_t key);
uint64_t lab_start_register(uint64_t key, int64_t bucket);
/* Whether any replica has the start of the bucket. */
bool lab_has_start(const struct lab_cluster_run *run, uint32_t key, int64_t bucket);
/* The counter that an action of this (key, bucket) adds to. */
uint64_t lab_counter_key(const struct lab_cluster_run *run, uint64_t key, int64_t bucket);
/* And back; bucket 0 where a key has one counter. */
void lab_counter_owner(const struct lab_cluster_run *run, uint64_t counter, uint32_t *key, int64_t *bucket);
/* By the scenario's dates. */
const struct bk_history *lab_settings_at(const struct lab_cluster_run *run, int64_t time_ns);
/* The number of changes that have come by then, by the scenario's dates; what holds after so many. */
uint32_t lab_era_at(const struct lab_cluster_run *run, int64_t time_ns);
const struct bk_strategy *lab_era_settings(const struct lab_cluster_run *run, uint32_t era);
/* Of a kind without state: the dates call for another bucket (of hash: for those of another era). */
bool lab_is_misplaced(const struct lab_cluster_run *run, int64_t time_ns, int64_t bucket);

/* --- cluster_state.c: a key's state as it is stored, and what it means for its rows. */
/* From when on rows belong to a bucket, by bucket; 0: not known. */
void lab_state_changed(struct lab_cluster_run *run, uint32_t key);
/* Since when the newest bucket is dated in a state that counts rows. */
int64_t lab_state_start(const struct lab_cluster_run *run, const int64_t *columns);
int64_t lab_state_bucket_at(const struct lab_cluster_run *run, uint32_t key, int64_t time_ns);
/* The bucket that a row of that time would belong to by what is stored now: partitions below it are closed.
 */
int64_t lab_current_bucket(const struct lab_cluster_run *run, uint32_t key, int64_t time_ns);
/* Where a reader that comes now begins, of a strategy that is read by walking down. */
int64_t lab_routed_newest(const struct lab_cluster_run *run, uint32_t key);
static inline int64_t lab_state_newest(const struct lab_cluster_run *run, uint32_t key)
{
    return lab_keeps_state(run) ? run->oracles.keys[key].state_bucket : lab_routed_newest(run, key);
}

#endif
