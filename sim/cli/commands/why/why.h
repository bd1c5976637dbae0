/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the rows of a cluster run that went wrong, and attributes them to faults: the run is repeated
 * without any fault, and without each single fault.
 *
 * Numbers of rows are compared, and not single rows: a fault changes the times of all later messages, so
 * without it other rows are hit by the same race. The number of rows that go wrong without any fault is
 * attributed to races. Each fault is attributed the decrease in the number when it is left out. If the sum
 * exceeds the total, some rows need several faults together, and are counted for each of them; if it is
 * smaller, some rows go wrong because of any of several faults, and leaving out one fault does not help. */
#ifndef CLI_WHY_H
#define CLI_WHY_H

#include "cli/execute.h"
#include "lab/run.h"

#define WHY_FAULTS_MAX 63u

enum why_kind { WHY_MISROUTED, WHY_REFUSED, WHY_SLOW, WHY_KIND_COUNT };

struct why_causes {
    uint64_t rows;
    uint64_t races;
    uint64_t faults[WHY_FAULTS_MAX]; /* decrease without the fault; 0 when the difference may be chance */
    uint64_t together;               /* rows that are counted for several faults */
    uint64_t any;                    /* rows with several possible faults, none of which is necessary */
};

struct why {
    const struct lab_scenario *scenario;
    int64_t slow_ns;
    uint32_t jobs;
    /* Run 0 has all faults, run 1 none, run 2 + f all but fault f. */
    struct lab_result **runs;
    size_t run_count;
    int64_t elapsed_ms;
};

/* Makes all runs while the signals are held. */
bool why_run(struct why *why, bool is_quiet, struct cli_signals *signals, struct sim_error *error);
void why_free(struct why *why);
/* The number of rows of a strategy that went wrong in a run. */
uint64_t why_rows(const struct why *why, size_t run, size_t strategy, enum why_kind kind);
void why_judge(const struct why *why, size_t strategy, enum why_kind kind, struct why_causes *out);

/* --- why_print.c */
void why_print(const struct why *why);
bool why_print_json(const struct why *why, struct sim_error *error);

#endif
