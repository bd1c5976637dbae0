/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of which a trace is read: the bytes and lines of a file, records, columns, keys, times, and rows
 * sorted on disk. */
#ifndef WORKLOAD_TRACE_PARTS_H
#define WORKLOAD_TRACE_PARTS_H

#include <iconv.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "kernel/table.h"
#include "workload/csv.h"
#include "workload/trace.h"

/* Sets the error to "PATH:LINE: TEXT" of class SIM_ERROR_INPUT, and returns false. */
bool trace_fail(const char *path, uint64_t line, struct sim_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A field for an error message: printable, and truncated. */
struct trace_shown {
    char text[44];
};
struct trace_shown trace_show(const char *text, size_t size);

struct trace_span {
    const char *begin, *end;
};
/* Parses digits; false when there is none, or another character. A number above 2^63 is UINT64_MAX. */
bool trace_whole(struct trace_span span, uint64_t *out);
/* Whether there are characters, and only these. */
bool trace_has_only(struct trace_span word, const char *signs);
/* Without the blanks on both sides. */
struct trace_span trace_trim(const char *begin, const char *end);
/* In lower case, in every locale. */
static inline char trace_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The decompressed bytes of a file: plain, or gzip (RFC 1952), zstd (RFC 8878), bzip2, xz, lz4, or a zip
 * archive of one file; UTF-16 as UTF-8. A compressed file may have several members or frames in sequence. Any
 * other data after a member is an error, whereas zlib's gzread() ignores it silently. */
enum trace_source_fault {
    TRACE_SOURCE_FINE,
    TRACE_SOURCE_SYSTEM, /* a system call failed; `reason` is the errno */
    TRACE_SOURCE_MEMORY,
    TRACE_SOURCE_CUT,     /* the file ends inside a member */
    TRACE_SOURCE_DAMAGED, /* the compressed data cannot be read; `cure` says why */
    TRACE_SOURCE_TRAILING /* other data follows a member, which ends at trace_source_offset() */
};

struct trace_source {
    int file;
    const struct trace_codec *codec; /* NULL: plain */
    union decoder *decoder;
    unsigned char *input, *next; /* buffer of bytes read from the file; the first that was not consumed */
    size_t left;                 /* bytes in the buffer that were not consumed */
    bool is_begun, is_in_member, at_end;
    bool is_wide; /* UTF-16, which is converted to UTF-8 */
    iconv_t wide;
    char rest[8]; /* bytes that were not converted yet, of an incomplete character or for lack of room */
    size_t rest_size;
    uint64_t read_bytes;  /* of the file */
    uint64_t given_bytes; /* decompressed and converted bytes returned so far */
    enum trace_source_fault fault;
    const char *cure;
    int reason;
};

/* The lines of such a file, through one buffer. A line is returned in place in the buffer, may be changed
 * there, and is valid until the next one is read. A byte order mark at the beginning of the file is skipped.
 * A truncated or damaged file fails when its end is reached, even when it is truncated at the end of a line.
 */
#define TRACE_LINE_BYTES_MAX ((size_t)16 << 20)

struct trace_reader {
    struct trace_source source;
    const char *path;   /* owned by the caller */
    const char *what;   /* what the file is, for messages; owned by the caller */
    uint64_t all_bytes; /* size of the file; 0 when it has none, like a pipe */
    uint64_t line; /* number of the line that was returned last, or at which reading failed; from 1. While
                      objects are read, of the line at `begin` */
    char *buffer;
    size_t begin, end; /* the part of the buffer that was not returned yet */
    size_t lines_end;  /* end of the last line break in the buffer; 0: there is none */
    char line_break;   /* LF; CR in a file whose beginning has CR but no LF */
    size_t capacity;
    bool is_marked, at_end;
    size_t mark; /* where trace_reader_return() returns to */
    uint64_t mark_line;
    bool are_pairs; /* objects are lines of name=value */
    json_t *rows;   /* the objects in an array of the file's only one; NULL: there are none */
    size_t row, mark_row;
    bool has_prefix;                    /* each object has text in front, as of docker compose */
    uint64_t continued, mark_continued; /* lines of a log that continue the one above */
};

/* `what` describes the file in messages: "PATH:1: WHAT cannot be opened". */
bool trace_reader_open(const char *path, const char *what, struct trace_reader *out, struct sim_error *error);
/* Reads the next line; *line is NULL at the end of the file. *size excludes the line break (LF, CRLF or CR).
 */
bool trace_reader_next(struct trace_reader *reader, char **line, size_t *size, struct sim_error *error);
/* Reads more bytes behind those that were not returned yet, which move to another place. */
bool trace_reader_fill(struct trace_reader *reader, struct sim_error *error);
/* The bytes that were not returned yet, as many as the buffer holds, without consuming them; valid until the
 * next call. A file that cannot be read ends early here, and fails when its bytes are read. */
const char *trace_reader_peek(struct trace_reader *reader, size_t *size);
/* What is read after trace_reader_mark() is read again after trace_reader_return(); the buffer keeps it. */
void trace_reader_mark(struct trace_reader *reader);
void trace_reader_return(struct trace_reader *reader);
/* Whether what was read since the mark is enough for a sample. */
#define TRACE_SAMPLE_BYTES ((size_t)256 << 10)
#define TRACE_SAMPLE_ROWS  1000u
static inline bool trace_reader_is_sampled(const struct trace_reader *reader)
{
    return reader->begin - reader->mark >= TRACE_SAMPLE_BYTES;
}
/* The number of bytes of the file on disk that were consumed. */
uint64_t trace_reader_offset(const struct trace_reader *reader);
/* The reader may be one that failed to open, or a zeroed one. */
void trace_reader_close(struct trace_reader *reader);

/* A quote within a quoted field may always be doubled (RFC 4180). With has_backslash, a backslash escapes a
 * quote, a delimiter or a backslash, whether the field is quoted or not. */
struct csv_dialect {
    const char *line; /* the form of a log's lines; NULL: there are delimiters */
    bool is_guessed;  /* lines without its time continue the one above, and one may lack fields */
    char delimiter;
    bool has_backslash;
    bool has_comments;    /* lines that begin with # */
    bool is_pasted;       /* a table with a rule: fields have no quotes, and no spaces around them */
    uint64_t header_line; /* of a pasted table: the number of its header's line */
};

/* Texts, each with a final NUL. */
struct csv_buffer {
    char *bytes;
    size_t size, capacity;
};

struct wl_csv {
    struct trace_reader reader;
    struct csv_dialect dialect;
    struct csv_buffer fields; /* of the current record */
    size_t pasted_columns;    /* number of columns of a pasted table's header */
    char *path;               /* NULL: the caller has it */
};

/* Sets the fields of a record by their sizes. They stand one after the other in `bytes`. */
void csv_set_fields(const char *bytes, struct wl_csv_record *out);
/* Detects the dialect from the file's first bytes: a pasted table by its rule; otherwise the delimiter that
 * occurs most often in the first line, unless it is given, and the escape of quotes under which more records
 * are whole. */
bool csv_sniff(struct wl_csv *csv, char delimiter, enum wl_trace_escape escape, struct sim_error *error);
/* Splits a line by a form of wl_trace_line_is(), and passes the name and the text of each field to `take`.
 * Returns whether the line has the form. */
typedef bool csv_taker(void *target, struct trace_span name, struct trace_span field);
bool csv_split_line(const char *form, const char *begin, const char *end, csv_taker *take, void *target);
/* The names in the form of a log's lines, as a record; its texts are in the reader's buffer of fields. */
bool csv_line_names(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error);
/* Finds the form of the lines of a log, of CSV_FORM_BYTES, by the first bytes of a file; false when they are
 * none. */
#define CSV_FORM_BYTES 1024u
bool csv_guess_line(const char *bytes, size_t size, char *form);
/* Returns false, with an error, when a line does not contain the delimiter of the first line but contains
 * another one that csv_sniff() knows. */
bool csv_check_delimiter(const struct wl_csv *csv, uint64_t number, const char *line, size_t size,
                         struct sim_error *error);

/* Frees *out and sets it to the next object of a file of JSON, which may be in an array, or to NULL at the
 * end of the file; *line is where it begins. */
bool trace_json_next(struct trace_reader *reader, json_t **out, uint64_t *line, struct sim_error *error);
/* Whether the first line of a file is an object that has a time, with other text before it. */
bool trace_json_has_prefix(const char *bytes, size_t size);
/* Whether the first line of a file is of pairs, as in level=info msg="started". */
bool trace_json_are_pairs(const char *bytes, size_t size);
/* The longest array of objects in a value; NULL: there is none. */
const json_t *trace_json_rows(const json_t *value, unsigned depth);
/* The value in an object like {"$date": "2026-01-01T00:00:00Z"}, as MongoDB writes it; otherwise the value.
 */
const json_t *trace_json_bare(const json_t *value);
/* The value of a field, or of a nested field by a path with dots; NULL when it is missing or null. The whole
 * name is tried first, since the name of a field may contain dots. */
const json_t *trace_json_find(const json_t *object, const char *name);
/* Appends a value as text; false when out of memory. */
bool trace_json_put(struct csv_buffer *buffer, const json_t *value, size_t *size);

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
    uint32_t hash; /* trace_keys_hash() of the key */
};

