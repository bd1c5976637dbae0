/* SPDX-License-Identifier: MIT */
/* Where a row goes, and for how long that answer holds.
 *
 * bk_route() is pure: strategy + key state + row -> bucket, with the validity of the answer. Given the same
 * key state it holds for every row with a time in [from, until) and a sequence number in [low, high) for
 * which bk_fires() is false, so a host that knows that the next 511 rows neither fire nor leave the ranges
 * handles them in one step. Where the bucket depends on the row's id (hash), the answer is valid only for
 * this row. Only bk_advance() changes a key state: call it once for each row that fires, after the row is
 * placed. Rows that do not fire need no call, except with BK_COUNT, where the state tells readers the newest
 * bucket.
 *
 * With a greatest age a bucket begins with its first row, and that row's time sets the date at which the
 * bucket ends. So no bucket is empty: neither the first one of a new key, nor those of a key that was quiet
 * across several such dates. bk_route() marks such a row with `begins`; bk_advance() must be called for it,
 * whether it fires or not, before the key's next row is routed. The ranges are valid for the state before
 * that call and after it. A late row, with a time before its bucket's span, goes to the newest bucket: the
 * state knows no older ones, and compaction windows and TTLs go by the time of writing too. BK_COUNT counts
 * from the sequence number of the bucket's first row, and keeps its newest bucket in the state like the
 * others.
 *
 * The caller owns every struct; nothing is allocated, and no function keeps a pointer. Safe from several
 * threads as long as they do not share a key state. Every call takes constant time, except bk_first_firing(),
 * bk_buckets_of_ids() and bk_route_batch(), which are linear in their rows.
 *
 * Example: a row is placed by the one writer of its key.
 *
 *     struct bk_route route;
 *     if (bk_route(&strategy, &state, &row, &route) != BK_OK)
 *         return false;
 *     put(key, route.bucket, &row);
 *     if (bk_fires(&strategy, &row))
 *         bk_advance(&strategy, &state, &row, NULL);
 */
#ifndef BUCKETING_ROUTE_H
#define BUCKETING_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/api.h"
#include "bucketing/strategy.h"

BK_BEGIN

struct bk_row {
    int64_t time_ns;   /* the row's own time, since 1970 */
    uint64_t sequence; /* its number within the key, from 0; only BK_COUNT uses it */
    uint64_t id;       /* 64 random bits of its id: bk_id_bits() */
    uint64_t bytes;    /* its size; only BK_WEIGHTED uses it */
};

/* What is kept per key. A new key's state is all zero. */
struct bk_key_state {
    int64_t bucket;         /* the newest known bucket */
    uint64_t counter;       /* what rows have added since the last roll */
    int64_t last_change_ns; /* time of the row that rolled last; 0 before the first */
    /* With a greatest age: */
    bool is_begun;           /* the newest bucket has a row */
    int64_t until_ns;        /* it takes rows before this time; INT64_MAX: no end */
    uint64_t first_sequence; /* BK_COUNT: the sequence number of its first row */
};

enum bk_scope {
    BK_SCOPE_RANGE, /* the answer holds in the ranges below */
    BK_SCOPE_ROW    /* the answer holds only for this row */
};

struct bk_route {
    int64_t bucket;
    enum bk_scope scope;
    bool begins;            /* with a greatest age: the row is the first of its bucket */
    int64_t from_ns;        /* inclusive; INT64_MIN: no bound */
    int64_t until_ns;       /* exclusive; INT64_MAX: no bound */
    uint64_t sequence_low;  /* inclusive */
    uint64_t sequence_high; /* exclusive; UINT64_MAX: no bound */
};

/* What bk_advance() did: each is an operation on the database for the host. */
struct bk_effect {
    uint32_t counter_increments; /* 1 when the row fired, however much it adds */
    uint32_t state_writes; /* 1 when the key rolled (bucket, counter and time of change in one write), and
                              when a row began a bucket (its beginning and its end) */
    bool rolled;           /* the key's newest bucket has changed */
};

/* Places a row.
 *
 * @param strategy  read only, not kept; checked on every call
 * @param state     of the row's key; may be NULL for BK_UNBUCKETED, BK_TIME, BK_HASH, and BK_COUNT without a
 *                  greatest age, which do not look at it
 * @param row       read only; each kind of strategy looks at one of its members
 * @param out       set whole; zeroed on errors
 * @return          BK_OK; BK_ERROR_NULL, those of bk_strategy_check(), BK_ERROR_STATE (a state that
 *                  this strategy cannot have made) */
