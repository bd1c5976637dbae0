/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which fields of a record are a row's time, key and value: found once for each file, by the format's names
 * or by usual ones. */
#ifndef WORKLOAD_TRACE_COLUMNS_H
#define WORKLOAD_TRACE_COLUMNS_H

#include "kernel/error.h"
#include "workload/csv_fields.h"
#include "workload/trace_format.h"

enum trace_value { TRACE_VALUE_NONE, TRACE_VALUE_BYTES, TRACE_VALUE_COUNT, TRACE_VALUE_LENGTH };

struct trace_columns {
    size_t time, key[WL_TRACE_PARTS_MAX], key_count;
    size_t value[WL_TRACE_PARTS_MAX], value_count;
    size_t arrived; /* of no meaning without arrived_name */
    enum trace_value kind;
    /* As the user or the file calls them; by the indices of these arrays in JSON, where there is no other. */
    const char *names[2 + 2 * WL_TRACE_PARTS_MAX];
    size_t name_count;
    const char *time_name, *key_name, *value_name; /* the first of each, for messages */
    const char *arrived_name;                      /* NULL: none */
};

/* Says whether the file has such a column, and which field it is. */
typedef bool trace_column_finder(const void *file, const char *name, size_t *index);

/* By the finder; of JSON, where columns are taken by name, `is_json`, and indices are those of names[]. False
 * with *missing set to what was not found ("time", "key", or a name). */
bool trace_columns_find(const struct wl_trace_format *format, trace_column_finder *find, const void *file,
                        bool is_json, struct trace_columns *out, const char **missing);
/* Whether each column that the format names is a number. */
bool trace_columns_are_numbers(const struct wl_trace_columns *columns);
/* "12" as a column's number from 1; false when it is a name. */
bool trace_column_number(const char *name, size_t *index);
bool trace_columns_are_given(const struct wl_trace_columns *columns);

#endif
