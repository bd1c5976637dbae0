/* SPDX-License-Identifier: MIT */
/* Creates a strategy from its settings, and refuses invalid settings. */
#include "bucketing/strategy.h"

#include <stddef.h>
#include <string.h>

#define WINDOW_NS_MIN 1000

static enum bk_status make(const struct bk_strategy *made, struct bk_strategy *out)
{
    if (out == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(made);
    if (status == BK_OK)
        *out = *made;
    else
        memset(out, 0, sizeof *out);
    return status;
}

enum bk_status bk_strategy_unbucketed(struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_UNBUCKETED}, out);
}

enum bk_status bk_strategy_time(int64_t window_ns, int64_t epoch_ns, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_TIME, .of.time = {BK_CALENDAR_NONE, window_ns, epoch_ns}},
                out);
}

enum bk_status bk_strategy_calendar(enum bk_calendar unit, struct bk_strategy *out)
{
    struct bk_strategy made = {.kind = BK_TIME, .of.time = {unit, 0, 0}};
    if (out != NULL && unit == BK_CALENDAR_NONE) {
        memset(out, 0, sizeof *out);
        return BK_ERROR_CALENDAR;
    }
    return make(&made, out);
}

enum bk_status bk_strategy_count(uint64_t rows, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_COUNT, .of.count = {rows}}, out);
}

enum bk_status bk_strategy_probabilistic(uint32_t bits, uint64_t threshold, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_PROBABILISTIC, .of.probabilistic = {bits, 0, 0, threshold}},
                out);
}

enum bk_status bk_strategy_probabilistic_chance(uint64_t numerator, uint64_t denominator, uint64_t threshold,
                                                struct bk_strategy *out)
{
    struct bk_strategy made = {.kind = BK_PROBABILISTIC,
                               .of.probabilistic = {0, numerator, denominator, threshold}};
    if (out != NULL && denominator == 0) {
        memset(out, 0, sizeof *out);
        return BK_ERROR_CHANCE;
    }
    return make(&made, out);
}

enum bk_status bk_strategy_hash(uint32_t buckets, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_HASH, .of.hash = {buckets}}, out);
}

enum bk_status bk_strategy_weighted(uint64_t bytes, uint64_t threshold, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_WEIGHTED, .of.weighted = {bytes, threshold}}, out);
}

enum bk_status bk_strategy_max_age(int64_t max_age_ns, struct bk_strategy *strategy)
{
    if (strategy == NULL)
        return BK_ERROR_NULL;
    struct bk_strategy aged = *strategy;
    aged.max_age_ns = max_age_ns;
    enum bk_status status = bk_strategy_check(&aged);
    if (status == BK_OK)
        *strategy = aged;
    return status;
}

enum bk_status bk_strategy_check(const struct bk_strategy *strategy)
{
    if (strategy == NULL)
        return BK_ERROR_NULL;
    if (strategy->max_age_ns != 0 && (strategy->max_age_ns < WINDOW_NS_MIN ||
                                      (strategy->kind != BK_COUNT && !bk_kind_fires(strategy->kind))))
        return BK_ERROR_AGE;
    switch (strategy->kind) {
    case BK_UNBUCKETED:
        return BK_OK;
    case BK_TIME:
        if ((unsigned)strategy->of.time.calendar > BK_CALENDAR_MONTH)
            return BK_ERROR_CALENDAR;
        if (strategy->of.time.calendar == BK_CALENDAR_NONE && strategy->of.time.window_ns < WINDOW_NS_MIN)
            return BK_ERROR_WINDOW;
        return BK_OK;
    case BK_COUNT:
        return strategy->of.count.rows >= 1 ? BK_OK : BK_ERROR_ROWS;
    case BK_PROBABILISTIC:
        if (strategy->of.probabilistic.bits > BK_BITS_MAX)
            return BK_ERROR_BITS;
        if (strategy->of.probabilistic.chance_denominator != 0 &&
            (strategy->of.probabilistic.chance_numerator == 0 ||
             strategy->of.probabilistic.chance_numerator > strategy->of.probabilistic.chance_denominator))
            return BK_ERROR_CHANCE;
        return strategy->of.probabilistic.threshold >= 1 ? BK_OK : BK_ERROR_THRESHOLD;
    case BK_HASH:
        return strategy->of.hash.buckets >= 1 && strategy->of.hash.buckets <= BK_BUCKETS_MAX
                   ? BK_OK
                   : BK_ERROR_BUCKETS;
    case BK_WEIGHTED:
        if (strategy->of.weighted.bytes < 1)
            return BK_ERROR_BYTES;
        return strategy->of.weighted.threshold >= 1 ? BK_OK : BK_ERROR_THRESHOLD;
    case BK_KIND_COUNT:
        break;
    }
    return BK_ERROR_KIND;
}

const char *bk_kind_name(enum bk_kind kind)
{
    static const char *const names[BK_KIND_COUNT] = {"unbucketed",    "time", "count",
                                                     "probabilistic", "hash", "weighted"};
    return (unsigned)kind < BK_KIND_COUNT ? names[kind] : "unknown";
}

bool bk_kind_fires(enum bk_kind kind)
{
    return kind == BK_PROBABILISTIC || kind == BK_WEIGHTED;
}

uint64_t bk_threshold(const struct bk_strategy *strategy)
{
    if (strategy == NULL || !bk_kind_fires(strategy->kind))
        return 0;
    return strategy->kind == BK_WEIGHTED ? strategy->of.weighted.threshold
                                         : strategy->of.probabilistic.threshold;
}
