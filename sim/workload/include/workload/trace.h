/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace: CSV with the header `timestamp_ms,key,bytes` or `timestamp_ms,key,count`, UTF-8, sorted by time,
 * plain or gzip, read as a stream: memory grows with the keys, never with the file.
 *
 * A line with a count n stands for n rows: row i at t + floor(i * step / n) milliseconds, the step reaching
 * to the key's next line; the key's last line reuses the step before it (0 when there was none). Its rows
 * therefore come when the next line of the key, or the end of the file, is read: rows are in time order
 * within a key, not over keys. Errors name file and line: "tweets.csv:17: timestamp_ms 12 is before 15 of
 * line 16; sort the file by timestamp_ms". */
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/archive.h"
#include "kernel/error.h"

struct wl_trace;

/* Of all lines together; as many as a synthetic workload may have. */
#define WL_TRACE_ROWS_MAX UINT64_C(1000000000000000000)

/* One line's rows, all of one key. Row i (0 <= i < rows) is at wl_trace_row_time(). */
struct wl_trace_batch {
    uint32_t key_index; /* in order of first appearance, from 0 */
    int64_t time_ns;    /* of the line, since 1970 */
    int64_t step_ms;
    uint64_t rows;  /* 1 for a trace with bytes; may be 0 for a count of 0 */
    uint64_t bytes; /* of each row; meaningless for a trace with counts */
    uint64_t line;  /* its number in the file, for messages */
};

static inline int64_t wl_trace_row_time(const struct wl_trace_batch *batch, uint64_t i)
{
    __extension__ typedef unsigned __int128 wide;
    return batch->time_ns + (int64_t)((wide)i * (uint64_t)batch->step_ms / batch->rows) * INT64_C(1000000);
}

/* Opens and reads the header. On failure *out is NULL. */
bool wl_trace_open(const char *path, struct wl_trace **out, struct sim_error *error);
/* Whether the third column is `count`. */
bool wl_trace_has_counts(const struct wl_trace *trace);
/* Sets *more false at the end of the trace; an empty trace (header alone) is an error. */
bool wl_trace_next(struct wl_trace *trace, struct wl_trace_batch *out, bool *more, struct sim_error *error);
/* Rows [*begin, *end) of the line have times in [from_ns, until_ns). */
void wl_trace_rows_between(const struct wl_trace_batch *line, int64_t from_ns, int64_t until_ns,
                           uint64_t *begin, uint64_t *end);
/* The time of the file's first row; of use once wl_trace_next() has given a batch with rows. */
int64_t wl_trace_first_ns(const struct wl_trace *trace);
uint32_t wl_trace_key_count(const struct wl_trace *trace);
/* The key's bytes, not terminated, valid until the next call of wl_trace_next(). */
const char *wl_trace_key(const struct wl_trace *trace, uint32_t key_index, size_t *size);
/* Bytes of the (perhaps compressed) file read so far and in all, for a progress bar. */
void wl_trace_progress(const struct wl_trace *trace, uint64_t *read_bytes, uint64_t *all_bytes);
/* Where the reading is, between two lines. Loading takes a trace that was just opened, of the same file, and
 * goes on from there; what is amiss with the file then, the next line tells. */
void wl_trace_archive(struct wl_trace *trace, struct sim_archive *archive);
void wl_trace_close(struct wl_trace *trace);

#endif
