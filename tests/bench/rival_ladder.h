/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ladder queue (Tang, Goh and Thng 2005). Far events are unsorted in the top. When all earlier events have
 * been used, they are distributed over the buckets of a rung. A small first bucket is sorted into the bottom,
 * a large one is distributed over a finer rung. Only items of 16 bytes are moved, in chunks of a fixed size,
 * and in the order of their pushes when times are equal; the events stay in their slots. A cancelled event's
 * item is dropped when it surfaces, or all such items are dropped when they are the majority. */
#ifndef BENCH_RIVAL_LADDER_H
#define BENCH_RIVAL_LADDER_H

#include <stdlib.h>
#include <string.h>

#include "rivals.h"

struct rival_ladder_item {
    int64_t time_ns;
    uint64_t handle;
};

struct rival_ladder_slot {
    struct sim_event event;
    uint64_t handle; /* 0 when it is not pending; a free slot has the next free one in event.a */
};

enum {
    RIVAL_LADDER_CHUNK = 16,
    RIVAL_LADDER_FILL = 32,
    RIVAL_LADDER_SORT = 96,
    RIVAL_LADDER_BOTTOM = 384,
    RIVAL_LADDER_FEW = 24,
    RIVAL_LADDER_RUNGS = 64
};

/* A chain of chunks. */
struct rival_ladder_bucket {
    uint32_t first, last, count;
};

struct rival_ladder_rung {
    struct rival_ladder_bucket *buckets;
    uint32_t capacity, bucket_count, current, shift; /* a bucket is 1 << shift ns */
    int64_t start_ns;                                /* start of the first bucket */
    int64_t open_ns;                                 /* earlier events belong further down */
};

struct rival_ladder {
    struct rival_ladder_slot *slots; /* from index 1 */
    uint32_t free_slot, used, capacity, count, stale;
    uint64_t sequence;
    struct rival_ladder_item *items; /* of all chunks */
    uint32_t *next_chunks;           /* after each chunk; 0: none */
    uint32_t free_chunk, chunks_used, chunk_capacity;
    struct rival_ladder_item *bottom; /* sorted, in [bottom_first, bottom_end) */
    size_t bottom_first, bottom_end, bottom_capacity;
    uint32_t rung_count; /* in use; the last is the finest */
    struct rival_ladder_rung rungs[RIVAL_LADDER_RUNGS];
    struct rival_ladder_bucket top;
    int64_t top_ns; /* the top's events are not earlier; INT64_MAX: few events, all in the bottom */
    int64_t top_least_ns, top_most_ns;
};

static inline void rival_ladder_create(void *self)
{
    struct rival_ladder *queue = self;
    *queue = (struct rival_ladder){.top_ns = INT64_MAX, .top_least_ns = INT64_MAX};
}

static inline void rival_ladder_destroy(void *self)
{
    struct rival_ladder *queue = self;
    free(queue->slots);
    free(queue->items);
    free(queue->next_chunks);
    free(queue->bottom);
    for (uint32_t i = 0; i < RIVAL_LADDER_RUNGS; i++)
        free(queue->rungs[i].buckets);
}

static inline uint32_t rival_ladder_chunk(struct rival_ladder *queue)
{
    uint32_t chunk = queue->free_chunk;
    if (chunk != 0) {
        queue->free_chunk = queue->next_chunks[chunk];
        queue->next_chunks[chunk] = 0;
        return chunk;
    }
    if (queue->chunks_used + 1 >= queue->chunk_capacity) {
        const size_t old = queue->chunk_capacity, capacity = old == 0 ? RIVAL_CAPACITY : 2 * old;
        const size_t bytes = RIVAL_LADDER_CHUNK * sizeof *queue->items;
        queue->items = rival_grow(queue->items, old * bytes, capacity * bytes);
        queue->next_chunks = rival_grow(queue->next_chunks, old * sizeof *queue->next_chunks,
                                        capacity * sizeof *queue->next_chunks);
        queue->chunk_capacity = (uint32_t)capacity;
    }
    return ++queue->chunks_used;
}

static inline void rival_ladder_append(struct rival_ladder *queue, struct rival_ladder_bucket *bucket,
                                       struct rival_ladder_item item)
{
    const uint32_t place = bucket->count++ % RIVAL_LADDER_CHUNK;
    if (place == 0) {
        const uint32_t chunk = rival_ladder_chunk(queue);
        if (bucket->count == 1)
            bucket->first = chunk;
        else
            queue->next_chunks[bucket->last] = chunk;
        bucket->last = chunk;
    }
    queue->items[(size_t)bucket->last * RIVAL_LADDER_CHUNK + place] = item;
}

