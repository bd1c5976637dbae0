/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace: the rows of a file in order of time, read as a stream. Memory grows with the number of keys, not
 * with the size of the file. A file is CSV or JSON, of which some columns are read (struct wl_trace_format);
 * the plain form, for which there is a fast path, is CSV in UTF-8 with the header `timestamp_ms,key,bytes` or
 * `timestamp_ms,key,count`. All may be compressed.
 *
 * A line with a count n represents n rows: row i is at t + floor(i * step / n) milliseconds, where step is
 * the time from this line to the key's next line; the key's last line uses the step of the line before it (0
 * when it is the only one). The rows of a line are therefore returned only when the next line of its key, or
 * the end of the file, is read: rows are in time order within a key, but not across keys. Errors name file
 * and line: "tweets.csv:17: key is empty; give each row a key". */
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

/* How to read a trace's file: what its columns mean, and how times are written. All zero: everything is
 * detected from the file. A column is named by its header in CSV, by its field in JSON (`author.id` for a
 * nested field), or by its number from 1. */

#define WL_TRACE_PARTS_MAX 8u

enum wl_trace_layout { WL_LAYOUT_AUTO, WL_LAYOUT_CSV, WL_LAYOUT_JSON };

/* How a time is written: its name in a scenario, and in messages. */
#define WL_TRACE_TIMES(X)                                                                                    \
    X(AUTO, "auto", "an unknown form") /* judged by a sample of the column */                                \
    X(ISO, "iso", "ISO 8601")                                                                                \
    X(S, "s", "epoch seconds") /* like the next six, a number with or without decimals */                    \
    X(MS, "ms", "epoch milliseconds")                                                                        \
    X(US, "us", "epoch microseconds")                                                                        \
    X(NS, "ns", "epoch nanoseconds")                                                                         \
    X(EXCEL, "excel", "Excel's days")                                                                        \
    X(TICKS, "ticks", ".NET ticks")     /* 100 ns since the year 1 */                                        \
    X(FILETIME, "filetime", "FILETIME") /* 100 ns since 1601 */                                              \
    X(YYYYMMDD, "yyyymmdd", "yyyymmdd") /* the digits of a date, and of a time of day after it */            \
    X(YYMMDD, "yymmdd", "yymmdd")       /* the same with a year of two digits, from 1970 to 2069 */          \
    X(WORDS, "words", "words")          /* with a month's name, or AM and PM */                              \
    X(DMY, "dmy", "day/month/year")                                                                          \
    X(MDY, "mdy", "month/day/year")                                                                          \
    X(YMD, "ymd", "year/month/day") /* with a year of two digits */                                          \
    X(TIMEUUID, "timeuuid", "timeuuid")                                                                      \
    X(UUID7, "uuid7", "UUID v7")                                                                             \
    X(ULID, "ulid", "ULID")                                                                                  \
    X(SNOWFLAKE, "snowflake", "Snowflake") /* milliseconds since epoch_ns, above 22 low bits */

enum wl_trace_time {
#define WL_TRACE_TIME_ID(id, option, name) WL_TIME_##id,
    WL_TRACE_TIMES(WL_TRACE_TIME_ID)
#undef WL_TRACE_TIME_ID
        WL_TIME_COUNT
};

/* Whether a quote within a quoted field is doubled, or escaped by a backslash. */
enum wl_trace_escape { WL_ESCAPE_AUTO, WL_ESCAPE_DOUBLED, WL_ESCAPE_BACKSLASH };
enum wl_trace_header { WL_HEADER_AUTO, WL_HEADER_YES, WL_HEADER_NO };

/* The largest lateness of a row of a trace. */
#define WL_TRACE_LATE_MAX (INT64_C(3650) * 86400 * 1000000000)

/* The default epoch of Snowflakes, which is Twitter's. */
#define WL_SNOWFLAKE_EPOCH_NS (INT64_C(1288834974657) * 1000000)

struct wl_trace_columns {
    char *time;                    /* NULL: one of the usual names of a time column */
    char *time_of_day;             /* of a time in two columns, whose first has the date; otherwise NULL */
    char *arrived;                 /* NULL: a row arrives at its own time */
    char *key[WL_TRACE_PARTS_MAX]; /* several columns are joined to one key, separated by '/' */
    size_t key_count;              /* 0: one of the usual names of a key column */
    char *bytes, *count;           /* at most one of bytes, count and bytes_of is set */
    char *bytes_of[WL_TRACE_PARTS_MAX]; /* a row's bytes are the sum of the lengths of these texts */
    size_t bytes_of_count;
};

