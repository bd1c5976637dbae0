/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes the rows and bytes of each node of the ring. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/result_make.h"

bool lab_result_nodes(struct lab_strategy_result *strategy, const struct lab_scenario *scenario,
                      const struct lab_tally *tally)
{
    const struct cass_cluster_config *network = &scenario->network;
    uint32_t count = scenario->cluster.nodes, datacenter = 0, end = network->datacenters[0].nodes;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < count; i++)
        rows += tally->nodes[i].rows;
    if (rows == 0)
        return true;
    strategy->nodes = calloc(count, sizeof *strategy->nodes);
    if (strategy->nodes == NULL)
        return false;
    strategy->node_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct lab_node_load *node = &strategy->nodes[i];
        while (i >= end && datacenter + 1 < network->datacenter_count)
            end += network->datacenters[++datacenter].nodes;
        if (network->datacenter_count > 1)
            snprintf(node->name, sizeof node->name, "%s node %u", network->datacenters[datacenter].name,
                     (unsigned)i);
        else
            snprintf(node->name, sizeof node->name, "node %u", (unsigned)i);
        node->rows = tally->nodes[i].rows;
        node->bytes = tally->nodes[i].bytes;
    }
    return true;
}
