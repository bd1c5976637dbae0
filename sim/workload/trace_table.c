/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In: the records of a trace's files. Keeps which columns are a row's time, key and value, found by the names
 * in the format or by the usual names, and how times are written. Out: rows; or what the file is instead, and
 * a proposal for its columns. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "trace_parts.h"

#define COUNT(array)     (sizeof(array) / sizeof *(array))
#define BANNER_LINES_MAX 4u
#define PATTERN_BYTES    128u
#define YEAR_ASSUMED     2000u /* of times without one; it has a 29th of February */
#define YEAR_MOST        2261u
#define HALF_YEAR        (182 * SIM_DAY) /* a time so much earlier than the one above is of the next year */

/* The usual names of the columns for time, key and value, the most likely name first. */
static const struct {
    enum trace_role role;
    const char *name;
} usual_names[] = {{TRACE_TIME, "timestamp_ms"},
                   {TRACE_TIME, "timestamp"},
                   {TRACE_TIME, "time"},
                   {TRACE_TIME, "ts"},
                   {TRACE_TIME, "created_at"},
                   {TRACE_TIME, "created"},
                   {TRACE_TIME, "datetime"},
                   {TRACE_TIME, "date"},
                   {TRACE_TIME, "at"},
                   {TRACE_TIME, "event_time"},
                   {TRACE_TIME, "__REALTIME_TIMESTAMP"},
                   {TRACE_KEY, "key"},
                   {TRACE_KEY, "_HOSTNAME"},
                   {TRACE_BYTES, "bytes"},
                   {TRACE_BYTES, "size"},
                   {TRACE_COUNT, "count"}};

static void add_column(struct trace_columns *columns, enum trace_role role, const char *name, size_t field)
{
    if (columns->counts[role]++ == 0)
        columns->first[role] = columns->count;
    columns->all[columns->count++] = (struct trace_column){role, name, field};
}

/* The columns that a format names. */
static void list_given(const struct wl_trace_columns *columns, struct trace_columns *out)
{
    const char *const single[TRACE_ROLES] = {[TRACE_TIME] = columns->time,
                                             [TRACE_TIME_OF_DAY] = columns->time_of_day,
                                             [TRACE_BYTES] = columns->bytes,
                                             [TRACE_COUNT] = columns->count,
                                             [TRACE_ARRIVED] = columns->arrived};
    *out = (struct trace_columns){0};
    for (enum trace_role role = 0; role < TRACE_ROLES; role++) {
        if (single[role] != NULL)
            add_column(out, role, single[role], 0);
        for (size_t i = 0; role == TRACE_KEY && i < columns->key_count; i++)
            add_column(out, role, columns->key[i], 0);
        for (size_t i = 0; role == TRACE_BYTES_OF && i < columns->bytes_of_count; i++)
            add_column(out, role, columns->bytes_of[i], 0);
    }
}

/* Whether nothing was specified, so that everything is detected from the file. */
static bool is_plain(const struct wl_trace_format *format)
{
    struct trace_columns given;
    list_given(&format->columns, &given);
    return given.count == 0 && format->layout == WL_LAYOUT_AUTO && format->time == WL_TIME_AUTO &&
           format->escape == WL_ESCAPE_AUTO && format->header == WL_HEADER_AUTO &&
           format->delimiter == '\0' && !format->sort && !format->has_epoch && format->pattern == NULL &&
           format->line == NULL && format->year == 0 && format->zone_ns == 0;
}

void wl_trace_format_clear(struct wl_trace_format *format)
{
    struct trace_columns given;
    list_given(&format->columns, &given);
    for (size_t i = 0; i < given.count; i++)
        free((char *)(uintptr_t)given.all[i].name);
    free(format->pattern);
    free(format->line);
    *format = (struct wl_trace_format){0};
}

/* Parses a column's number, counted from 1, such as "12", and sets *index to it, counted from 0; false when
 * the text is a name. */
static bool column_number(const char *name, size_t *index)
{
    *index = 0;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || *index > WL_CSV_FIELDS_MAX)
            return false;
        *index = *index * 10 + (size_t)(*c - '0');
    }
    return *name != '\0' && (*index)-- > 0;
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

static size_t after_blanks(const char *bytes, size_t size, size_t at)
{
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    return at;
}

/* Judges a file by its first bytes. Returns "what the file is; what to do" as a constant for a file that
 * users pass by mistake. Otherwise NULL, and *is_json is set to whether one of the first lines begins as a
 * JSON object does; programs print messages above their rows. */
static const char *sniff(const char *bytes, size_t size, bool *is_json)
{
    static const struct {
        const char *bytes, *text;
    } kinds[] = {
        {"PAR1", "a Parquet file; convert it, by duckdb -c \"COPY (FROM 'IN.parquet') TO 'OUT.csv'\""},
        {"SQLite format 3", "a database; write a table out as CSV, by sqlite3 -csv -header"},
    };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (size >= strlen(kinds[i].bytes) && memcmp(bytes, kinds[i].bytes, strlen(kinds[i].bytes)) == 0)
            return kinds[i].text;
    }
    size_t at = after_blanks(bytes, size, 0), second = after_blanks(bytes, size, at + 1);
    *is_json = at < size && bytes[at] == '[';
    if (*is_json && (second >= size || bytes[second] != '{')) {
        *is_json = false;
        return second >= size || strchr("[]\"", bytes[second]) != NULL
                   ? "a JSON array without objects; write an object per row"
                   : NULL;
    }
    for (unsigned line = 0; at < size; line++) {
        static const char field[] = "strategies:"; /* every scenario has it */
        const char *end = memchr(bytes + at, '\n', size - at);
        if (size - at >= sizeof field && memcmp(bytes + at, field, sizeof field - 1) == 0)
            return "a scenario, not a trace; name a file of rows";
        at = line < BANNER_LINES_MAX ? after_blanks(bytes, size, at) : at;
        *is_json = *is_json || (line < BANNER_LINES_MAX && size - at > 1 && bytes[at] == '{' &&
                                (line == 0 || bytes[at + 1] == '"'));
        at = end == NULL ? size : (size_t)(end - bytes) + 1;
    }
    return NULL;
}

/* Ranks the columns of a file by how likely each is the time of a row, or its key, by a sample of its rows. A
 * time is a column whose values all parse as times. A key has the name of an entity, or texts that repeat. */

#define NESTED_MOST     3u  /* levels of nested objects among which fields are guessed */
#define DATE_CHARACTERS 10u /* 2026-01-31, without a time of day */
#define TEXT_MOST       32u /* a longer text is a message, and no name */
#define FEW_ROWS        8u  /* of too few values it is unknown whether they repeat */
#define DISTINCT_BITS   8192u
#define OTHERS_SHOWN    3
#define SERIES_RANK     4  /* of a text with a few values, which a row of a single series may have */
#define PREFIX_LETTERS  4u /* a listed word at least this long may also begin a longer word */

static const char *const time_words[] = {"time", "date", "at", "ts", "created", "when", "epoch"};
static const char *const later_words[] = {"received", "arrived",  "arrival", "ingest", "stored", "inserted",
                                          "updated",  "modified", "delete",  "expire", "end",    "birthday",
                                          "ended",    "closed",   "finish",  "due"};
