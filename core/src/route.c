/* SPDX-License-Identifier: MIT */
/* Places a row in a bucket, determines for which other rows the result is valid, and advances the state of a
 * key. */
#include "bucketing/route.h"

#include <string.h>

#include "bucketing/hash.h"
#include "calendar.h"
#include "weight.h"

static const struct bk_route everywhere = {
    .scope = BK_SCOPE_RANGE,
    .from_ns = INT64_MIN,
    .until_ns = INT64_MAX,
    .sequence_low = 0,
    .sequence_high = UINT64_MAX,
};

/* With a greatest age, a bucket begins with its first row and ends at the next line. */
static struct bk_window span_of(const struct bk_strategy *strategy, int64_t time_ns)
{
    const struct bk_strategy grid = {.kind = BK_TIME, .of.time = {BK_CALENDAR_NONE, strategy->max_age_ns, 0}};
    return bk_window_of(&grid, time_ns);
}

static bool is_over(const struct bk_key_state *state, int64_t time_ns)
{
    return state->is_begun && state->until_ns != INT64_MAX && time_ns >= state->until_ns;
}

static bool is_full(const struct bk_strategy *strategy, const struct bk_key_state *state, uint64_t sequence)
{
    return strategy->kind == BK_COUNT && state->is_begun && sequence >= state->first_sequence &&
           sequence - state->first_sequence >= strategy->of.count.rows;
}

static uint64_t end_of(uint64_t first, uint64_t rows)
{
    return rows > UINT64_MAX - first ? UINT64_MAX : first + rows;
}

/* On entry, *out is a route without bounds. */
static void route_aged(const struct bk_strategy *strategy, const struct bk_key_state *state,
                       const struct bk_row *row, struct bk_route *out)
{
    bool over = is_over(state, row->time_ns), full = is_full(strategy, state, row->sequence);
    out->begins = !state->is_begun || over || full;
    out->bucket = state->bucket + (over || full);
    out->until_ns = state->until_ns;
    if (out->begins) {
        struct bk_window span = span_of(strategy, row->time_ns);
        /* The line never goes back; otherwise a late row that begins a bucket would end it immediately. */
        if (!state->is_begun || span.until_ns > state->until_ns)
            out->until_ns = span.until_ns;
        if (over)
            out->from_ns = span.from_ns;
    }
    if (strategy->kind == BK_COUNT) {
        uint64_t rows = strategy->of.count.rows;
        /* Beyond the line, a row of any number begins the next bucket; before the line, only rows with a
         * number beyond the bucket's last do. */
        out->sequence_low = full && !over ? end_of(state->first_sequence, rows) : 0;
        out->sequence_high = end_of(out->begins ? row->sequence : state->first_sequence, rows);
    }
}

static bool state_fits(const struct bk_strategy *strategy, const struct bk_key_state *state)
{
    /* With a greatest age, one row may roll the key twice: before and after it is counted. */
    int64_t last = strategy->max_age_ns != 0 ? INT64_MAX - 2 : INT64_MAX - 1;
    return state->bucket >= 0 && state->bucket <= last &&
           (strategy->kind == BK_COUNT || state->counter < bk_threshold(strategy));
}

static void route_count(const struct bk_strategy *strategy, uint64_t sequence, struct bk_route *out)
{
    uint64_t rows = strategy->of.count.rows, bucket = sequence / rows;
    /* With one row per partition, sequence numbers above 2^63 would exceed the range of buckets, so they
     * share the last bucket. */
    if (bucket > INT64_MAX)
        bucket = INT64_MAX;
    out->bucket = (int64_t)bucket;
    out->sequence_low = bucket * rows;
    out->sequence_high =
        bucket == INT64_MAX || rows > UINT64_MAX - out->sequence_low ? UINT64_MAX : out->sequence_low + rows;
}

/* The route is filled in place. Copying it just after one of its words was stored would stall on that store,
 * which is half of the cost of a call. */
