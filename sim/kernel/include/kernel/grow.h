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

/* Memory for arrays with random access. It is aligned to a cache line, as a struct with
 * alignas(SIM_LINE_BYTES) requires. Large arrays request huge pages, which saves most page table walks on
 * cache misses. free() releases the memory. */

#define SIM_LINE_BYTES 64

/* Allocates at least `bytes` bytes, and at least one; NULL when out of memory. */
void *sim_memory_take(size_t bytes);
/* As sim_memory_take(), zeroed. */
void *sim_memory_zeroed(size_t bytes);

/* Grows `memory` (NULL: none) to `bytes`, at least `kept`: the first `kept` bytes are copied, the rest are
 * zeros, and `memory` is freed. NULL when out of memory; `memory` is then unchanged. */
void *sim_memory_grow(void *memory, size_t kept, size_t bytes);

#endif
