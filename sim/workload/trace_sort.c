/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In: rows, or the lines of a trace. Keeps sorted runs of them in memory, and beyond a limit in a temporary
 * file. Out: the rows in order of time, or the lines key by key. */
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/error.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "trace_parts.h"
#include "workload/trace.h"

/* The bytes of all runs: at first in memory, and those beyond memory_most in a file. */
struct spill {
    const char *path; /* path of the trace, for messages */
    size_t memory_most;
    char *memory;
    size_t kept, capacity;
    int file; /* -1: not created yet */
    uint64_t size;
};

/* /var/tmp is on disk, whereas /tmp may be in memory. */
static bool make_file(struct spill *spill)
{
    static const char *const names[] = {"/var/tmp/bucketlab-sort-XXXXXX", "/tmp/bucketlab-sort-XXXXXX"};
    for (size_t i = 0; i < 2 && spill->file == -1; i++) {
        char name[40];
        memcpy(name, names[i], strlen(names[i]) + 1);
        spill->file = mkstemp(name);
        if (spill->file != -1)
            unlink(name);
    }
    return spill->file != -1;
}

static bool fail_file(const struct spill *spill, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: cannot be sorted in a temporary file in /var/tmp or /tmp (%s); free space there",
                    spill->path, errno == 0 ? "it is cut off" : strerror(errno));
}

