/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for arrays that are met at random places: it begins at a line of the cache, which a struct may ask
 * for (alignas(SIM_LINE_BYTES)). Large ones ask for large pages, which spares most of the walks through the
 * page table that a miss in the cache would cost besides. free() gives it back. */
#ifndef KERNEL_MEMORY_H
#define KERNEL_MEMORY_H

#include <stddef.h>

#define SIM_LINE_BYTES 64

/* `bytes` of anything, at least one; NULL without memory. */
void *sim_memory_take(size_t bytes);
/* The same, of zeros. */
void *sim_memory_zeroed(size_t bytes);

/* More of it, at least `kept`, whose first bytes are those of `memory` (NULL: there are none) and the rest
 * zeros; `memory` is gone then. NULL without memory: then it is as it was. */
void *sim_memory_grow(void *memory, size_t kept, size_t bytes);

#endif
