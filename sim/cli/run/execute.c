/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one task with progress on stderr, stops it at a signal, and keeps the partial result of a run of the
 * stream engine. The partial result is one outcome (store/store.h), which the next one replaces. Its job
 * is a digest of the files that the scenario reads, which are only read for it when there is one to store or
 * to find. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bucketing/hash.h"
#include "cli/base.h"
#include "cli/run.h"
#include "kernel/digest.h"
#include "kernel/file.h"
#include "lab/context.h"
#include "lab/team.h"

int64_t cli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t cli_passed_ms(int64_t begin_ms)
{
    int64_t passed_ms = cli_now_ms() - begin_ms;
    return passed_ms > 0 ? passed_ms : 0;
}

#define FIRST_BAR_MS    400
#define FIRST_LEFT_MS   1000 /* no estimate before this time */
#define LINE_MS         10000
#define SLOW_MS         60000 /* with more time left, the display names what takes it */
#define RECENT_MS       3000  /* time constant of what counts as recent */
#define PULL_MS         3000  /* time constant with which the number shown approaches the estimate */
#define STEPS_LEAST     4     /* fewest recent changes of `done`; otherwise the whole time is used */
#define LEFT_MOST_MS    (1000 * 86400000.0)
#define BAR_CELLS       24
#define BAR_CELLS_LEAST 8
#define NAME_CELLS      20
#define PART_SIZE       64

void cli_progress_init(struct cli_progress *display, const char *name, bool is_quiet)
{
    const bool is_terminal = isatty(STDERR_FILENO) == 1;
    *display = (struct cli_progress){.name = name,
                                     .unit = "rows/s",
                                     .is_quiet = is_quiet,
                                     .is_terminal = is_terminal,
                                     .next_ms = is_terminal ? FIRST_BAR_MS : LINE_MS,
                                     .left_ms = -1};
}

/* What was done so far is no part of the rate from now on, since it took no time. */
static void restart(struct cli_progress *display)
{
    display->beginning = display->now;
    display->recent = (struct cli_progress_span){0};
    display->step_ms = display->now.at_ms;
    display->left_ms = -1;
}

void cli_progress_show(struct cli_progress *display, struct lab_progress *progress, int64_t elapsed_ms)
{
    char line[CLI_PROGRESS_SIZE];
    if (display->is_quiet)
        return;
    cli_progress_note(display, atomic_load_explicit(&progress->done, memory_order_relaxed),
                      atomic_load_explicit(&progress->total, memory_order_relaxed),
                      atomic_load_explicit(&progress->rows, memory_order_relaxed), elapsed_ms);
    const uint64_t recalled = atomic_load_explicit(&progress->recalled, memory_order_relaxed);
    if (recalled != display->recalled)
        restart(display);
    display->recalled = recalled;
    display->best = atomic_load_explicit(&progress->best, memory_order_acquire);
    if (display->slow != NULL && !display->is_advised && display->left_ms > SLOW_MS) {
        fputs(display->is_terminal ? "\r" : "", stderr);
        snprintf(line, sizeof line, "bucketlab: more than a minute is left, mostly for %s: %s",
                 display->slow->name, display->slow->advice);
        cli_print_text(stderr, line);
        fputs(display->is_terminal ? "\033[K\n" : "\n", stderr);
        display->is_advised = true;
    }
    if (elapsed_ms < display->next_ms)
        return;
    cli_progress_line(display, display->is_terminal ? cli_terminal_columns(stderr) : 0, line);
    fputs(display->is_terminal ? "\r" : "", stderr);
    cli_print_text(stderr, line);
    fputs(display->is_terminal ? "\033[K" : "\n", stderr);
    fflush(stderr);
    if (!display->is_terminal)
        display->next_ms += (elapsed_ms - display->next_ms) / LINE_MS * LINE_MS + LINE_MS;
    display->is_shown = true;
}

/* Removes the bar from the terminal. */
static void cli_progress_end(struct cli_progress *display)
{
    if (display->is_terminal && display->is_shown)
        fputs("\r\033[K", stderr);
}