static const char *const entity_words[] = {
    "device",  "user",    "channel", "sensor", "room",         "account", "customer", "tenant",
    "session", "host",    "server",  "guild",  "author",       "member",  "stream",   "topic",
    "meter",   "vehicle", "symbol",  "ticker", "conversation", "thread",  "client",   "owner",
    "chat",    "group",   "station", "series", "machine",      "node",    "service",  "source",
    "actor",   "repo",    "asset",   "pk",     "ip",           "key",     "addr",     "email"};
static const char *const id_words[] = {"id", "uuid"};
static const char *const message_words[] = {"message", "msg", "text", "content", "request", "rest"};
static const char *const category_words[] = {"level",    "type", "status", "method",
                                             "severity", "unit", "version"};

/* What the values of a column have in common. */
struct column {
    bool is_number;                    /* all values are numbers */
    bool is_object;                    /* one is an object or a list */
    bool is_real;                      /* one has decimals */
    bool is_date;                      /* all values are dates without a time of day */
    bool is_of_day;                    /* all values are times of day without a date */
    int time;                          /* the least trace_time_likely() of the values */
    size_t values, bytes, distinct;    /* their number and size; the number of bits that are set */
    uint64_t bits[DISTINCT_BITS / 64]; /* by the hashes of the values */
};

static bool is_letter(char c)
{
    return trace_lower(c) >= 'a' && trace_lower(c) <= 'z';
}

static bool is_word_at(const char *name, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; i < size; i++) {
        if (trace_lower(name[i]) != word[i])
            return false;
    }
    return size >= PREFIX_LETTERS || !is_letter(name[size]) ||
           (trace_lower(name[size - 1]) == name[size - 1] && trace_lower(name[size]) != name[size]);
}

/* Whether a name has one of these words: "Measured At", "measured_at" and "measuredAt" have the word "at". */
static bool has_word(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; name[i] != '\0'; i++) {
        bool is_begin = is_letter(name[i]) &&
                        (i == 0 || !is_letter(name[i - 1]) ||
                         (trace_lower(name[i]) != name[i] && trace_lower(name[i - 1]) == name[i - 1]));
        for (size_t word = 0; is_begin && word < count; word++) {
            if (is_word_at(name + i, words[word]))
                return true;
        }
    }
    return false;
}

#define HAS_WORD(name, words) has_word(name, words, COUNT(words))

static void take_value(struct column *column, const char *pattern, const char *text, size_t size)
{
    const bool is_first = column->values++ == 0;
    const bool may_be_number = is_first || column->is_number, may_be_time = is_first || column->time > 0;
    const enum wl_trace_time kind = may_be_number ? trace_time_kind(text, size) : WL_TIME_AUTO;
    const bool is_number = kind >= WL_TIME_S && kind <= WL_TIME_NS;
    int64_t time_ns;
    bool has_zone;
    const int time = !may_be_time      ? 0
                     : pattern != NULL ? 3 * trace_time_match(pattern, text, size, &time_ns, &has_zone)
                                       : trace_time_likely(text, size);
    const bool is_date = time > 1 && size <= DATE_CHARACTERS && memchr(text, ':', size) == NULL;
    const uint32_t bit = trace_keys_hash(text, size) % DISTINCT_BITS;
    column->time = is_first || time < column->time ? time : column->time;
    column->is_number = is_number;
    column->is_real = column->is_real || (is_number && memchr(text, '.', size) != NULL);
    column->is_date = is_date && (is_first || column->is_date);
    column->is_of_day = trace_time_is_of_day(text, size) && (is_first || column->is_of_day);
    column->is_object = column->is_object || *text == '{' || *text == '[';
    column->bytes += size;
    column->distinct += (column->bits[bit / 64] >> bit % 64 & 1) == 0;
    column->bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool is_unique(const struct column *column)
{
    return column->values >= FEW_ROWS && 10 * column->distinct > 9 * column->values;
}

static int time_rank(const char *name, const struct column *column, size_t rows)
{
    const int word = HAS_WORD(name, time_words);
    if (10 * column->values < 9 * rows || column->is_object)
        return 0;
    if (column->time == 0)
        return rows > 0 ? 0 : word;
    int rank = 4 * column->time + 2 * word - 3 * HAS_WORD(name, later_words) -
               2 * (HAS_WORD(name, entity_words) || HAS_WORD(name, id_words));
    return rank < 1 ? 1 : rank;
}

static bool is_entity(const char *name)
{
    return HAS_WORD(name, entity_words) && !HAS_WORD(name, category_words);
}

/* A key has a positive rank. A number without the name of an id is a quantity. */
static int key_rank(const char *name, const struct column *column, size_t rows)
{
    const bool is_id = HAS_WORD(name, id_words), is_few = column->values < FEW_ROWS;
    const bool is_quantity = column->is_real || (column->is_number && !is_id) || column->time == 3;
    if (HAS_WORD(name, message_words) || HAS_WORD(name, category_words) || column->is_object)
        return 0;
    int rank = HAS_WORD(name, entity_words) ? 8 : is_quantity ? 0 : 3;
    rank += 2 * is_id + !column->is_number;
    rank -= 2 * (HAS_WORD(name, time_words) || column->bytes > TEXT_MOST * column->values);
    if (is_unique(column))
        rank -= column->values < 12 * FEW_ROWS ? 3 : 9;
    else if (!is_few && 10 * column->distinct > (is_entity(name) ? 7 : 5) * column->values)
        rank -= 2;
    return rank - (!is_few && column->distinct == 1) - 4 * (10 * column->values < 9 * rows) +
           (column->distinct > 2 * FEW_ROWS);
}

/* The name of a column if it means only this one; otherwise its number. */
static void name_column(const struct wl_csv_record *header, size_t index, bool is_json, char *out,
                        size_t size)
{
    const char *field = header->fields[index];
    const struct trace_span name = trace_trim(field, field + strlen(field));
    const size_t length = (size_t)(name.end - name.begin);
    bool is_fine = is_json || (length > 0 && length < size);
    for (size_t i = 0; is_fine && !is_json && i < header->count; i++)
        is_fine = i == index || strcmp(header->fields[i], field) != 0;
    if (is_fine)
        snprintf(out, size, "%.*s", (int)length, name.begin);
    else
        snprintf(out, size, "%zu", index + 1);
}

/* The column of the times, the first of those that are as likely. */
static size_t choose_time(const struct wl_csv_record *header, const struct column *columns, size_t rows)
{
    size_t time = 0;
    int best = 0;
    for (size_t i = 0; i < header->count; i++) {
        int rank = time_rank(header->fields[i], &columns[i], rows);
        time = rank > best ? i : time;
        best = rank > best ? rank : best;
    }
    return time;
}

/* Chooses the columns. `known` is the column of the time; the number of columns: it is not known. Rows of
 * which each has its own time, and no column has the name of an entity, are one series. Without a header,
 * names say nothing. */
static void choose(const struct trace_table *table, const struct column *columns, size_t known, size_t rows,
                   struct trace_guess *out)
{
    const struct wl_csv_record *header = &table->header;
    const bool is_known = known < header->count;
    const size_t time = is_known ? known : choose_time(header, columns, rows);
    size_t date = time, of_day = time, key = 0;
    int best = 0, others = 0;
    for (size_t i = 0; i < header->count; i++) {
        date = columns[time].is_of_day && columns[i].is_date ? i : date;
        of_day = columns[time].is_date && columns[i].is_of_day ? i : of_day;
    }
    for (size_t i = 0; i < header->count; i++) {
        const bool is_time = i == time || i == date || i == of_day;
        const int rank = is_time ? 0 : key_rank(header->fields[i], &columns[i], rows);
        char name[sizeof(struct trace_shown) - 4];
        name_column(header, i, table->is_json, name, sizeof name);
        others = rank > best ? 0 : others + (rank == best && rank > 0);
        if (rank > best)
            out->others[0] = '\0';
        else if (rank == best && rank > 0 && others <= OTHERS_SHOWN)
            snprintf(out->others + strlen(out->others), sizeof out->others - strlen(out->others), "%s'%s'",
                     out->others[0] == '\0' ? "" : ", ", name);
        key = rank > best ? i : key;
        best = rank > best ? rank : best;
    }
    const bool is_named =
        is_entity(header->fields[key]) || HAS_WORD(header->fields[key], id_words) || best > SERIES_RANK;
    const bool is_series =
        best <= 0 || (!is_named && (table->files.count > 1 || (table->has_header && table->line == NULL &&
                                                               date == of_day && is_unique(&columns[time]))));
    out->has_no_time = !is_known && rows > 0 && columns[date].time == 0;
    out->has_time = is_known && date == of_day;
    name_column(header, date, table->is_json, out->time, sizeof out->time);
    name_column(header, of_day, table->is_json, out->of_day, sizeof out->of_day);
    if (date == of_day)
        out->of_day[0] = '\0';
    name_column(header, key, table->is_json, out->key, sizeof out->key);
    if (is_series) {
        out->others[0] = '\0';
        if (best > 0)
            snprintf(out->others, sizeof out->others, "'%s'", trace_show(out->key, strlen(out->key)).text);
        snprintf(out->key, sizeof out->key, "file");
    }
}

/* Finds the columns of the files, and reads rows. */

#define FAIL(table, error, ...) trace_fail(trace_table_path(table), (table)->record.line, error, __VA_ARGS__)

/* Whether a field is a name. Surrounding spaces are ignored; case is ignored unless `is_exact`. */
static bool is_name(const char *field, const char *name, bool is_exact)
{
    field += strspn(field, " ");
    for (; *name != '\0' && (*field == *name || (!is_exact && trace_lower(*field) == trace_lower(*name)));
         field++)
        name++;
    return *name == '\0' && field[strspn(field, " ")] == '\0';
}

/* Returns how many columns of the header have this name, and sets *field to the last one. A field of JSON
 * counts if the first object has a value for it. */
static size_t find(const struct trace_table *table, const char *name, size_t *field)
{
    *field = WL_CSV_FIELDS_MAX;
    for (int pass = 0; pass < (table->is_json ? 1 : 2); pass++) {
        size_t found = 0;
        for (size_t i = 0; i < table->header.count; i++) {
            if (is_name(table->header.fields[i], name, pass == 0)) {
                *field = i;
                found++;
            }
        }
        if (found > 0)
            return table->is_json ? trace_json_find(table->object, name) != NULL : found;
    }
    return strcmp(name, "file") == 0 ||
           (!table->is_json && column_number(name, field) && *field < table->header.count);
}

/* The name of the current file, without its folder and its endings, is the last field of each record. */
static void put_file_name(struct trace_table *table)
{
    const char *path = table->files.paths[table->file], *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    table->record.fields[WL_CSV_FIELDS_MAX] = name;
    table->record.sizes[WL_CSV_FIELDS_MAX] = strcspn(name, ".");
}

static const char *usual_name(const struct trace_table *table, enum trace_role role)
{
    size_t field;
    for (size_t i = 0; i < COUNT(usual_names); i++) {
        if (usual_names[i].role == role && find(table, usual_names[i].name, &field) > 0)
            return usual_names[i].name;
    }
    return NULL;
}

static const struct trace_column *column_of(const struct trace_table *table, enum trace_role role)
{
    return &table->columns.all[table->columns.first[role]];
}

static bool has(const struct trace_table *table, enum trace_role role)
{
    return table->columns.counts[role] > 0;
}

/* Puts the values of the current object as the fields of the record, all of them or those of the columns; one
 * that is missing is NULL. */
static bool put_values(struct trace_table *table, bool are_all)
{
    struct csv_buffer *fields = &table->csv.fields;
    struct wl_csv_record *record = &table->record;
    const size_t count = are_all ? table->header.count : table->columns.count;
    record->count = table->header.count;
    fields->size = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        const char *at = fields->bytes; /* the buffer has its final place in the second pass */
        for (size_t i = 0; i < count; i++) {
            const size_t field = are_all ? i : table->columns.all[i].field;
            if (field == WL_CSV_FIELDS_MAX)
                continue;
            const json_t *value = trace_json_find(table->object, table->header.fields[field]);
            record->sizes[field] = pass == 0 ? 0 : record->sizes[field];
            if (pass == 0 && value != NULL && !trace_json_put(fields, value, &record->sizes[field]))
                return false;
            record->fields[field] = value == NULL ? NULL : at;
            if (pass == 1 && value != NULL)
                at += record->sizes[field] + 1;
        }
    }
    return true;
}

