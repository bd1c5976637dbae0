/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts rows on disk: runs from a buffer by qsort(), merged through a binary heap (Knuth, TAOCP 5.4.1). A run
 * is read through a window of its own.
 *
 *   record: | head: time, order, line, value, key size | key bytes | up to a multiple of 8 |
 */
#include "trace_sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "trace_merge.h"
#include "trace_spill.h"

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
