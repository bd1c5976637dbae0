/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unique: no identifier is given twice. The identifiers that were handed out are a list of intervals per
 * stripe. Batches are consecutive, so the lists grow only with lost identifiers. */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "kernel/grow.h"
#include "oracles.h"

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

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = run;
    run->oracles.id_stripes = run->strategy->settings.idgen.stripes;
    run->oracles.id_spans = calloc(run->oracles.id_stripes, sizeof *run->oracles.id_spans);
    return run->oracles.id_spans != NULL;
}

static void destroy(void *state)
{
    const struct lab_oracles *oracles = &((struct lab_cluster_run *)state)->oracles;
    for (uint32_t i = 0; oracles->id_spans != NULL && i < oracles->id_stripes; i++)
        free(oracles->id_spans[i].items);
    free(oracles->id_spans);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    const uint32_t client = event->agent;
    const int64_t first = event->value, last = event->time_ns;
    int64_t stripes = run->oracles.id_stripes;
    uint64_t twice;
    (void)state;
    if (!lab_id_spans_add(&run->oracles.id_spans[(first - 1) % stripes], (first - 1) / stripes,
                          (last - 1) / stripes + 1, &twice))
        run->out_of_memory = true;
    else if (twice > 0)
        lab_violate(run, LAB_ORACLE_UNIQUE, LAB_NO_KEY, twice,
                    "client %u hands out identifiers from %lld to %lld; %llu of them were handed out before",
                    client, (long long)first, (long long)last, (unsigned long long)twice);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen != NULL ? CLUSTER_WANTS(IDS_GIVEN) : 0;
}

const struct cluster_observer cluster_unique = {.name = "unique",
                                                .wants = wants,
                                                .judges = 1u << LAB_ORACLE_UNIQUE,
                                                .begin = begin,
                                                .on_event = hear,
                                                .destroy = destroy};
