/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits records into fields. A record is read into one buffer, line by line until its quotes are closed. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "record.h"
#include "workload/csv.h"
#include "workload/trace.h"

#define PASTED_LINES_MAX 16u /* a prompt and a statement may be above a pasted table */

/* State of the parser within a record. */
struct parse {
    struct csv_records *records;
    const struct csv_dialect *dialect;
    struct wl_csv_record *out;
    bool is_quoted;  /* inside quotes */
    bool was_quoted; /* the current field was quoted, and its closing quote was read */
};

static bool end_field(struct parse *parse, const struct trace_reader *reader, struct sim_error *error)
{
    struct csv_records *records = parse->records;
    struct wl_csv_record *out = parse->out;
    if (out->count == WL_CSV_FIELDS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": more than %u fields; leave columns out",
                        reader->path, out->line, WL_CSV_FIELDS_MAX);
    out->sizes[out->count] = records->size - records->begins[out->count];
    out->count++;
    records->buffer[records->size++] = '\0';
    records->begins[out->count] = records->size;
    parse->was_quoted = false;
    return true;
}

static bool is_escape(const struct csv_dialect *dialect, const char *line, size_t size, size_t at)
{
    return dialect->has_backslash && line[at] == '\\' && at + 1 < size &&
           (line[at + 1] == '"' || line[at + 1] == '\\' || line[at + 1] == dialect->delimiter);
}

/* The number of bytes from `at` on that are neither a delimiter nor a quote nor an escape. */
static size_t text_length(const struct csv_dialect *dialect, const char *line, size_t size, size_t at)
{
    size_t end = at;
    while (end < size && line[end] != '"' && line[end] != '\\' && line[end] != dialect->delimiter)
        end++;
    return end - at;
}

/* Parses one line of the record. The buffer must have room for all of its bytes, and for a NUL after each of
 * them. */
static bool take_line(struct parse *parse, const struct trace_reader *reader, const char *line, size_t size,
                      struct sim_error *error)
{
    struct csv_records *records = parse->records;
    const struct csv_dialect *dialect = parse->dialect;
    for (size_t i = 0; i < size; i++) {
        bool is_first = records->size == records->begins[parse->out->count] && !parse->was_quoted;
        bool is_closed = parse->was_quoted && !parse->is_quoted;
        if (is_escape(dialect, line, size, i)) {
            records->buffer[records->size++] = line[++i];
        } else if (line[i] == '"' && parse->is_quoted && i + 1 < size && line[i + 1] == '"') {
            records->buffer[records->size++] = line[++i];
        } else if (line[i] == '"' && (parse->is_quoted || is_first)) {
            parse->is_quoted = !parse->is_quoted;
            parse->was_quoted = true;
        } else if (line[i] == dialect->delimiter && !parse->is_quoted) {
            if (!end_field(parse, reader, error))
                return false;
        } else if (is_closed) {
            return csv_check_delimiter(reader->path, reader->line, line, size, dialect->delimiter, error) &&
                   sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%" PRIu64 ": text after a closing quote; double the quotes within a field",
                            reader->path, reader->line);
        } else {
            size_t text = text_length(dialect, line, size, i);
            text = text == 0 ? 1 : text;
            memcpy(records->buffer + records->size, line + i, text);
            records->size += text;
            i += text - 1;
        }
    }
    return true;
}

/* The line between the header of a pasted table and its rows; mysql has more of them. */
static bool is_rule(const char *line, size_t size)
{
    size_t dashes = 0, most = 0;
    for (size_t i = 0; i < size; i++) {
        if (line[i] != '-' && line[i] != '+' && line[i] != '|' && line[i] != ':' && line[i] != ' ')
            return false;
        dashes = line[i] == '-' ? dashes + 1 : 0;
        most = dashes > most ? dashes : most;
    }
    return most >= 3;
}