static enum bk_status route(const struct bk_strategy *strategy, const struct bk_key_state *state,
                            const struct bk_row *row, struct bk_route *out)
{
    if (strategy == NULL || row == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(strategy);
    if (status != BK_OK)
        return status;
    *out = everywhere;
    if (strategy->max_age_ns != 0) {
        if (state == NULL)
            return BK_ERROR_NULL;
        if (!state_fits(strategy, state))
            return BK_ERROR_STATE;
        route_aged(strategy, state, row, out);
        return BK_OK;
    }
    switch (strategy->kind) { /* checked before, so GCOVR_EXCL_BR_LINE */
    case BK_UNBUCKETED:
        break;
    case BK_TIME: {
        struct bk_window window = bk_window_of(strategy, row->time_ns);
        out->bucket = window.index;
        out->from_ns = window.from_ns;
        out->until_ns = window.until_ns;
        break;
    }
    case BK_COUNT:
        route_count(strategy, row->sequence, out);
        break;
    case BK_PROBABILISTIC:
    case BK_WEIGHTED:
        if (state == NULL)
            return BK_ERROR_NULL;
        if (!state_fits(strategy, state))
            return BK_ERROR_STATE;
        out->bucket = state->bucket;
        break;
    case BK_HASH:
        out->bucket = bk_bucket_of_id(row->id, strategy->of.hash.buckets);
        out->scope = BK_SCOPE_ROW;
        break;
    case BK_KIND_COUNT:
        break;
    }
    return BK_OK;
}

/* If the row begins a bucket, sets the state to that bucket; otherwise leaves it. On entry, *effect is
 * zero. */
static void begin_aged(const struct bk_strategy *strategy, struct bk_key_state *state,
                       const struct bk_row *row, struct bk_effect *effect)
{
    struct bk_route route = {.from_ns = INT64_MIN, .sequence_high = UINT64_MAX};
    route_aged(strategy, state, row, &route);
    if (!route.begins)
        return;
    effect->state_writes = 1;
    effect->rolled = route.bucket != state->bucket;
    if (effect->rolled) {
        state->bucket = route.bucket;
        state->counter = 0;
        state->last_change_ns = row->time_ns;
    }
    state->is_begun = true;
    state->until_ns = route.until_ns;
    state->first_sequence = strategy->kind == BK_COUNT ? row->sequence : 0;
}

enum bk_status bk_route(const struct bk_strategy *strategy, const struct bk_key_state *state,
                        const struct bk_row *row, struct bk_route *out)
{
    if (out == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = route(strategy, state, row, out);
    if (status != BK_OK)
        memset(out, 0, sizeof *out);
    return status;
}

/* Returns the high 64 bits of a 128-bit product. */
static inline uint64_t multiply_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#else
    uint64_t a_low = a & UINT32_MAX, a_high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
    uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
    uint64_t middle_low = a_low * b_high + (middle & UINT32_MAX);
    return a_high * b_high + (middle >> 32) + (middle_low >> 32);
#endif
}

static bool id_fires(const struct bk_strategy *strategy, uint64_t id)
{
    if (strategy->of.probabilistic.chance_denominator == 0)
        return (~id & ((UINT64_C(1) << strategy->of.probabilistic.bits) - 1)) == 0;
    return multiply_high(id, strategy->of.probabilistic.chance_denominator) <
           strategy->of.probabilistic.chance_numerator;
}

uint64_t bk_weight_of(const struct bk_strategy *strategy, const struct bk_row *row)
{
    if (strategy->kind == BK_PROBABILISTIC)
        return id_fires(strategy, row->id);
    if (strategy->kind != BK_WEIGHTED)
        return 0;
    uint64_t unit = strategy->of.weighted.bytes;
    return row->bytes / unit + (multiply_high(row->id, unit) < row->bytes % unit);
}

uint64_t bk_weight(const struct bk_strategy *strategy, const struct bk_row *row)
{
    if (row == NULL || bk_strategy_check(strategy) != BK_OK)
        return 0;
    return bk_weight_of(strategy, row);
}

bool bk_fires(const struct bk_strategy *strategy, const struct bk_row *row)
{
    return bk_weight(strategy, row) > 0;
}

/* This needs no division: the high word of the product is below `unit`, so a row of at least `unit` bytes
 * fires here too, and the remainder of a smaller row is its size. */
static size_t first_weighty(uint64_t unit, const uint64_t *ids, const uint64_t *bytes, size_t begin,
                            size_t end)
{
    if (bytes == NULL)
        return begin;
    size_t i = begin;
    while (i < end && multiply_high(ids[i], unit) >= bytes[i])
        i++;
    return i;
}

size_t bk_first_firing(const struct bk_strategy *strategy, const uint64_t *ids, const uint64_t *bytes,
                       size_t begin, size_t end)
{
    if (ids == NULL || bk_strategy_check(strategy) != BK_OK || !bk_kind_fires(strategy->kind))
        return end;
    if (strategy->kind == BK_WEIGHTED)
        return first_weighty(strategy->of.weighted.bytes, ids, bytes, begin, end);
    size_t i = begin;
    if (strategy->of.probabilistic.chance_denominator != 0) {
        while (i < end && !id_fires(strategy, ids[i]))
            i++;
        return i;
    }
    /* One row in 2^bits fires, so eight rows are tested together, and only if one of them fires is it
     * searched for. The masked value is 0 only for a row that fires, and then 1 less has the highest bit set,
     * so the test needs no comparison. */
    uint64_t mask = (UINT64_C(1) << strategy->of.probabilistic.bits) - 1;
    for (; i + 8 <= end; i += 8) {
        uint64_t any = 0;
        for (size_t j = 0; j < 8; j++)
            any |= (~ids[i + j] & mask) - 1;
        if (any >> 63 != 0)
            break;
    }
    while (i < end && (~ids[i] & mask) != 0)
        i++;
    return i;
}

enum bk_status bk_advance(const struct bk_strategy *strategy, struct bk_key_state *state,
                          const struct bk_row *row, struct bk_effect *effect)
{
    struct bk_effect done = {0, 0, false};
    if (effect != NULL)
        *effect = done;
    if (strategy == NULL || state == NULL || row == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(strategy);
    if (status != BK_OK)
        return status;
    bool is_aged = strategy->max_age_ns != 0, can_fire = bk_kind_fires(strategy->kind);
    if ((is_aged || can_fire) && !state_fits(strategy, state))
        return BK_ERROR_STATE;
    if (is_aged) {
        begin_aged(strategy, state, row, &done);
    } else if (strategy->kind == BK_COUNT) {
        struct bk_route route = everywhere;
        route_count(strategy, row->sequence, &route);
        if (route.bucket > state->bucket) {
            state->bucket = route.bucket;
            state->last_change_ns = row->time_ns;
        }
    }
    if (can_fire) {
        uint64_t weight = bk_weight_of(strategy, row);
        done.counter_increments = weight > 0;
        if (weight >= bk_threshold(strategy) - state->counter) {
            state->bucket++;
            state->counter = 0;
            state->last_change_ns = row->time_ns;
            state->is_begun = false;
            state->until_ns = 0;
            done.state_writes = 1;
            done.rolled = true;
        } else {
            state->counter += weight;
        }
    }
    if (effect != NULL)
        *effect = done;
    return BK_OK;
}
