/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one task with progress on stderr, and stops it at a signal. */
#define _POSIX_C_SOURCE 200809L
#include "cli/execute.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "cli/partial.h"
#include "cli/progress.h"
#include "kernel/file.h"

struct watch {
    struct lab_progress progress;
    struct cli_progress display;
    const sigset_t *held;
    struct cli_listener *listener;
    struct cli_partial *partial;
    const struct cli_task *task;
    int caught;
    _Atomic bool is_over;
};

/* A scenario's run, as a task. */
struct execution {
    const struct lab_scenario *scenario;
    uint32_t jobs;
    struct lab_run_context context; /* its progress is that of the task */
    struct lab_result **out;
};

void cli_signals_hold(struct cli_signals *signals)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP};
    signals->caught = 0;
    sigemptyset(&signals->held);
    sigaddset(&signals->held, CLI_WAKE);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        struct sigaction action;
        if (sigaction(ours[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals->held, ours[i]);
    }
    pthread_sigmask(SIG_BLOCK, &signals->held, &signals->before);
}

void cli_signals_release(struct cli_signals *signals)
{
    static const struct timespec at_once;
    while (signals->caught != 0 && sigtimedwait(&signals->held, NULL, &at_once) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}

static void *watch_run(void *context)
{
    struct watch *watch = context;
    const struct timespec frame = {.tv_nsec = CLI_FRAME_MS * 1000000L};
    /* Adds up differences, so that progress continues when the clock jumps back. */
    int64_t last_ms = cli_now_ms(), elapsed_ms = 0;
    while (!watch->is_over) {
        int signal = sigtimedwait(watch->held, NULL, &frame);
        if (signal > 0 && signal != CLI_WAKE) {
            if (watch->caught != 0)
                _exit(128 + signal);
            watch->caught = signal;
            watch->progress.stop = true;
        }
        if (watch->listener != NULL && watch->listener->is_over)
            watch->progress.stop = true;
        elapsed_ms += cli_passed_ms(last_ms);
        last_ms = cli_now_ms();
        if (watch->partial != NULL)
            cli_partial_tick(watch->partial, elapsed_ms);
        if (!watch->is_over && watch->task->sum_up != NULL)
            watch->task->sum_up(watch->task->context, &watch->progress);
        if (!watch->is_over)
            cli_progress_show(&watch->display, &watch->progress, elapsed_ms);
    }
    return NULL;
}

bool cli_attend(const struct cli_task *task, struct cli_signals *signals, int64_t *elapsed_ms,
                struct sim_error *error)
{
    struct watch watch = {
        .held = &signals->held, .listener = task->listener, .partial = task->partial, .task = task};
    int64_t begin_ms = cli_now_ms();
    cli_progress_init(&watch.display, task->name, task->is_quiet);
    watch.display.unit = task->unit;
    pthread_t thread;
    if (sim_thread_start(&thread, watch_run, &watch) != 0)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "cannot start a thread; end other programs first");
    bool is_fine = task->run(task->context, &watch.progress, error);
    watch.is_over = true;
    pthread_kill(thread, CLI_WAKE);
    pthread_join(thread, NULL);
    cli_progress_end(&watch.display);
    *elapsed_ms = cli_passed_ms(begin_ms);
    if (watch.caught != 0)
        signals->caught = watch.caught;
    return is_fine;
}

static bool run_scenario(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct execution *execution = context;
    execution->context.progress = progress;
    return lab_run_in(execution->scenario, execution->jobs, &execution->context, execution->out, error);
}

bool cli_execute(const struct lab_scenario *scenario, uint32_t jobs, const struct lab_team *team,
                 bool is_quiet, struct cli_listener *listener, struct cli_partial *partial,
                 struct cli_signals *signals, struct lab_result **out, int64_t *elapsed_ms,
                 struct sim_error *error)
{
    struct execution execution = {
        .scenario = scenario,
        .jobs = jobs,
        .context = {.event_trace = listener == NULL ? NULL : &listener->event_trace,
                    .team = team,
                    .partial = partial == NULL || partial->store == NULL ? NULL : &partial->lab},
        .out = out};
    const struct cli_task task = {.name = scenario->name,
                                  .unit = "rows/s",
                                  .is_quiet = is_quiet,
                                  .run = run_scenario,
                                  .context = &execution,
                                  .listener = listener,
                                  .partial = partial};
    *out = NULL;
    int caught_before = signals->caught;
    bool is_fine = cli_attend(&task, signals, elapsed_ms, error);
    if (signals->caught == caught_before)
        return is_fine;
    lab_result_destroy(*out);
    *out = NULL;
    return partial != NULL ? cli_partial_stopped(partial, error)
                           : sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
}

int cli_exit_code(const struct cli_signals *signals, const struct sim_error *error)
{
    return signals->caught != 0 ? 128 + signals->caught : (int)error->class;
}
