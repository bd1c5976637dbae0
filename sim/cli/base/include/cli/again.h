/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scenario of a stored run, as it was run. */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include "lab/scenario.h"
#include "store/store.h"

/* Overrides applied. SIM_ERROR_INPUT when this version refuses what another one stored. */
bool cli_scenario_again(const struct store_run_info *info, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error);

#endif