/* Numbers keys in order of first appearance: a hash table of numbers, and one arena with the keys' bytes. The
 * hash never affects a result. In addition to its bytes a key takes 8 bytes and its share of the table, at
 * most 40 bytes in all, since arrays grow by doubling. */
struct trace_keys {
    uint32_t count;
    size_t capacity;
    uint64_t
        *ends; /* the end of each key's bytes in the arena; they begin at the end of the previous key's */
    char *arena;
    size_t arena_bytes, arena_capacity;
    struct sim_table table; /* its indices are the keys' numbers + 1 */
    bool
        is_broken; /* out of memory: there are no more keys; it must not move, as the table has its address */
};

uint32_t trace_keys_hash(const char *key, size_t size);
/* Sets *index to the key's number, which is a new one at the key's first appearance. Returns false, and
 * changes nothing, when out of memory or of numbers. A struct of all zeros is an empty table. */
bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t hash, uint32_t *index);
/* The bytes of a key, valid until the next key is added. */
const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size);
void trace_keys_free(struct trace_keys *keys);

/* Parses a row's time from the text of a field, in the formats that occur in files. */
/* Detects the format of a time; whole numbers are classified by their size. WL_TIME_AUTO when the text has no
 * known format. A number of 18 digits or more is taken for nanoseconds, and never for a Snowflake. */
