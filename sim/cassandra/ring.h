/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of a ring, shared by its replication strategies. */
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

/* Allocates a ring whose contents are not set; NULL when out of memory. */
struct cass_ring *cass_ring_allocate(size_t token_count, uint32_t nodes, uint32_t replication_factor);
/* Returns false, with an error, for values out of range. */
bool cass_ring_check(uint32_t nodes, size_t token_count, uint32_t replication_factor,
                     struct sim_error *error);
/* Draws random tokens as sorted entries; false when out of memory. */
bool cass_ring_draw_all(uint64_t seed, uint32_t nodes, uint32_t num_tokens, struct cass_ring_entry *entries);
/* Sorts given tokens into entries; false, with an error, for an unknown node or a duplicate token. */
bool cass_ring_take_all(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                        uint32_t nodes, struct cass_ring_entry *entries, struct sim_error *error);
bool cass_ring_check_tokens(uint32_t num_tokens, struct sim_error *error);

#endif
