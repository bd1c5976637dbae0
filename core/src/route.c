/* SPDX-License-Identifier: MIT */
/* Where a row belongs: the strategies and their checks, the calendar of windows, one row and many rows. */
#include <stddef.h>
#include <string.h>

#include "bucketing/route.h"
#include "bucketing/status.h"
#include "bucketing/strategy.h"
#include "calendar.h"

const char *bk_status_text(enum bk_status status)
{
    static const char *const texts[] = {
#define BK_STATUS_ROW(name, text) [name] = text,
        BK_STATUS_MAP(BK_STATUS_ROW)
#undef BK_STATUS_ROW
    };
    if ((size_t)status >= sizeof texts / sizeof *texts)
        return "unknown status";
    return texts[status];
}

const char *bk_version(void)
{
    return BK_VERSION;
}

/* Finds the window or UTC calendar unit that contains a time. Days are computed by Howard Hinnant's
 * algorithms for the civil calendar. */

#define HOUR_NS INT64_C(3600000000000)
#define DAY_NS  INT64_C(86400000000000)
#define WEEK_NS INT64_C(604800000000000)
/* 1970-01-01 was a Thursday, and its week began on Monday, 1969-12-29. */
#define WEEK_EPOCH_NS (-3 * DAY_NS)

/* The distance from the epoch may exceed int64_t but not uint64_t. A window that extends beyond the range of
 * int64_t is truncated, since no row can have a time there. */
static struct bk_window fixed_window(int64_t window_ns, int64_t epoch_ns, int64_t time_ns)
{
    uint64_t window = (uint64_t)window_ns;
    struct bk_window out;
    if (time_ns >= epoch_ns) {
        uint64_t distance = (uint64_t)time_ns - (uint64_t)epoch_ns;
        uint64_t into = distance % window, left = window - into;
        out.index = (int64_t)(distance / window);
        out.from_ns = (int64_t)((uint64_t)time_ns - into);
        out.until_ns = left > (uint64_t)INT64_MAX - (uint64_t)time_ns ? INT64_MAX : time_ns + (int64_t)left;
    } else {
        uint64_t distance = (uint64_t)epoch_ns - (uint64_t)time_ns;
        uint64_t left = (distance - 1) % window + 1, into = window - left;
        out.index = -(int64_t)((distance - 1) / window) - 1;
        out.from_ns = into > (uint64_t)time_ns - (uint64_t)INT64_MIN ? INT64_MIN : time_ns - (int64_t)into;
        out.until_ns = (int64_t)((uint64_t)time_ns + left);
    }
    return out;
}

/* Years begin in March here, so that the leap day is the last day of a year. Source: Hinnant,
 * chrono-Compatible Low-Level Date Algorithms, days_from_civil. */
int64_t bk_month_begin_days(int64_t month)
{
    int64_t from_march = month - 2;
    int64_t year = 1970 + bk_floor_divide(from_march, 12);
    int64_t month_of_year = from_march - 12 * bk_floor_divide(from_march, 12);
    int64_t era = bk_floor_divide(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * month_of_year + 2) / 5;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static struct bk_window month_window(int64_t time_ns)
{
    int64_t days = bk_floor_divide(time_ns, DAY_NS);
    /* A mean month lasts 30.436875 days, so the estimate is off by at most one. */
    int64_t month = bk_floor_divide(days * 10000, 304369);
    while (bk_month_begin_days(month) > days)
        month--;
    while (bk_month_begin_days(month + 1) <= days)
        month++;
    int64_t from = bk_month_begin_days(month), until = bk_month_begin_days(month + 1);
    return (struct bk_window){
        .index = month,
        .from_ns = from < INT64_MIN / DAY_NS ? INT64_MIN : from * DAY_NS,
        .until_ns = until > INT64_MAX / DAY_NS ? INT64_MAX : until * DAY_NS,
    };
}

struct bk_window bk_window_of(const struct bk_strategy *strategy, int64_t time_ns)
{
    switch (strategy->of.time.calendar) { /* checked before, so GCOVR_EXCL_BR_LINE */
    case BK_CALENDAR_HOUR:
        return fixed_window(HOUR_NS, 0, time_ns);
    case BK_CALENDAR_DAY:
        return fixed_window(DAY_NS, 0, time_ns);
    case BK_CALENDAR_WEEK:
        return fixed_window(WEEK_NS, WEEK_EPOCH_NS, time_ns);
    case BK_CALENDAR_MONTH:
        return month_window(time_ns);
    case BK_CALENDAR_NONE:
        break;
    }
    return fixed_window(strategy->of.time.window_ns, strategy->of.time.epoch_ns, time_ns);
}

struct bk_window bk_span_of(const struct bk_strategy *strategy, int64_t time_ns)
{
    return fixed_window(strategy->max_age_ns, 0, time_ns);
}

/* Creates a strategy from its settings, and refuses invalid settings. */

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
    return make(&(struct bk_strategy){.kind = BK_KIND_UNBUCKETED}, out);
}