enum bk_status bk_route(const struct bk_strategy *strategy, const struct bk_key_state *state,
                        const struct bk_row *row, struct bk_route *out);

/* What the row adds to the key's counter. For BK_PROBABILISTIC it is 1 when the low `bits` bits of the row's
 * id are all 1, or, for a chance m/n, when the high word of id * n is below m. For BK_WEIGHTED it is
 * floor(bytes / B), and 1 more when the high word of id * B is below bytes mod B: bytes / B on average. In
 * all other cases, and for NULL, it is 0. */
uint64_t bk_weight(const struct bk_strategy *strategy, const struct bk_row *row);

/* Whether the row fires: its weight is above 0. */
bool bk_fires(const struct bk_strategy *strategy, const struct bk_row *row);

/* bk_fires() over columns.
 *
 * @param ids         of rows 0 to end - 1; NULL: none fires
 * @param bytes       of the same rows; only BK_WEIGHTED looks at it. With NULL each row of BK_WEIGHTED may
 *                    fire, so `begin` is returned
 * @param begin, end  the rows from begin to before end are looked at; begin <= end
 * @return            the index of the first one that fires, or end */
size_t bk_first_firing(const struct bk_strategy *strategy, const uint64_t *ids, const uint64_t *bytes,
                       size_t begin, size_t end);

/* Updates the key state for a placed row: once for each row that fires, in the order in which they were
 * placed.
 *
 * @param state   changed; all zero for a new key. Not NULL
 * @param effect  set to the operations that the host has to do for it, zeroed on errors; may be NULL
 * @return        as for bk_route(); nothing changes on errors */
enum bk_status bk_advance(const struct bk_strategy *strategy, struct bk_key_state *state,
                          const struct bk_row *row, struct bk_effect *effect);

/* Rows as columns: row i has the i-th number of each. A column that is NULL is one of zeros. */
struct bk_rows {
    const int64_t *times_ns;
    const uint64_t *sequences, *ids, *bytes;
};

/* Places rows of one key in their order, and advances its state, like bk_route() and then bk_advance() for
 * each row, but many times as fast. For bulk loads.
 *
 * @param strategy  read only
 * @param state     of the key, advanced over all rows; all zero for a new key. May be NULL for the kinds
 *                  BK_UNBUCKETED, BK_TIME and BK_HASH, which do not look at it
 * @param rows      read only. NULL may be the times, except of BK_TIME and with a greatest age (the state's
 *                  last_change_ns is then 0); sequences, except of BK_COUNT; ids, except of the kinds
 *                  BK_PROBABILISTIC, BK_WEIGHTED and BK_HASH; and bytes, except of BK_WEIGHTED
 * @param count     of rows; 0 is fine, and buckets may then be NULL
 * @param buckets   gets the bucket of each row; it does not overlap the columns
 * @return          BK_OK; BK_ERROR_NULL, also of a column that is needed; those of bk_strategy_check(); and
 *                  BK_ERROR_STATE (the state is not of this strategy, or the bucket would be beyond 2^63 -
 * 1). The state is then unchanged, and the contents of buckets are undefined
 *
 * Cost: linear in the rows: 1 to 3 ns a row where runs of rows in one bucket are long (BK_HASH: as
 * bk_buckets_of_ids()), and that of bk_route() and bk_advance() once a run. */
enum bk_status bk_route_batch(const struct bk_strategy *strategy, struct bk_key_state *state,
                              const struct bk_rows *rows, size_t count, int64_t *buckets);

/* The consistent-hash bucket of a row's id: bk_consistent_hash() of murmur3_128 over the id's eight bytes,
 * little end first, as Guava's Hashing.murmur3_128().hashLong(id). buckets: 1 to BK_BUCKETS_MAX, else -1. */
int32_t bk_bucket_of_id(uint64_t id, uint32_t buckets);
/* The same for `count` ids at once, 5 to 12 times as fast: for bulk loads. out has room for `count`; the two
 * arrays do not overlap. */
void bk_buckets_of_ids(const uint64_t *ids, size_t count, uint32_t buckets, int32_t *out);

BK_END
#endif
