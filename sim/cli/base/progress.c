/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the line of progress on stderr, with the rate and the remaining time. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"

#define FIRST_BAR_MS    400
#define FIRST_LEFT_MS   1000 /* no estimate before this time */
#define LINE_MS         10000
#define SAMPLE_MS       500
#define PULL_MS         3000 /* time constant with which the number shown approaches the estimate */
#define STEPS_LEAST     4    /* fewest steps of `done` within the samples; otherwise the whole time is used */
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

static void keep_sample(struct cli_progress *display)
{
    if (display->count > 0) {
        size_t last = (display->first + display->count - 1) % CLI_PROGRESS_SAMPLES;
        if (display->now.at_ms - display->samples[last].at_ms < SAMPLE_MS)
            return;
    }
    if (display->count == CLI_PROGRESS_SAMPLES) {
        display->first = (display->first + 1) % CLI_PROGRESS_SAMPLES;
        display->count--;
    }
    display->samples[(display->first + display->count++) % CLI_PROGRESS_SAMPLES] = display->now;
}

/* What was done so far is no part of the rate from now on, since it took no time. */
static void restart(struct cli_progress *display)
{
    display->beginning = display->now;
    display->step_ms = display->now.at_ms;
    display->count = 0;
    display->left_ms = -1;
    keep_sample(display);
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

void cli_progress_end(struct cli_progress *display)
{
    if (display->is_terminal && display->is_shown)
        fputs("\r\033[K", stderr);
}

/* The sample from which recent work is measured: the oldest one, or the beginning if too little was done
 * since. */
static struct cli_progress_sample base_of(const struct cli_progress *display)
{
    size_t steps = 0;
    for (size_t i = 1; i < display->count; i++) {
        const struct cli_progress_sample *before =
            &display->samples[(display->first + i - 1) % CLI_PROGRESS_SAMPLES];
        const struct cli_progress_sample *after =
            &display->samples[(display->first + i) % CLI_PROGRESS_SAMPLES];
        steps += after->done != before->done || (display->total == 0 && after->rows != before->rows);
    }
    return steps < STEPS_LEAST ? display->beginning : display->samples[display->first];
}

/* The remaining time; below 0: not known, or nothing is left. The time since the last step counts up to the
 * length of a step; a step that takes longer than the previous ones also lengthens the estimate for the steps
 * to come. */
static double left_of(const struct cli_progress *display)
{
    const struct cli_progress_sample base = base_of(display), *now = &display->now;
    if (now->at_ms < FIRST_LEFT_MS || now->done <= base.done || now->done >= display->total)
        return -1;
    double left = (double)(display->total - now->done), steps = (double)(now->done - base.done);
    double step_ms = (double)(display->step_ms - base.at_ms) / steps;
    double since_ms = (double)(now->at_ms - display->step_ms), left_ms = left * step_ms - since_ms;
    if (since_ms > step_ms)
        left_ms = (left - 1) * (double)(now->at_ms - base.at_ms) / (steps + 1) + (since_ms - step_ms) / 2;
    return left_ms < LEFT_MOST_MS ? left_ms : -1;
}

void cli_progress_note(struct cli_progress *display, uint64_t done, uint64_t total, uint64_t rows,
                       int64_t elapsed_ms)
{
    double passed_ms = (double)(elapsed_ms - display->now.at_ms);
    if (done != display->now.done)
        display->step_ms = elapsed_ms;
    display->now = (struct cli_progress_sample){elapsed_ms, done, rows};
    display->total = total;
    double reckoned_ms = left_of(display);
    if (reckoned_ms < 0 || display->left_ms < 0) {
        display->left_ms = reckoned_ms;
    } else {
        double ticked_ms = display->left_ms - passed_ms;
        display->left_ms = ticked_ms + (reckoned_ms - ticked_ms) * passed_ms / (passed_ms + PULL_MS);
        if (display->left_ms < 0)
            display->left_ms = 0;
    }
    keep_sample(display);
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
    const struct cli_progress_sample base = base_of(display), *now = &display->now;
    double passed_ms = now->at_ms > base.at_ms ? (double)(now->at_ms - base.at_ms) : 1;
    double part = display->total == 0           ? 0
                  : now->done >= display->total ? 1
                                                : (double)now->done / (double)display->total;
    size_t width = cut_name(display->name, NAME_CELLS, name), room = columns > 0 ? columns - 1 : SIZE_MAX;
    cli_compact((double)(now->rows - base.rows) * 1000 / passed_ms, 5, number);
    snprintf(rate, sizeof rate, ", %s %s", number, display->unit);
    if (display->total > 0) {
        snprintf(share, sizeof share, " %3d %%", (int)(part * 100));
        put_left(display->left_ms, left);
    }
    if (display->best != NULL) {
        char label[4 * NAME_CELLS + 1];
        cut_name(display->best, NAME_CELLS, label);
        snprintf(best, sizeof best, ", best so far %s", label);
    }
    /* On a narrow terminal, parts are dropped in this order: the bar is shortened, then the rate, the bar and
     * the time are removed. */
    width += strlen(share) + strlen(left) + strlen(rate) + cli_text_width(best);
    if (width > room) {
        width -= strlen(rate);
        rate[0] = '\0';
    }
    if (display->is_terminal && display->total > 0 && width + BAR_CELLS_LEAST + 3 <= room) {
        size_t cells = room - width - 3;
        put_bar(part, cells < BAR_CELLS ? cells : BAR_CELLS, bar);
    }
    if (width > room) {
        width -= strlen(left);
        left[0] = '\0';
    }
    if (width > room) {
        width -= cli_text_width(best);
        best[0] = '\0';
    }
    if (width > room) {
        size_t rest = strlen(share) < room ? room - strlen(share) : 0;
        cut_name(display->name, rest < NAME_CELLS ? rest : NAME_CELLS, name);
        if (strlen(share) > room)
            share[0] = '\0';
    }
    snprintf(buffer, CLI_PROGRESS_SIZE, "%s%s%s%s%s%s", name, bar, share, left, rate, best);
}
