/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of the stream engine for a trace. */
#ifndef LAB_STREAM_TRACE_H
#define LAB_STREAM_TRACE_H

#include "stream.h"
#include "workload/trace_lines.h"

struct lab_trace_run {
    const struct lab_scenario *scenario;
    const struct lab_run_context *context;
    struct lab_worker *worker;
    struct wl_trace *trace; /* the trace, which has the keys */
    struct wl_trace_lines *lines;
    bool has_counts;
    uint64_t line_count; /* number of lines read, for the progress */
    /* Set by the first pass: */
    uint64_t *key_rows;
    size_t key_rows_capacity;
    uint64_t rows;
    int64_t first_ns, last_ns;     /* times of the first and last row in the window */
    int64_t begin_ns, until_ns;    /* the window; INT64_MIN and INT64_MAX when open */
    struct lab_stream_result *out; /* gets the rows per week */
    /* In the second pass: the current key, or the next one to begin. */
    size_t key_index;
    bool is_under_way;
    struct lab_key key;
    struct sim_random ids, bytes;
    struct lab_lane *lanes;
    size_t filled; /* number of its rows in the worker's columns that were not added yet */
    /* The current line: its rows before `row` were added; those from `row_end` on are after the window. */
    struct wl_trace_batch line;
    uint64_t row, row_end;
};

/* Valid after the first pass: start and end of the run, and the origin of a key. */
int64_t lab_trace_start(const struct lab_trace_run *run);
int64_t lab_trace_end(const struct lab_trace_run *run);
struct lab_key_origin lab_trace_origin(const struct lab_trace_run *run, size_t key_index);

/* stream_trace_archive.c: saves the state, between two batches of rows or reads, if snapshots are stored. */
void lab_trace_put(struct lab_trace_run *run);
/* Loads a state; must be called after the first pass, when the worker has started. */
bool lab_trace_load(struct lab_trace_run *run, struct sim_archive *archive, struct sim_error *error);

#endif
