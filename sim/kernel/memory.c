/* SPDX-License-Identifier: GPL-3.0-or-later */
/* madvise() */
#define _DEFAULT_SOURCE
#include "kernel/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#define HUGE_BYTES ((size_t)2 << 20)

void *sim_memory_take(size_t bytes)
{
    assert(bytes > 0);
    size_t unit = bytes < HUGE_BYTES ? SIM_LINE_BYTES : HUGE_BYTES;
    if (bytes > SIZE_MAX - unit)
        return NULL;
    size_t whole = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
    if (memory != NULL && unit == HUGE_BYTES)
        madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return memory;
}

void *sim_memory_zeroed(size_t bytes)
{
    void *memory = sim_memory_take(bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

void *sim_memory_grow(void *memory, size_t kept, size_t bytes)
{
    assert(kept <= bytes);
    void *grown = sim_memory_zeroed(bytes);
    if (grown == NULL)
        return NULL;
    if (kept > 0)
        memcpy(grown, memory, kept);
    free(memory);
    return grown;
}
