/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ring: nodes with num_tokens random tokens each; a node owns (previous token, own token].
 *
 * SimpleStrategy: walk clockwise from the owner, skip nodes already met, stop at the replication factor.
 * Source: apache/cassandra locator/SimpleStrategy.java. A ring never changes after it is made and may be
 * shared by threads. */
#ifndef CASSANDRA_RING_H
#define CASSANDRA_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#define CASS_NODES_MAX         65535u
#define CASS_REPLICAS_MAX      64u
#define CASS_RING_REPLICAS_MAX ((size_t)1 << 26) /* tokens x replication factor: 256 MiB of replica lists */

struct cass_ring;

/* Tokens are drawn from (seed, SIM_RING, node). Errors: SIM_ERROR_INPUT for figures out of range (nodes 1 to
 * CASS_NODES_MAX, 1 <= replication_factor <= min(nodes, CASS_REPLICAS_MAX), num_tokens 1 to 4096), or no
 * memory. */
bool cass_ring_create(uint64_t seed, uint32_t nodes, uint32_t num_tokens, uint32_t replication_factor,
                      struct cass_ring **out, struct sim_error *error);
/* From given (token, node) pairs, in any order; tokens must differ, and at least replication_factor nodes
 * must have one. For known answers and rings of real clusters. */
bool cass_ring_create_from(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                           uint32_t nodes, uint32_t replication_factor, struct cass_ring **out,
                           struct sim_error *error);

/* Where a node stands, and how often each datacenter holds a row. */
struct cass_topology {
    uint32_t node_count;
    const uint32_t *node_datacenters; /* of each node, from 0 */
    const uint32_t *node_racks;       /* of each node, from 0 within its datacenter */
    uint32_t datacenter_count;
    const uint32_t *replication_factors; /* of each datacenter; 0: none there */
};
/* NetworkTopologyStrategy: per datacenter, walking clockwise, rfLeft = min(RF, nodes) nodes; a node of a new
 * rack, or of a rack met before while acceptableRackRepeats = RF - racks lasts. The replicas of all
 * datacenters stand in the order of the walk; the ring's replication factor is the sum of the rfLeft. Source:
 * apache/cassandra locator/NetworkTopologyStrategy.java. Errors as for SimpleStrategy. */
bool cass_ring_create_network(uint64_t seed, const struct cass_topology *topology, uint32_t num_tokens,
                              struct cass_ring **out, struct sim_error *error);
bool cass_ring_create_network_from(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                                   const struct cass_topology *topology, struct cass_ring **out,
                                   struct sim_error *error);
void cass_ring_destroy(struct cass_ring *ring);
uint32_t cass_ring_node_count(const struct cass_ring *ring);
uint32_t cass_ring_replication_factor(const struct cass_ring *ring);
/* Position of the owning token: the first ring token >= token, wrapping. */
size_t cass_ring_position(const struct cass_ring *ring, int64_t token);
int64_t cass_ring_token_at(const struct cass_ring *ring, size_t position);
/* The replicas of a token, primary first; `out` holds replication_factor nodes. Precomputed: a lookup costs
 * one binary search. Returns a pointer into the ring. */
const uint32_t *cass_ring_replicas(const struct cass_ring *ring, int64_t token);

#endif