static bool add_name(struct trace_table *table, const char *name)
{
    struct csv_buffer *names = &table->names;
    const size_t size = strlen(name) + 1;
    if (!sim_grow(&names->bytes, &names->capacity, names->size + size, 1))
        return false;
    memcpy(names->bytes + names->size, name, size);
    table->header.sizes[table->header.count++] = size - 1;
    names->size += size;
    return true;
}

/* Puts the names of an object's fields, and of nested ones as author.id, into the header. */
static bool put_names(struct trace_table *table, const json_t *object, const char *before, unsigned depth)
{
    for (void *at = json_object_iter((json_t *)(uintptr_t)object);
         at != NULL && table->header.count < WL_CSV_FIELDS_MAX - TRACE_COLUMNS_MAX;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        char name[TRACE_NAME_BYTES];
        const json_t *value = trace_json_bare(json_object_iter_value(at));
        const bool is_nested = json_is_object(value) && depth > 1;
        const size_t size = (size_t)snprintf(name, sizeof name, "%s%s%s", before, json_object_iter_key(at),
                                             is_nested ? "." : "");
        if (size < sizeof name &&
            !(is_nested ? put_names(table, value, name, depth - 1) : add_name(table, name)))
            return false;
    }
    return true;
}

static bool fail_fields(const struct trace_table *table, struct sim_error *error)
{
    size_t here = table->record.count, wanted = table->header.count;
    if (here == 1 && !csv_check_delimiter(&table->csv, table->record.line, table->record.fields[0],
                                          table->record.sizes[0], error))
        return false;
    return FAIL(table, error, "%zu column%s where the %s has %zu: %s", here, here == 1 ? "" : "s",
                table->has_header ? "header" : "first row", wanted,
                here > wanted ? "one or more too many; quote a field that holds the delimiter"
                              : "one or more are missing; write an empty field for a missing value");
}

/* Reads the next row of the current file into table->record; record.count is 0 at the end of the file. */
static bool next_record(struct trace_table *table, bool are_all, struct sim_error *error)
{
    struct wl_csv_record *record = &table->record;
    put_file_name(table);
    if (!table->is_json) {
        if (!wl_csv_next(&table->csv, record, error))
            return false;
        return record->count == 0 || record->count == table->header.count || fail_fields(table, error);
    }
    record->count = 0;
    if (!trace_json_next(&table->csv.reader, &table->object, &record->line, error))
        return false;
    return table->object == NULL || put_values(table, are_all) || sim_fail_memory(error);
}

