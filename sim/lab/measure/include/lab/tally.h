/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a strategy has done so far: sizes of partitions as histograms, costs, reads, digest. Each worker has
 * one for each strategy; tallies merge by addition. */
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
#include "lab/slices.h"

struct lab_stored;

/* What a strategy has done so far on the keys of one worker. */
struct lab_tally {
    struct lab_histogram closed_rows, open_rows, closed_bytes, open_bytes;
    struct lab_read_tally reads, reads_of[LAB_READ_KINDS]; /* the latter of several kinds only */
    struct lab_slices slices;
    uint64_t over_limit, over_limit_rows, over_limit_bytes, tiny;
    struct lab_largest largest[LAB_SIZE_UNITS];
    struct cass_partition
        key_most;           /* the most rows of a key, and the most bytes, as one partition would have them */
    uint64_t payload_bytes; /* of the rows' values alone */
    uint64_t rows, counter_increments, state_reads, state_writes;
    uint64_t lwt, lock_ops, rows_scanned, retried, duplicated, misrouted; /* of a cluster run */
    uint64_t peak_rows_per_s;
    /* With a time to live, or deletes: of each partition the live rows and the tombstones at the end. */
    struct lab_histogram live_rows, tombstones;
    uint64_t rows_deleted, rows_expired, emptied;
    uint64_t tombstones_read, tombstone_warnings, reads_failed, deletes_lost; /* of a cluster run */
    uint64_t late_rows;                  /* that came later than their own time says */
    uint64_t rows_into_closed, reopened; /* rows put into closed partitions; such partitions */
    uint64_t placement_digest;
    struct cass_node_load *nodes; /* one for each node of the ring */
    struct lab_stored *stored;    /* what the table keeps of it (stored.h), where the scenario has one */
    bool out_of_memory;           /* sticky */
};

/* Who the key is, and what a lane needs of the run. */
struct lab_key_name {
    const char *text;
    size_t size;
    uint64_t index;
};

/* A row of a partition came in this second, which the number of the key's first row in it stands for; `last`
 * and `rows` are the partition's own. */
static inline void lab_watch_second(uint64_t second, uint64_t *last, uint32_t *rows, struct lab_tally *tally)
{
    if (*last != second)
        *rows = 0;
    *last = second;
    if (++*rows > tally->peak_rows_per_s)
        tally->peak_rows_per_s = *rows;
}

/* A sum beyond 2^64 - 1 stays there: over every limit, rather than small again. */
static inline void lab_bytes_add(uint64_t *sum, uint64_t bytes)
{
    *sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
}

/* Without `stored`, and without the run's span for `slices`. */
bool lab_tally_init(struct lab_tally *tally, uint32_t nodes);
void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes);
/* A partition as it is at the end: its sizes, and the limits that it passes. first_ns: of its first row. */
void lab_tally_partition(struct lab_tally *tally, const struct lab_limits *limits,
                         const struct cass_partition *partition, int64_t first_ns, bool is_closed);
/* Keeps it when it is the largest so far. */
void lab_tally_largest(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                       const struct cass_partition *partition);
/* All rows of a key, and what they would weigh in one partition. */
void lab_tally_key(struct lab_tally *tally, const struct cass_partition *whole);
void lab_tally_clear(struct lab_tally *tally);
/* Both ways; loading takes one that was made for the same scenario, and lab_tally_clear() is due in any case.
 */
void lab_tally_archive(struct lab_tally *tally, struct sim_archive *archive, uint32_t nodes);
/* What is left of a partition at the end. */
void lab_tally_left(struct lab_tally *tally, uint64_t live, uint64_t tombstones);

#endif
