/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which fields of a record are a row's time, key and value. They are found once per file, by the names in the
 * format or by the usual names. */
#ifndef WORKLOAD_TRACE_PARTS_H
#define WORKLOAD_TRACE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "reader.h"
#include "record.h"
#include "workload/csv.h"
#include "workload/trace.h"

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

/* Parses one line of a trace in the plain form: its three fields, each checked. */
#define TRACE_VALUE_MAX (INT64_C(1) << 40)
/* Times in milliseconds whose absolute value is at most this fit into int64 nanoseconds. */
#define TRACE_TIME_MS_MAX (INT64_MAX / 1000000)

enum { TRACE_KEY_BYTES_MAX = 4096 };

struct trace_row {
    int64_t time_ns; /* time of arrival */
    int64_t late_ns; /* how far the row's own time is before time_ns */
    const char *key; /* points into the line or another buffer of the reader */
    size_t key_size;
    uint64_t value;
};

struct trace_place {
    const char *path;
    uint64_t line;
    bool has_counts;
};

/* A field for an error message: printable, and truncated. */
struct trace_shown {
    char text[44];
};
struct trace_shown trace_show(const char *text, size_t size);

/* Whether the line is a header of the plain form; sets *has_counts to which of the two. */
bool trace_line_header(const char *line, size_t size, bool *has_counts);
/* Parses a line. It changes the line in place if a quoted key has doubled quotes. */
bool trace_line_parse(char *line, size_t size, const struct trace_place *place, struct trace_row *out,
                      struct sim_error *error);

/* The checks of a key, and of a number of bytes or rows, that all forms of a trace share. */
bool trace_key_check(const char *key, size_t size, const struct trace_place *place, struct sim_error *error);
bool trace_value_parse(const char *text, size_t size, const struct trace_place *place, uint64_t *out,
                       struct sim_error *error);

/* Numbers keys in order of first appearance: an open-addressing hash table of numbers, and one arena with the
 * keys' bytes. The hash never affects a result. In addition to its bytes a key takes 8 bytes and its share of
 * the table, at most 40 bytes in all, since arrays grow by doubling. */
/* The hash is stored in the table, so that the bytes of other keys are hardly ever compared. */
struct trace_key_slot {
    uint32_t hash;
    uint32_t number; /* the key's number + 1; 0: the slot is free */
};

struct trace_keys {
    uint32_t count;
    size_t capacity;
    uint64_t
        *ends; /* the end of each key's bytes in the arena; they begin at the end of the previous key's */
    char *arena;
    size_t arena_bytes, arena_capacity;
    struct trace_key_slot *slots; /* their number is a power of two */
    uint64_t slot_mask;
};

uint32_t trace_keys_hash(const char *key, size_t size);
/* Sets *index to the key's number, which is a new one at the key's first appearance. Returns false, and
 * changes nothing, when out of memory or of numbers. A struct of all zeros is an empty table. */
bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t hash, uint32_t *index);
void trace_keys_free(struct trace_keys *keys);

/* Parses a row's time from the text of a field, in the formats that occur in files. */
/* Detects the format of a time; whole numbers are classified by their size. WL_TIME_AUTO when the text has no
 * known format. A number of 18 digits or more is taken for nanoseconds, and never for a Snowflake. */
enum wl_trace_time trace_time_kind(const char *text, size_t size);
/* Returns false when the text is not a time of that format, or not within the years 1677 to 2262. *has_zone
 * is set to whether a time that is written as a date has a zone, and to true for the other formats. */
bool trace_time_parse(enum wl_trace_time kind, int64_t epoch_ns, const char *text, size_t size,
                      int64_t *out_ns, bool *has_zone);

/* Whether the text is a time of day, such as 9:05 or 23:59:59.5. */
bool trace_time_is_of_day(const char *text, size_t size);
/* Joins a date and a time of day to a text of one of these formats, of at most date_size + size + 2 bytes;
 * returns its size. */
size_t trace_time_join(const char *date, size_t date_size, const char *text, size_t size, char *out);

/* Judges the format of a column by a sample of its values. A number has several readings: an epoch in the
 * unit of its size, digits of a date, a spreadsheet's days, ticks; a date may begin with the day or the
 * month. */
