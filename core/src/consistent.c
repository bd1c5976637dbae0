/* SPDX-License-Identifier: MIT */
/* The consistent hash of Guava, of one input and of many: a walk over buckets, each step a draw and a
 * division. Many walks go on side by side; with SSE2 four in a register. */
#include "bucketing/hash.h"

#include <stdbool.h>

#include "bucketing/route.h"
#include "murmur.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define IDS_AT_ONCE 512u
#define WALK_FACTOR UINT64_C(2862933555777941757)

/* A walk goes on: its state, and its candidate + 1. */
static int32_t walk(uint64_t state, int32_t next, uint32_t buckets)
{
    for (;;) {
        state = state * WALK_FACTOR + 1;
        uint32_t draw = (uint32_t)(state >> 33) + 1;
        /* Java's int wraps here: 2^31 becomes -2^31, the quotient negative, and the candidate stands. */
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

#define LANES 32u
#define FEW   4 /* so few walks are done one by one */
/* Below it quotients in single precision seldom leave a doubt, and products in double precision are exact. */
#define BUCKETS_BY_LANES (UINT32_C(1) << 14)

/* A lane has one walk, and the next input as soon as that is over. */
struct lanes {
    _Alignas(16) uint64_t state[LANES];
    _Alignas(16) float next[LANES]; /* candidate + 1 */
    size_t input[LANES];            /* its index */
    uint32_t live;                  /* a bit each */
};

/* There is no product of 64 bits: three of 32 make one. */
static __m128i next_states(const uint64_t *states)
{
    const __m128i low = _mm_set1_epi32((int)(uint32_t)WALK_FACTOR);
    const __m128i high = _mm_set1_epi32((int)(uint32_t)(WALK_FACTOR >> 32)), one = _mm_set_epi32(0, 1, 0, 1);
    __m128i state = _mm_load_si128((const __m128i *)states);
    __m128i cross = _mm_add_epi64(_mm_mul_epu32(_mm_srli_epi64(state, 32), low), _mm_mul_epu32(state, high));
    return _mm_add_epi64(_mm_add_epi64(_mm_mul_epu32(state, low), _mm_slli_epi64(cross, 32)), one);
}

/* A step of every walk. Returns those, a bit each, that may be over: their state has gone on, their candidate
 * has not. A quotient is off by less than 2^-22 of itself; where that leaves two whole numbers below it, it
 * is in doubt too. */
static uint32_t step(struct lanes *lanes, uint32_t buckets)
{
    const __m128 end = _mm_set1_ps((float)buckets * 0x1p-31f * (1 - 0x1p-20f)), one = _mm_set1_ps(1);
    const __m128 above = _mm_set1_ps(0x1p31f * (1 + 0x1p-21f)), below = _mm_set1_ps(0x1p31f * (1 - 0x1p-21f));
    uint32_t sure = 0;
    for (unsigned i = 0; i < LANES; i += 4) {
        __m128i first = next_states(&lanes->state[i]), second = next_states(&lanes->state[i + 2]);
        _mm_store_si128((__m128i *)&lanes->state[i], first);
        _mm_store_si128((__m128i *)&lanes->state[i + 2], second);
        __m128 high = _mm_shuffle_ps(_mm_castsi128_ps(first), _mm_castsi128_ps(second), 0xdd);
        __m128i draw = _mm_srli_epi32(_mm_castps_si128(high), 1); /* less 1 */
        __m128 next = _mm_load_ps(&lanes->next[i]);
        __m128 quotient = _mm_div_ps(next, _mm_add_ps(_mm_cvtepi32_ps(draw), one));
        __m128i whole = _mm_cvttps_epi32(_mm_mul_ps(quotient, above));
        __m128i same = _mm_cmpeq_epi32(whole, _mm_cvttps_epi32(_mm_mul_ps(quotient, below)));
        __m128 goes_on = _mm_and_ps(_mm_cmplt_ps(quotient, end), _mm_castsi128_ps(same));
        __m128 gone_on = _mm_add_ps(_mm_cvtepi32_ps(whole), one);
        _mm_store_ps(&lanes->next[i], _mm_or_ps(_mm_and_ps(goes_on, gone_on), _mm_andnot_ps(goes_on, next)));
        sure |= (uint32_t)_mm_movemask_ps(goes_on) << i;
    }
    return ~sure;
}

/* Whether the walk is over, by whole numbers; otherwise it takes its step. */
static bool is_over(struct lanes *lanes, unsigned lane, uint32_t buckets)
{
    double draw = (double)(lanes->state[lane] >> 33) + 1, next = (double)lanes->next[lane];
    if (next * 0x1p31 >= (double)buckets * draw || draw > INT32_MAX)
        return true;
    lanes->next[lane] = (float)((int32_t)(next / (draw / 0x1p31)) + 1);
    return false;
}

static void walk_lanes(const uint64_t *inputs, size_t count, uint32_t buckets, int32_t *out)
{
    struct lanes lanes = {.live = 0}; /* all of it is stepped */
    size_t fed = 0;
    unsigned walks = 0; /* under way */
    for (; fed < LANES && fed < count; fed++) {
        lanes.state[fed] = inputs[fed];
        lanes.next[fed] = 1;
        lanes.input[fed] = fed;
        lanes.live |= UINT32_C(1) << fed;
        walks++;
    }
    while (fed < count || walks > FEW) {
        for (uint32_t some = step(&lanes, buckets) & lanes.live; some != 0; some &= some - 1) {
            unsigned lane = (unsigned)__builtin_ctz(some);
            if (__builtin_expect(!is_over(&lanes, lane, buckets), 0))
                continue;
            out[lanes.input[lane]] = (int32_t)lanes.next[lane] - 1;
            if (fed < count) {
                lanes.state[lane] = inputs[fed];
                lanes.next[lane] = 1;
                lanes.input[lane] = fed++;
            } else {
                lanes.live &= ~(UINT32_C(1) << lane);
                walks--;
            }
        }
    }
    for (uint32_t some = lanes.live; some != 0; some &= some - 1) {
        unsigned lane = (unsigned)__builtin_ctz(some);
        out[lanes.input[lane]] = walk(lanes.state[lane], (int32_t)lanes.next[lane], buckets);
    }
}

#endif

#define WALKS 6u

/* One walk is a chain of divisions, each waiting for the last. So some walks go on side by side; the one that
 * ends makes room for the next input, with masks and products in place of a branch that nobody can guess. */
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
                walks[i].input = (walks[i].input & kept) | (next & ~kept);
                walks[i].state = (state & kept) | (inputs[next] & ~kept);
                walks[i].next = (double)(int64_t)quotient * (double)(int64_t)(1 - is_over) + 1;
                next += is_over;
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
        walk_lanes(inputs, count, buckets, out);
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

int32_t bk_bucket_of_id(uint64_t id, uint32_t buckets)
{
    return bk_consistent_hash(hash_id(id), buckets);
}

void bk_buckets_of_ids(const uint64_t *ids, size_t count, uint32_t buckets, int32_t *out)
{
    uint64_t hashes[IDS_AT_ONCE];
    for (size_t begin = 0; begin < count; begin += IDS_AT_ONCE) {
        size_t size = count - begin < IDS_AT_ONCE ? count - begin : IDS_AT_ONCE;
        for (size_t i = 0; i < size; i++)
            hashes[i] = hash_id(ids[begin + i]);
        bk_consistent_hashes(hashes, size, buckets, out + begin);
    }
}
