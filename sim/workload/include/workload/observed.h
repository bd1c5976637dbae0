/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the sizes of partitions that tools of a running Cassandra report, from a plain or compressed file.
 *
 * WL_OBSERVED_PARTITIONS is the output of `sstablepartitions --csv --min-size 0`: a line for each partition
 * of each sstable (apache/cassandra, tools/SSTablePartitions.java). The pieces of a partition that is in
 * several sstables are added up. The sum is an upper bound, since a row may be in several sstables too.
 * WL_OBSERVED_LARGEST is a SELECT from ScyllaDB's system.large_partitions, as CSV or as cqlsh prints it: the
 * same pieces, but only the large ones; or lines of a log, "Writing large partition"; or tablestats, which
 * has the largest size alone. WL_OBSERVED_PERCENTILES is the output of `nodetool tablehistograms`
 * (tools/nodetool/TableHistograms.java): seven points of the distribution of the sizes of the pieces in
 * sstables, each the bound of a bucket of Cassandra's histogram; or such a histogram.
 *
 * Errors name file and line: "sstables.csv:17: size '1,024' is not a whole number; ...". */
#ifndef WORKLOAD_OBSERVED_H
#define WORKLOAD_OBSERVED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

/* WL_OBSERVED_AUTO: the format is detected from the contents of the file. */
enum wl_observed_format {
    WL_OBSERVED_AUTO,
    WL_OBSERVED_PARTITIONS,
    WL_OBSERVED_PERCENTILES,
    WL_OBSERVED_LARGEST
};

/* The name of a format: "auto", "sstablepartitions", "tablehistograms", "large_partitions". */
const char *wl_observed_format_name(enum wl_observed_format format);

struct wl_observed_partition {
    uint64_t bytes; /* at least 1 */
    uint64_t rows;  /* 0: all rows are deleted, or the number is not known */
};

/* The points of tablehistograms, in ascending order of size. */
enum wl_observed_point {
    WL_OBSERVED_MIN, /* no partition is smaller */
    WL_OBSERVED_P50, /* this one and the other percentiles: the upper bound of the histogram bucket that
                        contains the percentile */
    WL_OBSERVED_P75,
    WL_OBSERVED_P95,
    WL_OBSERVED_P98,
    WL_OBSERVED_P99,
    WL_OBSERVED_MAX, /* no partition is larger */
    WL_OBSERVED_POINTS
};

/* The largest partition; of several equally large ones, the first in the file. */
#define WL_OBSERVED_KEY_SIZE 256
struct wl_observed_largest {
    char key[WL_OBSERVED_KEY_SIZE]; /* as the tool prints it, truncated between two characters; 0x and
                                       hexadecimal digits when it is not printable */
    uint64_t size;                  /* in bytes or rows; 0: there is no partition */
    size_t partition;
};

struct wl_observed {
    enum wl_observed_format format; /* never AUTO */
    char *table; /* "keyspace.table" or "keyspace.table.index"; "" when the file does not name it */
    /* WL_OBSERVED_PARTITIONS and WL_OBSERVED_LARGEST */
    struct wl_observed_partition *partitions; /* in order of first appearance; at least one */
    size_t partition_count;
    uint64_t pieces; /* number of lines of this table */
    uint64_t merged; /* of these, lines with the key of another, in a file that does not name the sstables */
    bool has_rows;   /* some piece has rows; false: the tool was not asked for the number of rows */
    struct wl_observed_largest largest_rows,
        largest_bytes; /* with has_rows, only partitions with rows count */
    /* WL_OBSERVED_PERCENTILES */
    uint64_t points[WL_OBSERVED_POINTS]; /* in bytes, never descending */
};

/* Reads a file. table: "keyspace.table" to select from a file with several tables; NULL: the file has only
 * one. stop: may be NULL; when another thread sets *stop, reading fails soon after with an error of class
 * SIM_ERROR_CHECK. Errors name file, line and remedy. On failure *out is empty; otherwise the caller must
 * clear it. */
bool wl_observed_read(const char *path, enum wl_observed_format format, const char *table,
                      const _Atomic bool *stop, struct wl_observed *out, struct sim_error *error);
/* Frees the contents; an empty struct is allowed. */
void wl_observed_clear(struct wl_observed *observed);

#endif
