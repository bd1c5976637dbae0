/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tally: the statistics of one strategy, such as histograms of partition sizes, costs, reads and the
 * digest. Each worker has one per strategy; tallies merge by addition. */
#ifndef LAB_TALLY_H
#define LAB_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/partition.h"
#include "kernel/archive.h"
#include "kernel/digest.h"
#include "lab/histogram.h"
#include "lab/largest.h"
#include "lab/reads.h"
#include "lab/scenario.h"
#include "lab/sizes.h"
#include "lab/slices.h"

struct lab_stored;

/* The statistics of a strategy over the keys of one worker. */
struct lab_tally {
    struct lab_histogram closed_rows, open_rows, closed_bytes, open_bytes; /* without bins, if is_raced */
    bool is_raced;                                                         /* as lab_scenario.is_raced */
    struct lab_sizes sizes[LAB_SIZE_UNITS]; /* of all partitions, if is_raced */
    struct lab_read_tally reads,
        reads_of[LAB_READ_KINDS]; /* reads_of: per kind, if there are several kinds */
    struct lab_slices slices;
    uint64_t over_limit, over_limit_rows, over_limit_bytes, tiny;
    int64_t first_over_ns; /* when the first partition exceeded a limit; INT64_MAX: none has */
    struct lab_largest largest[LAB_SIZE_UNITS];
    struct cass_partition
        key_most;           /* the most rows and the most bytes of a key, as if each key were one partition */
    uint64_t payload_bytes; /* bytes of the rows' values only */
    uint64_t placed;        /* rows that partitions got; one in several buckets counts once */
    uint64_t rows, counter_increments, state_reads, state_writes;
    uint64_t lwt, lock_ops, rows_scanned, retried, duplicated, misrouted; /* only in a cluster run */
    uint64_t peak_rows_per_s;
    /* With a time to live or deletes: the live rows and the tombstones of each partition at the end of the
     * run. */
    struct lab_histogram live_rows, tombstones;
    uint64_t rows_deleted, rows_expired, emptied;
    uint64_t tombstones_read, tombstone_warnings, reads_failed, deletes_lost; /* only in a cluster run */
    uint64_t late_rows; /* rows that arrived after their own time */
    uint64_t rows_into_closed,
        reopened; /* number of rows written to closed partitions, and number of these partitions */
    uint64_t placement_digest;
    struct cass_node_load *nodes; /* one for each node of the ring */
    struct lab_stored *stored;    /* what the table stores (stored.h), if the scenario has a table */
    bool out_of_memory;           /* never cleared */
};

/* A key: its name and its index. */
struct lab_key_name {
    const char *text;
    size_t size;
    uint64_t index;
};

/* Counts a row of a partition towards its peak of rows per second. `second` is the number of the key's first
 * row in that second, which identifies it. *last and *rows are the partition's last second and its rows in
 * that second. */
static inline void lab_watch_second(uint64_t second, uint64_t *last, uint32_t *rows, struct lab_tally *tally)
{
    if (*last != second)
        *rows = 0;
    *last = second;
    if (++*rows > tally->peak_rows_per_s)
        tally->peak_rows_per_s = *rows;
}

/* Adds with saturation at 2^64 - 1, which exceeds every limit, instead of wrapping around. */
static inline void lab_bytes_add(uint64_t *sum, uint64_t bytes)
{
    *sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
}

static inline bool lab_is_over(const struct lab_limits *limits, const struct cass_partition *partition)
{
    return (limits->partition_rows != 0 && partition->rows > limits->partition_rows) ||
           (limits->partition_bytes != 0 && partition->bytes > limits->partition_bytes);
}
static inline void lab_tally_over(struct lab_tally *tally, int64_t time_ns)
{
    tally->first_over_ns = time_ns < tally->first_over_ns ? time_ns : tally->first_over_ns;
}

/* Initialises a tally; `stored` is NULL, and `slices` must still be begun. Returns false when out of
 * memory. */
bool lab_tally_init(struct lab_tally *tally, uint32_t nodes);
void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes);
/* The same; `from` need not keep its content, and must only be cleared. */
void lab_tally_move(struct lab_tally *into, struct lab_tally *from, uint32_t nodes);
/* Adds a partition as it is at the end of the run: its sizes, and the limits that it exceeds. first_ns: time
 * of its first row. */
void lab_tally_partition(struct lab_tally *tally, const struct lab_limits *limits,
                         const struct cass_partition *partition, int64_t first_ns, bool is_closed);
/* Records the partition if it is the largest so far. */
void lab_tally_largest(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                       const struct cass_partition *partition);
/* Adds a key: all of its rows, and their size if they were in one partition. */
void lab_tally_key(struct lab_tally *tally, const struct cass_partition *whole);
void lab_tally_clear(struct lab_tally *tally);
/* Saves or loads. Loading needs a tally that was made for the same scenario; lab_tally_clear() must be called
 * even after a failure. */
void lab_tally_archive(struct lab_tally *tally, struct sim_archive *archive, uint32_t nodes);
/* Adds the live rows and the tombstones that a partition has at the end. */
void lab_tally_left(struct lab_tally *tally, uint64_t live, uint64_t tombstones);

#endif
