/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress on stderr: a bar that is drawn over on a terminal, a line every 10 s elsewhere. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "lab/run.h"

struct cli_progress {
    const char *name;
    const char *unit; /* of the rate: "rows/s" */
    bool is_quiet, is_terminal, is_shown;
    int64_t next_ms; /* when the next line is due */
};

void cli_progress_init(struct cli_progress *display, const char *name, bool is_quiet);
void cli_progress_show(struct cli_progress *display, struct lab_progress *progress, int64_t elapsed_ms);
/* Takes the bar off the terminal. */
void cli_progress_end(struct cli_progress *display);

#endif
