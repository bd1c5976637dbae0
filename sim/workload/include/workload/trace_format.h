/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to read a trace's file: what its columns mean, and how times are written. All zero: everything is
 * detected from the file. A column is named by its header in CSV, by its field in JSON (`author.id` for a
 * nested field), or by its number from 1. */
#ifndef WORKLOAD_TRACE_FORMAT_H
#define WORKLOAD_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WL_TRACE_PARTS_MAX 8u

enum wl_trace_layout { WL_LAYOUT_AUTO, WL_LAYOUT_CSV, WL_LAYOUT_JSON };

/* How a time is written: its name in a scenario, and in messages. */
#define WL_TRACE_TIMES(X)                                                                                    \
    X(AUTO, "auto", "unknown") /* judged by a sample of the column */                                        \
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
    int layout;     /* enum wl_trace_layout; this and the next three are int because the parser of scenarios
                       stores choices as int */
    int time;       /* enum wl_trace_time */
    int escape;     /* enum wl_trace_escape */
    int header;     /* enum wl_trace_header */
    char delimiter; /* 0: detected from the first line */
    bool sort;      /* the rows are not in order of time, and are sorted on disk */
    bool has_epoch;
    int64_t epoch_ns; /* epoch of Snowflakes */
};

/* Whether nothing was specified, so that everything is detected from the file. */
bool wl_trace_format_is_plain(const struct wl_trace_format *format);
/* Frees the names. */
void wl_trace_format_clear(struct wl_trace_format *format);
/* The delimiter that a text names: "comma", "semicolon", "tab", "pipe", or one ASCII character that may
 * separate fields; 0 for any other text. */
char wl_trace_delimiter(const char *text);
/* The name of a delimiter, as above; NULL when it has none. */
const char *wl_trace_delimiter_name(char delimiter);
/* The name of a format of times, for messages: "epoch seconds", "ISO 8601". */
const char *wl_trace_time_name(enum wl_trace_time time);
/* Its name in a scenario: "s", "iso". */
const char *wl_trace_time_option(enum wl_trace_time time);

#endif
