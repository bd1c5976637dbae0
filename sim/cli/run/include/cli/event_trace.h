/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --trace-events FILE`: the event trace of a cluster run, one event per line or as a Chrome trace,
 * filtered by --key, --agent, --kinds, --from and --until.
 *
 * FILE gets its name when the run is stored (reports/output.h); "-" is stdout. */
#ifndef CLI_EVENT_TRACE_H
#define CLI_EVENT_TRACE_H

#include "cli/chrome_trace.h"
#include "cli/command.h"
#include "cli/execute.h"
#include "reports/output.h"

struct cli_event_trace {
    struct cli_listener listener;
    const char *path; /* as given by the user; NULL: no event trace */
    struct report_partial output;
    FILE *stream;
    struct cli_chrome_trace chrome;
    bool is_chrome;
    int code; /* errno of the first failed write */
};

/* Reads the options and checks whether FILE can be created, without creating it. */
bool cli_event_trace_read(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct cli_event_trace *out, struct sim_error *error);
/* Opens FILE. */
bool cli_event_trace_begin(struct cli_event_trace *trace, struct sim_error *error);
/* The listener for cli_execute(); NULL without an event trace. */
struct cli_listener *cli_event_trace_listener(struct cli_event_trace *trace);
/* Must be called after the run. Returns false when a write failed, which may be the reason why the run ended
 * early. */
bool cli_event_trace_end(struct cli_event_trace *trace, struct sim_error *error);
/* Gives FILE its name. */
bool cli_event_trace_name(struct cli_event_trace *trace, struct sim_error *error);
/* Removes what got no name. */
void cli_event_trace_free(struct cli_event_trace *trace);

#endif
