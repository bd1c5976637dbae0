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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/ring.h"
#include "lab/scenario.h"
#include "lab/tally.h"

/* A batch: the rows that are passed to a lane in one call. */
#define LAB_BATCH_ROWS 512

/* Rows of one key in time order, as columns. */
struct lab_batch {
    const int64_t *times_ns;
    const int64_t *own_ns;  /* the rows' own times, in any order; NULL: equal to the times of arrival */
    const int64_t *late_ns; /* lateness of each row; NULL: no row is late */
    const uint64_t *ids;
    const uint64_t *bytes;       /* size of each row's payload; NULL when no strategy uses it */
    const uint32_t *gone_before; /* count + 1 running sums: gone_before[i] of the rows before row i will have
                                    expired or been deleted by the end of the run; NULL: none */
    const uint64_t
        *bytes_before; /* count + 1 running sums of the sizes of rows; NULL when every row has bytes_each */
    const uint64_t *second_begin; /* for each row, the number of the key's first row in the same second; only
                                     if most_in_second is above 0 */
    uint64_t last_second; /* the number of the key's first row in the second in which the batch ends */
    uint64_t bytes_each;
    uint64_t first_row;      /* number, within the key, of the batch's row 0 */
    uint64_t most_in_second; /* largest number of the key's rows within one second, up to the batch's end */
    /* Of the key's partitions, only one with more rows than over_rows or more bytes of rows than over_bytes
     * can exceed a limit; UINT64_MAX: none can in this batch. */
    uint64_t over_rows, over_bytes;
    size_t count;
};

/* The payload of a row in bytes; 0 when no strategy uses it. */
static inline uint64_t lab_batch_payload(const struct lab_batch *batch, size_t row)
{
    return batch->bytes == NULL ? 0 : batch->bytes[row];
}

/* The bytes of the rows [from, to). */
static inline uint64_t lab_batch_bytes(const struct lab_batch *batch, size_t from, size_t to)
{
    return batch->bytes_before == NULL ? (to - from) * batch->bytes_each
                                       : batch->bytes_before[to] - batch->bytes_before[from];
}

static inline uint64_t lab_gone_between(const struct lab_batch *batch, size_t from, size_t to)
{
    return batch->gone_before == NULL ? 0 : batch->gone_before[to] - batch->gone_before[from];
}

/* Values of the columns with LAB_FEED_VALUES: drawn independently for each row of a key, equal under every
 * strategy, and combined into one number. */
struct lab_value_column {
    uint32_t values;
    uint32_t column;     /* its index among the table's columns */
    const double *up_to; /* cumulative shares of the values; NULL: all values are equally frequent */
    uint64_t begin;      /* of the key's stream of draws */
};

struct lab_values {
    struct lab_value_column columns[LAB_COLUMNS_MAX]; /* columns of the partition key come first */
    size_t count;
    uint64_t combinations, partition_combinations;
    double *distributions; /* memory to which up_to points */
};

/* Takes the columns of the primary key or, with of_partition_alone, of the partition key. Returns false when
 * out of memory; lab_values_clear() must be called in any case. */
bool lab_values_init(struct lab_values *values, const struct lab_design *design, bool of_partition_alone);
void lab_values_clear(struct lab_values *values);
/* Chooses the key of the following calls. */
void lab_values_begin(struct lab_values *values, uint64_t seed, uint64_t key_hash);
/* The combination of values of the key's row with this number. Its remainder modulo partition_combinations is
 * the combination of the partition key's columns. */
uint64_t lab_values_of_row(const struct lab_values *values, uint64_t row);
/* The value of one column in such a combination. */
uint64_t lab_values_of_column(const struct lab_values *values, uint64_t combination, uint32_t column);

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
