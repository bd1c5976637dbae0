/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ring: nodes with num_tokens random tokens each; a node owns (previous token, own token].
 *
 * NetworkTopologyStrategy: per datacenter, walking clockwise, rfLeft = min(RF, nodes) nodes; a node is chosen
 * if its rack is new, or as long as the acceptable repeats of racks (RF - racks) are not used up. The
 * replicas of all datacenters are in the order of the walk. With one datacenter of one rack this is
 * SimpleStrategy, which skips nodes that were already chosen. Source: apache/cassandra
 * locator/NetworkTopologyStrategy.java, SimpleStrategy.java. A ring is immutable and may be shared by
 * threads.
 */
#ifndef CASSANDRA_RING_H
#define CASSANDRA_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#define CASS_NODES_MAX         65535u
#define CASS_REPLICAS_MAX      64u
#define CASS_RING_REPLICAS_MAX ((size_t)1 << 26) /* tokens x replication factor: 256 MiB of replica lists */

#define CASS_DATACENTERS_MAX 8

struct cass_ring;

struct cass_datacenter {
    char name[32];
    uint32_t nodes, racks, replication_factor;
};

/* Makes a ring with random tokens, from the stream (seed, SIM_RING, node) of each node; nodes are numbered
 * datacenter by datacenter, and node j of one is in rack j % racks. Together at most CASS_NODES_MAX nodes and
 * CASS_REPLICAS_MAX replicas; num_tokens: 1 to 4096. Errors: SIM_ERROR_INPUT for values out of range,
 * SIM_ERROR_ENVIRONMENT when out of memory. */
bool cass_ring_create(uint64_t seed, const struct cass_datacenter *datacenters, uint32_t datacenter_count,
                      uint32_t num_tokens, struct cass_ring **out, struct sim_error *error);
/* The location of each node, and the replication factor of each datacenter. */
struct cass_topology {
    uint32_t node_count;
    const uint32_t *node_datacenters; /* of each node, from 0 */
    const uint32_t *node_racks;       /* of each node, from 0 within its datacenter */
    uint32_t datacenter_count;
    const uint32_t *replication_factors; /* of each datacenter; 0: no replicas there */
};
/* Makes a ring from given (token, node) pairs, in any order, with unique tokens. For tests with known
 * answers, and for rings of real clusters. */
bool cass_ring_create_from(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                           const struct cass_topology *topology, struct cass_ring **out,
                           struct sim_error *error);
void cass_ring_destroy(struct cass_ring *ring);
uint32_t cass_ring_node_count(const struct cass_ring *ring);
uint32_t cass_ring_replication_factor(const struct cass_ring *ring);
/* The index of the owning token: the first ring token >= token, wrapping around. */
size_t cass_ring_position(const struct cass_ring *ring, int64_t token);
/* The replicas of a token, primary first: a pointer to replication_factor nodes in the ring. They are
 * precomputed; a lookup costs one binary search. */
const uint32_t *cass_ring_replicas(const struct cass_ring *ring, int64_t token);

#endif
