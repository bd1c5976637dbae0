/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes charts of a result. A chart is first data (model), then boxes (layout), and is then drawn by Cairo
 * and Pango (draw), so that its contents can be tested as text, and overlaps can be tested on the boxes.
 *
 * Charts depend only on the result. The same result gives the same bytes: there is no date except the run's
 * virtual start, no machine name and no path. A file appears under its name only when it is complete (it is
 * written next to the target, flushed and renamed). */
#ifndef REPORTS_REPORTS_H
#define REPORTS_REPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"
#include "lab/result.h"
#include "reports/front.h"
#include "reports/option.h"

struct report_files {
    char **paths;
    size_t count;
};

/* Writes every chart of the result, and that of the front of tune, unless that is NULL, into folder, which is
 * created with its parents if it is missing. Files are named SCENARIO-CHART.EXT, where SCENARIO is the
 * scenario's name with all characters except letters, digits, - and _ replaced by -. The caller must free
 * *out with report_files_free(). */
bool report_write(const struct lab_result *result, const struct report_front *front,
                  enum report_format format, const char *folder, struct report_files *out,
                  struct sim_error *error);
/* Lists, for each chart of the result that has nothing to show, and so was not written, a line with the
 * reason: "bucket-changes: no agent was seen while a key's bucket changed". The caller must free *out with
 * report_files_free(). */
void report_left_out(const struct lab_result *result, struct report_files *out);
void report_files_free(struct report_files *files);

/* Writes a sequence diagram to the standard output. Its texts have no control characters. */
bool report_sequence_print(const struct report_sequence *sequence, enum report_format format,
                           struct sim_error *error);

#endif