enum bk_status bk_strategy_time(int64_t window_ns, int64_t epoch_ns, struct bk_strategy *out)
{
    return make(
        &(struct bk_strategy){.kind = BK_KIND_TIME, .of.time = {BK_CALENDAR_NONE, window_ns, epoch_ns, 0}},
        out);
}

enum bk_status bk_strategy_calendar(enum bk_calendar unit, struct bk_strategy *out)
{
    struct bk_strategy made = {.kind = BK_KIND_TIME, .of.time = {.calendar = unit}};
    if (out != NULL && unit == BK_CALENDAR_NONE) {
        memset(out, 0, sizeof *out);
        return BK_ERROR_CALENDAR;
    }
    return make(&made, out);
}

enum bk_status bk_strategy_shards(uint32_t shards, struct bk_strategy *strategy)
{
    if (strategy == NULL)
        return BK_ERROR_NULL;
    struct bk_strategy sharded = *strategy;
    if (shards == 0)
        return BK_ERROR_SHARDS;
    *(strategy->kind == BK_KIND_TIME ? &sharded.of.time.shards : &sharded.shards) = shards;
    enum bk_status status = bk_strategy_check(&sharded);
    if (status == BK_OK)
        *strategy = sharded;
    return status;
}

enum bk_status bk_strategy_count(uint64_t rows, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_KIND_COUNT, .of.count = {rows}}, out);
}

enum bk_status bk_strategy_probabilistic(uint32_t bits, uint64_t threshold, struct bk_strategy *out)
{
    return make(
        &(struct bk_strategy){.kind = BK_KIND_PROBABILISTIC, .of.probabilistic = {bits, 0, 0, threshold}},
        out);
}

enum bk_status bk_strategy_probabilistic_chance(uint64_t numerator, uint64_t denominator, uint64_t threshold,
                                                struct bk_strategy *out)
{
    struct bk_strategy made = {.kind = BK_KIND_PROBABILISTIC,
                               .of.probabilistic = {0, numerator, denominator, threshold}};
    if (out != NULL && denominator == 0) {
        memset(out, 0, sizeof *out);
        return BK_ERROR_CHANCE;
    }
    return make(&made, out);
}

enum bk_status bk_strategy_hash(uint32_t buckets, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_KIND_HASH, .of.hash = {buckets}}, out);
}

