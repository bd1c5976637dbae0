/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a file that appears under its name only when it is complete. */
#ifndef CLI_TEXT_FILE_H
#define CLI_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"

/* Checks, before anything is run, that the file of the option --NAME can be written. Whether it would
 * overwrite an input is checked by outputs.h. Errors: SIM_ERROR_INPUT or SIM_ERROR_ENVIRONMENT. */
bool cli_text_file_check(const char *name, const char *path, struct sim_error *error);
/* Writes a temporary file next to the target, flushes it and renames it; a pipe or a device is written
 * directly. Errors: SIM_ERROR_INPUT for a folder, otherwise SIM_ERROR_ENVIRONMENT. */
bool cli_text_file_write(const char *path, const char *text, size_t size, struct sim_error *error);

/* The folder of a file; "." when its path has none. The caller must free it; NULL when out of memory. */
char *cli_folder_of(const char *path);

#endif
