/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a stored run for `show`. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "lab/result.h"
#include "store/store.h"

/* scenario: for its warnings; NULL when it cannot be parsed again. */
bool cli_show_run(const struct store_run_info *info, const struct lab_result *result,
                  const struct lab_scenario *scenario, const char *database, struct sim_error *error);

#endif
