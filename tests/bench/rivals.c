/* SPDX-License-Identifier: GPL-3.0-or-later */
/* madvise() */
#define _DEFAULT_SOURCE
#include "rivals.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

void *rival_grow(void *array, size_t old_bytes, size_t bytes)
{
    const size_t huge = (size_t)2 << 20, unit = bytes >= huge ? huge : 64;
    bytes = (bytes + unit - 1) / unit * unit;
    char *grown = aligned_alloc(unit, bytes);
    if (grown == NULL)
        exit(3);
#ifdef MADV_HUGEPAGE
    if (unit == huge)
        madvise(grown, bytes, MADV_HUGEPAGE);
#endif
    if (old_bytes > 0)
        memcpy(grown, array, old_bytes);
    memset(grown + old_bytes, 0, bytes - old_bytes);
    free(array);
    return grown;
}
