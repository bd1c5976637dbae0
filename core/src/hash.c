/* SPDX-License-Identifier: MIT */
/* Murmur3 by Austin Appleby, and Cassandra's variant of it; random bits of ids; the consistent hash of Guava,
 * for one input and for many. */
#include <stdbool.h>

#include "bucketing/hash.h"
#include "bucketing/id.h"
#include "bucketing/route.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

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

static uint64_t mix_k2(uint64_t k2)
{
    return murmur_rotl(k2 * MURMUR_C2, 33) * MURMUR_C1;
}

/* Loads a little-endian number on any machine; compilers emit a single load where possible. */
static uint64_t load64(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* The bytes of the tail are XORed in, each shifted above the previous one. Cassandra's bytes are signed, so a
 * byte >= 0x80 also flips all higher bits. */
static struct bk_hash128 murmur3(const void *data, size_t size, uint64_t seed, uint64_t sign_extension)
{
    const uint8_t *bytes = data;
    uint64_t h1 = seed, h2 = seed;
    for (size_t blocks = size / 16; blocks > 0; blocks--, bytes += 16) {
        h1 = (murmur_rotl(h1 ^ murmur_k1(load64(bytes)), 27) + h2) * 5 + 0x52dce729;
        h2 = (murmur_rotl(h2 ^ mix_k2(load64(bytes + 8)), 31) + h1) * 5 + 0x38495ab5;
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
        h1 ^= murmur_k1(k[0]);
    murmur_finish(&h1, &h2, size);
    return (struct bk_hash128){h1, h2};
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
    struct bk_hash128 hash;
    murmur_u64(value, &hash.h1, &hash.h2);
    return hash;
}

/* Random bits of timeuuids, UUIDs v4 and v7, ULIDs, Snowflakes and other ids. */

#define VARIANT_MASK    0xc0u /* of byte 8 of a UUID; the variant's bits are 10 */
#define VARIANT_RFC9562 0x80u

/* For each kind: the size in bytes, 0 if any size is valid; and the UUID version, 0 if it is not a UUID. */
static const struct {
    const char *name;
    size_t size;
    unsigned version;
} kinds[BK_ID_KINDS] = {
    [BK_ID_TIMEUUID] = {"timeuuid", 16, 1},  [BK_ID_UUID4] = {"UUID v4", 16, 4},
    [BK_ID_UUID7] = {"UUID v7", 16, 7},      [BK_ID_ULID] = {"ULID", 16, 0},
    [BK_ID_SNOWFLAKE] = {"Snowflake", 8, 0}, [BK_ID_BYTES] = {"bytes", 0, 0},
};

static uint64_t load_big_endian(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

enum bk_status bk_id_bits(enum bk_id_kind kind, const void *id, size_t size, uint64_t *out)
{
    const uint8_t *bytes = id;
    if (out == NULL)
        return BK_ERROR_NULL;
    *out = 0;
    if (id == NULL)
        return BK_ERROR_NULL;
    if ((unsigned)kind >= BK_ID_KINDS || size == 0 || (kinds[kind].size > 0 && size != kinds[kind].size))
        return BK_ERROR_ID;
    unsigned version = kinds[kind].version;
    if (version > 0 && (bytes[6] >> 4 != version || (bytes[8] & VARIANT_MASK) != VARIANT_RFC9562))
        return BK_ERROR_ID;
    if (kind == BK_ID_UUID4)
        *out = load_big_endian(bytes + 8) << 2 | (bytes[7] & 3u);
    else
        *out = bk_murmur3_128(id, size, 0).h1;
    return BK_OK;
}

const char *bk_id_kind_name(enum bk_id_kind kind)
{
    return (unsigned)kind < BK_ID_KINDS ? kinds[kind].name : NULL;
}

/* The consistent hash of Guava, for one input and for many. It is a walk over buckets; each step needs a
 * pseudorandom draw and a division. Several walks are computed in parallel: four per register with SSE2,
 * eight with AVX2, sixteen with AVX-512. */

#define IDS_AT_ONCE 512u
#define WALK_FACTOR UINT64_C(2862933555777941757)

/* Continues a walk from its state and its candidate + 1. Returns the bucket. */
static int32_t walk(uint64_t state, int32_t next, uint32_t buckets)
{
    for (;;) {
        state = state * WALK_FACTOR + 1;
        uint32_t draw = (uint32_t)(state >> 33) + 1;
        /* Java's int overflows here: 2^31 becomes -2^31, the quotient is negative, and the walk ends with the
         * current candidate. */
        if (draw > INT32_MAX)
            return next - 1;
        double quotient = (double)next / ((double)draw / 0x1p31);
        if (quotient >= (double)buckets)
            return next - 1;
        next = (int32_t)quotient + 1;
    }
}

int32_t bk_consistent_hash(uint64_t input, uint32_t buckets)
{
    return buckets == 0 || buckets > INT32_MAX ? -1 : walk(input, 1, buckets);
}

#ifdef __SSE2__

/* Below this number of buckets, a quotient in single precision is rarely too inexact to decide a step. */
#define BUCKETS_BY_LANES (UINT32_C(1) << 14)
#define WALKS_AT_ONCE    512u
#define STRIDE           64u /* walks that are compacted together, with one bit per walk */
#define REGISTERS        2u
#define NEXT_STEPS       3u
#define FEW              4u /* at most this many walks are finished one by one */

struct walks {
    uint64_t state[WALKS_AT_ONCE];
    float next[WALKS_AT_ONCE];     /* candidate + 1 */
    uint16_t input[WALKS_AT_ONCE]; /* its index */
};

/* After this number of steps about half of the walks have ended: a walk takes ln(buckets) steps on
 * average. */
static unsigned first_steps(uint32_t buckets)
{
    return 1 + (32 - (unsigned)__builtin_clz(buckets)) * 5 / 9;
}

static inline void keep(struct walks *walks, size_t from, size_t input, size_t to)
{
    walks->state[to] = walks->state[from];
    walks->next[to] = walks->next[from];
    walks->input[to] = (uint16_t)input;
}

static void walk_again(const uint64_t *inputs, size_t input, uint32_t buckets, int32_t *out)
{
    out[input] = walk(inputs[input], 1, buckets);
}

/* Without AVX-512 there is no 64-bit multiplication, so it is composed of three 32-bit ones. */
#define MULTIPLY(op, x, factor)                                                                              \
    op(add_epi64)(                                                                                           \
        op(mul_epu32)(x, op(set1_epi64x)((int64_t)((factor)&UINT32_MAX))),                                   \
        op(slli_epi64)(op(add_epi64)(op(mul_epu32)(op(srli_epi64)(x, 32),                                    \
                                                   op(set1_epi64x)((int64_t)((factor)&UINT32_MAX))),         \
                                     op(mul_epu32)(x, op(set1_epi64x)((int64_t)((factor) >> 32)))),          \
                       32))

/* The first half of the states is in one register and the second half in another. A shuffle of their upper
 * halves keeps the order only within each 16 bytes. split() rearranges the states so that the shuffle is in
 * the order of the walks, and join() reverses this. */

#define OP_4(op) _mm_##op

static inline __m128i multiply_4(__m128i x, uint64_t factor)
{
    return MULTIPLY(OP_4, x, factor);
}

static inline void split_4(__m128i *first, __m128i *second)
{
    (void)first;
    (void)second;
}

static inline void join_4(__m128i *first, __m128i *second)
{
    split_4(first, second);
}

#define LANES 4u
#define LANES_TARGET
#define LANES_NAME(name)               name##_4
#define LANES_OP                       OP_4
#define LANES_INTS                     __m128i
#define LANES_FLOATS                   __m128
#define LANES_MASK                     __m128
#define LANES_LOAD(from)               _mm_loadu_si128((const __m128i *)(const void *)(from))
#define LANES_STORE(to, ints)          _mm_storeu_si128((__m128i *)(void *)(to), ints)
#define LANES_XOR(a, b)                _mm_xor_si128(a, b)
#define LANES_EACH(value)              _mm_set1_epi64x((int64_t)(value))
#define LANES_BITS(floats)             _mm_castps_si128(floats)
#define LANES_VALUES(ints)             _mm_castsi128_ps(ints)
#define LANES_NONE                     _mm_setzero_ps()
#define LANES_ALL                      LANES_VALUES(_mm_set1_epi32(-1))
#define LANES_OR(a, b)                 _mm_or_ps(a, b)
#define LANES_MASK_BITS(mask)          (uint32_t) _mm_movemask_ps(mask)
#define LANES_IF_BELOW(mask, a, b)     _mm_and_ps(mask, _mm_cmplt_ps(a, b))
#define LANES_IF_DIFFERENT(mask, a, b) _mm_and_ps(mask, _mm_cmpneq_ps(a, b))
#define LANES_CHOOSE(mask, a, b)       _mm_max_ps(_mm_and_ps(mask, a), b)
#include "consistent_lanes.h"

#define TARGET_8 __attribute__((target("avx2")))
#define OP_8(op) _mm256_##op

static TARGET_8 inline __m256i multiply_8(__m256i x, uint64_t factor)
{
    return MULTIPLY(OP_8, x, factor);
}

static TARGET_8 inline void split_8(__m256i *first, __m256i *second)
{
    __m256i lower = _mm256_permute2x128_si256(*first, *second, 0x20);
    *second = _mm256_permute2x128_si256(*first, *second, 0x31);
    *first = lower;
}

static TARGET_8 inline void join_8(__m256i *first, __m256i *second)
{
    split_8(first, second);
}

#define LANES                          8u
#define LANES_TARGET                   TARGET_8
#define LANES_NAME(name)               name##_8
#define LANES_OP                       OP_8
#define LANES_INTS                     __m256i
#define LANES_FLOATS                   __m256
#define LANES_MASK                     __m256
#define LANES_LOAD(from)               _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define LANES_STORE(to, ints)          _mm256_storeu_si256((__m256i *)(void *)(to), ints)
#define LANES_XOR(a, b)                _mm256_xor_si256(a, b)
#define LANES_EACH(value)              _mm256_set1_epi64x((int64_t)(value))
#define LANES_BITS(floats)             _mm256_castps_si256(floats)
#define LANES_VALUES(ints)             _mm256_castsi256_ps(ints)
#define LANES_NONE                     _mm256_setzero_ps()
#define LANES_ALL                      LANES_VALUES(_mm256_set1_epi32(-1))
#define LANES_OR(a, b)                 _mm256_or_ps(a, b)
#define LANES_MASK_BITS(mask)          (uint32_t) _mm256_movemask_ps(mask)
#define LANES_IF_BELOW(mask, a, b)     _mm256_and_ps(mask, _mm256_cmp_ps(a, b, _CMP_LT_OQ))
#define LANES_IF_DIFFERENT(mask, a, b) _mm256_and_ps(mask, _mm256_cmp_ps(a, b, _CMP_NEQ_UQ))
#define LANES_CHOOSE(mask, a, b)       _mm256_max_ps(_mm256_and_ps(mask, a), b)
#include "consistent_lanes.h"

#define TARGET_16 __attribute__((target("avx512f,avx512dq")))
#define OP_16(op) _mm512_##op

static TARGET_16 inline __m512i multiply_16(__m512i x, uint64_t factor)
{
    return _mm512_mullo_epi64(x, _mm512_set1_epi64((int64_t)factor));
}

static TARGET_16 inline void split_16(__m512i *first, __m512i *second)
{
    const __m512i upper = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    __m512i lower = _mm512_permutex2var_epi64(*first, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), *second);
    *second = _mm512_permutex2var_epi64(*first, upper, *second);
    *first = lower;
}

static TARGET_16 inline void join_16(__m512i *first, __m512i *second)
{
    const __m512i upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    __m512i lower = _mm512_permutex2var_epi64(*first, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), *second);
    *second = _mm512_permutex2var_epi64(*first, upper, *second);
    *first = lower;
}

#define LANES                          16u
#define LANES_TARGET                   TARGET_16
#define LANES_NAME(name)               name##_16
#define LANES_OP                       OP_16
#define LANES_INTS                     __m512i
#define LANES_FLOATS                   __m512
#define LANES_MASK                     __mmask16
#define LANES_LOAD(from)               _mm512_loadu_si512(from)
#define LANES_STORE(to, ints)          _mm512_storeu_si512(to, ints)
#define LANES_XOR(a, b)                _mm512_xor_si512(a, b)
#define LANES_EACH(value)              _mm512_set1_epi64((int64_t)(value))
#define LANES_BITS(floats)             _mm512_castps_si512(floats)
#define LANES_VALUES(ints)             _mm512_castsi512_ps(ints)
#define LANES_NONE                     0
#define LANES_ALL                      UINT16_MAX
#define LANES_OR(a, b)                 (__mmask16)((a) | (b))
#define LANES_MASK_BITS(mask)          (uint32_t)(mask)
#define LANES_IF_BELOW(mask, a, b)     _mm512_mask_cmp_ps_mask(mask, a, b, _CMP_LT_OQ)
#define LANES_IF_DIFFERENT(mask, a, b) _mm512_mask_cmp_ps_mask(mask, a, b, _CMP_NEQ_UQ)
#define LANES_CHOOSE(mask, a, b)       _mm512_mask_mov_ps(b, mask, a)
#include "consistent_lanes.h"

typedef void walk_lanes(const uint64_t *inputs, size_t count, uint32_t buckets, int32_t *out);

/* Selects the widest registers of the processor. This affects only the speed. */
static walk_lanes *widest(void)
{
    return __builtin_cpu_supports("avx512dq") ? walk_lanes_16
           : __builtin_cpu_supports("avx2")   ? walk_lanes_8
                                              : walk_lanes_4;
}

#endif

#define WALKS 6u

/* A walk is a chain of divisions, each of which depends on the previous one. So several walks are
 * interleaved. A walk that ends is replaced by that of the next input, with masks and multiplications instead
 * of a branch that the processor could not predict. */
static void walk_together(const uint64_t *inputs, size_t count, uint32_t buckets, int32_t *out)
{
    struct {
        size_t input; /* its index */
        uint64_t state;
        double next; /* candidate + 1 */
    } walks[WALKS];
    size_t next = 0;
    if (count > WALKS) {
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
                walks[i].input = (size_t)((walks[i].input & kept) | (next & ~kept));
                walks[i].state = (state & kept) | (inputs[next] & ~kept);
                walks[i].next = (double)(int64_t)quotient * (double)(int64_t)(1 - is_over) + 1;
                next += (size_t)is_over;
            }
        }
        for (size_t i = 0; i < WALKS; i++)
            out[walks[i].input] = walk(walks[i].state, (int32_t)walks[i].next, buckets);
    }
    for (; next < count; next++)
        out[next] = walk(inputs[next], 1, buckets);
}

