/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune SCENARIO`; returns the exit code. */
#ifndef CLI_TUNE_SCENARIO_H
#define CLI_TUNE_SCENARIO_H

#include "cli/command.h"

int cli_tune_scenario(const struct cli_args *args, struct sim_error *error);

#endif
