/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What charts of the answer of `tune SCENARIO` show, as plain data: the settings that hold by what they
 * cost and how large their partitions are, those of `probabilistic` by bits and threshold, and which kind is
 * the cheapest at other prices and rates of reads. From the JSON alone, so that `report` has them again from
 * the database. */
#ifndef CLI_CONTEST_VIEWS_H
#define CLI_CONTEST_VIEWS_H

#include <jansson.h>

#include "contest_regions.h"
#include "kernel/error.h"
#include "reports/front.h"
#include "reports/heatmap.h"

struct cli_contest_grid;

/* Texts are the answer's, and live as long. Zeroed: none. */
struct cli_contest_views {
    bool has_front, has_heatmap; /* what the answer does not have is left out */
    struct report_front front;
    struct report_heatmap heatmap;
    struct cli_contest_regions regions;
    struct report_front_point *points;
    struct cli_contest_grid *grid;
    char front_title[160], heatmap_title[160];
};

/* *out stays where it is for as long as it is used; cli_contest_views_free() in either case. */
bool cli_contest_views_make(const json_t *answer, struct cli_contest_views *out, struct sim_error *error);
void cli_contest_views_free(struct cli_contest_views *views);

#endif
