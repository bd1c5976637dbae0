/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recognises files that users pass as a trace by mistake. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "record.h"
#include "trace_parts.h"

/* The columns by name, or by number if the name cannot be written in YAML and in --columns as it is. A time
 * in two columns is "[Date, Time]". */
struct trace_suggestion {
    char time[2 * sizeof(struct trace_shown) + 4], key[sizeof(struct trace_shown)];
};

static bool begins(const char *bytes, size_t size, const char *with, size_t length)
{
    return size >= length && memcmp(bytes, with, length) == 0;
}

/* Whether a line begins with a field that every scenario has. */
static bool is_scenario(const char *bytes, size_t size)
{
    static const char field[] = "strategies:";
    for (size_t at = 0; at < size;) {
        if (begins(bytes + at, size - at, field, sizeof field - 1))
            return true;
        const char *end = memchr(bytes + at, '\n', size - at);
        at = end == NULL ? size : (size_t)(end - bytes) + 1;
    }
    return false;
}

static size_t after_blanks(const char *bytes, size_t size, size_t at)
{
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    return at;
}

/* Returns "what the file is; what to do" as a constant, or NULL when the file may be a trace. */
static const char *trace_foreign(const char *bytes, size_t size)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } kinds[] = {
        {"PK\x03\x04", 4, "a zip archive or a spreadsheet; unpack it, or save it as CSV"},
        {"PAR1", 4, "a Parquet file; write it out as CSV, as DuckDB's COPY does"},
        {"SQLite format 3", 15, "a database; write a table out as CSV, by sqlite3 -csv -header"},
        {"BZh", 3, "bzip2 data; pack it by gzip or zstd"},
        {"\xfd"
         "7zXZ",
         5, "xz data; pack it by gzip or zstd"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (begins(bytes, size, kinds[i].bytes, kinds[i].size))
            return kinds[i].text;
    }
    size_t first = after_blanks(bytes, size, 0), second = after_blanks(bytes, size, first + 1);
    if (first < size && bytes[first] == '[' && (second >= size || bytes[second] != '{'))
        return second >= size || strchr("[]\"", bytes[second]) != NULL
                   ? "a JSON array without objects; write an object per row"
                   : "a log whose lines begin with a bracket, no JSON; write time and key of each line as "
                     "CSV";
    return is_scenario(bytes, size) ? "a scenario, not a trace; name a file of rows" : NULL;
}

/* Ranks the columns of a CSV file by how likely each is the time of a row, or its key. Values count more than
 * names: a time is a column whose first values all parse as times. */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ROWS_MAX     5u
#define SECONDS_DIGITS                                                                                       \
    9u /* a shorter number of seconds is before March 1973, and more likely a size or an id */
#define DATE_DIGITS     8u  /* as in 20260131 */
#define DATE_CHARACTERS 10u /* 2026-01-31, without a time of day */
#define PREFIX_LETTERS  4u  /* a listed word at least this long may also begin a longer word */

static const char *const time_words[] = {"time", "date", "at", "ts", "created", "when", "epoch"};
static const char *const later_words[] = {"received", "arrived", "arrival",  "ingest", "stored",
                                          "inserted", "updated", "modified", "delete", "expire"};
static const char *const entity_words[] = {
    "device",       "user",   "channel", "sensor", "room",   "account", "customer", "tenant", "session",
    "host",         "server", "guild",   "author", "member", "stream",  "topic",    "meter",  "vehicle",
    "conversation", "thread", "client",  "owner",  "chat",   "group",   "station",  "series", "machine"};
static const char *const id_words[] = {"id", "uuid"};
static const char *const key_words[] = {"key"}; /* the usual name */

/* What the values of a column have in common. */
struct column {
    bool is_known;  /* a value was read */
    bool is_number; /* all values are numbers */
    bool is_date;   /* all values are dates without a time of day */
    bool is_of_day; /* all values are times of day without a date */
    int time;       /* how sure it is that all are times: 0 they are not; 1 ids that contain a time; 2 numbers
                       in the range of times since 1970, or digits of dates; 3 ISO 8601 */
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_word_at(const char *name, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; i < size; i++) {
        if (lower(name[i]) != word[i])
            return false;
    }
    return size >= PREFIX_LETTERS || !is_letter(name[size]) ||
           (lower(name[size - 1]) == name[size - 1] && lower(name[size]) != name[size]);
}

