/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that the readers of both formats share. */
#ifndef WORKLOAD_OBSERVED_FILE_H
#define WORKLOAD_OBSERVED_FILE_H

#include "trace_reader.h"
#include "workload/observed.h"

/* Cassandra's sizes are Java longs. The largest one, printed as a double, is 2^63. */
#define OBSERVED_SIZE_MAX   (UINT64_C(1) << 63)
#define OBSERVED_TABLES_MAX 8 /* the most tables that an error message lists */

struct observed_file {
    struct trace_reader reader;
    const char *wanted; /* the requested table; NULL: the file's only one */
    const _Atomic bool *stop;
    struct wl_observed *out;
    struct sim_error *error;
    char *tables[OBSERVED_TABLES_MAX]; /* the tables found so far, in order */
    size_t table_count;
};

struct observed_span {
    const char *begin, *end;
};

/* Each takes the first line that is not empty, which has been read, and reads the rest of the file. */
bool observed_partitions_read(struct observed_file *file, struct observed_span header);
bool observed_percentiles_read(struct observed_file *file, struct observed_span first);

/* Reads the next line; *more is false at the end of the file. */
bool observed_next(struct observed_file *file, struct observed_span *line, bool *more);
/* Sets the error to "PATH:LINE: TEXT" of class SIM_ERROR_INPUT, and returns false. */
bool observed_fail(struct observed_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets *is_wanted to whether the table is the requested one. When none was requested, a second table is an
 * error. */
bool observed_table(struct observed_file *file, const char *name, size_t size, bool *is_wanted);
/* Fails with the error for a file that does not contain the requested table. */
bool observed_fail_table(struct observed_file *file);

/* Without the blanks around it. */
struct observed_span observed_trim(struct observed_span span);
/* A command with the prompt before it, or a prompt alone, as they are copied from a terminal. */
bool observed_is_prompt(struct observed_span line);
bool observed_is(struct observed_span span, const char *text);
bool observed_begins(struct observed_span span, const char *text);

/* A field for an error message: printable, and truncated. */
struct observed_shown {
    char text[44];
};
struct observed_shown observed_show(struct observed_span span);

/* Parses a whole number of digits, at most OBSERVED_SIZE_MAX. The error names the column. */
bool observed_whole(struct observed_file *file, const char *column, struct observed_span field,
                    uint64_t *out);

#endif
