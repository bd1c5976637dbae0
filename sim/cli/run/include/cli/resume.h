/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds a run to resume or to extend, by its number in the database. */
#ifndef CLI_RESUME_H
#define CLI_RESUME_H

#include "cli/command.h"
#include "store/unfinished.h"

/* --resume RUN: loads the unfinished run and its scenario. *is_finished: there is nothing to resume, and no
 * scenario. The caller must free *unfinished and *scenario. */
bool cli_resume_find(const char *database, const char *run, bool is_quiet,
                     struct store_unfinished *unfinished, struct lab_scenario **scenario, bool *is_finished,
                     struct sim_error *error);
/* --continue RUN --for DURATION: makes the scenario of a finished run with a longer duration. The caller must
 * free *path. */
bool cli_continue_find(const struct cli_args *args, const char *database, struct lab_scenario **scenario,
                       char **path, struct sim_error *error);
/* Parses the value of --NAME, a duration of at least a millisecond. */
bool cli_duration_option(const struct cli_args *args, const char *name, int64_t *out_ns,
                         struct sim_error *error);

#endif
