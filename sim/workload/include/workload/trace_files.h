/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a trace: a single file, or all data files of a folder in the order of their names, as DSBulk
 * writes when it unloads a table. */
#ifndef WORKLOAD_TRACE_FILES_H
#define WORKLOAD_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

struct wl_trace_files {
    char **paths;
    size_t count, capacity;
    uint64_t bytes; /* total size of the files */
};

/* Lists the files of a folder that end in .csv, .tsv, .txt, .json, .jsonl or .ndjson, or in these with .gz or
 * .zst appended; an empty list is an error. A path that is not a folder is returned as the only file, without
 * a check. The caller must clear *out even after a failure. */
bool wl_trace_files_find(const char *path, struct wl_trace_files *out, struct sim_error *error);
void wl_trace_files_clear(struct wl_trace_files *files);

#endif
