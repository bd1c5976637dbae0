/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the fields of one line of JSON Lines (https://jsonlines.org), which has one object per line. */
#ifndef WORKLOAD_TRACE_JSON_H
#define WORKLOAD_TRACE_JSON_H

#include "kernel/error.h"
#include "workload/csv_fields.h"

struct trace_json {
    char *buffer;
    size_t size, capacity;
};

/* Sets out->fields[i] to the value of names[i] as text with a final NUL, or to NULL when the value is missing
 * or null. A name is that of a field, or a path to a nested field, with dots. names NULL: sets out->fields to
 * the names of all fields. Returns false when the line is not an object, with the reason in *why (a
 * constant), and when out of memory, with *why NULL. */
bool trace_json_fields(struct trace_json *json, const char *line, size_t size, const char *const *names,
                       size_t count, struct wl_csv_record *out, const char **why);
void trace_json_free(struct trace_json *json);

#endif
