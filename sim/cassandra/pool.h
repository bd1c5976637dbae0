/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools of equal items, named by index, with a list of free ones through their first four bytes; and an
 * open-addressing table of indices. Neither has pointers inside its items, so that either can be stored.
 *
 * Item 0 is nobody's: it stands for "none", and it is what a pool hands out when it cannot grow, so that the
 * caller need not unwind; the pool is broken then, and its owner stops at the next event. */
#ifndef CASSANDRA_POOL_H
#define CASSANDRA_POOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CASS_NONE 0u

struct cass_pool {
    uint8_t *items;
    size_t item_size;
    uint32_t used, capacity; /* used: ever handed out, item 0 included */
    uint32_t free_head;
    uint32_t live;   /* handed out now */
    bool *is_broken; /* the owner's */
};

/* *is_broken becomes true when the pool cannot grow. */
bool cass_pool_create(struct cass_pool *pool, size_t item_size, bool *is_broken);
void cass_pool_destroy(struct cass_pool *pool);
/* An item that nobody has had; 0 when out of memory. */
uint32_t cass_pool_take_new(struct cass_pool *pool);

/* A new item is zeroed the first time; later it has what its last owner left, except for the first four
 * bytes.
 */
static inline uint32_t cass_pool_take(struct cass_pool *pool)
{
    uint32_t index = pool->free_head;
    if (index == CASS_NONE)
        return cass_pool_take_new(pool);
    memcpy(&pool->free_head, pool->items + index * pool->item_size, sizeof(pool->free_head));
    pool->live++;
    return index;
}

static inline void cass_pool_give(struct cass_pool *pool, uint32_t index)
{
    if (index == CASS_NONE)
        return;
    assert(index < pool->used && pool->live > 0);
    memcpy(pool->items + index * pool->item_size, &pool->free_head, sizeof(pool->free_head));
    pool->free_head = index;
    pool->live--;
}

/* Linear probing over indices of items that the owner compares; 0 is an empty slot. */
struct cass_slot {
    uint32_t index;
    uint32_t hash; /* upper half of the item's, so that growing and removing ask no owner */
};

struct cass_table {
    struct cass_slot *slots;
    uint32_t mask, count;
    bool *is_broken; /* the owner's */
};

bool cass_table_create(struct cass_table *table, bool *is_broken);
void cass_table_destroy(struct cass_table *table);
/* Puts an index that is not there yet. */
void cass_table_put(struct cass_table *table, uint32_t hash, uint32_t index);
/* Takes an index out; it must be there. */
void cass_table_remove(struct cass_table *table, uint32_t hash, uint32_t index);
/* The slots in which an item of that hash may be, up to an empty one. */
static inline const struct cass_slot *cass_table_first(const struct cass_table *table, uint32_t hash)
{
    return &table->slots[hash & table->mask];
}

static inline const struct cass_slot *cass_table_next(const struct cass_table *table,
                                                      const struct cass_slot *slot)
{
    return &table->slots[(uint32_t)(slot - table->slots + 1) & table->mask];
}

#endif
