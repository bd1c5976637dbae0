/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of the charts of the answer of `tune SCENARIO`: the settings that stay within the limits, by cost
 * and partition size; the settings of `probabilistic`, by bits and threshold; and the cheapest kind at other
 * prices and rates of reads. It is made only from the answer's JSON, so that `report` can make it from the
 * database. */
#ifndef CLI_CONTEST_VIEWS_H
#define CLI_CONTEST_VIEWS_H

#include <jansson.h>

#include "contest_regions.h"
#include "kernel/error.h"
#include "reports/front.h"
#include "reports/heatmap.h"

struct cli_contest_grid;

/* Texts are owned by the answer, which must outlive the struct. A zeroed struct has no views. */
struct cli_contest_views {
    bool has_front, has_heatmap; /* whether the answer has the data of these charts */
    struct report_front front;
    struct report_heatmap heatmap;
    struct cli_contest_regions regions;
    struct report_front_point *points;
    struct cli_contest_grid *grid;
    char front_title[160], heatmap_title[160];
};

/* Makes the views. *out must not be moved while it is used. The caller must call cli_contest_views_free()
 * even after a failure. */
bool cli_contest_views_make(const json_t *answer, struct cli_contest_views *out, struct sim_error *error);
void cli_contest_views_free(struct cli_contest_views *views);

#endif
