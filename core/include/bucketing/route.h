/* SPDX-License-Identifier: MIT */
/* The bucket of a row, and for which other rows that answer is valid.
 *
 * bk_route() is pure: strategy + key state + row -> bucket, with the validity of the answer. For the same key
 * state, the answer is valid for every row with a time in [from_ns, until_ns) and a sequence number in
 * [sequence_low, sequence_high) for which bk_fires() is false. So a host that knows that the next 511 rows
 * neither fire nor leave the ranges can place them in one step. Where the bucket depends on the row's id
 * (hash, shards), the answer is valid only for this row; the ranges are still those of its window or bucket.
 * Only bk_advance() changes a key state: call it once for each row that fires, after the row is placed. Rows
 * that do not fire need no call, except with BK_KIND_COUNT, where readers find the newest bucket in the
 * state.
 *
 * With a greatest age (bk_strategy_max_age()), a bucket begins with its first row, and that row's time
 * determines the date at which the bucket ends. A bucket never begins without a row, so no bucket is empty,
 * not even when a key is new or has no rows for several such dates. bk_route() marks the first row of a
 * bucket with `begins`; bk_advance() must be called for it, whether it fires or not, before the key's next
 * row is routed. The ranges are valid both before and after that call. A late row, with a time before the
 * newest bucket's span, still goes to the newest bucket, because the state does not remember older buckets.
 * This agrees with compaction windows and TTLs, which depend on the time of writing. BK_KIND_COUNT with a
 * greatest age counts from the sequence number of the bucket's first row and, like the other kinds, keeps its
 * newest bucket in the state.
 *
 * The caller owns every struct; nothing is allocated, and no function keeps a pointer. Several threads may
 * call these functions as long as they do not share a key state. Every call takes constant time, except
 * bk_first_firing(), bk_buckets_of_ids() and bk_route_batch(), which are linear in their rows.
 *
 * Example: the only writer of a key places a row.
 *
 *     struct bk_placement route;
 *     if (bk_route(&strategy, &state, &row, &route) != BK_OK)
 *         return false;
 *     put(key, route.bucket, &row);
 *     if (bk_fires(&strategy, &row))
 *         bk_advance(&strategy, &state, &row, NULL);
 * */
#ifndef BUCKETING_ROUTE_H
#define BUCKETING_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/api.h"
#include "bucketing/strategy.h"

BK_BEGIN

struct bk_row {
    int64_t time_ns;   /**< the row's own time, since 1970 */
    uint64_t sequence; /**< its number within the key, from 0; only BK_KIND_COUNT uses it */
    uint64_t id;       /**< 64 random bits of its id: bk_id_bits() */
    uint64_t bytes;    /**< its size; only BK_KIND_WEIGHTED uses it */
};

/** The state that is stored per key. A new key's state is all zero. */
struct bk_key_state {
    int64_t bucket;         /**< the newest known bucket */
    uint64_t counter;       /**< sum of what rows have added since the last roll */
    int64_t last_change_ns; /**< time of the row that rolled the key last; 0 before the first roll */
    /* With a greatest age: */
    bool is_begun;           /**< the newest bucket has a row */
    int64_t until_ns;        /**< the newest bucket ends before this row time; INT64_MAX: it has no end */
    uint64_t first_sequence; /**< BK_KIND_COUNT: sequence number of the first row of the newest bucket */
};

enum bk_scope {
    BK_SCOPE_RANGE, /**< the answer is valid in the ranges of struct bk_placement */
    BK_SCOPE_ROW    /**< the answer is valid only for this row */
};

struct bk_placement {
    int64_t bucket;
    enum bk_scope scope;
    bool begins;            /**< with a greatest age: the row is the first of its bucket */
    int64_t from_ns;        /**< inclusive; INT64_MIN: no bound */
    int64_t until_ns;       /**< exclusive; INT64_MAX: no bound */
    uint64_t sequence_low;  /**< inclusive */
    uint64_t sequence_high; /**< exclusive; UINT64_MAX: no bound */
};

/** What bk_advance() did: the operations that the host has to perform on the database. */
struct bk_effect {
    uint32_t counter_increments; /**< 1 when the row fired, whatever its weight */
    uint32_t state_writes; /**< 1 when the key rolled (bucket, counter and time of change in one write), and 1
                              when a row began a bucket (its beginning and its end) */
    bool rolled;           /**< the key's newest bucket has changed */
};

/** Places a row.
 *
 * @param strategy  read only, not kept; checked on every call
 * @param state     of the row's key; may be NULL for BK_KIND_UNBUCKETED, BK_KIND_TIME, BK_KIND_HASH, and
 * BK_KIND_COUNT without a greatest age, which do not use it
 * @param row       read only; each kind of strategy uses only some members (struct bk_row)
 * @param out       every member is set; zeroed on errors
 * @return          BK_OK; BK_ERROR_NULL, an error of bk_strategy_check(), BK_ERROR_STATE (a state that this
 *                  strategy cannot have produced) */
