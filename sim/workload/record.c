/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits a file into records: those of CSV, of a table that was pasted from the terminal of cqlsh, psql or
 * mysql, or written in Markdown, which has bars between columns and a rule below its header, lines of logs,
 * and JSON objects. The fields of a record are in one buffer. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "trace_parts.h"

#define PASTED_LINES_MAX 16u /* a prompt and a statement may be above a pasted table */
#define CSV_RECORD_BYTES_MAX                                                                                 \
    (16u << 20) /* limits the damage of an unclosed quote, which would otherwise read the whole file */

/* State of the parser within a record. */
struct parse {
    struct wl_csv *csv;
    struct wl_csv_record *out;
    size_t begin;    /* of the current field in the buffer */
    bool is_quoted;  /* inside quotes */
    bool was_quoted; /* the current field was quoted, and its closing quote was read */
};

static bool end_field(struct parse *parse, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    struct wl_csv_record *out = parse->out;
    if (out->count == WL_CSV_FIELDS_MAX)
        return trace_fail(csv->reader.path, out->line, error, "more than %u fields; leave columns out",
                          WL_CSV_FIELDS_MAX);
    out->sizes[out->count++] = csv->fields.size - parse->begin;
    csv->fields.bytes[csv->fields.size++] = '\0';
    parse->begin = csv->fields.size;
    parse->was_quoted = false;
    return true;
}