/* Passes the items of a bucket to `take` in their order, and empties the bucket. A chunk is freed when it has
 * been read. */
#define RIVAL_LADDER_EMPTY(queue, bucket, item, take)                                                        \
    do {                                                                                                     \
        struct rival_ladder_bucket emptied = *(bucket);                                                      \
        *(bucket) = (struct rival_ladder_bucket){0};                                                         \
        for (uint32_t chunk = emptied.first, left = emptied.count; left > 0;) {                              \
            struct rival_ladder_item read[RIVAL_LADDER_CHUNK];                                               \
            const uint32_t here = left < RIVAL_LADDER_CHUNK ? left : RIVAL_LADDER_CHUNK;                     \
            memcpy(read, &(queue)->items[(size_t)chunk * RIVAL_LADDER_CHUNK], sizeof read);                  \
            const uint32_t next = (queue)->next_chunks[chunk];                                               \
            (queue)->next_chunks[chunk] = (queue)->free_chunk;                                               \
            (queue)->free_chunk = chunk;                                                                     \
            for (uint32_t place = 0; place < here; place++) {                                                \
                const struct rival_ladder_item item = read[place];                                           \
                take;                                                                                        \
            }                                                                                                \
            chunk = next;                                                                                    \
            left -= here;                                                                                    \
        }                                                                                                    \
    } while (0)

static inline void rival_ladder_to_bottom(struct rival_ladder *queue, struct rival_ladder_item item)
{
    if (queue->bottom_end == queue->bottom_capacity) {
        const size_t count = queue->bottom_end - queue->bottom_first;
        if (queue->bottom_first > count) {
            memmove(queue->bottom, queue->bottom + queue->bottom_first, count * sizeof *queue->bottom);
            queue->bottom_first = 0;
            queue->bottom_end = count;
        } else {
            const size_t old = queue->bottom_capacity, capacity = old == 0 ? RIVAL_CAPACITY : 2 * old;
            queue->bottom =
                rival_grow(queue->bottom, old * sizeof *queue->bottom, capacity * sizeof *queue->bottom);
            queue->bottom_capacity = capacity;
        }
    }
    struct rival_ladder_item *bottom = queue->bottom;
    size_t i = queue->bottom_end++;
    for (; i > queue->bottom_first && item.time_ns < bottom[i - 1].time_ns; i--)
        bottom[i] = bottom[i - 1];
    bottom[i] = item;
}

/* Adds a finer rung for `count` events in [least, most]. */
static inline struct rival_ladder_rung *rival_ladder_new_rung(struct rival_ladder *queue, uint32_t count,
                                                              int64_t least_ns, int64_t most_ns)
{
    struct rival_ladder_rung *rung = &queue->rungs[queue->rung_count++];
    const uint64_t span = (uint64_t)(most_ns - least_ns), wanted = count / RIVAL_LADDER_FILL + 2;
    rung->shift = 0;
    while (span >> rung->shift >= wanted)
        rung->shift++;
    rung->bucket_count = (uint32_t)(span >> rung->shift) + 1;
    rung->start_ns = rung->open_ns = least_ns;
    rung->current = 0;
    if (rung->bucket_count > rung->capacity) {
        rung->buckets = rival_grow(rung->buckets, rung->capacity * sizeof *rung->buckets,
                                   2 * rung->bucket_count * sizeof *rung->buckets);
        rung->capacity = 2 * rung->bucket_count;
    }
    return rung;
}

static inline void rival_ladder_deal(struct rival_ladder *queue, struct rival_ladder_rung *rung,
                                     struct rival_ladder_item item)
{
    const uint64_t from_start = (uint64_t)(item.time_ns - rung->start_ns);
    rival_ladder_append(queue, &rung->buckets[from_start >> rung->shift], item);
}

static inline void rival_ladder_deal_top(struct rival_ladder *queue)
{
    struct rival_ladder_rung *rung =
        rival_ladder_new_rung(queue, queue->top.count, queue->top_least_ns, queue->top_most_ns);
    RIVAL_LADDER_EMPTY(queue, &queue->top, item, rival_ladder_deal(queue, rung, item));
    queue->top_ns = queue->top_most_ns + 1;
    queue->top_least_ns = INT64_MAX;
    queue->top_most_ns = 0;
}

