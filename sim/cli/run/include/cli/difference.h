/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a cluster run and the same run now part: by the marks that both left behind, and then by running the
 * strategy again and listening. */
#ifndef CLI_DIFFERENCE_H
#define CLI_DIFFERENCE_H

#include "cli/execute.h"
#include "lab/result.h"

struct cli_difference {
    uint64_t first, last; /* the first event that differs lies from `first` to `last`, counted from 1 */
    bool is_placed;       /* else only the digests differ: it may be any event of them */
};

/* Whether the events of two runs of a strategy differ. A mark has 16 bits: one difference in 65,536 shows a
 * stride late. */
bool cli_difference_find(const struct lab_event_log *one, const struct lab_event_log *other,
                         struct cli_difference *out);

#define CLI_EVENT_SIZE 512
/* Runs one strategy again to hear of the event `difference->first`: "0.017868470 s: kind 3 ...", or "" when
 * there is none now. False when that run failed, or was interrupted. */
bool cli_difference_tell(const struct lab_scenario *scenario, size_t strategy,
                         const struct cli_difference *difference, bool is_quiet, struct cli_signals *signals,
                         char *buffer, struct sim_error *error);

#endif
