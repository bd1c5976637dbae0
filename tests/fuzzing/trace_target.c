/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace reader, uncompressed, gzip and zstd, in the plain format and by columns: any bytes are a trace
 * whose rows are in the order of time within each key, or give an error of one line. */
#include "fuzzing.h"
#include "workload/trace.h"

#define ROWS_LOOKED_AT 100

static void look(const struct wl_trace *trace, const struct wl_trace_batch *batch)
{
    size_t size;
    fuzzing_require(batch->key_index < wl_trace_key_count(trace), "a row's key is known");
    const char *key = wl_trace_key(trace, batch->key_index, &size);
    fuzzing_require(key != NULL && size > 0, "a key has a name");
    int64_t before_ns = batch->time_ns;
    for (uint64_t i = 0; i < batch->rows && i < ROWS_LOOKED_AT; i++) {
        int64_t time_ns = wl_trace_row_time(batch, i);
        fuzzing_require(time_ns >= before_ns, "rows come in order");
        before_ns = time_ns;
    }
}

static void read_as(const char *path, const struct wl_trace_format *format)
{
    struct wl_trace *trace;
    struct sim_error error = {0};
    if (!wl_trace_open_as(path, format, &trace, &error)) {
        fuzzing_require(trace == NULL, "a refused trace is none");
        fuzzing_require_error(&error);
        return;
    }
    struct wl_trace_batch batch;
    bool more = true;
    while (more) {
        if (!wl_trace_next(trace, &batch, &more, &error)) {
            fuzzing_require_error(&error);
            break;
        }
        if (more)
            look(trace, &batch);
    }
    uint64_t read_bytes, all_bytes;
    wl_trace_progress(trace, &read_bytes, &all_bytes);
    fuzzing_require(read_bytes <= all_bytes, "no more is read than there is");
    fuzzing_require(wl_trace_text(trace)[0] != '\0', "a trace says how it is read");
    wl_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char one[] = "1", two[] = "2", three[] = "3", t[] = "t", k[] = "k.i";
    const struct wl_trace_format formats[] = {
        {.sort = false},
        {.columns =
             {.time = one, .key = {two, three}, .key_count = 2, .bytes_of = {three}, .bytes_of_count = 1},
         .sort = true},
        {.columns = {.time = one, .time_of_day = two, .key = {three}, .key_count = 1}},
        {.columns = {.time = t, .key = {k}, .key_count = 1}, .layout = WL_LAYOUT_JSON},
    };
    const char *path = fuzzing_file(data, size);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        read_as(path, &formats[i]);
    return 0;
}
