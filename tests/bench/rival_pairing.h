/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pairing heap (Fredman, Sedgewick, Sleator and Tarjan 1986) of nodes that fill a cache line each: a push
 * is one comparison; a pop pairs the root's children from the left and joins the pairs from the right. */
#ifndef BENCH_RIVAL_PAIRING_H
#define BENCH_RIVAL_PAIRING_H

#include <stdlib.h>

#include "rivals.h"

struct rival_pairing_node {
    int64_t time_ns;
    uint64_t handle; /* 0 when it is not pending */
    struct sim_event event;
    uint32_t child, next; /* of a free node: the next free one */
    uint32_t previous;    /* the parent for a first child */
    uint32_t unused[3];   /* padding to a cache line */
};

struct rival_pairing {
    struct rival_pairing_node *nodes; /* from index 1 */
    uint32_t root, free_node, used, capacity;
    uint64_t sequence;
};

static inline void rival_pairing_create(void *self)
{
    struct rival_pairing *queue = self;
    *queue = (struct rival_pairing){0};
}

static inline void rival_pairing_destroy(void *self)
{
    struct rival_pairing *queue = self;
    free(queue->nodes);
}

/* Merges two non-empty heaps; the root's next and previous are not set. */
static inline uint32_t rival_pairing_meld(struct rival_pairing_node *nodes, uint32_t a, uint32_t b)
{
    if (nodes[b].time_ns < nodes[a].time_ns ||
        (nodes[b].time_ns == nodes[a].time_ns && nodes[b].handle < nodes[a].handle)) {
        const uint32_t other = a;
        a = b;
        b = other;
    }
    const uint32_t first = nodes[a].child;
    nodes[b].next = first;
    nodes[b].previous = a;
    if (first != 0)
        nodes[first].previous = b;
    nodes[a].child = b;
    return a;
}

/* Merges the siblings from `first` on into one heap; 0 when there are none. */
static inline uint32_t rival_pairing_combine(struct rival_pairing_node *nodes, uint32_t first)
{
    uint32_t pairs = 0; /* a list of the pairs from the last one */
    while (first != 0) {
        const uint32_t a = first, b = nodes[a].next;
        uint32_t pair = a;
        first = 0;
        if (b != 0) {
            first = nodes[b].next;
            __builtin_prefetch(&nodes[first]);
            pair = rival_pairing_meld(nodes, a, b);
        }
        nodes[pair].next = pairs;
        pairs = pair;
    }
    if (pairs == 0)
        return 0;
    uint32_t root = pairs;
    for (uint32_t rest = nodes[root].next; rest != 0;) {
        const uint32_t next = nodes[rest].next;
        root = rival_pairing_meld(nodes, root, rest);
        rest = next;
    }
    return root;
}

static inline void rival_pairing_join(struct rival_pairing *queue, uint32_t heap)
{
    if (heap != 0)
        queue->root = queue->root == 0 ? heap : rival_pairing_meld(queue->nodes, queue->root, heap);
}

static inline void rival_pairing_drop(struct rival_pairing *queue, uint32_t i)
{
    queue->nodes[i].handle = 0;
    queue->nodes[i].next = queue->free_node;
    queue->free_node = i;
}

static inline uint64_t rival_pairing_push(void *self, int64_t time_ns, const struct sim_event *event)
{
    struct rival_pairing *queue = self;
    uint32_t i = queue->free_node;
    if (i != 0) {
        queue->free_node = queue->nodes[i].next;
    } else {
        if (queue->used + 1 >= queue->capacity) {
            const size_t old = queue->capacity, capacity = old == 0 ? RIVAL_CAPACITY : 2 * old;
            queue->nodes =
                rival_grow(queue->nodes, old * sizeof *queue->nodes, capacity * sizeof *queue->nodes);
            queue->capacity = (uint32_t)capacity;
        }
        i = ++queue->used;
    }
    const uint64_t handle = rival_handle(++queue->sequence, i);
    queue->nodes[i] = (struct rival_pairing_node){.time_ns = time_ns, .handle = handle, .event = *event};
    rival_pairing_join(queue, i);
    return handle;
}

static inline bool rival_pairing_pop(void *self, int64_t *time_ns, struct sim_event *event)
{
    struct rival_pairing *queue = self;
    const uint32_t root = queue->root;
    if (root == 0)
        return false;
    *time_ns = queue->nodes[root].time_ns;
    *event = queue->nodes[root].event;
    queue->root = rival_pairing_combine(queue->nodes, queue->nodes[root].child);
    rival_pairing_drop(queue, root);
    return true;
}

static inline bool rival_pairing_cancel(void *self, uint64_t handle)
{
    struct rival_pairing *queue = self;
    struct rival_pairing_node *nodes = queue->nodes;
    const uint32_t i = rival_slot(handle);
    if (i == 0 || i > queue->used || nodes[i].handle != handle)
        return false;
    if (i == queue->root) {
        queue->root = 0;
    } else {
        const uint32_t previous = nodes[i].previous, next = nodes[i].next;
        if (nodes[previous].child == i)
            nodes[previous].child = next;
        else
            nodes[previous].next = next;
        if (next != 0)
            nodes[next].previous = previous;
    }
    rival_pairing_join(queue, rival_pairing_combine(nodes, nodes[i].child));
    rival_pairing_drop(queue, i);
    return true;
}

static const struct rival rival_pairing = {
    .name = "pairing heap",
    .bytes = sizeof(struct rival_pairing),
    .create = rival_pairing_create,
    .destroy = rival_pairing_destroy,
    .push = rival_pairing_push,
    .pop = rival_pairing_pop,
    .cancel = rival_pairing_cancel,
};

#endif
