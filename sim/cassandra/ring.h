/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a ring, shared by its strategies. */
#ifndef CASSANDRA_RING_PRIVATE_H
#define CASSANDRA_RING_PRIVATE_H

#include "cassandra/ring.h"
#include "ring_draw.h"

struct cass_ring {
    size_t token_count;
    uint32_t node_count;
    uint32_t replication_factor;
    int64_t *tokens;    /* ascending */
    uint32_t *replicas; /* replication_factor nodes for each token */
};

/* A ring without its contents, or NULL when out of memory. */
struct cass_ring *cass_ring_allocate(size_t token_count, uint32_t nodes, uint32_t replication_factor);
/* False and an error for figures that no ring can have. */
bool cass_ring_check(uint32_t nodes, size_t token_count, uint32_t replication_factor,
                     struct sim_error *error);
/* Sorted entries of random tokens; false when out of memory. */
bool cass_ring_draw_all(uint64_t seed, uint32_t nodes, uint32_t num_tokens, struct cass_ring_entry *entries);
/* Sorted entries of given tokens; false and an error for a stranger or a token that stands twice. */
bool cass_ring_take_all(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                        uint32_t nodes, struct cass_ring_entry *entries, struct sim_error *error);
bool cass_ring_check_tokens(uint32_t num_tokens, struct sim_error *error);

#endif
