/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the records of a CSV file, plain or compressed (gzip, zstd), as cqlsh's COPY TO and most tools write
 * it, and of a table pasted from a terminal. Fields are separated by commas, semicolons, tabs or bars,
 * whichever are most frequent in the first line. A field that contains one, a quote or a line break is
 * quoted, and a quote within it is doubled or escaped by a backslash. A backslash escapes a quote, a comma or
 * a backslash. */
#ifndef WORKLOAD_CSV_H
#define WORKLOAD_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#define WL_CSV_FIELDS_MAX 256u

/* A record, valid until the next one is read. Each field has a final NUL that its size does not include. */
struct wl_csv_record {
    uint64_t line;                             /* number of the line on which the record begins, from 1 */
    size_t count;                              /* 0: the end of the file */
    const char *fields[WL_CSV_FIELDS_MAX + 1]; /* the last one is for a value of the caller's */
    size_t sizes[WL_CSV_FIELDS_MAX + 1];
};

struct wl_csv;

/* Opens a file. `what` describes the file in error messages, for example "sample"; errors name the file, the
 * line and the remedy, like those of a trace. The caller must close *out with wl_csv_close(). */
bool wl_csv_open(const char *path, const char *what, struct wl_csv **out, struct sim_error *error);
/* Reads the next record; out->count is 0 at the end of the file. Empty lines are skipped. The fields are
 * valid until the next call. */
bool wl_csv_next(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error);
/* csv may be NULL. */
void wl_csv_close(struct wl_csv *csv);

#endif
