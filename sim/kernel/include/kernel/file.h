/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one place where the program opens an input by its name; only the database is opened by SQLite. */
#ifndef KERNEL_FILE_H
#define KERNEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The name stands for standard input. */
#define SIM_STANDARD_INPUT "-"
/* Not an errno: the file is a pipe, a socket or a device. */
#define SIM_NOT_REGULAR (-1)

/* Opens a file for reading and returns its descriptor. On failure returns -1, and *reason is an errno or
 * SIM_NOT_REGULAR. A FIFO would block until somebody writes to it, so everything except a regular file is
 * refused, with EISDIR for a directory. The names "-", /dev/stdin, /dev/fd/N and /proc/self/fd/N are exempt:
 * they mean an open descriptor of any kind. */
bool sim_input_is_descriptor(const char *path);
int sim_input_open(const char *path, int *reason);
/* As a stream; NULL on failure. */
FILE *sim_input_stream(const char *path, int *reason);
#define SIM_REASON_SIZE 128
/* "No such file or directory", "not a regular file". The result may or may not be in the buffer. */
const char *sim_input_reason(int reason, char *buffer, size_t size);

#endif
