/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace without its keys' names. */
#ifndef CLI_TRACE_ANONYMISE_H
#define CLI_TRACE_ANONYMISE_H

#include "lab/scenario.h"

/* Writes the trace in the plain form to a file, or for "-" to stdout: keys become their numbers in order of
 * first appearance, times whole milliseconds. */
bool trace_anonymise(const struct lab_scenario *scenario, const char *path, struct sim_error *error);

#endif
