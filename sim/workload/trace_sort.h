/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows sorted by (time, order of input) in bounded memory: an external merge sort. Rows are taken until a
 * buffer is full, which is sorted and written to a temporary file as a run; the runs are merged as they are
 * read, as often as is wanted. */
#ifndef WORKLOAD_TRACE_SORT_H
#define WORKLOAD_TRACE_SORT_H

#include "trace_line.h"

struct trace_sort;

/* `path` names the trace in messages; `memory_bytes` is what the buffer and, while rows are read, the runs'
 * windows take, TRACE_SORT_BYTES in the program. */
#define TRACE_SORT_BYTES ((size_t)64 << 20)
bool trace_sort_create(const char *path, size_t memory_bytes, struct trace_sort **out,
                       struct sim_error *error);
bool trace_sort_put(struct trace_sort *sort, const struct trace_row *row, uint64_t line,
                    struct sim_error *error);
/* Behind the last row: from now on rows are read. May be called again, to read them from the first on. */
bool trace_sort_rewind(struct trace_sort *sort, struct sim_error *error);
/* The key lies in memory of the sort's until the next call. *more is false behind the last row. */
bool trace_sort_next(struct trace_sort *sort, struct trace_row *out, uint64_t *line, bool *more,
                     struct sim_error *error);
/* Rows that were read since the rewind, and all. */
uint64_t trace_sort_place(const struct trace_sort *sort);
uint64_t trace_sort_count(const struct trace_sort *sort);
/* NULL is fine. The temporary file goes away. */
void trace_sort_destroy(struct trace_sort *sort);

#endif
