/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the stored scenario of a finished run again, for a command that repeats that run. */
#include "cli/again.h"

bool cli_scenario_again(const struct store_run_info *info, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error)
{
    return lab_scenario_again(info->scenario_path, info->scenario_text, info->overrides, NULL, 0, seed, out,
                              error);
}
