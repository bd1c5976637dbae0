/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of a cluster run as a Chrome trace, which Perfetto and chrome://tracing open.
 *
 * It is the "JSON array format": an array of objects, one a line. Each agent and each node is a process of
 * each strategy; what begins and ends is a pair of async events, a request nested in its operation; the rest
 * are instants. Times are in microseconds of virtual time, to the nanosecond. */
#ifndef CLI_CHROME_TRACE_H
#define CLI_CHROME_TRACE_H

#include <stdio.h>

#include "lab/context.h"

struct cli_chrome_trace {
    FILE *stream;
    uint32_t strategy; /* from 1; 0: none has begun */
    int64_t last_ns;
    bool is_begun, out_of_memory;
    struct cli_chrome_open *open; /* what has begun and not ended */
    size_t open_count, open_capacity;
    uint32_t *named; /* processes of this strategy that have their name */
    size_t named_count, named_capacity;
};

/* Write errors are the stream's. */
void cli_chrome_trace_add(struct cli_chrome_trace *trace, const struct lab_told_event *event);
/* Ends what is open, and the array: what was written is valid JSON then, wherever the run ended. */
void cli_chrome_trace_end(struct cli_chrome_trace *trace);

#endif
