/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unique: no identifier is given twice. */
#include <string.h>

#include "id_spans.h"
#include "kernel/grow.h"

/* Returns the first span that does not end before `first`. */
static size_t find(const struct lab_id_spans *spans, int64_t first)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->items[middle].end < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool replace(struct lab_id_spans *spans, size_t at, size_t count, struct lab_id_span span)
{
    if (!sim_grow(&spans->items, &spans->capacity, spans->count + (count == 0), sizeof *spans->items))
        return false;
    struct lab_id_span *items = spans->items;
    size_t behind = spans->count - at - count;
    if (count != 1 && behind > 0)
        memmove(&items[at + 1], &items[at + count], behind * sizeof *items);
    items[at] = span;
    spans->count = spans->count + 1 - count;
    return true;
}

bool lab_id_spans_add(struct lab_id_spans *spans, int64_t first, int64_t end, uint64_t *twice)
{
    struct lab_id_span united = {first, end};
    size_t at = find(spans, first), count = 0;
    *twice = 0;
    for (; at + count < spans->count && spans->items[at + count].first <= end; count++) {
        const struct lab_id_span *met = &spans->items[at + count];
        int64_t low = met->first > first ? met->first : first, high = met->end < end ? met->end : end;
        *twice += (uint64_t)(high - low); /* 0 for spans that only adjoin */
        united.first = met->first < united.first ? met->first : united.first;
        united.end = met->end > united.end ? met->end : united.end;
    }
    return replace(spans, at, count, united);
}
