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
    int64_t time_ms;
    const char *key; /* into the line */
    size_t key_size;
    uint64_t value;
};

struct trace_place {
    const char *path;
    uint64_t line;
    bool has_counts;
};

/* Tells a trace of counts from one of bytes. `line` may begin with a byte order mark. */
bool trace_line_header(const char *line, size_t size, const char *path, bool *has_counts,
                       struct sim_error *error);
/* Changes the line where a quoted key has doubled quotes. */
bool trace_line_parse(char *line, size_t size, const struct trace_place *place, struct trace_row *out,
                      struct sim_error *error);

#endif
