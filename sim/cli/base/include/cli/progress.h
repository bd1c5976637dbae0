/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress on stderr: a bar that is drawn over on a terminal, a line every 10 s elsewhere.
 *
 * The time left comes of what was done of late, as work is seldom even. A number that is shown ticks down
 * with the clock and is drawn towards what is reckoned, so that it does not jump. Where the end is not known
 * there is a rate alone.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "lab/run.h"

#define CLI_PROGRESS_SAMPLES 30
#define CLI_PROGRESS_SIZE    384 /* of a line, in bytes */

struct cli_progress_sample {
    int64_t at_ms;
    uint64_t done, rows;
};

struct cli_progress {
    const char *name;
    const char *unit; /* of the rate: "rows/s" */
    bool is_quiet, is_terminal, is_shown;
    int64_t next_ms;  /* when the next line is due */
    uint64_t total;   /* 0: not known */
    const char *best; /* of what was tried so far; NULL: nothing to name */
    int64_t step_ms;  /* when `done` last grew */
    struct cli_progress_sample now;
    struct cli_progress_sample samples[CLI_PROGRESS_SAMPLES]; /* a ring, one every half second */
    size_t first, count;
    double left_ms; /* as shown; below 0: none */
};

void cli_progress_init(struct cli_progress *display, const char *name, bool is_quiet);
/* Takes note of where the work stands, and draws what is due. Called several times a second; elapsed_ms never
 * goes back. */
void cli_progress_show(struct cli_progress *display, struct lab_progress *progress, int64_t elapsed_ms);
/* Takes the bar off the terminal. */
void cli_progress_end(struct cli_progress *display);
/* The two halves of showing: what is known after `elapsed_ms`, and the line of it. On a terminal the line has
 * a bar and is less than `columns` wide: then it does not wrap. */
void cli_progress_note(struct cli_progress *display, uint64_t done, uint64_t total, uint64_t rows,
                       int64_t elapsed_ms);
void cli_progress_line(const struct cli_progress *display, size_t columns, char buffer[CLI_PROGRESS_SIZE]);

#endif
