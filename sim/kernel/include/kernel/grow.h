/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow as they are filled: their room at least doubles, so that filling one costs a constant
 * number of copies for each item. The owner keeps the pointer and the room, both zero at first; free() gives
 * the array back. */
#ifndef KERNEL_GROW_H
#define KERNEL_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* The rest of sim_grow(), for a count above the capacity. */
bool sim_grow_more(void *array, size_t *capacity, size_t count, size_t item_bytes);

/* Gives an array room for `count` items of `item_bytes` each. `array` is the address of the pointer to its
 * items, whatever their type, and `*capacity` the items that there is room for. False when out of memory, or
 * when so many items do not fit into the address space: then the array is as it was. New room is not
 * initialised.
 */
static inline bool sim_grow(void *array, size_t *capacity, size_t count, size_t item_bytes)
{
    return count <= *capacity || sim_grow_more(array, capacity, count, item_bytes);
}

#endif
