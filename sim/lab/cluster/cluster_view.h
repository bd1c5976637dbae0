/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the oracles may access of a run in addition to the ledger: clocks, settings, registers, states of
 * keys. */
#ifndef LAB_CLUSTER_VIEW_H
#define LAB_CLUSTER_VIEW_H

#include "cluster_run.h"

/* The time of an agent's clock at the true time time_ns, for a clock with an offset, a drift or a
 * resolution. */
int64_t lab_agent_shows_at(const struct lab_cluster_run *run, uint32_t agent, int64_t time_ns);
/* The time of an agent's clock at the true time time_ns, unless it has jumped since; and now. */
static inline int64_t lab_agent_clock_at(const struct lab_cluster_run *run, uint32_t agent, int64_t time_ns)
{
    const struct lab_host_agent *host = &run->agents[agent];
    int64_t off = host->offset_ns | host->drift_ppb | host->jump_ns;
    bool is_right = (off | run->scenario->agents.clock_resolution_ns) == 0;
    return SIM_LIKELY(is_right) ? time_ns : lab_agent_shows_at(run, agent, time_ns);
}
static inline int64_t lab_agent_clock(const struct lab_cluster_run *run, uint32_t agent)
{
    return lab_agent_clock_at(run, agent, sim_queue_now(&run->queue));
}
/* The agent's strategy for rows of the time time_ns. */
static inline const struct bk_strategy *lab_agent_strategy(const struct lab_cluster_run *run, uint32_t agent,
                                                           int64_t time_ns)
{
    const struct bk_history *history = &run->agents[agent].history;
    return &history->eras[SIM_LIKELY(history->count == 1) ? 0 : bk_history_era_at(history, time_ns)].strategy;
}
/* Whether a change reaches each agent by an event: one with a rollout, or one that forgets the old settings.
 * The date of any other change is known to all agents from the start. */
static inline bool lab_change_is_deployed(const struct lab_change *change)
{
    return change->rollout_ns > 0 || !change->keeps_old;
}
/* The register of a key's state row, and its inverse; the registers of a key's lock row and of the start of a
 * bucket. */
uint64_t lab_state_register(uint32_t key);
bool lab_register_is_state(uint64_t key, uint32_t *out);
uint64_t lab_lock_register(uint32_t key);
uint64_t lab_start_register(uint64_t key, int64_t bucket);
/* The counter to which an action of (key, bucket) adds. */
uint64_t lab_counter_key(const struct lab_cluster_run *run, uint64_t key, int64_t bucket);
/* The inverse: the key and bucket of a counter; bucket 0 if a key has only one counter. */
void lab_counter_owner(const struct lab_cluster_run *run, uint64_t counter, uint32_t *key, int64_t *bucket);
/* The settings at a time, by the scenario's dates. */
const struct bk_history *lab_settings_at(const struct lab_cluster_run *run, int64_t time_ns);
/* The number of changes up to a time, by the scenario's dates; and the settings after that number of
 * changes. */
uint32_t lab_era_at(const struct lab_cluster_run *run, int64_t time_ns);
const struct bk_strategy *lab_era_settings(const struct lab_cluster_run *run, uint32_t era);
/* Whether they are the same bucket of the strategy, or shards of one window. */
static inline bool lab_are_of_one_window(const struct bk_strategy *strategy, int64_t bucket, int64_t other)
{
    return lab_first_shard(strategy, bucket) == lab_first_shard(strategy, other);
}
/* For a kind without state: whether, by the dates of changes, a row of this time belongs to another bucket;
 * for hash, to another era's buckets. */
bool lab_is_misplaced(const struct lab_cluster_run *run, int64_t time_ns, int64_t bucket);

/* --- ledger.c: a key's state as stored, and its meaning for the key's rows. */
/* The date of the newest bucket, in a state that counts rows. */
int64_t lab_state_start(const struct lab_cluster_run *run, const int64_t *columns);
/* The bucket to which a row of this time belongs by the state. */
static inline int64_t lab_state_bucket_at(const struct lab_cluster_run *run, uint32_t key_index,
                                          int64_t time_ns)
{
    const struct lab_cluster_key *key = &run->keys[key_index];
    int64_t bucket = run->oracles.keys[key_index].state_bucket;
    while (bucket > 0 && (size_t)bucket < key->change_count && SIM_UNLIKELY(time_ns < key->changes[bucket]) &&
           key->changes[bucket] != 0)
        bucket--;
    return bucket;
}
/* The bucket to which a row of this time would belong, by the state as stored now; partitions below it are
 * closed. */
int64_t lab_current_bucket(const struct lab_cluster_run *run, uint32_t key, int64_t time_ns);
/* The bucket at which a reader begins now, for a strategy without state that is read by walking down. */
int64_t lab_routed_newest(const struct lab_cluster_run *run, uint32_t key);
static inline int64_t lab_state_newest(const struct lab_cluster_run *run, uint32_t key)
{
    return SIM_LIKELY(lab_keeps_state(run)) ? run->oracles.keys[key].state_bucket
                                            : lab_routed_newest(run, key);
}

#endif
