/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps bytes in memory, and the bytes beyond a limit in a temporary file. */
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

struct trace_spill {
    const char *path;   /* path of the trace, for messages */
    size_t memory_most; /* the most bytes in memory; may be raised at any time, but has no effect once the
                           file was created */
    char *memory;
    size_t kept, capacity;
    int file; /* -1: not created yet */
    uint64_t size;
};

/* A range of those bytes, which is read in sequence through a window. */
struct trace_stretch {
    uint64_t at, end; /* the part that was not read into the window yet */
    char *window;     /* owned by the caller, who passes its size */
    size_t begin, filled;
};

struct trace_merge {
    size_t *heap;
    size_t count;
};

/* Whether the next item of run `one` comes before the next item of run `other`. */
typedef bool trace_is_before(const void *owner, size_t one, size_t other);

/* Sifts the run at index `at` of the heap down to its place. */
static inline void trace_merge_sink(struct trace_merge *merge, size_t at, trace_is_before *is_before,
                                    const void *owner)
{
    size_t *heap = merge->heap, run = heap[at];
    for (size_t child; (child = 2 * at + 1) < merge->count; at = child) {
        child += child + 1 < merge->count && is_before(owner, heap[child + 1], heap[child]);
        if (!is_before(owner, heap[child], run))
            break;
        heap[at] = heap[child];
    }
    heap[at] = run;
}

/* Builds the heap of the runs 0 to count - 1. */
static inline void trace_merge_begin(struct trace_merge *merge, size_t count, trace_is_before *is_before,
                                     const void *owner)
{
    merge->count = count;
    for (size_t i = 0; i < count; i++)
        merge->heap[i] = i;
    for (size_t i = count / 2; i-- > 0;)
        trace_merge_sink(merge, i, is_before, owner);
}

/* Restores the heap after the top run has advanced to its next item, or has no more items. */
static inline void trace_merge_moved(struct trace_merge *merge, bool has_more, trace_is_before *is_before,
                                     const void *owner)
{
    if (!has_more)
        merge->heap[0] = merge->heap[--merge->count];
    if (merge->count > 0)
        trace_merge_sink(merge, 0, is_before, owner);
}

static void trace_spill_init(struct trace_spill *spill, const char *path, size_t memory_most)
{
    *spill = (struct trace_spill){.path = path, .memory_most = memory_most, .file = -1};
}

/* /var/tmp is on disk, whereas /tmp may be in memory. */
static bool make_file(struct trace_spill *spill)
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

static bool fail_file(const struct trace_spill *spill, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: cannot be sorted in a temporary file in /var/tmp or /tmp (%s); free space there",
                    spill->path, errno == 0 ? "it is cut off" : strerror(errno));
}

static bool write_bytes(struct trace_spill *spill, const char *bytes, size_t size, struct sim_error *error)
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

static bool trace_spill_put(struct trace_spill *spill, const char *bytes, size_t size,
                            struct sim_error *error)
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
static size_t get(const struct trace_spill *spill, uint64_t at, char *out, size_t size)
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

/* Reads until the window has at least `wanted` bytes from `begin` on, or all bytes that are left. */
static bool trace_spill_fill(const struct trace_spill *spill, struct trace_stretch *stretch,
                             size_t window_bytes, size_t wanted, struct sim_error *error)
{
    size_t kept = stretch->filled - stretch->begin;
    if (kept >= wanted || stretch->at == stretch->end)
        return true;
    memmove(stretch->window, stretch->window + stretch->begin, kept);
    stretch->begin = 0;
    stretch->filled = kept;
    while (stretch->filled < window_bytes && stretch->at < stretch->end) {
        uint64_t left = stretch->end - stretch->at;
        size_t room = window_bytes - stretch->filled;
        size_t got =
            get(spill, stretch->at, stretch->window + stretch->filled, left < room ? (size_t)left : room);
        if (got == 0)
            return fail_file(spill, error);
        stretch->filled += got;
        stretch->at += got;
    }
    return true;
}

