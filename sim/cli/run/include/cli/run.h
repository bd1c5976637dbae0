/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs: tasks with progress and signals, the events that they tell, and their figures over seeds. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base.h"
#include "lab/context.h"
#include "lab/result.h"
#include "lab/run.h"
#include "lab/scenario.h"
#include "store/store.h"
#include "tune/sample.h"

/* The time of a monotonic clock in milliseconds. */
int64_t cli_now_ms(void);
/* The time since cli_now_ms() was begin_ms; never negative. */
int64_t cli_passed_ms(int64_t begin_ms);

/* --- tasks and signals */

/* SIGINT, SIGTERM and SIGHUP are blocked while they are held, except those that the parent process
 * ignored. */
struct cli_signals {
    sigset_t held, before;
    bool is_held;
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

/* Holds the signals of args, as cli_attend() does too. */
void cli_hold(const struct cli_args *args);
/* Unblocks the signals, if they are held. A pending signal takes its usual effect now, unless an earlier
 * signal has ended the run; then it is discarded, so that the program can still print how to resume. */
void cli_release(const struct cli_args *args);
/* Waits for a held signal, at most this long; 0: none came. */
int cli_wait(const struct cli_args *args, int64_t ms);

struct cli_partial;

/* A task of any kind that takes some time. */
struct cli_task {
    const char *name;          /* name before the bar */
    const char *unit;          /* unit of the rate of `rows`: "rows/s", "runs/s" */
    struct lab_slow_part slow; /* empty: not known */
    const char *lost;          /* "nothing was judged": what a signal means, if cli_attend() must fail then */
    /* Called once, on the caller's thread. It must end soon after `progress->stop` is set. */
    bool (*run)(void *context, struct lab_progress *progress, struct sim_error *error);
    /* Called before progress is shown, on another thread while run() runs, to sum up into `progress` what
     * run() has done in parts. NULL: run() does so itself. */
    void (*sum_up)(void *context, struct lab_progress *progress);
    void *context;
    struct cli_listener *listener; /* may be NULL */
    struct cli_partial *partial;   /* may be NULL */
};

/* Runs the task, with its progress on stderr, and returns its result; elapsed_ms may be NULL. From now on the
 * signals are held. A signal sets `stop` and args->signals->caught; a second one ends the process
 * immediately. */
bool cli_attend(const struct cli_args *args, const struct cli_task *task, int64_t *elapsed_ms,
                struct sim_error *error);

/* A run of a scenario; pointers may be NULL. */
struct cli_execution {
    const struct lab_scenario *scenario;
    uint32_t jobs;
    const struct lab_team *team;
    struct cli_listener *listener;
    struct cli_partial *partial;
    struct lab_result *result; /* made by cli_execute() */
    int64_t elapsed_ms;
};
/* Runs the scenario. A signal ends the run with SIM_ERROR_CHECK and "interrupted". */
bool cli_execute(const struct cli_args *args, struct cli_execution *execution, struct sim_error *error);

/* Many runs, on several threads. */
struct cli_runs {
    const char *name, *lost; /* as of a task */
    uint64_t count;
    void *context;
    /* Makes the scenario of a job, on any thread; NULL: its run is not needed. */
    bool (*make)(void *context, uint64_t job, struct lab_scenario **out, struct sim_error *error);
    /* Takes ownership of a result, which is NULL when it was not needed; called in the order of jobs. */
    bool (*take)(void *context, uint64_t job, struct lab_result *result, int64_t elapsed_ms,
                 struct sim_error *error);
};
bool cli_run_all(const struct cli_args *args, const struct cli_runs *runs, struct sim_error *error);

/* --- the partial result of a run of the stream engine, stored in the database every second, so that the same
 * command resumes from it. A run of the cluster engine has none: its seed makes it again */

struct cli_partial {
    struct lab_partial lab;
    const struct cli_args *args;
    const struct lab_scenario *scenario;
    struct store *store; /* NULL: the run has no partial results */
    struct store_work work;
    struct store_outcome *known; /* the one from which the run resumes, if known_count is 1 */
    size_t known_count;
    bool has_sources;
    uint64_t sources; /* lab_sources(), if has_sources */
    int64_t begin_ms;
    _Atomic int64_t next_ms; /* when the next one is due, since the run began */
    _Atomic bool is_kept;    /* the database has one of this run */
    struct sim_error lost;   /* why the last one could not be stored */
};

/* Adds bytes to a digest. */
uint64_t cli_add_bytes(uint64_t digest, const void *bytes, size_t size);
/* The digests of a scenario's run, or of another work on it: `options` are a digest of its own options. Files
 * that the scenario reads are not part of them. */
struct store_work cli_work_of(const struct lab_scenario *scenario, const char *path, uint64_t options);

/* Finds the partial result of a run with this scenario, and says on stderr when the run resumes from it. The
 * caller must call cli_partial_close(), even when it fails, and for a zeroed struct. */
bool cli_partial_open(struct cli_partial *partial, const struct cli_args *args,
                      const struct lab_scenario *scenario, const char *path, struct sim_error *error);
void cli_partial_close(struct cli_partial *partial);
/* Removes the partial results of this run, whose result is stored. */
bool cli_partial_forget(struct cli_partial *partial, struct sim_error *error);

/* --- the line of progress: a bar that is redrawn on a terminal, or a line every 10 s elsewhere.
 *
 * The remaining time is estimated from recent progress, since the rate of work changes. The number shown
 * counts down with the clock and moves gradually towards the estimate, so that it does not jump. If the total
 * is not known, only a rate is shown */

#define CLI_PROGRESS_SIZE 512 /* size of a line in bytes */

struct cli_progress_sample {
    int64_t at_ms;
    uint64_t done, rows;
};
struct cli_progress_span {
    double steps; /* changes of done, or of rows if the total is not known */
    double ms, done, rows;
};

struct cli_progress {
    const char *name;
    const char *unit; /* unit of the rate: "rows/s" */
    bool is_quiet, is_terminal, is_shown, is_advised;
    int64_t next_ms;                  /* when the next line is due */
    uint64_t total;                   /* 0: not known */
    const char *best;                 /* the best strategy tried so far; NULL: none */
    const struct lab_slow_part *slow; /* what takes the most time; NULL: not known */
    int64_t step_ms;                  /* when `done` last grew */
    struct cli_progress_sample now;
    struct cli_progress_sample beginning; /* of the work that the rate is of */
    struct cli_progress_span recent;      /* what is older counts less and less */
    uint64_t recalled;                    /* of the progress, so far */
    double left_ms;                       /* remaining time as shown; below 0: not shown */
};

void cli_progress_init(struct cli_progress *display, const char *name, bool is_quiet);
/* Samples the progress, and draws the line if it is due. Must be called several times a second; elapsed_ms
 * must not decrease. */
void cli_progress_show(struct cli_progress *display, struct lab_progress *progress, int64_t elapsed_ms);
/* The two parts of cli_progress_show(): sampling the progress after `elapsed_ms`, and formatting the line. On
 * a terminal the line has a bar and is narrower than `columns`, so that it does not wrap. */
void cli_progress_note(struct cli_progress *display, uint64_t done, uint64_t total, uint64_t rows,
                       int64_t elapsed_ms);
void cli_progress_line(const struct cli_progress *display, size_t columns, char buffer[CLI_PROGRESS_SIZE]);

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

/* --- metrics of strategies over several seeds, as `sweep` and the baseline of `check` sum them up. */

/* One metric of one strategy. */
struct cli_sampled {
    char *label;
    char name[LAB_METRIC_NAME_SIZE];
    struct tune_sample sample;
};

/* In order; those of a strategy are together. */
struct cli_figures {
    struct cli_sampled *items;
    size_t count, capacity, next;
};

/* Adds a value, unless it is not finite. */
void cli_figures_add(struct cli_figures *figures, const char *label, const char *name, double value);
void cli_figures_clear(struct cli_figures *figures);

#endif
