/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a trace is read, as the text of a scenario. */
#ifndef CLI_TRACE_YAML_H
#define CLI_TRACE_YAML_H

#include "cli/command.h"
#include "trace_summary.h"

/* "trace: {file: 'x.csv', columns: {time: 'at'}, sort: true}": of --columns and --sort; and, when has_sets,
 * of
 * --set trace.NAME=VALUE, which is all that --set then may be. Freed by the caller; NULL on failure. */
char *trace_yaml(const struct cli_args *args, const char *file, bool has_sets, struct sim_error *error);
/* Writes a scenario of these very rows, with guesses where they tell nothing. */
bool trace_yaml_write(const struct cli_args *args, const struct trace_summary *summary, const char *path,
                      struct sim_error *error);

#endif
