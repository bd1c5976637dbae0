/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serialises a partition key and computes its token as Murmur3Partitioner does. */
#include "cassandra/token.h"

#include <assert.h>
#include <string.h>

#include "bucketing/hash.h"

#define FRAME_SIZE                                                                                           \
    3u /* per component of a composite: a length of two bytes before it, and a zero byte after it \ */

int64_t cass_token(const void *serialised_key, size_t size)
{
    /* Murmur3Partitioner.getToken returns MINIMUM for an empty key without hashing it. */
    if (size == 0)
        return INT64_MIN;
    struct bk_hash128 hash = bk_murmur3_128_cassandra(serialised_key, size, 0);
    int64_t token = (int64_t)hash.h1;
    return token == INT64_MIN ? INT64_MAX : token;
}

size_t cass_key_size(const struct cass_component *components, size_t count)
{
    assert(count >= 1);
    if (count == 1)
        return components[0].size;
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += components[i].size + FRAME_SIZE;
    return size;
}

static uint8_t *write_component(uint8_t *out, const void *data, size_t size)
{
    assert(size <= CASS_COMPONENT_SIZE_MAX);
    out[0] = (uint8_t)(size >> 8);
    out[1] = (uint8_t)size;
    if (size > 0)
        memcpy(out + 2, data, size);
    out[2 + size] = 0;
    return out + 2 + size + 1;
}

void cass_key_serialise(const struct cass_component *components, size_t count, uint8_t *out)
{
    assert(count >= 1);
    if (count == 1) {
        if (components[0].size > 0)
            memcpy(out, components[0].data, components[0].size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out = write_component(out, components[i].data, components[i].size);
}

int64_t cass_token_bucketed(const char *key, size_t key_size, int64_t bucket)
{
    uint8_t number[8];
    for (size_t i = 0; i < sizeof(number); i++)
        number[i] = (uint8_t)((uint64_t)bucket >> (56 - 8 * i));
    uint8_t serialised[CASS_COMPONENT_SIZE_MAX + sizeof(number) + 2 * FRAME_SIZE];
    uint8_t *end = write_component(serialised, key, key_size);
    end = write_component(end, number, sizeof(number));
    return cass_token(serialised, (size_t)(end - serialised));
}
