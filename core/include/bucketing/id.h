/* SPDX-License-Identifier: MIT */
/* Random bits of a row's id, for the member `id` of struct bk_row. The probabilistic, weighted and hash
 * strategies need them.
 *
 * With probabilistic, a row fires when its lowest bits are all 1, so those bits must be random and
 * independent of each other. Few kinds of id have such bits at their low end: the low half of a timeuuid is
 * the clock sequence and the node, which one process never changes, so either all of its rows would fire, or
 * none; generators of UUIDs v7 and of ULIDs may add 1 to the low bits within a millisecond; the low 12 bits
 * of a Snowflake are a sequence that starts at 0 in each millisecond. So this function hashes all bytes of
 * the id. It takes the bits of a UUID v4 as they are, since 122 of them are random. `bucketlab ids FILE`
 * tests a sample of real ids.
 *
 * All agents that write or read a key must derive the bits in the same way. The functions are pure, and may
 * be called from any thread.
 *
 * Sources: RFC 9562 (UUID); github.com/ulid/spec; Twitter's Snowflake, and Discord's developer reference.
 *
 * Example: the id of a row whose column is a timeuuid, in the 16 bytes that a driver returns.
 *
 *     if (bk_id_bits(BK_ID_TIMEUUID, timeuuid, 16, &row.id) != BK_OK)
 *         return false;
 * */
#ifndef BUCKETING_ID_H
#define BUCKETING_ID_H

#include <stddef.h>
#include <stdint.h>

#include "bucketing/api.h"
#include "bucketing/status.h"

BK_BEGIN

/** The kinds of id, each in the bytes that Cassandra stores: 16 bytes for UUIDs and ULIDs, in the order of
 * their text; 8 bytes for a bigint, big-endian. */
enum bk_id_kind {
    BK_ID_TIMEUUID,  /**< UUID v1, as now() and drivers make it: 16 bytes */
    BK_ID_UUID4,     /**< 16 bytes */
    BK_ID_UUID7,     /**< 16 bytes */
    BK_ID_ULID,      /**< 16 bytes; the caller must decode its text of 26 characters first */
    BK_ID_SNOWFLAKE, /**< 8 bytes */
    BK_ID_BYTES,     /**< anything else of at least one byte: text, a number, a composite */
    BK_ID_KINDS
};

/** Sets *out to 64 random bits of the id of `size` bytes: for a UUID v4, the low 62 bits and the two lowest
 * bits of the high half; for all other kinds, h1 of bk_murmur3_128(id, size, 0). Cost: linear in size.
 * Errors: BK_ERROR_NULL when id or out is NULL; BK_ERROR_ID, with *out 0, for an unknown kind, a size that
 * the kind does not have, or a UUID of another version or variant. */
enum bk_status bk_id_bits(enum bk_id_kind kind, const void *id, size_t size, uint64_t *out);
/** The kind's name: "timeuuid", "UUID v4", "UUID v7", "ULID", "Snowflake", "bytes"; NULL for any other value.
 * The text is a constant. */
const char *bk_id_kind_name(enum bk_id_kind kind);

BK_END
#endif
