/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a scenario with the single strategy `observed`, so that the output of Cassandra's tools is handled
 * like a run. */
#ifndef CLI_OBSERVED_H
#define CLI_OBSERVED_H

#include "cli/command.h"
#include "lab/scenario.h"

/* Checks that the values of --label, --table and --format, if given, are valid in a scenario. */
bool cli_observed_check(const struct cli_args *args, struct sim_error *error);
/* Makes the scenario's text, malloc'ed, with the --table and --format of args. name: the scenario's name;
 * NULL: derived from the file's. limits: may be NULL. Returns NULL when out of memory. */
char *cli_observed_scenario(const struct cli_args *args, const char *name, const struct lab_limits *limits,
                            const char *label, const char *path);

#endif
