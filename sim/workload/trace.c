/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers the keys of a trace. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "reader.h"
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
    for (size_t i = 0; i < size; i++) {
        tail = tail << 8 | (unsigned char)key[i];
    }
    hash = (hash ^ tail) * factor;
    hash ^= hash >> 32;
    hash *= factor;
    return (uint32_t)(hash >> 32);
}

static const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size)
{
    uint64_t begin = index > 0 ? keys->ends[index - 1] : 0;
    *size = (size_t)(keys->ends[index] - begin);
    return keys->arena + begin;
}

/* The key's slot, or the free slot into which the key would be inserted. */
static struct trace_key_slot *find_slot(const struct trace_keys *keys, const char *key, size_t size,
                                        uint32_t hash)
{
    for (uint64_t at = hash;; at++) {
        struct trace_key_slot *slot = &keys->slots[at & keys->slot_mask];
        if (slot->number == 0) {
            return slot;
        }
        if (slot->hash == hash) {
            size_t other_size;
            const char *other = trace_keys_bytes(keys, slot->number - 1, &other_size);
            if (other_size == size && memcmp(other, key, size) == 0) {
                return slot;
            }
        }
    }
}

/* Prefetches the memory that interning keys with these hashes will access, so that the cache misses
 * overlap. */
static void trace_keys_fetch(const struct trace_keys *keys, const uint32_t *hashes, size_t count)
{
    if (keys->slots == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&keys->slots[hashes[i] & keys->slot_mask]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = keys->slots[hashes[i] & keys->slot_mask].number;
        __builtin_prefetch(&keys->ends[number > 1 ? number - 2 : 0]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = keys->slots[hashes[i] & keys->slot_mask].number;
        __builtin_prefetch(keys->arena + (number > 1 ? keys->ends[number - 2] : 0));
    }
}

static bool grow_slots(struct trace_keys *keys)
{
    uint64_t before = keys->slots != NULL ? keys->slot_mask + 1 : 0;
    uint64_t count = before > 0 ? before * 2 : 128;
    struct trace_key_slot *slots = calloc(count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < before; i++) {
        uint64_t at = keys->slots[i].hash;
        while (keys->slots[i].number != 0 && slots[at & (count - 1)].number != 0) {
            at++;
        }
        if (keys->slots[i].number != 0) {
            slots[at & (count - 1)] = keys->slots[i];
        }
    }
    free(keys->slots);
    keys->slots = slots;
    keys->slot_mask = count - 1;
    return true;
}

/* Makes room for one more key, so that inserting it cannot fail. */
static bool reserve(struct trace_keys *keys, size_t size)
{
    if (keys->count == UINT32_MAX - 1 ||
        !sim_grow(&keys->ends, &keys->capacity, (size_t)keys->count + 1, sizeof *keys->ends) ||
        !sim_grow(&keys->arena, &keys->arena_capacity, keys->arena_bytes + size + 1, 1)) {
        return false; /* an empty key needs an arena too */
    }
    return (keys->slots != NULL && keys->count < (keys->slot_mask + 1) / 4 * 3) || grow_slots(keys);
}

bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t hash, uint32_t *index)
{
    *index = 0;
    if (keys->slots != NULL) {
        uint32_t number = find_slot(keys, key, size, hash)->number;
        if (number != 0) {
            *index = number - 1;
            return true;
        }
    }
    if (!reserve(keys, size)) {
        return false;
    }
    memcpy(keys->arena + keys->arena_bytes, key, size);
    keys->arena_bytes += size;
    keys->ends[keys->count] = keys->arena_bytes;
    *index = keys->count++;
    *find_slot(keys, key, size, hash) = (struct trace_key_slot){.hash = hash, .number = keys->count};
    return true;
}

void trace_keys_free(struct trace_keys *keys)
{
    free(keys->ends);
    free(keys->arena);
    free(keys->slots);
    *keys = (struct trace_keys){0};
}

/* Reads a trace in batches of lines, and checks their order. Rows come from one of three sources: the lines
 * of the plain form, a table (trace_table.h), or sorted rows (trace_sort.h). */

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

/* Lines of the plain form that were parsed ahead, so that the memory of their keys is prefetched together. */
struct ahead {
    struct trace_row rows[LINES_AHEAD];
    uint32_t hashes[LINES_AHEAD];
    size_t at, count;
    uint64_t first_line;    /* number of the first of these lines */
    bool is_faulty;         /* the line after them is invalid */
    struct sim_error fault; /* why the line after them is invalid */
};

