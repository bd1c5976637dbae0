/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event queue: events in the order of (time, sequence), sequence being the order of pushing, so that the
 * order is total and the same everywhere. An event is plain data; whoever pops it knows what its kind means.
 *
 * A 4-ary implicit heap moves 16-byte items (time, sequence and slot), the four children of a node in one
 * cache line; the events lie still in slots. Push costs O(log4 n) at worst and O(1) as a rule, pop O(log4 n),
 * cancel O(1): it stamps the slot, and the item is dropped when it surfaces. Nothing is allocated but to
 * grow. No pointers to events are given out; state is plain indexed arrays. At most SIM_QUEUE_PENDING_MAX
 * events wait at once. */
#ifndef KERNEL_QUEUE_H
#define KERNEL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_QUEUE_PENDING_MAX ((size_t)1 << 24)

struct sim_event {
    uint32_t kind;   /* the host's */
    uint32_t target; /* whom it concerns */
    uint64_t a, b;
};

/* Names a pending event; of one that has come or was cancelled it names nothing. 0 never names any. */
typedef uint64_t sim_handle;

struct sim_queue;

/* capacity: events to make room for now; the queue grows beyond it. Returns NULL without memory. */
struct sim_queue *sim_queue_create(size_t capacity, int64_t start_ns);
void sim_queue_destroy(struct sim_queue *queue); /* NULL is fine */
/* For tests of order dependence: events of equal time come in an order that the seed draws, not in that of
 * pushing. To be called before the first push. */
void sim_queue_shuffle_ties(struct sim_queue *queue, uint64_t seed);

/* time_ns must not lie before now (asserts). Returns 0 when there is no memory or no room; nothing is lost
 * then. */
sim_handle sim_queue_push(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event);
/* The next event becomes the present one: false when none is left. */
bool sim_queue_pop(struct sim_queue *queue, int64_t *time_ns, struct sim_event *out);
/* When the next event comes; false when none is left. */
bool sim_queue_peek(struct sim_queue *queue, int64_t *time_ns);
/* False when the handle names nothing any more. */
bool sim_queue_cancel(struct sim_queue *queue, sim_handle handle);
size_t sim_queue_count(const struct sim_queue *queue); /* pending, without the cancelled ones */
int64_t sim_queue_now(const struct sim_queue *queue);  /* time of the event that was popped last */
uint64_t sim_queue_pushed(const struct sim_queue *queue);

#endif
