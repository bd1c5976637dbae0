/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The textbook structure: a binary heap of whole events, and for each handle the position of its event. */
#ifndef BENCH_RIVAL_BINARY_H
#define BENCH_RIVAL_BINARY_H

#include <stdlib.h>

#include "rivals.h"

struct rival_binary_item {
    int64_t time_ns;
    uint64_t handle;
    struct sim_event event;
};

struct rival_binary {
    struct rival_binary_item *heap; /* the root is at 1 */
    uint32_t *places;               /* of a slot's event in the heap; of a free slot, the next free one */
    uint32_t count, capacity, free_slot;
    uint64_t sequence;
};

static inline void rival_binary_create(void *self)
{
    struct rival_binary *queue = self;
    *queue = (struct rival_binary){0};
}

static inline void rival_binary_destroy(void *self)
{
    struct rival_binary *queue = self;
    free(queue->heap);
    free(queue->places);
}

static inline bool rival_binary_before(const struct rival_binary_item *a, const struct rival_binary_item *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->handle < b->handle);
}

static inline void rival_binary_put(struct rival_binary *queue, uint32_t i,
                                    const struct rival_binary_item *item)
{
    queue->heap[i] = *item;
    queue->places[rival_slot(item->handle)] = i;
}

static inline void rival_binary_rise(struct rival_binary *queue, uint32_t i, struct rival_binary_item item)
{
    for (; i > 1 && rival_binary_before(&item, &queue->heap[i / 2]); i /= 2)
        rival_binary_put(queue, i, &queue->heap[i / 2]);
    rival_binary_put(queue, i, &item);
}

/* The last item replaces item i. */
static inline void rival_binary_remove(struct rival_binary *queue, uint32_t i)
{
    const uint32_t slot = rival_slot(queue->heap[i].handle);
    queue->heap[i].handle = 0;
    queue->places[slot] = queue->free_slot;
    queue->free_slot = slot;
    const struct rival_binary_item item = queue->heap[queue->count--];
    if (i > queue->count)
        return;
    for (uint32_t child; (child = 2 * i) <= queue->count; i = child) {
        if (child < queue->count && rival_binary_before(&queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!rival_binary_before(&queue->heap[child], &item))
            break;
        rival_binary_put(queue, i, &queue->heap[child]);
    }
    rival_binary_rise(queue, i, item);
}

static inline uint64_t rival_binary_push(void *self, int64_t time_ns, const struct sim_event *event)
{
    struct rival_binary *queue = self;
    if (queue->count + 1 >= queue->capacity) {
        const size_t old = queue->capacity, capacity = old == 0 ? RIVAL_CAPACITY : 2 * old;
        queue->heap = rival_grow(queue->heap, old * sizeof *queue->heap, capacity * sizeof *queue->heap);
        queue->places =
            rival_grow(queue->places, old * sizeof *queue->places, capacity * sizeof *queue->places);
        queue->capacity = (uint32_t)capacity;
    }
    uint32_t slot = queue->free_slot;
    queue->count++;
    if (slot != 0)
        queue->free_slot = queue->places[slot];
    else
        slot = queue->count; /* no free slot */
    const uint64_t handle = rival_handle(++queue->sequence, slot);
    rival_binary_rise(queue, queue->count, (struct rival_binary_item){time_ns, handle, *event});
    return handle;
}

static inline bool rival_binary_pop(void *self, int64_t *time_ns, struct sim_event *event)
{
    struct rival_binary *queue = self;
    if (queue->count == 0)
        return false;
    *time_ns = queue->heap[1].time_ns;
    *event = queue->heap[1].event;
    rival_binary_remove(queue, 1);
    return true;
}

static inline bool rival_binary_cancel(void *self, uint64_t handle)
{
    struct rival_binary *queue = self;
    const uint32_t slot = rival_slot(handle);
    if (slot == 0 || slot >= queue->capacity)
        return false;
    const uint32_t i = queue->places[slot];
    if (i == 0 || i > queue->count || queue->heap[i].handle != handle)
        return false;
    rival_binary_remove(queue, i);
    return true;
}

static const struct rival rival_binary = {
    .name = "binary heap",
    .bytes = sizeof(struct rival_binary),
    .create = rival_binary_create,
    .destroy = rival_binary_destroy,
    .push = rival_binary_push,
    .pop = rival_binary_pop,
    .cancel = rival_binary_cancel,
};

#endif