enum wl_trace_time trace_time_kind(const char *text, size_t size);
/* Returns false when the text is not a time of that format, or not within the years 1677 to 2262. *has_zone
 * is set to whether a time that is written as a date has a zone, and to true for the other formats. */
bool trace_time_parse(enum wl_trace_time kind, int64_t epoch_ns, const char *text, size_t size,
                      int64_t *out_ns, bool *has_zone);

/* How likely a text of a column is a time: 0 it is none; 1 an id that contains one; 2 a number in the range
 * of times from 1990 to 2099, or digits of a date; 3 a date, with or without its year. */
int trace_time_likely(const char *text, size_t size);
/* Whether a text is a time as syslog writes it, May 17 10:05:03 or 05-17 10:05:03. */
bool trace_time_lacks_year(const char *text, size_t size);
/* Likewise by a pattern of strptime(). */
bool trace_time_match(const char *pattern, const char *text, size_t size, int64_t *out_ns, bool *has_zone);

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
    bool is_short,
        is_constant; /* dates with slashes and years of two digits; all begin with the same number */
    bool has_days;   /* not all end with the same number */
    long part, last; /* these numbers, of the last date */
    size_t dates;    /* dates of digits that begin with the day or the month */
    char value[32];  /* the first number or date */
    uint64_t line;   /* and its line */
};

void trace_time_take(struct trace_time_judge *judge, const char *text, size_t size, uint64_t line);
/* Returns the format of the column; WL_TIME_AUTO when it has none, and when the numbers have several
 * readings. `readings` then lists these for a message, otherwise it is empty. */
#define TRACE_READINGS_SIZE 320
enum wl_trace_time trace_time_verdict(const struct trace_time_judge *judge, char *readings);

/* Sorts rows by (time, order of input) in bounded memory, as lines are sorted by key; wl_trace_lines_turn()
 * begins reading, and may be called again, to read from the first row again. `memory_bytes` is the memory for
 * the buffer; the program uses TRACE_SORT_BYTES. Keys are held in memory. */
#define TRACE_SORT_BYTES ((size_t)64 << 20)
bool trace_sort_create(const char *path, size_t memory_bytes, struct wl_trace_lines **out,
                       struct sim_error *error);
bool trace_sort_put(struct wl_trace_lines *sort, const struct trace_row *row, uint64_t line,
                    struct sim_error *error);
/* Reads the next row; *more is false after the last one. The key's bytes are valid until the end. */
bool trace_sort_next(struct wl_trace_lines *sort, struct trace_row *out, uint64_t *line, bool *more,
                     struct sim_error *error);
