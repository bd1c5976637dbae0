/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools of items of equal size, identified by index, with a free list through the first four bytes of free
 * items; and an open-addressing hash table of indices. Items contain no pointers, so both can be stored.
 *
 * Item 0 is never allocated: index 0 means "none". A pool that cannot grow returns item 0, so that the caller
 * need not handle the error; it also sets *is_broken, and the owner stops before the next event. */
#ifndef CASSANDRA_POOL_H
#define CASSANDRA_POOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel/likely.h"

#define CASS_NONE 0u

struct cass_pool {
    uint8_t *items;
    size_t item_size;
    uint32_t used, capacity; /* used: number of items that were ever allocated, including item 0 */
    uint32_t free_head;
    uint32_t live;   /* number of items allocated now */
    bool *is_broken; /* owned by the pool's owner */
};

/* *is_broken is set to true when the pool cannot grow. */
bool cass_pool_create(struct cass_pool *pool, size_t item_size, bool *is_broken);
void cass_pool_destroy(struct cass_pool *pool);
/* Allocates an item that was never allocated before; 0 when out of memory. */
uint32_t cass_pool_take_new(struct cass_pool *pool);

/* Allocates an item. It is zeroed when it is allocated for the first time; later it has its previous
 * contents, except for the first four bytes. */
static inline uint32_t cass_pool_take(struct cass_pool *pool)
{
    uint32_t index = pool->free_head;
    if (SIM_UNLIKELY(index == CASS_NONE))
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

/* Allocates an item and frees another one, in this order. */
static inline uint32_t cass_pool_swap(struct cass_pool *pool, uint32_t index)
{
    uint32_t fresh = pool->free_head;
    if (SIM_UNLIKELY(fresh == CASS_NONE || index == CASS_NONE)) {
        fresh = cass_pool_take(pool);
        cass_pool_give(pool, index);
        return fresh;
    }
    memcpy(pool->items + index * pool->item_size, pool->items + fresh * pool->item_size,
           sizeof pool->free_head);
    pool->free_head = index;
    return fresh;
}

/* A hash table with linear probing, whose entries are indices of items that the owner compares; index 0 is an
 * empty slot. */
struct cass_slot {
    uint32_t index;
    uint32_t hash; /* upper half of the item's hash, so that growing and removing need not access items */
};

struct cass_table {
    struct cass_slot *slots;
    uint32_t mask, count;
    bool *is_broken; /* the owner's */
};

bool cass_table_create(struct cass_table *table, bool *is_broken);
void cass_table_destroy(struct cass_table *table);
/* Inserts an index, which must not be in the table. */
void cass_table_put(struct cass_table *table, uint32_t hash, uint32_t index);
/* Removes an index, which must be in the table. */
void cass_table_remove(struct cass_table *table, uint32_t hash, uint32_t index);
/* Iterates over the slots that may have an item with this hash, up to an empty slot. */
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
