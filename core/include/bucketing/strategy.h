/* SPDX-License-Identifier: MIT */
/* A strategy: the checked, constant settings by which a key's rows are put into buckets.
 *
 * (key, bucket) names one Cassandra partition. The struct is plain, contains no pointers, is owned by the
 * caller and may be copied. Make it with one of the functions below, which check the settings and zero the
 * struct on an error. Times are nanoseconds since 1970-01-01T00:00:00Z. Every call takes constant time, keeps
 * no pointer, and may be made from any thread.
 *
 * Example: one row in 512 fires, and 40 such rows close a partition, so that a partition holds 20,480 rows on
 * average, with a coefficient of variation of 16 % (1 / sqrt(40)).
 *
 *     struct bk_strategy strategy;
 *     if (bk_strategy_probabilistic(9, 40, &strategy) != BK_OK)
 *         return false;
 * */
#ifndef BUCKETING_STRATEGY_H
#define BUCKETING_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "bucketing/api.h"
#include "bucketing/status.h"

BK_BEGIN

enum bk_kind {
    BK_KIND_UNBUCKETED, /**< one partition per key, which grows for as long as rows arrive */
    BK_KIND_TIME, /**< the bucket is the time window or calendar unit of the row's time, or one of its shards.
                A bucket may get any number of rows, and a reader of a key with few rows queries many empty
                windows */
    BK_KIND_COUNT,         /**< the bucket is the row's sequence number / rows */
    BK_KIND_PROBABILISTIC, /**< a row that fires adds 1 to a counter; at the threshold the key rolls */
    BK_KIND_HASH,     /**< the bucket is a consistent hash of the row's id. The number of buckets is fixed, so
                    each     grows without bound, and a reader of the newest rows must query all of them */
    BK_KIND_WEIGHTED, /**< as BK_KIND_PROBABILISTIC, but a row adds its bytes / B on average, so that
                    partitions have equal bytes rather than equal rows */
    BK_KINDS
};

/** Units of UTC, for BK_KIND_TIME: hours, days and months since 1970-01, weeks that begin on Monday (ISO
 * 8601), where bucket 0 is the unit that contains 1970-01-01T00:00:00Z. */
enum bk_calendar { BK_CALENDAR_NONE, BK_CALENDAR_HOUR, BK_CALENDAR_DAY, BK_CALENDAR_WEEK, BK_CALENDAR_MONTH };

#define BK_BITS_MAX    32u
#define BK_BUCKETS_MAX 2147483647u
#define BK_SHARDS_MAX  64u

struct bk_strategy {
    enum bk_kind kind;
    uint32_t shards; /**< BK_KIND_COUNT, BK_KIND_PROBABILISTIC, BK_KIND_WEIGHTED: partitions of a bucket; 0 or
                        1: a bucket is one partition. 0 for the other kinds: BK_KIND_TIME has time.shards */
    union {
        struct {
            enum bk_calendar calendar; /**< BK_CALENDAR_NONE: windows of window_ns, counted from epoch_ns */
            int64_t window_ns;
            int64_t epoch_ns;
            uint32_t shards; /**< partitions of a window; 0 or 1: a window is one partition */
        } time;
        struct {
            uint64_t rows; /**< rows of a partition */
        } count;
        struct {
            uint32_t bits; /**< a row fires with probability 2^-bits, unless chance_denominator is set */
            uint64_t
                chance_numerator; /**< a row fires with probability chance_numerator / chance_denominator */
            uint64_t chance_denominator; /**< 0: the probability is 2^-bits */
            uint64_t threshold;          /**< the key rolls at this number of increments */
        } probabilistic;
        struct {
            uint32_t buckets;
        } hash;
        struct {
            uint64_t bytes;     /**< B: the counter is raised by 1 for this number of bytes */
            uint64_t threshold; /**< the key rolls when the counter reaches this: a partition gets threshold x
                                   B bytes on average */
        } weighted;
    } of;
    /** 0: no greatest age. Otherwise no bucket has rows with times on both sides of a multiple of max_age_ns
     * since 1970. */
    int64_t max_age_ns;
};

/** The constructors set *out, which the caller owns, and return BK_OK; on an error they zero *out (kind
 * BK_KIND_UNBUCKETED). Each returns BK_ERROR_NULL when out is NULL, and the errors that its own comment
 * names. */
