/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes records apart. A record is read into one buffer, line by line until its quotes are closed; its fields
 * lie there one behind the other, each with its end. */
#define _POSIX_C_SOURCE 200809L
#include "workload/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "trace_reader.h"

#define RECORD_BYTES (16u << 20) /* a record at most: one open quote takes the whole file otherwise */

struct wl_csv {
    struct trace_reader reader;
    char *path, *buffer;
    size_t size, capacity;
    size_t begins[WL_CSV_FIELDS_MAX + 1]; /* of the fields in the buffer */
};

static bool put(struct wl_csv *csv, char c, struct sim_error *error)
{
    if (!sim_grow(&csv->buffer, &csv->capacity, csv->size + 1, 1))
        return sim_fail_memory(error);
    csv->buffer[csv->size++] = c;
    return true;
}

static bool end_field(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error)
{
    if (out->count == WL_CSV_FIELDS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": more than %u fields; leave columns out",
                        csv->path, out->line, WL_CSV_FIELDS_MAX);
    out->sizes[out->count] = csv->size - csv->begins[out->count];
    out->count++;
    if (!put(csv, '\0', error))
        return false;
    csv->begins[out->count] = csv->size;
    return true;
}

static bool is_escape(const char *line, size_t size, size_t at)
{
    return line[at] == '\\' && at + 1 < size &&
           (line[at + 1] == '"' || line[at + 1] == '\\' || line[at + 1] == ',');
}

/* One line of the record; *is_quoted: whether it ends within quotes. */
static bool take_line(struct wl_csv *csv, const char *line, size_t size, bool *is_quoted,
                      struct wl_csv_record *out, struct sim_error *error)
{
    bool was_quoted = false;
    for (size_t i = 0; i < size; i++) {
        bool is_first = csv->size == csv->begins[out->count] && !was_quoted, ok = true;
        if (is_escape(line, size, i)) {
            ok = put(csv, line[++i], error);
        } else if (line[i] == '"' && *is_quoted && i + 1 < size && line[i + 1] == '"') {
            ok = put(csv, line[++i], error);
        } else if (line[i] == '"' && (*is_quoted || is_first)) {
            *is_quoted = !*is_quoted;
            was_quoted = true;
        } else if (line[i] == ',' && !*is_quoted) {
            ok = end_field(csv, out, error);
            was_quoted = false;
        } else if (was_quoted && !*is_quoted) {
            ok = sim_fail(error, SIM_ERROR_INPUT,
                          "%s:%" PRIu64
                          ": text behind a quote that was closed; double the quotes within a field",
                          csv->path, csv->reader.line);
        } else {
            ok = put(csv, line[i], error);
        }
        if (!ok)
            return false;
    }
    return true;
}

bool wl_csv_open(const char *path, const char *what, struct wl_csv **out, struct sim_error *error)
{
    struct wl_csv *csv = calloc(1, sizeof *csv);
    *out = NULL;
    if (csv == NULL)
        return sim_fail_memory(error);
    csv->path = strdup(path);
    if (csv->path == NULL) {
        free(csv);
        return sim_fail_memory(error);
    }
    if (!trace_reader_open_as(csv->path, what, &csv->reader, error)) {
        wl_csv_close(csv);
        return false;
    }
    *out = csv;
    return true;
}

bool wl_csv_next(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error)
{
    char *line;
    size_t size;
    out->count = 0;
    csv->size = csv->begins[0] = 0;
    do {
        if (!trace_reader_next(&csv->reader, &line, &size, error))
            return false;
    } while (line != NULL && size == 0);
    out->line = csv->reader.line;
    if (line == NULL)
        return true;
    bool is_quoted = false;
    while (take_line(csv, line, size, &is_quoted, out, error)) {
        if (!is_quoted) {
            bool ok = end_field(csv, out, error);
            for (size_t i = 0; i < out->count; i++)
                out->fields[i] = csv->buffer + csv->begins[i];
            return ok;
        }
        if (!put(csv, '\n', error) || !trace_reader_next(&csv->reader, &line, &size, error))
            return false;
        if (line == NULL || csv->size > RECORD_BYTES)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%" PRIu64
                            ": a quote that is never closed; close it, or double it within a field",
                            csv->path, out->line);
    }
    return false;
}

void wl_csv_close(struct wl_csv *csv)
{
    if (csv == NULL)
        return;
    trace_reader_close(&csv->reader);
    free(csv->path);
    free(csv->buffer);
    free(csv);
}
