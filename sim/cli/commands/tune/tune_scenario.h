/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both forms of `tune` share. */
#ifndef CLI_TUNE_SCENARIO_H
#define CLI_TUNE_SCENARIO_H

#include "cli/base.h"

/* Reads --risk, which is given: at most 0.5, or below `most` = 1. */
bool cli_tune_risk(const struct cli_args *args, double most, double *out, struct sim_error *error);
/* `tune SCENARIO`. */
bool cli_tune_scenario(const struct cli_args *args, struct sim_error *error);

#endif