enum bk_status bk_strategy_unbucketed(struct bk_strategy *out);
/** Time windows of window_ns, at least 1000 (BK_ERROR_WINDOW). Bucket 0 is [epoch_ns, epoch_ns +
 * window_ns). */
enum bk_status bk_strategy_time(int64_t window_ns, int64_t epoch_ns, struct bk_strategy *out);
/** unit: one of the four calendar units, otherwise BK_ERROR_CALENDAR. */
enum bk_status bk_strategy_calendar(enum bk_calendar unit, struct bk_strategy *out);
/** Divides each window of a BK_KIND_TIME strategy, or each bucket of BK_KIND_COUNT, BK_KIND_PROBABILISTIC or
 * BK_KIND_WEIGHTED, into 1 to BK_SHARDS_MAX partitions, by a consistent hash of the row's id. Rows are then
 * put into partition bucket * shards + bk_bucket_of_id(id, shards), and where bk_route(), a read or
 * BK_ACT_PUT_ROW names a bucket, it means this partition; the state of a key, the starts of buckets and the
 * settings (rows, threshold) are those of the bucket as a whole. A key that writes too fast for one partition
 * is spread over several nodes, and a reader queries all shards of a bucket at once. Errors: BK_ERROR_NULL,
 * BK_ERROR_SHARDS (another number, or another kind), those of bk_strategy_check(). On errors *strategy is
 * unchanged. */
enum bk_status bk_strategy_shards(uint32_t shards, struct bk_strategy *strategy);
/** rows >= 1, or BK_ERROR_ROWS. */
enum bk_status bk_strategy_count(uint64_t rows, struct bk_strategy *out);
/** bits from 0 to 32 (BK_ERROR_BITS), threshold >= 1 (BK_ERROR_THRESHOLD). */
enum bk_status bk_strategy_probabilistic(uint32_t bits, uint64_t threshold, struct bk_strategy *out);
/** A row fires with probability numerator / denominator, to within 2^-64. 0 < numerator <= denominator
 * (BK_ERROR_CHANCE), threshold >= 1 (BK_ERROR_THRESHOLD). */
enum bk_status bk_strategy_probabilistic_chance(uint64_t numerator, uint64_t denominator, uint64_t threshold,
                                                struct bk_strategy *out);
/** buckets from 1 to BK_BUCKETS_MAX, or BK_ERROR_BUCKETS. */
enum bk_status bk_strategy_hash(uint32_t buckets, struct bk_strategy *out);

/** A row adds its bytes / `bytes`, rounded down or up at random so that the mean is exact to within 2^-64.
 * bytes >= 1 (BK_ERROR_BYTES), threshold >= 1 (BK_ERROR_THRESHOLD). */
enum bk_status bk_strategy_weighted(uint64_t bytes, uint64_t threshold, struct bk_strategy *out);

/** Sets the greatest age of the buckets of a BK_KIND_COUNT, BK_KIND_PROBABILISTIC or BK_KIND_WEIGHTED
 * strategy; 0 removes it. A key rolls at its first row whose time is at or after the next multiple of
 * max_age_ns since 1970. The age is counted from these multiples and not from a bucket's first row because
 * the windows of time-window compaction begin at such multiples too: buckets then end together with windows,
 * and rows with the same TTL expire within max_age_ns of each other in each bucket. Errors: BK_ERROR_NULL,
 * BK_ERROR_AGE (below 1000, or another kind), those of bk_strategy_check(). On errors *strategy is unchanged.
 */
enum bk_status bk_strategy_max_age(int64_t max_age_ns, struct bk_strategy *strategy);

/** Checks a struct that was not made by a constructor, for example one read from a file. Returns BK_OK when a
 * constructor could have made it; otherwise the error that the constructor would have returned, BK_ERROR_KIND
 * or BK_ERROR_NULL. */
enum bk_status bk_strategy_check(const struct bk_strategy *strategy);

/** "unbucketed", "time", "count", "probabilistic", "hash", "weighted"; "unknown" for any other value. */
const char *bk_kind_name(enum bk_kind kind);

/** Whether rows add to a counter at random, and the key rolls when the counter is full: true for
 * BK_KIND_PROBABILISTIC and BK_KIND_WEIGHTED, false for all other values. */
bool bk_kind_fires(enum bk_kind kind);
/** The count at which such a counter is full; 0 for all other kinds, and for NULL. */
uint64_t bk_threshold(const struct bk_strategy *strategy);

BK_END
#endif
