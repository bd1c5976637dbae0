/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the columns of a trace. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "record.h"
#include "trace_parts.h"
#include "workload/trace.h"

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

/* The names of delimiters and of formats of times. */

bool wl_trace_format_is_plain(const struct wl_trace_format *format)
{
    const struct wl_trace_columns *columns = &format->columns;
    bool has_columns = columns->time != NULL || columns->key_count > 0 || columns->bytes != NULL ||
                       columns->count != NULL || columns->bytes_of_count > 0 || columns->arrived != NULL;
    return !has_columns && format->layout == WL_LAYOUT_AUTO && format->time == WL_TIME_AUTO &&
           format->escape == WL_ESCAPE_AUTO && format->header == WL_HEADER_AUTO &&
           format->delimiter == '\0' && !format->sort && !format->has_epoch;
}

void wl_trace_format_clear(struct wl_trace_format *format)
{
    struct wl_trace_columns *columns = &format->columns;
    free(columns->time);
    free(columns->time_of_day);
    free(columns->arrived);
    free(columns->bytes);
    free(columns->count);
    for (size_t i = 0; i < columns->key_count; i++)
        free(columns->key[i]);
    for (size_t i = 0; i < columns->bytes_of_count; i++)
        free(columns->bytes_of[i]);
    *format = (struct wl_trace_format){0};
}

static const struct {
    const char *name;
    char delimiter;
} delimiters[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},
                  {"pipe", '|'},  {"space", ' '},     {"\\t", '\t'}};

const char *wl_trace_delimiter_name(char delimiter)
{
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++) {
        if (delimiters[i].delimiter == delimiter)
            return delimiters[i].name;
    }
    return NULL;
}

char wl_trace_delimiter(const char *text)
{
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++) {
        if (strcmp(text, delimiters[i].name) == 0)
            return delimiters[i].delimiter;
    }
    bool is_one =
        text[0] != '\0' && text[1] == '\0' && (text[0] == '\t' || (text[0] >= ' ' && text[0] <= '~'));
    return is_one && strchr("\"\\", text[0]) == NULL ? text[0] : '\0';
}

const char *wl_trace_time_name(enum wl_trace_time time)
{
#define NAME(id, option, name) name,
    static const char *const names[] = {WL_TRACE_TIMES(NAME)};
    return names[time];
}

const char *wl_trace_time_option(enum wl_trace_time time)
{
#define OPTION(id, option, name) option,
    static const char *const options[] = {WL_TRACE_TIMES(OPTION)};
    return options[time];
}

/* Parses one line of a trace. */

static const char bytes_header[] = "timestamp_ms,key,bytes";
static const char counts_header[] = "timestamp_ms,key,count";

struct span {
    char *begin, *end;
};

struct fields {
    struct span time, key, value;
};

enum number_fault { NUMBER_FINE, NUMBER_EMPTY, NUMBER_NOT_WHOLE, NUMBER_TOO_LARGE };

struct trace_shown trace_show(const char *text, size_t size)
{
    enum { MOST = 40 };
    struct trace_shown shown = {{0}};
    size_t bytes = size > MOST ? MOST : size;
    for (size_t i = 0; i < bytes; i++)
        shown.text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    if (size > MOST)
        memcpy(shown.text + MOST, "...", 3);
    return shown;
}

static struct trace_shown show(const char *begin, const char *end)
{
    return trace_show(begin, (size_t)(end - begin));
}

static __attribute__((format(printf, 3, 4))) bool fail(const struct trace_place *place,
                                                       struct sim_error *error, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s", place->path, place->line, text);
}

bool trace_line_header(const char *line, size_t size, bool *has_counts)
{
    *has_counts = size == sizeof counts_header - 1 && memcmp(line, counts_header, size) == 0;
    return *has_counts || (size == sizeof bytes_header - 1 && memcmp(line, bytes_header, size) == 0);
}

static const char *name_of_value(const struct trace_place *place)
{
    return place->has_counts ? "count" : "bytes";
}

