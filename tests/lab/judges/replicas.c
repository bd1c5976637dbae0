/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conserved, the places of replicas: the replicas of a partition are on different nodes; each datacenter has
 * as many of them as its replication factor, or as its nodes if it has fewer; and they are in as many racks
 * as possible. Source: Cassandra's NetworkTopologyStrategy. The nodes of a datacenter are assigned to its
 * racks in turn. */
#include "judges.h"

#include <inttypes.h>

/* Judges one datacenter, whose nodes begin at `first`. */
static bool are_right(const struct cass_datacenter *datacenter, uint32_t first, const uint32_t *replicas,
                      uint32_t count)
{
    uint32_t racks = datacenter->racks < datacenter->nodes ? datacenter->racks : datacenter->nodes;
    uint32_t wanted = datacenter->replication_factor < datacenter->nodes ? datacenter->replication_factor
                                                                         : datacenter->nodes;
    uint32_t found = 0, racks_found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rack = (replicas[i] - first) % datacenter->racks;
        bool is_new_rack = true;
        if (replicas[i] < first || replicas[i] - first >= datacenter->nodes)
            continue;
        for (uint32_t j = 0; j < i; j++) {
            if (replicas[j] == replicas[i])
                return false;
            bool is_here = replicas[j] >= first && replicas[j] - first < datacenter->nodes;
            is_new_rack = is_new_rack && !(is_here && (replicas[j] - first) % datacenter->racks == rack);
        }
        found++;
        racks_found += is_new_rack;
    }
    return found == wanted && racks_found == (wanted < racks ? wanted : racks);
}

void lab_replicas_end(struct lab_cluster_run *run)
{
    const struct cass_cluster_config *config = &run->scenario->network;
    uint32_t replicas[CASS_CLUSTER_REPLICAS_MAX];
    for (uint32_t i = 0; i < run->oracles.partition_count; i++) {
        const struct lab_partition *partition = &run->oracles.partitions[i];
        uint32_t count = cass_partition_replicas(run->cluster, partition->key, partition->bucket, replicas);
        for (uint32_t j = 0, first = 0; j < config->datacenter_count;
             first += config->datacenters[j++].nodes) {
            if (!are_right(&config->datacenters[j], first, replicas, count))
                judge_violate(run, partition->key,
                              "the replicas of bucket %" PRId64 " in %s are on the wrong nodes",
                              partition->bucket, config->datacenters[j].name);
        }
    }
}