/* The recent work, or all since the beginning if there is little. */
static struct cli_progress_span span_of(const struct cli_progress *display)
{
    const struct cli_progress_sample *begin = &display->beginning, *now = &display->now;
    if (display->recent.steps >= STEPS_LEAST)
        return display->recent;
    return (struct cli_progress_span){.ms = (double)(now->at_ms - begin->at_ms),
                                      .done = (double)(now->done - begin->done),
                                      .rows = (double)(now->rows - begin->rows)};
}

/* The remaining time; below 0: not known, or nothing is left. The time since the last step counts up to the
 * length of a step; a step that takes longer than the previous ones also lengthens the estimate for the steps
 * to come. */
static double left_of(const struct cli_progress *display)
{
    const struct cli_progress_span span = span_of(display);
    const struct cli_progress_sample *now = &display->now;
    if (now->at_ms < FIRST_LEFT_MS || !(span.done > 0) || now->done >= display->total)
        return -1;
    const double left = (double)(display->total - now->done),
                 since_ms = (double)(now->at_ms - display->step_ms),
                 step_ms = (span.ms - since_ms) / span.done;
    const double left_ms = since_ms > step_ms
                               ? (left - 1) * span.ms / (span.done + 1) + (since_ms - step_ms) / 2
                               : left * step_ms - since_ms;
    return left_ms < LEFT_MOST_MS ? left_ms : -1;
}

void cli_progress_note(struct cli_progress *display, uint64_t done, uint64_t total, uint64_t rows,
                       int64_t elapsed_ms)
{
    const double passed_ms = (double)(elapsed_ms - display->now.at_ms), kept = exp(-passed_ms / RECENT_MS);
    struct cli_progress_span *recent = &display->recent;
    const bool is_step = done != display->now.done || (display->total == 0 && rows != display->now.rows);
    *recent = (struct cli_progress_span){kept * recent->steps + is_step, kept * recent->ms + passed_ms,
                                         kept * recent->done + (double)done - (double)display->now.done,
                                         kept * recent->rows + (double)rows - (double)display->now.rows};
    if (done != display->now.done)
        display->step_ms = elapsed_ms;
    display->now = (struct cli_progress_sample){elapsed_ms, done, rows};
    display->total = total;
    double reckoned_ms = left_of(display);
    if (reckoned_ms < 0 || display->left_ms < 0) {
        display->left_ms = reckoned_ms;
    } else {
        double ticked_ms = display->left_ms - passed_ms;
        display->left_ms = fmax(0, ticked_ms + (reckoned_ms - ticked_ms) * passed_ms / (passed_ms + PULL_MS));
    }
}

/* Writes as much of the name as fits into `cells` columns; returns the number of columns used. */
static size_t cut_name(const char *name, size_t cells, char *buffer)
{
    size_t used = 0, width = 0;
    while (name[used] != '\0') {
        size_t end = used + 1;
        while (((unsigned char)name[end] & 0xc0) == 0x80)
            end++;
        if (end > 4 * NAME_CELLS)
            break;
        memcpy(buffer + used, name + used, end - used);
        buffer[end] = '\0';
        if (cli_text_width(buffer) > cells)
            break;
        width = cli_text_width(buffer);
        used = end;
    }
    buffer[used] = '\0';
    return width;
}

/* Appends ", 1:23 left", in whole seconds, and at least one. */
static void put_left(double left_ms, char *buffer)
{
    if (left_ms < 0)
        return;
    int64_t left_s = (int64_t)(left_ms / 1000 + 0.5);
    if (left_s < 1)
        left_s = 1;
    if (left_s < 3600)
        snprintf(buffer, PART_SIZE, ", %d:%02d left", (int)(left_s / 60), (int)(left_s % 60));
    else if (left_s < 48 * 3600)
        snprintf(buffer, PART_SIZE, ", %d:%02d:%02d left", (int)(left_s / 3600), (int)(left_s / 60 % 60),
                 (int)(left_s % 60));
    else
        snprintf(buffer, PART_SIZE, ", %d days left", (int)(left_s / 86400));
}

