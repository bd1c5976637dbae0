/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "execute.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"

struct watch {
    struct lab_progress progress;
    struct cli_progress display;
    const sigset_t *held;
    struct cli_listener *listener;
    int caught;
    _Atomic bool is_over;
};

static void *watch_run(void *context);

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
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}

bool cli_execute(const struct lab_scenario *scenario, uint32_t jobs, bool is_quiet,
                 struct cli_listener *listener, struct cli_signals *signals, struct lab_result **out,
                 int64_t *elapsed_ms, struct sim_error *error)
{
    struct watch watch = {.held = &signals->held, .listener = listener};
    int64_t begin_ms = cli_now_ms();
    cli_progress_init(&watch.display, scenario->name, is_quiet);
    pthread_t thread;
    *out = NULL;
    if (pthread_create(&thread, NULL, watch_run, &watch) != 0)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "no thread could be made; end other programs first");
    bool is_fine =
        lab_run_told(scenario, jobs, &watch.progress, listener == NULL ? NULL : &listener->story, out, error);
    watch.is_over = true;
    pthread_kill(thread, CLI_WAKE);
    pthread_join(thread, NULL);
    cli_progress_end(&watch.display);
    *elapsed_ms = cli_now_ms() - begin_ms;
    if (watch.caught != 0) {
        signals->caught = watch.caught;
        lab_result_destroy(*out);
        *out = NULL;
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    }
    return is_fine;
}

int cli_exit_code(const struct cli_signals *signals, const struct sim_error *error)
{
    return signals->caught != 0 ? 128 + signals->caught : (int)error->class;
}

static void *watch_run(void *context)
{
    struct watch *watch = context;
    const struct timespec frame = {.tv_nsec = CLI_FRAME_MS * 1000000L};
    int64_t begin_ms = cli_now_ms();
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
        if (!watch->is_over)
            cli_progress_show(&watch->display, &watch->progress, cli_now_ms() - begin_ms);
    }
    return NULL;
}

int64_t cli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
