/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a trace, put as the file has them and taken key by key: the keys in order of their numbers,
 * the lines of each in the order in which they were put. Memory grows with the keys (100 bytes each) and with
 * the root of the lines; what is more goes to a temporary file. */
#ifndef WORKLOAD_TRACE_LINES_H
#define WORKLOAD_TRACE_LINES_H

#include "workload/trace.h"

struct wl_trace_lines;

/* Of a trace whose lines have counts, or have none; the path is for messages and outlives them. NULL when out
 * of memory. */
struct wl_trace_lines *wl_trace_lines_create(const char *path, bool has_counts);
bool wl_trace_lines_put(struct wl_trace_lines *lines, const struct wl_trace_batch *line,
                        struct sim_error *error);
/* Behind the last line that is put, before the first is taken. */
bool wl_trace_lines_turn(struct wl_trace_lines *lines, struct sim_error *error);
/* *more is false behind the last. The line's number in the file is not kept. */
bool wl_trace_lines_next(struct wl_trace_lines *lines, struct wl_trace_batch *out, bool *more,
                         struct sim_error *error);
/* NULL is fine. */
void wl_trace_lines_destroy(struct wl_trace_lines *lines);

#endif