enum bk_status bk_route(const struct bk_strategy *strategy, const struct bk_key_state *state,
                        const struct bk_row *row, struct bk_placement *out);

/** What the row adds to the key's counter. For BK_KIND_PROBABILISTIC it is 1 when the low `bits` bits of the
 * row's id are all 1, or, for a chance m/n, when the high 64 bits of the 128-bit product id * n are below m.
 * For BK_KIND_WEIGHTED it is floor(bytes / B), and 1 more when the high 64 bits of id * B are below bytes mod
 * B, so it is bytes / B on average. In all other cases, and for NULL, it is 0. */
uint64_t bk_weight(const struct bk_strategy *strategy, const struct bk_row *row);

/** Whether the row fires: its weight is above 0. */
bool bk_fires(const struct bk_strategy *strategy, const struct bk_row *row);

/** Finds the first row that fires, in rows given as columns.
 *
 * @param ids         ids of rows 0 to end - 1; NULL: no row fires
 * @param bytes       sizes of the same rows; only BK_KIND_WEIGHTED uses them. When NULL, every row of
 * BK_KIND_WEIGHTED may fire, so `begin` is returned
 * @param begin, end  the rows begin to end - 1 are tested; begin <= end
 * @return            the index of the first row that fires, or end when none does */
size_t bk_first_firing(const struct bk_strategy *strategy, const uint64_t *ids, const uint64_t *bytes,
                       size_t begin, size_t end);

/** Updates the key state for a placed row. Call it once for each row that fires, in the order in which the
 * rows were placed.
 *
 * @param state   changed; all zero for a new key. Not NULL
 * @param effect  set to the operations that the host has to perform for this row; zeroed on errors; may be
 *                NULL
 * @return        as for bk_route(). On errors nothing is changed */
enum bk_status bk_advance(const struct bk_strategy *strategy, struct bk_key_state *state,
                          const struct bk_row *row, struct bk_effect *effect);

/** Rows as columns: row i has the i-th element of each array. A column that is NULL is treated as all
 * zeros. */
struct bk_rows {
    const int64_t *times_ns;
    const uint64_t *sequences, *ids, *bytes;
};

/** Places rows of one key in the given order and advances the key's state, as bk_route() and then
 * bk_advance() for each row do, but many times faster. Meant for bulk loads.
 *
 * @param strategy  read only
 * @param state     of the key, advanced over all rows; all zero for a new key. May be NULL for the kinds
 *                  BK_KIND_UNBUCKETED, BK_KIND_TIME and BK_KIND_HASH, which do not use it
 * @param rows      read only. Columns that the strategy does not need may be NULL: the times are needed by
 *                  BK_KIND_TIME and with a greatest age (without times, the state's last_change_ns is set to
 * 0), the sequences by BK_KIND_COUNT, the ids by BK_KIND_PROBABILISTIC, BK_KIND_WEIGHTED, BK_KIND_HASH and
 * shards, and the bytes by BK_KIND_WEIGHTED
 * @param count     number of rows; may be 0, and buckets may then be NULL
 * @param buckets   set to the bucket of each row; must not overlap the columns
 * @return          BK_OK; BK_ERROR_NULL (also for a column that is needed), an error of bk_strategy_check(),
 *                  BK_ERROR_STATE (the strategy cannot have produced the state, or a bucket would exceed 2^63
 *                  - 1). On errors the state is unchanged, and the contents of buckets are undefined
 *
 * Cost: linear in the rows: 1 to 3 ns per row (BK_KIND_HASH: as bk_buckets_of_ids()), plus one bk_route() and
 * one bk_advance() for each run of rows in the same bucket. */
enum bk_status bk_route_batch(const struct bk_strategy *strategy, struct bk_key_state *state,
                              const struct bk_rows *rows, size_t count, int64_t *buckets);

/** The consistent-hash bucket of a row's id: bk_consistent_hash() of murmur3_128 over the id's eight bytes,
 * in little-endian order, like Guava's Hashing.murmur3_128().hashLong(id). Returns -1 when buckets is not
 * from 1 to BK_BUCKETS_MAX. */
int32_t bk_bucket_of_id(uint64_t id, uint32_t buckets);
/** Sets out[i] to bk_bucket_of_id(ids[i], buckets) for `count` ids, 5 to 12 times as fast as single calls;
 * meant for bulk loads. The two arrays must not overlap. */
void bk_buckets_of_ids(const uint64_t *ids, size_t count, uint32_t buckets, int32_t *out);

BK_END
#endif
