/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a trace in batches of lines, and checks their order. */
#define _POSIX_C_SOURCE 200809L
#include "workload/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace_keys.h"
#include "trace_line.h"
#include "trace_reader.h"

/* The last line of a key of a trace with counts: its step is known when the key's next line comes. */
struct pending {
    int64_t time_ms;
    int64_t step_ms; /* from the key's line before; 0 for its first */
    uint64_t rows;
    uint64_t line;
};

struct wl_trace {
    char *path;
    struct trace_reader reader;
    struct trace_keys keys;
    struct trace_place place;
    int64_t first_time_ms, last_time_ms;
    uint64_t rows;           /* of the lines that were read */
    bool has_rows;           /* a line with rows was seen; the first such is at first_time_ms */
    struct pending *pending; /* by key; of a trace with counts */
    uint32_t pending_capacity;
    uint32_t flushed; /* keys whose pending line was given out at the end of the file */
};

bool wl_trace_open(const char *path, struct wl_trace **out, struct sim_error *error)
{
    *out = NULL;
    struct wl_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL) {
        return sim_fail_memory(error);
    }
    trace->path = strdup(path);
    if (trace->path == NULL) {
        wl_trace_close(trace);
        return sim_fail_memory(error);
    }
    trace->place.path = trace->path;
    char *line = NULL;
    size_t size = 0;
    bool fine = trace_reader_open(trace->path, &trace->reader, error) &&
                trace_reader_next(&trace->reader, &line, &size, error);
    if (fine && line == NULL) {
        fine = sim_fail(
            error, SIM_ERROR_INPUT,
            "%s:1: the file is empty; write the header 'timestamp_ms,key,bytes' and rows below it", path);
    }
    if (!fine || !trace_line_header(line, size, trace->path, &trace->place.has_counts, error)) {
        wl_trace_close(trace);
        return false;
    }
    *out = trace;
    return true;
}

bool wl_trace_has_counts(const struct wl_trace *trace)
{
    return trace->place.has_counts;
}

/* The next line, in order of time. *more is false at the end of a trace that had rows. */
static bool read_row(struct wl_trace *trace, struct trace_row *row, bool *more, struct sim_error *error)
{
    *more = false;
    char *line;
    size_t size;
    uint64_t line_before = trace->reader.line;
    if (!trace_reader_next(&trace->reader, &line, &size, error)) {
        return false;
    }
    if (line == NULL && line_before == 1) {
        return sim_fail(error, SIM_ERROR_INPUT, "%s:1: no rows below the header; write at least one",
                        trace->path);
    }
    if (line == NULL) {
        return true;
    }
    trace->place.line = trace->reader.line;
    if (!trace_line_parse(line, size, &trace->place, row, error)) {
        return false;
    }
    if (line_before > 1 && row->time_ms < trace->last_time_ms) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": timestamp_ms %" PRId64 " is before %" PRId64 " of line %" PRIu64
                        "; sort the file by timestamp_ms",
                        trace->path, trace->reader.line, row->time_ms, trace->last_time_ms, line_before);
    }
    trace->last_time_ms = row->time_ms;
    trace->rows += trace->place.has_counts ? row->value : 1;
    if (trace->rows > WL_TRACE_ROWS_MAX) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": with this count the trace has more than %" PRIu64
                        " rows; lower the counts",
                        trace->path, trace->reader.line, WL_TRACE_ROWS_MAX);
    }
    if (!trace->has_rows && (!trace->place.has_counts || row->value > 0)) {
        trace->first_time_ms = row->time_ms;
        trace->has_rows = true;
    }
    *more = true;
    return true;
}

static struct wl_trace_batch batch_of_pending(uint32_t key, const struct pending *line, int64_t step_ms)
{
    return (struct wl_trace_batch){.key_index = key,
                                   .time_ns = line->time_ms * 1000000,
                                   .step_ms = step_ms,
                                   .rows = line->rows,
                                   .line = line->line};
}

static bool reserve_pending(struct wl_trace *trace, uint32_t key, struct sim_error *error)
{
    if (key < trace->pending_capacity) {
        return true;
    }
    uint32_t capacity = trace->keys.capacity;
    struct pending *grown = realloc(trace->pending, capacity * sizeof *grown);
    if (grown == NULL) {
        return sim_fail_memory(error);
    }
    memset(grown + trace->pending_capacity, 0, (capacity - trace->pending_capacity) * sizeof *grown);
    trace->pending = grown;
    trace->pending_capacity = capacity;
    return true;
}

static bool fail_far(const struct wl_trace *trace, uint64_t line, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%" PRIu64
                    ": the line's rows would reach beyond the years 1677 to 2262; check timestamp_ms",
                    trace->path, line);
}

/* Puts the row in the place of the key's line before, which thereby is complete. */
static bool exchange_pending(struct wl_trace *trace, uint32_t key, const struct trace_row *row,
                             bool *complete, struct wl_trace_batch *out, struct sim_error *error)
{
    *complete = false;
    if (!reserve_pending(trace, key, error)) {
        return false;
    }
    struct pending *line = &trace->pending[key];
    int64_t step_ms = 0;
    if (line->line != 0) {
        step_ms = row->time_ms - line->time_ms;
        if (step_ms > TRACE_TIME_MS_MAX) {
            return fail_far(trace, trace->reader.line, error);
        }
        *out = batch_of_pending(key, line, step_ms);
        *complete = true;
    }
    *line = (struct pending){
        .time_ms = row->time_ms, .step_ms = step_ms, .rows = row->value, .line = trace->reader.line};
    return true;
}

