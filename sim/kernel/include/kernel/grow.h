/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing arrays. The capacity at least doubles each time, so that each item is copied a constant number of
 * times on average. The owner keeps the pointer and the capacity, both zero at first, and frees the array
 * with free(). */
#ifndef KERNEL_GROW_H
#define KERNEL_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* The slow path of sim_grow(), for a count above the capacity. */
bool sim_grow_more(void *array, size_t *capacity, size_t count, size_t item_bytes);

/* Ensures that an array has room for `count` items of `item_bytes` each. `array` is the address of the
 * pointer to the items, of any type, and *capacity the number of items for which there is room. Returns
 * false, and leaves the array unchanged, when out of memory or when the size in bytes would overflow. New
 * room is not initialised. */
static inline bool sim_grow(void *array, size_t *capacity, size_t count, size_t item_bytes)
{
    return count <= *capacity || sim_grow_more(array, capacity, count, item_bytes);
}

#endif
