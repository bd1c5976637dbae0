/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of `tune --rows`: the risk over the chance and the threshold, around what it recommends. */
#ifndef CLI_TUNE_HEATMAP_H
#define CLI_TUNE_HEATMAP_H

#include "cli/charts.h"
#include "tune_answer.h"

/* Writes tune-risk.EXT in every format that is wanted; the paths are added to `charts`. */
bool cli_tune_draw(const struct cli_tune_answer *answer, struct cli_charts *charts, struct sim_error *error);

#endif
