/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a text file as a partial file that gets its name when it is complete. */
#define _XOPEN_SOURCE 700
#include "cli/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/output.h"

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

bool cli_text_file_write(const char *path, const char *text, size_t size, struct sim_error *error)
{
    struct report_partial output;
    int code = report_partial_open(&output, path, false);
    if (code != 0)
        return fail_with(code, path, error);
    code = report_partial_write(&output, text, size);
    code = code != 0 ? code : report_partial_sync(&output);
    int ended = report_partial_end(&output, code == 0);
    code = code != 0 ? code : ended;
    return code == 0 || fail_with(code, path, error);
}

char *cli_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}
