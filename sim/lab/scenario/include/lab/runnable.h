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
/* Below it rows are drawn one by one: that takes less than a second, all strategies meet the very same rows,
 * and peaks are known. */
#define LAB_THINNED_ROWS 1e8
/* Why the scenario cannot be thinned: "row.bytes differ from row to row"; NULL when it can. */
const char *lab_thin_refusal(const struct lab_scenario *scenario);
/* Whether the stream engine can count reads as they are expected (lab_reads.are_expected): reads of the
 * newest rows, where rows come in order and stay, and nobody remembers or stops early. */
bool lab_reads_can_be_expected(const struct lab_scenario *scenario);

#endif
