/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of one line of JSON lines (https://jsonlines.org): an object a line. */
#ifndef WORKLOAD_TRACE_JSON_H
#define WORKLOAD_TRACE_JSON_H

#include "kernel/error.h"
#include "workload/csv_fields.h"

struct trace_json {
    char *buffer;
    size_t size, capacity;
};

/* Sets out->fields[i] to the value of names[i], as text, with a NUL behind it; NULL where it is missing or
 * null. A name is a field's, or with points the way to one within others. False when the line is no object,
 * with what is amiss in *why (a constant), or with *why NULL when memory is out. */
bool trace_json_fields(struct trace_json *json, const char *line, size_t size, const char *const *names,
                       size_t count, struct wl_csv_record *out, const char **why);
void trace_json_free(struct trace_json *json);

#endif
