/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear under their names only when whole: all are written next to their targets and flushed,
 * then all are renamed. When one cannot be written, none appears, nor a folder that was made for them. */
#ifndef REPORTS_OUTPUT_H
#define REPORTS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"

struct report_bytes {
    unsigned char *data; /* malloc'ed */
    size_t size, capacity;
};

void report_bytes_free(struct report_bytes *bytes);

/* Writes contents[i] to paths[i], which lie in folder; the folder is made with its parents when missing.
 * The error is SIM_ERROR_ENVIRONMENT. */
bool report_output(const char *folder, char *const *paths, const struct report_bytes *contents, size_t count,
                   struct sim_error *error);
/* FOLDER/SCENARIO-CHART.EXT, as all files of a result are named (reports/reports.h); chart NULL: without it;
 * is_tuned: SCENARIO-tune-CHART, so that the charts of a run stay. The caller's; NULL when out of memory. */
char *report_output_path(const char *folder, const char *scenario, bool is_tuned, const char *chart,
                         const char *extension);

#endif