static bool write_bytes(struct spill *spill, const char *bytes, size_t size, struct sim_error *error)
{
    while (size > 0) {
        ssize_t done = write(spill->file, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_file(spill, error);
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

static bool spill_put(struct spill *spill, const char *bytes, size_t size, struct sim_error *error)
{
    bool is_small =
        spill->file == -1 && size <= spill->memory_most && spill->kept <= spill->memory_most - size;
    if (is_small || (spill->file == -1 && !make_file(spill))) {
        if (!sim_grow(&spill->memory, &spill->capacity, spill->kept + size, 1))
            return sim_fail_memory(error);
        memcpy(spill->memory + spill->kept, bytes, size);
        spill->kept += size;
    } else if (!write_bytes(spill, bytes, size, error)) {
        return false;
    }
    spill->size += size;
    return true;
}

/* Copies the bytes that are contiguous, in memory or in the file, up to `size`. Returns their number; 0 on
 * failure. */
static size_t get(const struct spill *spill, uint64_t at, char *out, size_t size)
{
    if (at < spill->kept) {
        size_t left = spill->kept - (size_t)at;
        size = size < left ? size : left;
        memcpy(out, spill->memory + at, size);
        return size;
    }
    ssize_t got;
    do {
        errno = 0;
        got = pread(spill->file, out, size, (off_t)(at - spill->kept));
    } while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : (size_t)got;
}

/* Sorts records by time or by key, those that are equal in it in the order of input: runs from a buffer,
 * merged through a binary heap (Knuth, TAOCP 5.4.1). A run is read through a window of its own. In a run a
 * record is written as differences from the one before it, seven bits per byte, lowest bits first (LEB128):
 *
 *   | key | time | value | extra | line |
 */

#define NUMBER_BYTES_MOST  10u
#define RECORD_BYTES_MOST  (5 * NUMBER_BYTES_MOST)
#define LINES_LEAST        ((size_t)8 << 10)
#define RUNS_AT_THAT       128u /* after this number of runs, later runs have twice as many lines */
#define MEMORY_LEAST       ((size_t)1 << 20)
#define MEMORY_OF_KEY      64u
#define WINDOW_BYTES_LEAST ((size_t)4 << 10)
#define WINDOW_BYTES_MOST  ((size_t)64 << 10)
#define OUT_BYTES          4096u
#define AHEAD              16u /* records that are prefetched before they are written */

struct record {
    int64_t time_ns;
    uint64_t value, extra, line;
    uint32_t key;
    uint32_t order; /* in the buffer */
};

/* A run, which is read in sequence through a window. */
struct run {
    uint64_t first, at, end; /* of its bytes, and those that were not read into the window yet */
    char *window;
    size_t begin, filled;
    struct record head; /* the next record */
};

struct wl_trace_lines {
    bool by_key, has_counts;
    struct spill spill;
    struct trace_keys keys; /* of rows that are sorted by time */
    uint64_t count, place;
    size_t memory_bytes; /* of the buffer; by key, it grows with the numbers of keys and runs */
    struct record *buffer;
    size_t used, capacity;
    uint32_t key_count;
    struct run *runs;
    size_t run_count, run_capacity, window_bytes;
    size_t *heap, heap_count; /* of runs, the run with the first record on top */
    bool is_under_way;        /* the top run's record was returned and is dropped at the next call */
};

static struct wl_trace_lines *create(const char *path, bool by_key, size_t memory_bytes)
{
    struct wl_trace_lines *sort = calloc(1, sizeof *sort);
    if (sort == NULL)
        return NULL;
    sort->by_key = by_key;
    sort->memory_bytes = memory_bytes;
    sort->spill = (struct spill){.path = path, .memory_most = by_key ? MEMORY_LEAST : 0, .file = -1};
    return sort;
}

static size_t put_number(char *out, uint64_t number)
{
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        out[size++] = (char)(number | 0x80);
    out[size++] = (char)number;
    return size;
}

/* The sign is the lowest bit, so that small differences of either sign are short. */
static size_t put_difference(char *out, uint64_t number, uint64_t before)
{
    const uint64_t difference = number - before;
    return put_number(out, difference << 1 ^ -(difference >> 63));
}

static size_t put_record(const struct record *record, const struct record *before, char *out)
{
    size_t size = put_difference(out, record->key, before->key);
    size += put_difference(out + size, (uint64_t)record->time_ns, (uint64_t)before->time_ns);
    size += put_number(out + size, record->value);
    size += put_number(out + size, record->extra);
    return size + put_difference(out + size, record->line, before->line);
}

static uint64_t take_number(struct run *run)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = (unsigned char)run->window[run->begin++];
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
}

static uint64_t take_difference(struct run *run, uint64_t before)
{
    const uint64_t number = take_number(run);
    return before + (number >> 1 ^ -(number & 1));
}

/* Reads into the window until it is full, or has all bytes that are left. */
static bool fill(const struct wl_trace_lines *sort, struct run *run, struct sim_error *error)
{
    const size_t kept = run->filled - run->begin;
    memmove(run->window, run->window + run->begin, kept);
    run->begin = 0;
    run->filled = kept;
    while (run->filled < sort->window_bytes && run->at < run->end) {
        const uint64_t left = run->end - run->at;
        const size_t room = sort->window_bytes - run->filled;
        const size_t got =
            get(&sort->spill, run->at, run->window + run->filled, left < room ? (size_t)left : room);
        if (got == 0)
            return fail_file(&sort->spill, error);
        run->filled += got;
        run->at += got;
    }
    return true;
}

/* Advances to the run's next record; *more is false after the last one. */
static bool load_head(struct wl_trace_lines *sort, struct run *run, bool *more, struct sim_error *error)
{
    struct record *head = &run->head;
    if (run->filled - run->begin < RECORD_BYTES_MOST && run->at < run->end && !fill(sort, run, error))
        return false;
    *more = run->filled > run->begin;
    if (*more) {
        head->key = (uint32_t)take_difference(run, head->key);
        head->time_ns = (int64_t)take_difference(run, (uint64_t)head->time_ns);
        head->value = take_number(run);
        head->extra = take_number(run);
        head->line = take_difference(run, head->line);
    }
    return true;
}

static int by_time(const void *one, const void *other)
{
    const struct record *a = one, *b = other;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sets *order to the indices of the buffer's records in their order; by key, it is a counting sort. */
static bool order_records(const struct wl_trace_lines *sort, uint32_t **order)
{
    uint32_t *starts = calloc((size_t)sort->key_count + 1, sizeof *starts);
    *order = malloc(sort->used * sizeof **order);
    if (starts == NULL || *order == NULL) {
        free(starts);
        return false;
    }
    if (!sort->by_key)
        qsort(sort->buffer, sort->used, sizeof *sort->buffer, by_time);
    for (size_t i = 0; sort->by_key && i < sort->used; i++)
        starts[sort->buffer[i].key + 1]++;
    for (size_t key = 1; sort->by_key && key <= sort->key_count; key++)
        starts[key] += starts[key - 1];
    for (size_t i = 0; i < sort->used; i++)
        (*order)[sort->by_key ? starts[sort->buffer[i].key]++ : i] = (uint32_t)i;
    free(starts);
    return true;
}

static bool put_records(struct wl_trace_lines *sort, const uint32_t *order, struct sim_error *error)
{
    const struct record first = {0}, *before = &first;
    char out[OUT_BYTES + RECORD_BYTES_MOST];
    size_t filled = 0;
    for (size_t i = 0; i < sort->used; i++) {
        if (i + AHEAD < sort->used)
            __builtin_prefetch(&sort->buffer[order[i + AHEAD]]);
        filled += put_record(&sort->buffer[order[i]], before, out + filled);
        before = &sort->buffer[order[i]];
        if (filled < OUT_BYTES && i + 1 < sort->used)
            continue;
        if (!spill_put(&sort->spill, out, filled, error))
            return false;
        filled = 0;
    }
    return true;
}

/* Sorts the buffer's records and writes them as a run. */
static bool write_run(struct wl_trace_lines *sort, struct sim_error *error)
{
    uint32_t *order = NULL;
    if (sort->used == 0)
        return true;
    bool ok = (sim_grow(&sort->runs, &sort->run_capacity, sort->run_count + 1, sizeof *sort->runs) &&
               order_records(sort, &order)) ||
              sim_fail_memory(error);
    if (ok) {
        struct run run = {.first = sort->spill.size};
        if (sort->by_key)
            sort->spill.memory_most = MEMORY_LEAST + (size_t)sort->key_count * MEMORY_OF_KEY;
        ok = put_records(sort, order, error);
        run.end = sort->spill.size;
        sort->runs[sort->run_count] = run;
        sort->run_count += ok;
    }
    free(order);
    sort->used = 0;
    return ok;
}

static bool put(struct wl_trace_lines *sort, struct record record, struct sim_error *error)
{
    size_t most = sort->by_key ? LINES_LEAST + LINES_LEAST * sort->run_count / RUNS_AT_THAT + sort->key_count
                               : sort->memory_bytes / sizeof record;
    if (sort->used >= most && !write_run(sort, error))
        return false;
    if (!sim_grow(&sort->buffer, &sort->capacity, sort->used + 1, sizeof *sort->buffer))
        return sim_fail_memory(error);
    record.order = (uint32_t)sort->used;
    sort->buffer[sort->used++] = record;
    sort->key_count = sort->key_count <= record.key ? record.key + 1 : sort->key_count;
    sort->count++;
    return true;
}

/* Whether the next record of a run comes before that of another; if equal, they are in the order of runs. */
static bool is_before(const struct wl_trace_lines *sort, size_t one, size_t other)
{
    const struct record *a = &sort->runs[one].head, *b = &sort->runs[other].head;
    if (sort->by_key)
        return a->key != b->key ? a->key < b->key : one < other;
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : one < other;
}

/* Sifts the run at index `at` of the heap down to its place. */
static void sink(struct wl_trace_lines *sort, size_t at)
{
    size_t *heap = sort->heap, run = heap[at];
    for (size_t child; (child = 2 * at + 1) < sort->heap_count; at = child) {
        child += child + 1 < sort->heap_count && is_before(sort, heap[child + 1], heap[child]);
        if (!is_before(sort, heap[child], run))
            break;
        heap[at] = heap[child];
    }
    heap[at] = run;
}

/* Frees the buffer and allocates the windows of the runs. */
static bool begin_reading(struct wl_trace_lines *sort, struct sim_error *error)
{
    if (!write_run(sort, error))
        return false;
    size_t share = sort->capacity * sizeof *sort->buffer / (sort->run_count + 1);
    sort->window_bytes = share < WINDOW_BYTES_LEAST  ? WINDOW_BYTES_LEAST
                         : share > WINDOW_BYTES_MOST ? WINDOW_BYTES_MOST
                                                     : share;
    free(sort->buffer);
    sort->buffer = NULL;
    sort->capacity = 0;
    sort->heap = calloc(sort->run_count + 1, sizeof *sort->heap);
    bool ok = sort->heap != NULL;
    for (size_t i = 0; ok && i < sort->run_count; i++) {
        sort->runs[i].window = malloc(sort->window_bytes);
        ok = sort->runs[i].window != NULL;
    }
    return ok || sim_fail_memory(error);
}

bool wl_trace_lines_turn(struct wl_trace_lines *sort, struct sim_error *error)
{
    if (sort->heap == NULL && !begin_reading(sort, error))
        return false;
    sort->place = 0;
    sort->is_under_way = false;
    for (size_t i = 0; i < sort->run_count; i++) {
        struct run *run = &sort->runs[i];
        bool more;
        run->at = run->first;
        run->begin = run->filled = 0;
        sort->heap[i] = i;
        run->head = (struct record){0};
        if (!load_head(sort, run, &more, error))
            return false;
        assert(more);
    }
    sort->heap_count = sort->run_count;
    for (size_t i = sort->heap_count / 2; i-- > 0;)
        sink(sort, i);
    return true;
}

/* Returns the next record; NULL after the last one, and on failure. */
static const struct record *next(struct wl_trace_lines *sort, bool *more, struct sim_error *error)
{
    *more = true;
    if (sort->is_under_way) {
        struct run *run = &sort->runs[sort->heap[0]];
        const struct record before = run->head;
        bool has_more;
        if (!load_head(sort, run, &has_more, error))
            return NULL;
        if (!has_more)
            sort->heap[0] = sort->heap[--sort->heap_count];
        /* While it is equal, the run stays on top. */
        if (sort->heap_count > 0 &&
            (!has_more || (sort->by_key ? run->head.key != before.key : run->head.time_ns != before.time_ns)))
            sink(sort, 0);
    }
    *more = sort->is_under_way = sort->heap_count > 0;
    sort->place += *more;
    return *more ? &sort->runs[sort->heap[0]].head : NULL;
}

void wl_trace_lines_destroy(struct wl_trace_lines *sort)
{
    if (sort == NULL)
        return;
    if (sort->spill.file != -1)
        close(sort->spill.file);
    free(sort->spill.memory);
    for (size_t i = 0; i < sort->run_count; i++)
        free(sort->runs[i].window);
    free(sort->runs);
    free(sort->heap);
    free(sort->buffer);
    trace_keys_free(&sort->keys);
    free(sort);
}

/* Rows by time. */

bool trace_sort_create(const char *path, size_t memory_bytes, struct wl_trace_lines **out,
                       struct sim_error *error)
{
    *out = create(path, false, memory_bytes);
    return *out != NULL || sim_fail_memory(error);
}

bool trace_sort_put(struct wl_trace_lines *sort, const struct trace_row *row, uint64_t line,
                    struct sim_error *error)
{
    struct record record = {
        .time_ns = row->time_ns, .value = row->value, .extra = (uint64_t)row->late_ns, .line = line};
    if (!trace_keys_intern(&sort->keys, row->key, row->key_size, trace_keys_hash(row->key, row->key_size),
                           &record.key))
        return sim_fail_memory(error);
    return put(sort, record, error);
}

bool trace_sort_next(struct wl_trace_lines *sort, struct trace_row *out, uint64_t *line, bool *more,
                     struct sim_error *error)
{
    const struct record *record = next(sort, more, error);
    if (record == NULL)
        return !*more;
    *out = (struct trace_row){
        .time_ns = record->time_ns, .late_ns = (int64_t)record->extra, .value = record->value};
    out->key = trace_keys_bytes(&sort->keys, record->key, &out->key_size);
    out->hash = trace_keys_hash(out->key, out->key_size);
    *line = record->line;
    return true;
}

double trace_sort_share(const struct wl_trace_lines *sort)
{
    return (double)sort->place / ((double)sort->count + 1);
}

/* Lines by key. */

struct wl_trace_lines *wl_trace_lines_create(const char *path, bool has_counts)
{
    struct wl_trace_lines *lines = create(path, true, 0);
    if (lines != NULL)
        lines->has_counts = has_counts;
    return lines;
}

bool wl_trace_lines_put(struct wl_trace_lines *lines, const struct wl_trace_batch *line,
                        struct sim_error *error)
{
    const struct record record = {.time_ns = line->time_ns,
                                  .value = lines->has_counts ? line->rows : line->bytes,
                                  .extra = (uint64_t)(lines->has_counts ? line->step_ms : line->late_ns),
                                  .key = line->key_index};
    return put(lines, record, error);
}

bool wl_trace_lines_next(struct wl_trace_lines *lines, struct wl_trace_batch *out, bool *more,
                         struct sim_error *error)
{
    const struct record *record = next(lines, more, error);
    if (record == NULL)
        return !*more;
    *out = (struct wl_trace_batch){.key_index = record->key,
                                   .time_ns = record->time_ns,
                                   .rows = lines->has_counts ? record->value : 1,
                                   .bytes = lines->has_counts ? 0 : record->value,
                                   .step_ms = lines->has_counts ? (int64_t)record->extra : 0,
                                   .late_ns = lines->has_counts ? 0 : (int64_t)record->extra};
    return true;
}