/* Whether a name has one of these words: "Measured At", "measured_at" and "measuredAt" have the word "at". */
static bool has_word(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; name[i] != '\0'; i++) {
        bool is_begin =
            is_letter(name[i]) && (i == 0 || !is_letter(name[i - 1]) ||
                                   (lower(name[i]) != name[i] && lower(name[i - 1]) == name[i - 1]));
        for (size_t word = 0; is_begin && word < count; word++) {
            if (is_word_at(name + i, words[word]))
                return true;
        }
    }
    return false;
}

#define HAS_WORD(name, words) has_word(name, words, COUNT(words))

static void take_value(struct column *column, const char *text, size_t size)
{
    enum wl_trace_time kind = trace_time_kind(text, size);
    bool is_number = kind >= WL_TIME_S && kind <= WL_TIME_NS;
    int time = 0;
    int64_t date_ns;
    bool has_zone;
    if (kind == WL_TIME_ISO)
        time = 3;
    else if (is_number)
        time = kind != WL_TIME_S || strspn(text, "0123456789") >= SECONDS_DIGITS ||
                       (size == DATE_DIGITS &&
                        trace_time_parse(WL_TIME_YYYYMMDD, 0, text, size, &date_ns, &has_zone))
                   ? 2
                   : 0;
    else if (kind != WL_TIME_AUTO)
        time = 1;
    column->time = column->is_known && column->time < time ? column->time : time;
    column->is_number = is_number && (!column->is_known || column->is_number);
    bool is_date = time > 0 && size == (kind == WL_TIME_ISO ? DATE_CHARACTERS : DATE_DIGITS);
    column->is_date = is_date && (!column->is_known || column->is_date);
    column->is_of_day = trace_time_is_of_day(text, size) && (!column->is_known || column->is_of_day);
    column->is_known = true;
}

static int time_rank(const char *name, const struct column *column)
{
    int word = HAS_WORD(name, time_words);
    if (column->time == 0)
        return column->is_known ? 0 : word;
    int rank = 4 * column->time + 2 * word - 3 * HAS_WORD(name, later_words) -
               2 * (HAS_WORD(name, entity_words) || HAS_WORD(name, id_words));
    return rank < 1 ? 1 : rank;
}

/* A number in the range of times may also be a Snowflake. */
static int key_rank(const char *name, const struct column *column)
{
    return 8 - (column->time >= 2 ? 3 * (column->time - 1) : 0) + 4 * HAS_WORD(name, entity_words) +
           2 * HAS_WORD(name, id_words) + 4 * HAS_WORD(name, key_words) - 2 * HAS_WORD(name, time_words) +
           !column->is_number;
}

/* The name of a column if it means only this column and needs no quotes in YAML; otherwise its number. */
static void name_column(const struct wl_csv_record *header, size_t index, char *out, size_t size)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-./() ";
    const char *name = header->fields[index] + strspn(header->fields[index], " ");
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == ' ')
        length--;
    bool is_plain = length > 0 && length < size && (is_letter(name[0]) || name[0] == '_') &&
                    strspn(name, safe) == strlen(name);
    for (size_t i = 0; is_plain && i < header->count; i++)
        is_plain = i == index || strcmp(header->fields[i], header->fields[index]) != 0;
    if (is_plain)
        snprintf(out, size, "%.*s", (int)length, name);
    else
        snprintf(out, size, "%zu", index + 1);
}

static void choose(const struct wl_csv_record *header, const struct column *columns, const size_t *known,
                   struct trace_suggestion *out)
{
    size_t time = known == NULL ? 0 : *known, key = 0;
    int best = 0;
    for (size_t i = 0; known == NULL && i < header->count; i++) {
        int rank = time_rank(header->fields[i], &columns[i]);
        if (rank > best) {
            best = rank;
            time = i;
        }
    }
    size_t date = time, of_day = time;
    for (size_t i = 0; i < header->count; i++) {
        date = columns[time].is_of_day && columns[i].is_date ? i : date;
        of_day = columns[time].is_date && columns[i].is_of_day ? i : of_day;
    }
    best = -1;
    for (size_t i = 0; i < header->count; i++) {
        int rank = i == time || i == date || i == of_day ? -1 : key_rank(header->fields[i], &columns[i]);
        if (rank > best) {
            best = rank;
            key = i;
        }
    }
    char first[sizeof out->key], second[sizeof out->key];
    name_column(header, date, first, sizeof first);
    name_column(header, of_day, second, sizeof second);
    snprintf(out->time, sizeof out->time, date == of_day ? "%s" : "[%s, %s]", first, second);
    name_column(header, key, out->key, sizeof out->key);
}

/* The next records of `reader` are the first rows below `header`; some of them are consumed, up to one that
 * is malformed. time: the index of the time if it is known, otherwise NULL. Returns false, with an error of
 * the environment, when the file cannot be read or memory runs out. */