enum bk_status bk_strategy_weighted(uint64_t bytes, uint64_t threshold, struct bk_strategy *out)
{
    return make(&(struct bk_strategy){.kind = BK_KIND_WEIGHTED, .of.weighted = {bytes, threshold}}, out);
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
                                      (strategy->kind != BK_KIND_COUNT && !bk_kind_fires(strategy->kind))))
        return BK_ERROR_AGE;
    bool may_shard = strategy->kind == BK_KIND_COUNT || bk_kind_fires(strategy->kind);
    if (strategy->shards > (may_shard ? BK_SHARDS_MAX : 0) && (unsigned)strategy->kind < BK_KINDS)
        return BK_ERROR_SHARDS;
    switch (strategy->kind) {
    case BK_KIND_UNBUCKETED:
        return BK_OK;
    case BK_KIND_TIME:
        if ((unsigned)strategy->of.time.calendar > BK_CALENDAR_MONTH)
            return BK_ERROR_CALENDAR;
        if (strategy->of.time.calendar == BK_CALENDAR_NONE && strategy->of.time.window_ns < WINDOW_NS_MIN)
            return BK_ERROR_WINDOW;
        return strategy->of.time.shards <= BK_SHARDS_MAX ? BK_OK : BK_ERROR_SHARDS;
    case BK_KIND_COUNT:
        return strategy->of.count.rows >= 1 ? BK_OK : BK_ERROR_ROWS;
    case BK_KIND_PROBABILISTIC:
        if (strategy->of.probabilistic.bits > BK_BITS_MAX)
            return BK_ERROR_BITS;
        if (strategy->of.probabilistic.chance_denominator != 0 &&
            (strategy->of.probabilistic.chance_numerator == 0 ||
             strategy->of.probabilistic.chance_numerator > strategy->of.probabilistic.chance_denominator))
            return BK_ERROR_CHANCE;
        return strategy->of.probabilistic.threshold >= 1 ? BK_OK : BK_ERROR_THRESHOLD;
    case BK_KIND_HASH:
        return strategy->of.hash.buckets >= 1 && strategy->of.hash.buckets <= BK_BUCKETS_MAX
                   ? BK_OK
                   : BK_ERROR_BUCKETS;
    case BK_KIND_WEIGHTED:
        if (strategy->of.weighted.bytes < 1)
            return BK_ERROR_BYTES;
        return strategy->of.weighted.threshold >= 1 ? BK_OK : BK_ERROR_THRESHOLD;
    case BK_KINDS:
        break;
    }
    return BK_ERROR_KIND;
}

const char *bk_kind_name(enum bk_kind kind)
{
    static const char *const names[BK_KINDS] = {"unbucketed",    "time", "count",
                                                "probabilistic", "hash", "weighted"};
    return (unsigned)kind < BK_KINDS ? names[kind] : "unknown";
}

bool bk_kind_fires(enum bk_kind kind)
{
    return kind == BK_KIND_PROBABILISTIC || kind == BK_KIND_WEIGHTED;
}

uint64_t bk_threshold(const struct bk_strategy *strategy)
{
    if (strategy == NULL || !bk_kind_fires(strategy->kind))
        return 0;
    return strategy->kind == BK_KIND_WEIGHTED ? strategy->of.weighted.threshold
                                              : strategy->of.probabilistic.threshold;
}

/* Places a row in a bucket, determines for which other rows the result is valid, and advances the state of a
 * key. */

static const struct bk_placement everywhere = {
    .scope = BK_SCOPE_RANGE,
    .from_ns = INT64_MIN,
    .until_ns = INT64_MAX,
    .sequence_low = 0,
    .sequence_high = UINT64_MAX,
};

static bool is_over(const struct bk_key_state *state, int64_t time_ns)
{
    return state->is_begun && state->until_ns != INT64_MAX && time_ns >= state->until_ns;
}

static bool is_full(const struct bk_strategy *strategy, const struct bk_key_state *state, uint64_t sequence)
{
    return strategy->kind == BK_KIND_COUNT && state->is_begun && sequence >= state->first_sequence &&
           sequence - state->first_sequence >= strategy->of.count.rows;
}

static uint64_t end_of(uint64_t first, uint64_t rows)
{
    return rows > UINT64_MAX - first ? UINT64_MAX : first + rows;
}

