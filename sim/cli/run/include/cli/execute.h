/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one scenario with progress on stderr, and stops it when the user says so. */
#ifndef CLI_EXECUTE_H
#define CLI_EXECUTE_H

#include <signal.h>

#include "cli/clock.h"
#include "lab/run.h"

/* SIGINT, SIGTERM and SIGHUP wait while they are held, except those that the caller's parent had ignored. */
struct cli_signals {
    sigset_t held;
    sigset_t before;
    int caught; /* the signal that ended a run, or 0 */
};

/* Who listens to a cluster run. */
struct cli_listener {
    struct lab_event_trace event_trace;
    _Atomic bool is_over; /* set by the listener: it has heard enough, and the run may end with an error */
};

/* Held as well, so that a thread can wake the one that waits for signals. */
#define CLI_WAKE SIGUSR1
/* How long to wait for a signal before progress is shown again. */
#define CLI_FRAME_MS 200

void cli_signals_hold(struct cli_signals *signals);
/* One that came meanwhile has its usual effect now, unless an earlier one has ended the run: then it has
   none, and the program still says how to resume. */
void cli_signals_release(struct cli_signals *signals);

struct cli_snapshots;

/* Any work that takes a while. */
struct cli_task {
    const char *name; /* in front of the bar */
    const char *unit; /* of the rate of `rows`: "rows/s", "runs/s" */
    bool is_quiet;
    /* Called once, on the caller's thread. `progress->stop` tells it to end soon. */
    bool (*run)(void *context, struct lab_progress *progress, struct sim_error *error);
    void *context;
    struct cli_listener *listener;   /* may be NULL */
    struct cli_snapshots *snapshots; /* may be NULL */
};

/* Runs the task between hold and release, with its progress on stderr, and gives what it returns. A signal
 * sets `stop` and signals->caught; a second one ends the process at once. */
bool cli_attend(const struct cli_task *task, struct cli_signals *signals, int64_t *elapsed_ms,
                struct sim_error *error);
/* lab_run_in() between hold and release; team and listener may be NULL. A signal ends it: SIM_ERROR_CHECK
 * with "interrupted", and signals->caught is set; a second one ends the process at once. */
bool cli_execute(const struct lab_scenario *scenario, uint32_t jobs, const struct lab_team *team,
                 bool is_quiet, struct cli_listener *listener, struct cli_signals *signals,
                 struct lab_result **out, int64_t *elapsed_ms, struct sim_error *error);
/* The same, with states of it kept in the database: a signal leaves a run that can go on, and the line says
 * how. *elapsed_ms is that of all attempts. */
bool cli_execute_kept(struct cli_snapshots *snapshots, uint32_t jobs, struct cli_signals *signals,
                      struct lab_result **out, int64_t *elapsed_ms, struct sim_error *error);
/* The exit code of a failed command: 128 + signal, or the error's class. */
int cli_exit_code(const struct cli_signals *signals, const struct sim_error *error);

#endif