/* Moves the top directly into the bottom: a few events do not need rungs. */
static inline bool rival_ladder_take_top(struct rival_ladder *queue)
{
    const bool is_any = queue->top.count > 0;
    RIVAL_LADDER_EMPTY(queue, &queue->top, item, rival_ladder_to_bottom(queue, item));
    queue->top_ns = queue->top_least_ns = INT64_MAX;
    queue->top_most_ns = 0;
    return is_any;
}

/* Fills the empty bottom; false when the queue is empty. */
static inline bool rival_ladder_refill(struct rival_ladder *queue)
{
    queue->bottom_first = queue->bottom_end = 0;
    for (;;) {
        if (queue->rung_count == 0) {
            if (queue->top.count <= RIVAL_LADDER_FEW)
                return rival_ladder_take_top(queue);
            rival_ladder_deal_top(queue);
        }
        struct rival_ladder_rung *rung = &queue->rungs[queue->rung_count - 1];
        while (rung->current < rung->bucket_count && rung->buckets[rung->current].count == 0)
            rung->current++;
        if (rung->current == rung->bucket_count) {
            queue->rung_count--;
            continue;
        }
        struct rival_ladder_bucket *bucket = &rung->buckets[rung->current];
        const int64_t from = rung->start_ns + (int64_t)((uint64_t)rung->current << rung->shift);
        rung->current++;
        rung->open_ns = from + (INT64_C(1) << rung->shift);
        if (bucket->count <= RIVAL_LADDER_SORT || rung->shift == 0) {
            RIVAL_LADDER_EMPTY(queue, bucket, item, rival_ladder_to_bottom(queue, item));
            return true;
        }
        struct rival_ladder_rung *finer =
            rival_ladder_new_rung(queue, bucket->count, from, rung->open_ns - 1);
        RIVAL_LADDER_EMPTY(queue, bucket, item, rival_ladder_deal(queue, finer, item));
    }
}

/* Moves a bottom that is too long for insertions back into a rung. */
static inline void rival_ladder_lift_bottom(struct rival_ladder *queue)
{
    const struct rival_ladder_item *bottom = queue->bottom;
    const size_t first = queue->bottom_first, end = queue->bottom_end;
    const int64_t least_ns = bottom[first].time_ns, most_ns = bottom[end - 1].time_ns;
    if (least_ns == most_ns)
        return;
    if (queue->top_ns == INT64_MAX)
        queue->top_ns = most_ns + 1;
    const int64_t end_ns =
        queue->rung_count > 0 ? queue->rungs[queue->rung_count - 1].open_ns : queue->top_ns;
    struct rival_ladder_rung *rung =
        rival_ladder_new_rung(queue, (uint32_t)(end - first), least_ns, end_ns - 1);
    for (size_t i = first; i < end; i++)
        rival_ladder_deal(queue, rung, bottom[i]);
    queue->bottom_first = queue->bottom_end = 0;
}

static inline void rival_ladder_place(struct rival_ladder *queue, struct rival_ladder_item item)
{
    if (item.time_ns >= queue->top_ns) {
        queue->top_least_ns = item.time_ns < queue->top_least_ns ? item.time_ns : queue->top_least_ns;
        queue->top_most_ns = item.time_ns > queue->top_most_ns ? item.time_ns : queue->top_most_ns;
        rival_ladder_append(queue, &queue->top, item);
        return;
    }
    for (uint32_t i = 0; i < queue->rung_count; i++) {
        struct rival_ladder_rung *rung = &queue->rungs[i];
        if (item.time_ns >= rung->open_ns) {
            rival_ladder_deal(queue, rung, item);
            return;
        }
    }
    rival_ladder_to_bottom(queue, item);
    const size_t most = queue->top_ns == INT64_MAX ? 2 * RIVAL_LADDER_FEW : RIVAL_LADDER_BOTTOM;
    if (__builtin_expect(queue->bottom_end - queue->bottom_first > most, 0))
        rival_ladder_lift_bottom(queue);
}

static inline void rival_ladder_free_slot(struct rival_ladder *queue, uint32_t slot)
{
    queue->slots[slot].handle = 0;
    queue->slots[slot].event.a = queue->free_slot;
    queue->free_slot = slot;
}

