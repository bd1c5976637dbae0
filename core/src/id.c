/* SPDX-License-Identifier: MIT */
/* Random bits of timeuuids, UUIDs v4 and v7, ULIDs, Snowflakes and other ids. */
#include "bucketing/id.h"

#include "bucketing/hash.h"

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