/* The share of all rows that were read. */
double trace_sort_share(const struct wl_trace_lines *sort);

/* What a column of a trace is. The first four are in the order in which they are described. */
enum trace_role {
    TRACE_TIME,
    TRACE_TIME_OF_DAY,
    TRACE_KEY,
    TRACE_BYTES,
    TRACE_COUNT,
    TRACE_BYTES_OF,
    TRACE_ARRIVED,
    TRACE_ROLES
};

#define TRACE_COLUMNS_MAX (3u + 2 * WL_TRACE_PARTS_MAX)
struct trace_columns {
    struct trace_column {
        enum trace_role role;
        const char *name;     /* from the format, or from the file */
        size_t field;         /* index in the record */
    } all[TRACE_COLUMNS_MAX]; /* in the order of roles */
    size_t count;
    size_t first[TRACE_ROLES], counts[TRACE_ROLES]; /* those of each role */
};

/* Reads the rows of a trace by columns, which are found by name or number: CSV of any dialect or JSON, in one
 * file or several. The table is a cursor, which returns rows in the order of the files. */
#define TRACE_LISTING_SIZE 200u

#define TRACE_NAME_BYTES 512u

/* Columns by name, or by number if a column of CSV has none of its own. */
struct trace_guess {
    bool is_used, has_time; /* the time has a usual name */
    bool has_no_time;       /* no column has times */
    char time[TRACE_NAME_BYTES], of_day[TRACE_NAME_BYTES], key[TRACE_NAME_BYTES];
    char others[3 * sizeof(struct trace_shown)]; /* columns that are as likely the key, for display */
};

struct trace_table {
    const struct wl_trace_format *format; /* the caller's; must outlive the table */
    struct wl_trace_files files;
    size_t file;         /* index of the file that is being read */
    uint64_t done_bytes; /* total size of the files before it */
    struct wl_csv csv;
    json_t *object;            /* the current one, of a file of JSON */
    const char *line;          /* the form of a log's lines; NULL: no log */
    char form[CSV_FORM_BYTES]; /* one that was guessed */
    uint32_t year;             /* of times without one; 0: they have one */
    int64_t last_ns;           /* the last time without one */
    bool is_json, has_header;
    bool is_usual;               /* comma, and the columns time in ms, key and value alone, in this order */
    struct wl_csv_record record; /* the current row; while a CSV file is opened, its first line */
    struct wl_csv_record header; /* names of the columns of a file; of JSON, the fields of the first object */
    struct csv_buffer names;     /* of the header */
    struct trace_columns columns;
    struct trace_guess guess;        /* of the columns that neither the format nor a usual name tells */
    enum wl_trace_time time;         /* how times are written; WL_TIME_AUTO before the first row */
    bool is_read;                    /* up to the end */
    uint64_t sizeless;               /* rows without a size in a column that has a usual name */
    uint64_t keyless;                /* rows without a value of a key that was guessed */
    bool has_zones;                  /* the times of all rows so far have a zone */
    char unused[TRACE_LISTING_SIZE]; /* the names of the columns that are not used, for display */
    struct csv_buffer text;          /* a key or time of several parts */
};

/* Opens the first file and finds its columns and the format of its times. The caller must close the table
 * even after a failure. */
bool trace_table_open(struct trace_table *table, const char *path, const struct wl_trace_format *format,
                      struct sim_error *error);
/* Reads the next row; *more is false after the last one. */
bool trace_table_next(struct trace_table *table, struct trace_row *out, bool *more, struct sim_error *error);
/* Reads the next row if it is in the reader's buffer, the table is usual, and the row's numbers have no sign
 * and its key no quotes, as of nearly all rows of large files. Earlier keys remain valid. */
bool trace_table_usual(struct trace_table *table, struct trace_row *out);
/* The file and the line of the row that was returned last, and the number of bytes consumed of all files. */
const char *trace_table_path(const struct trace_table *table);
uint64_t trace_table_offset(const struct trace_table *table);
/* Whether the file is in the plain form, and nothing was specified. */
bool trace_table_is_plain(const struct trace_table *table);
/* Describes for display how the file is read: "CSV with ';', time 'at' in ISO 8601, key 'guild' + 'channel',
 * bytes 'size'". */
void trace_table_text(const struct trace_table *table, char *buffer, size_t size);
void trace_table_close(struct trace_table *table);

#endif
