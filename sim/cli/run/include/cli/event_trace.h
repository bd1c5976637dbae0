/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --trace-events FILE`: the event trace of a cluster run, one event a line or as a Chrome trace, of what
 * --key, --agent, --kinds, --from and --until ask for.
 *
 * It is written next to FILE and gets that name when the run is stored. "-", and what is no regular file (a
 * pipe, a terminal), is written to directly. */
#ifndef CLI_EVENT_TRACE_H
#define CLI_EVENT_TRACE_H

#include "cli/chrome_trace.h"
#include "cli/command.h"
#include "cli/execute.h"

struct cli_event_trace {
    struct cli_listener listener;
    const char *path;    /* as it was named; NULL: no event trace is asked for */
    char *target, *part; /* NULL where nothing is to be renamed */
    FILE *stream;
    struct cli_chrome_trace chrome;
    bool is_chrome;
    int code; /* of the first write that failed */
};

/* Reads the options, and looks whether FILE could be made; makes nothing. */
bool cli_event_trace_read(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct cli_event_trace *out, struct sim_error *error);
/* Opens the file next to FILE, where there is one to be. */
bool cli_event_trace_begin(struct cli_event_trace *trace, struct sim_error *error);
/* For cli_execute(); NULL when no event trace is asked for. */
struct cli_listener *cli_event_trace_listener(struct cli_event_trace *trace);
/* After the run: false when something could not be written, which may be why the run ended early. */
bool cli_event_trace_end(struct cli_event_trace *trace, struct sim_error *error);
/* Gives it its name. */
bool cli_event_trace_name(struct cli_event_trace *trace, struct sim_error *error);
/* What has no name yet goes away. */
void cli_event_trace_free(struct cli_event_trace *trace);

#endif