struct wl_trace_format {
    struct wl_trace_columns columns;
    int layout;      /* enum wl_trace_layout; this and the next three are int because the parser of scenarios
                        stores choices as int */
    int time;        /* enum wl_trace_time */
    char *pattern;   /* how times are written, in the letters of strptime(); NULL: as `time` says */
    uint32_t year;   /* of times that are written without one; 0: none */
    int64_t zone_ns; /* of times that are written without one, east of UTC */
    int escape;      /* enum wl_trace_escape */
    int header;      /* enum wl_trace_header */
    char delimiter;  /* 0: detected from the first line */
    char *line;      /* the form of a line of a log, with the names of its fields in braces; NULL: no log */
    bool sort;       /* the rows are not in order of time, and are sorted on disk */
    bool has_epoch;
    int64_t epoch_ns; /* epoch of Snowflakes */
};

/* Frees the names. */
void wl_trace_format_clear(struct wl_trace_format *format);
/* The delimiter that a text names: "comma", "semicolon", "tab", "pipe", or one ASCII character that may
 * separate fields; 0 for any other text. */
char wl_trace_delimiter(const char *text);
/* The name of a delimiter, as above; NULL when it has none. */
const char *wl_trace_delimiter_name(char delimiter);
/* The name of a format of times, for messages: "epoch seconds", "ISO 8601". */
const char *wl_trace_time_name(enum wl_trace_time time);
/* Whether a text is the form of a log's line, "[{time}] {host} {message}": a field ends where the text after
 * it begins, or after a number of bytes, {time:23}, or words, {time:2w}; the last one has the rest. */
bool wl_trace_line_is(const char *text);
/* Whether a text is such a pattern: letters of strptime() that do not depend on the machine's settings, and
 * %f for decimals of the second. */
bool wl_trace_pattern_is(const char *text);
/* Its name in a scenario: "s", "iso". */
const char *wl_trace_time_option(enum wl_trace_time time);

struct wl_trace;

/* The most rows of a trace, as of a synthetic workload. */
#define WL_TRACE_ROWS_MAX UINT64_C(1000000000000000000)

/* The rows of one line, which belong to one key. Row i (0 <= i < rows) has the time wl_trace_row_time(batch,
 * i). */
struct wl_trace_batch {
    uint32_t key_index; /* in order of first appearance, from 0 */
    int64_t time_ns;    /* time of the line, since 1970 */
    int64_t step_ms;
    int64_t late_ns; /* how far the row's own time is before time_ns */
    uint64_t rows;   /* 1 in a trace with bytes; in a trace with counts, the count, which may be 0 */
    uint64_t bytes;  /* size of each row; undefined in a trace with counts */
    uint64_t line;   /* number of the line in the file, for messages */
};

static inline int64_t wl_trace_row_time(const struct wl_trace_batch *batch, uint64_t i)
{
    __extension__ typedef unsigned __int128 wide;
    if (i == 0)
        return batch->time_ns;
    return batch->time_ns + (int64_t)((wide)i * (uint64_t)batch->step_ms / batch->rows) * INT64_C(1000000);
}

/* Opens a trace and reads its header; with format->sort, also reads all rows and sorts them on disk. format:
 * copied, but its names must live as long as the trace; NULL: the format is detected from the file. On
 * failure *out is NULL. */
bool wl_trace_open_as(const char *path, const struct wl_trace_format *format, struct wl_trace **out,
                      struct sim_error *error);
/* Returns to the first row, and forgets the keys. On failure *trace is NULL or can only be closed. */
bool wl_trace_rewind(struct wl_trace **trace, struct sim_error *error);
/* Whether the trace has a size for each row; a trace with counts and a file without sizes have none. */
bool wl_trace_has_sizes(const struct wl_trace *trace);
/* Whether the trace is in the plain form; and a description of how the file is read, for display, which is
 * complete once a row was read. The text is valid until the next call. */
bool wl_trace_is_plain(const struct wl_trace *trace);
#define WL_TRACE_TEXT_SIZE 512
const char *wl_trace_text(struct wl_trace *trace);
/* Whether times are numbers of seconds, milliseconds, microseconds or nanoseconds; valid once a row was
 * read. */
