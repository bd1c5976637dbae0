/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of a CSV file, plain or gzip, as cqlsh's COPY TO and most tools write it: fields between commas,
 * those with a comma, a quote or a line break in quotes, a quote within them doubled or behind a backslash. A
 * backslash before a quote, a comma or a backslash makes it an ordinary character. */
#ifndef WORKLOAD_CSV_H
#define WORKLOAD_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WL_CSV_FIELDS_MAX 256u

struct wl_csv;

/* A record, valid until the next is asked for. Each field ends with a NUL that is not counted. */
struct wl_csv_record {
    uint64_t line; /* on which it begins, from 1 */
    size_t count;  /* 0: the end of the file */
    const char *fields[WL_CSV_FIELDS_MAX];
    size_t sizes[WL_CSV_FIELDS_MAX];
};

/* `what` names the file in messages: "sample". Errors: as those of a trace, by file, line and cure. */
bool wl_csv_open(const char *path, const char *what, struct wl_csv **out, struct sim_error *error);
/* Lines without anything are skipped. */
bool wl_csv_next(struct wl_csv *csv, struct wl_csv_record *out, struct sim_error *error);
/* NULL is fine. */
void wl_csv_close(struct wl_csv *csv);

#ifdef __cplusplus
}
#endif
#endif
