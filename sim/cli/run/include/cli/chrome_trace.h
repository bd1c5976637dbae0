/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the events of a cluster run as a Chrome trace, which Perfetto and chrome://tracing display.
 *
 * The format is the "JSON array format": an array of objects, one per line. For each strategy, each agent and
 * each node is a process. Something that begins and ends is a pair of async events, with a request nested in
 * its operation; all other events are instants. Times are in microseconds of virtual time, with decimals to
 * the nanosecond. */
#ifndef CLI_CHROME_TRACE_H
#define CLI_CHROME_TRACE_H

#include <stdio.h>

#include "lab/context.h"

struct cli_chrome_trace {
    FILE *stream;
    uint32_t strategy; /* number of the strategy, from 1; 0: none has begun */
    int64_t last_ns;
    bool is_begun, out_of_memory;
    struct cli_chrome_open *open; /* events that have begun and not ended */
    size_t open_count, open_capacity;
    uint32_t *named; /* processes of this strategy whose names were written */
    size_t named_count, named_capacity;
};

/* Writes an event. Write errors stay in the stream's error indicator. */
void cli_chrome_trace_add(struct cli_chrome_trace *trace, const struct lab_told_event *event);
/* Ends all open events and the array, so that the output is valid JSON wherever the run ended. */
void cli_chrome_trace_end(struct cli_chrome_trace *trace);

#endif
