/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine with a trace. The file is read once to find each key's share of the rows, on which its
 * reads depend, and the end of the run, so an invalid line is found before anything else is done. At the same
 * time, the lines are sorted by key (workload/trace.h). Then the keys are processed one after the
 * other. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/scenario.h"
#include "stream.h"
#include "workload/trace.h"

#define PROGRESS_LINES 4096u

/* The key after the last line. */
#define NO_KEY UINT32_MAX

/* The time for a row relative to that for reading a byte of the file, for the progress bar. */
#define ROW_WORK 16

struct lab_trace_run {
    const struct lab_scenario *scenario;
    const struct lab_run_context *context;
    const struct cass_ring *ring;
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
    uint64_t key_index;
    uint32_t heard; /* the last wish for a partial result */
    struct lab_key key;
    struct sim_random ids, bytes;
    size_t filled; /* number of its rows in the worker's columns that were not added yet */
    /* The current line: its rows before `row` were added; those from `row_end` on are after the window. */
    struct wl_trace_batch line;
    uint64_t row, row_end;
};

/* A pipe would be empty when it is read a second time, or block without end. */
static bool check_file(const char *path, struct sim_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        return true; /* other errors are reported when the file is opened */
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:1: trace is a pipe or a device, and it is read twice; save it as a file", path);
}

static bool count_line(struct lab_trace_run *run, const struct wl_trace_batch *line, struct sim_error *error)
{
    if (line->key_index >= run->key_rows_capacity) {
        size_t before = run->key_rows_capacity;
        if (!sim_grow(&run->key_rows, &run->key_rows_capacity, line->key_index + 1, sizeof *run->key_rows))
            return sim_fail_memory(error);
        memset(run->key_rows + before, 0, (run->key_rows_capacity - before) * sizeof *run->key_rows);
    }
    /* Without `start`, the window begins with the first row of the file. That may not be the row of this
     * line, because a line with a count is returned only after the next line of its key was read. */
    int64_t duration_ns = run->scenario->workload.duration_ns;
    if (run->until_ns == INT64_MAX && duration_ns > 0 && line->rows > 0) {
        int64_t first_ns = wl_trace_first_ns(run->trace);
        if (first_ns < INT64_MAX - duration_ns)
            run->until_ns = first_ns + duration_ns;
    }
    uint64_t begin, end;
    wl_trace_rows_between(line, run->begin_ns, run->until_ns, &begin, &end);
    if (begin == end)
        return true;
    int64_t first_ns = wl_trace_row_time(line, begin), last_ns = wl_trace_row_time(line, end - 1);
    if (run->rows == 0 || first_ns < run->first_ns)
        run->first_ns = first_ns;
    if (run->rows == 0 || last_ns > run->last_ns)
        run->last_ns = last_ns;
    run->rows += end - begin;
    run->key_rows[line->key_index] += end - begin;
    return wl_trace_lines_put(run->lines, line, error);
}

static void tell_progress(const struct lab_trace_run *run, bool is_first)
{
    struct lab_progress *progress = run->context->progress;
    uint64_t bytes, all;
    wl_trace_progress(run->trace, &bytes, &all);
    /* Estimates the rows of all lines from those that were read. */
    double rows = (double)run->rows * (is_first && bytes > 0 ? (double)all / (double)bytes : 1);
    double done = is_first ? (double)bytes : (double)all + ROW_WORK * (double)run->worker->rows;
    atomic_store_explicit(&progress->total, (uint64_t)((double)all + ROW_WORK * rows), memory_order_relaxed);
    atomic_store_explicit(&progress->done, (uint64_t)done, memory_order_relaxed);
    atomic_store_explicit(&progress->rows, run->worker->rows, memory_order_relaxed);
}

/* Reports progress for a line that was read. Returns false if the run must stop or on an error. */
static bool tick_line(struct lab_trace_run *run, struct sim_error *error)
{
    if (run->line_count++ % PROGRESS_LINES != 0)
        return true;
    if (lab_worker_is_stopped(run->worker))
        return lab_fail_stopped(error);
    if (run->context->progress != NULL)
        tell_progress(run, true);
    return true;
}

/* Reports progress at a safe point, while rows are processed. */
static bool tick(struct lab_trace_run *run, struct sim_error *error)
{
    if (lab_worker_is_stopped(run->worker))
        return lab_fail_stopped(error);
    if (run->context->progress != NULL)
        tell_progress(run, false);
    return true;
}

