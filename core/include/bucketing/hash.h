/* SPDX-License-Identifier: MIT */
/* The two hashes of bucketing: murmur3_128 (x64) and Guava's consistent hash, bit for bit.
 *
 * Sources: Appleby, smhasher MurmurHash3.cpp (public domain); google/guava Hashing.consistentHash;
 * Cassandra's variant apache/cassandra utils/MurmurHash.java, which sign-extends the bytes of the tail (those
 * >= 0x80 differ).
 *
 * All are pure, keep nothing, and may be called from any thread.
 *
 * Example: which of 64 buckets Guava's hashLong() puts an id into.
 *
 *     struct bk_hash128 hash = bk_murmur3_128_u64(id);
 *     int32_t bucket = bk_consistent_hash(hash.h1, 64);
 */
#ifndef BUCKETING_HASH_H
#define BUCKETING_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "bucketing/api.h"

BK_BEGIN

struct bk_hash128 {
    uint64_t h1,
        h2; /* Guava's HashCode.asLong() is h1; toString() prints h1 then h2, each little end first */
};

/* data: read only, any alignment; may be NULL when size, in bytes, is 0. Linear in size. */
struct bk_hash128 bk_murmur3_128(const void *data, size_t size, uint64_t seed);
/* As Cassandra computes it (its seed is 0); a token is h1, normalised by the caller. */
struct bk_hash128 bk_murmur3_128_cassandra(const void *data, size_t size, uint64_t seed);
/* bk_murmur3_128() of the eight bytes of value, little end first, seed 0. */
struct bk_hash128 bk_murmur3_128_u64(uint64_t value);

/* Guava's Hashing.consistentHash(input, buckets), 32-bit overflow included; buckets from 1 to 2^31 - 1, else
 * -1. From n to n + 1 buckets one input in n + 1 moves, and to the new bucket. Cost: ln(buckets) steps. */
int32_t bk_consistent_hash(uint64_t input, uint32_t buckets);
/* bk_consistent_hash() of `count` inputs at once; out has room for `count`, and does not overlap the inputs.
 */
void bk_consistent_hashes(const uint64_t *inputs, size_t count, uint32_t buckets, int32_t *out);

BK_END
#endif
