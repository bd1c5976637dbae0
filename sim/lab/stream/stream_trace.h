/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of the stream engine over a trace. */
#ifndef LAB_STREAM_TRACE_H
#define LAB_STREAM_TRACE_H

#include "stream.h"
#include "workload/trace_lines.h"

struct lab_trace_run {
    const struct lab_scenario *scenario;
    const struct lab_run_context *context;
    struct lab_worker *worker;
    struct wl_trace *trace; /* has the keys */
    struct wl_trace_lines *lines;
    bool has_counts;
    uint64_t line_count; /* that were read, for the progress */
    /* After the first pass. */
    uint64_t *key_rows;
    size_t key_rows_capacity;
    uint64_t rows;
    int64_t first_ns, last_ns;     /* of the rows in the window */
    int64_t begin_ns, until_ns;    /* the window; INT64_MIN and INT64_MAX when open */
    struct lab_stream_result *out; /* takes the weeks */
    /* In the second: the key under way, or the one to begin with. */
    size_t key_index;
    bool is_under_way;
    struct lab_key key;
    struct sim_random ids, bytes;
    struct lab_lane *lanes;
    size_t filled; /* rows of it in the worker's columns, which it has not had */
    /* The line under way: its rows before `row` are there, those from `row_end` on lie behind the window. */
    struct wl_trace_batch line;
    uint64_t row, row_end;
};

/* After the first pass: when the run begins and ends, and what the key is read like. */
int64_t lab_trace_start(const struct lab_trace_run *run);
int64_t lab_trace_end(const struct lab_trace_run *run);
struct lab_key_origin lab_trace_origin(const struct lab_trace_run *run, size_t key_index);

/* stream_trace_archive.c: puts the state between two batches of rows or reads, if anybody keeps any. */
void lab_trace_put(struct lab_trace_run *run);
/* After the first pass, when the worker has started. */
bool lab_trace_load(struct lab_trace_run *run, struct sim_archive *archive, struct sim_error *error);

#endif
