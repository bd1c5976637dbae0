/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table stores of the rows that a strategy writes: its partitions are those of the table's partition
 * key, and of several rows with the same primary key it keeps only the latest.
 *
 * A lane adds rows in batches. At the end of the run, the results replace what the lane has tallied for its
 * partitions (key, bucket). If the key is in the partition key, a synthetic workload is finished key by key;
 * otherwise everything is kept until the end, and the results of several workers merge to the same result in
 * any order. */
#ifndef LAB_STORED_H
#define LAB_STORED_H

#include "cassandra/ring.h"
#include "lab/batch.h"
#include "lab/tally.h"

struct lab_stored;

/* Makes the table of one strategy for one worker. NULL when out of memory. */
struct lab_stored *lab_stored_create(const struct lab_scenario *scenario, const struct cass_ring *ring);
void lab_stored_destroy(struct lab_stored *stored); /* stored may be NULL */
/* Must be called before the first row, with the start and the end of the run. */
void lab_stored_begin(struct lab_stored *stored, int64_t start_ns, int64_t end_ns);
/* Adds the rows [from, to) of the batch, which the strategy has placed into the bucket. */
void lab_stored_rows(struct lab_stored *stored, const struct lab_key_name *key, const struct lab_batch *batch,
                     size_t from, size_t to, int64_t bucket);
/* Called when the key has no more rows; its buckets below `current` are closed. */
void lab_stored_key_end(struct lab_stored *stored, const struct lab_key_name *key, int64_t current);
/* Saves or loads, between two batches. Loading needs one that was made for the same scenario and has
 * begun. */
void lab_stored_archive(struct lab_stored *stored, struct sim_archive *archive);
void lab_stored_merge(struct lab_stored *into, const struct lab_stored *from);
/* Called after the last row: replaces partitions, limits, load and peak in the tally. Returns false when
 * there were more than LAB_TUPLES_MAX tuples; the results are then wrong. */
bool lab_stored_settle(struct lab_stored *stored, struct lab_tally *tally);

/* Results after lab_stored_settle(). */
struct lab_stored_figures {
    uint64_t rows;                     /* rows stored at the end */
    uint64_t overwritten;              /* rows that a later row has overwritten */
    uint64_t most_written;             /* the most rows written to one partition */
    uint64_t minute_rows, minute_most; /* rows written; and the sum over all minutes of the rows of that
                                          minute's busiest partition */
};
const struct lab_stored_figures *lab_stored_figures(const struct lab_stored *stored);

#endif
