/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of a CSV file, plain or gzip, as cqlsh's COPY TO and most tools write it: fields between commas,
 * those with a comma, a quote or a line break in quotes, a quote within them doubled or behind a backslash. A
 * backslash before a quote, a comma or a backslash makes it an ordinary character. */
#ifndef WORKLOAD_CSV_H
#define WORKLOAD_CSV_H

#include <stdbool.h>

#include "kernel/error.h"
#include "workload/csv_fields.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wl_csv;

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