static void trace_spill_clear(struct trace_spill *spill)
{
    if (spill->file != -1)
        close(spill->file);
    free(spill->memory);
    trace_spill_init(spill, NULL, 0);
}

/* Sorts rows on disk: runs from a buffer by qsort(), merged through a binary heap (Knuth, TAOCP 5.4.1). A run
 * is read through a window of its own.
 *
 *   record: | head: time, order, line, value, key size | key bytes | up to a multiple of 8 |
 */

#define WINDOW_BYTES_LEAST ((size_t)16 << 10) /* more than the longest record */
#define WINDOW_BYTES_MOST  ((size_t)256 << 10)

struct head {
    int64_t time_ns, late_ns;
    uint64_t order; /* position in the input, from 0, which breaks ties */
    uint64_t line;
    uint64_t value;
    uint64_t key_size;
};

struct item {
    int64_t time_ns;
    uint64_t order;
    uint64_t place; /* offset of the record in the buffer */
};

struct run {
    uint64_t first;
    struct trace_stretch rows;
    struct head head; /* head of the next row, whose key follows it in the window */
};

struct trace_sort {
    struct trace_spill spill;
    uint64_t count, place;
    size_t memory_bytes, window_bytes;
    char *buffer;
    size_t used, capacity;
    struct item *items;
    size_t item_count, item_capacity;
    struct run *runs;
    size_t run_count, run_capacity;
    struct trace_merge merge; /* heap of runs, the run with the lowest row on top */
    bool is_under_way;        /* the top run's row was returned and is dropped at the next call */
};

static size_t record_bytes(uint64_t key_size)
{
    return sizeof(struct head) + (((size_t)key_size + 7) & ~(size_t)7);
}

bool trace_sort_create(const char *path, size_t memory_bytes, struct trace_sort **out,
                       struct sim_error *error)
{
    struct trace_sort *sort = calloc(1, sizeof *sort);
    *out = NULL;
    if (sort == NULL)
        return sim_fail_memory(error);
    sort->memory_bytes = memory_bytes;
    trace_spill_init(&sort->spill, path, 0);
    *out = sort;
    return true;
}

static int by_time(const void *one, const void *other)
{
    const struct item *a = one, *b = other;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts the buffer's rows and writes them as a run. */
static bool write_run(struct trace_sort *sort, struct sim_error *error)
{
    if (sort->item_count == 0)
        return true;
    if (!sim_grow(&sort->runs, &sort->run_capacity, sort->run_count + 1, sizeof *sort->runs))
        return sim_fail_memory(error);
    qsort(sort->items, sort->item_count, sizeof *sort->items, by_time);
    char *out = malloc(WINDOW_BYTES_MOST);
    if (out == NULL)
        return sim_fail_memory(error);
    struct run run = {.first = sort->spill.size};
    size_t filled = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < sort->item_count; i++) {
        const char *record = sort->buffer + sort->items[i].place;
        struct head head;
        memcpy(&head, record, sizeof head);
        size_t size = record_bytes(head.key_size);
        if (filled + size > WINDOW_BYTES_MOST) {
            ok = trace_spill_put(&sort->spill, out, filled, error);
            filled = 0;
        }
        memcpy(out + filled, record, size);
        filled += size;
    }
    ok = ok && trace_spill_put(&sort->spill, out, filled, error);
    free(out);
    run.rows.end = sort->spill.size;
    sort->runs[sort->run_count++] = run;
    sort->item_count = sort->used = 0;
    return ok;
}

bool trace_sort_put(struct trace_sort *sort, const struct trace_row *row, uint64_t line,
                    struct sim_error *error)
{
    size_t size = record_bytes(row->key_size);
    if (sort->used + size + (sort->item_count + 1) * sizeof *sort->items > sort->memory_bytes &&
        !write_run(sort, error))
        return false;
    if (!sim_grow(&sort->buffer, &sort->capacity, sort->used + size, 1) ||
        !sim_grow(&sort->items, &sort->item_capacity, sort->item_count + 1, sizeof *sort->items))
        return sim_fail_memory(error);
    const struct head head = {row->time_ns, row->late_ns, sort->count, line, row->value, row->key_size};
    memset(sort->buffer + sort->used, 0, size);
    memcpy(sort->buffer + sort->used, &head, sizeof head);
    memcpy(sort->buffer + sort->used + sizeof head, row->key, row->key_size);
    sort->items[sort->item_count++] = (struct item){row->time_ns, sort->count++, sort->used};
    sort->used += size;
    return true;
}

