/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a command writes: each appears under its name only when it is complete, and none overwrites
 * one that the command reads. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/command.h"
#include "kernel/error.h"
#include "lab/scenario.h"
#include "reports/output.h"
#include "reports/reports.h"

/* --- files of text. A temporary file next to the target is flushed and renamed; a pipe or a device is
 * written directly. Errors: SIM_ERROR_INPUT for a name that no file can have, otherwise
 * SIM_ERROR_ENVIRONMENT */

/* The error for an errno; returns false. */
bool cli_file_fail(int code, const char *path, struct sim_error *error);
/* Checks, before anything is run, that the file of the option --NAME can be written; path may be NULL.
 * Whether it would overwrite an input is checked below. */
bool cli_file_check(const char *name, const char *path, struct sim_error *error);
bool cli_file_write(const char *path, const char *text, size_t size, struct sim_error *error);

/* A stream into memory, whose text, which the caller must free, is there when it is closed. */
FILE *cli_memory_open(char **text, size_t *size);
void cli_memory_close(FILE *stream);

/* A file that is written as a stream. Without a stream it is closed. */
struct cli_file {
    const char *path;
    FILE *stream;
    struct report_partial output;
};
bool cli_file_open(struct cli_file *file, const char *path, struct sim_error *error);
/* Gives the file its name if it is whole, otherwise removes it. */
bool cli_file_close(struct cli_file *file, bool is_whole, struct sim_error *error);

/* --- charts and the page: --format and --out */

struct cli_charts {
    bool wanted[REPORT_FORMAT_COUNT];
    bool has_page; /* --format includes html: see cli/page.h */
    const char *folder;
    struct report_files files[REPORT_FORMAT_COUNT];
    char *page;
};

/* Reads the options, and checks that the folder exists or can be created, without creating it. */
bool cli_charts_read(const struct cli_args *args, struct cli_charts *out, struct sim_error *error);
bool cli_charts_write(struct cli_charts *charts, const struct lab_result *result, struct sim_error *error);
/* Prints, after an error of drawing, that the runs from first to last are stored, and how to draw their
 * charts again; returns false. */
bool cli_charts_fail(int64_t first, int64_t last, const char *database, struct sim_error *error);
/* Prints the path of each file that was written, one per line, after `prefix`. Returns whether there was
 * one. */
bool cli_charts_print(const struct cli_charts *charts, const char *prefix);
void cli_charts_free(struct cli_charts *charts);

/* Checks that files can be created in the folder: a folder is made in the nearest existing one, and removed.
 */
bool cli_folder_check(const char *folder, struct sim_error *error);

/* --- checks that no file that a command writes is one that it reads, before anything is opened or run.
 *
 * A command adds its inputs, its databases and its outputs, and then makes one check. Two names are the same
 * file when they have the same device and inode (as hard links do), or, for files that do not exist yet, the
 * same path after all symbolic links are resolved. A database is four files, with SQLite's -wal, -shm and
 * -journal */

struct cli_outputs {
    GPtrArray *files; /* NULL: none yet */
};

/* Adds an input. A NULL path is ignored, here and below. `what` describes the input in messages: "the
 * scenario". */
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
