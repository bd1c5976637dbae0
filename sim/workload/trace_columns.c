/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the columns of a trace. */
#include "trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* The usual names of the columns for time, key and bytes, the most likely name first. */
static const char *const time_names[] = {"timestamp_ms", "timestamp", "time", "ts", "created_at",
                                         "created",      "datetime",  "date", "at", "event_time"};
static const char *const key_names[] = {"key"};
static const char *const bytes_names[] = {"bytes", "size"};
static const char *const count_names[] = {"count"};

struct search {
    trace_column_finder *find;
    const void *file;
    bool is_json;
    struct trace_columns *out;
};

bool trace_column_number(const char *name, size_t *index)
{
    *index = 0;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || *index > WL_CSV_FIELDS_MAX)
            return false;
        *index = *index * 10 + (size_t)(*c - '0');
    }
    return *name != '\0' && (*index)-- > 0;
}

static bool is_number(const char *name)
{
    size_t index;
    return name == NULL || trace_column_number(name, &index);
}

bool trace_columns_are_numbers(const struct wl_trace_columns *columns)
{
    bool are_numbers = is_number(columns->time) && is_number(columns->time_of_day) &&
                       is_number(columns->arrived) && is_number(columns->bytes) && is_number(columns->count);
    for (size_t i = 0; i < columns->key_count; i++)
        are_numbers = are_numbers && is_number(columns->key[i]);
    for (size_t i = 0; i < columns->bytes_of_count; i++)
        are_numbers = are_numbers && is_number(columns->bytes_of[i]);
    return are_numbers;
}

bool trace_columns_are_given(const struct wl_trace_columns *columns)
{
    return columns->time != NULL || columns->arrived != NULL || columns->key_count > 0 ||
           columns->bytes != NULL || columns->count != NULL || columns->bytes_of_count > 0;
}

/* A column that the format names must exist. In JSON a field may be missing in some objects, so it is checked
 * in each row. */
static bool take(struct search *search, const char *name, size_t *index)
{
    struct trace_columns *out = search->out;
    if (search->is_json) {
        *index = out->name_count;
    } else {
        size_t found = search->find(search->file, name, index);
        out->is_ambiguous = found > 1;
        out->twice = *index;
        if (found != 1)
            return false;
    }
    out->fields[out->name_count] = *index;
    out->names[out->name_count++] = name;
    return true;
}

/* The first of the names that is a column of the file. */
static const char *usual(const struct search *search, const char *const *names, size_t count)
{
    size_t index;
    for (size_t i = 0; i < count; i++) {
        if (search->find(search->file, names[i], &index) > 0)
            return names[i];
    }
    return NULL;
}

#define USUAL(search, names) usual(search, names, sizeof(names) / sizeof *(names))

static bool take_value(struct search *search, enum trace_value kind, const char *name, const char **missing)
{
    struct trace_columns *out = search->out;
    out->kind = kind;
    out->value_name = out->value_count == 0 ? name : out->value_name;
    *missing = name;
    return take(search, name, &out->value[out->value_count++]);
}

static bool find_value(struct search *search, const struct wl_trace_columns *columns, const char **missing)
{
    if (columns->bytes != NULL)
        return take_value(search, TRACE_VALUE_BYTES, columns->bytes, missing);
    if (columns->count != NULL)
        return take_value(search, TRACE_VALUE_COUNT, columns->count, missing);
    for (size_t i = 0; i < columns->bytes_of_count; i++) {
        if (!take_value(search, TRACE_VALUE_LENGTH, columns->bytes_of[i], missing))
            return false;
    }
    const char *bytes = columns->bytes_of_count > 0 ? NULL : USUAL(search, bytes_names);
    const char *count = trace_columns_are_given(columns) ? NULL : USUAL(search, count_names);
    if (bytes != NULL)
        return take_value(search, TRACE_VALUE_BYTES, bytes, missing);
    return count == NULL || take_value(search, TRACE_VALUE_COUNT, count, missing);
}

const char *trace_columns_count(trace_column_finder *find, const void *file)
{
    struct search search = {.find = find, .file = file};
    return USUAL(&search, bytes_names) == NULL ? USUAL(&search, count_names) : NULL;
}

bool trace_columns_find(const struct wl_trace_format *format, trace_column_finder *find, const void *file,
                        bool is_json, struct trace_columns *out, const char **missing)
{
    const struct wl_trace_columns *columns = &format->columns;
    struct search search = {.find = find, .file = file, .is_json = is_json, .out = out};
    *out = (struct trace_columns){0};
    out->time_name = columns->time != NULL ? columns->time : USUAL(&search, time_names);
    *missing = out->time_name == NULL ? "time" : out->time_name;
    if (out->time_name == NULL || !take(&search, out->time_name, &out->time))
        return false;
    const char *first = columns->key_count > 0 ? columns->key[0] : USUAL(&search, key_names);
    size_t key_count = columns->key_count > 0 ? columns->key_count : 1;
    out->key_name = first;
    *missing = "key";
    if (first == NULL)
        return false;
    for (size_t i = 0; i < key_count; i++) {
        const char *name = columns->key_count > 0 ? columns->key[i] : first;
        *missing = name;
        if (!take(&search, name, &out->key[out->key_count++]))
            return false;
    }
    if (!find_value(&search, columns, missing))
        return false;
    *missing = out->time_of_day_name = columns->time_of_day;
    if (columns->time_of_day != NULL && !take(&search, columns->time_of_day, &out->time_of_day))
        return false;
    *missing = out->arrived_name = columns->arrived;
    return columns->arrived == NULL || take(&search, columns->arrived, &out->arrived);
}
