/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario of one strategy, `observed`: what Cassandra's tools printed, as a run like others. */
#ifndef CLI_OBSERVED_H
#define CLI_OBSERVED_H

#include "cli/command.h"
#include "lab/scenario.h"

/* Whether the values of --label, --table and --format, where they are given, fit into a scenario. */
bool cli_observed_check(const struct cli_args *args, struct sim_error *error);
/* The scenario's text, malloc'ed, with the --table and --format of args. name: of the scenario; NULL: the
 * file's. limits: NULL: none. NULL when out of memory. */
char *cli_observed_scenario(const struct cli_args *args, const char *name, const struct lab_limits *limits,
                            const char *label, const char *path);

#endif