/* On entry, *out is a route without bounds. */
static void route_aged(const struct bk_strategy *strategy, const struct bk_key_state *state,
                       const struct bk_row *row, struct bk_placement *out)
{
    bool over = is_over(state, row->time_ns), full = is_full(strategy, state, row->sequence);
    out->begins = !state->is_begun || over || full;
    out->bucket = state->bucket + (over || full);
    out->until_ns = state->until_ns;
    if (out->begins) {
        struct bk_window span = bk_span_of(strategy, row->time_ns);
        /* The line never goes back; otherwise a late row that begins a bucket would end it immediately. */
        if (!state->is_begun || span.until_ns > state->until_ns)
            out->until_ns = span.until_ns;
        if (over)
            out->from_ns = span.from_ns;
    }
    if (strategy->kind == BK_KIND_COUNT) {
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
    int64_t last = bk_last_bucket(strategy) - (strategy->max_age_ns != 0 ? 2 : 1);
    return state->bucket >= 0 && state->bucket <= last &&
           (strategy->kind == BK_KIND_COUNT || state->counter < bk_threshold(strategy));
}

static void route_count(const struct bk_strategy *strategy, uint64_t sequence, struct bk_placement *out)
{
    uint64_t rows = strategy->of.count.rows, bucket = sequence / rows;
    uint64_t last = (uint64_t)bk_last_bucket(strategy);
    /* With few rows per partition, high sequence numbers would exceed the range of buckets, so they share the
     * last bucket. */
    if (bucket > last)
        bucket = last;
    out->bucket = (int64_t)bucket;
    out->sequence_low = bucket * rows;
    out->sequence_high =
        bucket == last || rows > UINT64_MAX - out->sequence_low ? UINT64_MAX : out->sequence_low + rows;
}

/* The route is filled in place. Copying it just after one of its words was stored would stall on that store,
 * which is half of the cost of a call. */
enum bk_status bk_route_whole(const struct bk_strategy *strategy, const struct bk_key_state *state,
                              const struct bk_row *row, struct bk_placement *out)
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
    case BK_KIND_UNBUCKETED:
        break;
    case BK_KIND_TIME: {
        struct bk_window window = bk_window_of(strategy, row->time_ns);
        out->bucket = window.index;
        out->from_ns = window.from_ns;
        out->until_ns = window.until_ns;
        break;
    }
    case BK_KIND_COUNT:
        route_count(strategy, row->sequence, out);
        break;
    case BK_KIND_PROBABILISTIC:
    case BK_KIND_WEIGHTED:
        if (state == NULL)
            return BK_ERROR_NULL;
        if (!state_fits(strategy, state))
            return BK_ERROR_STATE;
        out->bucket = state->bucket;
        break;
    case BK_KIND_HASH:
    case BK_KINDS:
        break;
    }
    return BK_OK;
}

static uint32_t parts_of(const struct bk_strategy *strategy)
{
    return strategy->kind == BK_KIND_HASH ? strategy->of.hash.buckets : (uint32_t)bk_shards_of(strategy);
}

/* The number cannot overflow: a window lasts at least a microsecond, and a bucket is at most the last one. */
void bk_divide(const struct bk_strategy *strategy, const struct bk_row *row, struct bk_placement *out)
{
    uint32_t parts = parts_of(strategy);
    if (parts == 1 && strategy->kind != BK_KIND_HASH)
        return;
    out->bucket = out->bucket * (int64_t)parts + bk_bucket_of_id(row->id, parts);
    out->scope = BK_SCOPE_ROW;
}

/* If the row begins a bucket, sets the state to that bucket; otherwise leaves it. On entry, *effect is
 * zero. */
static void begin_aged(const struct bk_strategy *strategy, struct bk_key_state *state,
                       const struct bk_row *row, struct bk_effect *effect)
{
    struct bk_placement route = {.from_ns = INT64_MIN, .sequence_high = UINT64_MAX};
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
    state->first_sequence = strategy->kind == BK_KIND_COUNT ? row->sequence : 0;
}