/* Guesses which columns are which by the names in the header and the rows below it. Returns false, with an
 * error of the environment, when the file cannot be read or memory runs out. */
static bool guess_columns(struct trace_table *table, struct sim_error *error)
{
    const struct wl_csv_record *header = &table->header, *row = &table->record;
    struct trace_reader *reader = &table->csv.reader;
    struct column *columns = calloc(header->count, sizeof *columns);
    struct sim_error fault = {0};
    json_t *first = table->object; /* whose fields are found by name */
    const size_t known = has(table, TRACE_TIME) ? column_of(table, TRACE_TIME)->field : header->count;
    size_t rows = 0;
    if (columns == NULL)
        return sim_fail_memory(error);
    table->object = NULL;
    trace_reader_mark(reader);
    while (rows < TRACE_SAMPLE_ROWS && !trace_reader_is_sampled(reader) && next_record(table, true, &fault) &&
           row->count > 0) {
        rows++;
        for (size_t j = 0; j < row->count; j++) {
            if (row->sizes[j] > 0)
                take_value(&columns[j], table->format->pattern, row->fields[j], row->sizes[j]);
        }
    }
    trace_reader_return(reader);
    json_decref(table->object);
    table->object = first;
    table->record.line = header->line;
    const bool ok = fault.class != SIM_ERROR_ENVIRONMENT;
    if (ok)
        choose(table, columns, known, rows, &table->guess);
    else
        *error = fault;
    free(columns);
    table->guess.is_used = ok && !table->guess.has_no_time && (header->count > 1 || rows > 0);
    return ok;
}

/* The columns that the format names, and those that were guessed. */
static void list_known(const struct trace_table *table, struct trace_columns *out)
{
    const struct trace_guess *guess = &table->guess;
    struct wl_trace_columns columns = table->format->columns;
    if (guess->is_used && columns.time == NULL && !guess->has_time) {
        columns.time = (char *)(uintptr_t)guess->time;
        columns.time_of_day = guess->of_day[0] == '\0' ? NULL : (char *)(uintptr_t)guess->of_day;
    }
    if (guess->is_used && columns.key_count == 0)
        columns.key[columns.key_count++] = (char *)(uintptr_t)guess->key;
    list_given(&columns, out);
}

/* Finds the columns. Returns false and sets *missing to what was not found ("time", "key", or a name), or was
 * found *found times. A column of CSV that the format names must exist. In JSON a field may be missing in
 * some objects, so it is checked in each row. */
static bool find_columns(struct trace_table *table, const char **missing, size_t *found, size_t *field)
{
    struct trace_columns given, *out = &table->columns;
    list_known(table, &given);
    const size_t values =
        given.counts[TRACE_BYTES] + given.counts[TRACE_COUNT] + given.counts[TRACE_BYTES_OF];
    *out = (struct trace_columns){0};
    for (enum trace_role role = 0; role < TRACE_ROLES; role++) {
        bool is_usual = given.counts[role] == 0 &&
                        (role == TRACE_TIME || role == TRACE_KEY || (role == TRACE_BYTES && values == 0) ||
                         (role == TRACE_COUNT && (given.count == 0 || table->guess.is_used) && values == 0 &&
                          !has(table, TRACE_BYTES)));
        const char *usual = is_usual ? usual_name(table, role) : NULL;
        *found = 0;
        *missing = role == TRACE_TIME ? "time" : "key";
        if (usual == NULL && is_usual && role <= TRACE_KEY)
            return false;
        for (size_t i = 0; i < given.counts[role] + (usual != NULL); i++) {
            *missing = usual != NULL ? usual : given.all[given.first[role] + i].name;
            *found = find(table, *missing, field);
            if (!table->is_json && *found != 1)
                return false;
            add_column(out, role, *missing, *field);
        }
    }
    return true;
}

/* Lists the names in the header, for a message. */
static void list_names(const struct trace_table *table, bool are_unused, char *out)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < table->header.count && used < TRACE_LISTING_SIZE - 48; i++) {
        const struct trace_columns *columns = &table->columns;
        size_t column = are_unused ? 0 : columns->count;
        while (column < columns->count && columns->all[column].field != i)
            column++;
        if (column == columns->count)
            used += (size_t)snprintf(out + used, TRACE_LISTING_SIZE - used, "%s'%s'", used == 0 ? "" : ", ",
                                     trace_show(table->header.fields[i], table->header.sizes[i]).text);
    }
    if (used >= TRACE_LISTING_SIZE - 48)
        snprintf(out + used, TRACE_LISTING_SIZE - used, ", ...");
}

static bool fail_column(struct trace_table *table, bool are_given, const char *missing, size_t found,
                        size_t field, struct sim_error *error)
{
    char listing[TRACE_LISTING_SIZE];
    list_names(table, false, listing);
    size_t number;
    if (found > 1)
        return FAIL(
            table, error,
            "more than one column is named '%s' in the header %s; give the number of one, such as %zu",
            missing, listing, field + 1);
    if (column_number(missing, &number))
        return FAIL(table, error, "no column %zu, the first line has %zu; count from 1", number + 1,
                    table->header.count);
    if (are_given && !table->has_header)
        return FAIL(table, error,
                    "no column '%s', as the file has no header; number the columns, as in columns: {time: 1, "
                    "key: 2}",
                    missing);
    if (!table->has_header)
        return FAIL(table, error,
                    "no header, the first line is a row; say which columns are which, as in columns: {time: "
                    "1, key: 2, bytes: 3}");
    if (table->header.count == 1)
        return FAIL(
            table, error, "one column, %s; %s", listing,
            table->format->delimiter != '\0'
                ? "the line lacks the delimiter that the scenario names; change 'delimiter', or leave "
                  "it out"
                : "write the header 'timestamp_ms,key,bytes' and rows below it, or name the "
                  "delimiter, as in delimiter: tab");
    const char *nearest =
        sim_nearest(missing, (const char *const *)table->header.fields, table->header.count);
    if (are_given && nearest != NULL)
        return FAIL(table, error, "no column '%s' in the header %s; did you mean '%s'?", missing, listing,
                    trace_show(nearest, strlen(nearest)).text);
    if (are_given)
        return FAIL(table, error, "no column '%s' in the header %s; name one of these", missing, listing);
    return FAIL(table, error,
                "no %s '%s' in the %s %s, and none has times in a known form; name that of the times, and "
                "their form by 'time_format'",
                table->is_json ? "field" : "column", missing, table->is_json ? "first object" : "header",
                listing);
}

static bool has_time_field(const struct trace_table *table)
{
    const struct wl_csv_record *record = &table->record;
    bool has_time = false;
    for (size_t i = 0; i < record->count; i++)
        has_time = has_time || trace_time_kind(record->fields[i], record->sizes[i]) != WL_TIME_AUTO;
    return has_time;
}

/* Whether the first line is a header: without columns, one in which no field is a time or a number; when
 * columns are given by number, one whose time field is not a time. */
static bool has_header(const struct trace_table *table, const struct trace_columns *given)
{
    size_t index = 0;
    bool are_numbers = given->count > 0;
    for (size_t i = 0; i < given->count; i++)
        are_numbers = are_numbers && column_number(given->all[i].name, &index);
    if (table->line != NULL || table->format->header != WL_HEADER_AUTO)
        return table->line != NULL || table->format->header != WL_HEADER_NO;
    if (!are_numbers)
        return given->count > 0 || table->record.count == 1 || !has_time_field(table);
    return given->counts[TRACE_TIME] == 0 || !column_number(given->all[0].name, &index) ||
           index >= table->record.count ||
           trace_time_kind(table->record.fields[index], table->record.sizes[index]) == WL_TIME_AUTO;
}

