/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other queues of pending events, to hold sim_queue against: all give events in the order of (time, sequence)
 * and take one out by its handle; none is told how many events there will be, or how far apart. Yardsticks,
 * not for use: when out of memory they exit, and times are never negative.
 *
 * Everything is inline, as sim_queue is, and reached through a struct rival: where the compiler knows which
 * one it is, no call is left. */
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/queue.h"

struct rival {
    const char *name;
    size_t bytes; /* of the struct that the functions take, in memory of the caller's */
    void (*create)(void *queue);
    void (*destroy)(void *queue);
    uint64_t (*push)(void *queue, int64_t time_ns, const struct sim_event *event);
    /* The same for an event that will most likely be cancelled; NULL: nothing is made of that. */
    uint64_t (*push_later)(void *queue, int64_t time_ns, const struct sim_event *event);
    bool (*pop)(void *queue, int64_t *time_ns, struct sim_event *event);
    bool (*cancel)(void *queue, uint64_t handle);
};

/* A handle is the sequence above, the number of a slot below. */
enum { RIVAL_SLOT_BITS = 24, RIVAL_CAPACITY = 1024 };

static inline uint64_t rival_handle(uint64_t sequence, uint32_t slot)
{
    return sequence << RIVAL_SLOT_BITS | slot;
}

static inline uint32_t rival_slot(uint64_t handle)
{
    return (uint32_t)(handle & ((UINT64_C(1) << RIVAL_SLOT_BITS) - 1));
}

/* An array moved to a larger place, its new part 0: large pages for a large one, as sim_queue has them. */
void *rival_grow(void *array, size_t old_bytes, size_t bytes);

#endif