struct wl_trace {
    char *path;
    struct wl_trace_format format; /* a copy; its names are owned by the caller */
    struct trace_reader reader;    /* of the plain form */
    struct ahead ahead;            /* the same */
    struct trace_table *table;     /* for any other form; NULL: the plain form */
    struct trace_sort *sort;       /* with format.sort */
    char text[WL_TRACE_TEXT_SIZE];
    struct trace_keys keys;
    struct trace_place place;
    int64_t first_time_ns, last_time_ns;
    uint64_t last_line;      /* number of the last line; 0: none was read */
    const char *last_path;   /* its file */
    uint64_t rows;           /* total of the lines that were read */
    bool has_rows;           /* a line with rows was read; first_time_ns is the time of the first one */
    struct pending *pending; /* by key number; only for a trace with counts */
    size_t pending_capacity;
    uint32_t flushed; /* number of keys whose pending line was returned at the end of the file */
};

/* Sets *is_plain to whether the first line is a header of the plain form, which is then consumed. */
static bool open_plain(struct wl_trace *trace, bool *is_plain, struct sim_error *error)
{
    char *line = NULL;
    size_t size = 0;
    struct wl_trace_files files;
    *is_plain = false;
    if (!wl_trace_format_is_plain(&trace->format))
        return true;
    bool ok = wl_trace_files_find(trace->path, &files, error);
    bool is_one = ok && files.count == 1 && strcmp(files.paths[0], trace->path) == 0;
    wl_trace_files_clear(&files);
    if (!ok || !is_one)
        return ok;
    bool is_array;
    if (!trace_reader_open(trace->path, &trace->reader, error) ||
        !trace_reader_is_array(&trace->reader, &is_array, error) ||
        (!is_array && !trace_reader_next(&trace->reader, &line, &size, error)))
        return false;
    *is_plain = line != NULL && trace_line_header(line, size, &trace->place.has_counts);
    if (!*is_plain)
        trace_reader_close(&trace->reader);
    return true;
}

static bool open_table(struct wl_trace *trace, struct sim_error *error)
{
    trace->table = calloc(1, sizeof *trace->table);
    if (trace->table == NULL)
        return sim_fail_memory(error);
    if (!trace_table_open(trace->table, trace->path, &trace->format, error))
        return false;
    trace->place.has_counts = trace->table->columns.kind == TRACE_VALUE_COUNT;
    return true;
}

/* Reads all rows of the table and sorts them. */
static bool sort_table(struct wl_trace *trace, struct sim_error *error)
{
    struct trace_row row;
    bool more = true;
    if (!trace_sort_create(trace->path, TRACE_SORT_BYTES, &trace->sort, error))
        return false;
    while (more) {
        if (!trace_table_next(trace->table, &row, &more, error) ||
            (more && !trace_sort_put(trace->sort, &row, trace_table_line(trace->table), error)))
            return false;
    }
    return trace_sort_rewind(trace->sort, error);
}

bool wl_trace_open_as(const char *path, const struct wl_trace_format *format, struct wl_trace **out,
                      struct sim_error *error)
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
    if (format != NULL)
        trace->format = *format;
    bool is_plain;
    if (!open_plain(trace, &is_plain, error) ||
        (!is_plain && (!open_table(trace, error) || (trace->format.sort && !sort_table(trace, error))))) {
        wl_trace_close(trace);
        return false;
    }
    *out = trace;
    return true;
}

bool wl_trace_open(const char *path, struct wl_trace **out, struct sim_error *error)
{
    return wl_trace_open_as(path, NULL, out, error);
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
    before->pending_capacity = before->flushed = 0;
    before->rows = before->last_line = 0;
    before->has_rows = false;
    return trace_sort_rewind(before->sort, error);
}

bool wl_trace_has_sizes(const struct wl_trace *trace)
{
    return trace->table == NULL ? !trace->place.has_counts
                                : trace->table->columns.kind == TRACE_VALUE_BYTES ||
                                      trace->table->columns.kind == TRACE_VALUE_LENGTH;
}

bool wl_trace_is_plain(const struct wl_trace *trace)
{
    return trace->table == NULL;
}

const char *wl_trace_text(struct wl_trace *trace)
{
    if (trace->table == NULL)
        return "plain";
    trace_table_text(trace->table, trace->text, sizeof trace->text);
    return trace->text;
}

