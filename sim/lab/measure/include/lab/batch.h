/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows that a lane takes at once. */
#ifndef LAB_BATCH_H
#define LAB_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct lab_horizon;

/* Rows of one key in time order, as columns. */
struct lab_batch {
    const int64_t *times_ns;
    const int64_t *own_ns;  /* the rows' own times, in no order; NULL: those of their arrival */
    const int64_t *late_ns; /* how late each is; NULL: none */
    const uint64_t *ids;
    const uint64_t *bytes;       /* of each row's payload; NULL when no strategy goes by it */
    const uint32_t *gone_before; /* count + 1 running sums of the rows that have expired or were deleted at
                                    the end; NULL: none */
    const uint64_t
        *bytes_before; /* count + 1 running sums of what rows weigh; NULL when each weighs bytes_each */
    const uint64_t *second_begin; /* the number of the key's first row in the row's whole second; only where
                                     most_in_second is above 0 */
    uint64_t last_second;         /* the same of the second under way at the batch's end */
    uint64_t bytes_each;
    uint64_t first_row;      /* number within the key of row 0 of the batch */
    uint64_t most_in_second; /* the longest run of the key's rows within one second, up to the batch's end */
    size_t count;
    const struct lab_horizon *horizon;
};

/* What strategies go by; 0 where none does. */
static inline uint64_t lab_batch_payload(const struct lab_batch *batch, size_t row)
{
    return batch->bytes == NULL ? 0 : batch->bytes[row];
}

static inline uint64_t lab_gone_between(const struct lab_batch *batch, size_t from, size_t to)
{
    return batch->gone_before == NULL ? 0 : batch->gone_before[to] - batch->gone_before[from];
}

#endif