/* Advances to the run's next row; *more is false after the last one. */
static bool load_head(struct trace_sort *sort, struct run *run, bool *more, struct sim_error *error)
{
    struct trace_stretch *rows = &run->rows;
    if (!trace_spill_fill(&sort->spill, rows, sort->window_bytes, WINDOW_BYTES_LEAST, error))
        return false;
    *more = rows->filled > rows->begin;
    if (*more)
        memcpy(&run->head, rows->window + rows->begin, sizeof run->head);
    return true;
}

static bool is_before(const void *owner, size_t one, size_t other)
{
    const struct trace_sort *sort = owner;
    const struct head *a = &sort->runs[one].head, *b = &sort->runs[other].head;
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

/* Frees the buffer of rows and allocates the windows of the runs. */
static bool begin_reading(struct trace_sort *sort, struct sim_error *error)
{
    if (!write_run(sort, error))
        return false;
    free(sort->buffer);
    free(sort->items);
    sort->buffer = NULL;
    sort->items = NULL;
    sort->capacity = sort->item_capacity = 0;
    size_t share = sort->memory_bytes / (sort->run_count + 1);
    sort->window_bytes = share < WINDOW_BYTES_LEAST  ? WINDOW_BYTES_LEAST
                         : share > WINDOW_BYTES_MOST ? WINDOW_BYTES_MOST
                                                     : share;
    sort->merge.heap = calloc(sort->run_count + 1, sizeof *sort->merge.heap);
    bool ok = sort->merge.heap != NULL;
    for (size_t i = 0; ok && i < sort->run_count; i++) {
        sort->runs[i].rows.window = malloc(sort->window_bytes);
        ok = sort->runs[i].rows.window != NULL;
    }
    return ok || sim_fail_memory(error);
}

bool trace_sort_rewind(struct trace_sort *sort, struct sim_error *error)
{
    if (sort->merge.heap == NULL && !begin_reading(sort, error))
        return false;
    sort->merge.count = 0;
    sort->place = 0;
    sort->is_under_way = false;
    for (size_t i = 0; i < sort->run_count; i++) {
        struct run *run = &sort->runs[i];
        bool more;
        run->rows.at = run->first;
        run->rows.begin = run->rows.filled = 0;
        if (!load_head(sort, run, &more, error))
            return false;
        assert(more);
    }
    trace_merge_begin(&sort->merge, sort->run_count, is_before, sort);
    return true;
}

/* Drops the row that was returned last. */
static bool drop_row(struct trace_sort *sort, struct sim_error *error)
{
    struct run *run = &sort->runs[sort->merge.heap[0]];
    bool more;
    run->rows.begin += record_bytes(run->head.key_size);
    if (!load_head(sort, run, &more, error))
        return false;
    trace_merge_moved(&sort->merge, more, is_before, sort);
    return true;
}

bool trace_sort_next(struct trace_sort *sort, struct trace_row *out, uint64_t *line, bool *more,
                     struct sim_error *error)
{
    *more = false;
    if (sort->is_under_way && !drop_row(sort, error))
        return false;
    sort->is_under_way = sort->merge.count > 0;
    if (!sort->is_under_way)
        return true;
    const struct run *run = &sort->runs[sort->merge.heap[0]];
    *out = (struct trace_row){.time_ns = run->head.time_ns,
                              .late_ns = run->head.late_ns,
                              .key = run->rows.window + run->rows.begin + sizeof run->head,
                              .key_size = (size_t)run->head.key_size,
                              .value = run->head.value};
    *line = run->head.line;
    *more = true;
    sort->place++;
    return true;
}

uint64_t trace_sort_place(const struct trace_sort *sort)
{
    return sort->place;
}

uint64_t trace_sort_count(const struct trace_sort *sort)
{
    return sort->count;
}

void trace_sort_destroy(struct trace_sort *sort)
{
    if (sort == NULL)
        return;
    trace_spill_clear(&sort->spill);
    for (size_t i = 0; i < sort->run_count; i++)
        free(sort->runs[i].rows.window);
    free(sort->runs);
    free(sort->merge.heap);
    free(sort->buffer);
    free(sort->items);
    free(sort);
}

/* Sorts the lines of a trace by key. The lines in the buffer are sorted by counting and written as a
 * line_run; the runs are merged through a binary heap. In a line_run the lines of a key form a segment of
 * numbers, each written seven bits per byte, lowest bits first (LEB128):
 *
 *   segment: | key - key of the previous segment | number of lines | line | line ...
 *   line:    | time - time of the previous line | bytes or rows | step or lateness, if the line_run has any |
 *
 * Times are relative to the earliest time of the line_run, in ms if all times of the line_run are whole ms,
 * otherwise in ns. */

#define NUMBER_BYTES_MOST       10u
#define RECORD_BYTES_MOST       (3 * NUMBER_BYTES_MOST)
#define LINES_LEAST             ((size_t)8 << 10)
#define RUNS_AT_THAT            128u /* after this number of runs, later runs have twice as many lines */
#define MEMORY_LEAST            ((size_t)1 << 20)
#define MEMORY_OF_KEY           64u
#define LINE_WINDOW_BYTES_LEAST ((size_t)4 << 10)
#define LINE_WINDOW_BYTES_MOST  ((size_t)64 << 10)
#define OUT_BYTES               4096u
#define AHEAD                   16u /* lines that are prefetched before they are written */

struct line {
    int64_t time_ns;
    uint64_t value; /* bytes, or rows */
    uint64_t extra; /* the lateness, or the step */
    uint32_t key;
};

struct line_run {
    struct trace_stretch bytes;
    int64_t base_ns;
    uint64_t unit_ns;
    bool has_extra;
    uint32_t key;  /* key of the current segment */
    uint64_t left; /* lines left in the segment */
    uint64_t time; /* time of the previous line */
};

struct wl_trace_lines {
    bool has_counts;
    struct trace_spill spill;
    struct line *buffer;
    size_t count, capacity;
    uint32_t key_count;     /* number of keys in all lines */
    int64_t least_ns;       /* earliest time in the buffer */
    bool has_ns, has_extra; /* some times are not whole ms; some lines have an `extra` */
    struct line_run *runs;
    size_t run_count, run_capacity, window_bytes;
    struct trace_merge
        merge; /* heap of runs: the line_run with the lowest key on top; of several, the first line_run */
};

struct wl_trace_lines *wl_trace_lines_create(const char *path, bool has_counts)
{
    struct wl_trace_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL)
        return NULL;
    lines->has_counts = has_counts;
    trace_spill_init(&lines->spill, path, MEMORY_LEAST);
    return lines;
}