static inline uint64_t rival_ladder_push(void *self, int64_t time_ns, const struct sim_event *event)
{
    struct rival_ladder *queue = self;
    uint32_t slot = queue->free_slot;
    if (slot != 0) {
        queue->free_slot = (uint32_t)queue->slots[slot].event.a;
    } else {
        if (queue->used + 1 >= queue->capacity) {
            const size_t old = queue->capacity, capacity = old == 0 ? RIVAL_CAPACITY : 2 * old;
            queue->slots =
                rival_grow(queue->slots, old * sizeof *queue->slots, capacity * sizeof *queue->slots);
            queue->capacity = (uint32_t)capacity;
        }
        slot = ++queue->used;
    }
    const uint64_t handle = rival_handle(++queue->sequence, slot);
    queue->slots[slot] = (struct rival_ladder_slot){*event, handle};
    queue->count++;
    rival_ladder_place(queue, (struct rival_ladder_item){time_ns, handle});
    return handle;
}

static inline bool rival_ladder_pop(void *self, int64_t *time_ns, struct sim_event *event)
{
    struct rival_ladder *queue = self;
    for (;;) {
        if (queue->bottom_first == queue->bottom_end && !rival_ladder_refill(queue))
            return false;
        const struct rival_ladder_item first = queue->bottom[queue->bottom_first++];
        const uint32_t slot = rival_slot(first.handle);
        if (queue->bottom_first + 4 < queue->bottom_end)
            __builtin_prefetch(&queue->slots[rival_slot(queue->bottom[queue->bottom_first + 4].handle)]);
        const bool is_pending = queue->slots[slot].handle == first.handle;
        *time_ns = first.time_ns;
        *event = queue->slots[slot].event;
        rival_ladder_free_slot(queue, slot);
        if (is_pending) {
            queue->count--;
            return true;
        }
        queue->stale--;
    }
}

static inline void rival_ladder_keep(struct rival_ladder *queue, struct rival_ladder_bucket *kept,
                                     struct rival_ladder_item item)
{
    const uint32_t slot = rival_slot(item.handle);
    if (queue->slots[slot].handle == item.handle)
        rival_ladder_append(queue, kept, item);
    else
        rival_ladder_free_slot(queue, slot);
}

/* Rebuilds the queue: takes out all items in the order of time, drops the cancelled ones, and distributes the
 * others. */
static inline void rival_ladder_purge(struct rival_ladder *queue)
{
    struct rival_ladder_bucket kept = {0};
    for (size_t i = queue->bottom_first; i < queue->bottom_end; i++)
        rival_ladder_keep(queue, &kept, queue->bottom[i]);
    queue->bottom_first = queue->bottom_end = 0;
    for (; queue->rung_count > 0; queue->rung_count--) {
        struct rival_ladder_rung *rung = &queue->rungs[queue->rung_count - 1];
        for (uint32_t i = rung->current; i < rung->bucket_count; i++)
            RIVAL_LADDER_EMPTY(queue, &rung->buckets[i], item, rival_ladder_keep(queue, &kept, item));
    }
    RIVAL_LADDER_EMPTY(queue, &queue->top, item, rival_ladder_keep(queue, &kept, item));
    queue->stale = 0;
    queue->top_ns = INT64_MAX;
    queue->top_least_ns = INT64_MAX;
    queue->top_most_ns = 0;
    RIVAL_LADDER_EMPTY(queue, &kept, item, rival_ladder_place(queue, item));
}

static inline bool rival_ladder_cancel(void *self, uint64_t handle)
{
    struct rival_ladder *queue = self;
    const uint32_t slot = rival_slot(handle);
    if (slot == 0 || slot > queue->used || queue->slots[slot].handle != handle)
        return false;
    queue->slots[slot].handle = 0;
    queue->count--;
    queue->stale++;
    if (queue->stale > queue->count + RIVAL_CAPACITY)
        rival_ladder_purge(queue);
    return true;
}

static const struct rival rival_ladder = {
    .name = "ladder queue",
    .bytes = sizeof(struct rival_ladder),
    .create = rival_ladder_create,
    .destroy = rival_ladder_destroy,
    .push = rival_ladder_push,
    .pop = rival_ladder_pop,
    .cancel = rival_ladder_cancel,
};

#endif
