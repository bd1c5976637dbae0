/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for arrays with random access. It is aligned to a cache line, as a struct with
 * alignas(SIM_LINE_BYTES) requires. Large arrays request huge pages, which saves most page table walks on
 * cache misses. free() releases the memory. */
#ifndef KERNEL_MEMORY_H
#define KERNEL_MEMORY_H

#include <stddef.h>

#define SIM_LINE_BYTES 64

/* Allocates at least `bytes` bytes, and at least one; NULL when out of memory. */
void *sim_memory_take(size_t bytes);
/* As sim_memory_take(), zeroed. */
void *sim_memory_zeroed(size_t bytes);

/* Grows `memory` (NULL: none) to `bytes`, at least `kept`: the first `kept` bytes are copied, the rest are
 * zeros, and `memory` is freed. NULL when out of memory; `memory` is then unchanged. */
void *sim_memory_grow(void *memory, size_t kept, size_t bytes);

#endif
