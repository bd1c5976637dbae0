/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line of a trace to its three fields, checked one by one. */
#ifndef WORKLOAD_TRACE_LINE_H
#define WORKLOAD_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#define TRACE_VALUE_MAX (INT64_C(1) << 40)
/* Times in ms of at most this size, either sign, fit int64 nanoseconds. */
#define TRACE_TIME_MS_MAX (INT64_MAX / 1000000)

enum { TRACE_KEY_BYTES_MAX = 4096 };

struct trace_row {
    int64_t time_ns; /* of arrival */
    int64_t late_ns; /* its own time lies so far before */
    const char *key; /* into the line, or wherever the reader has it */
    size_t key_size;
    uint64_t value;
};

struct trace_place {
    const char *path;
    uint64_t line;
    bool has_counts;
};

/* A field as an error message shows it: printable, and short. */
struct trace_shown {
    char text[44];
};
struct trace_shown trace_show(const char *text, size_t size);

/* Whether it is the header of the plain form, and of which. `line` may begin with a byte order mark. */
bool trace_line_header(const char *line, size_t size, bool *has_counts);
/* Changes the line where a quoted key has doubled quotes. */
bool trace_line_parse(char *line, size_t size, const struct trace_place *place, struct trace_row *out,
                      struct sim_error *error);

/* What each form of a trace checks of a key and of a number of bytes or rows. */
bool trace_key_check(const char *key, size_t size, const struct trace_place *place, struct sim_error *error);
bool trace_value_parse(const char *text, size_t size, const struct trace_place *place, uint64_t *out,
                       struct sim_error *error);

#endif
