/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives the position of a key's stream of rows, but not the workload that it belongs to. Loading needs a
 * stream that was initialised for the same key of the same workload. */
#ifndef WORKLOAD_ROWS_ARCHIVE_H
#define WORKLOAD_ROWS_ARCHIVE_H

#include "kernel/archive.h"
#include "workload/rows.h"

void wl_key_archive(struct wl_key *key, struct sim_archive *archive);
void wl_rows_archive(struct wl_rows *rows, struct sim_archive *archive);

#endif
