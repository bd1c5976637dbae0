/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the charts of the answer of `tune SCENARIO`: the settings that stay within the limits, by cost and
 * partition size, and the settings of `probabilistic`, by bits and threshold. It uses only the answer's JSON,
 * so that `report` can draw them from the database. */
#ifndef CLI_CONTEST_CHARTS_H
#define CLI_CONTEST_CHARTS_H

#include <jansson.h>

#include "cli/charts.h"

/* Draws the charts for which the answer has data, and adds their paths to `charts`. */
bool cli_contest_draw(const json_t *answer, struct cli_charts *charts, struct sim_error *error);

#endif
