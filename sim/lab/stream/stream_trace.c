/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine over a trace, read twice: first for each key's share of the rows, which its reads follow,
 * and for the end of the run (and so that a bad line is found before anything is done), then for the rows. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/grow.h"
#include "lab/runnable.h"
#include "stream_trace.h"

#define PROGRESS_LINES 4096u

/* From one safe point to the next, within one line. */
#define BATCHES_AT_ONCE 16u

/* How much longer a row takes than to read a byte of the file, for the progress bar. */
#define ROW_WORK 16

/* A pipe would be empty at the second reading, or wait for a writer for ever. */
static bool check_file(const char *path, struct sim_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        return true; /* what else is wrong with it, opening it tells */
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
    /* Without `start` the window begins with the file's first row. That need not be this line's: one with a
     * count comes out late, when the next of its key has been read. */
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
    return true;
}

static bool tick(struct lab_trace_run *run, bool is_second, struct sim_error *error)
{
    if (is_second && lab_worker_is_wanted(run->worker))
        lab_trace_put(run);
    if (lab_worker_is_stopped(run->worker))
        return lab_fail_stopped(error);
    if (run->context->progress == NULL || (run->lines++ % PROGRESS_LINES != 0 && run->row == run->row_end))
        return true;
    uint64_t bytes, all;
    wl_trace_progress(run->trace, &bytes, &all);
    /* The rows of all lines, guessed from those that were read. */
    double rows = (double)run->rows * (is_second || bytes == 0 ? 1 : (double)all / (double)bytes);
    double done =
        is_second ? (double)all + (double)bytes + ROW_WORK * (double)run->worker->rows : (double)bytes;
    atomic_store_explicit(&run->context->progress->total, (uint64_t)(2 * (double)all + ROW_WORK * rows),
                          memory_order_relaxed);
    atomic_store_explicit(&run->context->progress->done, (uint64_t)done, memory_order_relaxed);
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
    struct wl_trace_batch line;
    bool more = true;
    while (more) {
        if (!wl_trace_next(run->trace, &line, &more, error) || (more && !count_line(run, &line, error)) ||
            !tick(run, false, error))
            return false;
    }
    if (run->rows == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no row lies between start and start + duration; widen them",
                        scenario->trace_path);
    return true;
}

/* Keys come in the order of their first appearance in the file, also when a later line is given out first. */
static bool begin_key(struct lab_trace_run *run, uint32_t key_index, struct sim_error *error)
{
    size_t lane_count = run->worker->lane_count;
    if (run->key_count == run->key_capacity) {
        size_t capacity = run->key_capacity == 0 ? 64 : run->key_capacity * 2;
        struct lab_trace_key *keys = realloc(run->keys, capacity * sizeof *keys);
        if (keys != NULL)
            run->keys = keys;
        struct lab_lane *lanes = realloc(run->lanes, capacity * lane_count * sizeof *lanes);
        if (lanes != NULL)
            run->lanes = lanes;
        if (keys == NULL || lanes == NULL)
            return sim_fail_memory(error);
        run->key_capacity = capacity;
    }
    const struct lab_key_origin origin = lab_trace_origin(run, key_index);
    const struct lab_scenario *scenario = run->scenario;
    struct lab_trace_key *key = &run->keys[key_index];
    sim_random_init(&key->ids, scenario->seed, SIM_ROW_ID, origin.entity);
    sim_random_init(&key->bytes, scenario->seed, SIM_ROW_BYTES, origin.entity);
    memset(&key->key, 0, sizeof key->key);
    lab_key_begin(&key->key, scenario, origin.entity, origin.share, origin.start_ns);
    memset(&run->lanes[key_index * lane_count], 0, lane_count * sizeof *run->lanes);
    lab_lanes_begin(&run->lanes[key_index * lane_count], run->worker, origin.share, origin.start_ns);
    run->key_count++;
    return true;
}

static bool next_line(struct lab_trace_run *run, bool *more, struct sim_error *error)
{
    if (!wl_trace_next(run->trace, &run->line, more, error))
        return false;
    run->row = run->row_end = 0;
    if (!*more)
        return true;
    while (run->line.key_index >= run->key_count) {
        if (!begin_key(run, (uint32_t)run->key_count, error))
            return false;
    }
    wl_trace_rows_between(&run->line, run->begin_ns, run->until_ns, &run->row, &run->row_end);
    return true;
}

