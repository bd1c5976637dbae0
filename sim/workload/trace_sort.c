/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts rows on disk: runs from a buffer by qsort(), merged through a binary heap (Knuth, TAOCP 5.4.1). A run
 * is read through a window of its own. The file has no name from the moment it is made, so nothing is left of
 * it however the program ends.
 *
 *   record: | head: time, order, line, value, key size | key bytes | up to a multiple of 8 |
 */
#define _POSIX_C_SOURCE 200809L
#include "trace_sort.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/grow.h"

#define WINDOW_BYTES_LEAST ((size_t)16 << 10) /* above the longest record */
#define WINDOW_BYTES_MOST  ((size_t)256 << 10)

struct head {
    int64_t time_ns, late_ns;
    uint64_t order; /* of input, from 0: ties keep it */
    uint64_t line;
    uint64_t value;
    uint64_t key_size;
};

struct item {
    int64_t time_ns;
    uint64_t order;
    uint64_t place; /* of the record in the buffer */
};

/* Of the file, [at, end) is still to be read; the window holds [begin, filled) of its buffer. */
struct run {
    uint64_t first, at, end;
    char *window;
    size_t begin, filled;
    struct head head; /* of the next row, whose key is at the window's begin behind it */
};

struct trace_sort {
    const char *path;
    int file;
    uint64_t written, count, place;
    size_t memory_bytes, window_bytes;
    char *buffer;
    size_t used, capacity;
    struct item *items;
    size_t item_count, item_capacity;
    struct run *runs;
    size_t run_count, run_capacity;
    size_t *heap; /* of runs, the one with the least row on top */
    size_t heap_count;
    bool is_under_way; /* the top run's row was handed out and is dropped at the next call */
};

static bool fail_file(const struct trace_sort *sort, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: cannot be sorted in a temporary file in /var/tmp or /tmp (%s); free space there",
                    sort->path, errno == 0 ? "it is cut off" : strerror(errno));
}

static size_t record_bytes(uint64_t key_size)
{
    return sizeof(struct head) + (((size_t)key_size + 7) & ~(size_t)7);
}

/* A file without a name. /var/tmp is on a disk where /tmp may be in memory. */
static bool open_file(struct trace_sort *sort, struct sim_error *error)
{
    static const char *const names[] = {"/var/tmp/bucketlab-sort-XXXXXX", "/tmp/bucketlab-sort-XXXXXX"};
    for (size_t i = 0; i < 2 && sort->file == -1; i++) {
        char name[40];
        memcpy(name, names[i], strlen(names[i]) + 1);
        sort->file = mkstemp(name);
        if (sort->file != -1)
            unlink(name);
    }
    return sort->file != -1 || fail_file(sort, error);
}