/* What a terminal has around the rows of a table. */
static bool is_around_rows(const char *line, size_t size)
{
    static const char *const others[] = {"cqlsh", "mysql>", "---MORE---"};
    bool is_other = is_rule(line, size);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_other = is_other || (size >= strlen(others[i]) && memcmp(line, others[i], strlen(others[i])) == 0);
    const size_t begin = size > 0 && line[0] == '(';
    size_t digits = begin; /* "(96 rows)", "96 rows in set" */
    while (digits < size && line[digits] >= '0' && line[digits] <= '9')
        digits++;
    return is_other || (digits > begin && size >= digits + 4 && memcmp(line + digits, " row", 4) == 0);
}

static bool next_line(struct trace_reader *reader, struct csv_records *records, char **line, size_t *size,
                      struct sim_error *error)
{
    if (!trace_reader_next(reader, line, size, error))
        return false;
    return sim_grow(&records->buffer, &records->capacity, records->size + 2 * *size + 2, 1) ||
           sim_fail_memory(error);
}

/* Removes the spaces on both sides. */
static void trim(const char **begin, const char **end)
{
    while (*begin < *end && **begin == ' ')
        ++*begin;
    while (*end > *begin && (*end)[-1] == ' ')
        --*end;
}

/* Splits a row of a pasted table at its bars. */
static bool take_pasted(struct parse *parse, const struct trace_reader *reader, const char *line, size_t size,
                        struct sim_error *error)
{
    struct csv_records *records = parse->records;
    const char *end = line + size;
    trim(&line, &end);
    if (end > line + 1 && *line == '|') { /* a frame */
        line++;
        end -= end[-1] == '|';
    }
    for (const char *bar = line; bar != NULL; line = bar + 1) {
        bar = memchr(line, '|', (size_t)(end - line));
        const char *begin = line, *until = bar == NULL ? end : bar;
        trim(&begin, &until);
        size_t bytes = (size_t)(until - begin);
        bytes = bytes == 4 && memcmp(begin, "null", 4) == 0 ? 0 : bytes;
        memcpy(records->buffer + records->size, begin, bytes);
        records->size += bytes;
        if (!end_field(parse, reader, error))
            return false;
        if (bar == NULL)
            break;
    }
    for (size_t i = 0; i < parse->out->count; i++)
        parse->out->fields[i] = records->buffer + records->begins[i];
    if (records->pasted_columns == 0)
        records->pasted_columns = parse->out->count;
    return parse->out->count == records->pasted_columns ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%" PRIu64
                    ": %zu columns where the table's header has %zu; give only the table, with a row "
                    "per line and no bars in its fields",
                    reader->path, reader->line, parse->out->count, records->pasted_columns);
}

bool csv_records_next(struct csv_records *records, struct trace_reader *reader,
                      const struct csv_dialect *dialect, struct wl_csv_record *out, struct sim_error *error)
{
    struct parse parse = {.records = records, .dialect = dialect, .out = out};
    char *line;
    size_t size;
    out->count = 0;
    records->size = records->begins[0] = 0;
    do {
        if (!next_line(reader, records, &line, &size, error))
            return false;
    } while (line != NULL && (size == 0 || (dialect->is_pasted && (reader->line < dialect->header_line ||
                                                                   is_around_rows(line, size)))));
    out->line = reader->line;
    if (line == NULL)
        return true;
    if (dialect->is_pasted)
        return take_pasted(&parse, reader, line, size, error);
    while (take_line(&parse, reader, line, size, error)) {
        if (!parse.is_quoted) {
            bool ok = end_field(&parse, reader, error);
            for (size_t i = 0; i < out->count; i++)
                out->fields[i] = records->buffer + records->begins[i];
            return ok;
        }
        records->buffer[records->size++] = '\n';
        if (!next_line(reader, records, &line, &size, error))
            return false;
        if (line == NULL || records->size > CSV_RECORD_BYTES_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%" PRIu64
                            ": a quote that is never closed; close it, or double it within a field",
                            reader->path, out->line);
    }
    return false;
}

void csv_records_free(struct csv_records *records)
{
    free(records->buffer);
    *records = (struct csv_records){0};
}

/* How well a dialect fits the whole records of a sample. */
struct fit {
    size_t records, faults; /* records with text after a closing quote, or with another number of fields than
                               the first record */
};

