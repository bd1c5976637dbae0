/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a trace without the names of its keys. */
#ifndef CLI_TRACE_ANONYMISE_H
#define CLI_TRACE_ANONYMISE_H

#include "lab/scenario.h"

/* Writes the trace in the plain form to a file, or to stdout for "-". Keys are replaced by their numbers in
 * order of first appearance; times are rounded to whole milliseconds. */
bool trace_anonymise(const struct lab_scenario *scenario, const char *path, struct sim_error *error);

#endif
