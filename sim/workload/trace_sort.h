/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts rows by (time, order of input) in bounded memory: an external merge sort. Rows are collected in a
 * buffer; when it is full, it is sorted and written to a temporary file as a run. Reading merges the runs,
 * and may be repeated. */
#ifndef WORKLOAD_TRACE_SORT_H
#define WORKLOAD_TRACE_SORT_H

#include "trace_line.h"

struct trace_sort;

/* `path` names the trace in messages. `memory_bytes` is the memory for the buffer and, while rows are read,
 * for the windows of the runs; the program uses TRACE_SORT_BYTES. */
#define TRACE_SORT_BYTES ((size_t)64 << 20)
bool trace_sort_create(const char *path, size_t memory_bytes, struct trace_sort **out,
                       struct sim_error *error);
bool trace_sort_put(struct trace_sort *sort, const struct trace_row *row, uint64_t line,
                    struct sim_error *error);
/* Begins reading after the last row was added. It may be called again, to read from the first row again. */
bool trace_sort_rewind(struct trace_sort *sort, struct sim_error *error);
/* Reads the next row; *more is false after the last one. The key's bytes are valid until the next call. */
bool trace_sort_next(struct trace_sort *sort, struct trace_row *out, uint64_t *line, bool *more,
                     struct sim_error *error);
/* The number of rows read since the last rewind, and the number of all rows. */
uint64_t trace_sort_place(const struct trace_sort *sort);
uint64_t trace_sort_count(const struct trace_sort *sort);
/* Frees the memory and removes the temporary file. sort may be NULL. */
void trace_sort_destroy(struct trace_sort *sort);

#endif
