/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks the columns of a CSV file by how likely each is the time of a row, or its key. Values count more than
 * names: a time is a column whose first values all parse as times. */
#include "trace_suggest.h"

#include <stdio.h>
#include <string.h>

#include "trace_time.h"

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

bool trace_suggest(const struct wl_csv_record *header, struct trace_reader *reader,
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
