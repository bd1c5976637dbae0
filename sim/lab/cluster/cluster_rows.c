/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the cluster engine: those of a synthetic workload are drawn when they are needed. A trace is
 * loaded completely, key by key, because rows of all keys must come in the order of their times. */
#include "lab/cluster_engine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/random.h"
#include "lab/context.h"
#include "lab/scenario.h"
#include "workload/trace.h"

/* The most rows of a trace in memory: 32 GiB. */
#define ROWS_MAX (UINT64_C(1) << 30)

/* The number of rows between two checks for a stop. */
#define ROWS_A_LOOK 65536u

struct trace_key {
    char *name;
    size_t name_size;
    uint64_t entity;
    struct lab_arrival *rows;
    size_t count, capacity;
};

struct lab_rows {
    const struct lab_scenario *scenario;
    bool is_trace, has_counts;
    int64_t start_ns, end_ns;
    uint32_t key_count;
    struct trace_key *keys; /* of a trace */
    size_t key_capacity;
    uint64_t row_count;
};

static bool add_key(struct lab_rows *rows, const struct wl_trace *trace, uint32_t key,
                    struct sim_error *error)
{
    if (!sim_grow(&rows->keys, &rows->key_capacity, rows->key_count + 1, sizeof *rows->keys))
        return sim_fail_memory(error);
    size_t size;
    const char *text = wl_trace_key(trace, key, &size);
    char *name = malloc(size);
    if (name == NULL)
        return sim_fail_memory(error);
    memcpy(name, text, size);
    rows->keys[rows->key_count++] =
        (struct trace_key){.name = name, .name_size = size, .entity = bk_murmur3_128(text, size, 0).h1};
    return true;
}

static bool add_line(struct lab_rows *rows, const struct wl_trace_batch *line,
                     const struct lab_run_context *context, struct sim_error *error)
{
    struct trace_key *key = &rows->keys[line->key_index];
    uint64_t begin, end;
    wl_trace_rows_between(line, rows->start_ns, rows->end_ns, &begin, &end);
    if (end - begin > ROWS_MAX - rows->row_count)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": with this line the trace has more than %" PRIu64
                        " rows, the most that the cluster engine holds; shorten 'duration', or remove "
                        "'agents'",
                        rows->scenario->trace_path, line->line, ROWS_MAX);
    for (uint64_t i = begin; i < end; i++) {
        if (rows->row_count % ROWS_A_LOOK == 0 && context != NULL && lab_run_is_stopped(context))
            return lab_fail_stopped(error);
        if (!sim_grow(&key->rows, &key->capacity, key->count + 1, sizeof *key->rows))
            return sim_fail_memory(error);
        key->rows[key->count++] = (struct lab_arrival){wl_trace_row_time(line, i), 0, line->bytes, 0};
        rows->row_count++;
    }
    return true;
}

static bool load_trace(struct lab_rows *rows, const struct lab_run_context *context, struct sim_error *error)
{
    const struct lab_scenario *scenario = rows->scenario;
    struct wl_trace *trace;
    if (!wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &trace, error))
        return false;
    rows->has_counts = !wl_trace_has_sizes(trace);
    bool ok = lab_check_trace_bytes(scenario, rows->has_counts, error), more = true;
    rows->start_ns = scenario->has_start ? scenario->workload.start_ns : INT64_MIN;
    rows->end_ns = INT64_MAX;
    if (scenario->has_start && scenario->workload.duration_ns > 0)
        rows->end_ns = rows->start_ns + scenario->workload.duration_ns;
    struct wl_trace_batch line;
    while (ok && more) {
        ok = wl_trace_next(trace, &line, &more, error);
        while (ok && more && line.key_index >= rows->key_count)
            ok = add_key(rows, trace, rows->key_count, error);
        if (ok && more) {
            if (rows->end_ns == INT64_MAX && scenario->workload.duration_ns > 0)
                rows->end_ns = line.time_ns + scenario->workload.duration_ns;
            ok = add_line(rows, &line, context, error);
        }
    }
    wl_trace_close(trace);
    if (ok && rows->row_count == 0)
        ok = sim_fail(error, SIM_ERROR_INPUT, "%s: no row is between start and start + duration; widen them",
                      scenario->trace_path);
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (uint32_t i = 0; ok && i < rows->key_count; i++) {
        const struct trace_key *key = &rows->keys[i];
        if (key->count > 0 && key->rows[0].time_ns < first_ns)
            first_ns = key->rows[0].time_ns;
        if (key->count > 0 && key->rows[key->count - 1].time_ns > last_ns)
            last_ns = key->rows[key->count - 1].time_ns;
    }
    rows->start_ns = scenario->has_start ? rows->start_ns : first_ns;
    rows->end_ns = rows->end_ns < INT64_MAX ? rows->end_ns : last_ns;
    return ok;
}

