/* SPDX-License-Identifier: MIT */
/* Murmur3 by Austin Appleby, and Cassandra's variant of it. */
#include "bucketing/hash.h"
#include "bucketing/id.h"
#include "murmur.h"

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
} kinds[BK_ID_KIND_COUNT] = {
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
    if ((unsigned)kind >= BK_ID_KIND_COUNT || size == 0 || (kinds[kind].size > 0 && size != kinds[kind].size))
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
    return (unsigned)kind < BK_ID_KIND_COUNT ? kinds[kind].name : NULL;
}