/* A field without the blanks around it. */
static const char *trimmed(const struct trace_table *table, const struct trace_column *column, size_t *size)
{
    const char *text = table->record.fields[column->field];
    *size = 0;
    if (text == NULL)
        return "";
    const struct trace_span span = trace_trim(text, text + table->record.sizes[column->field]);
    *size = (size_t)(span.end - span.begin);
    return span.begin;
}

/* The text of the row's time in a column; a time in two columns is joined, and a year that the format gives
 * is added. NULL when out of memory. */
static const char *time_text(struct trace_table *table, const struct trace_column *column, size_t *size)
{
    enum { YEAR_BYTES = 6 };
    const char *text = trimmed(table, column, size), *of_day = "";
    const bool is_joined = has(table, TRACE_TIME_OF_DAY) && column->role == TRACE_TIME;
    size_t day_size = 0;
    if (!is_joined && table->year == 0)
        return text;
    if (is_joined)
        of_day = trimmed(table, column_of(table, TRACE_TIME_OF_DAY), &day_size);
    if (!sim_grow(&table->text.bytes, &table->text.capacity, *size + day_size + 5 + YEAR_BYTES, 1))
        return NULL;
    char *bytes = table->text.bytes;
    if (is_joined && table->format->pattern == NULL)
        *size = trace_time_join(text, *size, of_day, day_size, bytes);
    else
        *size = (size_t)snprintf(bytes, table->text.capacity, "%.*s%s%.*s", (int)*size, text,
                                 is_joined ? " " : "", (int)day_size, of_day);
    if (table->year != 0)
        *size += (size_t)snprintf(bytes + *size, YEAR_BYTES, " %" PRIu32, table->year);
    return bytes;
}

static bool is_ms_name(const char *name)
{
    size_t size = strlen(name);
    return size > 3 && is_name(name + size - 3, "_ms", false);
}

/* Finds the format of the times by the first rows. Later rows must have it too, so together with this check
 * the whole column is judged. */
static bool judge_times(struct trace_table *table, struct sim_error *error)
{
    struct trace_time_judge judge = {0};
    struct sim_error fault = {.class = SIM_ERROR_NONE};
    char readings[TRACE_READINGS_SIZE];
    const struct trace_column *time = column_of(table, TRACE_TIME);
    trace_reader_mark(&table->csv.reader);
    for (unsigned i = 0; i < TRACE_SAMPLE_ROWS && !trace_reader_is_sampled(&table->csv.reader); i++) {
        if (!next_record(table, false, &fault) || table->record.count == 0)
            break;
        size_t size;
        const char *text = time_text(table, time, &size);
        if (text != NULL && table->year == 0 && trace_time_lacks_year(text, size)) {
            table->year = YEAR_ASSUMED;
            text = time_text(table, time, &size);
        }
        if (text == NULL)
            return sim_fail_memory(error);
        if (size > 0)
            trace_time_take(&judge, text, size, table->record.line);
    }
    trace_reader_return(&table->csv.reader);
    if (fault.class == SIM_ERROR_ENVIRONMENT) {
        *error = fault;
        return false;
    }
    bool is_number = judge.first >= WL_TIME_S && judge.first <= WL_TIME_NS;
    table->time = is_number && is_ms_name(time->name) ? WL_TIME_MS : trace_time_verdict(&judge, readings);
    if (table->time == WL_TIME_AUTO && readings[0] != '\0')
        return trace_fail(trace_table_path(table), judge.line, error,
                          "%s '%s' may be %s; say which with --set trace.time=NAME, or by 'time' under trace",
                          time->name, judge.value, readings);
    return true;
}

/* Whether the format does not name what is missing. */
static bool is_unnamed(const struct trace_table *table, const char *missing)
{
    const struct wl_trace_columns *columns = &table->format->columns;
    return strcmp(missing, "time") == 0 ? columns->time == NULL
                                        : strcmp(missing, "key") == 0 && columns->key_count == 0;
}

/* Finds the columns by the header and, if that is not enough, by the first rows. */
static bool find_or_guess(struct trace_table *table, struct sim_error *error)
{
    struct trace_columns given;
    const char *missing;
    size_t found, field;
    list_given(&table->format->columns, &given);
    csv_set_fields(table->names.bytes, &table->header);
    table->header.line = table->record.line;
    bool ok = find_columns(table, &missing, &found, &field);
    if (!ok && found == 0 && is_unnamed(table, missing)) {
        if (!guess_columns(table, error))
            return false;
        ok = table->guess.is_used && find_columns(table, &missing, &found, &field);
    }
    if (!ok)
        return fail_column(table, given.count > 0 && !table->is_json, missing, found, field, error);
    if (table->has_header)
        list_names(table, true, table->unused);
    return true;
}

/* Without a header, the columns' names are their numbers. */
static bool begin_csv(struct trace_table *table, struct sim_error *error)
{
    const struct wl_trace_format *format = table->format;
    struct trace_columns given;
    size_t size;
    if (table->line == NULL &&
        !csv_sniff(&table->csv, format->delimiter, (enum wl_trace_escape)format->escape, error))
        return false;
    trace_reader_mark(&table->csv.reader);
    if (table->line != NULL)
        table->csv.dialect =
            (struct csv_dialect){.line = table->line,
                                 .is_guessed = format->line == NULL,
                                 .has_comments = *trace_reader_peek(&table->csv.reader, &size) == '#'};
    if (!(table->line != NULL ? csv_line_names : wl_csv_next)(&table->csv, &table->record, error))
        return false;
    if (table->record.count == 0)
        return trace_fail(trace_table_path(table), 1, error,
                          "the file is empty; write the header 'timestamp_ms,key,bytes' and rows below it");
    list_given(&format->columns, &given);
    table->has_header = has_header(table, &given);
    for (size_t i = 0; i < table->record.count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i + 1);
        if (!add_name(table, table->has_header ? table->record.fields[i] : number))
            return sim_fail_memory(error);
    }
    if (table->has_header)
        table->csv.reader.is_marked = false;
    else
        trace_reader_return(&table->csv.reader);
    return find_or_guess(table, error);
}

/* A file of one object that has an array of objects, as {"features": [{...}, {...}]}, has these as its rows.
 */
static bool unwrap(struct trace_table *table, struct sim_error *error)
{
    struct trace_reader *reader = &table->csv.reader;
    struct sim_error fault = {.class = SIM_ERROR_NONE};
    const json_t *rows = trace_json_rows(table->object, NESTED_MOST);
    json_t *next = NULL;
    uint64_t line;
    const bool is_read = rows == NULL || trace_json_next(reader, &next, &line, &fault);
    if (rows != NULL && is_read && next == NULL) {
        reader->rows = json_incref((json_t *)(uintptr_t)rows);
        return trace_json_next(reader, &table->object, &line, error);
    }
    json_decref(next);
    if (fault.class == SIM_ERROR_ENVIRONMENT)
        *error = fault;
    return fault.class != SIM_ERROR_ENVIRONMENT;
}

