/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NetworkTopologyStrategy. */
#include <inttypes.h>
#include <stdlib.h>

#include "ring.h"

/* The state of one token's walk: what is still to be found in each datacenter. Racks and nodes that were
 * found are marked with the number of the walk. */
struct walk {
    const struct cass_topology *topology;
    uint32_t rack_stride;
    uint32_t *rack_counts, *node_counts; /* of each datacenter, counting only nodes with tokens */
    uint32_t *left;                      /* for each datacenter: the number of nodes to find */
    int64_t *repeats;                    /* for each datacenter: acceptable repeats of racks */
    uint32_t *node_stamps, *rack_stamps;
    uint32_t stamp;
};

static void walk_destroy(struct walk *walk)
{
    free(walk->rack_counts);
    free(walk->node_counts);
    free(walk->left);
    free(walk->repeats);
    free(walk->node_stamps);
    free(walk->rack_stamps);
}

static bool walk_create(struct walk *walk, const struct cass_topology *topology,
                        const struct cass_ring_entry *entries, size_t count)
{
    uint32_t nodes = topology->node_count, datacenters = topology->datacenter_count, stride = 1;
    for (uint32_t node = 0; node < nodes; node++)
        stride = topology->node_racks[node] >= stride ? topology->node_racks[node] + 1 : stride;
    *walk = (struct walk){
        .topology = topology,
        .rack_stride = stride,
        .rack_counts = calloc(datacenters + 1, sizeof(uint32_t)),
        .node_counts = calloc(datacenters + 1, sizeof(uint32_t)),
        .left = calloc(datacenters + 1, sizeof(uint32_t)),
        .repeats = calloc(datacenters + 1, sizeof(int64_t)),
        .node_stamps = calloc(nodes, sizeof(uint32_t)),
        .rack_stamps = calloc((size_t)datacenters * stride + 1, sizeof(uint32_t)),
        .stamp = 1,
    };
    if (walk->rack_counts == NULL || walk->node_counts == NULL || walk->left == NULL ||
        walk->repeats == NULL || walk->node_stamps == NULL || walk->rack_stamps == NULL) {
        walk_destroy(walk);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t node = entries[i].node, datacenter = topology->node_datacenters[node];
        size_t rack = (size_t)datacenter * stride + topology->node_racks[node];
        walk->node_counts[datacenter] += walk->node_stamps[node] == 0;
        walk->rack_counts[datacenter] += walk->rack_stamps[rack] == 0;
        walk->node_stamps[node] = 1;
        walk->rack_stamps[rack] = 1;
    }
    return true;
}

static uint32_t factor_total(const struct walk *walk)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < walk->topology->datacenter_count; i++) {
        uint32_t factor = walk->topology->replication_factors[i];
        total += factor < walk->node_counts[i] ? factor : walk->node_counts[i];
    }
    return total;
}

static void walk_from(struct walk *walk, const struct cass_ring_entry *entries, size_t count, size_t position,
                      uint32_t factor, uint32_t *out)
{
    const struct cass_topology *topology = walk->topology;
    walk->stamp++;
    for (uint32_t i = 0; i < topology->datacenter_count; i++) {
        uint32_t wanted = topology->replication_factors[i];
        walk->left[i] = wanted < walk->node_counts[i] ? wanted : walk->node_counts[i];
        walk->repeats[i] = (int64_t)wanted - walk->rack_counts[i];
    }
    uint32_t found = 0;
    for (size_t i = position; found < factor; i = i + 1 == count ? 0 : i + 1) {
        uint32_t node = entries[i].node, datacenter = topology->node_datacenters[node];
        size_t rack = (size_t)datacenter * walk->rack_stride + topology->node_racks[node];
        if (walk->left[datacenter] == 0 || walk->node_stamps[node] == walk->stamp)
            continue;
        bool is_repeat = walk->rack_stamps[rack] == walk->stamp;
        if (is_repeat && walk->repeats[datacenter] <= 0)
            continue;
        walk->repeats[datacenter] -= is_repeat ? 1 : 0;
        walk->rack_stamps[rack] = walk->stamp;
        walk->node_stamps[node] = walk->stamp;
        walk->left[datacenter]--;
        out[found++] = node;
    }
}

static bool network_build(const struct cass_ring_entry *entries, size_t count,
                          const struct cass_topology *topology, struct cass_ring **out,
                          struct sim_error *error)
{
    struct walk walk;
    if (!walk_create(&walk, topology, entries, count))
        return sim_fail_memory(error);
    uint32_t factor = factor_total(&walk);
    struct cass_ring *ring = NULL;
    bool ok = cass_ring_check(topology->node_count, count, factor, error);
    if (ok) {
        ring = cass_ring_allocate(count, topology->node_count, factor);
        ok = ring != NULL || sim_fail_memory(error);
    }
    for (size_t i = 0; ok && i < count; i++) {
        ring->tokens[i] = entries[i].token;
        walk_from(&walk, entries, count, i, factor, ring->replicas + i * factor);
    }
    walk_destroy(&walk);
    *out = ring;
    return ok;
}

bool cass_ring_create_network(uint64_t seed, const struct cass_topology *topology, uint32_t num_tokens,
                              struct cass_ring **out, struct sim_error *error)
{
    *out = NULL;
    uint32_t nodes = topology->node_count;
    size_t count = (size_t)nodes * num_tokens;
    if (!cass_ring_check_tokens(num_tokens, error) || !cass_ring_check(nodes, count, 1, error))
        return false;
    struct cass_ring_entry *entries = malloc(count * sizeof(*entries));
    if (entries == NULL)
        return sim_fail_memory(error);
    bool ok = cass_ring_draw_all(seed, nodes, num_tokens, entries)
                  ? network_build(entries, count, topology, out, error)
                  : sim_fail_memory(error);
    free(entries);
    return ok;
}

bool cass_ring_create_network_from(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                                   const struct cass_topology *topology, struct cass_ring **out,
                                   struct sim_error *error)
{
    *out = NULL;
    if (!cass_ring_check(topology->node_count, token_count, 1, error))
        return false;
    struct cass_ring_entry *entries = malloc(token_count * sizeof(*entries));
    if (entries == NULL)
        return sim_fail_memory(error);
    bool ok = cass_ring_take_all(tokens, token_nodes, token_count, topology->node_count, entries, error) &&
              network_build(entries, token_count, topology, out, error);
    free(entries);
    return ok;
}
