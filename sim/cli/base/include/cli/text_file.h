/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that appears under its name only when whole. */
#ifndef CLI_TEXT_FILE_H
#define CLI_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"

/* Early, so that nothing runs in vain: a file of this name, of option --NAME, can be written. Whether it
 * would overwrite an input, outputs.h says. SIM_ERROR_INPUT or SIM_ERROR_ENVIRONMENT. */
bool cli_text_file_check(const char *name, const char *path, struct sim_error *error);
/* Written next to its target, flushed, renamed; a pipe or a device is written to. SIM_ERROR_INPUT for a
 * folder, else SIM_ERROR_ENVIRONMENT. */
bool cli_text_file_write(const char *path, const char *text, size_t size, struct sim_error *error);

/* The folder of a file, "." where its path names none. Freed by the caller; NULL: out of memory. */
char *cli_folder_of(const char *path);

#endif
