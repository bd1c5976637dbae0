/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the token ring that a scenario describes. */
#include "lab/ring.h"

#include <stdlib.h>

bool lab_ring_create(const struct lab_scenario *scenario, struct cass_ring **out, struct sim_error *error)
{
    const struct cass_cluster_config *network = &scenario->network;
    const struct lab_cluster *cluster = &scenario->cluster;
    *out = NULL;
    if (network->datacenter_count <= 1 && network->datacenters[0].racks <= 1)
        return cass_ring_create(scenario->seed, cluster->nodes, cluster->num_tokens,
                                cluster->replication_factor, out, error);
    uint32_t factors[CASS_DATACENTERS_MAX], node = 0;
    uint32_t *datacenters = calloc(cluster->nodes, sizeof *datacenters);
    uint32_t *racks = calloc(cluster->nodes, sizeof *racks);
    if (datacenters == NULL || racks == NULL) {
        free(datacenters);
        free(racks);
        return sim_fail_memory(error);
    }
    for (uint32_t i = 0; i < network->datacenter_count; i++) {
        const struct cass_datacenter *datacenter = &network->datacenters[i];
        factors[i] = datacenter->replication_factor;
        for (uint32_t j = 0; j < datacenter->nodes; j++, node++) {
            datacenters[node] = i;
            racks[node] = j % datacenter->racks;
        }
    }
    const struct cass_topology topology = {.node_count = cluster->nodes,
                                           .node_datacenters = datacenters,
                                           .node_racks = racks,
                                           .datacenter_count = network->datacenter_count,
                                           .replication_factors = factors};
    bool ok = cass_ring_create_network(scenario->seed, &topology, cluster->num_tokens, out, error);
    free(datacenters);
    free(racks);
    return ok;
}
