/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that appears under its name when it is whole, in place of one that was there. */
#ifndef CLI_WHOLE_FILE_H
#define CLI_WHOLE_FILE_H

#include <stddef.h>

#include "kernel/error.h"

bool cli_write_whole(const char *path, const char *bytes, size_t size, struct sim_error *error);

#endif
