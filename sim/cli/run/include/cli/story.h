/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --trace-events FILE [--key K]`: the story of a cluster run, a line an event.
 *
 * It is written beside FILE and gets that name when the run is stored. "-", and what is no regular file (a
 * pipe, a terminal), is written to directly. */
#ifndef CLI_STORY_H
#define CLI_STORY_H

#include "cli/command.h"
#include "cli/execute.h"

struct cli_story {
    struct cli_listener listener;
    const char *path;    /* as it was named; NULL: no story is asked for */
    char *target, *part; /* NULL where nothing is to be renamed */
    FILE *stream;
    int code; /* of the first write that failed */
};

/* Reads the options, and looks whether FILE could be made; makes nothing. */
bool cli_story_read(const struct cli_args *args, const struct lab_scenario *scenario, size_t scenario_count,
                    struct cli_story *out, struct sim_error *error);
/* Opens the file beside FILE, where there is one to be. */
bool cli_story_begin(struct cli_story *story, struct sim_error *error);
/* For cli_execute(); NULL when no story is asked for. */
struct cli_listener *cli_story_listener(struct cli_story *story);
/* After the run: false when something could not be written, which may be why the run ended early. */
bool cli_story_end(struct cli_story *story, struct sim_error *error);
/* Gives it its name. */
bool cli_story_name(struct cli_story *story, struct sim_error *error);
/* What has no name yet goes away. */
void cli_story_free(struct cli_story *story);

#endif
