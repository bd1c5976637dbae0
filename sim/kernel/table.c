/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table of indices. In: indices with their hashes. Kept: slots, at most three quarters of them used.
 */
#include "kernel/table.h"

#include <stddef.h>
#include <stdlib.h>

#include "kernel/grow.h"

#define SLOTS_FIRST 16u

bool sim_table_create(struct sim_table *table, bool *is_broken)
{
    *table = (struct sim_table){.mask = SLOTS_FIRST - 1, .is_broken = is_broken};
    table->slots = sim_memory_zeroed(SLOTS_FIRST * sizeof(*table->slots));
    return table->slots != NULL;
}

static void insert(struct sim_slot *slots, uint32_t mask, struct sim_slot item)
{
    uint32_t at = item.hash & mask;
    while (slots[at].index != 0)
        at = (at + 1) & mask;
    slots[at] = item;
}

static bool table_grow(struct sim_table *table)
{
    size_t size = (size_t)table->mask + 1;
    if (size > UINT32_MAX / 2)
        return false;
    struct sim_slot *slots = sim_memory_zeroed(size * 2 * sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (table->slots[i].index != 0)
            insert(slots, (uint32_t)(size * 2 - 1), table->slots[i]);
    }
    free(table->slots);
    table->slots = slots;
    table->mask = (uint32_t)(size * 2 - 1);
    return true;
}

void sim_table_put(struct sim_table *table, uint32_t hash, uint32_t index)
{
    if (index == 0)
        return;
    if ((uint64_t)(table->count + 1) * 4 > (uint64_t)(table->mask + 1) * 3 && !table_grow(table)) {
        *table->is_broken = true;
        return;
    }
    insert(table->slots, table->mask, (struct sim_slot){index, hash});
    table->count++;
}

/* Moves the entries that follow back, so that the table needs no markers of removed entries. */
void sim_table_remove(struct sim_table *table, uint32_t hash, uint32_t index)
{
    struct sim_slot *slots = table->slots;
    uint32_t mask = table->mask, hole = hash & mask;
    while (slots[hole].index != index) {
        if (slots[hole].index == 0)
            return;
        hole = (hole + 1) & mask;
    }
    for (uint32_t next = (hole + 1) & mask; slots[next].index != 0; next = (next + 1) & mask) {
        uint32_t home = slots[next].hash & mask;
        if (((next - home) & mask) >= ((next - hole) & mask)) {
            slots[hole] = slots[next];
            hole = next;
        }
    }
    slots[hole].index = 0;
    table->count--;
}
