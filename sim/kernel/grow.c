/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow by doubling. */
#include "kernel/grow.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The first capacity in bytes; most arrays stay small. */
#define BYTES_MIN 64

bool sim_grow_more(void *array, size_t *capacity, size_t count, size_t item_bytes)
{
    assert(item_bytes > 0 && count > *capacity);
    size_t wanted = *capacity > SIZE_MAX / 2 ? count : *capacity * 2;
    if (wanted < BYTES_MIN / item_bytes)
        wanted = BYTES_MIN / item_bytes;
    if (wanted < count)
        wanted = count;
    if (wanted > SIZE_MAX / item_bytes)
        return false;
    /* A pointer to any type has the same representation as a pointer to void, as POSIX requires. */
    void *items;
    memcpy(&items, array, sizeof items);
    void *grown = realloc(items, wanted * item_bytes);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    /* cppcheck-suppress memleak ; `array` has it */
    return true;
}
