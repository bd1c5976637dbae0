/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table keeps of the rows that a strategy writes: partitions by the table's partition key, and of
 * several rows with one primary key the latest alone.
 *
 * It is fed by a lane, row by row, and in the end takes the place of what the lane has tallied of its own
 * partitions (key, bucket). Where the key stands in the partition key a synthetic workload is done with key
 * by key; else everything is kept until the end, and parts of several workers merge, in any order, to the
 * same.
 */
#ifndef LAB_STORED_H
#define LAB_STORED_H

#include "cassandra/ring.h"
#include "lab/batch.h"
#include "lab/tally.h"

struct lab_stored;

/* Of one strategy by one worker. NULL when out of memory. */
struct lab_stored *lab_stored_create(const struct lab_scenario *scenario, const struct cass_ring *ring);
void lab_stored_destroy(struct lab_stored *stored); /* NULL is fine */
/* Before the first row: the run's span. */
void lab_stored_begin(struct lab_stored *stored, int64_t start_ns, int64_t end_ns);
/* Rows [from, to) of the batch go to the bucket. */
void lab_stored_rows(struct lab_stored *stored, const struct lab_key_name *key, const struct lab_batch *batch,
                     size_t from, size_t to, int64_t bucket);
/* The key writes no more; buckets below `current` are closed to it. */
void lab_stored_key_end(struct lab_stored *stored, const struct lab_key_name *key, int64_t current);
/* Both ways, between two batches; loading takes one that was made for the same scenario and has begun. */
void lab_stored_archive(struct lab_stored *stored, struct sim_archive *archive);
void lab_stored_merge(struct lab_stored *into, const struct lab_stored *from);
/* All rows are over: puts partitions, limits, load and peak into the tally. False when there was more to
 * remember than LAB_TUPLES_MAX; the figures are then wrong. */
bool lab_stored_settle(struct lab_stored *stored, struct lab_tally *tally);

/* After lab_stored_settle(). */
struct lab_stored_figures {
    uint64_t rows;                     /* stored in the end */
    uint64_t overwritten;              /* written, and gone */
    uint64_t most_written;             /* to one partition */
    uint64_t minute_rows, minute_most; /* written; and of them, minute by minute, those of the partition that
                                          took the most */
};
const struct lab_stored_figures *lab_stored_figures(const struct lab_stored *stored);

#endif