static bool trace_suggest(const struct wl_csv_record *header, struct trace_reader *reader,
                          const struct csv_dialect *dialect, const size_t *time, struct trace_suggestion *out,
                          struct sim_error *error)
{
    struct csv_records records = {0};
    struct wl_csv_record row = {0};
    struct column columns[WL_CSV_FIELDS_MAX] = {0};
    struct sim_error ignored = {0};
    bool ok = true;
    for (unsigned i = 0; i < ROWS_MAX; i++) {
        ok = csv_records_next(&records, reader, dialect, &row, &ignored);
        if (!ok || row.count != header->count)
            break;
        for (size_t j = 0; j < row.count; j++) {
            if (row.sizes[j] > 0)
                take_value(&columns[j], row.fields[j], row.sizes[j]);
        }
    }
    csv_records_free(&records);
    if (!ok && ignored.class != SIM_ERROR_INPUT) {
        *error = ignored;
        return false;
    }
    choose(header, columns, time, out);
    return true;
}

/* Reads a trace's rows by columns. */

#define LINE_BYTES_MAX   ((size_t)16 << 20)
#define TEXT_SIZE        640u
#define SAMPLE_ROWS      1000u
#define BANNER_LINES_MAX 4u
#define SAMPLE_BYTES     ((uint64_t)256 << 10)

static __attribute__((format(printf, 4, 5))) bool fail(const struct trace_table *table, uint64_t line,
                                                       struct sim_error *error, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s", trace_table_path(table), line, text);
}

/* Whether a field is a name. Surrounding spaces are ignored; case is ignored unless `is_exact`. */
static bool is_name(const char *field, const char *name, bool is_exact)
{
    field += strspn(field, " ");
    for (; *name != '\0' && (*field == *name || (!is_exact && lower(*field) == lower(*name))); field++)
        name++;
    return *name == '\0' && field[strspn(field, " ")] == '\0';
}

/* The trace_column_finder of a CSV file, which searches the first record. */
static size_t find_in_csv(const void *file, const char *name, size_t *index)
{
    const struct trace_table *table = file;
    for (int pass = 0; table->has_header && pass < 2; pass++) {
        size_t found = 0;
        for (size_t i = 0; i < table->record.count; i++) {
            if (is_name(table->record.fields[i], name, pass == 0)) {
                *index = i;
                found++;
            }
        }
        if (found > 0)
            return found;
    }
    return trace_column_number(name, index) && *index < table->record.count;
}

struct first_object {
    struct trace_table *table;
    const char *line;
    size_t size;
};

/* The trace_column_finder of a JSON file, which searches the first object. */
static size_t find_in_json(const void *file, const char *name, size_t *index)
{
    const struct first_object *first = file;
    const char *why;
    *index = 0;
    return trace_json_fields(&first->table->json, first->line, first->size, &name, 1, &first->table->record,
                             &why) &&
           first->table->record.fields[0] != NULL;
}

/* Whether a column of the header, or a field of the first object, is used, or has a nested field that is. */
static bool is_used(const struct trace_table *table, size_t column)
{
    const struct trace_columns *columns = &table->columns;
    const char *field = table->record.fields[column];
    size_t size = table->record.sizes[column];
    bool found = false;
    for (size_t i = 0; i < columns->name_count; i++)
        found =
            found || (table->is_json ? strncmp(columns->names[i], field, size) == 0 &&
                                           (columns->names[i][size] == '\0' || columns->names[i][size] == '.')
                                     : columns->fields[i] == column);
    return found;
}

/* Lists the names in a header, for a message. */
static void list_names(const struct trace_table *table, bool are_unused, char *out)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < table->record.count && used < TRACE_LISTING_SIZE - 48; i++) {
        struct trace_shown shown = trace_show(table->record.fields[i], table->record.sizes[i]);
        if (!are_unused || !is_used(table, i))
            used += (size_t)snprintf(out + used, TRACE_LISTING_SIZE - used, "%s'%s'", used == 0 ? "" : ", ",
                                     shown.text);
    }
    if (used >= TRACE_LISTING_SIZE - 48)
        snprintf(out + used, TRACE_LISTING_SIZE - used, ", ...");
}

static bool has_time_field(const struct trace_table *table)
{
    for (size_t i = 0; i < table->record.count; i++) {
        if (trace_time_kind(table->record.fields[i], table->record.sizes[i]) != WL_TIME_AUTO)
            return true;
    }
    return false;
}

