/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The placement digest: 64 bits over the buckets of all rows of all keys.
 *
 * Within a key it folds (row index, bucket) each time the bucket changes, and the number of rows at the end.
 * This determines the whole sequence of buckets, and has no cost for a run of rows in one bucket. The digest
 * is the sum of a hash of (key, fold) over all keys, so partial digests of disjoint sets of keys merge by
 * addition, in any order. */
#ifndef KERNEL_DIGEST_H
#define KERNEL_DIGEST_H

#include <stdint.h>

#include "kernel/random.h"

struct sim_placement {
    uint64_t fold;
    uint64_t rows;
    int64_t bucket;
};

static inline void sim_placement_init(struct sim_placement *placement)
{
    *placement = (struct sim_placement){.fold = UINT64_C(0x243f6a8885a308d3)};
}

/* Adds the key's next `rows` rows, at least 1, which are all in `bucket`. */
static inline void sim_placement_add(struct sim_placement *placement, int64_t bucket, uint64_t rows)
{
    if (placement->rows == 0 || bucket != placement->bucket) {
        uint64_t fold = placement->fold ^ (placement->rows * UINT64_C(0x9e3779b97f4a7c15));
        placement->fold = sim_mix64(fold + (uint64_t)bucket * UINT64_C(0xd1342543de82ef95));
        placement->bucket = bucket;
    }
    placement->rows += rows;
}

/* The key's summand of the digest; 0 for a key without rows. */
static inline uint64_t sim_placement_finish(const struct sim_placement *placement, uint64_t key_index)
{
    if (placement->rows == 0)
        return 0;
    return sim_mix64(sim_mix64(placement->fold ^ placement->rows) + key_index * UINT64_C(0x9e3779b97f4a7c15));
}

/* One digest over an ordered list: start with 0, then digest = sim_digest_chain(digest, part). */
static inline uint64_t sim_digest_chain(uint64_t digest, uint64_t part)
{
    return sim_mix64(sim_rotl64(digest, 23) + part + UINT64_C(0x9e3779b97f4a7c15));
}

#endif
