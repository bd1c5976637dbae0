/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tokens of a ring before it is one: sorted pairs, all different. Private to this folder and its tests.
 */
#ifndef CASSANDRA_RING_DRAW_H
#define CASSANDRA_RING_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"

struct cass_ring_entry {
    int64_t token;
    uint32_t node;
};

/* A random token; INT64_MIN, which no hash gives, becomes INT64_MAX. */
int64_t cass_ring_draw(struct sim_random *stream);
/* Orders by token, then node. */
void cass_ring_sort(struct cass_ring_entry *entries, size_t count);
/* Position of the second of the first two neighbours with the same token, or count. Sorted entries. */
size_t cass_ring_duplicate(const struct cass_ring_entry *entries, size_t count);
/* Sorts, and draws every token that an earlier entry has (the same, or one of a node with a lower number)
 * again from its node's stream, until all differ. */
void cass_ring_settle(struct cass_ring_entry *entries, size_t count, struct sim_random *streams);

#endif
