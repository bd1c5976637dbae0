/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With many keys, the data of a key is not in the processor's caches when its row arrives, and each access
 * causes a cache miss. The queue announces arrivals in advance, so that their data can be prefetched, in
 * three steps, because the addresses depend on each other. With 10^5 keys this saves a third of the time. */
#include "cluster_agents.h"
#include "cluster_loop.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "evidence.h"

/* Prefetches the data of the key whose address does not depend on other data. */
static void prefetch_key(const struct lab_cluster_run *run, uint32_t key)
{
    const char *lines = (const char *)&run->keys[key];
    for (size_t i = 0; i < offsetof(struct lab_cluster_key, cursor.is_open); i += SIM_LINE_BYTES)
        __builtin_prefetch(lines + i);
    lines = (const char *)&run->oracles.keys[key];
    for (size_t i = 0; i < sizeof *run->oracles.keys; i += SIM_LINE_BYTES)
        __builtin_prefetch(lines + i);
}

/* Prefetches the data of the agent that will take the row if all agents stay up. */
static void prefetch_agent(const struct lab_cluster_run *run, uint32_t key)
{
    uint32_t agent = lab_choose_agent_of_row(run, key, run->keys[key].rows);
    if (agent != UINT32_MAX)
        bk_agent_prefetch(run->agents[agent].agent, key);
}

void lab_prefetch(void *context, const struct sim_event *event, uint32_t buckets)
{
    const struct lab_cluster_run *run = context;
    if (event->kind != LAB_EVENT_ARRIVAL)
        return;
    uint32_t key = event->target;
    if (buckets == 2) {
        prefetch_key(run, key);
        cass_prefetch_register(run->cluster, lab_state_register(key), false);
        return;
    }
    if (buckets == 1) {
        prefetch_agent(run, key);
        cass_prefetch_register(run->cluster, lab_state_register(key), true);
        lab_oracles_prefetch_partition(run, key);
    }
    cass_prefetch_partition(run->cluster, key, run->oracles.keys[key].state_bucket, buckets == 0);
}
