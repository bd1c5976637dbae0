/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one scenario with progress on stderr, and stops it at a signal. */
#ifndef CLI_EXECUTE_H
#define CLI_EXECUTE_H

#include <signal.h>

#include "cli/clock.h"
#include "lab/run.h"

/* SIGINT, SIGTERM and SIGHUP are blocked while they are held, except those that the parent process
 * ignored. */
struct cli_signals {
    sigset_t held;
    sigset_t before;
    int caught; /* the signal that ended a run, or 0 */
};

/* A listener to the events of a cluster run. */
struct cli_listener {
    struct lab_event_trace event_trace;
    _Atomic bool
        is_over; /* set by the listener when it needs no more events; the run then ends with an error */
};

/* A signal that is held too, by which a thread wakes the one that waits for signals. */
#define CLI_WAKE SIGUSR1
/* How long to wait for a signal before progress is shown again. */
#define CLI_FRAME_MS 200

void cli_signals_hold(struct cli_signals *signals);
/* Unblocks the signals. A pending signal takes its usual effect now, unless an earlier signal has ended the
 * run; then it is discarded, so that the program can still print how to resume. */
void cli_signals_release(struct cli_signals *signals);

struct cli_partial;

/* A task of any kind that takes some time. */
struct cli_task {
    const char *name; /* name before the bar */
    const char *unit; /* unit of the rate of `rows`: "rows/s", "runs/s" */
    bool is_quiet;
    /* Called once, on the caller's thread. It must end soon after `progress->stop` is set. */
    bool (*run)(void *context, struct lab_progress *progress, struct sim_error *error);
    /* Called before progress is shown, on another thread while run() runs, to sum up into `progress` what
     * run() has done in parts. NULL: run() does so itself. */
    void (*sum_up)(void *context, struct lab_progress *progress);
    void *context;
    struct cli_listener *listener; /* may be NULL */
    struct cli_partial *partial;   /* may be NULL */
};

/* Runs the task, with its progress on stderr, and returns its result. The signals must be held. A signal sets
 * `stop` and signals->caught; a second one ends the process immediately. */
bool cli_attend(const struct cli_task *task, struct cli_signals *signals, int64_t *elapsed_ms,
                struct sim_error *error);
/* Calls lab_run_in() while the signals are held; team, listener and partial may be NULL. A signal ends the
 * run with SIM_ERROR_CHECK and "interrupted", and sets signals->caught; a second one ends the process
 * immediately. */
bool cli_execute(const struct lab_scenario *scenario, uint32_t jobs, const struct lab_team *team,
                 bool is_quiet, struct cli_listener *listener, struct cli_partial *partial,
                 struct cli_signals *signals, struct lab_result **out, int64_t *elapsed_ms,
                 struct sim_error *error);
/* The exit code of a failed command: 128 + signal, or the error's class. */
int cli_exit_code(const struct cli_signals *signals, const struct sim_error *error);

#endif
