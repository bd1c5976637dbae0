/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a trace's file is to be read: which columns mean what, and how times are written. All zero: as the file
 * itself tells. A column is named by its header, of JSON by its field (`author.id` for one within another),
 * or by its number from 1. */
#ifndef WORKLOAD_TRACE_FORMAT_H
#define WORKLOAD_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WL_TRACE_PARTS_MAX 8u

enum wl_trace_layout { WL_LAYOUT_AUTO, WL_LAYOUT_CSV, WL_LAYOUT_JSON };

enum wl_trace_time {
    WL_TIME_AUTO, /* as the first row's value looks */
    WL_TIME_ISO,
    WL_TIME_S, /* since 1970, with or without decimals, as the next three */
    WL_TIME_MS,
    WL_TIME_US,
    WL_TIME_NS,
    WL_TIME_TIMEUUID,
    WL_TIME_UUID7,
    WL_TIME_ULID,
    WL_TIME_SNOWFLAKE, /* milliseconds since the format's epoch, above 22 bits */
};

/* Whether a quote within a quoted field is doubled, or stands behind a backslash. */
enum wl_trace_escape { WL_ESCAPE_AUTO, WL_ESCAPE_DOUBLED, WL_ESCAPE_BACKSLASH };
enum wl_trace_header { WL_HEADER_AUTO, WL_HEADER_YES, WL_HEADER_NO };

/* No row of a trace is later than that. */
#define WL_TRACE_LATE_MAX (INT64_C(3650) * 86400 * 1000000000)

/* Of Snowflakes when none is given: Twitter's. */
#define WL_SNOWFLAKE_EPOCH_NS (INT64_C(1288834974657) * 1000000)

struct wl_trace_columns {
    char *time;                         /* NULL: by its usual names */
    char *arrived;                      /* NULL: a row arrives at its time */
    char *key[WL_TRACE_PARTS_MAX];      /* several make one key, parted by '/' */
    size_t key_count;                   /* 0: the column `key` */
    char *bytes, *count;                /* at most one of the three */
    char *bytes_of[WL_TRACE_PARTS_MAX]; /* a row's bytes are the lengths of these texts together */
    size_t bytes_of_count;
};

struct wl_trace_format {
    struct wl_trace_columns columns;
    int layout;     /* enum wl_trace_layout; this and the next are int as a scenario's choices are */
    int time;       /* enum wl_trace_time */
    int escape;     /* enum wl_trace_escape */
    int header;     /* enum wl_trace_header */
    char delimiter; /* 0: as the first line has it */
    bool sort;      /* the rows are in no order; they are sorted on disk */
    bool has_epoch;
    int64_t epoch_ns; /* of Snowflakes */
};

/* Whether anything was asked for. */
bool wl_trace_format_is_plain(const struct wl_trace_format *format);
/* Frees the names. */
void wl_trace_format_clear(struct wl_trace_format *format);
/* "comma", "semicolon", "tab", "pipe", or one ASCII character that may part fields; 0 for none of them. */
char wl_trace_delimiter(const char *text);
/* NULL for one that has no such name. */
const char *wl_trace_delimiter_name(char delimiter);
/* "epoch seconds", "ISO 8601". */
const char *wl_trace_time_name(enum wl_trace_time time);

#endif
