/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A key's stream of rows as an archive: where it is, and not what it is a stream of. Loading takes one that
 * was begun for the same key of the same workload. */
#ifndef WORKLOAD_ROWS_ARCHIVE_H
#define WORKLOAD_ROWS_ARCHIVE_H

#include "kernel/archive.h"
#include "workload/rows.h"

void wl_key_archive(struct wl_key *key, struct sim_archive *archive);
void wl_rows_archive(struct wl_rows *rows, struct sim_archive *archive);

#endif