bool wl_trace_has_epochs(const struct wl_trace *trace);
/* A table of the file's columns, their first values and how each is understood, and the fields of a scenario
 * that say so. The caller must free the text; NULL on failure. */
char *wl_trace_explain(const char *path, const struct wl_trace_format *format, struct sim_error *error);
/* A message about rows that are not in order of time has this cure. */
#define WL_TRACE_SORT_IT "add sort: true under trace"
/* Whether the lines have counts of rows. */
bool wl_trace_has_counts(const struct wl_trace *trace);
/* Reads the next batch; sets *more to false at the end of the trace. A trace without rows is an error. */
bool wl_trace_next(struct wl_trace *trace, struct wl_trace_batch *out, bool *more, struct sim_error *error);
/* Sets *begin and *end such that the rows [*begin, *end) of the line have times in [from_ns, until_ns). */
void wl_trace_rows_between(const struct wl_trace_batch *line, int64_t from_ns, int64_t until_ns,
                           uint64_t *begin, uint64_t *end);
/* Adds the number of the line's rows to the time slots that contain them: `count` slots of slot_ns each, the
 * first from begin_ns on. Rows outside of the slots are ignored. */
void wl_trace_slot_rows(const struct wl_trace_batch *line, int64_t begin_ns, int64_t slot_ns, uint64_t *slots,
                        uint64_t count);
/* The time of the file's first row; valid once wl_trace_next() has returned a batch with rows. */
int64_t wl_trace_first_ns(const struct wl_trace *trace);
uint32_t wl_trace_key_count(const struct wl_trace *trace);
/* The key's bytes, without a final NUL, valid until the next call of wl_trace_next(). */
const char *wl_trace_key(const struct wl_trace *trace, uint32_t key_index, size_t *size);
/* For a progress bar: the bytes read so far, and the size of the file, both as stored on disk. */
void wl_trace_progress(const struct wl_trace *trace, uint64_t *read_bytes, uint64_t *all_bytes);
void wl_trace_close(struct wl_trace *trace);

/* The files of a trace: a single file, or all data files of a folder in the order of their names, as DSBulk
 * writes when it unloads a table. */

struct wl_trace_files {
    char **paths;
    size_t count, capacity;
    uint64_t bytes; /* total size of the files */
};

/* Lists the files of a folder that end in .csv, .tsv, .txt, .json, .jsonl or .ndjson, or in these and the
 * ending of a compressed file; an empty list is an error. A path that is not a folder is returned as the only
 * file, without a check. The caller must clear *out even after a failure. */
bool wl_trace_files_find(const char *path, struct wl_trace_files *out, struct sim_error *error);
void wl_trace_files_clear(struct wl_trace_files *files);

/* Groups the lines of a trace by key. Lines are added in the order of the file, and read back key by key: the
 * keys in order of their numbers, the lines of each key in the order in which they were added. Memory grows
 * with the number of keys (100 bytes each) and with the square root of the number of lines; the remaining
 * data is in a temporary file. */

struct wl_trace_lines;

/* has_counts: whether the lines have counts of rows. path: the trace's, for messages; it must outlive the
 * object. Returns NULL when out of memory. */
struct wl_trace_lines *wl_trace_lines_create(const char *path, bool has_counts);
bool wl_trace_lines_put(struct wl_trace_lines *lines, const struct wl_trace_batch *line,
                        struct sim_error *error);
/* Must be called after the last line was added and before the first is read. */
bool wl_trace_lines_turn(struct wl_trace_lines *lines, struct sim_error *error);
/* Reads the next line; *more is false after the last one. The line's number in the file is not stored. */
bool wl_trace_lines_next(struct wl_trace_lines *lines, struct wl_trace_batch *out, bool *more,
                         struct sim_error *error);
/* lines may be NULL. */
void wl_trace_lines_destroy(struct wl_trace_lines *lines);

/* Parses ULIDs: 26 digits of Crockford's base 32, in upper or lower case. Source: github.com/ulid/spec. */

#define WL_ULID_BYTES 16u

/* Sets out to the bytes of the id, most significant first: six bytes of milliseconds since 1970, ten random
 * bytes. Returns false and leaves out unchanged when the text is not a ULID. */
bool wl_ulid_parse(const char *text, size_t size, uint8_t out[WL_ULID_BYTES]);

#endif
