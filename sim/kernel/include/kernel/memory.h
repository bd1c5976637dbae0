/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for arrays with random access: it begins at a cache line, which a struct may require
 * (alignas(SIM_LINE_BYTES)). Large arrays request large pages, which saves most page table walks at cache
 * misses. free() releases it. */
#ifndef KERNEL_MEMORY_H
#define KERNEL_MEMORY_H

#include <stddef.h>

#define SIM_LINE_BYTES 64

/* At least `bytes` bytes, and at least one; NULL when out of memory. */
void *sim_memory_take(size_t bytes);
/* As sim_memory_take(), zeroed. */
void *sim_memory_zeroed(size_t bytes);

/* Grows `memory` (NULL: none) to `bytes`, at least `kept`: the first `kept` bytes are copied, the rest are
 * zeros, and `memory` is freed. NULL when out of memory; `memory` is then unchanged. */
void *sim_memory_grow(void *memory, size_t kept, size_t bytes);

#endif
