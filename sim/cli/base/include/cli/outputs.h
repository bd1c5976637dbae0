/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that no file that a command writes is one that it reads, before anything is opened or run.
 *
 * A command adds its inputs, its databases and its outputs, and then makes one check. Two names are the same
 * file when they have the same device and inode (as hard links do), or, for files that do not exist yet, the
 * same path after all symbolic links are resolved. A database is four files, with SQLite's -wal, -shm and
 * -journal. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/charts.h"
#include "kernel/error.h"
#include "lab/scenario.h"

struct cli_outputs {
    struct cli_output_file *files;
    size_t count, capacity;
    bool out_of_memory;
};

/* Adds an input. A NULL path is ignored, here and below. Texts must live until cli_outputs_check(). `what`
 * describes the input in messages: "the scenario". */
void cli_outputs_input(struct cli_outputs *outputs, const char *what, const char *path);
/* Adds a scenario's file, its trace and its observed files as inputs. */
void cli_outputs_scenario(struct cli_outputs *outputs, const struct lab_scenario *scenario);
/* Adds the database of --OPTION PATH, which is written or only read. */
void cli_outputs_database(struct cli_outputs *outputs, const char *option, const char *path, bool is_written);
/* Adds the output of --OPTION PATH. Pipes, devices and "-" are ignored. */
void cli_outputs_file(struct cli_outputs *outputs, const char *option, const char *path);
/* Adds the charts and the page of a scenario of this name: STEM-anything.EXT and STEM.html in --out, for each
 * requested format. */
void cli_outputs_charts(struct cli_outputs *outputs, const struct cli_charts *charts, const char *scenario);
/* Adds the file that `fuzz` may write: STEM-anything.yaml in --out, where STEM comes from the scenario's
 * name. */
void cli_outputs_finding(struct cli_outputs *outputs, const char *folder, const char *name);
/* Fails with SIM_ERROR_INPUT when an output would overwrite another file of the list. Empties the list. */
bool cli_outputs_check(struct cli_outputs *outputs, struct sim_error *error);

#endif
