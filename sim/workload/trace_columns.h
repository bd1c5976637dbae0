/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which fields of a record are a row's time, key and value. They are found once per file, by the names in the
 * format or by the usual names. */
#ifndef WORKLOAD_TRACE_COLUMNS_H
#define WORKLOAD_TRACE_COLUMNS_H

#include "kernel/error.h"
#include "workload/csv_fields.h"
#include "workload/trace_format.h"

enum trace_value { TRACE_VALUE_NONE, TRACE_VALUE_BYTES, TRACE_VALUE_COUNT, TRACE_VALUE_LENGTH };

struct trace_columns {
    size_t time, key[WL_TRACE_PARTS_MAX], key_count;
    size_t value[WL_TRACE_PARTS_MAX], value_count;
    size_t time_of_day; /* undefined when time_of_day_name is NULL; so is the next */
    size_t arrived;
    enum trace_value kind;
    /* The names of the columns, from the format or from the file. In JSON, the members above are indices of
     * this array. */
    const char *names[3 + 2 * WL_TRACE_PARTS_MAX];
    size_t fields[3 + 2 * WL_TRACE_PARTS_MAX]; /* the members above, in order of the names */
    size_t name_count;
    const char *time_name, *key_name, *value_name; /* the first name of each, for messages */
    const char *time_of_day_name, *arrived_name;   /* NULL: none */
    bool
        is_ambiguous; /* the column that was not found is named more than once; the last of them is `twice` */
    size_t twice;
};

/* Returns how many columns of the file have this name, and sets *index to the field of the last. */
typedef size_t trace_column_finder(const void *file, const char *name, size_t *index);

/* Finds the columns with `find`. is_json: columns are read by name, and the indices in *out are those of
 * out->names[]. Returns false and sets *missing to what was not found ("time", "key", or a name), or was
 * found more than once. */
bool trace_columns_find(const struct wl_trace_format *format, trace_column_finder *find, const void *file,
                        bool is_json, struct trace_columns *out, const char **missing);
/* Whether every column in the format is given by its number. */
bool trace_columns_are_numbers(const struct wl_trace_columns *columns);
/* Parses a column's number, counted from 1, such as "12", and sets *index to it, counted from 0; false when
 * the text is a name. */
bool trace_column_number(const char *name, size_t *index);
bool trace_columns_are_given(const struct wl_trace_columns *columns);
/* The name of the file's column of counts if it has one and no sizes; otherwise NULL. */
const char *trace_columns_count(trace_column_finder *find, const void *file);

#endif
