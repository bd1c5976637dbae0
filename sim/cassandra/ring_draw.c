/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the tokens of a ring at random, sorts them and redraws duplicates. */
#include "ring_draw.h"

#include <stdlib.h>

int64_t cass_ring_draw(struct sim_random *stream)
{
    int64_t token = (int64_t)sim_random_next(stream);
    return token == INT64_MIN ? INT64_MAX : token;
}

static int compare_entries(const void *left, const void *right)
{
    const struct cass_ring_entry *a = left;
    const struct cass_ring_entry *b = right;
    if (a->token != b->token)
        return a->token < b->token ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

void cass_ring_sort(struct cass_ring_entry *entries, size_t count)
{
    qsort(entries, count, sizeof(*entries), compare_entries);
}

size_t cass_ring_duplicate(const struct cass_ring_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (entries[i].token == entries[i - 1].token)
            return i;
    }
    return count;
}

void cass_ring_settle(struct cass_ring_entry *entries, size_t count, struct sim_random *streams)
{
    cass_ring_sort(entries, count);
    while (cass_ring_duplicate(entries, count) < count) {
        /* This goes backwards, so that a redrawn token is not compared with its left neighbour again in this
         * pass. */
        for (size_t i = count - 1; i > 0; i--) {
            if (entries[i].token == entries[i - 1].token)
                entries[i].token = cass_ring_draw(&streams[entries[i].node]);
        }
        cass_ring_sort(entries, count);
    }
}
