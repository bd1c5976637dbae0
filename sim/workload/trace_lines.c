/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts the lines of a trace by key. The lines in the buffer are sorted by counting and written as a run; the
 * runs are merged through a binary heap. In a run the lines of a key form a segment of numbers, each written
 * seven bits per byte, lowest bits first (LEB128):
 *
 *   segment: | key - key of the previous segment | number of lines | line | line ...
 *   line:    | time - time of the previous line | bytes or rows | step or lateness, if the run has any |
 *
 * Times are relative to the earliest time of the run, in ms if all times of the run are whole ms, otherwise
 * in ns. */
#include "workload/trace_lines.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "trace_merge.h"
#include "trace_spill.h"

#define NUMBER_BYTES_MOST  10u
#define RECORD_BYTES_MOST  (3 * NUMBER_BYTES_MOST)
#define LINES_LEAST        ((size_t)8 << 10)
#define RUNS_AT_THAT       128u /* after this number of runs, later runs have twice as many lines */
#define MEMORY_LEAST       ((size_t)1 << 20)
#define MEMORY_OF_KEY      64u
#define WINDOW_BYTES_LEAST ((size_t)4 << 10)
#define WINDOW_BYTES_MOST  ((size_t)64 << 10)
#define OUT_BYTES          4096u
#define AHEAD              16u /* lines that are prefetched before they are written */

struct line {
    int64_t time_ns;
    uint64_t value; /* bytes, or rows */
    uint64_t extra; /* the lateness, or the step */
    uint32_t key;
};

struct run {
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
    struct run *runs;
    size_t run_count, run_capacity, window_bytes;
    struct trace_merge
        merge; /* heap of runs: the run with the lowest key on top; of several, the first run */
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

static size_t put_line(const struct run *run, const struct line *line, uint64_t *time, char *out)
{
    uint64_t since = ((uint64_t)line->time_ns - (uint64_t)run->base_ns) / run->unit_ns;
    size_t size = put_number(out, since - *time);
    size += put_number(out + size, line->value);
    if (run->has_extra)
        size += put_number(out + size, line->extra);
    *time = since;
    return size;
}

static bool put_segments(struct wl_trace_lines *lines, const struct run *run, const uint32_t *order,
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
            filled += put_line(run, &lines->buffer[order[i]], &time, out + filled);
            if (filled < OUT_BYTES)
                continue;
            if (!trace_spill_put(&lines->spill, out, filled, error))
                return false;
            filled = 0;
        }
    }
    return filled == 0 || trace_spill_put(&lines->spill, out, filled, error);
}

/* Writes the buffer's lines as a run. */
static bool put_run(struct wl_trace_lines *lines, struct sim_error *error)
{
    uint32_t *order = NULL, *ends = NULL;
    if (lines->count == 0)
        return true;
    bool ok = (sim_grow(&lines->runs, &lines->run_capacity, lines->run_count + 1, sizeof *lines->runs) &&
               order_lines(lines, &order, &ends)) ||
              sim_fail_memory(error);
    if (ok) {
        struct run *run = &lines->runs[lines->run_count];
        *run = (struct run){.bytes.at = lines->spill.size,
                            .base_ns = lines->least_ns,
                            .unit_ns = lines->has_ns ? 1 : (uint64_t)SIM_MS,
                            .has_extra = lines->has_extra};
        lines->spill.memory_most = MEMORY_LEAST + (size_t)lines->key_count * MEMORY_OF_KEY;
        ok = put_segments(lines, run, order, ends, error);
        run->bytes.end = lines->spill.size;
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

/* Advances the run to its next segment; *more is false after the last one. */
static bool take_segment(const struct wl_trace_lines *lines, struct run *run, bool *more,
                         struct sim_error *error)
{
    if (!trace_spill_fill(&lines->spill, &run->bytes, lines->window_bytes, RECORD_BYTES_MOST, error))
        return false;
    *more = run->bytes.filled > run->bytes.begin;
    if (*more) {
        run->key += (uint32_t)take_number(&run->bytes);
        run->left = take_number(&run->bytes);
        run->time = 0;
    }
    return true;
}

static bool is_before(const void *owner, size_t one, size_t other)
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
    lines->window_bytes = share < WINDOW_BYTES_LEAST  ? WINDOW_BYTES_LEAST
                          : share > WINDOW_BYTES_MOST ? WINDOW_BYTES_MOST
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
    trace_merge_begin(&lines->merge, lines->run_count, is_before, lines);
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
        trace_merge_moved(&lines->merge, has_segment, is_before, lines);
    }
    if (lines->merge.count == 0)
        return true;
    struct run *run = &lines->runs[lines->merge.heap[0]];
    if (!trace_spill_fill(&lines->spill, &run->bytes, lines->window_bytes, RECORD_BYTES_MOST, error))
        return false;
    run->left--;
    run->time += take_number(&run->bytes);
    uint64_t value = take_number(&run->bytes), extra = run->has_extra ? take_number(&run->bytes) : 0;
    *out = (struct wl_trace_batch){.key_index = run->key,
                                   .time_ns = (int64_t)((uint64_t)run->base_ns + run->time * run->unit_ns),
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
