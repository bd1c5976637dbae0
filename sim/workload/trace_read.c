/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In: the rows of a table, or of these sorted on disk. Keeps the names of keys, and with counts the last line
 * of each key. Out: batches of rows, whose order was checked. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "trace_parts.h"
#include "workload/trace.h"

uint32_t trace_keys_hash(const char *key, size_t size)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = size * factor;
    for (; size >= 8; size -= 8, key += 8) {
        uint64_t word;
        memcpy(&word, key, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < size; i++)
        tail = tail << 8 | (unsigned char)key[i];
    hash = (hash ^ tail) * factor;
    hash ^= hash >> 32;
    hash *= factor;
    return (uint32_t)(hash >> 32);
}

const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size)
{
    uint64_t begin = index > 0 ? keys->ends[index - 1] : 0;
    *size = (size_t)(keys->ends[index] - begin);
    return keys->arena + begin;
}

/* The key's number, from 1; 0 when it is new. */
static uint32_t find_key(const struct trace_keys *keys, const char *key, size_t size, uint32_t hash)
{
    if (keys->table.slots == NULL)
        return 0;
    const struct sim_slot *slot = sim_table_first(&keys->table, hash);
    for (; slot->index != 0; slot = sim_table_next(&keys->table, slot)) {
        size_t other_size;
        const char *other = slot->hash == hash ? trace_keys_bytes(keys, slot->index - 1, &other_size) : NULL;
        if (other != NULL && other_size == size && memcmp(other, key, size) == 0)
            break;
    }
    return slot->index;
}

/* Prefetches the memory that interning keys with these hashes will access, so that the cache misses
 * overlap. */
