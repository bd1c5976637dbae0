/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set of identifiers that were handed out, as a list of intervals per stripe. Batches are consecutive, so
 * the lists grow only with lost identifiers. */
#ifndef LAB_ID_SPANS_H
#define LAB_ID_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers within a stripe, from first to before end. Intervals are disjoint, not adjacent, and ascending. */
struct lab_id_span {
    int64_t first, end;
};
struct lab_id_spans {
    struct lab_id_span *items;
    size_t count, capacity;
};
/* Adds [first, end), first < end. Sets *twice to the number of identifiers that were in the set already.
 * Returns false when out of memory. */
bool lab_id_spans_add(struct lab_id_spans *spans, int64_t first, int64_t end, uint64_t *twice);

#endif