static void put_bar(double share, size_t cells, char *buffer)
{
    size_t full = (size_t)(share * (double)cells);
    memcpy(buffer, " [", 2);
    for (size_t i = 0; i < cells; i++)
        buffer[2 + i] = i < full ? '#' : '.';
    memcpy(buffer + 2 + cells, "]", 2);
}

void cli_progress_line(const struct cli_progress *display, size_t columns, char buffer[CLI_PROGRESS_SIZE])
{
    char name[4 * NAME_CELLS + 1], bar[PART_SIZE] = "", share[PART_SIZE] = "", left[PART_SIZE] = "",
                                   rate[PART_SIZE], best[PART_SIZE + 4 * NAME_CELLS] = "",
                                   number[CLI_NUMBER_SIZE];
    const struct cli_progress_span span = span_of(display);
    const struct cli_progress_sample *now = &display->now;
    double part = display->total == 0           ? 0
                  : now->done >= display->total ? 1
                                                : (double)now->done / (double)display->total;
    size_t width = cut_name(display->name, NAME_CELLS, name), room = columns > 0 ? columns - 1 : SIZE_MAX;
    cli_compact(span.rows * 1000 / fmax(1, span.ms), 5, number);
    snprintf(rate, sizeof rate, ", %s %s", number, display->unit);
    if (display->total > 0) {
        snprintf(share, sizeof share, " %3d %%", (int)(part * 100));
        put_left(display->left_ms, left);
    }
    if (display->best != NULL) {
        char label[4 * NAME_CELLS + 1];
        cut_name(display->best, NAME_CELLS, label);
        snprintf(best, sizeof best, ", best so far %s", label);
    } else if (display->slow != NULL) {
        snprintf(best, sizeof best, ", mostly %s", display->slow->name);
    }
    /* On a narrow terminal, parts are dropped in this order; then the name is cut, and the share dropped. */
    char *const parts[] = {rate, left, best};
    width += strlen(share) + strlen(left) + strlen(rate) + cli_text_width(best);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && width > room; i++) {
        width -= cli_text_width(parts[i]);
        parts[i][0] = '\0';
    }
    if (display->is_terminal && display->total > 0 && width + BAR_CELLS_LEAST + 3 <= room) {
        size_t cells = room - width - 3;
        put_bar(part, cells < BAR_CELLS ? cells : BAR_CELLS, bar);
    }
    if (width > room) {
        size_t rest = strlen(share) < room ? room - strlen(share) : 0;
        cut_name(display->name, rest < NAME_CELLS ? rest : NAME_CELLS, name);
        if (strlen(share) > room)
            share[0] = '\0';
    }
    snprintf(buffer, CLI_PROGRESS_SIZE, "%s%s%s%s%s%s", name, bar, share, left, rate, best);
}

/* The time between two partial results, and its least multiple of the time to store one. */
#define EVERY_MS    1000
#define STORE_SHARE 10

uint64_t cli_add_bytes(uint64_t digest, const void *bytes, size_t size)
{
    return sim_digest_chain(digest, bk_murmur3_128(bytes, size, 0).h1);
}

struct store_work cli_work_of(const struct lab_scenario *scenario, const char *path, uint64_t options)
{
    struct store_work work;
    options = sim_digest_chain(options, scenario->seed);
    options = cli_add_bytes(options, scenario->overrides, strlen(scenario->overrides));
    work.command = cli_add_bytes(options, path, strlen(path));
    work.identity = cli_add_bytes(options, BUCKETLAB_VERSION, strlen(BUCKETLAB_VERSION));
    work.identity = cli_add_bytes(work.identity, scenario->text, scenario->text_size);
    return work;
}

static bool need_sources(struct cli_partial *partial, struct sim_error *error)
{
    if (!partial->has_sources && !lab_sources(partial->scenario, &partial->sources, error))
        return false;
    return partial->has_sources = true;
}

