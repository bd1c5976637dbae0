/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes one run as one HTML page: the answer, the comparison, every
 * chart, and how to repeat the run.
 *
 * The page is self-contained: it loads nothing from the network or from other files, not even fonts, which
 * its Content-Security-Policy enforces. All texts of the user are escaped. The page is valid as XML and as
 * HTML. The same data gives the same bytes: there is no time, machine name or path. It is readable without
 * scripts, which add sorting, values on hover, the interactive section and the choice of a light or dark
 * style. */
#ifndef REPORTS_PAGE_H
#define REPORTS_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"
#include "lab/result.h"
#include "reports/front.h"

/* Plain data. All pointers are owned by the caller; NULL means that the data does not exist. */
struct report_page {
    const struct lab_result *result; /* never NULL */
    const char *scenario_text;       /* text as read, without `overrides` */
    const char *scenario_file;       /* path of the file; only the part after the last '/' is used */
    const char *overrides;           /* PATH=VALUE, one per line */
    const char *version;             /* version of the program that made the run */
    const char *const *again;        /* command lines that repeat the run */
    size_t again_count;
    /* For a run of `tune`: these replace the answer of a single run. */
    const char *recommended; /* label of a strategy of the result */
    const char *const *why;  /* the headline, and lines that begin with "LABEL: " */
    size_t why_count;
    const struct report_front *front;
};

/* Writes FOLDER/SCENARIO.html, named like the charts (reports/reports.h). The file appears only when it is
 * complete; the folder is created if it is missing. The caller must free *path; NULL on failure. */
bool report_page_write(const struct report_page *page, const char *folder, char **path,
                       struct sim_error *error);

#endif
