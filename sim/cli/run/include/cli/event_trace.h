/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --trace-events FILE`: the event trace of a cluster run, one event per line or as a Chrome trace,
 * filtered by --key, --agent, --kinds, --from and --until.
 *
 * The trace is written to a temporary file next to FILE, which is renamed when the run is stored. "-", and a
 * file that is not regular (a pipe, a terminal), is written directly. */
#ifndef CLI_EVENT_TRACE_H
#define CLI_EVENT_TRACE_H

#include "cli/chrome_trace.h"
#include "cli/command.h"
#include "cli/execute.h"

struct cli_event_trace {
    struct cli_listener listener;
    const char *path;    /* as given by the user; NULL: no event trace */
    char *target, *part; /* NULL when nothing will be renamed */
    FILE *stream;
    struct cli_chrome_trace chrome;
    bool is_chrome;
    int code; /* errno of the first failed write */
};

/* Reads the options and checks whether FILE can be created, without creating it. */
bool cli_event_trace_read(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct cli_event_trace *out, struct sim_error *error);
/* Opens the temporary file next to FILE, if one is needed. */
bool cli_event_trace_begin(struct cli_event_trace *trace, struct sim_error *error);
/* The listener for cli_execute(); NULL without an event trace. */
struct cli_listener *cli_event_trace_listener(struct cli_event_trace *trace);
/* Must be called after the run. Returns false when a write failed, which may be the reason why the run ended
 * early. */
bool cli_event_trace_end(struct cli_event_trace *trace, struct sim_error *error);
/* Renames the temporary file to FILE. */
bool cli_event_trace_name(struct cli_event_trace *trace, struct sim_error *error);
/* Removes a temporary file that was not renamed. */
void cli_event_trace_free(struct cli_event_trace *trace);

#endif