static bool fail_unnamed(struct trace_table *table, const char *missing, const char *listing,
                         struct sim_error *error)
{
    struct trace_suggestion suggestion;
    const struct trace_columns *columns = &table->columns;
    const char *count = trace_columns_count(find_in_csv, table);
    if (!trace_suggest(&table->record, &table->reader, &table->dialect,
                       columns->time_name == NULL ? NULL : &columns->time, &suggestion, error))
        return false;
    bool has_count = count != NULL && !is_name(suggestion.key, count, false);
    return fail(table, table->record.line, error,
                "no column '%s' in the header %s; say which columns are which, as in columns: {time: %s, "
                "key: %s%s%s}",
                missing, listing, suggestion.time, suggestion.key, has_count ? ", count: " : "",
                has_count ? count : "");
}

static bool fail_column(struct trace_table *table, const char *missing, struct sim_error *error)
{
    char listing[TRACE_LISTING_SIZE];
    list_names(table, false, listing);
    uint64_t line = table->record.line;
    bool are_given = trace_columns_are_given(&table->format->columns);
    size_t number;
    if (table->columns.is_ambiguous)
        return fail(
            table, line, error,
            "more than one column is named '%s' in the header %s; give the number of one, such as %zu",
            missing, listing, table->columns.twice + 1);
    if (trace_column_number(missing, &number))
        return fail(table, line, error, "no column %zu, the first line has %zu; count from 1", number + 1,
                    table->record.count);
    if (are_given && !table->has_header)
        return fail(
            table, line, error,
            "no column '%s', as the file has no header; number the columns, as in columns: {time: 1, key: 2}",
            missing);
    if (!are_given && has_time_field(table))
        return fail(
            table, line, error,
            "no header, the first line is a row; say which columns are which, as in columns: {time: 1, "
            "key: 2, bytes: 3}");
    if (table->record.count == 1)
        return fail(
            table, line, error, "one column, %s; %s", listing,
            table->format->delimiter != '\0'
                ? "the line lacks the delimiter that the scenario names; change 'delimiter', or leave it out"
                : "write the header 'timestamp_ms,key,bytes' and rows below it, or name the delimiter, as in "
                  "delimiter: tab");
    const char *nearest =
        sim_nearest(missing, (const char *const *)table->record.fields, table->record.count);
    if (are_given && nearest != NULL)
        return fail(table, line, error, "no column '%s' in the header %s; did you mean '%s'?", missing,
                    listing, trace_show(nearest, strlen(nearest)).text);
    if (are_given)
        return fail(table, line, error, "no column '%s' in the header %s; name one of these", missing,
                    listing);
    return fail_unnamed(table, missing, listing, error);
}

/* When columns are given by number, a first line whose time field is not a time is taken as a header. */
static bool looks_like_header(const struct trace_table *table)
{
    const char *name = table->format->columns.time;
    size_t index = 0;
    if (name == NULL || !trace_column_number(name, &index) || index >= table->record.count)
        return true;
    return trace_time_kind(table->record.fields[index], table->record.sizes[index]) == WL_TIME_AUTO;
}

static bool read_record(struct trace_table *table, struct sim_error *error)
{
    return csv_records_next(&table->records, &table->reader, &table->dialect, &table->record, error);
}

static bool fail_fields(const struct trace_table *table, struct sim_error *error)
{
    size_t here = table->record.count, wanted = table->field_count;
    if (here == 1 &&
        !csv_check_delimiter(trace_table_path(table), table->record.line, table->record.fields[0],
                             table->record.sizes[0], table->dialect.delimiter, error))
        return false;
    return fail(table, table->record.line, error, "%zu column%s where the %s has %zu: %s", here,
                here == 1 ? "" : "s", table->has_header ? "header" : "first row", wanted,
                here > wanted ? "one or more too many; quote a field that holds the delimiter"
                              : "one or more are missing; write an empty field for a missing value");
}

/* Reads the text of the next row of JSON; *text is NULL at the end of the file. */
static bool next_object(struct trace_table *table, char **text, size_t *size, struct sim_error *error)
{
    if (table->has_objects)
        return trace_reader_object(&table->reader, text, size, error);
    do {
        if (!trace_reader_next(&table->reader, text, size, error))
            return false;
    } while (*text != NULL && *size == 0);
    return true;
}

