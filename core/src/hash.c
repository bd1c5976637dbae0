/* SPDX-License-Identifier: MIT */
/* Murmur3 (Austin Appleby), with Cassandra's variant of it, and the consistent hash of Guava. */
#include "bucketing/hash.h"

#include <string.h>

#define MURMUR_C1 UINT64_C(0x87c37b91114253d5)
#define MURMUR_C2 UINT64_C(0x4cf5ad432745937f)

/* The generator that Guava's consistent hash draws from, and how many of its walks go on at once. */
#define WALK_FACTOR UINT64_C(2862933555777941757)
#define WALKS       6u

static uint64_t rotl64(uint64_t x, int r)
{
    return (x << r) | (x >> (64 - r));
}

static uint64_t fmix64(uint64_t k)
{
    k = (k ^ (k >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    k = (k ^ (k >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ (k >> 33);
}

static uint64_t mix_k1(uint64_t k1)
{
    return rotl64(k1 * MURMUR_C1, 31) * MURMUR_C2;
}

static uint64_t mix_k2(uint64_t k2)
{
    return rotl64(k2 * MURMUR_C2, 33) * MURMUR_C1;
}

/* Little end first on every machine; compilers make one load of it where they can. */
static uint64_t load64(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static struct bk_hash128 finish(uint64_t h1, uint64_t h2, uint64_t size)
{
    h1 ^= size;
    h2 ^= size;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    h1 += h2;
    h2 += h1;
    return (struct bk_hash128){h1, h2};
}

/* The tail's bytes are XORed in one above the other; Cassandra's are signed, so one >= 0x80 flips all bits
 * above. */
static struct bk_hash128 murmur3(const void *data, size_t size, uint64_t seed, uint64_t sign_extension)
{
    const uint8_t *bytes = data;
    uint64_t h1 = seed, h2 = seed;
    for (size_t blocks = size / 16; blocks > 0; blocks--, bytes += 16) {
        h1 = (rotl64(h1 ^ mix_k1(load64(bytes)), 27) + h2) * 5 + 0x52dce729;
        h2 = (rotl64(h2 ^ mix_k2(load64(bytes + 8)), 31) + h1) * 5 + 0x38495ab5;
    }
    uint64_t k[2] = {0, 0};
    size_t tail = size % 16;
    for (size_t i = 0; i < tail; i++) {
        uint64_t byte = bytes[i] | (bytes[i] & 0x80 ? sign_extension : 0);
        k[i / 8] ^= byte << (8 * (i % 8));
    }
    if (tail > 8)
        h2 ^= mix_k2(k[1]);
    if (tail > 0)
        h1 ^= mix_k1(k[0]);
    return finish(h1, h2, size);
}

struct bk_hash128 bk_murmur3_128(const void *data, size_t size, uint64_t seed)
{
    return murmur3(data, size, seed, 0);
}

struct bk_hash128 bk_murmur3_128_cassandra(const void *data, size_t size, uint64_t seed)
{
    return murmur3(data, size, seed, UINT64_C(0xffffffffffffff00));
}

struct bk_hash128 bk_murmur3_128_u64(uint64_t value)
{
    return finish(mix_k1(value), 0, sizeof value);
}

int32_t bk_consistent_hash(uint64_t input, uint32_t buckets)
{
    if (buckets == 0 || buckets > INT32_MAX)
        return -1;
    uint64_t state = input;
    int32_t candidate = 0;
    for (;;) {
        state = state * WALK_FACTOR + 1;
        uint32_t draw = (uint32_t)(state >> 33) + 1;
        /* Java's int wraps here: 2^31 becomes -2^31, the quotient negative, and the candidate stands. */
        if (draw > INT32_MAX)
            return candidate;
        double next = (double)(candidate + 1) / ((double)draw / 0x1p31);
        if (next >= (double)buckets)
            return candidate;
        candidate = (int32_t)next;
    }
}

/* One walk is a chain of divisions, each waiting for the last. So some walks go on side by side; the one that
 * ends makes room for the next input, with masks and products in place of a branch that nobody can guess. */
void bk_consistent_hashes(const uint64_t *inputs, size_t count, uint32_t buckets, int32_t *out)
{
    struct {
        size_t input; /* its index */
        uint64_t state;
        double next; /* candidate + 1 */
    } walks[WALKS];
    size_t next = 0;
    if (buckets > 0 && buckets <= INT32_MAX && count > WALKS) {
        for (; next < WALKS; next++) {
            walks[next].input = next;
            walks[next].state = inputs[next];
            walks[next].next = 1;
        }
        while (count - next >= WALKS) {
            for (size_t i = 0; i < WALKS; i++) {
                uint64_t state = walks[i].state * WALK_FACTOR + 1;
                uint64_t draw = (state >> 33) + 1;
                double quotient = walks[i].next / ((double)(int64_t)draw / 0x1p31);
                uint64_t is_over = (draw > INT32_MAX) | (quotient >= (double)buckets);
                uint64_t kept = is_over - 1; /* all bits, or none */
                out[walks[i].input] = (int32_t)walks[i].next - 1;
                walks[i].input = (walks[i].input & kept) | (next & ~kept);
                walks[i].state = (state & kept) | (inputs[next] & ~kept);
                walks[i].next = (double)(int64_t)quotient * (double)(int64_t)(1 - is_over) + 1;
                next += is_over;
            }
        }
        for (size_t i = 0; i < WALKS; i++)
            out[walks[i].input] = bk_consistent_hash(inputs[walks[i].input], buckets);
    }
    for (; next < count; next++)
        out[next] = bk_consistent_hash(inputs[next], buckets);
}