static void tell(const struct cli_partial *partial, const char *before, const char *text, const char *after)
{
    if (partial->args->is_quiet)
        return;
    fputs(before, stderr);
    cli_print_text(stderr, text);
    fprintf(stderr, "%s\n", after);
}

/* Called from a thread of the run. An error is reported once, and the run continues without this partial
 * result. */
static void put(void *context, const unsigned char *data, size_t size)
{
    struct cli_partial *partial = context;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    int64_t begin_ms = cli_now_ms();
    bool is_kept = need_sources(partial, &error);
    const struct store_outcome outcome = {partial->sources, size, (unsigned char *)(uintptr_t)data};
    is_kept = is_kept && store_outcomes_keep(partial->store, &partial->work, &outcome, 1, &error);
    partial->is_kept = partial->is_kept || is_kept;
    if (!is_kept && partial->lost.class == SIM_ERROR_NONE)
        tell(partial, "warning: the run continues, but its partial result could not be stored: ", error.text,
             "");
    partial->lost = error;
    int64_t wait_ms = STORE_SHARE * cli_passed_ms(begin_ms);
    partial->next_ms = cli_passed_ms(partial->begin_ms) + (wait_ms > EVERY_MS ? wait_ms : EVERY_MS);
}

bool cli_partial_open(struct cli_partial *partial, const struct cli_args *args,
                      const struct lab_scenario *scenario, const char *path, struct sim_error *error)
{
    memset(partial, 0, sizeof *partial);
    if (scenario->engine == LAB_ENGINE_CLUSTER)
        return true;
    partial->lab.put = put;
    partial->lab.context = partial;
    partial->args = args;
    partial->scenario = scenario;
    partial->work = cli_work_of(scenario, path, 0);
    partial->begin_ms = cli_now_ms();
    partial->next_ms = EVERY_MS;
    if (!store_open(args->database, STORE_WRITE, &partial->store, error) ||
        !store_outcomes_load(partial->store, &partial->work, &partial->known, &partial->known_count, error))
        return false;
    if (partial->known_count == 0)
        return true;
    if (!need_sources(partial, error))
        return false;
    for (size_t i = 0; i < partial->known_count; i++) {
        if (partial->known[i].job != partial->sources)
            continue;
        partial->lab.kept = partial->known[i].bytes;
        partial->lab.kept_size = partial->known[i].size;
        partial->is_kept = true;
        tell(partial, "the run resumes from its partial result in ", args->database, "");
        return true;
    }
    tell(partial,
         "warning: ", scenario->trace_path == NULL ? "a file that the scenario reads" : scenario->trace_path,
         " has changed since the run was stopped; the run begins again");
    return true;
}

void cli_partial_close(struct cli_partial *partial)
{
    store_outcomes_free(partial->known, partial->known_count);
    store_close(partial->store);
    memset(partial, 0, sizeof *partial);
}

/* Called several times a second while the run runs. */
static void cli_partial_tick(struct cli_partial *partial, int64_t elapsed_ms)
{
    if (partial->store == NULL || elapsed_ms < partial->next_ms)
        return;
    partial->next_ms = INT64_MAX; /* until this one is stored */
    atomic_fetch_add_explicit(&partial->lab.wish, 1, memory_order_relaxed);
}

/* Sets the error of a run that was interrupted, which says how to resume; returns false. */
static bool cli_partial_stopped(const struct cli_partial *partial, struct sim_error *error)
{
    const struct sim_error lost = partial->lost;
    if (!partial->is_kept && lost.class != SIM_ERROR_NONE)
        return sim_fail(error, lost.class, "interrupted; nothing was stored: %s", lost.text);
    if (!partial->is_kept)
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return sim_fail(
        error, SIM_ERROR_CHECK,
        "interrupted; the keys that are done are in %s, and the same command resumes with the others",
        partial->args->database);
}

bool cli_partial_forget(struct cli_partial *partial, struct sim_error *error)
{
    return !partial->is_kept || store_outcomes_forget(partial->store, &partial->work, error);
}

