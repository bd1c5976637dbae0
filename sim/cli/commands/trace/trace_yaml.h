/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the section `trace` of a scenario, and whole scenarios that read a trace. */
#ifndef CLI_TRACE_YAML_H
#define CLI_TRACE_YAML_H

#include "cli/command.h"
#include "trace_summary.h"

/* Makes "trace: {file: 'x.csv', columns: {time: 'at'}, sort: true}" from --columns and --sort and, if
 * has_sets, from --set trace.NAME=VALUE; every --set must then have this form. The caller must free the text;
 * NULL on failure. */
char *trace_yaml(const struct cli_args *args, const char *file, bool has_sets, struct sim_error *error);
/* Writes a scenario that reads this trace, with guesses for values that the trace does not determine. */
bool trace_yaml_write(const struct cli_args *args, const struct trace_summary *summary, const char *path,
                      struct sim_error *error);

#endif
