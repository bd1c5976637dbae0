/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the tokens of a ring: sorted pairs with unique tokens. Private to this folder and its tests. */
#ifndef CASSANDRA_RING_DRAW_H
#define CASSANDRA_RING_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"

struct cass_ring_entry {
    int64_t token;
    uint32_t node;
};

/* Draws a random token; INT64_MIN, which is never a token, becomes INT64_MAX. */
int64_t cass_ring_draw(struct sim_random *stream);
/* Orders by token, then node. */
void cass_ring_sort(struct cass_ring_entry *entries, size_t count);
/* The index of the first entry with the same token as the previous one, or count. Entries must be sorted. */
size_t cass_ring_duplicate(const struct cass_ring_entry *entries, size_t count);
/* Sorts the entries, and draws every duplicate token again from its node's stream (the entry of the lowest
 * node keeps the token), until all are unique. */
void cass_ring_settle(struct cass_ring_entry *entries, size_t count, struct sim_random *streams);

#endif
