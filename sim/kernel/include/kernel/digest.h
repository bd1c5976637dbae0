/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The placement digest: 64 bits over the buckets of all rows of all keys.
 *
 * It is a sum, so neither the order of keys nor that of a key's buckets needs any care. A key's rows are
 * numbered; row n in bucket b adds w(b) * (m(n + 1) - m(n)), where w and m are hashes, so consecutive rows in
 * one bucket add w(b) * (m(end) - m(begin)), in one step. The digest is the sum, over all keys, of a hash of
 * the key, its sum and its number of rows. */
#ifndef KERNEL_DIGEST_H
#define KERNEL_DIGEST_H

#include <stdint.h>

#include "kernel/random.h"

/* Of one key; zeroed at first. */
struct sim_placement {
    uint64_t sum;
    uint64_t rows;
};

/* m(n) of the rows before row n. */
static inline uint64_t sim_placement_mark(uint64_t row)
{
    return sim_mix64(row * UINT64_C(0x9e3779b97f4a7c15));
}

/* w(b). It is odd, so that no two marks are equal under it. */
static inline uint64_t sim_placement_weight(int64_t bucket)
{
    return sim_mix64((uint64_t)bucket + UINT64_C(0x243f6a8885a308d3)) | 1;
}

/* Adds the key's next `rows` rows, at least 1, which are all in `bucket`. */
static inline void sim_placement_add(struct sim_placement *placement, int64_t bucket, uint64_t rows)
{
    const uint64_t begin = sim_placement_mark(placement->rows);
    placement->rows += rows;
    placement->sum += sim_placement_weight(bucket) * (sim_placement_mark(placement->rows) - begin);
}

/* What is added to the sum of a key if row `row` is in bucket `to`, and was added as a row of `from`. */
static inline uint64_t sim_placement_moved(uint64_t row, int64_t from, int64_t to)
{
    return (sim_placement_weight(to) - sim_placement_weight(from)) *
           (sim_placement_mark(row + 1) - sim_placement_mark(row));
}

/* The key's summand of the digest; 0 for a key without rows. */
static inline uint64_t sim_placement_finish(const struct sim_placement *placement, uint64_t key_index)
{
    if (placement->rows == 0)
        return 0;
    return sim_mix64(sim_mix64(placement->sum + placement->rows * UINT64_C(0xd1342543de82ef95)) +
                     key_index * UINT64_C(0x9e3779b97f4a7c15));
}

/* One digest over an ordered list: start with 0, then digest = sim_digest_chain(digest, part). */
static inline uint64_t sim_digest_chain(uint64_t digest, uint64_t part)
{
    return sim_mix64(sim_rotl64(digest, 23) + part + UINT64_C(0x9e3779b97f4a7c15));
}

#endif
