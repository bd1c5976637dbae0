/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a look at a scenario finds before it runs, for people and for machines. */
#ifndef CLI_WARNINGS_H
#define CLI_WARNINGS_H

#include <jansson.h>
#include <stdio.h>

#include "lab/lint.h"

/* A line each. False when out of memory. */
bool cli_warnings_print(FILE *stream, const struct lab_scenario *scenario, struct sim_error *error);
/* A line for each of the scenario's files whose last line has no line break: it may have been cut off, inside
 * a number even. Not of gzip files, which tell by themselves when they are cut. */
void cli_warnings_files(FILE *stream, const struct lab_scenario *scenario);
void cli_warnings_file(FILE *stream, const char *path);
/* An array; NULL when out of memory. */
json_t *cli_warnings_json(const struct lab_scenario *scenario);

#endif
