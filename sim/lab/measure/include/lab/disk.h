/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a partition has on disk where rows expire. TimeWindowCompactionStrategy writes the rows of each
 * compaction window into one sstable, and drops it as a whole once its newest rows have expired and
 * gc_grace_seconds have passed. So a partition's size is that of its rows of the newest windows, and its
 * limits are judged by its largest size over time, which no longer grows with the run. */
#ifndef LAB_DISK_H
#define LAB_DISK_H

#include "cassandra/partition.h"
#include "lab/scenario.h"

#define LAB_GC_GRACE_NS  (INT64_C(864000) * 1000000000) /* gc_grace_seconds unless it is set */
#define LAB_DISK_WINDOWS 64u

/* The compaction windows of a run. */
struct lab_disk_windows {
    int64_t window_ns; /* 0: no row leaves the disk during the run, or before its partition ends */
    int64_t kept;      /* windows that make up the time to live and gc_grace_seconds */
};

/* A partition's rows on disk. */
struct lab_disk {
    int64_t window;                                        /* the newest with rows */
    struct cass_partition in[LAB_DISK_WINDOWS], now, most; /* in: by window, modulo their number */
};

/* strategy NULL: for the whole key. */
void lab_disk_windows_init(struct lab_disk_windows *out, const struct lab_scenario *scenario,
                           const struct lab_strategy *strategy, int64_t start_ns, int64_t end_ns);
/* The end of the window of this time. */
int64_t lab_disk_until(const struct lab_disk_windows *windows, int64_t time_ns);
/* Adds rows of one window, which must not be before earlier ones, and allocates *disk. False when out of
 * memory. */
bool lab_disk_add(struct lab_disk **disk, const struct lab_disk_windows *windows, int64_t time_ns,
                  uint64_t rows, uint64_t bytes);

#endif