/* Reads the next row of the current file into table->record; record.count is 0 at the end of the file. */
static bool next_record(struct trace_table *table, struct sim_error *error)
{
    if (!table->is_json) {
        if (!read_record(table, error))
            return false;
        return table->record.count == 0 || table->record.count == table->field_count ||
               fail_fields(table, error);
    }
    char *line;
    size_t size;
    if (!next_object(table, &line, &size, error))
        return false;
    table->record.count = 0;
    table->record.line = table->reader.line;
    const char *why;
    if (line == NULL)
        return true;
    if (trace_json_fields(&table->json, line, size, table->columns.names, table->columns.name_count,
                          &table->record, &why))
        return true;
    return why == NULL ? sim_fail_memory(error) : fail(table, table->reader.line, error, "%s", why);
}

/* The field without surrounding spaces. */
static const char *trimmed(const struct trace_table *table, size_t index, size_t *size)
{
    const char *text = table->record.fields[index];
    *size = text == NULL ? 0 : table->record.sizes[index];
    while (*size > 0 && *text == ' ') {
        text++;
        --*size;
    }
    while (*size > 0 && text[*size - 1] == ' ')
        --*size;
    return text == NULL ? "" : text;
}

/* The text of the row's time in a column; a time in two columns is joined. NULL when out of memory. */
static const char *time_text(struct trace_table *table, size_t column, size_t *size)
{
    const struct trace_columns *columns = &table->columns;
    const char *text = trimmed(table, column, size);
    if (columns->time_of_day_name == NULL || column != columns->time)
        return text;
    size_t day_size;
    const char *of_day = trimmed(table, columns->time_of_day, &day_size);
    if (!sim_grow(&table->key, &table->key_capacity, *size + day_size + 2, 1))
        return NULL;
    *size = trace_time_join(text, *size, of_day, day_size, table->key);
    return table->key;
}

static bool is_ms_name(const char *name)
{
    size_t size = strlen(name);
    return size > 3 && is_name(name + size - 3, "_ms", false);
}

/* Returns to a place where reading has been. */
static bool go_back(struct trace_table *table, uint64_t place, uint64_t line, struct sim_error *error)
{
    return trace_reader_go(&table->reader, place, line) ||
           fail(table, line + 1, error, "the file changed while it was read; read it again");
}

/* Finds the format of the times by the first rows. Later rows must have it too, so together with this check
 * the whole column is judged. */
static bool judge_times(struct trace_table *table, struct sim_error *error)
{
    struct trace_time_judge judge = {0};
    struct sim_error fault = {.class = SIM_ERROR_NONE};
    char readings[TRACE_READINGS_SIZE];
    const uint64_t place = trace_reader_place(&table->reader), line = table->reader.line;
    for (unsigned i = 0; i < SAMPLE_ROWS && trace_reader_place(&table->reader) < place + SAMPLE_BYTES; i++) {
        if (!next_record(table, &fault) || table->record.count == 0)
            break;
        size_t size;
        const char *text = time_text(table, table->columns.time, &size);
        if (text == NULL)
            return sim_fail_memory(error);
        if (size > 0)
            trace_time_take(&judge, text, size, table->record.line);
    }
    if (fault.class != SIM_ERROR_NONE && fault.class != SIM_ERROR_INPUT) {
        *error = fault;
        return false;
    }
    bool is_number = judge.first >= WL_TIME_S && judge.first <= WL_TIME_NS;
    bool is_ms = is_number && is_ms_name(table->columns.time_name);
    table->time = is_ms ? WL_TIME_MS : trace_time_verdict(&judge, readings);
    if (table->time == WL_TIME_AUTO && readings[0] != '\0')
        return fail(table, judge.line, error,
                    "%s '%s' may be %s; say which with --set trace.time=NAME, or by 'time' under trace",
                    table->columns.time_name, judge.value, readings);
    return go_back(table, place, line, error);
}

static bool begin_csv(struct trace_table *table, struct sim_error *error)
{
    const struct wl_trace_format *format = table->format;
    const char *missing;
    const uint64_t place = trace_reader_place(&table->reader), number = table->reader.line;
    if (!read_record(table, error))
        return false;
    if (table->record.count == 0)
        return fail(table, 1, error,
                    "the file is empty; write the header 'timestamp_ms,key,bytes' and rows below it");
    bool are_numbers =
        trace_columns_are_given(&format->columns) && trace_columns_are_numbers(&format->columns);
    table->has_header = format->header == WL_HEADER_YES ||
                        (format->header == WL_HEADER_AUTO && (!are_numbers || looks_like_header(table)));
    table->field_count = table->record.count;
    if (!trace_columns_find(format, find_in_csv, table, false, &table->columns, &missing))
        return fail_column(table, missing, error);
    if (table->has_header)
        list_names(table, true, table->unused);
    return table->has_header || go_back(table, place, number, error);
}

