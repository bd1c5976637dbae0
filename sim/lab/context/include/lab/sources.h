/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LAB_SOURCES_H
#define LAB_SOURCES_H

#include "lab/scenario.h"

/* A hash of the files that the scenario reads (a trace, observed sizes); 0 when there are none.
 * SIM_ERROR_INPUT when one cannot be read. */
bool lab_sources(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error);

#endif