struct trace_time_judge {
    enum wl_trace_time first;    /* of the first value */
    size_t kinds[WL_TIME_COUNT]; /* values by trace_time_kind(), without the number 0, which is no time */
    size_t numbers;
    size_t fits[WL_TIME_COUNT]; /* numbers that are times of this kind, in the years 1980 to 2099 */
    size_t since_start;         /* numbers that are seconds in the first month from 0 on */
    size_t times_of_day;        /* numbers that are hours, minutes and seconds */
    size_t dates;               /* dates of digits that begin with the day or the month */
    char value[32];             /* the first number or date */
    uint64_t line;              /* and its line */
};

void trace_time_take(struct trace_time_judge *judge, const char *text, size_t size, uint64_t line);
/* Returns the format of the column; WL_TIME_AUTO when it has none, and when the numbers have several
 * readings. `readings` then lists these for a message, otherwise it is empty. */
#define TRACE_READINGS_SIZE 320
enum wl_trace_time trace_time_verdict(const struct trace_time_judge *judge, char *readings);

/* Sorts rows by (time, order of input) in bounded memory: an external merge sort. Rows are collected in a
 * buffer; when it is full, it is sorted and written to a temporary file as a run. Reading merges the runs,
 * and may be repeated. */
struct trace_sort;

/* `path` names the trace in messages. `memory_bytes` is the memory for the buffer and, while rows are read,
 * for the windows of the runs; the program uses TRACE_SORT_BYTES. */
#define TRACE_SORT_BYTES ((size_t)64 << 20)
bool trace_sort_create(const char *path, size_t memory_bytes, struct trace_sort **out,
                       struct sim_error *error);
bool trace_sort_put(struct trace_sort *sort, const struct trace_row *row, uint64_t line,
                    struct sim_error *error);
/* Begins reading after the last row was added. It may be called again, to read from the first row again. */
bool trace_sort_rewind(struct trace_sort *sort, struct sim_error *error);
/* Reads the next row; *more is false after the last one. The key's bytes are valid until the next call. */
bool trace_sort_next(struct trace_sort *sort, struct trace_row *out, uint64_t *line, bool *more,
                     struct sim_error *error);
/* The number of rows read since the last rewind, and the number of all rows. */
uint64_t trace_sort_place(const struct trace_sort *sort);
uint64_t trace_sort_count(const struct trace_sort *sort);
/* Frees the memory and removes the temporary file. sort may be NULL. */
void trace_sort_destroy(struct trace_sort *sort);

/* Reads the rows of a trace that is not in the plain form: CSV of any dialect or JSON Lines, in one file or
 * several, by columns that are found by name or number. The table is a cursor, which returns rows in the
 * order of the files. */
#define TRACE_LISTING_SIZE 200u

struct trace_table {
    const struct wl_trace_format *format; /* the caller's; must outlive the table */
    struct wl_trace_files files;
    size_t file;         /* index of the file that is being read */
    uint64_t done_bytes; /* total size of the files before it */
    struct trace_reader reader;
    bool is_json, has_header;
    bool has_objects; /* JSON whose objects are not a line each: an array, or printed over several lines */
    struct csv_dialect dialect;
    struct csv_records records;
    struct trace_json json;
    struct wl_csv_record record; /* the current row; while a CSV file is opened, its first line */
    size_t field_count;          /* number of fields of each record of a CSV file */
    struct trace_columns columns;
    enum wl_trace_time time;         /* how times are written; WL_TIME_AUTO before the first row */
    bool has_zones;                  /* the times of all rows so far have a zone */
    char unused[TRACE_LISTING_SIZE]; /* the names of the columns that are not used, for display */
    char *key;                       /* buffer for a key of several parts */
    size_t key_capacity;
};

/* Opens the first file and finds its columns and the format of its times. The caller must close the table
 * even after a failure. */
bool trace_table_open(struct trace_table *table, const char *path, const struct wl_trace_format *format,
                      struct sim_error *error);
/* Reads the next row; *more is false after the last one. */
bool trace_table_next(struct trace_table *table, struct trace_row *out, bool *more, struct sim_error *error);
/* The file and the line of the row that was returned last, and the number of bytes consumed of all files. */
const char *trace_table_path(const struct trace_table *table);
uint64_t trace_table_line(const struct trace_table *table);
uint64_t trace_table_offset(const struct trace_table *table);
/* Describes for display how the file is read: "CSV with ';', time 'at' in ISO 8601, key 'guild' + 'channel',
 * bytes 'size'". */
void trace_table_text(const struct trace_table *table, char *buffer, size_t size);
void trace_table_close(struct trace_table *table);

#endif