static bool begin_json(struct trace_table *table, struct sim_error *error)
{
    struct first_object first = {.table = table};
    char *line;
    const char *missing, *why;
    uint64_t place = trace_reader_place(&table->reader), number = table->reader.line;
    if (!next_object(table, &line, &first.size, error))
        return false;
    if (line == NULL)
        return fail(table, 1, error, "the file is empty; write one JSON object a line");
    first.line = line;
    if (!trace_json_fields(&table->json, line, first.size, NULL, 0, &table->record, &why))
        return why == NULL ? sim_fail_memory(error) : fail(table, table->reader.line, error, "%s", why);
    if (!trace_columns_find(table->format, find_in_json, &first, true, &table->columns, &missing))
        return fail(
            table, table->reader.line, error,
            "no field '%s' in the first object; say which fields are which, as in columns: {time: %s, key: "
            "user}",
            missing, table->columns.time_name == NULL ? "created_at" : table->columns.time_name);
    if (!trace_json_fields(&table->json, line, first.size, NULL, 0, &table->record, &why))
        return sim_fail_memory(error);
    list_names(table, true, table->unused);
    return go_back(table, place, number, error);
}

/* Whether one of the first lines begins as a JSON object does; programs print messages above their rows. */
static bool has_object(const char *bytes, size_t size)
{
    const char *end = bytes, *at = bytes;
    size_t begin = after_blanks(bytes, size, 0);
    if (begin < size && bytes[begin] == '[')
        return true;
    for (unsigned i = 0; i < BANNER_LINES_MAX && end != NULL && at < bytes + size; i++, at = end + 1) {
        const char *first = at;
        while (first < bytes + size && (*first == ' ' || *first == '\n' || *first == '\r'))
            first++;
        if (bytes + size - first > 1 && *first == '{' && (i == 0 || first[1] == '"'))
            return true;
        end = memchr(at, '\n', (size_t)(bytes + size - at));
        if (end == NULL)
            return false;
    }
    return false;
}

/* Whether the first object of a JSON file is in an array, or ends on another line than it begins. */
static bool has_objects(const char *bytes, size_t size)
{
    size_t at = after_blanks(bytes, size, 0), depth = 0;
    bool is_text = false;
    if (at < size && bytes[at] == '[')
        return true;
    for (; at < size && bytes[at] != '\n'; at++) {
        if (bytes[at] == '\\')
            at++;
        else if (bytes[at] == '"')
            is_text = !is_text;
        else if (!is_text)
            depth += (size_t)(bytes[at] == '{') - (bytes[at] == '}' && depth > 0);
    }
    return at < size && depth > 0;
}

static bool open_file(struct trace_table *table, size_t file, struct sim_error *error)
{
    const struct wl_trace_format *format = table->format;
    const char *bytes;
    size_t size;
    table->done_bytes += file > table->file ? table->reader.all_bytes : 0;
    trace_reader_close(&table->reader);
    table->file = file;
    if (!trace_reader_open(table->files.paths[file], &table->reader, error))
        return false;
    table->reader.line_bytes_max = LINE_BYTES_MAX;
    if (!trace_reader_peek(&table->reader, &bytes, &size, error))
        return false;
    const char *foreign = trace_foreign(bytes, size);
    if (foreign != NULL)
        return fail(table, 1, error, "this is %s", foreign);
    const char *end = memchr(bytes, '\n', size);
    if (size > 0 && memchr(bytes, '\0', end == NULL ? size : (size_t)(end - bytes)) != NULL)
        return fail(table, 1, error, "NUL byte; save the trace as UTF-8 text");
    table->is_json =
        format->layout == WL_LAYOUT_JSON || (format->layout == WL_LAYOUT_AUTO && has_object(bytes, size));
    table->has_objects = table->is_json && has_objects(bytes, size);
    table->dialect = csv_sniff(bytes, size);
    if (format->delimiter != '\0')
        table->dialect.delimiter = format->delimiter;
    if (format->escape != WL_ESCAPE_AUTO)
        table->dialect.has_backslash = format->escape == WL_ESCAPE_BACKSLASH;
    return (table->is_json ? begin_json(table, error) : begin_csv(table, error)) &&
           (table->time != WL_TIME_AUTO || judge_times(table, error));
}

/* Reads the next row into table->record, from the next file where the current one has ended. */
static bool advance(struct trace_table *table, bool *more, struct sim_error *error)
{
    for (;;) {
        if (!next_record(table, error))
            return false;
        *more = table->record.count > 0;
        if (*more || table->file + 1 == table->files.count)
            return true;
        if (!open_file(table, table->file + 1, error))
            return false;
    }
}