static bool first_pass(struct lab_trace_run *run, struct sim_error *error)
{
    const struct lab_scenario *scenario = run->scenario;
    if (!wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &run->trace, error))
        return false;
    run->has_counts = !wl_trace_has_sizes(run->trace);
    if (!lab_check_trace_bytes(scenario, run->has_counts, error))
        return false;
    run->lines = wl_trace_lines_create(scenario->trace_path, wl_trace_has_counts(run->trace));
    if (run->lines == NULL)
        return sim_fail_memory(error);
    struct wl_trace_batch line;
    bool more = true;
    while (more) {
        if (!wl_trace_next(run->trace, &line, &more, error) || (more && !count_line(run, &line, error)) ||
            !tick_line(run, error))
            return false;
    }
    if (run->rows == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no row is between start and start + duration; widen them", scenario->trace_path);
    return wl_trace_lines_turn(run->lines, error);
}

static bool next_line(struct lab_trace_run *run, struct sim_error *error)
{
    bool more;
    if (!wl_trace_lines_next(run->lines, &run->line, &more, error))
        return false;
    run->row = run->row_end = 0;
    if (!more) {
        run->line.key_index = NO_KEY;
        return true;
    }
    const struct lab_stream_result *out = run->out;
    wl_trace_rows_between(&run->line, run->begin_ns, run->until_ns, &run->row, &run->row_end);
    if (out->week_count > 0)
        wl_trace_slot_rows(&run->line, out->end_ns - (int64_t)out->week_count * SIM_WEEK, SIM_WEEK,
                           out->weeks, out->week_count);
    return true;
}

/* The tallies of the keys so far. */
static struct lab_stream_result sum_of(const struct lab_trace_run *run)
{
    return (struct lab_stream_result){
        .tallies = run->worker->tallies, .rows = run->worker->rows, .keys = run->worker->keys};
}

/* Loads the partial result, if there is one, and skips the lines of its keys. */
static bool pass_keys(struct lab_trace_run *run, struct sim_error *error)
{
    const struct lab_partial *partial = run->context->partial;
    if (partial != NULL && partial->kept != NULL) {
        struct lab_stream_result sum = sum_of(run);
        if (!lab_partial_load(partial, run->scenario, run->ring, &sum, &run->key_index, 1, error))
            return false;
        run->worker->rows = sum.rows;
        run->worker->keys = sum.keys;
    }
    if (!next_line(run, error))
        return false;
    while (run->line.key_index < run->key_index) {
        if (!next_line(run, error) || !tick_line(run, error))
            return false;
    }
    return true;
}

/* Between two keys: puts the partial result if it is requested. */
static void put_if_asked(struct lab_trace_run *run)
{
    if (!lab_partial_is_asked(run->context->partial, run->heard))
        return;
    struct lab_partial *partial = run->context->partial;
    struct lab_stream_result sum = sum_of(run);
    run->heard = atomic_load_explicit(&partial->wish, memory_order_relaxed);
    lab_partial_put(partial, run->scenario, run->ring, &sum, &run->key_index, 1);
}

static void begin_key(struct lab_trace_run *run, const struct lab_key_name *name)
{
    const struct lab_scenario *scenario = run->scenario;
    const uint64_t entity = bk_murmur3_128(name->text, name->size, 0).h1;
    uint64_t rows = run->key_index < run->key_rows_capacity ? run->key_rows[run->key_index] : 0;
    const double share = (double)rows / (double)run->rows;
    sim_random_init(&run->ids, scenario->seed, SIM_ROW_ID, entity);
    sim_random_init(&run->bytes, scenario->seed, SIM_ROW_BYTES, entity);
    lab_key_begin(&run->key, name, entity, share, run->out->start_ns);
}

/* Copies more of the key's rows to the worker's columns, until they are full or the key has no more rows. */
static bool fill_columns(struct lab_trace_run *run, struct sim_error *error)
{
    struct lab_worker *worker = run->worker;
    const struct wl_trace_batch *line = &run->line;
    while (run->filled < LAB_BATCH_ROWS && line->key_index == run->key_index) {
        for (; run->row < run->row_end && run->filled < LAB_BATCH_ROWS; run->row++, run->filled++) {
            worker->times_ns[run->filled] = wl_trace_row_time(line, run->row);
            worker->late_ns[run->filled] = line->late_ns;
            worker->bytes[run->filled] = line->bytes;
        }
        if (run->row == run->row_end && !next_line(run, error))
            return false;
    }
    return true;
}

