/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups the lines of a trace by key. Lines are added in the order of the file, and read back key by key: the
 * keys in order of their numbers, the lines of each key in the order in which they were added. Memory grows
 * with the number of keys (100 bytes each) and with the square root of the number of lines; the remaining
 * data is in a temporary file. */
#ifndef WORKLOAD_TRACE_LINES_H
#define WORKLOAD_TRACE_LINES_H

#include "workload/trace.h"

struct wl_trace_lines;

/* has_counts: whether the lines have counts of rows. path: the trace's, for messages; it must outlive the
 * object. Returns NULL when out of memory. */
struct wl_trace_lines *wl_trace_lines_create(const char *path, bool has_counts);
bool wl_trace_lines_put(struct wl_trace_lines *lines, const struct wl_trace_batch *line,
                        struct sim_error *error);
/* Must be called after the last line was added and before the first is read. */
bool wl_trace_lines_turn(struct wl_trace_lines *lines, struct sim_error *error);
/* Reads the next line; *more is false after the last one. The line's number in the file is not stored. */
bool wl_trace_lines_next(struct wl_trace_lines *lines, struct wl_trace_batch *out, bool *more,
                         struct sim_error *error);
/* lines may be NULL. */
void wl_trace_lines_destroy(struct wl_trace_lines *lines);

#endif