bool lab_rows_create(const struct lab_scenario *scenario, const struct lab_run_context *context,
                     struct lab_rows **out, struct sim_error *error)
{
    *out = NULL;
    struct lab_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return sim_fail_memory(error);
    rows->scenario = scenario;
    rows->is_trace = scenario->trace_path != NULL;
    if (rows->is_trace) {
        if (!load_trace(rows, context, error)) {
            lab_rows_destroy(rows);
            return false;
        }
    } else {
        rows->key_count = (uint32_t)scenario->workload.key_count;
        rows->start_ns = scenario->workload.start_ns;
        rows->end_ns = rows->start_ns + scenario->workload.duration_ns;
    }
    *out = rows;
    return true;
}

void lab_rows_destroy(struct lab_rows *rows)
{
    if (rows == NULL)
        return;
    for (uint32_t i = 0; rows->keys != NULL && i < rows->key_count; i++) {
        free(rows->keys[i].name);
        free(rows->keys[i].rows);
    }
    free(rows->keys);
    free(rows);
}

uint32_t lab_rows_key_count(const struct lab_rows *rows)
{
    return rows->key_count;
}

void lab_rows_key_name(const struct lab_rows *rows, uint32_t key, char *buffer, size_t size)
{
    assert(size >= WL_KEY_NAME_SIZE);
    if (rows->is_trace)
        snprintf(buffer, size, "%.*s", (int)rows->keys[key].name_size, rows->keys[key].name);
    else
        wl_key_name(key, buffer);
}

size_t lab_rows_key_size(const struct lab_rows *rows, uint32_t key)
{
    char name[WL_KEY_NAME_SIZE];
    if (rows->is_trace)
        return rows->keys[key].name_size;
    wl_key_name(key, name);
    return strlen(name);
}

uint64_t lab_rows_key_entity(const struct lab_rows *rows, uint32_t key)
{
    return rows->is_trace ? rows->keys[key].entity : key;
}

double lab_rows_key_share(const struct lab_rows *rows, uint32_t key)
{
    if (rows->is_trace)
        return (double)rows->keys[key].count / (double)rows->row_count;
    return sim_zipf_share(&rows->scenario->workload.popularity, key);
}

void lab_rows_span(const struct lab_rows *rows, int64_t *start_ns, int64_t *end_ns)
{
    *start_ns = rows->start_ns;
    *end_ns = rows->end_ns;
}

int64_t lab_rows_early_ns(const struct lab_rows *rows, uint32_t key, uint64_t row)
{
    const struct wl_workload *workload = &rows->scenario->workload;
    struct sim_random draws;
    if (workload->early_share <= 0)
        return 0;
    sim_random_init(&draws, workload->seed ^ lab_rows_key_entity(rows, key), SIM_EARLY, row);
    if (sim_random_unit(&draws) >= workload->early_share)
        return 0;
    double means = sim_exponential(&draws);
    return (int64_t)((means < WL_LATE_MEANS_MAX ? means : WL_LATE_MEANS_MAX) *
                     (double)workload->early_mean_ns);
}

SIM_OUT_OF_LINE static bool draw_ahead(const struct lab_rows *rows, uint32_t key, struct lab_cursor *cursor)
{
    const struct wl_workload *workload = &rows->scenario->workload;
    cursor->ahead_begin = cursor->ahead_end = 0;
    if (rows->is_trace) {
        const struct trace_key *trace = &rows->keys[key];
        if (!cursor->is_open) {
            sim_random_init(&cursor->ids, workload->seed, SIM_ROW_ID, trace->entity);
            sim_random_init(&cursor->bytes, workload->seed, SIM_ROW_BYTES, trace->entity);
            cursor->is_open = true;
        }
        while (cursor->ahead_end < LAB_ROWS_AHEAD && cursor->next < trace->count) {
            struct lab_arrival *row = &cursor->ahead[cursor->ahead_end++];
            *row = trace->rows[cursor->next++];
            row->id = sim_random_next(&cursor->ids);
            if (rows->has_counts)
                wl_row_sizes(workload, &cursor->bytes, &row->bytes, 1);
        }
        return cursor->ahead_end > 0;
    }
    if (!cursor->is_open) {
        wl_rows_init(&cursor->made, workload, key);
        cursor->is_open = true;
    }
    int64_t times_ns[LAB_ROWS_AHEAD], late_ns[LAB_ROWS_AHEAD];
    uint64_t ids[LAB_ROWS_AHEAD], bytes[LAB_ROWS_AHEAD];
    const struct wl_columns columns = {times_ns, ids, bytes, wl_has_late(workload) ? late_ns : NULL};
    size_t count = wl_rows_next(&cursor->made, rows->end_ns, LAB_ROWS_AHEAD, &columns);
    for (size_t i = 0; i < count; i++)
        cursor->ahead[i] =
            (struct lab_arrival){times_ns[i], ids[i], bytes[i], columns.late_ns == NULL ? 0 : late_ns[i]};
    cursor->ahead_end = (uint32_t)count;
    return count > 0;
}

bool lab_rows_next(const struct lab_rows *rows, uint32_t key, struct lab_cursor *cursor,
                   struct lab_arrival *out)
{
    if (cursor->ahead_begin == cursor->ahead_end && !draw_ahead(rows, key, cursor))
        return false;
    *out = cursor->ahead[cursor->ahead_begin++];
    return true;
}