/* The header has the names in the first object, and those that the format names. */
static bool begin_json(struct trace_table *table, struct sim_error *error)
{
    struct trace_columns given;
    size_t field;
    trace_reader_mark(&table->csv.reader);
    if (!trace_json_next(&table->csv.reader, &table->object, &table->record.line, error))
        return false;
    if (table->object == NULL)
        return trace_fail(trace_table_path(table), 1, error,
                          "the file is empty; write one JSON object a line");
    if (!table->csv.reader.are_pairs && table->csv.reader.rows == NULL && !unwrap(table, error))
        return false;
    table->has_header = true;
    bool ok = put_names(table, table->object, "", NESTED_MOST);
    list_given(&table->format->columns, &given);
    for (size_t i = 0; ok && i < given.count; i++) {
        csv_set_fields(table->names.bytes, &table->header);
        if (find(table, given.all[i].name, &field) == 0 && field == WL_CSV_FIELDS_MAX)
            ok = add_name(table, given.all[i].name);
    }
    if (!ok)
        return sim_fail_memory(error);
    trace_reader_return(&table->csv.reader);
    if (table->header.count == 0)
        return FAIL(table, error, "the first object has no fields; remove it");
    return find_or_guess(table, error);
}

static bool is_usual(const struct trace_table *table)
{
    const struct trace_columns *columns = &table->columns;
    bool are_placed = !table->is_json && table->header.count == 3 && columns->count == 3 &&
                      columns->counts[TRACE_TIME] == 1 && columns->counts[TRACE_KEY] == 1 &&
                      columns->counts[TRACE_BYTES] + columns->counts[TRACE_COUNT] == 1;
    for (size_t i = 0; are_placed && i < columns->count; i++)
        are_placed = columns->all[i].field == i;
    return are_placed && table->time == WL_TIME_MS && table->csv.dialect.delimiter == ',' &&
           !table->csv.dialect.has_backslash;
}

static bool open_file(struct trace_table *table, size_t file, struct sim_error *error)
{
    const struct wl_trace_format *format = table->format;
    size_t size;
    table->done_bytes += file > table->file ? table->csv.reader.all_bytes : 0;
    trace_reader_close(&table->csv.reader);
    table->header.count = table->names.size = 0;
    table->file = file;
    if (!trace_reader_open(table->files.paths[file], "trace", &table->csv.reader, error))
        return false;
    const char *bytes = trace_reader_peek(&table->csv.reader, &size);
    table->is_json = false;
    const char *foreign = format->line != NULL ? NULL : sniff(bytes, size, &table->is_json);
    if (foreign != NULL)
        return trace_fail(trace_table_path(table), 1, error, "this is %s", foreign);
    const bool may_be_log = format->line == NULL && !table->is_json && format->layout == WL_LAYOUT_AUTO &&
                            format->delimiter == '\0' && size > 0;
    table->csv.reader.has_prefix = may_be_log && trace_json_has_prefix(bytes, size);
    table->line = may_be_log && !table->csv.reader.has_prefix && csv_guess_line(bytes, size, table->form)
                      ? table->form
                      : format->line;
    table->csv.reader.are_pairs = may_be_log && table->line == NULL && !table->csv.reader.has_prefix &&
                                  trace_json_are_pairs(bytes, size);
    const char *end = memchr(bytes, '\n', size);
    if (size > 0 && memchr(bytes, '\0', end == NULL ? size : (size_t)(end - bytes)) != NULL)
        return trace_fail(trace_table_path(table), 1, error, "NUL byte; save the trace as UTF-8 text");
    table->is_json = format->layout == WL_LAYOUT_JSON || table->csv.reader.are_pairs ||
                     table->csv.reader.has_prefix || (format->layout == WL_LAYOUT_AUTO && table->is_json);
    if (!(table->is_json ? begin_json : begin_csv)(table, error) ||
        (table->time == WL_TIME_AUTO && !judge_times(table, error)))
        return false;
    table->is_usual = is_usual(table);
    return true;
}

/* Reads the next row into table->record, from the next file where the current one has ended. */
static bool advance(struct trace_table *table, bool *more, struct sim_error *error)
{
    for (;;) {
        if (!next_record(table, false, error))
            return false;
        *more = table->record.count > 0;
        table->is_read = !*more;
        if (*more || table->file + 1 == table->files.count)
            return true;
        if (!open_file(table, table->file + 1, error))
            return false;
    }
}

static bool read_time(struct trace_table *table, const struct trace_column *column, int64_t *out_ns,
                      struct sim_error *error)
{
    const struct wl_trace_format *format = table->format;
    const char *name = column->name;
    size_t size;
    const char *text = time_text(table, column, &size);
    bool has_zone;
    if (text == NULL)
        return sim_fail_memory(error);
    if (size == 0)
        return FAIL(table, error, "%s is %s; give each row a time", name,
                    table->record.fields[column->field] == NULL ? "missing" : "empty");
    if (table->time == WL_TIME_AUTO && trace_time_is_of_day(text, size))
        return FAIL(table, error,
                    "%s '%s' is a time of day; name the column of its date too, as in columns: {time: [date, "
                    "%s]}",
                    name, trace_show(text, size).text, name);
    if (table->time == WL_TIME_AUTO)
        return FAIL(
            table, error,
            "%s '%s' is not a time in a known format; say its form by 'time_format', as in '%%d.%%m.%%Y "
            "%%H:%%M', or write ISO 8601, as in 2026-01-31T12:30:00Z",
            name, trace_show(text, size).text);
    int64_t epoch_ns = format->has_epoch ? format->epoch_ns : WL_SNOWFLAKE_EPOCH_NS;
    char pattern[PATTERN_BYTES];
    if (format->pattern != NULL)
        snprintf(pattern, sizeof pattern, "%s%s", format->pattern, format->year == 0 ? "" : " %Y");
    bool is_fine = format->pattern != NULL
                       ? trace_time_match(pattern, text, size, out_ns, &has_zone)
                       : trace_time_parse(table->time, epoch_ns, text, size, out_ns, &has_zone);
    if (is_fine && table->year != 0 && column->role == TRACE_TIME) {
        if (table->last_ns - *out_ns > HALF_YEAR && table->year < YEAR_MOST) {
            table->year++;
            table->last_ns = 0;
            return read_time(table, column, out_ns, error);
        }
        table->last_ns = *out_ns;
    }
    if (is_fine && !has_zone)
        is_fine = !__builtin_sub_overflow(*out_ns, format->zone_ns, out_ns);
    if (!is_fine || *out_ns / SIM_MS > TRACE_TIME_MS_MAX || *out_ns / SIM_MS < -TRACE_TIME_MS_MAX) {
        if (format->pattern != NULL)
            return FAIL(table, error,
                        "%s '%s' is not a time of the form '%s'; correct it, or change 'time_format'", name,
                        trace_show(text, size).text, pattern);
        enum wl_trace_time other = table->time == WL_TIME_MS ? WL_TIME_YYYYMMDD : WL_TIME_MS;
        return FAIL(table, error, "%s '%s' is not a time in %s between the years 1677 and 2262%s%s", name,
                    trace_show(text, size).text, wl_trace_time_name(table->time),
                    format->time == WL_TIME_AUTO
                        ? ", as most are; write all alike, or name the format, as in time: "
                        : "; correct it, or change 'time'",
                    format->time == WL_TIME_AUTO ? wl_trace_time_option(other) : "");
    }
    table->has_zones = table->has_zones && has_zone;
    return true;
}

