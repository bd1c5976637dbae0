/* SPDX-License-Identifier: MIT */
/* The two hashes of bucketing: murmur3_128 (x64) and Guava's consistent hash, bit for bit.
 *
 * Sources: Appleby, smhasher MurmurHash3.cpp (public domain); google/guava Hashing.consistentHash;
 * Cassandra's variant apache/cassandra utils/MurmurHash.java, which sign-extends the bytes of the tail (those
 * >= 0x80 differ).
 *
 * All functions are pure and may be called from any thread.
 *
 * Example: which of 64 buckets Guava's hashLong() puts an id into.
 *
 *     struct bk_hash128 hash = bk_murmur3_128_u64(id);
 *     int32_t bucket = bk_consistent_hash(hash.h1, 64);
 * */
#ifndef BUCKETING_HASH_H
#define BUCKETING_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "bucketing/api.h"

BK_BEGIN

struct bk_hash128 {
    uint64_t h1, h2; /**< Guava's HashCode.asLong() is h1; toString() prints h1, then h2, each in
                        little-endian byte order */
};

/** Murmur3_128 (x64) of `size` bytes at data, which may have any alignment, and may be NULL when size is 0.
 * Cost: linear in size. */
struct bk_hash128 bk_murmur3_128(const void *data, size_t size, uint64_t seed);
/** As bk_murmur3_128(), but as Cassandra computes it. A token of Cassandra is h1 with seed 0; the caller
 * replaces INT64_MIN by INT64_MAX. */
struct bk_hash128 bk_murmur3_128_cassandra(const void *data, size_t size, uint64_t seed);
/** bk_murmur3_128() of the eight bytes of value in little-endian order, with seed 0. */
struct bk_hash128 bk_murmur3_128_u64(uint64_t value);

/** Guava's Hashing.consistentHash(input, buckets), including its 32-bit overflow. Returns a bucket from 0 to
 * buckets - 1, or -1 when buckets is not from 1 to 2^31 - 1. When the number of buckets grows from n to n +
 * 1, one input in n + 1 moves, always to the new bucket. Cost: ln(buckets) steps on average. */
int32_t bk_consistent_hash(uint64_t input, uint32_t buckets);
/** Sets out[i] to bk_consistent_hash(inputs[i], buckets) for `count` inputs; out must not overlap the
 * inputs. */
void bk_consistent_hashes(const uint64_t *inputs, size_t count, uint32_t buckets, int32_t *out);

BK_END
#endif
