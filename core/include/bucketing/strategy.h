/* SPDX-License-Identifier: MIT */
/* A strategy: the checked, constant settings by which a key's rows are put into buckets.
 *
 * (key, bucket) names one Cassandra partition. The struct is plain, owned by the caller, without pointers,
 * and may be copied; make it with one of the functions below, which check the settings and zero it on an
 * error. Times are nanoseconds since 1970-01-01T00:00:00Z. Every call takes constant time, keeps no pointer,
 * and may be made from any thread.
 *
 * Example: one row in 512 counts, and 40 of them close a partition, so that it holds 20,480 rows on average,
 * with a coefficient of variation of 16 % (1 / sqrt(40)).
 *
 *     struct bk_strategy strategy;
 *     if (bk_strategy_probabilistic(9, 40, &strategy) != BK_OK)
 *         return false;
 */
#ifndef BUCKETING_STRATEGY_H
#define BUCKETING_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "bucketing/api.h"
#include "bucketing/status.h"

BK_BEGIN

enum bk_kind {
    BK_UNBUCKETED, /* one partition per key, which grows for as long as rows arrive */
    BK_TIME,  /* the window or calendar unit of the row's time: no bound on rows, and a reader of a quiet key
                 walks over empty windows */
    BK_COUNT, /* the row's sequence number / rows */
    BK_PROBABILISTIC, /* a row that fires adds 1 to a counter; at the threshold the key rolls */
    BK_HASH,     /* consistent hash of the row's id into a fixed number of buckets: they grow for ever, and a
                    reader of the newest rows must query all of them */
    BK_WEIGHTED, /* as BK_PROBABILISTIC, but a row adds its bytes / B on average: bytes are right-sized */
    BK_KIND_COUNT
};

/* Units of UTC, for BK_TIME: hours, days and months since 1970-01, weeks that begin on Monday (ISO 8601),
 * bucket 0 being the unit that holds 1970-01-01T00:00:00Z. */
enum bk_calendar { BK_CALENDAR_NONE, BK_CALENDAR_HOUR, BK_CALENDAR_DAY, BK_CALENDAR_WEEK, BK_CALENDAR_MONTH };

#define BK_BITS_MAX    32u
#define BK_BUCKETS_MAX 2147483647u

struct bk_strategy {
    enum bk_kind kind;
    union {
        struct {
            enum bk_calendar calendar; /* BK_CALENDAR_NONE: windows of window_ns from epoch_ns */
            int64_t window_ns;
            int64_t epoch_ns;
        } time;
        struct {
            uint64_t rows; /* of a partition */
        } count;
        struct {
            uint32_t bits;               /* 2^-bits is the chance when chance_denominator is 0 */
            uint64_t chance_numerator;   /* any chance m/n in place of 2^-bits */
            uint64_t chance_denominator; /* 0: bits give the chance */
            uint64_t threshold;          /* increments of a partition */
        } probabilistic;
        struct {
            uint32_t buckets;
        } hash;
        struct {
            uint64_t bytes; /* B: bytes for which the counter goes up by 1 */
            uint64_t
                threshold; /* of a partition's counter: a partition gets threshold x B bytes on average */
        } weighted;
    } of;
    /* 0: no greatest age. Otherwise no bucket has rows from both sides of a multiple of this time since 1970.
     */
    int64_t max_age_ns;
};

/* The constructors set *out, which the caller owns, and return BK_OK; on an error they zero *out (kind
 * BK_UNBUCKETED). Each returns BK_ERROR_NULL when out is NULL, and the errors that its own comment names. */
enum bk_status bk_strategy_unbucketed(struct bk_strategy *out);
/* Windows of window_ns >= 1000 from epoch_ns; bucket 0 is [epoch, epoch + window). Error BK_ERROR_WINDOW. */
enum bk_status bk_strategy_time(int64_t window_ns, int64_t epoch_ns, struct bk_strategy *out);
/* Error BK_ERROR_CALENDAR when the unit is none of the four. */
enum bk_status bk_strategy_calendar(enum bk_calendar unit, struct bk_strategy *out);
/* rows >= 1, or BK_ERROR_ROWS. */
enum bk_status bk_strategy_count(uint64_t rows, struct bk_strategy *out);
/* bits from 0 to 32 (BK_ERROR_BITS), threshold >= 1 (BK_ERROR_THRESHOLD). */
enum bk_status bk_strategy_probabilistic(uint32_t bits, uint64_t threshold, struct bk_strategy *out);
/* A row fires with chance numerator / denominator, 0 < m <= n (BK_ERROR_CHANCE), to within 2^-64. */
enum bk_status bk_strategy_probabilistic_chance(uint64_t numerator, uint64_t denominator, uint64_t threshold,
                                                struct bk_strategy *out);
/* buckets from 1 to BK_BUCKETS_MAX, or BK_ERROR_BUCKETS. */
enum bk_status bk_strategy_hash(uint32_t buckets, struct bk_strategy *out);

/* A row adds its bytes / `bytes`, rounded down or up at random so that the mean is exact to within 2^-64.
 * bytes >= 1 (BK_ERROR_BYTES), threshold >= 1 (BK_ERROR_THRESHOLD). */
enum bk_status bk_strategy_weighted(uint64_t bytes, uint64_t threshold, struct bk_strategy *out);

/* Sets the greatest age of the buckets of a BK_COUNT, BK_PROBABILISTIC or BK_WEIGHTED strategy; 0 removes it.
 * Multiples of max_age_ns since 1970 are the lines of a grid, and a key rolls at its first row beyond a line.
 * The age counts from the grid and not from a bucket's first row because the windows of time-window
 * compaction lie on such grids too: buckets end with them, and rows with one TTL expire within one such span
 * of their bucket. Errors: BK_ERROR_NULL, BK_ERROR_AGE (below 1000, or another kind), those of
 * bk_strategy_check(); *strategy is then unchanged. */
enum bk_status bk_strategy_max_age(int64_t max_age_ns, struct bk_strategy *strategy);

/* Checks a struct that was filled by hand, or read from a file. Returns BK_OK when a constructor could have
 * made it; otherwise the error that the constructor would have returned, BK_ERROR_KIND or BK_ERROR_NULL. */
enum bk_status bk_strategy_check(const struct bk_strategy *strategy);

/* "unbucketed", "time", "count", "probabilistic", "hash", "weighted"; "unknown" for any other value. */
const char *bk_kind_name(enum bk_kind kind);

/* Whether rows add to a counter at random, and the key rolls when the counter is full: true for
 * BK_PROBABILISTIC and BK_WEIGHTED, false for all other values. */
bool bk_kind_fires(enum bk_kind kind);
/* The count at which such a counter is full; 0 for all other kinds, and for NULL. */
uint64_t bk_threshold(const struct bk_strategy *strategy);

BK_END
#endif
