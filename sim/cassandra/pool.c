/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools with free lists, and an open-addressing hash table of indices. */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/memory.h"

#define CAPACITY_FIRST 16u

bool cass_pool_create(struct cass_pool *pool, size_t item_size, bool *is_broken)
{
    *pool = (struct cass_pool){
        .item_size = item_size, .used = 1, .capacity = CAPACITY_FIRST, .is_broken = is_broken};
    pool->items = sim_memory_take(CAPACITY_FIRST * item_size);
    if (pool->items != NULL)
        memset(pool->items, 0, item_size);
    return pool->items != NULL;
}

void cass_pool_destroy(struct cass_pool *pool)
{
    free(pool->items);
    pool->items = NULL;
}

/* Grows by half, so that at most a third of the memory of a large pool is unused. */
static bool pool_grow(struct cass_pool *pool)
{
    if (pool->capacity > UINT32_MAX / 3 * 2 - 1)
        return false;
    uint32_t capacity = pool->capacity + pool->capacity / 2;
    uint8_t *items = sim_memory_take(capacity * pool->item_size);
    if (items == NULL)
        return false;
    memcpy(items, pool->items, pool->used * pool->item_size);
    free(pool->items);
    pool->items = items;
    pool->capacity = capacity;
    return true;
}

uint32_t cass_pool_take_new(struct cass_pool *pool)
{
    if (pool->used == pool->capacity && !pool_grow(pool)) {
        *pool->is_broken = true;
        return CASS_NONE;
    }
    memset(pool->items + pool->used * pool->item_size, 0, pool->item_size);
    pool->live++;
    return pool->used++;
}

bool cass_table_create(struct cass_table *table, bool *is_broken)
{
    *table = (struct cass_table){.mask = CAPACITY_FIRST - 1, .is_broken = is_broken};
    table->slots = sim_memory_zeroed(CAPACITY_FIRST * sizeof(*table->slots));
    return table->slots != NULL;
}

void cass_table_destroy(struct cass_table *table)
{
    free(table->slots);
    *table = (struct cass_table){0};
}

static void insert(struct cass_slot *slots, uint32_t mask, struct cass_slot item)
{
    uint32_t at = item.hash & mask;
    while (slots[at].index != CASS_NONE)
        at = (at + 1) & mask;
    slots[at] = item;
}

static bool table_grow(struct cass_table *table)
{
    size_t size = (size_t)table->mask + 1;
    if (size > UINT32_MAX / 2)
        return false;
    struct cass_slot *slots = sim_memory_zeroed(size * 2 * sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (table->slots[i].index != CASS_NONE)
            insert(slots, (uint32_t)(size * 2 - 1), table->slots[i]);
    }
    free(table->slots);
    table->slots = slots;
    table->mask = (uint32_t)(size * 2 - 1);
    return true;
}

void cass_table_put(struct cass_table *table, uint32_t hash, uint32_t index)
{
    if (index == CASS_NONE)
        return;
    if ((uint64_t)(table->count + 1) * 4 > (uint64_t)(table->mask + 1) * 3 && !table_grow(table)) {
        *table->is_broken = true;
        return;
    }
    insert(table->slots, table->mask, (struct cass_slot){index, hash});
    table->count++;
}

/* Moves the entries that follow back, so that the table needs no markers of removed entries. */
void cass_table_remove(struct cass_table *table, uint32_t hash, uint32_t index)
{
    struct cass_slot *slots = table->slots;
    uint32_t mask = table->mask, hole = hash & mask;
    while (slots[hole].index != index) {
        if (slots[hole].index == CASS_NONE)
            return;
        hole = (hole + 1) & mask;
    }
    for (uint32_t next = (hole + 1) & mask; slots[next].index != CASS_NONE; next = (next + 1) & mask) {
        uint32_t home = slots[next].hash & mask;
        if (((next - home) & mask) >= ((next - hole) & mask)) {
            slots[hole] = slots[next];
            hole = next;
        }
    }
    slots[hole].index = CASS_NONE;
    table->count--;
}
