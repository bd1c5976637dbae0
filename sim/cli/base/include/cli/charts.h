/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --format and --out: which charts, whether a page, and where. */
#ifndef CLI_CHARTS_H
#define CLI_CHARTS_H

#include "cli/command.h"
#include "reports/reports.h"

struct cli_charts {
    bool wanted[REPORT_FORMAT_COUNT];
    bool has_page; /* html: page.h */
    const char *folder;
    struct report_files files[REPORT_FORMAT_COUNT];
    char *page;
};

/* Reads the options, and looks whether the folder is there or can be made; makes nothing. */
bool cli_charts_read(const struct cli_args *args, struct cli_charts *out, struct sim_error *error);
bool cli_charts_write(struct cli_charts *charts, const struct lab_result *result, struct sim_error *error);
/* Says after an error of drawing that the runs from first to last are stored, and how they are drawn again;
 * returns false. */
bool cli_charts_fail(int64_t first, int64_t last, const char *database, struct sim_error *error);
/* A path per line, with `prefix` in front; returns whether there was one. */
bool cli_charts_print(const struct cli_charts *charts, const char *prefix);
void cli_charts_free(struct cli_charts *charts);

/* Whether files could be made in the folder: the nearest folder that exists takes new ones. */
bool cli_folder_check(const char *folder, struct sim_error *error);

#endif
