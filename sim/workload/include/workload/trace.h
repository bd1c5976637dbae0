/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace: the rows of a file in order of time, read as a stream. Memory grows with the number of keys, not
 * with the size of the file. The plain form is CSV in UTF-8 with the header `timestamp_ms,key,bytes` or
 * `timestamp_ms,key,count`, for which there is a fast path; every other form (workload/trace_format.h) is
 * read by columns. All may be compressed by gzip or zstd.
 *
 * A line with a count n represents n rows: row i is at t + floor(i * step / n) milliseconds, where step is
 * the time from this line to the key's next line; the key's last line uses the step of the line before it (0
 * when it is the only one). The rows of a line are therefore returned only when the next line of its key, or
 * the end of the file, is read: rows are in time order within a key, but not across keys. Errors name file
 * and line: "tweets.csv:17: timestamp_ms 12 is before 15 of line 16; sort the file by timestamp_ms". */
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "workload/trace_format.h"

struct wl_trace;

/* The most rows of a trace, as of a synthetic workload. */
#define WL_TRACE_ROWS_MAX UINT64_C(1000000000000000000)

/* The rows of one line, which belong to one key. Row i (0 <= i < rows) has the time wl_trace_row_time(batch,
 * i). */
struct wl_trace_batch {
    uint32_t key_index; /* in order of first appearance, from 0 */
    int64_t time_ns;    /* time of the line, since 1970 */
    int64_t step_ms;
    int64_t late_ns; /* how far the row's own time is before time_ns */
    uint64_t rows;   /* 1 in a trace with bytes; in a trace with counts, the count, which may be 0 */
    uint64_t bytes;  /* size of each row; undefined in a trace with counts */
    uint64_t line;   /* number of the line in the file, for messages */
};

static inline int64_t wl_trace_row_time(const struct wl_trace_batch *batch, uint64_t i)
{
    __extension__ typedef unsigned __int128 wide;
    if (i == 0)
        return batch->time_ns;
    return batch->time_ns + (int64_t)((wide)i * (uint64_t)batch->step_ms / batch->rows) * INT64_C(1000000);
}

/* Opens a trace and reads its header; with format->sort, also reads all rows and sorts them on disk. format:
 * copied, but its names must live as long as the trace; NULL: the format is detected from the file. On
 * failure *out is NULL. */
bool wl_trace_open_as(const char *path, const struct wl_trace_format *format, struct wl_trace **out,
                      struct sim_error *error);
/* Returns to the first row, and forgets the keys. On failure *trace is NULL or can only be closed. */
bool wl_trace_rewind(struct wl_trace **trace, struct sim_error *error);
/* Whether the trace has a size for each row; a trace with counts and a file without sizes have none. */
bool wl_trace_has_sizes(const struct wl_trace *trace);
/* Whether the trace is in the plain form; and a description of how the file is read, for display, which is
 * complete once a row was read. The text is valid until the next call. */
bool wl_trace_is_plain(const struct wl_trace *trace);
#define WL_TRACE_TEXT_SIZE 512
const char *wl_trace_text(struct wl_trace *trace);
/* As wl_trace_open_as() with format NULL. */
bool wl_trace_open(const char *path, struct wl_trace **out, struct sim_error *error);
/* Whether the lines have counts of rows. */
bool wl_trace_has_counts(const struct wl_trace *trace);
/* Reads the next batch; sets *more to false at the end of the trace. A trace without rows is an error. */
bool wl_trace_next(struct wl_trace *trace, struct wl_trace_batch *out, bool *more, struct sim_error *error);
/* Sets *begin and *end such that the rows [*begin, *end) of the line have times in [from_ns, until_ns). */
void wl_trace_rows_between(const struct wl_trace_batch *line, int64_t from_ns, int64_t until_ns,
                           uint64_t *begin, uint64_t *end);
/* Adds the number of the line's rows to the time slots that contain them: `count` slots of slot_ns each, the
 * first from begin_ns on. Rows outside of the slots are ignored. */
void wl_trace_slot_rows(const struct wl_trace_batch *line, int64_t begin_ns, int64_t slot_ns, uint64_t *slots,
                        uint64_t count);
/* The time of the file's first row; valid once wl_trace_next() has returned a batch with rows. */
int64_t wl_trace_first_ns(const struct wl_trace *trace);
uint32_t wl_trace_key_count(const struct wl_trace *trace);
/* The key's bytes, without a final NUL, valid until the next call of wl_trace_next(). */
const char *wl_trace_key(const struct wl_trace *trace, uint32_t key_index, size_t *size);
/* For a progress bar: the bytes read so far, and the size of the file, both as stored on disk. */
void wl_trace_progress(const struct wl_trace *trace, uint64_t *read_bytes, uint64_t *all_bytes);
void wl_trace_close(struct wl_trace *trace);

#endif