bool wl_trace_has_counts(const struct wl_trace *trace)
{
    return trace->place.has_counts;
}

static bool fail_empty(const struct wl_trace *trace, struct sim_error *error)
{
    bool is_headless = trace->table != NULL && !trace->table->has_header;
    return sim_fail(error, SIM_ERROR_INPUT, "%s:1: no rows%s; write at least one", trace->path,
                    is_headless ? "" : " below the header");
}

/* Parses the next line into `row`; false at the end of the file and on errors. */
static bool parse_next(struct wl_trace *trace, struct trace_row *row)
{
    char *line;
    size_t size;
    struct ahead *ahead = &trace->ahead;
    ahead->is_faulty = !trace_reader_next(&trace->reader, &line, &size, &ahead->fault);
    if (ahead->is_faulty || line == NULL)
        return false;
    trace->place.line = trace->reader.line;
    ahead->is_faulty = !trace_line_parse(line, size, &trace->place, row, &ahead->fault);
    return !ahead->is_faulty;
}

/* Parses only lines that are in the reader's buffer, since reading more would invalidate them. */
static void look_ahead(struct wl_trace *trace)
{
    struct ahead *ahead = &trace->ahead;
    ahead->at = ahead->count = 0;
    ahead->first_line = trace->reader.line + 1;
    do {
        struct trace_row *row = &ahead->rows[ahead->count];
        if (!parse_next(trace, row))
            break;
        ahead->hashes[ahead->count++] = trace_keys_hash(row->key, row->key_size);
    } while (ahead->count < LINES_AHEAD && trace_reader_has_line(&trace->reader));
    trace_keys_fetch(&trace->keys, ahead->hashes, ahead->count);
}

/* Reads a line of the plain form. */
static bool read_line(struct wl_trace *trace, struct trace_row *row, bool *more, struct sim_error *error)
{
    struct ahead *ahead = &trace->ahead;
    if (ahead->at == ahead->count && !ahead->is_faulty)
        look_ahead(trace);
    *more = ahead->at < ahead->count;
    if (!*more)
        return !ahead->is_faulty || sim_fail(error, ahead->fault.class, "%s", ahead->fault.text);
    trace->place.line = ahead->first_line + ahead->at;
    *row = ahead->rows[ahead->at++];
    return true;
}

/* Reads a row from one of the other two sources. */
static bool read_other(struct wl_trace *trace, struct trace_row *row, bool *more, struct sim_error *error)
{
    if (trace->sort != NULL)
        return trace_sort_next(trace->sort, row, &trace->place.line, more, error);
    if (!trace_table_next(trace->table, row, more, error))
        return false;
    trace->place.path = trace_table_path(trace->table);
    trace->place.line = *more ? trace_table_line(trace->table) : trace->place.line;
    return true;
}

static bool read_any(struct wl_trace *trace, struct trace_row *row, bool *more, struct sim_error *error)
{
    return trace->table == NULL ? read_line(trace, row, more, error) : read_other(trace, row, more, error);
}

static bool is_near_1970(int64_t time_ns)
{
    return time_ns > -NEAR_1970 && time_ns < NEAR_1970;
}

/* Whether one of two rows has no time, such as 0, or a time in another unit. */
static bool are_apart(int64_t one_ns, int64_t other_ns)
{
    return (is_near_1970(one_ns) && (other_ns > FAR_SPAN || other_ns < -FAR_SPAN)) ||
           (is_near_1970(other_ns) && (one_ns > FAR_SPAN || one_ns < -FAR_SPAN));
}

static bool fail_apart(const struct wl_trace *trace, int64_t time_ns, struct sim_error *error)
{
    bool is_last = is_near_1970(trace->last_time_ns);
    char odd[SIM_TIME_TEXT_SIZE], other[SIM_TIME_TEXT_SIZE];
    sim_time_format(is_last ? trace->last_time_ns : time_ns, odd);
    sim_time_format(is_last ? time_ns : trace->last_time_ns, other);
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%" PRIu64
                    ": the row's time %s is near 1970, and another row's is %s: it is no time, or in another "
                    "unit; correct it, or leave the row out",
                    is_last ? trace->last_path : trace->place.path,
                    is_last ? trace->last_line : trace->place.line, odd, other);
}