static bool check_key(const struct trace_table *table, const char *key, size_t size, struct sim_error *error)
{
    if (size == 0)
        return FAIL(table, error, "key is empty; give each row a key");
    if (memchr(key, '\0', size) != NULL)
        return FAIL(table, error, "NUL byte; save the trace as UTF-8 text");
    if (memchr(key, '\n', size) != NULL || memchr(key, '\r', size) != NULL)
        return FAIL(table, error, "line break in a key; leave it out");
    if (size > TRACE_KEY_BYTES_MAX)
        return FAIL(table, error, "key of %zu bytes is too long; shorten it to %d", size,
                    TRACE_KEY_BYTES_MAX);
    size_t valid = sim_utf8_valid(key, size);
    return valid == size ||
           FAIL(table, error, "byte %zu of the key is not UTF-8; save the trace as UTF-8", valid + 1);
}

/* Joins the parts of the key by '/', and escapes a '/' within a part by a backslash; a single part is used
 * unchanged. */
static bool read_key(struct trace_table *table, struct trace_row *out, struct sim_error *error)
{
    const struct trace_column *columns = column_of(table, TRACE_KEY);
    const size_t count = table->columns.counts[TRACE_KEY];
    struct csv_buffer *joined = &table->text;
    joined->size = 0;
    for (size_t part = 0; part < count; part++) {
        const char *text = table->record.fields[columns[part].field];
        size_t size = text == NULL ? 0 : table->record.sizes[columns[part].field];
        if (size == 0 && columns[part].name == table->guess.key) {
            text = "-";
            size = 1;
            table->keyless++;
        }
        out->key = text;
        out->key_size = size;
        if (count == 1)
            break;
        if (!sim_grow(&joined->bytes, &joined->capacity, joined->size + 2 * size + 1, 1))
            return sim_fail_memory(error);
        if (part > 0)
            joined->bytes[joined->size++] = '/';
        for (size_t i = 0; i < size; i++) {
            if (text[i] == '/' || text[i] == '\\')
                joined->bytes[joined->size++] = '\\';
            joined->bytes[joined->size++] = text[i];
        }
        out->key = joined->bytes;
        out->key_size = joined->size;
    }
    return check_key(table, out->key, out->key_size, error);
}

static bool read_number(struct trace_table *table, const struct trace_column *column, uint64_t *out,
                        struct sim_error *error)
{
    static const char cure[] = "write a whole number from 0 to 1099511627776";
    size_t size;
    const char *text = trimmed(table, column, &size), *name = column->role == TRACE_COUNT ? "count" : "bytes";
    if (size > 2 && memcmp(text + size - 2, ".0", 2) == 0) /* by programs that have no integer type */
        size -= 2;
    bool is_negative = size > 1 && *text == '-';
    bool is_whole = trace_whole((struct trace_span){text + is_negative, text + size}, out);
    if (table->record.fields[column->field] == NULL && table->format->columns.bytes == NULL &&
        column->role == TRACE_BYTES) {
        table->sizeless++;
        *out = 0;
        return true;
    }
    if (size == 0)
        return FAIL(table, error, "%s is empty; %s", name, cure);
    if (!is_whole)
        return FAIL(table, error, "%s '%s' is not a whole number; %s", name, trace_show(text, size).text,
                    cure);
    if (is_negative || *out > TRACE_VALUE_MAX)
        return FAIL(table, error, "%s %s is %s; %s", name, trace_show(text, size).text,
                    is_negative ? "negative" : "too large", cure);
    return true;
}

static bool read_value(struct trace_table *table, uint64_t *out, struct sim_error *error)
{
    const struct trace_columns *columns = &table->columns;
    for (size_t i = 0; i < columns->count; i++) {
        const struct trace_column *column = &columns->all[i];
        if ((column->role == TRACE_BYTES || column->role == TRACE_COUNT) &&
            !read_number(table, column, out, error))
            return false;
        if (column->role == TRACE_BYTES_OF && table->record.fields[column->field] != NULL)
            *out += table->record.sizes[column->field];
    }
    return true;
}

/* A row whose own time is after its arrival, because a device's clock is wrong, counts as not late. */
static bool read_times(struct trace_table *table, struct trace_row *out, struct sim_error *error)
{
    int64_t own_ns;
    if (!read_time(table, column_of(table, TRACE_TIME), &own_ns, error))
        return false;
    out->time_ns = own_ns;
    if (!has(table, TRACE_ARRIVED))
        return true;
    if (!read_time(table, column_of(table, TRACE_ARRIVED), &out->time_ns, error))
        return false;
    if (out->time_ns > own_ns && (uint64_t)out->time_ns - (uint64_t)own_ns > (uint64_t)WL_TRACE_LATE_MAX)
        return FAIL(table, error,
                    "the row arrived more than 3650 days after its time; leave it out, or change 'time'");
    out->late_ns = out->time_ns > own_ns ? out->time_ns - own_ns : 0;
    return true;
}

/* Parses at most `most` digits, few enough not to overflow. Returns the end of the digits, or NULL. */
static const char *usual_number(const char *at, uint64_t most, uint64_t *out)
{
    enum { DIGITS_MOST = 13 };
    const char *begin = at;
    uint64_t value = 0;
    for (; (unsigned char)(*at - '0') <= 9; at++)
        value = value * 10 + (unsigned char)(*at - '0');
    *out = value;
    return at > begin && at - begin <= DIGITS_MOST && value <= most ? at : NULL;
}

/* The line's break ends each loop. */
bool trace_table_usual(struct trace_table *table, struct trace_row *out)
{
    struct trace_reader *reader = &table->csv.reader;
    uint64_t time_ms;
    if (!table->is_usual || reader->begin >= reader->lines_end)
        return false;
    const char *line = reader->buffer + reader->begin;
    const char *at = usual_number(line, TRACE_TIME_MS_MAX, &time_ms);
    if (at == NULL || *at != ',')
        return false;
    const char *key = ++at;
    bool is_ascii = true;
    for (; (unsigned char)*at >= ' ' && *at != ',' && *at != '"'; at++)
        is_ascii = is_ascii && *at <= '~' && *at >= ' ';
    out->time_ns = (int64_t)time_ms * SIM_MS;
    out->late_ns = 0;
    out->key = key;
    out->key_size = (size_t)(at - key);
    if (at == key || *at != ',' || at - key > TRACE_KEY_BYTES_MAX ||
        (!is_ascii && sim_utf8_valid(key, out->key_size) < out->key_size))
        return false;
    at = usual_number(at + 1, TRACE_VALUE_MAX, &out->value);
    if (at == NULL)
        return false;
    at += *at == '\r' && reader->line_break == '\n';
    if (*at != reader->line_break)
        return false;
    reader->begin += (size_t)(at + 1 - line);
    reader->line++;
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
    *table = (struct trace_table){.format = format,
                                  .time = format->pattern != NULL ? WL_TIME_WORDS
                                                                  : (enum wl_trace_time)format->time,
                                  .year = format->year,
                                  .has_zones = true};
    return wl_trace_files_find(path, &table->files, error) && open_file(table, 0, error);
}

const char *trace_table_path(const struct trace_table *table)
{
    return table->files.paths[table->file];
}

uint64_t trace_table_offset(const struct trace_table *table)
{
    return table->done_bytes + trace_reader_offset(&table->csv.reader);
}

