/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Listens to the events of a cluster run. */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/execute.h"
#include "cli/files.h"
#include "lab/context.h"
#include "lab/result.h"

/* --- the events as a Chrome trace, which Perfetto and chrome://tracing display */

struct cli_chrome_trace {
    FILE *stream;
    uint32_t strategy; /* number of the strategy, from 1; 0: none has begun */
    int64_t last_ns;
    bool is_begun;
    GArray *open;  /* events that have begun and not ended */
    GArray *named; /* processes of this strategy whose names were written */
};

/* --- `run --trace-events FILE`: the event trace of a cluster run, one event per line or as a Chrome trace,
 * filtered by
 * --key, --agent, --kinds, --from and --until. FILE gets its name when the run is stored (reports/output.h);
 * "-" is stdout */

struct cli_event_trace {
    struct cli_listener listener;
    const char *path;     /* as given by the user; NULL: no event trace */
    struct cli_file file; /* to be closed when the run is stored */
    FILE *stream;         /* of the file, or stdout */
    struct cli_chrome_trace chrome;
    bool is_chrome;
    int code; /* errno of the first failed write */
};

/* Reads the options and checks whether FILE can be created, without creating it. */
bool cli_event_trace_read(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct cli_event_trace *out, struct sim_error *error);
/* Opens FILE. */
bool cli_event_trace_begin(struct cli_event_trace *trace, struct sim_error *error);
/* Must be called after the run. Returns false when a write failed, which may be the reason why the run ended
 * early. */
bool cli_event_trace_end(struct cli_event_trace *trace, struct sim_error *error);
/* Removes what got no name. */
void cli_event_trace_free(struct cli_event_trace *trace);

/* --- the first event that differs between a stored cluster run and the same run now: first by the marks in
 * both results, then by running the strategy again with a listener */

struct cli_difference {
    uint64_t first, last; /* the first event that differs is one of `first` to `last`, counted from 1 */
    bool is_placed;       /* false: only the digests differ, so it may be any event */
};

/* Returns whether the events of two runs of a strategy differ. A mark has 16 bits, so one difference in
 * 65,536 is found one stride late. */
bool cli_difference_find(const struct lab_event_log *one, const struct lab_event_log *other,
                         struct cli_difference *out);

/* Runs one strategy with a listener. Strategies do not interact, so a strategy that is run alone has the same
 * events. */
bool cli_execute_alone(const struct cli_args *args, const struct lab_scenario *scenario, size_t strategy,
                       struct cli_listener *listener, struct sim_error *error);

#define CLI_EVENT_SIZE 512
/* Runs one strategy again, and writes the event `difference->first` to buffer: "0.017868470 s: kind 3 ...",
 * or "" when there is no such event now. Returns false when that run failed or was interrupted. */
bool cli_difference_tell(const struct cli_args *args, const struct lab_scenario *scenario, size_t strategy,
                         const struct cli_difference *difference, char *buffer, struct sim_error *error);

#endif
