/* SPDX-License-Identifier: MIT */
/* Places many rows of one key in one call, with one route for each run of rows. A run ends before the first
 * row for which its route is not valid; a row that fires is a run by itself. */
#include "bucketing/route.h"

#include <string.h>

#define IDS_AT_ONCE 256u

static bool goes_by_time(const struct bk_strategy *strategy)
{
    return strategy->kind == BK_TIME || strategy->max_age_ns != 0;
}

/* Returns whether `rows` has the columns that the strategy needs. */
static bool has_columns(const struct bk_strategy *strategy, const struct bk_rows *rows)
{
    bool wants_ids = bk_kind_fires(strategy->kind) || strategy->kind == BK_HASH;
    return (rows->times_ns != NULL || !goes_by_time(strategy)) && (rows->ids != NULL || !wants_ids) &&
           (rows->sequences != NULL || strategy->kind != BK_COUNT) &&
           (rows->bytes != NULL || strategy->kind != BK_WEIGHTED);
}

static struct bk_row row_at(const struct bk_rows *rows, size_t i)
{
    return (struct bk_row){
        .time_ns = rows->times_ns != NULL ? rows->times_ns[i] : 0,
        .sequence = rows->sequences != NULL ? rows->sequences[i] : 0,
        .id = rows->ids != NULL ? rows->ids[i] : 0,
        .bytes = rows->bytes != NULL ? rows->bytes[i] : 0,
    };
}

/* Returns the first row in [begin, end) for which the route is not valid, or `end` if it is valid for all.
 * The caller passes a range in which no row fires. If the route has no upper bound, it is still taken as not
 * valid for a row with the greatest possible time or number; that only costs another route. Unsigned
 * arithmetic makes two comparisons one. */
static size_t end_of_run(const struct bk_strategy *strategy, const struct bk_route *route,
                         const struct bk_rows *rows, size_t begin, size_t end)
{
    if (strategy->kind == BK_COUNT) {
        uint64_t low = route->sequence_low, span = route->sequence_high - low;
        size_t i = begin;
        while (i < end && rows->sequences[i] - low < span)
            i++;
        end = i;
    }
    if (goes_by_time(strategy)) {
        uint64_t from = (uint64_t)route->from_ns, span = (uint64_t)route->until_ns - from;
        size_t i = begin;
        while (i < end && (uint64_t)rows->times_ns[i] - from < span)
            i++;
        end = i;
    }
    return end;
}

static void hash_rows(const struct bk_strategy *strategy, const uint64_t *ids, size_t count, int64_t *buckets)
{
    int32_t some[IDS_AT_ONCE];
    for (size_t begin = 0; begin < count; begin += IDS_AT_ONCE) {
        size_t size = count - begin < IDS_AT_ONCE ? count - begin : IDS_AT_ONCE;
        bk_buckets_of_ids(ids + begin, size, strategy->of.hash.buckets, some);
        for (size_t i = 0; i < size; i++)
            buckets[begin + i] = some[i];
    }
}

static enum bk_status place(const struct bk_strategy *strategy, struct bk_key_state *state,
                            const struct bk_rows *rows, size_t count, int64_t *buckets)
{
    size_t firing = bk_first_firing(strategy, rows->ids, rows->bytes, 0, count);
    for (size_t i = 0, end; i < count; i = end) {
        struct bk_row row = row_at(rows, i);
        struct bk_route route;
        enum bk_status status = bk_route(strategy, state, &row, &route);
        if (status != BK_OK)
            return status;
        end = i + 1;
        if (i < firing)
            end = end_of_run(strategy, &route, rows, end, firing);
        else
            firing = bk_first_firing(strategy, rows->ids, rows->bytes, end, count);
        for (size_t j = i; j < end; j++)
            buckets[j] = route.bucket;
        /* Only the first row of a run can begin a bucket or fire. */
        bk_advance(strategy, state, &row, NULL); /* cannot fail, because the route succeeded */
    }
    return BK_OK;
}

enum bk_status bk_route_batch(const struct bk_strategy *strategy, struct bk_key_state *state,
                              const struct bk_rows *rows, size_t count, int64_t *buckets)
{
    if (strategy == NULL || rows == NULL || (buckets == NULL && count > 0))
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(strategy);
    if (status != BK_OK)
        return status;
    bool is_stateless =
        strategy->kind == BK_UNBUCKETED || strategy->kind == BK_TIME || strategy->kind == BK_HASH;
    if (!has_columns(strategy, rows) || (state == NULL && !is_stateless))
        return BK_ERROR_NULL;
    if (strategy->kind == BK_HASH) {
        hash_rows(strategy, rows->ids, count, buckets);
        return BK_OK;
    }
    struct bk_key_state after;
    memset(&after, 0, sizeof after);
    if (state != NULL)
        after = *state;
    status = place(strategy, &after, rows, count, buckets);
    if (status == BK_OK && state != NULL)
        *state = after;
    return status;
}