/* A row without a time is named before the file is asked to be sorted. */
static bool fail_order(struct wl_trace *trace, const struct trace_row *row, struct sim_error *error)
{
    struct sim_error ignored = {.class = SIM_ERROR_NONE};
    const struct trace_place place = trace->place;
    struct trace_row later = *row;
    bool more = true;
    for (; more; more = read_any(trace, &later, &more, &ignored) && more) {
        if (are_apart(later.time_ns, trace->last_time_ns))
            return fail_apart(trace, later.time_ns, error);
    }
    trace->place = place;
    if (trace->table == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": timestamp_ms %" PRId64 " is before %" PRId64 " of line %" PRIu64
                        "; sort the file by timestamp_ms, or add sort: true under trace",
                        trace->path, trace->place.line, row->time_ns / SIM_MS, trace->last_time_ns / SIM_MS,
                        trace->last_line);
    char here[SIM_TIME_TEXT_SIZE], before[SIM_TIME_TEXT_SIZE];
    sim_time_format(row->time_ns, here);
    sim_time_format(trace->last_time_ns, before);
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%" PRIu64
                    ": the row's time %s is before %s of the row above; add sort: true under trace, "
                    "or sort the file by time",
                    trace->place.path, trace->place.line, here, before);
}

/* Reads the next line and checks the order of times. *more is false at the end of a trace that had rows. */
static bool read_row(struct wl_trace *trace, struct trace_row *row, bool *more, struct sim_error *error)
{
    *more = false;
    if (!read_any(trace, row, more, error))
        return false;
    if (!*more)
        return trace->last_line > 0 || fail_empty(trace, error);
    if (trace->last_line > 0 && row->time_ns < trace->last_time_ns)
        return fail_order(trace, row, error);
    if (trace->last_line > 0 && are_apart(row->time_ns, trace->last_time_ns))
        return fail_apart(trace, row->time_ns, error);
    trace->last_time_ns = row->time_ns;
    trace->last_line = trace->place.line;
    trace->last_path = trace->place.path;
    trace->rows += trace->place.has_counts ? row->value : 1;
    if (trace->rows > WL_TRACE_ROWS_MAX) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": with this count the trace has more than %" PRIu64
                        " rows; lower the counts",
                        trace->place.path, trace->place.line, WL_TRACE_ROWS_MAX);
    }
    if (!trace->has_rows && (!trace->place.has_counts || row->value > 0)) {
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

static bool reserve_pending(struct wl_trace *trace, uint32_t key, struct sim_error *error)
{
    if (key < trace->pending_capacity) {
        return true;
    }
    size_t capacity = trace->keys.capacity;
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

/* Replaces the key's pending line by this row; the pending line is then complete and is returned. */
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
        step_ms = row->time_ns / SIM_MS - line->time_ns / SIM_MS;
        if (step_ms > TRACE_TIME_MS_MAX) {
            return fail_far(trace, trace->place.line, error);
        }
        *out = batch_of_pending(key, line, step_ms);
        *complete = true;
    }
    *line = (struct pending){
        .time_ns = row->time_ns, .step_ms = step_ms, .rows = row->value, .line = trace->place.line};
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
    if (line->time_ns / SIM_MS > TRACE_TIME_MS_MAX - line->step_ms) {
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
    uint32_t hash = trace->table == NULL ? trace->ahead.hashes[trace->ahead.at - 1]
                                         : trace_keys_hash(row->key, row->key_size);
    return trace_keys_intern(&trace->keys, row->key, row->key_size, hash, index) || sim_fail_memory(error);
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
    out->time_ns = row.time_ns;
    out->late_ns = row.late_ns;
    out->rows = 1;
    out->bytes = row.value;
    out->line = trace->place.line;
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
    *all_bytes = trace->table != NULL ? trace->table->files.bytes : trace->reader.all_bytes;
    *read_bytes =
        trace->table != NULL ? trace_table_offset(trace->table) : trace_reader_offset(&trace->reader);
    if (trace->sort != NULL) {
        double share = (double)trace_sort_place(trace->sort) / ((double)trace_sort_count(trace->sort) + 1);
        *read_bytes = (uint64_t)(share * (double)*all_bytes);
    }
    *read_bytes = *read_bytes < *all_bytes ? *read_bytes : *all_bytes;
}

void wl_trace_close(struct wl_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    trace_reader_close(&trace->reader);
    if (trace->table != NULL)
        trace_table_close(trace->table);
    free(trace->table);
    trace_sort_destroy(trace->sort);
    trace_keys_free(&trace->keys);
    free(trace->pending);
    free(trace->path);
    free(trace);
}