/* Processes the rows in the columns, or fewer if there are many reads between them; the remaining rows are
 * moved to the front. */
static void feed_rows(struct lab_trace_run *run)
{
    struct lab_worker *worker = run->worker;
    size_t count = lab_key_batch_rows(&run->key, worker->times_ns, run->filled);
    for (size_t i = 0; i < count; i++)
        worker->ids[i] = sim_random_next(&run->ids);
    size_t left = run->filled - count;
    if (run->has_counts)
        wl_row_sizes(&run->scenario->workload, &run->bytes, worker->bytes, count);
    lab_key_rows(&run->key, count, 0);
    memmove(worker->times_ns, worker->times_ns + count, left * sizeof *worker->times_ns);
    memmove(worker->late_ns, worker->late_ns + count, left * sizeof *worker->late_ns);
    memmove(worker->bytes, worker->bytes + count, left * sizeof *worker->bytes);
    run->filled = left;
}

static bool work_on_key(struct lab_trace_run *run, int64_t end_ns, struct sim_error *error)
{
    struct lab_worker *worker = run->worker;
    struct lab_key_name name = {.index = run->key_index};
    name.text = wl_trace_key(run->trace, (uint32_t)run->key_index, &name.size);
    begin_key(run, &name);
    for (;;) {
        if (!fill_columns(run, error))
            return false;
        bool has_rows = run->filled > 0;
        bool is_read = lab_key_reads(&run->key, has_rows ? worker->times_ns[0] : end_ns);
        if (!is_read && !has_rows)
            break;
        if (!is_read)
            feed_rows(run);
        if (!tick(run, error))
            return false;
    }
    lab_key_end(&run->key, end_ns);
    if (!tick(run, error))
        return false;
    run->key_index++;
    put_if_asked(run);
    return true;
}

static bool begin_weeks(struct lab_stream_result *out)
{
    size_t count = (size_t)(((uint64_t)out->end_ns - (uint64_t)out->start_ns) / (uint64_t)SIM_WEEK);
    out->weeks = calloc(count + 1, sizeof *out->weeks);
    out->week_count = out->weeks == NULL ? 0 : count;
    return out->weeks != NULL;
}

static bool second_pass(struct lab_trace_run *run, int64_t end_ns, struct sim_error *error)
{
    if (!pass_keys(run, error))
        return false;
    while (run->key_index < wl_trace_key_count(run->trace)) {
        if (!work_on_key(run, end_ns, error))
            return false;
    }
    return true;
}

bool lab_stream_trace(const struct lab_scenario *scenario, const struct cass_ring *ring,
                      const struct lab_run_context *context, struct lab_stream_result *out,
                      struct sim_error *error)
{
    memset(out, 0, sizeof *out);
    struct lab_trace_run run = {
        .scenario = scenario,
        .context = context,
        .ring = ring,
        .out = out,
        .begin_ns = scenario->has_start ? scenario->workload.start_ns : INT64_MIN,
        .until_ns = INT64_MAX,
    };
    if (scenario->has_start && scenario->workload.duration_ns > 0)
        run.until_ns = run.begin_ns + scenario->workload.duration_ns;
    bool ok = check_file(scenario->trace_path, error) &&
              lab_worker_create(scenario, ring, context, &run.worker, error) && first_pass(&run, error);
    ok = ok && (lab_key_init(&run.key, run.worker) || sim_fail_memory(error));
    if (ok) {
        out->start_ns = scenario->has_start ? run.begin_ns : run.first_ns;
        out->end_ns = run.until_ns < INT64_MAX ? run.until_ns : run.last_ns;
        run.worker->end_ns = out->end_ns;
        ok = lab_check_walks(scenario, out->start_ns, out->end_ns, error) &&
             (begin_weeks(out) || sim_fail_memory(error)) &&
             lab_worker_start(run.worker, out->start_ns, error) && second_pass(&run, out->end_ns, error);
    }
    if (ok) {
        out->rows = run.worker->rows;
        out->keys = run.worker->keys;
        out->tallies = run.worker->tallies;
        run.worker->tallies = NULL;
    } else {
        free(out->weeks);
        memset(out, 0, sizeof *out);
    }
    lab_key_clear(&run.key);
    free(run.key_rows);
    wl_trace_lines_destroy(run.lines);
    wl_trace_close(run.trace);
    lab_worker_destroy(run.worker);
    return ok;
}
