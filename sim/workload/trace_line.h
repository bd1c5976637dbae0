/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses one line of a trace in the plain form: its three fields, each checked. */
#ifndef WORKLOAD_TRACE_LINE_H
#define WORKLOAD_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

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

#endif
