/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that is not finished, or that is to be longer, by its number in the database. */
#ifndef CLI_RESUME_H
#define CLI_RESUME_H

#include "cli/command.h"
#include "store/unfinished.h"

/* --resume RUN: what the database holds of it, and its scenario. *is_finished: there is nothing to
 * resume, and no scenario. The rest is the caller's to free. */
bool cli_resume_find(const char *database, const char *run, bool is_quiet,
                     struct store_unfinished *unfinished, struct lab_scenario **scenario, bool *is_finished,
                     struct sim_error *error);
/* --continue RUN --for DURATION: the scenario of a finished run, made longer. *path is the caller's. */
bool cli_continue_find(const struct cli_args *args, const char *database, struct lab_scenario **scenario,
                       char **path, struct sim_error *error);
/* A duration of at least a millisecond, as --NAME has it. */
bool cli_duration_option(const struct cli_args *args, const char *name, int64_t *out_ns,
                         struct sim_error *error);

#endif
