/* SPDX-License-Identifier: MIT */
/* The parts of murmur3_128 (Austin Appleby) that hash.c and the loops over many ids share. */
#ifndef BUCKETING_MURMUR_H
#define BUCKETING_MURMUR_H

#include <stdint.h>

#define MURMUR_C1    UINT64_C(0x87c37b91114253d5)
#define MURMUR_C2    UINT64_C(0x4cf5ad432745937f)
#define MURMUR_MIX_1 UINT64_C(0xff51afd7ed558ccd)
#define MURMUR_MIX_2 UINT64_C(0xc4ceb9fe1a85ec53)

static inline uint64_t murmur_rotl(uint64_t x, int r)
{
    return (x << r) | (x >> (64 - r));
}

static inline uint64_t murmur_mix(uint64_t k)
{
    k = (k ^ (k >> 33)) * MURMUR_MIX_1;
    k = (k ^ (k >> 33)) * MURMUR_MIX_2;
    return k ^ (k >> 33);
}

static inline uint64_t murmur_k1(uint64_t k1)
{
    return murmur_rotl(k1 * MURMUR_C1, 31) * MURMUR_C2;
}

static inline void murmur_finish(uint64_t *h1, uint64_t *h2, uint64_t size)
{
    uint64_t a = *h1 ^ size, b = *h2 ^ size;
    a += b;
    b += a;
    a = murmur_mix(a);
    b = murmur_mix(b);
    *h1 = a + b;
    *h2 = *h1 + b;
}

/* The hash of the eight bytes of value, in little-endian order. */
static inline void murmur_u64(uint64_t value, uint64_t *h1, uint64_t *h2)
{
    *h1 = murmur_k1(value);
    *h2 = 0;
    murmur_finish(h1, h2, sizeof value);
}

#endif
