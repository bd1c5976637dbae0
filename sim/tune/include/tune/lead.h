/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the smallest safe lead of a three-state strategy: how long before its date a change of bucket must be
 * stored, so that every agent has read it by then.
 *
 * According to the formula, the lead is the sum of the 99.9th percentile of the latency of a write of the
 * state, the time to live of a cached state, and twice the clock bound (docs/findings.md, "How long a lead is
 * long enough"). By experiment it is found by bisection: a lead is tried with one seed after the other until
 * a seed violates a guarantee that readers and writers need (findable, newest, agreement, monotone, no_gaps).
 * The seed that violated one last comes first. A longer lead is expected to be as safe: seeds that violated
 * nothing with a shorter one are tried only with the shortest lead that is safe for the others, and leads of
 * at least 0.8 times that of the formula only if no shorter one is safe.
 * The experiment shows what happened in a number of runs, and the formula what may happen in the worst case.
 * Use the larger lead. */
#ifndef TUNE_LEAD_H
#define TUNE_LEAD_H

#include "lab/run.h"
#include "lab/scenario.h"
#include "tune/memory.h"

#define TUNE_LEAD_STEPS_MAX 32
#define TUNE_LEAD_SEEDS     3 /* with which `tune` searches */

struct tune_lead_step {
    int64_t lead_ns;
    uint32_t runs;  /* the number of runs with this lead, up to and including the first with a violation */
    uint64_t rolls; /* changes of bucket in these runs, each of which tests the lead */
    uint64_t violations; /* violations in the last of these runs; 0 if no run had any */
};

struct tune_lead {
    int64_t write_p999_ns; /* the latency of a row's write, including the read of the state, which is not
                              below that of the state's write */
    int64_t formula_ns;
    int64_t unsafe_ns; /* the longest lead tried with a violation; -1 if there was none, not even with a lead
                          of 0 */
    int64_t safe_ns;   /* the shortest lead tried with all seeds such that neither it nor any longer one had a
                          violation; -1 if even the longest had one */
    uint32_t step_count;
    struct tune_lead_step steps[TUNE_LEAD_STEPS_MAX]; /* in order of the lead */
};

/* The figures of a run that the search needs. */
struct tune_lead_finding {
    uint64_t violations, rolls;
    int64_t write_p999_ns;
};
/* Extracts them from the first strategy of a result. */
void tune_lead_see(const struct lab_result *result, struct tune_lead_finding *out);
/* The number that identifies the run of a strategy with this lead, other than in a race. */
uint64_t tune_lead_job(const struct lab_strategy *strategy, int64_t lead_ns, uint64_t seed);

/* Returns whether the scenario's strategy has a lead, which means that it is three-state with agents. */
bool tune_has_lead(const struct lab_scenario *scenario, size_t strategy);
/* Tries leads up to the strategy's own, or to twice that of the formula if its own is shorter than the
 * formula's or not safe, until the safe and the unsafe lead differ by at most a fiftieth of the formula's,
 * each with the seeds seed, seed + 1 and so on of the scenario, on `threads` threads. The result does not
 * depend on the number of threads. progress may be NULL; its units are runs. If it is stopped, the error is
 * SIM_ERROR_CHECK. */
bool tune_lead_find(const struct lab_scenario *scenario, size_t strategy, uint32_t seeds, uint32_t threads,
                    const struct tune_memory *memory, struct lab_progress *progress, struct tune_lead *out,
                    struct sim_error *error);

#endif
