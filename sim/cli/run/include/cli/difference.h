/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the first event that differs between a stored cluster run and the same run now: first by the marks in
 * both results, then by running the strategy again with a listener. */
#ifndef CLI_DIFFERENCE_H
#define CLI_DIFFERENCE_H

#include "cli/execute.h"
#include "lab/result.h"

struct cli_difference {
    uint64_t first, last; /* the first event that differs is one of `first` to `last`, counted from 1 */
    bool is_placed;       /* false: only the digests differ, so it may be any event */
};

/* Returns whether the events of two runs of a strategy differ. A mark has 16 bits, so one difference in
 * 65,536 is found one stride late. */
bool cli_difference_find(const struct lab_event_log *one, const struct lab_event_log *other,
                         struct cli_difference *out);

#define CLI_EVENT_SIZE 512
/* Runs one strategy again, and writes the event `difference->first` to buffer: "0.017868470 s: kind 3 ...",
 * or "" when there is no such event now. Returns false when that run failed or was interrupted. */
bool cli_difference_tell(const struct lab_scenario *scenario, size_t strategy,
                         const struct cli_difference *difference, bool is_quiet, struct cli_signals *signals,
                         char *buffer, struct sim_error *error);

#endif
