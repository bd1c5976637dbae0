/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many rows of a cluster run went wrong, and which faults are to blame: the run is made again without any
 * fault, and without each fault in turn.
 *
 * Numbers of rows are compared, not rows: from a fault on every message takes another time, so without it
 * other rows meet the same race. As many as go wrong without any fault are races. A fault causes as many as
 * are fewer without it. Where these sum up to more than there are, rows need several faults together and are
 * counted for each; where they sum up to fewer, leaving out one fault does not help against the rest. */
#ifndef CLI_WHY_H
#define CLI_WHY_H

#include "cli/execute.h"
#include "lab/run.h"

#define WHY_FAULTS_MAX 63u

enum why_kind { WHY_MISROUTED, WHY_REFUSED, WHY_SLOW, WHY_KIND_COUNT };

struct why_causes {
    uint64_t rows;
    uint64_t races;
    uint64_t faults[WHY_FAULTS_MAX]; /* fewer without it; 0 where the difference may be chance */
    uint64_t together;               /* of those of the faults, counted for several */
    uint64_t any;                    /* of several faults, none of which is needed */
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

/* Between cli_signals_hold() and release. */
bool why_run(struct why *why, bool is_quiet, struct cli_signals *signals, struct sim_error *error);
void why_free(struct why *why);
/* Rows of a strategy that went wrong in a run. */
uint64_t why_rows(const struct why *why, size_t run, size_t strategy, enum why_kind kind);
void why_judge(const struct why *why, size_t strategy, enum why_kind kind, struct why_causes *out);

/* --- why_print.c */
void why_print(const struct why *why);
bool why_print_json(const struct why *why, struct sim_error *error);

#endif