enum bk_status bk_route(const struct bk_strategy *strategy, const struct bk_key_state *state,
                        const struct bk_row *row, struct bk_placement *out)
{
    if (out == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_route_whole(strategy, state, row, out);
    if (status == BK_OK)
        bk_divide(strategy, row, out);
    else
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
    if (strategy->kind == BK_KIND_PROBABILISTIC)
        return id_fires(strategy, row->id);
    if (strategy->kind != BK_KIND_WEIGHTED)
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
    if (strategy->kind == BK_KIND_WEIGHTED)
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
    } else if (strategy->kind == BK_KIND_COUNT) {
        struct bk_placement route = everywhere;
        route_count(strategy, row->sequence, &route);
        done.rolled = route.bucket > state->bucket;
        if (done.rolled) {
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

/* Places many rows of one key in one call, with one route for each run of rows. A run ends before the first
 * row for which its route is not valid; a row that fires is a run by itself. */

#define IDS_AT_ONCE 256u

static bool goes_by_time(const struct bk_strategy *strategy)
{
    return strategy->kind == BK_KIND_TIME || strategy->max_age_ns != 0;
}

/* Returns whether `rows` has the columns that the strategy needs. */
static bool has_columns(const struct bk_strategy *strategy, const struct bk_rows *rows)
{
    bool wants_ids =
        bk_kind_fires(strategy->kind) || strategy->kind == BK_KIND_HASH || parts_of(strategy) > 1;
    return (rows->times_ns != NULL || !goes_by_time(strategy)) && (rows->ids != NULL || !wants_ids) &&
           (rows->sequences != NULL || strategy->kind != BK_KIND_COUNT) &&
           (rows->bytes != NULL || strategy->kind != BK_KIND_WEIGHTED);
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
static size_t end_of_run(const struct bk_strategy *strategy, const struct bk_placement *route,
                         const struct bk_rows *rows, size_t begin, size_t end)
{
    if (strategy->kind == BK_KIND_COUNT) {
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

/* bk_divide() for rows whose buckets as a whole are known. */
static void divide_rows(uint32_t parts, const uint64_t *ids, size_t count, int64_t *buckets)
{
    int32_t some[IDS_AT_ONCE];
    for (size_t begin = 0; begin < count; begin += IDS_AT_ONCE) {
        size_t size = count - begin < IDS_AT_ONCE ? count - begin : IDS_AT_ONCE;
        bk_buckets_of_ids(ids + begin, size, parts, some);
        for (size_t i = 0; i < size; i++)
            buckets[begin + i] = buckets[begin + i] * (int64_t)parts + some[i];
    }
}

/* Sets the buckets as a whole. */
static enum bk_status place(const struct bk_strategy *strategy, struct bk_key_state *state,
                            const struct bk_rows *rows, size_t count, int64_t *buckets)
{
    size_t firing = bk_first_firing(strategy, rows->ids, rows->bytes, 0, count);
    for (size_t i = 0, end; i < count; i = end) {
        struct bk_row row = row_at(rows, i);
        struct bk_placement route;
        enum bk_status status = bk_route_whole(strategy, state, &row, &route);
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
    bool is_stateless = strategy->kind == BK_KIND_UNBUCKETED || strategy->kind == BK_KIND_TIME ||
                        strategy->kind == BK_KIND_HASH;
    if (!has_columns(strategy, rows) || (state == NULL && !is_stateless))
        return BK_ERROR_NULL;
    struct bk_key_state after;
    memset(&after, 0, sizeof after);
    if (state != NULL)
        after = *state;
    status = place(strategy, &after, rows, count, buckets);
    if (status == BK_OK && parts_of(strategy) > 1)
        divide_rows(parts_of(strategy), rows->ids, count, buckets);
    if (status == BK_OK && state != NULL)
        *state = after;
    return status;
}