static void trace_keys_fetch(const struct trace_keys *keys, const struct trace_row *rows, size_t count)
{
    if (keys->table.slots == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(sim_table_first(&keys->table, rows[i].hash));
    for (size_t i = 0; i < count; i++) {
        uint32_t number = sim_table_first(&keys->table, rows[i].hash)->index;
        __builtin_prefetch(&keys->ends[number > 1 ? number - 2 : 0]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = sim_table_first(&keys->table, rows[i].hash)->index;
        __builtin_prefetch(keys->arena + (number > 1 ? keys->ends[number - 2] : 0));
    }
}

bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t hash, uint32_t *index)
{
    uint32_t number = find_key(keys, key, size, hash);
    *index = number - (number > 0);
    if (number > 0)
        return true;
    if ((keys->table.slots == NULL && !sim_table_create(&keys->table, &keys->is_broken)) ||
        !sim_grow(&keys->ends, &keys->capacity, (size_t)keys->count + 1, sizeof *keys->ends) ||
        !sim_grow(&keys->arena, &keys->arena_capacity, keys->arena_bytes + size + 1, 1))
        return false; /* an empty key needs an arena too */
    sim_table_put(&keys->table, hash, keys->count + 1);
    if (keys->is_broken)
        return false;
    memcpy(keys->arena + keys->arena_bytes, key, size);
    keys->arena_bytes += size;
    keys->ends[keys->count] = keys->arena_bytes;
    *index = keys->count++;
    return true;
}

void trace_keys_free(struct trace_keys *keys)
{
    free(keys->ends);
    free(keys->arena);
    free(keys->table.slots);
    *keys = (struct trace_keys){0};
}

/* Reads a trace in batches of lines, and checks their order. */

#define LINES_AHEAD 32u
/* Two rows of which one is this near to 1970, and the other this far from it, are not in one unit. */
#define NEAR_1970 (366 * SIM_DAY)  /* digits of a date, read as seconds, are in 1970 too */
#define FAR_SPAN  (5479 * SIM_DAY) /* 15 years */

/* The last line of a key in a trace with counts, whose step is known only at the key's next line. */
struct pending {
    int64_t time_ns;
    int64_t step_ms; /* from the key's previous line to this one; 0 for the first line */
    uint64_t rows;
    uint64_t line;
};

/* Rows that were read ahead, so that the memory of their keys is prefetched together. */
struct ahead {
    struct trace_row rows[LINES_AHEAD];
    size_t at, count;
    uint64_t first_line; /* number of the first of these lines */
};

struct wl_trace {
    char *path;
    struct wl_trace_format format; /* a copy; its names are owned by the caller */
    struct trace_table table;
    struct wl_trace_lines *sort; /* with format.sort */
    struct ahead ahead;
    char text[WL_TRACE_TEXT_SIZE];
    struct trace_keys keys;
    bool has_counts;
    const char *row_path; /* the file and the line of the current row */
    uint64_t row_line;
    int64_t first_time_ns, last_time_ns;
    uint64_t last_line;      /* number of the last line; 0: none was read */
    const char *last_path;   /* its file */
    uint64_t rows;           /* total of the lines that were read */
    bool has_rows;           /* a line with rows was read; first_time_ns is the time of the first one */
    struct pending *pending; /* by key number; only for a trace with counts */
    size_t pending_count, pending_capacity;
    uint32_t flushed; /* number of keys whose pending line was returned at the end of the file */
};

/* Reads all rows of the table and sorts them. */
static bool sort_table(struct wl_trace *trace, struct sim_error *error)
{
    struct trace_row row;
    bool more = true;
    if (!trace_sort_create(trace->path, TRACE_SORT_BYTES, &trace->sort, error))
        return false;
    while (more) {
        bool is_usual = trace_table_usual(&trace->table, &row);
        if (!is_usual && !trace_table_next(&trace->table, &row, &more, error))
            return false;
        uint64_t line = is_usual ? trace->table.csv.reader.line : trace->table.record.line;
        if (more && !trace_sort_put(trace->sort, &row, line, error))
            return false;
    }
    return wl_trace_lines_turn(trace->sort, error);
}

bool wl_trace_open_as(const char *path, const struct wl_trace_format *format, struct wl_trace **out,
                      struct sim_error *error)
{
    *out = NULL;
    struct wl_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        return sim_fail_memory(error);
    trace->path = strdup(path);
    if (format != NULL)
        trace->format = *format;
    if (trace->path == NULL ? !sim_fail_memory(error)
                            : !trace_table_open(&trace->table, trace->path, &trace->format, error) ||
                                  (trace->format.sort && !sort_table(trace, error))) {
        wl_trace_close(trace);
        return false;
    }
    trace->has_counts = trace->table.columns.counts[TRACE_COUNT] > 0;
    trace->row_path = trace->path;
    *out = trace;
    return true;
}

/* Sorted rows are not sorted again, but only read again. */
bool wl_trace_rewind(struct wl_trace **trace, struct sim_error *error)
{
    struct wl_trace *before = *trace, *fresh;
    if (before->sort == NULL) {
        bool ok = wl_trace_open_as(before->path, &before->format, &fresh, error);
        wl_trace_close(before);
        *trace = fresh;
        return ok;
    }
    trace_keys_free(&before->keys);
    free(before->pending);
    before->pending = NULL;
    before->pending_capacity = before->pending_count = before->flushed = 0;
    before->rows = before->last_line = 0;
    before->has_rows = false;
    return wl_trace_lines_turn(before->sort, error);
}

bool wl_trace_has_sizes(const struct wl_trace *trace)
{
    const size_t *counts = trace->table.columns.counts;
    return counts[TRACE_BYTES] + counts[TRACE_BYTES_OF] > 0;
}

bool wl_trace_is_plain(const struct wl_trace *trace)
{
    return trace_table_is_plain(&trace->table);
}

const char *wl_trace_text(struct wl_trace *trace)
{
    if (wl_trace_is_plain(trace))
        return "plain";
    trace_table_text(&trace->table, trace->text, sizeof trace->text);
    return trace->text;
}

bool wl_trace_has_epochs(const struct wl_trace *trace)
{
    return trace->table.time >= WL_TIME_S && trace->table.time <= WL_TIME_NS;
}

bool wl_trace_has_counts(const struct wl_trace *trace)
{
    return trace->has_counts;
}

static bool read_any(struct wl_trace *trace, struct trace_row *row, bool *more, struct sim_error *error)
{
    struct ahead *ahead = &trace->ahead;
    *more = true;
    if (trace->sort != NULL)
        return trace_sort_next(trace->sort, row, &trace->row_line, more, error);
    if (ahead->at == ahead->count) {
        ahead->at = ahead->count = 0;
        ahead->first_line = trace->table.csv.reader.line + 1;
        while (ahead->count < LINES_AHEAD && trace_table_usual(&trace->table, &ahead->rows[ahead->count])) {
            struct trace_row *next = &ahead->rows[ahead->count++];
            next->hash = trace_keys_hash(next->key, next->key_size);
        }
        trace_keys_fetch(&trace->keys, ahead->rows, ahead->count);
    }
    trace->row_path = trace_table_path(&trace->table);
    if (ahead->at < ahead->count) {
        trace->row_line = ahead->first_line + ahead->at;
        *row = ahead->rows[ahead->at++];
        return true;
    }
    if (!trace_table_next(&trace->table, row, more, error))
        return false;
    trace->row_path = trace_table_path(&trace->table);
    trace->row_line = *more ? trace->table.record.line : trace->row_line;
    row->hash = *more ? trace_keys_hash(row->key, row->key_size) : 0;
    return true;
}

static bool is_near_1970(const struct wl_trace *trace, int64_t time_ns)
{
    /* A date near 1970 is meant, except that programs write no time as 1970-01-01T00:00:00Z. */
    const int64_t other_ns = trace->table.time == WL_TIME_ISO ? SIM_DAY : 0;
    const int64_t near_ns = wl_trace_has_epochs(trace) ? NEAR_1970 : other_ns;
    return time_ns > -near_ns && time_ns < near_ns;
}

/* Whether one of two rows has no time, such as 0, or a time in another unit. */
static bool are_apart(const struct wl_trace *trace, int64_t one_ns, int64_t other_ns)
{
    return (is_near_1970(trace, one_ns) && (other_ns > FAR_SPAN || other_ns < -FAR_SPAN)) ||
           (is_near_1970(trace, other_ns) && (one_ns > FAR_SPAN || one_ns < -FAR_SPAN));
}

static bool fail_apart(const struct wl_trace *trace, int64_t time_ns, struct sim_error *error)
{
    bool is_last = is_near_1970(trace, trace->last_time_ns);
    char odd[SIM_TIME_TEXT_SIZE], other[SIM_TIME_TEXT_SIZE];
    sim_time_format(is_last ? trace->last_time_ns : time_ns, odd);
    sim_time_format(is_last ? time_ns : trace->last_time_ns, other);
    return trace_fail(is_last ? trace->last_path : trace->row_path,
                      is_last ? trace->last_line : trace->row_line, error,
                      "the row's time %s is near 1970, and another row's is %s: it is no time, or in another "
                      "unit; correct it, or leave the row out",
                      odd, other);
}

/* A row without a time is named before the file is asked to be sorted. */
static bool fail_order(struct wl_trace *trace, const struct trace_row *row, struct sim_error *error)
{
    struct sim_error ignored = {.class = SIM_ERROR_NONE};
    const char *path = trace->row_path;
    const uint64_t line = trace->row_line;
    struct trace_row later = *row;
    bool more = true;
    for (; more; more = read_any(trace, &later, &more, &ignored) && more) {
        if (are_apart(trace, later.time_ns, trace->last_time_ns))
            return fail_apart(trace, later.time_ns, error);
    }
    char here[SIM_TIME_TEXT_SIZE], before[SIM_TIME_TEXT_SIZE];
    sim_time_format(row->time_ns, here);
    sim_time_format(trace->last_time_ns, before);
    return trace_fail(path, line, error,
                      "the row's time %s is before %s of the row above; " WL_TRACE_SORT_IT
                      ", or sort the file by time",
                      here, before);
}

/* Reads the next line and checks the order of times. *more is false at the end of a trace that had rows. */
static bool read_row(struct wl_trace *trace, struct trace_row *row, bool *more, struct sim_error *error)
{
    *more = false;
    if (!read_any(trace, row, more, error))
        return false;
    if (!*more)
        return trace->last_line > 0 ||
               trace_fail(trace->path, 1, error, "no rows%s; write at least one",
                          trace->table.is_json || !trace->table.has_header ? "" : " below the header");
    if (trace->last_line > 0 && row->time_ns < trace->last_time_ns)
        return fail_order(trace, row, error);
    if (trace->last_line > 0 && are_apart(trace, row->time_ns, trace->last_time_ns))
        return fail_apart(trace, row->time_ns, error);
    trace->last_time_ns = row->time_ns;
    trace->last_line = trace->row_line;
    trace->last_path = trace->row_path;
    trace->rows += trace->has_counts ? row->value : 1;
    if (trace->rows > WL_TRACE_ROWS_MAX)
        return trace_fail(trace->row_path, trace->row_line, error,
                          "with this count the trace has more than %" PRIu64 " rows; lower the counts",
                          WL_TRACE_ROWS_MAX);
    if (!trace->has_rows && (!trace->has_counts || row->value > 0)) {
        trace->first_time_ns = row->time_ns;
        trace->has_rows = true;
    }
    return true;
}

static struct wl_trace_batch batch_of_pending(uint32_t key, const struct pending *line, int64_t step_ms)
{
    return (struct wl_trace_batch){.key_index = key,
                                   .time_ns = line->time_ns,
                                   .step_ms = step_ms,
                                   .rows = line->rows,
                                   .line = line->line};
}

static bool fail_far(const struct wl_trace *trace, uint64_t line, struct sim_error *error)
{
    return trace_fail(trace->path, line, error,
                      "the line's rows would reach beyond the years 1677 to 2262; check timestamp_ms");
}

/* Replaces the key's pending line by this row; the pending line is then complete and is returned. */
static bool exchange_pending(struct wl_trace *trace, uint32_t key, const struct trace_row *row,
                             bool *complete, struct wl_trace_batch *out, struct sim_error *error)
{
    *complete = false;
    if (key == trace->pending_count) { /* a new key */
        if (!sim_grow(&trace->pending, &trace->pending_capacity, (size_t)key + 1, sizeof *trace->pending))
            return sim_fail_memory(error);
        trace->pending[trace->pending_count++] = (struct pending){0};
    }
    struct pending *line = &trace->pending[key];
    int64_t step_ms = 0;
    if (line->line != 0) {
        step_ms = row->time_ns / SIM_MS - line->time_ns / SIM_MS;
        if (step_ms > TRACE_TIME_MS_MAX)
            return fail_far(trace, trace->row_line, error);
        *out = batch_of_pending(key, line, step_ms);
        *complete = true;
    }
    *line = (struct pending){
        .time_ns = row->time_ns, .step_ms = step_ms, .rows = row->value, .line = trace->row_line};
    return true;
}

static bool flush_pending(struct wl_trace *trace, struct wl_trace_batch *out, bool *more,
                          struct sim_error *error)
{
    if (!trace->has_rows)
        return trace_fail(trace->path, trace->row_line, error,
                          "every count is 0; give the trace at least one row");
    if (trace->flushed == trace->keys.count)
        return true;
    uint32_t key = trace->flushed;
    const struct pending *line = &trace->pending[key];
    if (line->time_ns / SIM_MS > TRACE_TIME_MS_MAX - line->step_ms)
        return fail_far(trace, line->line, error);
    *out = batch_of_pending(key, line, line->step_ms);
    trace->flushed++;
    *more = true;
    return true;
}

static bool intern(struct wl_trace *trace, const struct trace_row *row, uint32_t *index,
                   struct sim_error *error)
{
    return trace_keys_intern(&trace->keys, row->key, row->key_size, row->hash, index) ||
           sim_fail_memory(error);
}

static bool next_counts(struct wl_trace *trace, struct wl_trace_batch *out, bool *more,
                        struct sim_error *error)
{
    while (trace->flushed == 0) {
        struct trace_row row;
        bool has_row;
        uint32_t key;
        bool complete;
        if (!read_row(trace, &row, &has_row, error))
            return false;
        if (!has_row)
            break;
        if (!intern(trace, &row, &key, error) || !exchange_pending(trace, key, &row, &complete, out, error))
            return false;
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
    if (trace->has_counts)
        return next_counts(trace, out, more, error);
    struct trace_row row;
    bool has_row;
    if (!read_row(trace, &row, &has_row, error))
        return false;
    if (!has_row)
        return true;
    if (!intern(trace, &row, &out->key_index, error))
        return false;
    out->time_ns = row.time_ns;
    out->late_ns = row.late_ns;
    out->rows = 1;
    out->bytes = row.value;
    out->line = trace->row_line;
    *more = true;
    return true;
}

/* The times of a line's rows never descend. If not all of the rows are in the interval, two binary searches
 * find its ends. */
void wl_trace_rows_between(const struct wl_trace_batch *line, int64_t from_ns, int64_t until_ns,
                           uint64_t *begin, uint64_t *end)
{
    if (line->rows > 0 && line->time_ns >= from_ns && wl_trace_row_time(line, line->rows - 1) < until_ns) {
        *begin = 0;
        *end = line->rows;
        return;
    }
    const int64_t bounds[2] = {from_ns, until_ns};
    uint64_t found[2];
    for (int i = 0; i < 2; i++) {
        uint64_t low = 0, high = line->rows;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (wl_trace_row_time(line, middle) < bounds[i])
                low = middle + 1;
            else
                high = middle;
        }
        found[i] = low;
    }
    *begin = found[0];
    *end = found[1] > found[0] ? found[1] : found[0];
}

void wl_trace_slot_rows(const struct wl_trace_batch *line, int64_t begin_ns, int64_t slot_ns, uint64_t *slots,
                        uint64_t count)
{
    uint64_t row, end;
    for (wl_trace_rows_between(line, begin_ns, INT64_MAX, &row, &end); row < line->rows; row = end) {
        uint64_t into_ns = (uint64_t)wl_trace_row_time(line, row) - (uint64_t)begin_ns;
        uint64_t slot = into_ns / (uint64_t)slot_ns, begin;
        if (slot >= count)
            return;
        int64_t until_ns = begin_ns + (int64_t)(slot + 1) * slot_ns;
        wl_trace_rows_between(line, INT64_MIN, until_ns, &begin, &end);
        slots[slot] += end - row;
    }
}

int64_t wl_trace_first_ns(const struct wl_trace *trace)
{
    return trace->first_time_ns;
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
    *all_bytes = trace->table.files.bytes;
    *read_bytes = trace_table_offset(&trace->table);
    if (trace->sort != NULL)
        *read_bytes = (uint64_t)(trace_sort_share(trace->sort) * (double)*all_bytes);
    *read_bytes = *read_bytes < *all_bytes ? *read_bytes : *all_bytes;
}

void wl_trace_close(struct wl_trace *trace)
{
    if (trace == NULL)
        return;
    trace_table_close(&trace->table);
    wl_trace_lines_destroy(trace->sort);
    trace_keys_free(&trace->keys);
    free(trace->pending);
    free(trace->path);
    free(trace);
}
