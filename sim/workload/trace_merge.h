/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A binary heap for merging sorted runs (Knuth, TAOCP 5.4.1): the numbers of the runs, with the run whose
 * next item comes first on top. */
#ifndef WORKLOAD_TRACE_MERGE_H
#define WORKLOAD_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct trace_merge {
    size_t *heap;
    size_t count;
};

/* Whether the next item of run `one` comes before the next item of run `other`. */
typedef bool trace_is_before(const void *owner, size_t one, size_t other);

/* Sifts the run at index `at` of the heap down to its place. */
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

/* Builds the heap of the runs 0 to count - 1. */
static inline void trace_merge_begin(struct trace_merge *merge, size_t count, trace_is_before *is_before,
                                     const void *owner)
{
    merge->count = count;
    for (size_t i = 0; i < count; i++)
        merge->heap[i] = i;
    for (size_t i = count / 2; i-- > 0;)
        trace_merge_sink(merge, i, is_before, owner);
}

/* Restores the heap after the top run has advanced to its next item, or has no more items. */
static inline void trace_merge_moved(struct trace_merge *merge, bool has_more, trace_is_before *is_before,
                                     const void *owner)
{
    if (!has_more)
        merge->heap[0] = merge->heap[--merge->count];
    if (merge->count > 0)
        trace_merge_sink(merge, 0, is_before, owner);
}

#endif