static bool read_time(struct trace_table *table, size_t column, const char *name, int64_t *out_ns,
                      struct sim_error *error)
{
    const struct wl_trace_format *format = table->format;
    size_t size;
    const char *text = time_text(table, column, &size);
    bool has_zone;
    if (text == NULL)
        return sim_fail_memory(error);
    if (size == 0)
        return fail(table, table->record.line, error, "%s is %s; give each row a time", name,
                    table->record.fields[column] == NULL ? "missing" : "empty");
    struct trace_shown shown = trace_show(text, size);
    if (table->time == WL_TIME_AUTO && trace_time_is_of_day(text, size))
        return fail(
            table, table->record.line, error,
            "%s '%s' is a time of day; name the column of its date too, as in columns: {time: [date, %s]}",
            name, shown.text, name);
    if (table->time == WL_TIME_AUTO)
        return fail(
            table, table->record.line, error,
            "%s '%s' is not a time in a known format; write ISO 8601, as in 2026-01-31T12:30:00Z, or an "
            "epoch in s, ms, us or ns",
            name, shown.text);
    int64_t epoch_ns = format->has_epoch ? format->epoch_ns : WL_SNOWFLAKE_EPOCH_NS;
    bool is_fine = trace_time_parse(table->time, epoch_ns, text, size, out_ns, &has_zone);
    if (!is_fine || *out_ns / SIM_MS > TRACE_TIME_MS_MAX - 1 || *out_ns / SIM_MS < -TRACE_TIME_MS_MAX + 1) {
        enum wl_trace_time other = table->time == WL_TIME_MS ? WL_TIME_YYYYMMDD : WL_TIME_MS;
        return fail(table, table->record.line, error,
                    "%s '%s' is not a time in %s between the years 1677 and 2262%s%s", name, shown.text,
                    wl_trace_time_name(table->time),
                    format->time == WL_TIME_AUTO
                        ? ", as most are; write all alike, or name the format, as in time: "
                        : "; correct it, or change 'time'",
                    format->time == WL_TIME_AUTO ? wl_trace_time_option(other) : "");
    }
    table->has_zones = table->has_zones && has_zone;
    return true;
}

/* Joins the parts of the key by '/', and escapes a '/' within a part by a backslash; a single part is used
 * unchanged. */
static bool read_key(struct trace_table *table, struct trace_row *out, struct sim_error *error)
{
    const struct trace_columns *columns = &table->columns;
    const struct trace_place place = {.path = trace_table_path(table), .line = table->record.line};
    size_t used = 0;
    out->key = table->record.fields[columns->key[0]];
    out->key_size = out->key == NULL ? 0 : table->record.sizes[columns->key[0]];
    for (size_t part = 0; columns->key_count > 1 && part < columns->key_count; part++) {
        const char *text = table->record.fields[columns->key[part]];
        size_t size = text == NULL ? 0 : table->record.sizes[columns->key[part]];
        if (!sim_grow(&table->key, &table->key_capacity, used + 2 * size + 1, 1))
            return sim_fail_memory(error);
        if (part > 0)
            table->key[used++] = '/';
        for (size_t i = 0; i < size; i++) {
            if (text[i] == '/' || text[i] == '\\')
                table->key[used++] = '\\';
            table->key[used++] = text[i];
        }
        out->key = table->key;
        out->key_size = used;
    }
    return trace_key_check(out->key, out->key_size, &place, error);
}

static bool read_value(struct trace_table *table, uint64_t *out, struct sim_error *error)
{
    const struct trace_columns *columns = &table->columns;
    const struct trace_place place = {.path = trace_table_path(table),
                                      .line = table->record.line,
                                      .has_counts = columns->kind == TRACE_VALUE_COUNT};
    *out = 0;
    if (columns->kind == TRACE_VALUE_NONE)
        return true;
    if (columns->kind == TRACE_VALUE_LENGTH) {
        for (size_t i = 0; i < columns->value_count; i++)
            *out +=
                table->record.fields[columns->value[i]] == NULL ? 0 : table->record.sizes[columns->value[i]];
        return true;
    }
    size_t size;
    const char *text = trimmed(table, columns->value[0], &size);
    if (size > 2 &&
        memcmp(text + size - 2, ".0", 2) == 0) /* as written by programs that have no integer type */
        size -= 2;
    return trace_value_parse(text, size, &place, out, error);
}

