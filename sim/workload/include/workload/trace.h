/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace: rows of a file in order of time, read as a stream: memory grows with the keys, never with the
 * file. The plain form is CSV with the header `timestamp_ms,key,bytes` or `timestamp_ms,key,count`, UTF-8,
 * and takes the fast path; every other (workload/trace_format.h) is read by columns. Each may be compressed
 * by gzip or zstd.
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

#include "kernel/error.h"
#include "workload/trace_format.h"

struct wl_trace;

/* Of all lines together; as many as a synthetic workload may have. */
#define WL_TRACE_ROWS_MAX UINT64_C(1000000000000000000)

/* One line's rows, all of one key. Row i (0 <= i < rows) is at wl_trace_row_time(). */
struct wl_trace_batch {
    uint32_t key_index; /* in order of first appearance, from 0 */
    int64_t time_ns;    /* of the line, since 1970 */
    int64_t step_ms;
    int64_t late_ns; /* of its row: how far before time_ns its own time lies */
    uint64_t rows;   /* 1 for a trace with bytes; may be 0 for a count of 0 */
    uint64_t bytes;  /* of each row; meaningless for a trace with counts */
    uint64_t line;   /* its number in the file, for messages */
};

static inline int64_t wl_trace_row_time(const struct wl_trace_batch *batch, uint64_t i)
{
    __extension__ typedef unsigned __int128 wide;
    if (i == 0)
        return batch->time_ns;
    return batch->time_ns + (int64_t)((wide)i * (uint64_t)batch->step_ms / batch->rows) * INT64_C(1000000);
}

/* Opens and reads the header; with format->sort all rows are read and sorted on disk. The format's names live
 * as long as the trace; NULL: as the file tells. On failure *out is NULL. */
bool wl_trace_open_as(const char *path, const struct wl_trace_format *format, struct wl_trace **out,
                      struct sim_error *error);
/* Back to the first row, with no key known. On failure *trace is NULL or fit to be closed. */
bool wl_trace_rewind(struct wl_trace **trace, struct sim_error *error);
/* Whether each row has a size of its own: batches with counts, and those of a file without sizes, have none.
 */
bool wl_trace_has_sizes(const struct wl_trace *trace);
/* Whether it is in the plain form, and how else it is read, in words, complete once a row was read. */
bool wl_trace_is_plain(const struct wl_trace *trace);
#define WL_TRACE_TEXT_SIZE 512
const char *wl_trace_text(struct wl_trace *trace);
/* wl_trace_open_as() with no format. */
bool wl_trace_open(const char *path, struct wl_trace **out, struct sim_error *error);
/* Whether a line stands for a count of rows. */
bool wl_trace_has_counts(const struct wl_trace *trace);
/* Sets *more false at the end of the trace; an empty trace (header alone) is an error. */
bool wl_trace_next(struct wl_trace *trace, struct wl_trace_batch *out, bool *more, struct sim_error *error);
/* Rows [*begin, *end) of the line have times in [from_ns, until_ns). */
void wl_trace_rows_between(const struct wl_trace_batch *line, int64_t from_ns, int64_t until_ns,
                           uint64_t *begin, uint64_t *end);
/* Adds the line's rows to the slots that they lie in: `count` slots of this width from begin_ns on. Rows
 * outside them are left out. */
void wl_trace_slot_rows(const struct wl_trace_batch *line, int64_t begin_ns, int64_t slot_ns, uint64_t *slots,
                        uint64_t count);
/* The time of the file's first row; of use once wl_trace_next() has given a batch with rows. */
int64_t wl_trace_first_ns(const struct wl_trace *trace);
uint32_t wl_trace_key_count(const struct wl_trace *trace);
/* The key's bytes, not terminated, valid until the next call of wl_trace_next(). */
const char *wl_trace_key(const struct wl_trace *trace, uint32_t key_index, size_t *size);
/* Bytes of the (perhaps compressed) file read so far and in all, for a progress bar. */
void wl_trace_progress(const struct wl_trace *trace, uint64_t *read_bytes, uint64_t *all_bytes);
void wl_trace_close(struct wl_trace *trace);

#endif
