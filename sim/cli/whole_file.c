/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text_file.h"

static int write_all(int file, const char *bytes, size_t size);
static bool fail_with(int code, const char *path, struct sim_error *error);

bool cli_write_whole(const char *path, const char *bytes, size_t size, struct sim_error *error)
{
    struct stat status;
    /* What is no file, as /dev/stdout, is written into: a file of that name must not take its place. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return cli_text_file_write(path, bytes, size, error);
    size_t length = strlen(path) + 32;
    char *part = malloc(length);
    if (part == NULL)
        return sim_fail_memory(error);
    snprintf(part, length, "%s.%ld.part", path, (long)getpid());
    int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), code = file == -1 ? errno : 0;
    if (file != -1) {
        code = write_all(file, bytes, size);
        if (code == 0 && fsync(file) != 0)
            code = errno;
        if (close(file) != 0 && code == 0)
            code = errno;
        if (code == 0 && rename(part, path) != 0)
            code = errno;
        if (code != 0)
            unlink(part);
    }
    free(part);
    return code == 0 || fail_with(code, path, error);
}

static int write_all(int file, const char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t written = write(file, bytes + done, size - done);
        if (written < 0 && errno != EINTR)
            return errno;
        done += written < 0 ? 0 : (size_t)written;
    }
    return 0;
}

static bool fail_with(int code, const char *path, struct sim_error *error)
{
    bool is_input = code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == EISDIR;
    return sim_fail(error, is_input ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT, "%s: %s; %s", path,
                    strerror(code),
                    code == EISDIR ? "name a file in it"
                    : is_input     ? "make the folder first, or choose another name"
                                   : "free space there, or choose a folder that you may write to");
}
