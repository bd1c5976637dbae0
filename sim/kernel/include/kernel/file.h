/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens input files by name. All inputs of the program are opened here, except for the database, which SQLite
 * opens. */
#ifndef KERNEL_FILE_H
#define KERNEL_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The file name that means standard input. */
#define SIM_STANDARD_INPUT "-"
/* A value of *reason that is not an errno: the file is a pipe, a socket or a device. */
#define SIM_NOT_REGULAR (-1)

/* Whether the path is a name of an open descriptor: "-", /dev/stdin, /dev/fd/N or /proc/self/fd/N. */
bool sim_input_is_descriptor(const char *path);
/* Opens a file for reading and returns its descriptor, which the caller must close. On failure returns -1,
 * and *reason is an errno or SIM_NOT_REGULAR. Only a regular file is accepted (EISDIR for a directory), since
 * a FIFO would block until another process writes to it; but a name of an open descriptor may be of any kind.
 */
int sim_input_open(const char *path, int *reason);
/* As sim_input_open(), but returns a stream, which the caller must fclose(); NULL on failure. */
FILE *sim_input_stream(const char *path, int *reason);
#define SIM_REASON_SIZE 128
/* The text of a reason, such as "No such file or directory" or "not a regular file". The result is a constant
 * or points into `buffer`, of `size` bytes, for which SIM_REASON_SIZE is enough. */
const char *sim_input_reason(int reason, char *buffer, size_t size);

/* Starts threads with a stack of a fixed size, independent of the shell's limit (`ulimit -s`). */

/* As pthread_create() with default attributes. */
int sim_thread_start(pthread_t *thread, void *(*work)(void *), void *context);

#endif