/* Some rows of the line, or some reads before the next of them: as many as take a moment. */
static void feed_rows(struct lab_trace_run *run)
{
    const struct wl_trace_batch *line = &run->line;
    struct lab_worker *worker = run->worker;
    struct lab_trace_key *key = &run->keys[line->key_index];
    struct lab_lane *lanes = &run->lanes[line->key_index * worker->lane_count];
    struct lab_key_name name = {.index = line->key_index};
    for (unsigned batch = 0; batch < BATCHES_AT_ONCE && run->row < run->row_end; batch++) {
        if (lab_key_reads(&key->key, lanes, worker, wl_trace_row_time(line, run->row)))
            return;
        uint64_t left = run->row_end - run->row;
        size_t count = left < LAB_BATCH_ROWS ? (size_t)left : LAB_BATCH_ROWS;
        for (size_t i = 0; i < count; i++)
            worker->times_ns[i] = wl_trace_row_time(line, run->row + i);
        count = lab_key_batch_rows(&key->key, worker->times_ns, count);
        for (size_t i = 0; i < count; i++) {
            worker->late_ns[i] = line->late_ns;
            worker->ids[i] = sim_random_next(&key->ids);
            worker->bytes[i] = line->bytes;
        }
        if (run->has_counts)
            wl_row_sizes(&run->scenario->workload, &key->bytes, worker->bytes, count);
        name.text = wl_trace_key(run->trace, line->key_index, &name.size);
        lab_key_rows(&key->key, lanes, worker, &name, count, 0);
        run->row += count;
    }
    if (run->context->progress != NULL)
        atomic_store_explicit(&run->context->progress->rows, worker->rows, memory_order_relaxed);
}

/* From the beginning, or from a state that was kept. */
static bool second_pass(struct lab_trace_run *run, struct sim_archive *kept, struct sim_error *error)
{
    const struct lab_scenario *scenario = run->scenario;
    bool ok = kept == NULL
                  ? wl_trace_rewind(&run->trace, error)
                  : wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &run->trace, error) &&
                        lab_trace_load(run, kept, error);
    if (!ok)
        return false;
    bool more = true;
    while (more) {
        if (run->row == run->row_end && !next_line(run, &more, error))
            return false;
        feed_rows(run);
        if (!tick(run, true, error))
            return false;
    }
    return true;
}

/* First what is still read, key by key; then what is open is closed, which takes a moment. */
static bool finish_keys(struct lab_trace_run *run, int64_t end_ns, struct sim_error *error)
{
    size_t lane_count = run->worker->lane_count;
    for (size_t i = 0; i < run->key_count; i++) {
        while (lab_key_reads(&run->keys[i].key, &run->lanes[i * lane_count], run->worker, end_ns)) {
            if (!tick(run, true, error))
                return false;
        }
    }
    for (size_t i = 0; i < run->key_count; i++) {
        struct lab_key_name name = {.index = i};
        name.text = wl_trace_key(run->trace, (uint32_t)i, &name.size);
        lab_key_end(&run->keys[i].key, &run->lanes[i * lane_count], run->worker, &name, end_ns);
        if (lab_worker_is_abandoned(run->worker))
            return lab_fail_stopped(error);
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
        .begin_ns = scenario->has_start ? scenario->workload.start_ns : INT64_MIN,
        .until_ns = INT64_MAX,
    };
    if (scenario->has_start && scenario->workload.duration_ns > 0)
        run.until_ns = run.begin_ns + scenario->workload.duration_ns;
    struct sim_archive kept;
    bool is_kept = false;
    bool ok = check_file(scenario->trace_path, error) &&
              lab_worker_create(scenario, ring, context, &run.worker, error) &&
              lab_trace_find(&run, &kept, &is_kept, error) && (is_kept || first_pass(&run, error));
    if (ok) {
        out->start_ns = lab_trace_start(&run);
        out->end_ns = lab_trace_end(&run);
        run.worker->end_ns = out->end_ns;
        ok = lab_check_walks(scenario, out->start_ns, out->end_ns, error) &&
             lab_worker_start(run.worker, out->start_ns, error) &&
             second_pass(&run, is_kept ? &kept : NULL, error);
    }
    ok = ok && finish_keys(&run, out->end_ns, error);
    if (ok) {
        out->rows = run.worker->rows;
        out->keys = run.worker->keys;
        out->tallies = run.worker->tallies;
        run.worker->tallies = NULL;
    }
    for (size_t i = 0; i < run.key_count * scenario->strategy_count; i++)
        lab_lane_clear(&run.lanes[i]);
    free(run.lanes);
    for (size_t i = 0; i < run.key_count; i++)
        lab_key_clear(&run.keys[i].key);
    free(run.keys);
    free(run.key_rows);
    wl_trace_close(run.trace);
    lab_worker_destroy(run.worker);
    return ok;
}

int64_t lab_trace_start(const struct lab_trace_run *run)
{
    return run->scenario->has_start ? run->begin_ns : run->first_ns;
}

int64_t lab_trace_end(const struct lab_trace_run *run)
{
    return run->until_ns < INT64_MAX ? run->until_ns : run->last_ns;
}

struct lab_key_origin lab_trace_origin(const struct lab_trace_run *run, size_t key_index)
{
    size_t size;
    const char *text = wl_trace_key(run->trace, (uint32_t)key_index, &size);
    uint64_t rows = key_index < run->key_rows_capacity ? run->key_rows[key_index] : 0;
    return (struct lab_key_origin){run->scenario, bk_murmur3_128(text, size, 0).h1,
                                   (double)rows / (double)run->rows, lab_trace_start(run),
                                   lab_trace_end(run)};
}
