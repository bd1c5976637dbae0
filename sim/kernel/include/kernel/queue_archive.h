/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives the event queue with its clock. Pending events keep their order, and handles stay valid. */
#ifndef KERNEL_QUEUE_ARCHIVE_H
#define KERNEL_QUEUE_ARCHIVE_H

#include "kernel/archive.h"
#include "kernel/queue.h"

/* Saves or loads. Loading needs a queue that was created like the saved one, and discards its contents. The
 * host must check the contents of the loaded events. */
void sim_queue_archive(struct sim_queue *queue, struct sim_archive *archive);

/* A pending event of a queue. */
struct sim_pending {
    int64_t time_ns;
    uint64_t handle;
    struct sim_event event;
};
/* Iterates over all pending events, in no particular order: begin with *at = 0, and call it until it returns
 * false. */
bool sim_queue_next_pending(const struct sim_queue *queue, size_t *at, struct sim_pending *out);

#endif
