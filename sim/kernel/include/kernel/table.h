/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table with linear probing, whose entries are indices of items that the owner compares; index 0 is an
 * empty slot. */
#ifndef KERNEL_TABLE_H
#define KERNEL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_slot {
    uint32_t index;
    uint32_t hash; /* of the item, so that growing and removing need not access items */
};

struct sim_table {
    struct sim_slot *slots; /* the owner frees them */
    uint32_t mask, count;
    bool *is_broken; /* the owner's; set when the table cannot grow */
};

/* False when out of memory. */
bool sim_table_create(struct sim_table *table, bool *is_broken);
/* Inserts an index, which must not be in the table. */
void sim_table_put(struct sim_table *table, uint32_t hash, uint32_t index);
/* Removes an index, which must be in the table. */
void sim_table_remove(struct sim_table *table, uint32_t hash, uint32_t index);
/* Iterates over the slots that may have an item with this hash, up to an empty slot. */
static inline const struct sim_slot *sim_table_first(const struct sim_table *table, uint32_t hash)
{
    return &table->slots[hash & table->mask];
}

static inline const struct sim_slot *sim_table_next(const struct sim_table *table,
                                                    const struct sim_slot *slot)
{
    return &table->slots[(uint32_t)(slot - table->slots + 1) & table->mask];
}

#endif
