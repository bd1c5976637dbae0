/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of a result. A chart is data first (model), then boxes (layout), then drawn by Cairo and Pango
 * (backend), so that what it says is tested as text and that nothing overlaps is tested on the boxes.
 *
 * Reads results only. The same result gives the same bytes: no date but the run's virtual start, no machine,
 * no path. Files appear under their names only when whole (written next to the target, flushed, renamed). */
#ifndef REPORTS_REPORTS_H
#define REPORTS_REPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"
#include "lab/result.h"
#include "reports/curves.h"
#include "reports/file_format.h"
#include "reports/front.h"
#include "reports/heatmap.h"
#include "reports/horizon.h"
#include "reports/regions.h"

struct report_files {
    char **paths;
    size_t count;
};

/* Writes every chart of the result into folder (made when missing, with its parents), named
 * SCENARIO-CHART.EXT (the scenario's name with everything but letters, digits, - and _ turned into -). */
bool report_write(const struct lab_result *result, enum report_format format, const char *folder,
                  struct report_files *out, struct sim_error *error);
/* What the run answers, in the sentences that its page begins with: which strategy to choose and why, what
 * the others cost or what stands against them, and for how long they stay within the limits. malloc'ed, the
 * caller's; NULL when out of memory. */
char *report_verdict(const struct lab_result *result);
/* "You need no buckets yet: ..."; "" where they are needed within a year. malloc'ed, the caller's; NULL
 * when out of memory. */
char *report_no_buckets_told(const struct report_horizon *horizon);
/* Of a run that has a strategy. */
struct report_horizon report_run_horizon(const struct lab_result *result);
/* A line for each chart of the result that has nothing to show, and so is no file: "bucket-changes: no agent
 * was seen while a key's bucket changed". The lines are the caller's, as paths of report_write() are. */
bool report_left_out(const struct lab_result *result, struct report_files *out, struct sim_error *error);
/* A file with this text next to the charts, whole or not at all. *path is FOLDER/NAME, the caller's; NULL on
 * failure. */
bool report_write_text(const char *folder, const char *name, const char *text, char **path,
                       struct sim_error *error);
void report_files_free(struct report_files *files);

/* One chart of plain data to path, whole or not at all; its folder is made when missing. Data outside the
 * bounds in the headers of the data asserts. */
bool report_curves_write(const struct report_curves *curves, enum report_format format, const char *path,
                         struct sim_error *error);
bool report_front_write(const struct report_front *front, enum report_format format, const char *path,
                        struct sim_error *error);
bool report_heatmap_write(const struct report_heatmap *heatmap, enum report_format format, const char *path,
                          struct sim_error *error);
bool report_regions_write(const struct report_regions *regions, enum report_format format, const char *path,
                          struct sim_error *error);

#endif
