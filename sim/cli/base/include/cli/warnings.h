/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the lint warnings of a scenario before it runs, as text or as JSON. */
#ifndef CLI_WARNINGS_H
#define CLI_WARNINGS_H

#include <jansson.h>
#include <stdio.h>

#include "lab/schema.h"

/* Prints one line per warning. Returns false when out of memory. */
bool cli_warnings_print(FILE *stream, const struct lab_scenario *scenario, struct sim_error *error);
/* Prints a line for each of the scenario's files whose last line has no line break, since the file may be
 * truncated, even within a number. Not for gzip files, in which truncation is detected. */
void cli_warnings_files(FILE *stream, const struct lab_scenario *scenario);
void cli_warnings_file(FILE *stream, const char *path);
/* The warnings as a JSON array; NULL when out of memory. */
json_t *cli_warnings_json(const struct lab_scenario *scenario);

#endif
