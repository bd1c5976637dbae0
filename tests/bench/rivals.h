/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other queues of pending events, for comparison with sim_queue: all of them pop events in the order of
 * (time, sequence) and remove an event by its handle; none of them knows in advance the number of events or
 * the gaps. They are only for measurements: they exit when out of memory, and times must not be negative.
 *
 * Like sim_queue, all functions are inline; they are reached through a struct rival. Where the compiler knows
 * which rival it is, no indirect call remains. */
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/queue.h"

struct rival {
    const char *name;
    size_t bytes; /* size of the queue's struct, which the caller allocates */
    void (*create)(void *queue);
    void (*destroy)(void *queue);
    uint64_t (*push)(void *queue, int64_t time_ns, const struct sim_event *event);
    /* A push for an event that will most likely be cancelled; NULL: the queue does not distinguish these. */
    uint64_t (*push_later)(void *queue, int64_t time_ns, const struct sim_event *event);
    bool (*pop)(void *queue, int64_t *time_ns, struct sim_event *event);
    bool (*cancel)(void *queue, uint64_t handle);
};

/* A handle has the sequence in its upper bits and a slot's index in its lower bits. */
enum { RIVAL_SLOT_BITS = 24, RIVAL_CAPACITY = 1024 };

static inline uint64_t rival_handle(uint64_t sequence, uint32_t slot)
{
    return sequence << RIVAL_SLOT_BITS | slot;
}

static inline uint32_t rival_slot(uint64_t handle)
{
    return (uint32_t)(handle & ((UINT64_C(1) << RIVAL_SLOT_BITS) - 1));
}

/* Moves an array to a larger block with its new part zeroed; a large block has large pages, as in
 * sim_queue. */
void *rival_grow(void *array, size_t old_bytes, size_t bytes);

#endif
