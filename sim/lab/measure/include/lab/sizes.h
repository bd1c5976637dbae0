/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of the partitions of a run of `tune`, of which only a few quantiles are needed. While they are
 * few, they are a list, which takes less time and memory than a histogram; otherwise they are a histogram. */
#ifndef LAB_SIZES_H
#define LAB_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/histogram.h"

struct lab_sizes {
    /* In any order: those below 2^32, and the others. */
    uint32_t *small;
    uint64_t *large;
    size_t small_count, small_capacity, large_count, large_capacity;
    struct lab_histogram rest; /* those that are not listed */
    bool out_of_memory;        /* set once a size was lost, and never cleared */
};

#define LAB_SIZES_LISTED (1u << 18) /* a histogram takes more memory */

/* The slow path of lab_sizes_add(). */
void lab_sizes_add_more(struct lab_sizes *sizes, uint64_t size);
/* Adds a size to sizes that were zeroed at first. */
static inline void lab_sizes_add(struct lab_sizes *sizes, uint64_t size)
{
    if (size <= UINT32_MAX && sizes->small_count < sizes->small_capacity &&
        sizes->small_count + sizes->large_count < LAB_SIZES_LISTED)
        sizes->small[sizes->small_count++] = (uint32_t)size;
    else
        lab_sizes_add_more(sizes, size);
}
void lab_sizes_merge(struct lab_sizes *into, const struct lab_sizes *from);
/* For each rank, from 1 to the number of sizes, finds the largest size that this many sizes reach: exact, or
 * rounded up as in a histogram, if the sizes are many. Returns false when out of memory. */
bool lab_sizes_find(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count, uint64_t *out);
void lab_sizes_clear(struct lab_sizes *sizes);

#endif
