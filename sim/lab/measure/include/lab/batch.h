/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch: the rows that are passed to a lane in one call. */
#ifndef LAB_BATCH_H
#define LAB_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define LAB_BATCH_ROWS 512

struct lab_horizon;

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
    const struct lab_horizon *horizon;
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

#endif
