/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes files that appear under their names only when they are complete: all are written next to their
 * targets and flushed, and then all are renamed. If one cannot be written, none appears, and a folder that
 * was created for them is removed. */
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

/* Writes contents[i] to paths[i], which must be in folder; the folder is created with its parents if it is
 * missing. Errors are SIM_ERROR_ENVIRONMENT. */
bool report_output(const char *folder, char *const *paths, const struct report_bytes *contents, size_t count,
                   struct sim_error *error);
/* The path FOLDER/SCENARIO-CHART.EXT of a file of a result (reports/reports.h); without -CHART when chart is
 * NULL. is_tuned: SCENARIO-tune-CHART, so that the charts of a run are not overwritten. The caller must free
 * it; NULL when out of memory. */
char *report_output_path(const char *folder, const char *scenario, bool is_tuned, const char *chart,
                         const char *extension);

#endif
