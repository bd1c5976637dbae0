/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A binary heap of runs that are merged (Knuth, TAOCP 5.4.1): their numbers, the one that comes first on top.
 */
#ifndef WORKLOAD_TRACE_MERGE_H
#define WORKLOAD_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct trace_merge {
    size_t *heap;
    size_t count;
};

/* Whether what the first run has next comes before what the second one has. */
typedef bool trace_is_before(const void *owner, size_t one, size_t other);

/* Lets the run at `at` of the heap sink to its place. */
static inline void trace_merge_sink(struct trace_merge *merge, size_t at, trace_is_before *is_before,
                                    const void *owner)
{
    size_t *heap = merge->heap, run = heap[at];
    for (size_t child; (child = 2 * at + 1) < merge->count; at = child) {
        child += child + 1 < merge->count && is_before(owner, heap[child + 1], heap[child]);
        if (!is_before(owner, heap[child], run))
            break;
        heap[at] = heap[child];
    }
    heap[at] = run;
}

/* Puts the runs 0 to count - 1 into their order. */
static inline void trace_merge_begin(struct trace_merge *merge, size_t count, trace_is_before *is_before,
                                     const void *owner)
{
    merge->count = count;
    for (size_t i = 0; i < count; i++)
        merge->heap[i] = i;
    for (size_t i = count / 2; i-- > 0;)
        trace_merge_sink(merge, i, is_before, owner);
}

/* The run on top has moved to what comes next, or has no more. */
static inline void trace_merge_moved(struct trace_merge *merge, bool has_more, trace_is_before *is_before,
                                     const void *owner)
{
    if (!has_more)
        merge->heap[0] = merge->heap[--merge->count];
    if (merge->count > 0)
        trace_merge_sink(merge, 0, is_before, owner);
}

#endif
