/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows progress on stderr: a bar that is redrawn on a terminal, or a line every 10 s elsewhere.
 *
 * The remaining time is estimated from recent progress, since the rate of work changes. The number shown
 * counts down with the clock and moves gradually towards the estimate, so that it does not jump. If the total
 * is not known, only a rate is shown. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "lab/run.h"

#define CLI_PROGRESS_SAMPLES 30
#define CLI_PROGRESS_SIZE    512 /* size of a line in bytes */

struct cli_progress_sample {
    int64_t at_ms;
    uint64_t done, rows;
};

struct cli_progress {
    const char *name;
    const char *unit; /* unit of the rate: "rows/s" */
    bool is_quiet, is_terminal, is_shown;
    int64_t next_ms;  /* when the next line is due */
    uint64_t total;   /* 0: not known */
    const char *best; /* the best strategy tried so far; NULL: none */
    int64_t step_ms;  /* when `done` last grew */
    struct cli_progress_sample now;
    struct cli_progress_sample beginning;                     /* of the work that the rate is of */
    uint64_t recalled;                                        /* of the progress, so far */
    struct cli_progress_sample samples[CLI_PROGRESS_SAMPLES]; /* ring buffer, a sample every half second */
    size_t first, count;
    double left_ms; /* remaining time as shown; below 0: not shown */
};

void cli_progress_init(struct cli_progress *display, const char *name, bool is_quiet);
/* Samples the progress, and draws the line if it is due. Must be called several times a second; elapsed_ms
 * must not decrease. */
void cli_progress_show(struct cli_progress *display, struct lab_progress *progress, int64_t elapsed_ms);
/* Removes the bar from the terminal. */
void cli_progress_end(struct cli_progress *display);
/* The two parts of cli_progress_show(): sampling the progress after `elapsed_ms`, and formatting the line. On
 * a terminal the line has a bar and is narrower than `columns`, so that it does not wrap. */
void cli_progress_note(struct cli_progress *display, uint64_t done, uint64_t total, uint64_t rows,
                       int64_t elapsed_ms);
void cli_progress_line(const struct cli_progress *display, size_t columns, char buffer[CLI_PROGRESS_SIZE]);

#endif
