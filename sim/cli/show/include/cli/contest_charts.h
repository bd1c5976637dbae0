/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of the answer of `tune SCENARIO`: the settings that hold by what they cost and how large their
 * partitions are, and those of `probabilistic` by bits and threshold. From the JSON alone, so that `report`
 * draws them again from the database. */
#ifndef CLI_CONTEST_CHARTS_H
#define CLI_CONTEST_CHARTS_H

#include <jansson.h>

#include "cli/charts.h"

/* Adds to what `charts` has written; what the answer does not have is left out. */
bool cli_contest_draw(const json_t *answer, struct cli_charts *charts, struct sim_error *error);

#endif
