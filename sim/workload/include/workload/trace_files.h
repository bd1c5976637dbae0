/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a trace consists of: itself, or all of a folder's that look like rows, in order of their
 * names, as DSBulk unloads a table. */
#ifndef WORKLOAD_TRACE_FILES_H
#define WORKLOAD_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

struct wl_trace_files {
    char **paths;
    size_t count, capacity;
    uint64_t bytes; /* of all */
};

/* Of a folder: its files *.csv, *.tsv, *.txt, *.json, *.jsonl and *.ndjson, also with .gz or .zst behind;
 * none is an error. A path that is no folder is not looked at. Clear it even after a failure. */
bool wl_trace_files_find(const char *path, struct wl_trace_files *out, struct sim_error *error);
void wl_trace_files_clear(struct wl_trace_files *files);

#endif
