/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files that appear under their name only when they are complete. */
#define _POSIX_C_SOURCE 200809L

#include "reports/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/partial.h"

/* A file name has at most 255 bytes, some of which the chart's name, the extension and the temporary name
 * need. */
enum { STEM_SIZE_MAX = 160 };

static bool fail(struct sim_error *error, const char *step, const char *path, int reason)
{
    const char *cure = reason == ENOSPC || reason == EDQUOT ? "make room on the disk"
                       : reason == ENOTDIR || reason == EISDIR || reason == EEXIST
                           ? "move the existing file away"
                           : "choose another folder";
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: cannot %s: %s; %s", path, step, strerror(reason),
                    cure);
}

/* Removes the folders of the path `folder` that make_folder() created, from the deepest to the first. Keeps
 * folders that are not empty. */
static void remove_folders(const char *folder, size_t made_from)
{
    char *path = made_from > 0 ? strdup(folder) : NULL;
    if (path == NULL) {
        return;
    }
    for (size_t i = strlen(path); i >= made_from; i--) {
        if (path[i] == '/' || path[i] == 0) {
            path[i] = 0;
            rmdir(path);
        }
    }
    free(path);
}

/* Creates `folder` and its missing parents. *made_from becomes the length in bytes of the prefix of `folder`
 * that names the first folder that this call created; 0 if it created none. */
static bool make_folder(const char *folder, size_t *made_from, struct sim_error *error)
{
    char *path = strdup(folder[0] != 0 ? folder : ".");
    if (path == NULL) {
        return sim_fail_memory(error);
    }
    *made_from = 0;
    int reason = 0;
    const size_t length = strlen(path);
    for (size_t i = 1; reason == 0 && i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) {
            continue;
        }
        char kept = path[i];
        path[i] = 0;
        if (mkdir(path, 0777) == 0) {
            *made_from = *made_from == 0 ? i : *made_from;
        } else if (errno != EEXIST && errno != EISDIR) {
            /* On a read-only file system, mkdir() may fail although the folder exists. */
            int why = errno;
            struct stat status;
            reason = stat(path, &status) == 0 ? 0 : why;
        }
        path[i] = kept;
    }
    struct stat status;
    if (reason == 0 && stat(path, &status) != 0) {
        reason = errno;
    } else if (reason == 0 && !S_ISDIR(status.st_mode)) {
        reason = ENOTDIR;
    }
    if (reason != 0) {
        fail(error, "make the folder", folder, reason);
        remove_folders(folder, *made_from);
    }
    free(path);
    return reason == 0;
}

static bool write_whole(const char *path, struct report_partial *output, const struct report_bytes *content,
                        struct sim_error *error)
{
    const char *step = "open";
    int reason = report_partial_open(output, path, false);
    if (reason == 0) {
        step = "write";
        reason = report_partial_write(output, content->data, content->size);
    }
    if (reason == 0) {
        step = "flush";
        reason = report_partial_sync(output);
    }
    return reason == 0 ? true : fail(error, step, path, reason);
}

bool report_output(const char *folder, char *const *paths, const struct report_bytes *contents, size_t count,
                   struct sim_error *error)
{
    size_t made_from = 0;
    if (!make_folder(folder, &made_from, error)) {
        return false;
    }
    struct report_partial *outputs = calloc(count > 0 ? count : 1, sizeof *outputs);
    bool ok = outputs != NULL ? true : sim_fail_memory(error);
    for (size_t i = 0; ok && i < count; i++) {
        ok = write_whole(paths[i], &outputs[i], &contents[i], error);
    }
    for (size_t i = 0; outputs != NULL && i < count; i++) {
        int reason = report_partial_end(&outputs[i], ok);
        ok = ok && (reason == 0 || fail(error, "rename", paths[i], reason));
    }
    free(outputs);
    if (!ok) {
        remove_folders(folder, made_from);
    }
    return ok;
}

/* Each character that is not an ASCII letter, an ASCII digit, '-' or '_' becomes one '-'. */
char *report_output_path(const char *folder, const char *scenario, bool is_tuned, const char *chart,
                         const char *extension)
{
    char stem[STEM_SIZE_MAX + 1];
    size_t used = 0;
    for (const char *at = scenario != NULL ? scenario : ""; *at != 0 && used < STEM_SIZE_MAX; at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                        (*at >= '0' && *at <= '9') || *at == '-' || *at == '_';
        bool continues_utf8 = ((unsigned char)*at & 0xC0) == 0x80;
        if (is_plain) {
            stem[used++] = *at;
        } else if (!continues_utf8) {
            stem[used++] = '-';
        }
    }
    stem[used] = 0;
    size_t folder_length = strlen(folder);
    const char *slash = folder_length == 0 || folder[folder_length - 1] == '/' ? "" : "/";
    size_t size = folder_length + used + (chart != NULL ? strlen(chart) : 0) + strlen(extension) + 32;
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s%s%s%s%s%s.%s", folder, slash, used > 0 ? stem : "scenario",
                 is_tuned ? "-tune" : "", chart != NULL ? "-" : "", chart != NULL ? chart : "", extension);
    }
    return path;
}

void report_bytes_free(struct report_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct report_bytes){0};
}