static bool flush_pending(struct wl_trace *trace, struct wl_trace_batch *out, bool *more,
                          struct sim_error *error)
{
    if (!trace->has_rows) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": every count is 0; give the trace at least one row", trace->path,
                        trace->place.line);
    }
    if (trace->flushed == trace->keys.count) {
        return true;
    }
    uint32_t key = trace->flushed;
    const struct pending *line = &trace->pending[key];
    if (line->time_ms > TRACE_TIME_MS_MAX - line->step_ms) {
        return fail_far(trace, line->line, error);
    }
    *out = batch_of_pending(key, line, line->step_ms);
    trace->flushed++;
    *more = true;
    return true;
}

static bool intern(struct wl_trace *trace, const struct trace_row *row, uint32_t *index,
                   struct sim_error *error)
{
    return trace_keys_intern(&trace->keys, row->key, row->key_size, index) || sim_fail_memory(error);
}

static bool next_counts(struct wl_trace *trace, struct wl_trace_batch *out, bool *more,
                        struct sim_error *error)
{
    while (trace->flushed == 0) {
        struct trace_row row;
        bool has_row;
        uint32_t key;
        bool complete;
        if (!read_row(trace, &row, &has_row, error)) {
            return false;
        }
        if (!has_row) {
            break;
        }
        if (!intern(trace, &row, &key, error) || !exchange_pending(trace, key, &row, &complete, out, error)) {
            return false;
        }
        if (complete) {
            *more = true;
            return true;
        }
    }
    return flush_pending(trace, out, more, error);
}

bool wl_trace_next(struct wl_trace *trace, struct wl_trace_batch *out, bool *more, struct sim_error *error)
{
    *out = (struct wl_trace_batch){0};
    *more = false;
    if (trace->place.has_counts) {
        return next_counts(trace, out, more, error);
    }
    struct trace_row row;
    bool has_row;
    if (!read_row(trace, &row, &has_row, error)) {
        return false;
    }
    if (!has_row) {
        return true;
    }
    if (!intern(trace, &row, &out->key_index, error)) {
        return false;
    }
    out->time_ns = row.time_ms * 1000000;
    out->rows = 1;
    out->bytes = row.value;
    out->line = trace->place.line;
    *more = true;
    return true;
}

/* The times of a line's rows never fall, so two bisections find them. */
void wl_trace_rows_between(const struct wl_trace_batch *line, int64_t from_ns, int64_t until_ns,
                           uint64_t *begin, uint64_t *end)
{
    const int64_t bounds[2] = {from_ns, until_ns};
    uint64_t found[2];
    for (int i = 0; i < 2; i++) {
        uint64_t low = 0, high = line->rows;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (wl_trace_row_time(line, middle) < bounds[i]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        found[i] = low;
    }
    *begin = found[0];
    *end = found[1] > found[0] ? found[1] : found[0];
}

int64_t wl_trace_first_ns(const struct wl_trace *trace)
{
    return trace->first_time_ms * 1000000;
}

uint32_t wl_trace_key_count(const struct wl_trace *trace)
{
    return trace->keys.count;
}

const char *wl_trace_key(const struct wl_trace *trace, uint32_t key_index, size_t *size)
{
    return trace_keys_bytes(&trace->keys, key_index, size);
}

void wl_trace_progress(const struct wl_trace *trace, uint64_t *read_bytes, uint64_t *all_bytes)
{
    *read_bytes = trace_reader_offset(&trace->reader);
    *all_bytes = trace->reader.all_bytes;
}

void wl_trace_archive(struct wl_trace *trace, struct sim_archive *archive)
{
    uint64_t offset = archive->is_loading ? 0 : trace_reader_place(&trace->reader);
    uint64_t line = trace->reader.line;
    size_t pending = trace->place.has_counts && !archive->is_loading ? trace->keys.count : 0;
    sim_archive_mark(archive, 0x57545243);
    sim_archive_u64(archive, &offset);
    sim_archive_u64(archive, &line);
    sim_archive_u64(archive, &trace->place.line);
    sim_archive_i64(archive, &trace->first_time_ms);
    sim_archive_i64(archive, &trace->last_time_ms);
    sim_archive_bool(archive, &trace->has_rows);
    trace_keys_archive(&trace->keys, archive);
    trace->pending = sim_archive_array(archive, trace->pending, sizeof *trace->pending, &pending, UINT32_MAX);
    sim_archive_u32(archive, &trace->flushed);
    if (!archive->is_loading)
        return;
    trace->pending_capacity = (uint32_t)pending;
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, pending == (trace->place.has_counts ? trace->keys.count : 0) &&
                                       trace->flushed <= pending && offset <= INT64_MAX &&
                                       trace_reader_go(&trace->reader, offset, line));
}

void wl_trace_close(struct wl_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    trace_reader_close(&trace->reader);
    trace_keys_free(&trace->keys);
    free(trace->pending);
    free(trace->path);
    free(trace);
}
