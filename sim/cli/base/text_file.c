/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a text file as a partial file that gets its name when it is complete. */
#define _XOPEN_SOURCE 700
#include "cli/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/partial.h"

static bool fail_with(int code, const char *path, struct sim_error *error)
{
    return sim_fail(error, code == EISDIR ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT, "%s: %s; %s", path,
                    strerror(code),
                    code == EISDIR   ? "name a file in it"
                    : code == ENOENT ? "make the folder first, or name another file"
                                     : "free space there, check its permissions, or name another file");
}

bool cli_text_file_check(const char *name, const char *path, struct sim_error *error)
{
    struct stat status;
    if (path[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s: no file named; write --%s FILE", name,
                        name);
    bool is_there = stat(path, &status) == 0;
    if (is_there && S_ISDIR(status.st_mode))
        return fail_with(EISDIR, path, error);
    char *folder = cli_folder_of(path);
    if (folder == NULL)
        return sim_fail_memory(error);
    bool is_special = is_there && !S_ISREG(status.st_mode);
    int code = is_special || access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    return code == 0 || fail_with(code, path, error);
}

static bool write_to(int file, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, text, size);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            size -= (size_t)written;
        }
    }
    return true;
}

static bool write_beside(const char *path, const char *text, size_t size, struct sim_error *error)
{
    char *target = realpath(path, NULL); /* a symbolic link is kept; its target is replaced */
    char *part;
    int file = report_partial_create(target != NULL ? target : path, &part), code = file == -1 ? errno : 0;
    if (code == 0) {
        bool is_fine = write_to(file, text, size) && fsync(file) == 0;
        code = is_fine ? 0 : errno;
        if (close(file) != 0 && code == 0)
            code = errno;
        if (code == 0 && rename(part, target != NULL ? target : path) != 0)
            code = errno;
        if (code != 0)
            unlink(part);
    }
    free(part);
    free(target);
    return code == 0 || fail_with(code, path, error);
}

bool cli_text_file_write(const char *path, const char *text, size_t size, struct sim_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
        return write_beside(path, text, size, error);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    int code = file != -1 && write_to(file, text, size) ? 0 : errno;
    if (file != -1)
        close(file);
    return code == 0 || fail_with(code, path, error);
}

char *cli_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}
