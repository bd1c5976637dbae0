/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads CSV files record by record, as cqlsh and most tools write them. */
#define _POSIX_C_SOURCE 200809L
#include "workload/csv.h"

#include <stdlib.h>
#include <string.h>

#include "csv_record.h"

struct wl_csv {
    struct trace_reader reader;
    struct csv_dialect dialect;
    struct csv_records records;
    char *path;
};

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
    const char *bytes;
    size_t size;
    if (!trace_reader_open_as(csv->path, what, &csv->reader, error) ||
        !trace_reader_peek(&csv->reader, &bytes, &size, error)) {
        wl_csv_close(csv);
        return false;
    }
    csv->dialect = csv_sniff(bytes, size);
    csv->dialect.has_backslash = true;
    *out = csv;
    return true;
}

bool wl_csv_next(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error)
{
    return csv_records_next(&csv->records, &csv->reader, &csv->dialect, out, error);
}

void wl_csv_close(struct wl_csv *csv)
{
    if (csv == NULL)
        return;
    trace_reader_close(&csv->reader);
    free(csv->path);
    csv_records_free(&csv->records);
    free(csv);
}
