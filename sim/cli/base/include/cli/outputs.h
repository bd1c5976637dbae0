/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every file that a command writes, compared with every file that it reads, before anything is opened or run.
 *
 * A command adds its inputs, its databases and its outputs, and asks once. Two names are the same file when
 * they lead to the same device and inode (hard links too), or, of files that do not exist yet, to the same
 * path with all symbolic links followed. A database is four files: SQLite's -wal, -shm and -journal belong to
 * it. */
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

/* A path that is NULL is not added. Texts are borrowed until cli_outputs_check(). `what` names an input in
 * the message: "the scenario". */
void cli_outputs_input(struct cli_outputs *outputs, const char *what, const char *path);
/* A scenario, its trace and its observed files. */
void cli_outputs_scenario(struct cli_outputs *outputs, const struct lab_scenario *scenario);
/* --OPTION PATH is a database, which is written or read alone. */
void cli_outputs_database(struct cli_outputs *outputs, const char *option, const char *path, bool is_written);
/* --OPTION PATH is written. Pipes and devices are not, nor is "-". */
void cli_outputs_file(struct cli_outputs *outputs, const char *option, const char *path);
/* Charts and the page of a scenario of this name: STEM-anything.EXT and STEM.html in --out, for each wanted
 * format. */
void cli_outputs_charts(struct cli_outputs *outputs, const struct cli_charts *charts, const char *scenario);
/* The file that `fuzz` may write: STEM-anything.yaml in --out, of a scenario's name. */
void cli_outputs_finding(struct cli_outputs *outputs, const char *folder, const char *name);
/* SIM_ERROR_INPUT when an output would overwrite another file of the list. Empties the list. */
bool cli_outputs_check(struct cli_outputs *outputs, struct sim_error *error);

#endif
