/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The naive engine's routes, hashes and timestamps, from their definitions: docs/scenario.md says where a row
 * goes and what it counts; MurmurHash3_x64_128 is Austin Appleby's, in which Cassandra takes the bytes of the
 * tail as signed; the consistent hash is Guava's; a vint is Cassandra's VIntCoding. */
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "naive.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t turn(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

uint64_t naive_hash(const void *data, size_t size, bool is_signed)
{
    const uint64_t c1 = UINT64_C(0x87c37b91114253d5), c2 = UINT64_C(0x4cf5ad432745937f);
    const uint8_t *bytes = data;
    uint64_t h1 = 0, h2 = 0;
    /* The last block may be incomplete or empty, and changes only the words that it contains. */
    for (size_t at = 0; at < size || at == 0; at += 16) {
        bool is_tail = size - at < 16;
        uint64_t k1 = 0, k2 = 0;
        for (size_t i = 0; i < 16 && at + i < size; i++) {
            uint64_t byte = bytes[at + i];
            if (is_tail && is_signed && byte >= 128)
                byte -= 256;
            *(i < 8 ? &k1 : &k2) ^= byte << i % 8 * 8;
        }
        h1 ^= turn(k1 * c1, 31) * c2;
        if (is_tail) {
            h2 ^= turn(k2 * c2, 33) * c1;
            break;
        }
        h1 = (turn(h1, 27) + h2) * 5 + 0x52dce729;
        h2 ^= turn(k2 * c2, 33) * c1;
        h2 = (turn(h2, 31) + h1) * 5 + 0x38495ab5;
    }
    h1 ^= size;
    h2 ^= size;
    h1 += h2;
    h2 += h1;
    h1 = mix(h1);
    h2 = mix(h2);
    return h1 + h2;
}

int64_t naive_token(const struct naive_part *parts, size_t count)
{
    uint8_t bytes[2048];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (used + parts[i].size + 3 > sizeof bytes)
            abort();
        if (count > 1) {
            bytes[used++] = (uint8_t)(parts[i].size / 256);
            bytes[used++] = (uint8_t)(parts[i].size % 256);
        }
        memcpy(bytes + used, parts[i].bytes, parts[i].size);
        used += parts[i].size;
        if (count > 1)
            bytes[used++] = 0;
    }
    int64_t token = used == 0 ? INT64_MIN : (int64_t)naive_hash(bytes, used, true);
    return used > 0 && token == INT64_MIN ? INT64_MAX : token;
}

void naive_big_endian(int64_t value, uint8_t *out)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)((uint64_t)value >> (8 * (7 - i)));
}

/* A walk over candidates: each one determines the next, until a candidate is beyond the buckets. */
static int64_t hash_bucket(uint64_t id, uint32_t buckets)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(id >> 8 * i);
    uint64_t state = naive_hash(bytes, 8, false);
    int64_t candidate = 0;
    for (;;) {
        state = state * UINT64_C(2862933555777941757) + 1;
        double part = ((double)(int32_t)((uint32_t)(state >> 33) + 1)) / 0x1p31;
        double next = (double)(candidate + 1) / part;
        if (!(next >= 0 && next < (double)buckets))
            return candidate;
        candidate = (int64_t)next;
    }
}

/* What the row adds to the count: 1 with the strategy's chance, decided by its id; or its bytes in whole
 * units, and 1 more with the chance remainder / unit. */
static uint64_t weight_of(const struct bk_strategy *strategy, const struct naive_row *row)
{
    uint64_t unit = strategy->of.weighted.bytes, whole = strategy->of.probabilistic.chance_denominator;
    if (strategy->kind == BK_KIND_WEIGHTED)
        return row->bytes / unit + ((uint64_t)((wide)row->id * unit >> 64) < row->bytes % unit);
    if (whole != 0)
        return (uint64_t)((wide)row->id * whole >> 64) < strategy->of.probabilistic.chance_numerator;
    unsigned ones = 0;
    while (ones < 64 && (row->id >> ones & 1) != 0)
        ones++;
    return ones >= strategy->of.probabilistic.bits;
}

static void roll(struct bk_key_state *state, int64_t time_ns)
{
    state->bucket++;
    state->counter = 0;
    state->last_change_ns = time_ns;
    state->is_begun = false;
}

/* With max_age, a bucket begins with its first row. The first row at or after the following line begins the
 * next bucket. */
static bool begins_by_age(const struct bk_strategy *strategy, struct bk_key_state *state, uint64_t number,
                          int64_t time_ns)
{
    bool is_full =
        strategy->kind == BK_KIND_COUNT && number - state->first_sequence >= strategy->of.count.rows;
    if (state->is_begun && time_ns < state->until_ns && !is_full)
        return false;
    if (state->is_begun)
        roll(state, time_ns);
    state->is_begun = true;
    state->first_sequence = number;
    state->until_ns = (naive_floor(time_ns, strategy->max_age_ns) + 1) * strategy->max_age_ns;
    return true;
}

int64_t naive_route(const struct bk_strategy *strategy, struct bk_key_state *state, uint64_t number,
                    const struct naive_row *row, struct naive_result *result)
{
    bool is_aged = strategy->max_age_ns != 0,
         is_random = strategy->kind == BK_KIND_PROBABILISTIC || strategy->kind == BK_KIND_WEIGHTED;
    if (strategy->kind == BK_KIND_TIME)
        return naive_window(strategy, row->own_ns) * naive_shards(strategy) +
               hash_bucket(row->id, (uint32_t)naive_shards(strategy));
    if (strategy->kind == BK_KIND_HASH)
        return hash_bucket(row->id, strategy->of.hash.buckets);
    bool is_written = is_aged && begins_by_age(strategy, state, number, row->time_ns);
    if (!is_aged && strategy->kind == BK_KIND_COUNT)
        state->bucket = (int64_t)(number / strategy->of.count.rows);
    int64_t bucket =
        state->bucket * naive_shards(strategy) + hash_bucket(row->id, (uint32_t)naive_shards(strategy));
    uint64_t weight = is_random ? weight_of(strategy, row) : 0;
    uint64_t threshold = !is_random                           ? 0
                         : strategy->kind == BK_KIND_WEIGHTED ? strategy->of.weighted.threshold
                                                              : strategy->of.probabilistic.threshold;
    result->counter_increments += weight > 0;
    state->counter += weight;
    if (is_random && state->counter >= threshold) {
        roll(state, row->time_ns);
        is_written = true;
    }
    result->state_writes += is_written; /* one write, even if the row begins a bucket and ends it */
    return bucket;
}

static unsigned vint_bytes(uint64_t value)
{
    unsigned bytes = 1;
    while (bytes < 9 && value >> 7 * bytes != 0)
        bytes++;
    return bytes;
}

/* A row's timestamp is in microseconds since the first row's, and its expiry in seconds since the first one;
 * a time to live takes one byte. */
uint32_t naive_stamp(const struct lab_row_cost *cost, int64_t start_ns, int64_t time_ns)
{
    uint64_t us = (uint64_t)time_ns - (uint64_t)(naive_floor(start_ns, SIM_US) * SIM_US),
             s = (uint64_t)time_ns - (uint64_t)(naive_floor(start_ns, SIM_SECOND) * SIM_SECOND);
    return vint_bytes(us / 1000) + (cost->ttl_ns > 0 ? vint_bytes(s / SIM_SECOND) + 1 : 0);
}
