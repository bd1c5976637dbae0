/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the bucket of a row and whether it fires, if these depend only on the settings and the row: a
 * fixed window, a sequence number, a number of hash buckets, or the bits of an id. core's strategy.h has the
 * rules, which are implemented here a second time. This is not judged if settings change. */
#include "judges.h"

#include <inttypes.h>

static int64_t floor_of(int64_t dividend, int64_t divisor)
{
    return dividend / divisor - (dividend % divisor < 0);
}

/* Times that are so extreme, after a jump of the clock, that a difference overflows are not judged. */
static bool is_window_right(const struct bk_strategy *strategy, int64_t time_ns, int64_t bucket)
{
    int64_t since_ns;
    return strategy->of.time.calendar != BK_CALENDAR_NONE ||
           __builtin_sub_overflow(time_ns, strategy->of.time.epoch_ns, &since_ns) ||
           floor_of(bucket, lab_shards(strategy)) == floor_of(since_ns, strategy->of.time.window_ns);
}

static bool is_bucket_right(const struct bk_strategy *strategy, const struct lab_host_operation *operation,
                            enum bk_source source, int64_t bucket)
{
    switch (strategy->kind) {
    case BK_KIND_UNBUCKETED:
        return bucket == 0;
    case BK_KIND_TIME:
        return is_window_right(strategy, operation->row_time_ns, bucket);
    case BK_KIND_COUNT:
        return source != BK_SOURCE_EXTERNAL || (uint64_t)bucket == operation->row / strategy->of.count.rows;
    case BK_KIND_HASH:
        return bucket >= 0 && bucket < (int64_t)strategy->of.hash.buckets;
    default:
        return true;
    }
}

static bool is_firing_right(const struct bk_strategy *strategy, const struct lab_host_operation *operation)
{
    uint64_t mask = (UINT64_C(1) << strategy->of.probabilistic.bits) - 1;
    return strategy->of.probabilistic.chance_denominator != 0 ||
           operation->fires == ((operation->row_id & mask) == mask);
}

static void __attribute__((cold))
violate(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
        const struct bk_action *next)
{
    if (run->config.strategy.kind != BK_KIND_PROBABILISTIC)
        judge_violate(run, operation->key,
                      "agent %" PRIu32 " puts row %" PRIu64 " into bucket %" PRId64
                      ", which is not the row's bucket",
                      agent, operation->row, next->bucket);
    else
        judge_violate(run, operation->key,
                      "agent %" PRIu32 ": row %" PRIu64 " %s, but the bits of its id say otherwise", agent,
                      operation->row, operation->fires ? "counts" : "does not count");
}

void lab_route_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct bk_action *next)
{
    const struct bk_strategy *strategy = &run->config.strategy;
    if (operation->is_read || next->kind != BK_ACT_PUT_ROW || run->strategy->settings.change_count > 0)
        return;
    if (strategy->kind == BK_KIND_PROBABILISTIC
            ? !is_firing_right(strategy, operation)
            : !is_bucket_right(strategy, operation, run->config.source, next->bucket))
        violate(run, agent, operation, next);
}