bool trace_table_is_plain(const struct trace_table *table)
{
    return table->is_usual && table->has_header &&
           strcmp(column_of(table, TRACE_TIME)->name, "timestamp_ms") == 0 && table->files.count == 1 &&
           is_plain(table->format);
}

static const char *const role_names[TRACE_ROLES] = {"time",  "time of day", "key",    "bytes",
                                                    "count", "bytes of",    "arrived"};

static void put_time_text(const struct trace_table *table, FILE *stream)
{
    const int minutes = (int)(table->format->zone_ns / SIM_MINUTE);
    fprintf(stream, " in %s",
            table->format->pattern != NULL ? table->format->pattern : wl_trace_time_name(table->time));
    if (table->format->year == 0 && table->year != 0)
        fprintf(stream, " without a year, from %u on (say it by trace.year)", YEAR_ASSUMED);
    if (!table->has_zones)
        fputs(" without a zone, taken as UTC", stream);
    if (!table->has_zones && minutes != 0)
        fprintf(stream, "%c%02d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60, abs(minutes) % 60);
}

void trace_table_text(const struct trace_table *table, char *buffer, size_t size)
{
    const struct csv_dialect *dialect = &table->csv.dialect;
    const struct trace_columns *columns = &table->columns;
    size_t times = columns->counts[TRACE_TIME] + columns->counts[TRACE_TIME_OF_DAY];
    FILE *stream = fmemopen(buffer, size, "w");
    if (stream == NULL) {
        snprintf(buffer, size, "%s", table->is_json ? "JSON" : "CSV");
        return;
    }
    if (table->line != NULL)
        fprintf(stream, "a log of lines %s", table->line);
    else if (table->is_json || dialect->is_pasted || dialect->delimiter == '\t')
        fputs(table->csv.reader.are_pairs ? "lines of name=value"
              : table->is_json            ? "JSON"
              : dialect->is_pasted        ? "a table pasted from a terminal"
                                          : "CSV with tabs",
              stream);
    else
        fprintf(stream, "CSV with '%c'", dialect->delimiter);
    if (!table->is_json && table->line == NULL)
        fprintf(stream, "%s%s", table->has_header ? "" : " without a header",
                dialect->has_backslash ? " and backslashes" : "");
    if (table->is_read && table->csv.reader.continued > 0)
        fprintf(stream, ", %" PRIu64 " other lines left out", table->csv.reader.continued);
    if (table->files.count > 1)
        fprintf(stream, " in %zu files", table->files.count);
    for (size_t i = 0; i < columns->count; i++) {
        const struct trace_column *column = &columns->all[i];
        const struct trace_guess *guess = &table->guess;
        if (i > columns->first[column->role] || column->role == TRACE_TIME_OF_DAY)
            fputs(" + ", stream);
        else
            fprintf(stream, ", %s ", role_names[column->role]);
        fprintf(stream, "'%s'", trace_show(column->name, strlen(column->name)).text);
        if (column->name == guess->key && guess->others[0] != '\0')
            fprintf(stream, " (guessed; or %s)", guess->others);
        else if (column->name == guess->time || column->name == guess->key)
            fputs(" (guessed)", stream);
        if (i + 1 == times && table->time != WL_TIME_AUTO)
            put_time_text(table, stream);
    }
    if (table->is_read && table->keyless > 0)
        fprintf(stream, ", the key of %" PRIu64 " rows without one '-'", table->keyless);
    if (table->is_read && table->sizeless > 0)
        fprintf(stream, ", %" PRIu64 " rows without a size have 0 bytes", table->sizeless);
    if (!has(table, TRACE_BYTES) && !has(table, TRACE_COUNT) && !has(table, TRACE_BYTES_OF))
        fputs(", no sizes", stream);
    if (table->unused[0] != '\0')
        fprintf(stream, "; not used: %s", table->unused);
    fclose(stream);
    buffer[size - 1] = '\0';
}

/* Writes the columns of a role as a scenario has them, as in time: [date, clock]. */
static void put_list(const struct trace_table *table, enum trace_role role, const char *name, FILE *stream)
{
    const struct trace_columns *columns = &table->columns;
    const size_t count =
        columns->counts[role] + (role == TRACE_TIME ? columns->counts[TRACE_TIME_OF_DAY] : 0);
    for (size_t i = 0; i < count; i++) {
        if (i == 0)
            fprintf(stream, "%s%s: %s", role == TRACE_TIME ? "" : ", ", name, count > 1 ? "[" : "");
        const char *given = column_of(table, role)[i].name, *quote = "";
        for (const char *c = given; *c != '\0'; c++)
            quote = is_letter(*c) || strchr("_0123456789-./()$ ", *c) != NULL ? quote : "'";
        fprintf(stream, "%s%s%s%s", i == 0 ? "" : ", ", quote, given, quote);
    }
    fputs(count > 1 ? "]" : "", stream);
}

/* What a column of the file is understood as. */
static void put_meaning(const struct trace_table *table, size_t field, FILE *stream)
{
    const struct trace_columns *columns = &table->columns;
    size_t i = 0;
    while (i < columns->count && columns->all[i].field != field)
        i++;
    fputs(i == columns->count ? "not used" : role_names[columns->all[i].role], stream);
    if (i < columns->count && columns->all[i].role == TRACE_TIME)
        put_time_text(table, stream);
    fputc('\n', stream);
}

char *wl_trace_explain(const char *path, const struct wl_trace_format *format, struct sim_error *error)
{
    enum { SHOWN = 30 };
    struct trace_table table;
    const struct wl_csv_record *row = &table.record;
    char *text = NULL;
    size_t size;
    bool ok = trace_table_open(&table, path, format, error) && next_record(&table, true, error);
    FILE *stream = ok ? open_memstream(&text, &size) : NULL;
    if (stream != NULL) {
        fprintf(stream, "  %-*s  %-*s  %s\n", SHOWN, "column", SHOWN, "first value", "understood as");
        for (size_t i = 0; i < row->count; i++) {
            const char *name = table.header.fields[i], *value = row->fields[i] == NULL ? "" : row->fields[i];
            fprintf(stream, "  %-*s  %-*.*s  ", SHOWN, trace_show(name, strlen(name)).text, SHOWN, SHOWN,
                    trace_show(value, strlen(value)).text);
            put_meaning(&table, i, stream);
        }
        fputs("\n  columns: {", stream);
        static const char *const roles[TRACE_ROLES] = {"time",  NULL,       "key",    "bytes",
                                                       "count", "bytes_of", "arrived"};
        for (enum trace_role role = TRACE_TIME; role < TRACE_ROLES; role++) {
            if (roles[role] != NULL)
                put_list(&table, role, roles[role], stream);
        }
        fprintf(stream, format->pattern != NULL ? "}, time_format: '%s'" : "}, time: %s",
                format->pattern != NULL ? format->pattern : wl_trace_time_option(table.time));
        fprintf(stream, table.line == NULL ? "\n" : ", line: '%s'\n", table.line);
        ok = fclose(stream) == 0;
    }
    if (ok && stream == NULL)
        sim_fail_memory(error);
    trace_table_close(&table);
    return text;
}

void trace_table_close(struct trace_table *table)
{
    trace_reader_close(&table->csv.reader);
    free(table->csv.fields.bytes);
    free(table->text.bytes);
    free(table->names.bytes);
    json_decref(table->object);
    wl_trace_files_clear(&table->files);
    *table = (struct trace_table){0};
}
