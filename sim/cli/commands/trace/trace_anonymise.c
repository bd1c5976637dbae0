/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a trace with numbers for keys. Lines with counts are returned late, key by key, so they are
 * collected and sorted; all others are written as they are read. */
#define _POSIX_C_SOURCE 200809L
#include "trace_anonymise.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "reports/output.h"
#include "workload/trace.h"

struct lines {
    struct wl_trace_batch *items;
    size_t count, capacity;
};

static int by_line(const void *one, const void *other)
{
    const struct wl_trace_batch *a = one, *b = other;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void write_line(FILE *stream, const struct wl_trace_batch *batch, uint64_t value)
{
    int64_t ms = batch->time_ns / SIM_MS - (batch->time_ns % SIM_MS < 0);
    fprintf(stream, "%" PRId64 ",%" PRIu32 ",%" PRIu64 "\n", ms, batch->key_index + 1, value);
}

static bool write_rows(struct wl_trace *trace, FILE *stream, struct sim_error *error)
{
    struct lines lines = {0};
    struct wl_trace_batch batch;
    bool has_sizes = wl_trace_has_sizes(trace), is_held = wl_trace_has_counts(trace), more = true, ok = true;
    fprintf(stream, "timestamp_ms,key,%s\n", has_sizes ? "bytes" : "count");
    while (ok && more) {
        ok = wl_trace_next(trace, &batch, &more, error);
        if (!ok || !more)
            break;
        if (!is_held) {
            write_line(stream, &batch, has_sizes ? batch.bytes : 1);
        } else if (sim_grow(&lines.items, &lines.capacity, lines.count + 1, sizeof *lines.items)) {
            lines.items[lines.count++] = batch;
        } else {
            ok = sim_fail_memory(error);
        }
    }
    if (ok && lines.count > 0)
        qsort(lines.items, lines.count, sizeof *lines.items, by_line);
    for (size_t i = 0; ok && i < lines.count; i++)
        write_line(stream, &lines.items[i], lines.items[i].rows);
    free(lines.items);
    return ok;
}

static bool fail_file(const char *path, int code, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: cannot be written (%s); free space there, or name another file", path,
                    strerror(code));
}

static bool write_file(struct wl_trace *trace, const char *path, struct sim_error *error)
{
    struct report_partial output;
    int code = report_partial_open(&output, path, false);
    FILE *stream = code == 0 ? report_partial_stream(&output) : NULL;
    if (stream == NULL) {
        code = code == 0 ? errno : code;
        report_partial_end(&output, false);
        return fail_file(path, code, error);
    }
    bool ok = write_rows(trace, stream, error);
    code = fflush(stream) != 0 || ferror(stream) != 0 ? errno : 0;
    if (fclose(stream) != 0 && code == 0)
        code = errno;
    code = code != 0 ? code : report_partial_sync(&output);
    int ended = report_partial_end(&output, ok && code == 0);
    code = code != 0 ? code : ended;
    return ok && (code == 0 || fail_file(path, code, error));
}

bool trace_anonymise(const struct lab_scenario *scenario, const char *path, struct sim_error *error)
{
    struct wl_trace *trace;
    if (!wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &trace, error))
        return false;
    bool ok = strcmp(path, "-") == 0 ? write_rows(trace, stdout, error) : write_file(trace, path, error);
    wl_trace_close(trace);
    return ok;
}
