/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the files of a trace. */
#define _POSIX_C_SOURCE 200809L
#include "workload/trace_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/grow.h"

static bool ends_with(const char *name, size_t size, const char *end)
{
    size_t length = strlen(end);
    return size > length && memcmp(name + size - length, end, length) == 0;
}

static bool is_rows(const char *name)
{
    static const char *const ends[] = {".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson"};
    size_t size = strlen(name);
    size -= ends_with(name, size, ".gz") ? 3 : ends_with(name, size, ".zst") ? 4 : 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (name[0] != '.' && ends_with(name, size, ends[i]))
            return true;
    }
    return false;
}

static bool add(struct wl_trace_files *files, const char *folder, const char *name, struct sim_error *error)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    if (!sim_grow(&files->paths, &files->capacity, files->count + 1, sizeof *files->paths))
        return sim_fail_memory(error);
    char *path = malloc(size);
    if (path == NULL)
        return sim_fail_memory(error);
    snprintf(path, size, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name);
    files->paths[files->count++] = path;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        files->bytes += (uint64_t)status.st_size;
    return true;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

bool wl_trace_files_find(const char *path, struct wl_trace_files *out, struct sim_error *error)
{
    *out = (struct wl_trace_files){0};
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return add(out, "", path, error);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "%s: the folder cannot be read; check its permissions", path);
    const struct dirent *entry;
    bool ok = true;
    while (ok && (entry = readdir(folder)) != NULL)
        ok = !is_rows(entry->d_name) || add(out, path, entry->d_name, error);
    closedir(folder);
    if (ok && out->count == 0)
        return sim_fail(error, SIM_ERROR_INPUT, "%s: a folder without files of rows; name a CSV file", path);
    if (ok)
        qsort(out->paths, out->count, sizeof *out->paths, by_name);
    return ok;
}

void wl_trace_files_clear(struct wl_trace_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct wl_trace_files){0};
}