/* Removes the quotes in place, so the key needs no memory of its own. */
static bool split_quoted_key(struct span rest, const struct trace_place *place, struct fields *out,
                             struct sim_error *error)
{
    char *from = rest.begin + 1;
    char *to = from;
    out->key.begin = from;
    for (;; from++) {
        if (from == rest.end) {
            return fail(place, error,
                        "key's quote is not closed on its line; close it, and leave line breaks out of keys");
        }
        if (*from == '"') {
            from++;
            if (from == rest.end || *from != '"') {
                break;
            }
        }
        *to++ = *from;
    }
    out->key.end = to;
    if (from == rest.end) {
        return fail(place, error, "2 columns instead of 3; write timestamp_ms,key,%s", name_of_value(place));
    }
    if (*from != ',') {
        return fail(place, error, "text after the key's closing quote; double the quotes inside a key");
    }
    out->value = (struct span){from + 1, rest.end};
    return true;
}

static bool split(char *line, size_t size, const struct trace_place *place, struct fields *out,
                  struct sim_error *error)
{
    char *end = line + size;
    char *comma = memchr(line, ',', size);
    if (comma == NULL) {
        return csv_check_delimiter(place->path, place->line, line, size, ',', error) &&
               fail(place, error, "1 column instead of 3; write timestamp_ms,key,%s", name_of_value(place));
    }
    out->time = (struct span){line, comma};
    struct span rest = {comma + 1, end};
    if (rest.begin < end && *rest.begin == '"') {
        return split_quoted_key(rest, place, out, error);
    }
    comma = memchr(rest.begin, ',', (size_t)(end - rest.begin));
    if (comma == NULL) {
        return fail(place, error, "2 columns instead of 3; write timestamp_ms,key,%s", name_of_value(place));
    }
    out->key = (struct span){rest.begin, comma};
    out->value = (struct span){comma + 1, end};
    if (memchr(out->key.begin, '"', (size_t)(comma - out->key.begin)) != NULL) {
        return fail(place, error,
                    "quote inside a key without quotes; quote the key and double the quotes in it");
    }
    return true;
}

/* Parses digits only. 10 * limit + 9 must fit into 64 bits. */
static enum number_fault parse_whole(const char *at, const char *end, uint64_t limit, uint64_t *out)
{
    *out = 0;
    if (at == end) {
        return NUMBER_EMPTY;
    }
    uint64_t value = 0;
    bool too_large = false;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9) {
            return NUMBER_NOT_WHOLE;
        }
        value = value * 10 + digit;
        if (value > limit) {
            too_large = true;
            value = limit;
        }
    }
    if (too_large) {
        return NUMBER_TOO_LARGE;
    }
    *out = value;
    return NUMBER_FINE;
}

static bool parse_time(struct span field, const struct trace_place *place, int64_t *out,
                       struct sim_error *error)
{
    bool negative = field.begin < field.end && *field.begin == '-';
    uint64_t size = 0;
    enum number_fault fault = parse_whole(field.begin + negative, field.end, TRACE_TIME_MS_MAX, &size);
    switch (fault) {
    case NUMBER_FINE:
        *out = (negative ? -(int64_t)size : (int64_t)size) * 1000000;
        return true;
    case NUMBER_TOO_LARGE:
        return fail(place, error,
                    "timestamp_ms %s is not in the years 1677 to 2262; write milliseconds since 1970",
                    show(field.begin, field.end).text);
    case NUMBER_EMPTY:
    case NUMBER_NOT_WHOLE:
        break;
    }
    if (field.begin == field.end) {
        return fail(place, error, "timestamp_ms is empty; write whole milliseconds since 1970");
    }
    return fail(place, error, "timestamp_ms '%s' is not a whole number; write milliseconds since 1970",
                show(field.begin, field.end).text);
}

bool trace_value_parse(const char *text, size_t size, const struct trace_place *place, uint64_t *out,
                       struct sim_error *error)
{
    enum number_fault fault = parse_whole(text, text + size, TRACE_VALUE_MAX, out);
    if (fault == NUMBER_FINE) {
        return true;
    }
    const char *name = name_of_value(place);
    const char *cure = "write a whole number from 0 to 1099511627776";
    if (fault == NUMBER_EMPTY) {
        return fail(place, error, "%s is empty; %s", name, cure);
    }
    if (memchr(text, ',', size) != NULL) {
        return fail(place, error,
                    "more than 3 columns; write timestamp_ms,key,%s and quote a key that holds a comma",
                    name);
    }
    struct trace_shown shown = trace_show(text, size);
    if (fault == NUMBER_TOO_LARGE) {
        return fail(place, error, "%s %s is too large; %s", name, shown.text, cure);
    }
    uint64_t magnitude;
    fault = parse_whole(text + 1, text + size, TRACE_VALUE_MAX, &magnitude);
    if (*text == '-' && (fault == NUMBER_FINE || fault == NUMBER_TOO_LARGE)) {
        return fail(place, error, "%s %s is negative; %s", name, shown.text, cure);
    }
    return fail(place, error, "%s '%s' is not a whole number; %s", name, shown.text, cure);
}

