/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of the answer of `tune SCENARIO`: the settings that stay within the limits, by cost and partition
 * size. It uses only the answer's JSON, so that `report` can draw it from the database. */
#ifndef CLI_CONTEST_CHARTS_H
#define CLI_CONTEST_CHARTS_H

#include <jansson.h>

#include "cli/files.h"
#include "reports/front.h"

/* Texts are owned by the answer, which must outlive the struct. */
struct cli_contest_front {
    struct report_front front; /* without points: there is no chart */
    struct report_front_point *points;
    char title[160];
};

/* *out must not be moved while it is used. The caller must call cli_contest_front_free() even after a
 * failure. */
bool cli_contest_front_make(const json_t *answer, struct cli_contest_front *out, struct sim_error *error);
void cli_contest_front_free(struct cli_contest_front *front);
/* Draws the chart if it has points, and adds the paths to `charts`. */
bool cli_contest_draw(const json_t *answer, struct cli_charts *charts, struct sim_error *error);

#endif
