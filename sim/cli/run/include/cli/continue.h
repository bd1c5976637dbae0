/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds a run to extend, by its number in the database. */
#ifndef CLI_CONTINUE_H
#define CLI_CONTINUE_H

#include "cli/command.h"
#include "lab/scenario.h"

/* --continue RUN --for DURATION: makes the scenario of a finished run with a longer duration. The caller must
 * free *path. */
bool cli_continue_find(const struct cli_args *args, const char *database, struct lab_scenario **scenario,
                       char **path, struct sim_error *error);
/* Parses the value of --NAME, a duration of at least a millisecond. */
bool cli_duration_option(const struct cli_args *args, const char *name, int64_t *out_ns,
                         struct sim_error *error);

#endif