static bool check_key(const char *key, size_t size, const struct trace_place *place, struct sim_error *error)
{
    if (size == 0) {
        return fail(place, error, "key is empty; give each row a key");
    }
    if (size > TRACE_KEY_BYTES_MAX) {
        return fail(place, error, "key of %zu bytes is too long; shorten it to %d", size,
                    TRACE_KEY_BYTES_MAX);
    }
    size_t valid = sim_utf8_valid(key, size);
    if (valid < size) {
        return fail(place, error, "byte %zu of the key is not UTF-8; save the trace as UTF-8", valid + 1);
    }
    if (memchr(key, '\r', size) != NULL) {
        return fail(place, error, "line break in a key; leave it out");
    }
    return true;
}

bool trace_key_check(const char *key, size_t size, const struct trace_place *place, struct sim_error *error)
{
    if (size > 0 && memchr(key, '\0', size) != NULL)
        return fail(place, error, "NUL byte; save the trace as UTF-8 text");
    if (size > 0 && memchr(key, '\n', size) != NULL)
        return fail(place, error, "line break in a key; leave it out");
    return check_key(key, size, place, error);
}

/* Parses at most `most` digits, few enough not to overflow. Returns the end of the digits, or NULL. */
static const char *usual_number(const char *at, const char *end, uint64_t most, uint64_t *out)
{
    enum { DIGITS_MOST = 13 };
    const char *begin = at;
    uint64_t value = 0;
    for (; at < end && (unsigned char)(*at - '0') <= 9; at++)
        value = value * 10 + (unsigned char)(*at - '0');
    *out = value;
    return at > begin && at - begin <= DIGITS_MOST && value <= most ? at : NULL;
}

/* The fast path for nearly all lines: numbers without a sign, and between them a key in printable ASCII
 * without quotes. Returns false for any other line, which may be valid too. */
static bool parse_usual(const char *line, size_t size, struct trace_row *out)
{
    const char *end = line + size;
    uint64_t time_ms;
    const char *at = usual_number(line, end, TRACE_TIME_MS_MAX, &time_ms);
    if (at == NULL || at == end || *at != ',')
        return false;
    const char *key = ++at;
    while (at < end && *at >= ' ' && *at <= '~' && *at != ',' && *at != '"')
        at++;
    if (at == key || at == end || *at != ',' || at - key > TRACE_KEY_BYTES_MAX)
        return false;
    out->time_ns = (int64_t)time_ms * 1000000;
    out->late_ns = 0;
    out->key = key;
    out->key_size = (size_t)(at - key);
    return usual_number(at + 1, end, TRACE_VALUE_MAX, &out->value) == end;
}

bool trace_line_parse(char *line, size_t size, const struct trace_place *place, struct trace_row *out,
                      struct sim_error *error)
{
    if (parse_usual(line, size, out))
        return true;
    *out = (struct trace_row){0};
    struct fields fields = {0};
    if (memchr(line, '\0', size) != NULL) {
        return fail(place, error, "NUL byte; save the trace as UTF-8 text");
    }
    if (size == 0) {
        return fail(place, error, "empty line; remove it");
    }
    if (!split(line, size, place, &fields, error) || !parse_time(fields.time, place, &out->time_ns, error) ||
        !check_key(fields.key.begin, (size_t)(fields.key.end - fields.key.begin), place, error) ||
        !trace_value_parse(fields.value.begin, (size_t)(fields.value.end - fields.value.begin), place,
                           &out->value, error)) {
        return false;
    }
    out->key = fields.key.begin;
    out->key_size = (size_t)(fields.key.end - fields.key.begin);
    return true;
}