/* A row whose own time is after its arrival, because a device's clock is wrong, counts as not late. */
static bool read_times(struct trace_table *table, struct trace_row *out, struct sim_error *error)
{
    const struct trace_columns *columns = &table->columns;
    int64_t own_ns;
    if (!read_time(table, columns->time, columns->time_name, &own_ns, error))
        return false;
    out->time_ns = own_ns;
    if (columns->arrived_name == NULL)
        return true;
    if (!read_time(table, columns->arrived, columns->arrived_name, &out->time_ns, error))
        return false;
    if (out->time_ns > own_ns && (uint64_t)out->time_ns - (uint64_t)own_ns > (uint64_t)WL_TRACE_LATE_MAX)
        return fail(table, table->record.line, error,
                    "the row arrived more than 3650 days after its time; leave it out, or change 'time'");
    out->late_ns = out->time_ns > own_ns ? out->time_ns - own_ns : 0;
    return true;
}

bool trace_table_next(struct trace_table *table, struct trace_row *out, bool *more, struct sim_error *error)
{
    *out = (struct trace_row){0};
    if (!advance(table, more, error))
        return false;
    return !*more || (read_times(table, out, error) && read_key(table, out, error) &&
                      read_value(table, &out->value, error));
}

bool trace_table_open(struct trace_table *table, const char *path, const struct wl_trace_format *format,
                      struct sim_error *error)
{
    *table =
        (struct trace_table){.format = format, .time = (enum wl_trace_time)format->time, .has_zones = true};
    return wl_trace_files_find(path, &table->files, error) && open_file(table, 0, error);
}

const char *trace_table_path(const struct trace_table *table)
{
    return table->files.paths[table->file];
}

uint64_t trace_table_line(const struct trace_table *table)
{
    return table->record.line;
}

uint64_t trace_table_offset(const struct trace_table *table)
{
    return table->done_bytes + trace_reader_offset(&table->reader);
}

static size_t put(char *buffer, size_t size, size_t used, const char *before, const char *name)
{
    struct trace_shown shown = trace_show(name, strlen(name));
    int written = used < size ? snprintf(buffer + used, size - used, "%s'%s'", before, shown.text) : 0;
    return used + (size_t)written;
}

void trace_table_text(const struct trace_table *table, char *buffer, size_t size)
{
    const struct trace_columns *columns = &table->columns;
    static const char *const kinds[] = {"no sizes", "bytes", "count", "bytes of"};
    size_t used = 0;
    if (table->is_json)
        used = (size_t)snprintf(buffer, size, table->has_objects ? "JSON objects" : "JSON lines");
    else if (table->dialect.is_pasted)
        used = (size_t)snprintf(buffer, size, "a table pasted from a terminal");
    else if (table->dialect.delimiter == '\t')
        used = (size_t)snprintf(buffer, size, "CSV with tabs");
    else
        used = (size_t)snprintf(buffer, size, "CSV with '%c'", table->dialect.delimiter);
    if (!table->is_json)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", table->has_header ? "" : " without a header",
                             table->dialect.has_backslash ? " and backslashes" : "");
    if (table->files.count > 1)
        used += (size_t)snprintf(buffer + used, size - used, " in %zu files", table->files.count);
    used = put(buffer, size, used, ", time ", columns->time_name);
    if (columns->time_of_day_name != NULL)
        used = put(buffer, size, used, " + ", columns->time_of_day_name);
    if (table->time != WL_TIME_AUTO && used < size)
        used += (size_t)snprintf(buffer + used, size - used, " in %s%s", wl_trace_time_name(table->time),
                                 table->has_zones ? "" : " without a zone, taken as UTC");
    for (size_t i = 0; i < columns->key_count; i++)
        used = put(buffer, size, used, i == 0 ? ", key " : " + ", columns->names[1 + i]);
    if (columns->kind != TRACE_VALUE_NONE)
        used += used < size ? (size_t)snprintf(buffer + used, size - used, ", %s", kinds[columns->kind]) : 0;
    for (size_t i = 0; i < columns->value_count; i++)
        used = put(buffer, size, used, i == 0 ? " " : " + ", columns->names[1 + columns->key_count + i]);
    if (columns->arrived_name != NULL)
        used = put(buffer, size, used, ", arrived ", columns->arrived_name);
    if (columns->kind == TRACE_VALUE_NONE && used < size)
        used += (size_t)snprintf(buffer + used, size - used, ", no sizes");
    if (table->unused[0] != '\0' && used < size)
        snprintf(buffer + used, size - used, "; not used: %s", table->unused);
}

void trace_table_close(struct trace_table *table)
{
    trace_reader_close(&table->reader);
    csv_records_free(&table->records);
    trace_json_free(&table->json);
    wl_trace_files_clear(&table->files);
    free(table->key);
    *table = (struct trace_table){0};
}
