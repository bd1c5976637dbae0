/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear under their names only when whole: all are written beside their targets and flushed, then
 * all are renamed. When one cannot be written, none appears, nor a folder that was made for them. */
#ifndef REPORTS_OUTPUT_H
#define REPORTS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"
#include "render.h"

enum report_step {
    REPORT_STEP_FOLDER,
    REPORT_STEP_OPEN,
    REPORT_STEP_WRITE,
    REPORT_STEP_FLUSH,
    REPORT_STEP_RENAME
};

/* For tests: asked before each step; an errno other than 0 makes the step fail with it. */
struct report_fault {
    int (*ask)(void *context, enum report_step step);
    void *context;
};

/* Writes contents[i] to paths[i], which lie in folder; the folder is made with its parents when missing.
 * fault may be NULL. The error is SIM_ERROR_ENVIRONMENT. */
bool report_output(const char *folder, char *const *paths, const struct report_bytes *contents, size_t count,
                   const struct report_fault *fault, struct sim_error *error);
/* FOLDER/SCENARIO-CHART.EXT, as all files of a result are named (reports/reports.h); chart NULL: without it.
 * The caller's; NULL without memory. */
char *report_output_path(const char *folder, const char *scenario, const char *chart, const char *extension);
/* report_write() with a fault. */
bool report_write_faulty(const struct lab_result *result, enum report_format format, const char *folder,
                         const struct report_fault *fault, struct report_files *out, struct sim_error *error);

#endif
