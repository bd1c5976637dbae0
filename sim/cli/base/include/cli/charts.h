/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options --format and --out: which formats of charts to write, whether to write a page, and into which
 * folder. */
#ifndef CLI_CHARTS_H
#define CLI_CHARTS_H

#include "cli/command.h"
#include "reports/reports.h"

struct cli_charts {
    bool wanted[REPORT_FORMAT_COUNT];
    bool has_page; /* --format includes html: see cli/page.h */
    const char *folder;
    struct report_files files[REPORT_FORMAT_COUNT];
    char *page;
};

/* Reads the options, and checks that the folder exists or can be created, without creating it. */
bool cli_charts_read(const struct cli_args *args, struct cli_charts *out, struct sim_error *error);
bool cli_charts_write(struct cli_charts *charts, const struct lab_result *result, struct sim_error *error);
/* Prints, after an error of drawing, that the runs from first to last are stored, and how to draw their
 * charts again; returns false. */
bool cli_charts_fail(int64_t first, int64_t last, const char *database, struct sim_error *error);
/* Prints the path of each file that was written, one per line, after `prefix`. Returns whether there was
 * one. */
bool cli_charts_print(const struct cli_charts *charts, const char *prefix);
void cli_charts_free(struct cli_charts *charts);

/* Checks that files can be created in the folder: a folder is made in the nearest existing one, and removed.
 */
bool cli_folder_check(const char *folder, struct sim_error *error);

#endif