static size_t put_number(char *out, uint64_t number)
{
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        out[size++] = (char)(number | 0x80);
    out[size++] = (char)number;
    return size;
}

/* Sorts the buffer's lines by key (counting sort): *order has their indices, *ends the end of each key's
 * lines in *order. */
static bool order_lines(const struct wl_trace_lines *lines, uint32_t **order, uint32_t **ends)
{
    *order = malloc(lines->count * sizeof **order);
    *ends = calloc((size_t)lines->key_count + 1, sizeof **ends);
    if (*order == NULL || *ends == NULL)
        return false;
    uint32_t *starts = *ends;
    for (size_t i = 0; i < lines->count; i++)
        starts[lines->buffer[i].key + 1]++;
    for (size_t key = 1; key <= lines->key_count; key++)
        starts[key] += starts[key - 1];
    for (size_t i = 0; i < lines->count; i++)
        (*order)[starts[lines->buffer[i].key]++] = (uint32_t)i;
    return true;
}

static size_t put_line(const struct line_run *line_run, const struct line *line, uint64_t *time, char *out)
{
    uint64_t since = ((uint64_t)line->time_ns - (uint64_t)line_run->base_ns) / line_run->unit_ns;
    size_t size = put_number(out, since - *time);
    size += put_number(out + size, line->value);
    if (line_run->has_extra)
        size += put_number(out + size, line->extra);
    *time = since;
    return size;
}