bool trace_sort_create(const char *path, size_t memory_bytes, struct trace_sort **out,
                       struct sim_error *error)
{
    struct trace_sort *sort = calloc(1, sizeof *sort);
    *out = NULL;
    if (sort == NULL)
        return sim_fail_memory(error);
    *sort = (struct trace_sort){.path = path, .file = -1, .memory_bytes = memory_bytes};
    if (!open_file(sort, error)) {
        trace_sort_destroy(sort);
        return false;
    }
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

static bool write_bytes(struct trace_sort *sort, const char *bytes, size_t size, struct sim_error *error)
{
    while (size > 0) {
        ssize_t done = write(sort->file, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_file(sort, error);
        bytes += done;
        size -= (size_t)done;
        sort->written += (uint64_t)done;
    }
    return true;
}

/* The buffer's rows as a run of the file. */
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
    struct run run = {.first = sort->written};
    size_t filled = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < sort->item_count; i++) {
        const char *record = sort->buffer + sort->items[i].place;
        struct head head;
        memcpy(&head, record, sizeof head);
        size_t size = record_bytes(head.key_size);
        if (filled + size > WINDOW_BYTES_MOST) {
            ok = write_bytes(sort, out, filled, error);
            filled = 0;
        }
        memcpy(out + filled, record, size);
        filled += size;
    }
    ok = ok && write_bytes(sort, out, filled, error);
    free(out);
    run.end = sort->written;
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

/* Reads on into the run's window, so that the next record is whole in it. */
static bool refill(struct trace_sort *sort, struct run *run, struct sim_error *error)
{
    size_t kept = run->filled - run->begin;
    memmove(run->window, run->window + run->begin, kept);
    run->begin = 0;
    run->filled = kept;
    while (run->filled < sort->window_bytes && run->at < run->end) {
        uint64_t left = run->end - run->at;
        size_t room = sort->window_bytes - run->filled;
        errno = 0;
        ssize_t got =
            pread(sort->file, run->window + run->filled, left < room ? (size_t)left : room, (off_t)run->at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail_file(sort, error);
        run->filled += (size_t)got;
        run->at += (uint64_t)got;
    }
    return true;
}

/* Moves to the run's next row; *more is false behind its last. */
static bool load_head(struct trace_sort *sort, struct run *run, bool *more, struct sim_error *error)
{
    if (run->filled - run->begin < WINDOW_BYTES_LEAST && run->at < run->end && !refill(sort, run, error))
        return false;
    *more = run->filled > run->begin;
    if (*more)
        memcpy(&run->head, run->window + run->begin, sizeof run->head);
    return true;
}

static bool is_before(const struct trace_sort *sort, size_t one, size_t other)
{
    const struct head *a = &sort->runs[one].head, *b = &sort->runs[other].head;
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

/* Lets the run at `at` of the heap sink to its place. */
static void sink(struct trace_sort *sort, size_t at)
{
    size_t run = sort->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= sort->heap_count)
            break;
        child += child + 1 < sort->heap_count && is_before(sort, sort->heap[child + 1], sort->heap[child]);
        if (!is_before(sort, sort->heap[child], run))
            break;
        sort->heap[at] = sort->heap[child];
        at = child;
    }
    sort->heap[at] = run;
}

/* The buffer of the rows gives way to the runs' windows. */
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
    sort->heap = calloc(sort->run_count + 1, sizeof *sort->heap);
    bool ok = sort->heap != NULL;
    for (size_t i = 0; ok && i < sort->run_count; i++) {
        sort->runs[i].window = malloc(sort->window_bytes);
        ok = sort->runs[i].window != NULL;
    }
    return ok || sim_fail_memory(error);
}

bool trace_sort_rewind(struct trace_sort *sort, struct sim_error *error)
{
    if (sort->heap == NULL && !begin_reading(sort, error))
        return false;
    sort->heap_count = 0;
    sort->place = 0;
    sort->is_under_way = false;
    for (size_t i = 0; i < sort->run_count; i++) {
        struct run *run = &sort->runs[i];
        bool more;
        run->at = run->first;
        run->begin = run->filled = 0;
        if (!load_head(sort, run, &more, error))
            return false;
        assert(more);
        sort->heap[sort->heap_count++] = i;
    }
    for (size_t i = sort->heap_count / 2; i-- > 0;)
        sink(sort, i);
    return true;
}

/* Drops the row that was handed out last. */
static bool drop_row(struct trace_sort *sort, struct sim_error *error)
{
    struct run *run = &sort->runs[sort->heap[0]];
    bool more;
    run->begin += record_bytes(run->head.key_size);
    if (!load_head(sort, run, &more, error))
        return false;
    if (!more)
        sort->heap[0] = sort->heap[--sort->heap_count];
    if (sort->heap_count > 0)
        sink(sort, 0);
    return true;
}

bool trace_sort_next(struct trace_sort *sort, struct trace_row *out, uint64_t *line, bool *more,
                     struct sim_error *error)
{
    *more = false;
    if (sort->is_under_way && !drop_row(sort, error))
        return false;
    sort->is_under_way = sort->heap_count > 0;
    if (!sort->is_under_way)
        return true;
    const struct run *run = &sort->runs[sort->heap[0]];
    *out = (struct trace_row){.time_ns = run->head.time_ns,
                              .late_ns = run->head.late_ns,
                              .key = run->window + run->begin + sizeof run->head,
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
    if (sort->file != -1)
        close(sort->file);
    for (size_t i = 0; i < sort->run_count; i++)
        free(sort->runs[i].window);
    free(sort->runs);
    free(sort->heap);
    free(sort->buffer);
    free(sort->items);
    free(sort);
}