void csv_set_fields(const char *bytes, struct wl_csv_record *out)
{
    for (size_t i = 0; i < out->count; bytes += out->sizes[i++] + 1)
        out->fields[i] = bytes;
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
static bool take_line(struct parse *parse, const char *line, size_t size, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    struct csv_buffer *fields = &csv->fields;
    for (size_t i = 0; i < size; i++) {
        bool is_first = fields->size == parse->begin && !parse->was_quoted;
        bool is_closed = parse->was_quoted && !parse->is_quoted;
        if (is_escape(&csv->dialect, line, size, i)) {
            fields->bytes[fields->size++] = line[++i];
        } else if (line[i] == '"' && parse->is_quoted && i + 1 < size && line[i + 1] == '"') {
            fields->bytes[fields->size++] = line[++i];
        } else if (line[i] == '"' && (parse->is_quoted || is_first)) {
            parse->is_quoted = !parse->is_quoted;
            parse->was_quoted = true;
        } else if (line[i] == csv->dialect.delimiter && !parse->is_quoted) {
            if (!end_field(parse, error))
                return false;
        } else if (is_closed) {
            return csv_check_delimiter(csv, csv->reader.line, line, size, error) &&
                   trace_fail(csv->reader.path, csv->reader.line, error,
                              "text after a closing quote; double the quotes within a field");
        } else {
            size_t text = text_length(&csv->dialect, line, size, i);
            text = text == 0 ? 1 : text;
            memcpy(fields->bytes + fields->size, line + i, text);
            fields->size += text;
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
        if (strchr("-+|: ", line[i]) == NULL || line[i] == '\0')
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

static bool next_line(struct wl_csv *csv, char **line, size_t *size, struct sim_error *error)
{
    if (!trace_reader_next(&csv->reader, line, size, error))
        return false;
    return sim_grow(&csv->fields.bytes, &csv->fields.capacity, csv->fields.size + 2 * *size + 2, 1) ||
           sim_fail_memory(error);
}

struct trace_span trace_trim(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct trace_span){begin, end};
}

/* Splits a row of a pasted table at its bars. */
static bool take_pasted(struct parse *parse, const char *line, size_t size, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    struct trace_span rest = trace_trim(line, line + size);
    if (rest.end > rest.begin + 1 && *rest.begin == '|') { /* a frame */
        rest.begin++;
        rest.end -= rest.end[-1] == '|';
    }
    for (const char *bar = rest.begin; bar != NULL; rest.begin = bar + 1) {
        bar = memchr(rest.begin, '|', (size_t)(rest.end - rest.begin));
        const struct trace_span field = trace_trim(rest.begin, bar == NULL ? rest.end : bar);
        size_t bytes = (size_t)(field.end - field.begin);
        bytes = bytes == 4 && memcmp(field.begin, "null", 4) == 0 ? 0 : bytes;
        memcpy(csv->fields.bytes + csv->fields.size, field.begin, bytes);
        csv->fields.size += bytes;
        if (!end_field(parse, error))
            return false;
        if (bar == NULL)
            break;
    }
    if (csv->pasted_columns == 0)
        csv->pasted_columns = parse->out->count;
    return parse->out->count == csv->pasted_columns ||
           trace_fail(csv->reader.path, csv->reader.line, error,
                      "%zu columns where the table's header has %zu; give only the table, with a row "
                      "per line and no bars in its fields",
                      parse->out->count, csv->pasted_columns);
}

/* Lines of a log. Each step takes a part of the form: a field in braces, or a character; a blank takes all
 * blanks that follow, as of columns that are aligned. */

struct form {
    const char *at;   /* in the form */
    const char *name; /* of the field that was taken; NULL: a character */
    size_t name_size, width;
    const char *until; /* the text after the field, up to the next one */
    size_t until_size;
};

static bool next_part(struct form *form)
{
    const char *end = *form->at == '{' ? strchr(form->at, '}') : NULL;
    form->name = end == NULL ? NULL : form->at + 1;
    if (end == NULL)
        return *form->at++ != '\0';
    form->name_size = strcspn(form->name, ":}");
    form->width =
        form->name[form->name_size] == ':' ? strtoul(form->name + form->name_size + 1, NULL, 10) : 0;
    form->until = form->at = end + 1;
    form->until_size = strcspn(form->until, "{");
    return true;
}

bool wl_trace_line_is(const char *text)
{
    struct form form = {.at = text};
    size_t fields = 0;
    while (next_part(&form)) {
        if (form.name != NULL &&
            (form.name_size == 0 || (form.width == 0 && form.until_size == 0 && *form.at != '\0')))
            return false;
        fields += form.name != NULL;
    }
    return fields > 1 && fields < WL_CSV_FIELDS_MAX;
}

/* Where the next field ends; NULL: the line does not have the form. What is after a last blank may be
 * missing. */
static const char *end_of_field(const struct form *form, const char *at, const char *end)
{
    if (form->width > 0)
        return (size_t)(end - at) >= form->width ? at + form->width : NULL;
    const char *found = at;
    while (form->until_size > 0 && (size_t)(end - found) >= form->until_size &&
           memcmp(found, form->until, form->until_size) != 0)
        found++;
    if (form->until_size > 0 && (size_t)(end - found) >= form->until_size)
        return found;
    bool is_last =
        *form->until == '\0' || (strncmp(form->until, " {", 2) == 0 && strchr(form->until + 2, '{') == NULL);
    return is_last ? end : NULL;
}

bool csv_split_line(const char *line_form, const char *at, const char *end, csv_taker *take, void *target)
{
    struct form form = {.at = line_form};
    bool has_rest = true;
    while (next_part(&form)) {
        if (form.name == NULL) {
            const char sign = form.at[-1];
            has_rest = at < end;
            if (has_rest ? *at++ != sign : sign != ' ' || *form.at != '{' || strchr(form.at + 1, '{') != NULL)
                return false;
            while (sign == ' ' && at < end && *at == ' ')
                at++;
            continue;
        }
        const char *stop = has_rest ? end_of_field(&form, at, end) : end;
        if (stop == NULL ||
            !take(target, (struct trace_span){form.name, form.name + form.name_size}, trace_trim(at, stop)))
            return false;
        at = stop;
    }
    return at == end;
}

static bool take_field(void *target, struct trace_span name, struct trace_span field)
{
    struct csv_buffer *fields = &((struct parse *)target)->csv->fields;
    struct sim_error ignored;
    size_t size = (size_t)(field.end - field.begin);
    memcpy(fields->bytes + fields->size, field.begin, size);
    if (size == 1 && *field.begin == '-' && strncmp(name.begin, "bytes", 5) == 0)
        fields->bytes[fields->size] = '0'; /* a web server that sent none */
    fields->size += size;
    return end_field(target, &ignored);
}

static bool has_time(void *target, struct trace_span name, struct trace_span field)
{
    const size_t size = (size_t)(field.end - field.begin);
    if (name.end - name.begin == 4 && memcmp(name.begin, "time", 4) == 0)
        *(bool *)target = trace_time_kind(field.begin, size) >= WL_TIME_WORDS ||
                          trace_time_kind(field.begin, size) == WL_TIME_ISO ||
                          trace_time_lacks_year(field.begin, size);
    return true;
}

const char *csv_line_of(const char *bytes, size_t size)
{
    static const char *const forms[] = {WL_LOG_ACCESS, WL_LOG_SYSLOG};
    enum { LINES = 5 };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *at = bytes, *end;
        unsigned lines = 0;
        for (; lines < LINES && (end = memchr(at, '\n', (size_t)(bytes + size - at))) != NULL;
             at = end + 1, lines++) {
            bool is_timed = false;
            if (!csv_split_line(forms[i], at, end - (end > at && end[-1] == '\r'), has_time, &is_timed) ||
                !is_timed)
                break;
        }
        if (lines == LINES || (lines > 0 && memchr(at, '\n', (size_t)(bytes + size - at)) == NULL))
            return forms[i];
    }
    return NULL;
}

bool csv_line_names(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error)
{
    struct parse parse = {.csv = csv, .out = out};
    struct form form = {.at = csv->dialect.line};
    if (!sim_grow(&csv->fields.bytes, &csv->fields.capacity, 2 * strlen(form.at) + 2, 1))
        return sim_fail_memory(error);
    out->count = csv->fields.size = 0;
    out->line = 1;
    while (next_part(&form)) {
        if (form.name == NULL)
            continue;
        memcpy(csv->fields.bytes + csv->fields.size, form.name, form.name_size);
        csv->fields.size += form.name_size;
        if (!end_field(&parse, error))
            return false;
    }
    csv_set_fields(csv->fields.bytes, out);
    return true;
}

static bool read_record(struct parse *parse, char *line, size_t size, struct sim_error *error)
{
    struct wl_csv *csv = parse->csv;
    if (csv->dialect.is_pasted)
        return take_pasted(parse, line, size, error);
    if (csv->dialect.line != NULL)
        return csv_split_line(csv->dialect.line, line, line + size, take_field, parse) ||
               trace_fail(
                   csv->reader.path, csv->reader.line, error,
                   "the line has not the form %s; remove it, or give another form by 'line' under trace",
                   csv->dialect.line);
    while (take_line(parse, line, size, error)) {
        if (!parse->is_quoted)
            return end_field(parse, error);
        csv->fields.bytes[csv->fields.size++] = '\n';
        if (!next_line(csv, &line, &size, error))
            return false;
        if (line == NULL || csv->fields.size > CSV_RECORD_BYTES_MAX)
            return trace_fail(csv->reader.path, parse->out->line, error,
                              "a quote that is never closed; close it, or double it within a field");
    }
    return false;
}

bool wl_csv_next(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error)
{
    const struct csv_dialect *dialect = &csv->dialect;
    struct parse parse = {.csv = csv, .out = out};
    char *line;
    size_t size;
    out->count = csv->fields.size = 0;
    do {
        if (!next_line(csv, &line, &size, error))
            return false;
    } while (line != NULL && (size == 0 || (dialect->is_pasted && (csv->reader.line < dialect->header_line ||
                                                                   is_around_rows(line, size)))));
    out->line = csv->reader.line;
    if (line == NULL)
        return true;
    bool ok = read_record(&parse, line, size, error);
    csv_set_fields(csv->fields.bytes, out); /* the buffer has its final place now */
    return ok;
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

/* The delimiter that occurs most often in the first line. */
static char delimiter_of(const char *bytes, size_t size)
{
    static const char delimiters[] = ",;\t|";
    size_t counts[4] = {0}, best = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < size && (bytes[i] != '\n' || is_quoted); i++) {
        const char *found = bytes[i] == '\0' ? NULL : strchr(delimiters, bytes[i]);
        is_quoted = is_quoted != (bytes[i] == '"');
        if (found != NULL && !is_quoted)
            counts[found - delimiters]++;
    }
    for (size_t i = 1; i < 4; i++)
        best = counts[i] > counts[best] ? i : best;
    return delimiters[best];
}

/* Counts the first records that have as many fields as the first one, with or without backslashes. */
static bool count_records(struct wl_csv *csv, bool has_backslash, size_t *out, struct sim_error *error)
{
    struct wl_csv_record record;
    struct sim_error fault = {.class = SIM_ERROR_NONE};
    size_t first = 0;
    csv->dialect.has_backslash = has_backslash;
    trace_reader_mark(&csv->reader);
    for (*out = 0; *out < TRACE_SAMPLE_ROWS && !trace_reader_is_sampled(&csv->reader); ++*out) {
        if (!wl_csv_next(csv, &record, &fault) || record.count == 0 || (*out > 0 && record.count != first))
            break;
        first = record.count;
    }
    trace_reader_return(&csv->reader);
    if (fault.class == SIM_ERROR_ENVIRONMENT)
        *error = fault;
    return fault.class != SIM_ERROR_ENVIRONMENT;
}

bool csv_sniff(struct wl_csv *csv, char delimiter, enum wl_trace_escape escape, struct sim_error *error)
{
    size_t size, plain = 0, escaped = 0;
    const char *bytes = trace_reader_peek(&csv->reader, &size);
    csv->dialect = (struct csv_dialect){.delimiter = '|', .header_line = pasted_header(bytes, size)};
    csv->dialect.is_pasted = csv->dialect.header_line > 0;
    if (delimiter != '\0' || !csv->dialect.is_pasted)
        csv->dialect.delimiter = delimiter != '\0' ? delimiter : delimiter_of(bytes, size);
    if (escape == WL_ESCAPE_AUTO && !csv->dialect.is_pasted && size > 0 &&
        memchr(bytes, '\\', size) != NULL &&
        (!count_records(csv, false, &plain, error) || !count_records(csv, true, &escaped, error)))
        return false;
    csv->dialect.has_backslash = escape == WL_ESCAPE_BACKSLASH || escaped > plain;
    return true;
}

bool csv_check_delimiter(const struct wl_csv *csv, uint64_t number, const char *line, size_t size,
                         struct sim_error *error)
{
    const char delimiter = csv->dialect.delimiter, *first = wl_trace_delimiter_name(delimiter);
    const char other = delimiter_of(line, size), sign[] = {'\'', delimiter, '\'', '\0'};
    if (size == 0 || memchr(line, delimiter, size) != NULL || memchr(line, other, size) == NULL)
        return true;
    return trace_fail(csv->reader.path, number, error,
                      "the first line has %s%s, line %" PRIu64 " has %ss; write the same between all columns",
                      first == NULL ? sign : first, first == NULL ? "" : "s", number,
                      wl_trace_delimiter_name(other));
}

bool wl_csv_open(const char *path, const char *what, struct wl_csv **out, struct sim_error *error)
{
    struct wl_csv *csv = calloc(1, sizeof *csv);
    *out = NULL;
    if (csv == NULL)
        return sim_fail_memory(error);
    csv->path = strdup(path);
    if (csv->path == NULL ? !sim_fail_memory(error)
                          : !trace_reader_open(csv->path, what, &csv->reader, error) ||
                                !csv_sniff(csv, '\0', WL_ESCAPE_BACKSLASH, error)) {
        wl_csv_close(csv);
        return false;
    }
    *out = csv;
    return true;
}

void wl_csv_close(struct wl_csv *csv)
{
    if (csv == NULL)
        return;
    trace_reader_close(&csv->reader);
    free(csv->path);
    free(csv->fields.bytes);
    free(csv);
}

/* Reads JSON objects with jansson, and converts the requested values to text. */

#define NAME_BYTES_MAX 512u
#define TOKEN_BYTES    32u /* a fault so near to the end of the buffer may be a token that is not whole */

/* Skips what stands between objects. Returns false at the end of the file, or when reading fails. */
static bool skip_to_object(struct trace_reader *reader, struct sim_error *error)
{
    reader->line += reader->line == 0;
    for (;; reader->begin++) {
        if (reader->begin == reader->end &&
            (reader->at_end || !trace_reader_fill(reader, error) || reader->begin == reader->end))
            return false;
        char c = reader->buffer[reader->begin];
        reader->line += c == reader->line_break;
        if (strchr(" \t\r\n,[]", c) == NULL || c == '\0')
            return true;
    }
}

/* Puts quotes around an integer that ends at `end`, which does not fit into 63 bits: it is read as a text. */
static bool quote_integer(struct trace_reader *reader, size_t end)
{
    if (!sim_grow(&reader->buffer, &reader->capacity, reader->end + 2, 1))
        return false;
    char *bytes = reader->buffer;
    size_t begin = end += reader->begin;
    while (begin > reader->begin &&
           (bytes[begin - 1] == '-' || (bytes[begin - 1] >= '0' && bytes[begin - 1] <= '9')))
        begin--;
    memmove(bytes + end + 2, bytes + end, reader->end - end);
    memmove(bytes + begin + 1, bytes + begin, end - begin);
    bytes[begin] = bytes[end + 1] = '"';
    reader->end += 2;
    return true;
}

static bool fail_json(const struct trace_reader *reader, const json_error_t *problem, struct sim_error *error)
{
    const char *line = reader->buffer + reader->begin;
    size_t size = reader->end - reader->begin;
    const char *end = size == 0 ? NULL : memchr(line, reader->line_break, size);
    bool has_brace = size > 0 && memchr(line, '{', end == NULL ? size : (size_t)(end - line)) != NULL;
    enum json_error_code code = json_error_code(problem);
    if (code == json_error_out_of_memory)
        return sim_fail_memory(error);
    return trace_fail(reader->path, reader->line, error, "%s",
                      !has_brace ? "no JSON object, but a message such as kcat and kubectl print; remove it"
                      : code == json_error_duplicate_key
                          ? "a field occurs twice in the object; rename one of them"
                          : "not JSON; write one object per line");
}

bool trace_json_next(struct trace_reader *reader, json_t **out, uint64_t *line, struct sim_error *error)
{
    const size_t flags = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK;
    json_error_t problem;
    json_decref(*out);
    *out = NULL;
    if (!skip_to_object(reader, error))
        return reader->at_end;
    *line = reader->line;
    while (*out == NULL) {
        size_t size = reader->end - reader->begin;
        if (reader->buffer[reader->begin] == '{')
            *out = json_loadb(reader->buffer + reader->begin, size, flags, &problem);
        else
            return fail_json(reader, &(json_error_t){.line = 0}, error);
        if (*out != NULL)
            break;
        size_t position = (size_t)problem.position;
        if (json_error_code(&problem) == json_error_numeric_overflow && position < size) {
            if (!quote_integer(reader, position))
                return sim_fail_memory(error);
        } else if (position + TOKEN_BYTES < size || reader->at_end || size > TRACE_LINE_BYTES_MAX) {
            return fail_json(reader, &problem, error);
        } else if (!trace_reader_fill(reader, error)) {
            return false;
        }
    }
    for (const char *at = reader->buffer + reader->begin, *end = at + problem.position; at < end; at++)
        reader->line += *at == reader->line_break;
    reader->begin += (size_t)problem.position;
    return true;
}

const json_t *trace_json_find(const json_t *object, const char *name)
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
            return trace_json_find(inner, point + 1);
        point = strchr(point + 1, '.');
    }
    return json_is_null(found) ? NULL : found;
}

bool trace_json_put(struct csv_buffer *buffer, const json_t *value, size_t *size)
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
    } else {
        text = dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        *size = dumped == NULL ? 0 : strlen(dumped);
    }
    bool ok = text != NULL && sim_grow(&buffer->bytes, &buffer->capacity, buffer->size + *size + 1, 1);
    if (ok) {
        memcpy(buffer->bytes + buffer->size, text, *size);
        buffer->size += *size;
        buffer->bytes[buffer->size++] = '\0';
    }
    free(dumped);
    return ok;
}