static struct fit fit_of(const struct csv_dialect *dialect, const char *bytes, size_t size)
{
    struct fit fit = {0};
    size_t fields = 1, first = 0;
    bool is_quoted = false, was_quoted = false, is_begin = true;
    for (size_t i = 0; i < size; i++) {
        if (is_escape(dialect, bytes, size, i) ||
            (is_quoted && bytes[i] == '"' && i + 1 < size && bytes[i + 1] == '"')) {
            i++;
        } else if (bytes[i] == '"' && (is_quoted || is_begin)) {
            is_quoted = !is_quoted;
            was_quoted = true;
        } else if (!is_quoted && bytes[i] == dialect->delimiter) {
            fields++;
            is_begin = true;
            was_quoted = false;
            continue;
        } else if (!is_quoted && bytes[i] == '\n') {
            first = fit.records++ == 0 ? fields : first;
            fit.faults += fields != first;
            fields = 1;
            is_begin = true;
            was_quoted = false;
            continue;
        } else if (!is_quoted && was_quoted && bytes[i] != '\r') {
            fit.faults++;
        }
        is_begin = false;
    }
    return fit;
}

/* The number of the header's line: that above the first rule, or below it if the table has a frame. 0 when
 * none of the first lines is a rule. */
static uint64_t pasted_header(const char *bytes, size_t size)
{
    const char *end;
    uint64_t before = 0, number = 1;
    for (const char *at = bytes; number <= PASTED_LINES_MAX; at = end + 1, number++) {
        end = size == 0 ? NULL : memchr(at, '\n', (size_t)(bytes + size - at));
        if (end == NULL)
            return 0;
        size_t length = (size_t)(end - at);
        length -= length > 0 && at[length - 1] == '\r';
        if (is_rule(at, length))
            return *at == '+' ? number + 1 : before;
        before = length > 0 ? number : before;
    }
    return 0;
}

struct csv_dialect csv_sniff(const char *bytes, size_t size)
{
    static const char delimiters[] = ",;\t|";
    size_t counts[4] = {0}, best = 0;
    bool is_quoted = false;
    struct csv_dialect dialect = {.delimiter = '|', .header_line = pasted_header(bytes, size)};
    dialect.is_pasted = dialect.header_line > 0;
    if (dialect.is_pasted)
        return dialect;
    for (size_t i = 0; i < size && (bytes[i] != '\n' || is_quoted); i++) {
        const char *found = bytes[i] == '\0' ? NULL : strchr(delimiters, bytes[i]);
        is_quoted = is_quoted != (bytes[i] == '"');
        if (found != NULL && !is_quoted)
            counts[found - delimiters]++;
    }
    for (size_t i = 1; i < 4; i++)
        best = counts[i] > counts[best] ? i : best;
    dialect.delimiter = delimiters[best];
    if (size == 0 || memchr(bytes, '\\', size) == NULL)
        return dialect;
    const struct csv_dialect backslash = {.delimiter = dialect.delimiter, .has_backslash = true};
    struct fit plain = fit_of(&dialect, bytes, size), escaped = fit_of(&backslash, bytes, size);
    dialect.has_backslash =
        escaped.faults < plain.faults || (escaped.faults == plain.faults && escaped.records > plain.records);
    return dialect;
}

bool csv_check_delimiter(const char *path, uint64_t number, const char *line, size_t size, char delimiter,
                         struct sim_error *error)
{
    const char *first = wl_trace_delimiter_name(delimiter);
    const char other = csv_sniff(line, size).delimiter, sign[] = {'\'', delimiter, '\'', '\0'};
    if (size == 0 || memchr(line, delimiter, size) != NULL || memchr(line, other, size) == NULL)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%" PRIu64 ": the first line has %s%s, line %" PRIu64
                    " has %ss; write the same between all columns",
                    path, number, first == NULL ? sign : first, first == NULL ? "" : "s", number,
                    wl_trace_delimiter_name(other));
}

/* Reads CSV files record by record, as cqlsh and most tools write them. */

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

/* Parses an object of JSON Lines with jansson, and converts the requested values to text. */

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
