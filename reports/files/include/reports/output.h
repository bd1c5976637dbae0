/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files that appear under their name only when they are complete. Every output of the program is
 * opened here.
 *
 * A regular file is written as FOLDER/.NAME.PID.N.partial next to its target, and renamed at the end. A
 * symbolic link is followed, whether its target exists or not. A device or a FIFO is written directly. The
 * partial file is locked while its process lives; the next output in the same folder removes those of killed
 * processes. */
#ifndef REPORTS_OUTPUT_H
#define REPORTS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "kernel/error.h"

struct report_partial {
    int file;     /* open for writing; -1: none */
    char *target; /* its path, links followed; NULL: the output is written directly */
    char *part;   /* the path of the partial file */
    bool is_new;
};

/* All return 0, or an errno. EINTR: SIGINT, SIGTERM or SIGHUP is pending, and a FIFO has no reader, or its
 * reader does not read. */

/* is_new: an existing file, or link, is EEXIST. */
int report_partial_open(struct report_partial *out, const char *path, bool is_new);
int report_partial_write(struct report_partial *out, const void *bytes, size_t size);
/* A stream to the output, which the caller must close before report_partial_sync(); NULL with errno. */
FILE *report_partial_stream(struct report_partial *out);
/* Flushes a regular file to the disk. */
int report_partial_sync(struct report_partial *out);
/* Gives the file its name if it is complete, otherwise removes it. Must be called once after a successful
 * open; a zeroed struct, and one that was ended, are allowed. ESTALE: the folder was replaced meanwhile. */
int report_partial_end(struct report_partial *out, bool is_complete);

struct report_bytes {
    unsigned char *data; /* malloc'ed */
    size_t size, capacity;
};

void report_bytes_free(struct report_bytes *bytes);

/* Writes contents[i] to paths[i], which must be in one folder, for at least one file: all are written next to
 * their targets and flushed, and then all are renamed. If one cannot be written, none appears, and a folder
 * that was created for them is removed; the folder is created with its parents if it is missing. is_new: as
 * above. */
bool report_output(const char *const *paths, const struct report_bytes *contents, size_t count, bool is_new,
                   struct sim_error *error);
/* The error for an errno: SIM_ERROR_INPUT for a name that no file can have; returns false. */
bool report_file_fail(int code, const char *path, struct sim_error *error);
/* The path FOLDER/SCENARIO-CHART.EXT of a file of a result (reports/reports.h); without -CHART when chart is
 * NULL. is_tuned: SCENARIO-tune-CHART, so that the charts of a run are not overwritten. The caller must free
 * it. */
char *report_output_path(const char *folder, const char *scenario, bool is_tuned, const char *chart,
                         const char *extension);

#endif
