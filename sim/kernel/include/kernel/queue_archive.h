/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event queue as bytes, and back, with its clock: what is pending comes in the order in which it would
 * have come, and handles that were given out stay good. */
#ifndef KERNEL_QUEUE_ARCHIVE_H
#define KERNEL_QUEUE_ARCHIVE_H

#include "kernel/archive.h"
#include "kernel/queue.h"

/* Loading takes a queue that was made as the saved one was, and throws away what is in it. What the events
 * say is for their host to check. */
void sim_queue_archive(struct sim_queue *queue, struct sim_archive *archive);

/* A pending event, as it stands in the queue. */
struct sim_pending {
    int64_t time_ns;
    uint64_t handle;
    struct sim_event event;
};
/* Walks over all pending events, in no order: from *at = 0 on, until it gives false. */
bool sim_queue_next_pending(const struct sim_queue *queue, size_t *at, struct sim_pending *out);

#endif