void bk_consistent_hashes(const uint64_t *inputs, size_t count, uint32_t buckets, int32_t *out)
{
    if (buckets == 0 || buckets > INT32_MAX) {
        for (size_t i = 0; i < count; i++)
            out[i] = -1;
        return;
    }
#ifdef __SSE2__
    if (buckets <= BUCKETS_BY_LANES) {
        for (size_t some; count > 0; inputs += some, out += some, count -= some) {
            some = count < WALKS_AT_ONCE ? count : WALKS_AT_ONCE;
            widest()(inputs, some, buckets, out);
        }
        return;
    }
#endif
    walk_together(inputs, count, buckets, out);
}

static uint64_t hash_id(uint64_t id)
{
    uint64_t h1, h2;
    murmur_u64(id, &h1, &h2);
    return h1;
}

static void hash_ids(const uint64_t *ids, size_t count, uint64_t *hashes)
{
    size_t done = 0;
#ifdef __SSE2__
    /* With SSE2 alone, the processor's own multiplication is faster. */
    if (__builtin_cpu_supports("avx512dq"))
        done = hash_lanes_16(ids, count, hashes);
    else if (__builtin_cpu_supports("avx2"))
        done = hash_lanes_8(ids, count, hashes);
#endif
    for (; done < count; done++)
        hashes[done] = hash_id(ids[done]);
}

int32_t bk_bucket_of_id(uint64_t id, uint32_t buckets)
{
    return bk_consistent_hash(hash_id(id), buckets);
}

void bk_buckets_of_ids(const uint64_t *ids, size_t count, uint32_t buckets, int32_t *out)
{
    uint64_t hashes[IDS_AT_ONCE];
    for (size_t begin = 0; begin < count; begin += IDS_AT_ONCE) {
        size_t size = count - begin < IDS_AT_ONCE ? count - begin : IDS_AT_ONCE;
        hash_ids(ids + begin, size, hashes);
        bk_consistent_hashes(hashes, size, buckets, out + begin);
    }
}
