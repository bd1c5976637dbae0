/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses an object of JSON Lines with jansson, and converts the requested values to text. */
#include "trace_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

#define NAME_BYTES_MAX 512u
#define DIGITS_LEAST   19u

/* Tries the whole name first, since the name of a field may contain dots. */
static const json_t *find(const json_t *object, const char *name)
{
    const json_t *found = json_object_get(object, name);
    const char *point = found == NULL ? strchr(name, '.') : NULL;
    while (found == NULL && point != NULL) {
        char first[NAME_BYTES_MAX];
        size_t size = (size_t)(point - name);
        if (size >= sizeof first)
            return NULL;
        memcpy(first, name, size);
        first[size] = '\0';
        const json_t *inner = json_object_get(object, first);
        if (inner != NULL)
            return find(inner, point + 1);
        point = strchr(point + 1, '.');
    }
    return found;
}

/* Appends the text to the buffer; false when out of memory. */
static bool put(struct trace_json *json, const char *text, size_t size, size_t *begin)
{
    *begin = json->size;
    if (text == NULL || !sim_grow(&json->buffer, &json->capacity, json->size + size + 1, 1))
        return false;
    memcpy(json->buffer + json->size, text, size);
    json->size += size;
    json->buffer[json->size++] = '\0';
    return true;
}

/* Appends the value as text. */
static bool put_value(struct trace_json *json, const json_t *value, size_t *begin, size_t *size)
{
    char number[64], *dumped = NULL;
    const char *text = number;
    if (json_is_string(value)) {
        text = json_string_value(value);
        *size = json_string_length(value);
    } else if (json_is_integer(value)) {
        *size = (size_t)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        /* A double represents a time since 1970 to a microsecond, and not better. */
        *size = (size_t)snprintf(number, sizeof number, "%.6f", json_real_value(value));
        *size = *size < sizeof number ? *size : sizeof number - 1;
    } else if (json_is_boolean(value)) {
        text = json_is_true(value) ? "true" : "false";
        *size = strlen(text);
    } else {
        text = dumped = json_dumps(value, JSON_COMPACT);
        *size = dumped == NULL ? 0 : strlen(dumped);
    }
    bool ok = put(json, text, *size, begin);
    free(dumped);
    return ok;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Copies the line with quotes around integers of many digits, which do not fit into 63 bits, so that they are
 * texts. */
static size_t quote_integers(const char *line, size_t size, char *out)
{
    size_t used = 0;
    bool is_text = false;
    for (size_t i = 0; i < size;) {
        size_t digits = i + (!is_text && line[i] == '-'), end = digits;
        while (!is_text && end < size && is_digit(line[end]))
            end++;
        bool is_integer = end - digits >= DIGITS_LEAST && (i == 0 || line[i - 1] != '.') &&
                          (end == size || strchr(".eE", line[end]) == NULL);
        size_t length = end > digits ? end - i : line[i] == '\\' && i + 1 < size ? 2 : 1;
        is_text = is_text != (line[i] == '"');
        if (is_integer)
            out[used++] = '"';
        memcpy(out + used, line + i, length);
        used += length;
        i += length;
        if (is_integer)
            out[used++] = '"';
    }
    return used;
}

/* Parses the line; integers that jansson cannot represent become texts. */
static json_t *load(const char *line, size_t size, json_error_t *problem)
{
    const size_t flags = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
    json_t *object = json_loadb(line, size, flags, problem);
    char *quoted = NULL;
    if (object == NULL && json_error_code(problem) == json_error_numeric_overflow)
        quoted = malloc(size + size / DIGITS_LEAST * 2 + 2);
    if (quoted != NULL)
        object = json_loadb(quoted, quote_integers(line, size, quoted), flags, problem);
    free(quoted);
    return object;
}

bool trace_json_fields(struct trace_json *json, const char *line, size_t size, const char *const *names,
                       size_t count, struct wl_csv_record *out, const char **why)
{
    json_error_t problem;
    json_t *object = load(line, size, &problem);
    bool ok = json_is_object(object), has_brace = memchr(line, '{', size) != NULL;
    enum json_error_code code = object == NULL ? json_error_code(&problem) : json_error_unknown;
    size_t begins[WL_CSV_FIELDS_MAX] = {0};
    json->size = 0;
    out->count = count;
    *why = object != NULL                     ? "not a JSON object; write one object per line"
           : code == json_error_out_of_memory ? NULL
           : code == json_error_duplicate_key ? "a field occurs twice in the object; rename one of them"
           : has_brace                        ? "not JSON; write one object per line"
                       : "no JSON object, but a message such as kcat and kubectl print; remove it";
    for (void *at = names == NULL ? json_object_iter(object) : NULL;
         ok && at != NULL && out->count < WL_CSV_FIELDS_MAX; at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);
        out->sizes[out->count] = strlen(name);
        ok = put(json, name, strlen(name), &begins[out->count++]);
        *why = NULL;
    }
    for (size_t i = 0; ok && i < count; i++) {
        const json_t *value = find(object, names[i]);
        begins[i] = SIZE_MAX;
        out->sizes[i] = 0;
        if (value != NULL && !json_is_null(value) && !put_value(json, value, &begins[i], &out->sizes[i])) {
            *why = NULL;
            ok = false;
        }
    }
    for (size_t i = 0; ok && i < out->count; i++)
        out->fields[i] = begins[i] == SIZE_MAX ? NULL : json->buffer + begins[i];
    json_decref(object);
    return ok;
}

void trace_json_free(struct trace_json *json)
{
    free(json->buffer);
    *json = (struct trace_json){0};
}