static bool put_segments(struct wl_trace_lines *lines, const struct line_run *line_run, const uint32_t *order,
                         const uint32_t *ends, struct sim_error *error)
{
    char out[OUT_BYTES + RECORD_BYTES_MOST];
    size_t filled = 0;
    uint32_t key_before = 0;
    for (uint32_t key = 0, i = 0; key < lines->key_count; key++) {
        uint64_t time = 0;
        if (i == ends[key])
            continue;
        filled += put_number(out + filled, key - key_before);
        filled += put_number(out + filled, ends[key] - i);
        key_before = key;
        for (; i < ends[key]; i++) {
            if (i + AHEAD < lines->count)
                __builtin_prefetch(&lines->buffer[order[i + AHEAD]]);
            filled += put_line(line_run, &lines->buffer[order[i]], &time, out + filled);
            if (filled < OUT_BYTES)
                continue;
            if (!trace_spill_put(&lines->spill, out, filled, error))
                return false;
            filled = 0;
        }
    }
    return filled == 0 || trace_spill_put(&lines->spill, out, filled, error);
}

/* Writes the buffer's lines as a line_run. */
static bool put_run(struct wl_trace_lines *lines, struct sim_error *error)
{
    uint32_t *order = NULL, *ends = NULL;
    if (lines->count == 0)
        return true;
    bool ok = (sim_grow(&lines->runs, &lines->run_capacity, lines->run_count + 1, sizeof *lines->runs) &&
               order_lines(lines, &order, &ends)) ||
              sim_fail_memory(error);
    if (ok) {
        struct line_run *line_run = &lines->runs[lines->run_count];
        *line_run = (struct line_run){.bytes.at = lines->spill.size,
                                      .base_ns = lines->least_ns,
                                      .unit_ns = lines->has_ns ? 1 : (uint64_t)SIM_MS,
                                      .has_extra = lines->has_extra};
        lines->spill.memory_most = MEMORY_LEAST + (size_t)lines->key_count * MEMORY_OF_KEY;
        ok = put_segments(lines, line_run, order, ends, error);
        line_run->bytes.end = lines->spill.size;
        lines->run_count += ok;
    }
    free(order);
    free(ends);
    lines->count = 0;
    lines->has_ns = lines->has_extra = false;
    return ok;
}

bool wl_trace_lines_put(struct wl_trace_lines *lines, const struct wl_trace_batch *line,
                        struct sim_error *error)
{
    size_t most = LINES_LEAST + LINES_LEAST * lines->run_count / RUNS_AT_THAT + lines->key_count;
    if (lines->count >= most && !put_run(lines, error))
        return false;
    if (!sim_grow(&lines->buffer, &lines->capacity, lines->count + 1, sizeof *lines->buffer))
        return sim_fail_memory(error);
    const struct line put = {.time_ns = line->time_ns,
                             .value = lines->has_counts ? line->rows : line->bytes,
                             .extra = (uint64_t)(lines->has_counts ? line->step_ms : line->late_ns),
                             .key = line->key_index};
    if (lines->count == 0 || put.time_ns < lines->least_ns)
        lines->least_ns = put.time_ns;
    lines->buffer[lines->count++] = put;
    lines->has_ns = lines->has_ns || put.time_ns % SIM_MS != 0;
    lines->has_extra = lines->has_extra || put.extra != 0;
    if (lines->key_count <= put.key)
        lines->key_count = put.key + 1;
    return true;
}

