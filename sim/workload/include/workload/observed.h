/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes of partitions as a running Cassandra tells them, plain or gzip, read as a stream.
 *
 * WL_OBSERVED_PARTITIONS is what `sstablepartitions --csv --min-size 0` prints: a line for each partition of
 * each sstable (apache/cassandra, tools/SSTablePartitions.java). The pieces of a partition that lies in
 * several sstables are added up; as a row may stand in several of them too, the sum is an upper bound.
 * WL_OBSERVED_PERCENTILES is what `nodetool tablehistograms` prints (tools/nodetool/TableHistograms.java):
 * seven points of the distribution of sizes, bounds of Cassandra's own buckets, over the pieces in sstables.
 *
 * Errors name file and line: "sstables.csv:17: size '1,024' is not a whole number; ...". */
#ifndef WORKLOAD_OBSERVED_H
#define WORKLOAD_OBSERVED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

/* AUTO: as the file looks. */
enum wl_observed_format { WL_OBSERVED_AUTO, WL_OBSERVED_PARTITIONS, WL_OBSERVED_PERCENTILES };

/* "sstablepartitions", "tablehistograms", "auto". */
const char *wl_observed_format_name(enum wl_observed_format format);

struct wl_observed_partition {
    uint64_t bytes; /* at least 1 */
    uint64_t rows;  /* 0: none but what is deleted, or not known */
};

/* The sizes of tablehistograms: from the least possible to the greatest possible one. */
enum wl_observed_point {
    WL_OBSERVED_MIN, /* no partition is smaller */
    WL_OBSERVED_P50, /* these: the bound of the bucket that holds the percentile */
    WL_OBSERVED_P75,
    WL_OBSERVED_P95,
    WL_OBSERVED_P98,
    WL_OBSERVED_P99,
    WL_OBSERVED_MAX, /* no partition is larger */
    WL_OBSERVED_POINTS
};

/* Of several equally large ones the first in the file. */
#define WL_OBSERVED_KEY_SIZE 256
struct wl_observed_largest {
    char key[WL_OBSERVED_KEY_SIZE]; /* as the tool prints it, cut between two characters; else 0x and hex */
    uint64_t size;                  /* 0: there is none */
    size_t partition;
};

struct wl_observed {
    enum wl_observed_format format; /* never AUTO */
    char *table;                    /* "keyspace.table", ".index" behind it; "" where the file does not say */
    /* WL_OBSERVED_PARTITIONS */
    struct wl_observed_partition *partitions; /* in order of first appearance; at least one */
    size_t partition_count;
    uint64_t pieces; /* lines of this table */
    bool has_rows;   /* some piece has rows; without, their numbers were not asked for */
    struct wl_observed_largest largest_rows, largest_bytes; /* where rows are known of those that have any */
    /* WL_OBSERVED_PERCENTILES */
    uint64_t points[WL_OBSERVED_POINTS]; /* bytes; none is below the one before */
};

/* table: "keyspace.table" of a file that holds several, or NULL. stop (which may be NULL) ends the reading
 * soon, with an error of class SIM_ERROR_CHECK. On failure *out is empty. */
bool wl_observed_read(const char *path, enum wl_observed_format format, const char *table,
                      const _Atomic bool *stop, struct wl_observed *out, struct sim_error *error);
void wl_observed_clear(struct wl_observed *observed); /* an empty one is fine */

#endif
