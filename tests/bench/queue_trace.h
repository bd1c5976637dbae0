/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A layer between the cluster engine and its event queue. It passes each operation on, records it, or
 * performs it on a ladder queue. The engine's files that use the queue are compiled a second time with this
 * header included first (CMakeLists.txt); the normal build of them and the queue are unchanged. */
#ifndef BENCH_QUEUE_TRACE_H
#define BENCH_QUEUE_TRACE_H

#include "kernel/queue.h"

bool queue_trace_create(uint32_t capacity, int64_t start_ns, struct sim_queue *queue);
uint64_t queue_trace_push(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event);
uint64_t queue_trace_push_later(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event);
uint64_t queue_trace_push_after(struct sim_queue *queue, int64_t delay_ns, const struct sim_event *event);
bool queue_trace_push_source(struct sim_queue *queue, int64_t time_ns, uint32_t source);
bool queue_trace_pop(struct sim_queue *queue, int64_t *out_time_ns, struct sim_event *out_event);
bool queue_trace_cancel(struct sim_queue *queue, uint64_t handle);

#ifndef QUEUE_TRACE_ITSELF
#define sim_queue_create      queue_trace_create
#define sim_queue_push        queue_trace_push
#define sim_queue_push_later  queue_trace_push_later
#define sim_queue_push_after  queue_trace_push_after
#define sim_queue_push_source queue_trace_push_source
#define sim_queue_pop         queue_trace_pop
#define sim_queue_cancel      queue_trace_cancel
#endif

#endif
