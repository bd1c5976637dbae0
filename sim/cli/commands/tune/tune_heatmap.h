/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the chart of `tune --rows`: the risk over chance and threshold, around the recommended setting. */
#ifndef CLI_TUNE_HEATMAP_H
#define CLI_TUNE_HEATMAP_H

#include "cli/charts.h"
#include "tune_answer.h"

/* Writes tune-risk.EXT in every requested format, and adds the paths to `charts`. */
bool cli_tune_draw(const struct cli_tune_answer *answer, struct cli_charts *charts, struct sim_error *error);

#endif
