/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses one line of a trace. */
#include "trace_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "csv_record.h"
#include "kernel/text.h"

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

static const char *value_name(const struct trace_place *place)
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
        return fail(place, error, "2 columns instead of 3; write timestamp_ms,key,%s", value_name(place));
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
               fail(place, error, "1 column instead of 3; write timestamp_ms,key,%s", value_name(place));
    }
    out->time = (struct span){line, comma};
    struct span rest = {comma + 1, end};
    if (rest.begin < end && *rest.begin == '"') {
        return split_quoted_key(rest, place, out, error);
    }
    comma = memchr(rest.begin, ',', (size_t)(end - rest.begin));
    if (comma == NULL) {
        return fail(place, error, "2 columns instead of 3; write timestamp_ms,key,%s", value_name(place));
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
    const char *name = value_name(place);
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