static uint64_t take_number(struct trace_stretch *bytes)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = (unsigned char)bytes->window[bytes->begin++];
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
}

/* Advances the line_run to its next segment; *more is false after the last one. */
static bool take_segment(const struct wl_trace_lines *lines, struct line_run *line_run, bool *more,
                         struct sim_error *error)
{
    if (!trace_spill_fill(&lines->spill, &line_run->bytes, lines->window_bytes, RECORD_BYTES_MOST, error))
        return false;
    *more = line_run->bytes.filled > line_run->bytes.begin;
    if (*more) {
        line_run->key += (uint32_t)take_number(&line_run->bytes);
        line_run->left = take_number(&line_run->bytes);
        line_run->time = 0;
    }
    return true;
}

static bool is_segment_before(const void *owner, size_t one, size_t other)
{
    const struct wl_trace_lines *lines = owner;
    uint32_t a = lines->runs[one].key, b = lines->runs[other].key;
    return a != b ? a < b : one < other;
}

/* Frees the buffer and allocates the windows of the runs. */
bool wl_trace_lines_turn(struct wl_trace_lines *lines, struct sim_error *error)
{
    if (!put_run(lines, error))
        return false;
    size_t share = lines->capacity * sizeof *lines->buffer / (lines->run_count + 1);
    lines->window_bytes = share < LINE_WINDOW_BYTES_LEAST  ? LINE_WINDOW_BYTES_LEAST
                          : share > LINE_WINDOW_BYTES_MOST ? LINE_WINDOW_BYTES_MOST
                                                           : share;
    free(lines->buffer);
    lines->buffer = NULL;
    lines->capacity = 0;
    lines->merge.heap = calloc(lines->run_count + 1, sizeof *lines->merge.heap);
    if (lines->merge.heap == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < lines->run_count; i++) {
        bool more;
        lines->runs[i].bytes.window = malloc(lines->window_bytes);
        if (lines->runs[i].bytes.window == NULL)
            return sim_fail_memory(error);
        if (!take_segment(lines, &lines->runs[i], &more, error))
            return false;
    }
    trace_merge_begin(&lines->merge, lines->run_count, is_segment_before, lines);
    return true;
}

bool wl_trace_lines_next(struct wl_trace_lines *lines, struct wl_trace_batch *out, bool *more,
                         struct sim_error *error)
{
    *more = false;
    if (lines->merge.count > 0 && lines->runs[lines->merge.heap[0]].left == 0) {
        bool has_segment;
        if (!take_segment(lines, &lines->runs[lines->merge.heap[0]], &has_segment, error))
            return false;
        trace_merge_moved(&lines->merge, has_segment, is_segment_before, lines);
    }
    if (lines->merge.count == 0)
        return true;
    struct line_run *line_run = &lines->runs[lines->merge.heap[0]];
    if (!trace_spill_fill(&lines->spill, &line_run->bytes, lines->window_bytes, RECORD_BYTES_MOST, error))
        return false;
    line_run->left--;
    line_run->time += take_number(&line_run->bytes);
    uint64_t value = take_number(&line_run->bytes),
             extra = line_run->has_extra ? take_number(&line_run->bytes) : 0;
    *out = (struct wl_trace_batch){
        .key_index = line_run->key,
        .time_ns = (int64_t)((uint64_t)line_run->base_ns + line_run->time * line_run->unit_ns),
        .rows = lines->has_counts ? value : 1,
        .bytes = lines->has_counts ? 0 : value,
        .step_ms = lines->has_counts ? (int64_t)extra : 0,
        .late_ns = lines->has_counts ? 0 : (int64_t)extra};
    *more = true;
    return true;
}

void wl_trace_lines_destroy(struct wl_trace_lines *lines)
{
    if (lines == NULL)
        return;
    for (size_t i = 0; i < lines->run_count; i++)
        free(lines->runs[i].bytes.window);
    free(lines->runs);
    free(lines->merge.heap);
    free(lines->buffer);
    trace_spill_clear(&lines->spill);
    free(lines);
}
