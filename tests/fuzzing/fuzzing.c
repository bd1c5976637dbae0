/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the fuzz targets. */
#define _GNU_SOURCE
#include "fuzzing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzzing_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not stay within the limits: %s\n", what);
    abort();
}

void fuzzing_require_error(const struct sim_error *error)
{
    fuzzing_require(error->class != SIM_ERROR_NONE, "an error has a class");
    fuzzing_require(error->text[0] != '\0', "an error has a text");
    fuzzing_require(strpbrk(error->text, "\r\n") == NULL, "an error is one line");
}

const char *fuzzing_file(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char path[32];
    if (file < 0) {
        file = memfd_create("input", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    fuzzing_require(file >= 0 && ftruncate(file, 0) == 0, "a file in memory can be had");
    fuzzing_require(pwrite(file, data, size, 0) == (ssize_t)size, "a file in memory can be written");
    return path;
}
