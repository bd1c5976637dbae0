/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run as one HTML page: the question and its answer in three sentences, the comparison, every chart, and
 * what it takes to run it again.
 *
 * The page needs nothing but itself: no network, no other file, no font; its own policy (Content-Security-
 * Policy) forbids the rest, and every word of a user is text. Written as XML that is HTML too. The same
 * data gives the same bytes: no clock, no machine, no path. It reads without scripts; these add sorting,
 * hover values, the live corner and the choice of light or dark. */
#ifndef REPORTS_PAGE_H
#define REPORTS_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"
#include "lab/result.h"
#include "reports/front.h"
#include "reports/heatmap.h"
#include "reports/regions.h"

/* Plain data; all that is pointed to is the caller's, and NULL stands for what there is not. */
struct report_page {
    const struct lab_result *result; /* never NULL */
    const char *scenario_text;       /* as it was read, before `overrides` */
    const char *scenario_file;       /* its name; what stands before the last '/' is left out */
    const char *overrides;           /* a PATH=VALUE a line */
    const char *version;             /* of the program that made the run */
    const char *const *again;        /* command lines that make the run again */
    size_t again_count;
    /* Of a run of `tune`: they take the place of the answer that a single run gives. */
    const char *recommended; /* label of a strategy of the result */
    const char *why, *notes; /* whole sentences */
    const struct report_front *front;
    const struct report_heatmap *heatmap;
    const struct report_regions *regions;
};

/* Writes FOLDER/SCENARIO.html, named as the charts are (reports/reports.h), whole or not at all; the
 * folder is made when missing. *path is the caller's; NULL on failure. */
bool report_page_write(const struct report_page *page, const char *folder, char **path,
                       struct sim_error *error);

#endif
