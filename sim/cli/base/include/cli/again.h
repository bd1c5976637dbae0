/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the scenario of a stored run again. */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include "lab/scenario.h"
#include "store/store.h"

/* Applies the run's overrides. SIM_ERROR_INPUT when this version of the program refuses what another version
 * stored. */
bool cli_scenario_again(const struct store_run_info *info, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error);

#endif
