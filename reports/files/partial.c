/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a file under a temporary name, and renames it when it is complete. */
#define _POSIX_C_SOURCE 200809L
#include "reports/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of temporary names to try: a name may exist already, left by a killed process or created by an
 * attacker who guesses names. */
#define PARTIAL_TRIES 1000u

int report_partial_create(const char *path, char **name)
{
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash - path + 1);
    size_t size = strlen(path) + 64;
    *name = malloc(size);
    if (*name == NULL)
        return -1;
    for (unsigned i = 0; i < PARTIAL_TRIES; i++) {
        snprintf(*name, size, "%.*s.%s.%ld.%u.partial", folder, path, path + folder, (long)getpid(), i);
        int file = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file != -1)
            return file;
        if (errno != EEXIST)
            break;
    }
    int reason = errno;
    free(*name);
    *name = NULL;
    errno = reason;
    return -1;
}
