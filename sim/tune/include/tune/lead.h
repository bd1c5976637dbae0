/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smallest safe lead of a three-state strategy: how long before its date a change of bucket has to be
 * stored so that every agent has heard of it.
 *
 * By the formula it is the time of a write of the state (p999), the time to live of a cached state, and twice
 * the bound of the clocks (docs/findings.md, "How long a lead is long enough"). By trial it is found by
 * halving: a lead is tried with one seed after the other until one breaks what readers and writers rely on
 * (findable, newest, agreement, monotone, no_gaps). The trial says what happened in so many runs, and the
 * formula what may happen at worst: be guided by the larger. */
#ifndef TUNE_LEAD_H
#define TUNE_LEAD_H

#include "lab/run.h"
#include "lab/scenario.h"
#include "tune/memory.h"

#define TUNE_LEAD_STEPS_MAX 32

struct tune_lead_step {
    int64_t lead_ns;
    uint32_t runs;       /* made with it: seeds from the first on, up to the first that broke */
    uint64_t rolls;      /* in these: changes of bucket, of which each is a test of the lead */
    uint64_t violations; /* in the last of these; 0: none in any */
};

struct tune_lead {
    int64_t write_p999_ns; /* of a row, the read of the state included: not below that of the state alone */
    int64_t formula_ns;
    int64_t unsafe_ns; /* the longest lead tried that broke; -1: none did, not even 0 */
    int64_t safe_ns;   /* the least lead tried from which on none broke; -1: even the longest did */
    uint32_t step_count;
    struct tune_lead_step steps[TUNE_LEAD_STEPS_MAX]; /* in order of the lead */
};

/* Whether the scenario's strategy has a lead: three-state, with agents. */
bool tune_has_lead(const struct lab_scenario *scenario, size_t strategy);
/* Tries leads up to twice the formula's, until safe and unsafe are within a fiftieth of it; each with seeds
 * seed, seed + 1 and so on of the scenario, on so many threads. What is found does not depend on the number
 * of threads. progress may be NULL; its units are runs. When it is stopped: SIM_ERROR_CHECK. */
bool tune_lead_find(const struct lab_scenario *scenario, size_t strategy, uint32_t seeds, uint32_t threads,
                    const struct tune_memory *memory, struct lab_progress *progress, struct tune_lead *out,
                    struct sim_error *error);

#endif
