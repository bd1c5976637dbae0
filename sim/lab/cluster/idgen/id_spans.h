/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which identifiers were given, as intervals: one list a stripe. Batches follow each other, so the lists grow
 * only with what was lost. */
#ifndef LAB_ID_SPANS_H
#define LAB_ID_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers within a stripe, from first to before end; disjoint, not touching, rising. */
struct lab_id_span {
    int64_t first, end;
};
struct lab_id_spans {
    struct lab_id_span *items;
    size_t count, capacity;
};
/* Adds [first, end), first < end; *twice: how many of them were there already. False when out of memory. */
bool lab_id_spans_add(struct lab_id_spans *spans, int64_t first, int64_t end, uint64_t *twice);

#endif
