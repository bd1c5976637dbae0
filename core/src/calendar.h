/* SPDX-License-Identifier: MIT */
/* Time windows and calendar units of UTC, in int64 nanoseconds: the window of a time, and its bounds. */
#ifndef BUCKETING_CALENDAR_H
#define BUCKETING_CALENDAR_H

#include <stdint.h>

#include "bucketing/strategy.h"

struct bk_window {
    int64_t index;
    int64_t from_ns;  /* inclusive; at least INT64_MIN */
    int64_t until_ns; /* exclusive; at most INT64_MAX */
};

static inline int64_t bk_floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}
/* strategy: a checked strategy of kind BK_KIND_TIME. */
struct bk_window bk_window_of(const struct bk_strategy *strategy, int64_t time_ns);
/* The partitions of a window or of a bucket; 1 for BK_KIND_UNBUCKETED and BK_KIND_HASH. */
static inline int64_t bk_shards_of(const struct bk_strategy *strategy)
{
    uint32_t shards = strategy->kind == BK_KIND_TIME ? strategy->of.time.shards : strategy->shards;
    return shards > 1 ? (int64_t)shards : 1;
}
/* The highest bucket whose shards all have a number. */
static inline int64_t bk_last_bucket(const struct bk_strategy *strategy)
{
    int64_t shards = bk_shards_of(strategy);
    return shards == 1 ? INT64_MAX : (INT64_MAX - shards + 1) / shards;
}
/* The window between two multiples of a strategy's greatest age, at which its buckets end. */
struct bk_window bk_span_of(const struct bk_strategy *strategy, int64_t time_ns);
/* The first day of a month, in days since 1970-01-01; months are counted from 1970-01. */
int64_t bk_month_begin_days(int64_t month);

/* bk_weight() without the check of the strategy, for callers that have checked it before, such as agents. */
struct bk_row;
struct bk_key_state;
struct bk_placement;

uint64_t bk_weight_of(const struct bk_strategy *strategy, const struct bk_row *row);

/* bk_route() in two parts: the bucket as a whole, as states and eras have it, valid for all rows of the
 * ranges; then the row's partition of that bucket. All buckets of BK_KIND_HASH are partitions of bucket 0. */
enum bk_status bk_route_whole(const struct bk_strategy *strategy, const struct bk_key_state *state,
                              const struct bk_row *row, struct bk_placement *out);
void bk_divide(const struct bk_strategy *strategy, const struct bk_row *row, struct bk_placement *out);

#endif
