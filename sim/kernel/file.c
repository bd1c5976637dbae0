/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens inputs: a regular file, or an open descriptor by its name. Anything else is refused. */
#define _POSIX_C_SOURCE 200809L
#include "kernel/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sim_input_is_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, SIM_STANDARD_INPUT) == 0 || strcmp(path, "/dev/stdin") == 0)
        return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t size = strlen(folders[i]);
        if (strncmp(path, folders[i], size) == 0 && path[size] != '\0' &&
            strspn(path + size, "0123456789") == strlen(path + size))
            return true;
    }
    return false;
}

int sim_input_open(const char *path, int *reason)
{
    bool is_any = sim_input_is_descriptor(path);
    /* With O_NONBLOCK, opening a FIFO returns immediately, so that its type can be checked. */
    int file = strcmp(path, SIM_STANDARD_INPUT) == 0
                   ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                   : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_any ? 0 : O_NONBLOCK));
    struct stat status;
    *reason = 0;
    if (file == -1 || fstat(file, &status) != 0)
        *reason = errno;
    else if (S_ISDIR(status.st_mode))
        *reason = EISDIR;
    else if (!is_any && !S_ISREG(status.st_mode))
        *reason = SIM_NOT_REGULAR;
    else if (!is_any && fcntl(file, F_SETFL, 0) == -1)
        *reason = errno;
    if (*reason != 0 && file != -1) {
        close(file);
        file = -1;
    }
    /* open() fails with ENXIO for the name of a socket. */
    if (!is_any && *reason == ENXIO)
        *reason = SIM_NOT_REGULAR;
    return file;
}

FILE *sim_input_stream(const char *path, int *reason)
{
    int file = sim_input_open(path, reason);
    FILE *stream = file == -1 ? NULL : fdopen(file, "rb");
    if (file != -1 && stream == NULL) {
        *reason = errno;
        close(file);
    }
    return stream;
}

const char *sim_input_reason(int reason, char *buffer, size_t size)
{
    if (reason == SIM_NOT_REGULAR)
        return "not a regular file";
    return strerror_r(reason, buffer, size) == 0 ? buffer : "unknown reason";
}