struct watch {
    struct lab_progress progress;
    struct cli_progress display;
    const struct cli_args *args;
    const struct cli_task *task;
    int caught;
    _Atomic bool is_over;
};

void cli_hold(const struct cli_args *args)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP};
    struct cli_signals *signals = args->signals;
    if (signals->is_held)
        return;
    signals->is_held = true;
    sigemptyset(&signals->held);
    sigaddset(&signals->held, CLI_WAKE);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        struct sigaction action;
        if (sigaction(ours[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals->held, ours[i]);
    }
    pthread_sigmask(SIG_BLOCK, &signals->held, &signals->before);
}

void cli_release(const struct cli_args *args)
{
    static const struct timespec at_once;
    struct cli_signals *signals = args->signals;
    if (!signals->is_held)
        return;
    while (signals->caught != 0 && sigtimedwait(&signals->held, NULL, &at_once) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
    signals->is_held = false;
}

int cli_wait(const struct cli_args *args, int64_t ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    const int signal = sigtimedwait(&args->signals->held, NULL, &time);
    return signal > 0 && signal != CLI_WAKE ? signal : 0;
}

static void *watch_run(void *context)
{
    struct watch *watch = context;
    const struct cli_task *task = watch->task;
    /* Adds up differences, so that progress continues when the clock jumps back. */
    int64_t last_ms = cli_now_ms(), elapsed_ms = 0;
    while (!watch->is_over) {
        const int signal = cli_wait(watch->args, CLI_FRAME_MS);
        if (signal != 0) {
            if (watch->caught != 0)
                _exit(128 + signal);
            watch->caught = signal;
            watch->progress.stop = true;
        }
        if (task->listener != NULL && task->listener->is_over)
            watch->progress.stop = true;
        elapsed_ms += cli_passed_ms(last_ms);
        last_ms = cli_now_ms();
        if (task->partial != NULL)
            cli_partial_tick(task->partial, elapsed_ms);
        if (!watch->is_over && task->sum_up != NULL)
            task->sum_up(task->context, &watch->progress);
        if (!watch->is_over)
            cli_progress_show(&watch->display, &watch->progress, elapsed_ms);
    }
    return NULL;
}

bool cli_attend(const struct cli_args *args, const struct cli_task *task, int64_t *elapsed_ms,
                struct sim_error *error)
{
    struct watch watch = {.args = args, .task = task};
    int64_t begin_ms = cli_now_ms();
    cli_hold(args);
    cli_progress_init(&watch.display, task->name, args->is_quiet);
    watch.display.unit = task->unit;
    watch.display.slow = task->slow.name[0] == '\0' ? NULL : &task->slow;
    pthread_t thread;
    if (sim_thread_start(&thread, watch_run, &watch) != 0)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "cannot start a thread; end other programs first");
    bool is_fine = task->run(task->context, &watch.progress, error);
    watch.is_over = true;
    pthread_kill(thread, CLI_WAKE);
    pthread_join(thread, NULL);
    cli_progress_end(&watch.display);
    if (elapsed_ms != NULL)
        *elapsed_ms = cli_passed_ms(begin_ms);
    if (watch.caught == 0)
        return is_fine;
    args->signals->caught = watch.caught;
    return task->lost == NULL ? is_fine : sim_fail(error, SIM_ERROR_CHECK, "interrupted; %s", task->lost);
}

/* --- one run of a scenario, and several */

static bool run_scenario(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct cli_execution *execution = context;
    struct cli_partial *partial = execution->partial;
    const struct lab_run_context run = {
        .progress = progress,
        .event_trace = execution->listener == NULL ? NULL : &execution->listener->event_trace,
        .team = execution->team,
        .partial = partial == NULL || partial->store == NULL ? NULL : &partial->lab};
    return lab_run_in(execution->scenario, execution->jobs, &run, &execution->result, error);
}

