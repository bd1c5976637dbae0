/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the engines cannot run, as far as the scenario tells it. Each check fails with SIM_ERROR_INPUT. */
#ifndef LAB_RUNNABLE_H
#define LAB_RUNNABLE_H

#include "lab/scenario.h"

/* Whether every read between the two times can walk back to the first. */
bool lab_check_walks(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                     struct sim_error *error);
/* Row sizes come from the trace or from row.bytes, not from both. */
bool lab_check_trace_bytes(const struct lab_scenario *scenario, bool has_counts, struct sim_error *error);
/* All that is known before a run about what it would have to hold in memory. */
bool lab_run_check(const struct lab_scenario *scenario, struct sim_error *error);
/* Why the scenario cannot be thinned: "row.bytes differ from row to row"; NULL when it can. */
const char *lab_thin_refusal(const struct lab_scenario *scenario);

#endif
