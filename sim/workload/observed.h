/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of both formats share. */
#ifndef WORKLOAD_OBSERVED_FILE_H
#define WORKLOAD_OBSERVED_FILE_H

#include "trace_reader.h"
#include "workload/observed.h"

/* Cassandra's sizes are a Java long's. Its greatest, as a printed double has it, lies a little above 2^63. */
#define OBSERVED_SIZE_MAX   (UINT64_C(1) << 63)
#define OBSERVED_TABLES_MAX 8 /* that an error names */

struct observed_file {
    struct trace_reader reader;
    const char *wanted; /* table; NULL: the only one */
    const _Atomic bool *stop;
    struct wl_observed *out;
    struct sim_error *error;
    char *tables[OBSERVED_TABLES_MAX]; /* met so far, in order */
    size_t table_count;
};

struct observed_span {
    const char *begin, *end;
};

/* Each takes the first line that is not empty; the file then stands behind it. */
bool observed_partitions_read(struct observed_file *file, struct observed_span header);
bool observed_percentiles_read(struct observed_file *file, struct observed_span first);

/* The next line; *more is false at the end of the file. */
bool observed_next(struct observed_file *file, struct observed_span *line, bool *more);
/* "PATH:LINE: TEXT" of class SIM_ERROR_INPUT; returns false. */
bool observed_fail(struct observed_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether a table is the one that is wanted; where none is named, a second one fails. *is_wanted says. */
bool observed_table(struct observed_file *file, const char *name, size_t size, bool *is_wanted);
/* At the end of a file without the table that is wanted. */
bool observed_fail_table(struct observed_file *file);

bool observed_is(struct observed_span span, const char *text);
bool observed_begins(struct observed_span span, const char *text);

/* A field as an error shows it: printable, and short. */
struct observed_shown {
    char text[44];
};
struct observed_shown observed_show(struct observed_span span);

/* Digits alone, at most OBSERVED_SIZE_MAX. The error names the column. */
bool observed_whole(struct observed_file *file, const char *column, struct observed_span field,
                    uint64_t *out);

#endif
