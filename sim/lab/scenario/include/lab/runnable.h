/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks whether the engines can run a scenario, as far as this is known before a run. Each check fails with
 * SIM_ERROR_INPUT. */
#ifndef LAB_RUNNABLE_H
#define LAB_RUNNABLE_H

#include "lab/scenario.h"

/* Checks that every read between start_ns and end_ns can walk back to start_ns. */
bool lab_check_walks(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                     struct sim_error *error);
/* Checks that row sizes come either from the trace or from row.bytes, not from both. */
bool lab_check_trace_bytes(const struct lab_scenario *scenario, bool has_counts, struct sim_error *error);
/* Checks that what the run has to hold in memory is within the limits, as far as it is known. */
bool lab_run_check(const struct lab_scenario *scenario, struct sim_error *error);
/* The number of rows from which the engine may be thinned. Fewer rows are drawn one by one, which takes less
 * than a second, gives all strategies the same rows, and yields peaks. */
#define LAB_THINNED_ROWS 1e8
/* Whether rows are thinned in less time than they are drawn one by one: in a segment of a key, in which its
 * rate is constant, there are enough rows to jump over, on average over all keys. rows: the expected number.
 */
bool lab_thin_is_faster(const struct lab_scenario *scenario, double rows);
/* The reason why the scenario cannot be thinned, for example "row.bytes differ from row to row"; NULL when it
 * can. */
const char *lab_thin_refusal(const struct lab_scenario *scenario);
/* Whether the stream engine can compute the expected counts of reads instead of drawing reads
 * (lab_reads.are_expected): all reads are of the newest rows, rows arrive in order and do not expire, and no
 * reader remembers empty windows or stops early. */
bool lab_reads_can_be_expected(const struct lab_scenario *scenario);

#endif