bool cli_execute(const struct cli_args *args, struct cli_execution *execution, struct sim_error *error)
{
    struct cli_task task = {.name = execution->scenario->name,
                            .unit = "rows/s",
                            .run = run_scenario,
                            .context = execution,
                            .listener = execution->listener,
                            .partial = execution->partial};
    const int caught_before = args->signals->caught;
    lab_slow_part(execution->scenario, &task.slow);
    bool is_fine = cli_attend(args, &task, &execution->elapsed_ms, error);
    if (args->signals->caught == caught_before)
        return is_fine;
    lab_result_destroy(execution->result);
    execution->result = NULL;
    return execution->partial != NULL ? cli_partial_stopped(execution->partial, error)
                                      : sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
}

struct run {
    struct lab_progress progress;
    _Atomic uint64_t rows; /* expected of the cluster engine, whose progress has no total; 0: not known */
    struct lab_result *result;
    int64_t elapsed_ms;
    _Atomic bool is_over;
};

struct crew {
    const struct cli_args *args;
    const struct cli_runs *runs;
    struct run *items; /* one for each job */
};

static bool run_job(void *context, uint64_t job, struct lab_progress *progress, void **made,
                    struct sim_error *error)
{
    const struct crew *crew = context;
    struct run *run = &crew->items[job];
    struct lab_scenario *scenario = NULL;
    const uint64_t count = crew->runs->count,
                   threads = count < crew->args->jobs ? crew->args->jobs / count : 1;
    int64_t begin_ms = cli_now_ms();
    run->progress.parent = progress;
    bool is_fine = crew->runs->make(crew->runs->context, job, &scenario, error);
    if (scenario != NULL && scenario->engine == LAB_ENGINE_CLUSTER)
        run->rows =
            (uint64_t)(scenario->workload.rate_per_s * ((double)scenario->workload.duration_ns / 1e9) *
                       (double)scenario->strategy_count);
    is_fine = is_fine &&
              (scenario == NULL || lab_run(scenario, (uint32_t)threads, &run->progress, &run->result, error));
    run->is_over = true;
    lab_scenario_destroy(scenario);
    run->elapsed_ms = cli_passed_ms(begin_ms);
    *made = run;
    return is_fine;
}

static bool take_job(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    const struct crew *crew = context;
    struct run *run = made;
    (void)is_enough;
    return crew->runs->take(crew->runs->context, job, g_steal_pointer(&run->result), run->elapsed_ms, error);
}

static void drop_job(void *made)
{
    (void)made; /* freed with all others */
}

static bool run_crew(void *context, struct lab_progress *progress, struct sim_error *error)
{
    const struct crew *crew = context;
    const struct lab_crew jobs = {
        .context = context, .count = crew->runs->count, .work = run_job, .take = take_job, .drop = drop_job};
    struct lab_progress inner = {.parent = progress};
    uint64_t taken;
    return lab_crew_run(&jobs, crew->args->jobs, &inner, &taken, error);
}

/* Progress is in thousandths of a run. */
static void sum_up(void *context, struct lab_progress *progress)
{
    const struct crew *crew = context;
    uint64_t done = 0, rows = 0;
    for (uint64_t i = 0; i < crew->runs->count; i++) {
        const struct run *run = &crew->items[i];
        const uint64_t all = run->rows > 0 ? run->rows : run->progress.total,
                       part = run->rows > 0 ? run->progress.rows : run->progress.done;
        done += run->is_over ? 1000 : all == 0 ? 0 : part < all ? part * 1000 / all : 999;
        rows += run->progress.rows;
    }
    progress->done = done;
    progress->total = 1000 * crew->runs->count;
    progress->rows = rows;
}

bool cli_run_all(const struct cli_args *args, const struct cli_runs *runs, struct sim_error *error)
{
    struct crew crew = {args, runs, g_new0(struct run, runs->count)};
    const struct cli_task task = {.name = runs->name,
                                  .unit = "rows/s",
                                  .lost = runs->lost,
                                  .run = run_crew,
                                  .sum_up = sum_up,
                                  .context = &crew};
    bool is_fine = cli_attend(args, &task, NULL, error);
    for (uint64_t i = 0; i < runs->count; i++)
        lab_result_destroy(crew.items[i].result);
    g_free(crew.items);
    return is_fine;
}
