/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An output: a file that appears under its name only when it is complete.
 *
 * A regular file is written as FOLDER/.NAME.PID.N.partial next to its target, and renamed at the end. A
 * symbolic link is followed, whether its target exists or not. A device or a FIFO is written directly. The
 * partial file is locked while its process lives; the next output in the same folder removes those of killed
 * processes. Every output of the program is opened here. */
#ifndef REPORTS_PARTIAL_H
#define REPORTS_PARTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct report_partial {
    int file;     /* open for writing; -1: none */
    int folder;   /* of the target; -1: the output is written directly */
    char *target; /* its path, links followed */
    char *part;   /* the name of the partial file in the folder */
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

#endif
