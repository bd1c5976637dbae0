/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a route and its validity keep the guarantees of route.h, and only bk_advance() changes a key state.
 * Method: properties over random strategies, states and rows (a route anywhere within its ranges gives the
 * same bucket, and just outside them another one), and naive models: bits tested one by one, chances in 128
 * bits, a counter, and a host that routes every row compared with a host that jumps to the end of the
 * validity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bucketing/hash.h"
#include "bucketing/route.h"

#include <inttypes.h>
#include <string.h>

#include "draw.h"

__extension__ typedef unsigned __int128 wide;

static struct bk_strategy draw_strategy(struct draw *draw)
{
    struct bk_strategy strategy;
    enum bk_status status;
    uint64_t threshold = 1 + draw_size(draw) % UINT64_MAX;
    switch (draw_below(draw, 9)) {
    case 0:
        status = bk_strategy_unbucketed(&strategy);
        break;
    case 1:
    case 2:
        status = bk_strategy_time(1000 + (int64_t)(draw_size(draw) >> 2), draw_time(draw), &strategy);
        break;
    case 3:
        status = bk_strategy_calendar((enum bk_calendar)(1 + draw_below(draw, 4)), &strategy);
        break;
    case 4:
        status = bk_strategy_count(1 + draw_size(draw) % UINT64_MAX, &strategy);
        break;
    case 5:
        status = bk_strategy_probabilistic((uint32_t)draw_below(draw, 33), threshold, &strategy);
        break;
    case 6: {
        uint64_t n = 1 + draw_size(draw) % UINT64_MAX, m = 1 + draw_bits(draw) % n;
        status = bk_strategy_probabilistic_chance(m, n, threshold, &strategy);
        break;
    }
    case 7:
        status = bk_strategy_weighted(1 + draw_size(draw) % UINT64_MAX, threshold, &strategy);
        break;
    default:
        status = bk_strategy_hash(1 + (uint32_t)(draw_size(draw) % BK_BUCKETS_MAX), &strategy);
    }
    assert_int_equal(status, BK_OK);
    return strategy;
}

/* A state that the strategy can produce. */
static struct bk_key_state draw_state(struct draw *draw, const struct bk_strategy *strategy)
{
    struct bk_key_state state = {.bucket = (int64_t)(draw_size(draw) >> 1),
                                 .last_change_ns = draw_time(draw)};
    if (state.bucket == INT64_MAX)
        state.bucket--;
    if (bk_kind_fires(strategy->kind))
        state.counter = draw_bits(draw) % bk_threshold(strategy);
    return state;
}

static struct bk_row draw_row(struct draw *draw)
{
    uint64_t sequence = draw_size(draw);
    if (draw_below(draw, 4) == 0)
        sequence = UINT64_MAX - sequence;
    return (struct bk_row){draw_time(draw), sequence, draw_bits(draw), draw_size(draw)};
}

/* Follows the wording of route.h, one bit at a time. */
static uint64_t naive_weight(const struct bk_strategy *strategy, uint64_t id, uint64_t bytes)
{
    if (strategy->kind == BK_KIND_WEIGHTED) {
        uint64_t unit = strategy->of.weighted.bytes, rest = bytes - bytes / unit * unit;
        return bytes / unit + ((uint64_t)((wide)id * unit >> 64) < rest ? 1 : 0);
    }
    if (strategy->kind != BK_KIND_PROBABILISTIC)
        return 0;
    uint64_t m = strategy->of.probabilistic.chance_numerator,
             n = strategy->of.probabilistic.chance_denominator;
    if (n != 0)
        return (uint64_t)((wide)id * n >> 64) < m;
    for (uint32_t bit = 0; bit < strategy->of.probabilistic.bits; bit++) {
        if ((id >> bit & 1) == 0)
            return 0;
    }
    return 1;
}

static int64_t bucket_at(const struct bk_strategy *strategy, const struct bk_key_state *state,
                         const struct bk_row *row)
{
    struct bk_placement route;
    assert_int_equal(bk_route(strategy, state, row, &route), BK_OK);
    return route.bucket;
}

static void assert_same_within(struct draw *draw, const struct bk_strategy *strategy,
                               const struct bk_key_state *state, const struct bk_placement *route)
{
    for (int i = 0; i < 12; i++) {
        struct bk_row row = draw_row(draw);
        uint64_t span = (uint64_t)route->until_ns - (uint64_t)route->from_ns;
        uint64_t width = route->sequence_high - route->sequence_low;
        /* A half-open range that begins with the last number is empty. */
        if (span == 0 || width == 0)
            return;
        uint64_t into = i == 0 ? 0 : i == 1 ? span - 1 : draw_bits(draw) % span;
        row.time_ns = (int64_t)((uint64_t)route->from_ns + into);
        row.sequence = route->sequence_low + (i == 0 ? 0 : i == 1 ? width - 1 : draw_bits(draw) % width);
        if (bk_fires(strategy, &row))
            continue;
        struct bk_placement again;
        assert_int_equal(bk_route(strategy, state, &row, &again), BK_OK);
        assert_memory_equal(&again, route, sizeof again);
    }
}

static void assert_other_beyond(const struct bk_strategy *strategy, const struct bk_key_state *state,
                                const struct bk_row *row, const struct bk_placement *route)
{
    struct bk_row beyond = *row;
    if (route->from_ns != INT64_MIN) {
        beyond.time_ns = route->from_ns - 1;
        assert_true(bucket_at(strategy, state, &beyond) == route->bucket - 1);
    }
    if (route->until_ns != INT64_MAX) {
        beyond.time_ns = route->until_ns;
        assert_true(bucket_at(strategy, state, &beyond) == route->bucket + 1);
    }
    beyond = *row;
    if (route->sequence_low != 0) {
        beyond.sequence = route->sequence_low - 1;
        assert_true(bucket_at(strategy, state, &beyond) == route->bucket - 1);
    }
    if (route->sequence_high != UINT64_MAX) {
        beyond.sequence = route->sequence_high;
        assert_true(bucket_at(strategy, state, &beyond) == route->bucket + 1);
    }
}

static void test_route_validity_holds_within_and_ends_beyond(void **state)
{
    (void)state;
    struct draw draw = {.state = 1};
    int ended[2] = {0, 0};
    for (int i = 0; i < 100000; i++) {
        struct bk_strategy strategy = draw_strategy(&draw);
        struct bk_key_state key = draw_state(&draw, &strategy), before = key;
        struct bk_row row = draw_row(&draw);
        struct bk_placement route;
        memset(&route, 0xa5, sizeof route);
        assert_int_equal(bk_route(&strategy, &key, &row, &route), BK_OK);
        assert_memory_equal(&key, &before, sizeof key);
        assert_true(route.from_ns <= row.time_ns &&
                    (row.time_ns < route.until_ns || route.until_ns == INT64_MAX));
        assert_true(route.sequence_low <= row.sequence &&
                    (row.sequence < route.sequence_high || route.sequence_high == UINT64_MAX));
        if (strategy.kind == BK_KIND_HASH) {
            assert_int_equal(route.scope, BK_SCOPE_ROW);
            continue;
        }
        assert_int_equal(route.scope, BK_SCOPE_RANGE);
        if (strategy.kind != BK_KIND_TIME)
            assert_true(route.from_ns == INT64_MIN && route.until_ns == INT64_MAX);
        if (strategy.kind != BK_KIND_COUNT)
            assert_true(route.sequence_low == 0 && route.sequence_high == UINT64_MAX);
        assert_same_within(&draw, &strategy, &key, &route);
        assert_other_beyond(&strategy, &key, &row, &route);
        ended[0] += route.until_ns != INT64_MAX;
        ended[1] += route.sequence_high != UINT64_MAX;
    }
    assert_true(ended[0] > 10000 && ended[1] > 5000);
}

static void test_route_count_is_the_sequence_divided(void **state)
{
    (void)state;
    struct draw draw = {.state = 2};
    for (int i = 0; i < 100000; i++) {
        uint64_t rows = 1 + draw_size(&draw) % UINT64_MAX;
        struct bk_row row = draw_row(&draw);
        struct bk_strategy strategy;
        struct bk_placement route;
        assert_int_equal(bk_strategy_count(rows, &strategy), BK_OK);
        assert_int_equal(bk_route(&strategy, NULL, &row, &route), BK_OK);
        uint64_t bucket = row.sequence / rows;
        wide high = (wide)(bucket + 1) * rows;
        if (bucket >= INT64_MAX) {
            assert_true(rows == 1 || bucket == INT64_MAX);
            assert_true(route.bucket == INT64_MAX && route.sequence_high == UINT64_MAX);
            continue;
        }
        assert_true(route.bucket == (int64_t)bucket && route.sequence_low == bucket * rows);
        assert_true(route.sequence_high == (high > UINT64_MAX ? UINT64_MAX : (uint64_t)high));
    }
    /* The only setting whose buckets would overflow int64: the last bucket takes all rows above it. */
    struct bk_strategy single;
    struct bk_placement route;
    assert_int_equal(bk_strategy_count(1, &single), BK_OK);
    struct bk_row row = {.sequence = UINT64_MAX};
    assert_int_equal(bk_route(&single, NULL, &row, &route), BK_OK);
    assert_true(route.bucket == INT64_MAX && route.sequence_low == INT64_MAX);
    row.sequence = INT64_MAX - UINT64_C(1);
    assert_int_equal(bk_route(&single, NULL, &row, &route), BK_OK);
    assert_true(route.bucket == INT64_MAX - 1 && route.sequence_high == INT64_MAX);
}

static void test_route_hash_uses_the_id_only(void **state)
{
    (void)state;
    struct draw draw = {.state = 3};
    for (int i = 0; i < 20000; i++) {
        uint32_t buckets = 1 + (uint32_t)(draw_size(&draw) % BK_BUCKETS_MAX);
        struct bk_strategy strategy;
        assert_int_equal(bk_strategy_hash(buckets, &strategy), BK_OK);
        struct bk_row row = draw_row(&draw), other = draw_row(&draw);
        other.id = row.id;
        int64_t bucket = bucket_at(&strategy, NULL, &row);
        assert_true(bucket >= 0 && bucket < (int64_t)buckets);
        uint8_t bytes[8];
        for (int b = 0; b < 8; b++)
            bytes[b] = (uint8_t)(row.id >> (8 * b));
        assert_int_equal(bucket, bk_consistent_hash(bk_murmur3_128(bytes, 8, 0).h1, buckets));
        assert_int_equal(bucket, bk_bucket_of_id(row.id, buckets));
        assert_int_equal(bucket, bucket_at(&strategy, NULL, &other));
    }
}

static void test_route_probabilistic_gives_the_states_bucket(void **state)
{
    (void)state;
    struct draw draw = {.state = 4};
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(0, 3, &strategy), BK_OK);
    for (int i = 0; i < 1000; i++) {
        struct bk_key_state key = draw_state(&draw, &strategy);
        struct bk_row row = draw_row(&draw);
        /* A row that fires still goes to the bucket that it may close. */
        assert_true(bk_fires(&strategy, &row));
        assert_true(bucket_at(&strategy, &key, &row) == key.bucket);
    }
}

static void test_fires_random_ids_agree_with_the_naive_rule(void **state)
{
    (void)state;
    struct draw draw = {.state = 5};
    for (int i = 0; i < 200000; i++) {
        struct bk_strategy strategy = draw_strategy(&draw);
        struct bk_row row = draw_row(&draw);
        /* Otherwise no id would fire at many bits, and none would miss by one bit. */
        if (i % 2 == 0)
            row.id |= (UINT64_C(1) << draw_below(&draw, 34)) - 1;
        if (i % 8 == 0)
            row.id ^= UINT64_C(1) << draw_below(&draw, 34);
        uint64_t weight = naive_weight(&strategy, row.id, row.bytes);
        assert_true(bk_weight(&strategy, &row) == weight);
        assert_int_equal(bk_fires(&strategy, &row), weight > 0);
    }
    struct bk_strategy strategy;
    struct bk_row row = {0};
    assert_int_equal(bk_strategy_probabilistic(0, 1, &strategy), BK_OK);
    assert_true(bk_fires(&strategy, &row));
    assert_true(bk_weight(NULL, &row) == 0 && bk_weight(&strategy, NULL) == 0);
    assert_false(bk_fires(NULL, &row));
    assert_false(bk_fires(&strategy, NULL));
}

/* Exactly the ids below ceil(m 2^64 / n) fire: the chance is m/n rounded up to a multiple of 2^-64. */
static void test_fires_chance_is_exact_to_the_last_id(void **state)
{
    (void)state;
    struct draw draw = {.state = 6};
    for (int i = 0; i < 50000; i++) {
        uint64_t n = 1 + draw_size(&draw) % UINT64_MAX, m = 1 + draw_bits(&draw) % n;
        if (i % 4 == 0)
            m = n;
        wide firing = (((wide)m << 64) + n - 1) / n;
        struct bk_strategy strategy;
        assert_int_equal(bk_strategy_probabilistic_chance(m, n, 1, &strategy), BK_OK);
        struct bk_row row = {.id = (uint64_t)(firing - 1)};
        assert_true(bk_fires(&strategy, &row));
        if (firing <= UINT64_MAX) {
            row.id = (uint64_t)firing;
            assert_false(bk_fires(&strategy, &row));
        }
    }
}

#define IDS 44

static void check_first_firing(const struct bk_strategy *strategy, const uint64_t *ids, const uint64_t *bytes)
{
    for (size_t begin = 0; begin <= IDS; begin++) {
        for (size_t end = begin; end <= IDS; end++) {
            size_t wanted = begin;
            while (wanted < end &&
                   !bk_fires(strategy, &(struct bk_row){.id = ids[wanted], .bytes = bytes[wanted]}))
                wanted++;
            assert_int_equal(bk_first_firing(strategy, ids, bytes, begin, end), wanted);
        }
    }
}

static void test_first_firing_equals_a_test_of_each_row(void **state)
{
    (void)state;
    struct draw draw = {.state = 7};
    for (int i = 0; i < 330; i++) {
        struct bk_strategy strategy;
        uint64_t ids[IDS], n = 1 + draw_below(&draw, 40);
        uint32_t bits = (uint32_t)i % 33;
        assert_int_equal(i % 5 == 4
                             ? bk_strategy_probabilistic_chance(1 + draw_below(&draw, n), n, 1, &strategy)
                             : bk_strategy_probabilistic(bits, 1, &strategy),
                         BK_OK);
        /* None, one, or some of the ids fire, and some ids miss by their highest or lowest bit. */
        for (size_t j = 0; j < IDS; j++) {
            uint64_t mask = (UINT64_C(1) << bits) - 1,
                     miss = draw_below(&draw, 2) == 0 ? 1 : mask ^ (mask >> 1);
            ids[j] = draw_bits(&draw) & ~(bits == 0 ? 0 : miss);
            if (i % 3 == 1 ? j == (size_t)i / 3 % IDS : i % 3 == 2 && draw_below(&draw, 16) == 0)
                ids[j] |= mask;
        }
        check_first_firing(&strategy, ids, ids);
    }
}

static void test_first_firing_weighted_equals_a_test_of_each_row(void **state)
{
    (void)state;
    struct draw draw = {.state = 14};
    size_t fired = 0;
    for (int i = 0; i < 330; i++) {
        struct bk_strategy strategy;
        uint64_t ids[IDS], bytes[IDS], unit = 1 + draw_size(&draw) % UINT64_MAX;
        assert_int_equal(bk_strategy_weighted(unit, 1, &strategy), BK_OK);
        for (size_t j = 0; j < IDS; j++) {
            ids[j] = draw_bits(&draw);
            bytes[j] = draw_below(&draw, 20) == 0 ? draw_size(&draw) : unit >> draw_below(&draw, 10);
        }
        check_first_firing(&strategy, ids, bytes);
        fired += bk_first_firing(&strategy, ids, bytes, 0, IDS) > 0;
        /* Without sizes each row may fire. */
        assert_int_equal(bk_first_firing(&strategy, ids, NULL, 3, IDS), 3);
    }
    assert_in_range(fired, 50, 300);
}

/* 19 checks at 8 sigma, each with a mean of 900 at the least: the chance of a false alarm is below 1e-11. */
static void test_fires_fraction_is_the_chance(void **state)
{
    (void)state;
    enum { DRAWS = 1000000, AT_ONCE = 1000 };
    static const uint64_t chances[][2] = {{1, 1000},
                                          {1, 300},
                                          {2, 3},
                                          {999, 1000},
                                          {1, 1},
                                          {77, 1024},
                                          {UINT64_MAX / 7, UINT64_MAX},
                                          {UINT64_C(1) << 62, UINT64_C(1) << 63}};
    struct draw draw = {.state = 8};
    for (size_t i = 0; i < 11 + sizeof chances / sizeof *chances; i++) {
        struct bk_strategy strategy;
        bool by_bits = i < 11;
        const uint64_t *chance = by_bits ? NULL : chances[i - 11];
        double p = by_bits ? 1.0 / (double)(1 << i) : (double)chance[0] / (double)chance[1];
        assert_int_equal(by_bits ? bk_strategy_probabilistic((uint32_t)i, 1, &strategy)
                                 : bk_strategy_probabilistic_chance(chance[0], chance[1], 1, &strategy),
                         BK_OK);
        double fired = 0;
        for (int done = 0; done < DRAWS; done += AT_ONCE) {
            uint64_t ids[AT_ONCE];
            for (size_t j = 0; j < AT_ONCE; j++)
                ids[j] = draw_bits(&draw);
            for (size_t j = 0; (j = bk_first_firing(&strategy, ids, NULL, j, AT_ONCE)) < AT_ONCE; j++)
                fired++;
        }
        double off = fired - DRAWS * p;
        assert_true(off * off <= 64 * DRAWS * p * (1 - p));
    }
}

static void test_advance_follows_a_naive_counter(void **state)
{
    (void)state;
    struct draw draw = {.state = 9};
    for (int run = 0; run < 60; run++) {
        struct bk_strategy strategy;
        uint64_t threshold = 1 + draw_below(&draw, 5), n = 2 + draw_below(&draw, 9);
        assert_int_equal(run % 2 == 0
                             ? bk_strategy_probabilistic((uint32_t)draw_below(&draw, 4), threshold, &strategy)
                             : bk_strategy_probabilistic_chance(1, n, threshold, &strategy),
                         BK_OK);
        struct bk_key_state key = {0};
        int64_t bucket = 0, last_change_ns = 0;
        uint64_t fired = 0;
        for (int i = 0; i < 1000; i++) {
            struct bk_row row = draw_row(&draw);
            assert_true(bucket_at(&strategy, &key, &row) == bucket);
            bool fires = naive_weight(&strategy, row.id, 0) > 0,
                 rolls = fires && (fired + 1) % threshold == 0;
            fired += fires;
            if (rolls) {
                bucket++;
                last_change_ns = row.time_ns;
            }
            struct bk_effect effect = {7, 7, !rolls};
            assert_int_equal(bk_advance(&strategy, &key, &row, i % 7 == 0 ? NULL : &effect), BK_OK);
            assert_true(key.bucket == bucket && key.counter == fired % threshold);
            assert_true(key.last_change_ns == last_change_ns);
            if (i % 7 != 0) {
                assert_int_equal(effect.counter_increments, fires);
                assert_int_equal(effect.state_writes, rolls);
                assert_int_equal(effect.rolled, rolls);
            }
        }
        assert_true(bucket == (int64_t)(fired / threshold) && fired > 0);
    }
}

/* The part of a row's weight beyond the threshold is lost: the counter of the next bucket begins at 0. */
static void test_advance_weighted_follows_a_naive_counter(void **state)
{
    (void)state;
    struct draw draw = {.state = 13};
    size_t rolls = 0, over = 0;
    for (int run = 0; run < 60; run++) {
        struct bk_strategy strategy;
        uint64_t threshold = run == 0 ? UINT64_MAX : 1 + draw_below(&draw, 9),
                 unit = 1 + draw_below(&draw, 1000);
        assert_int_equal(bk_strategy_weighted(unit, threshold, &strategy), BK_OK);
        struct bk_key_state key = {0}, naive = {0};
        for (int i = 0; i < 1000; i++) {
            struct bk_row row = draw_row(&draw);
            row.bytes = draw_below(&draw, 30) == 0 ? draw_size(&draw) : draw_below(&draw, 3 * unit);
            assert_true(bucket_at(&strategy, &key, &row) == naive.bucket);
            uint64_t weight = naive_weight(&strategy, row.id, row.bytes);
            wide count = (wide)naive.counter + weight;
            bool is_full = count >= threshold;
            naive.counter = is_full ? 0 : (uint64_t)count;
            naive.bucket += is_full;
            naive.last_change_ns = is_full ? row.time_ns : naive.last_change_ns;
            rolls += is_full;
            over += is_full && count > threshold;
            struct bk_effect effect = {7, 7, !is_full};
            assert_int_equal(bk_advance(&strategy, &key, &row, &effect), BK_OK);
            assert_memory_equal(&key, &naive, sizeof key);
            assert_int_equal(effect.counter_increments, weight > 0);
            assert_int_equal(effect.state_writes, is_full);
            assert_int_equal(effect.rolled, is_full);
        }
    }
    assert_true(rolls > 5000 && over > 1000);
}

/* A row adds bytes / B on average: 6 checks at 8 sigma, each with 10^6 rows. The chance of a false alarm is
 * below 1e-14. */
static void test_weight_is_bytes_over_the_unit_on_average(void **state)
{
    (void)state;
    enum { DRAWS = 1000000 };
    static const uint64_t settings[][2] = {{1, 512000},           {350, 512000},
                                           {511999, 512000},      {700000, 512000},
                                           {12345678901, 512000}, {UINT64_MAX / 3, UINT64_MAX}};
    struct draw draw = {.state = 15};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct bk_strategy strategy;
        uint64_t bytes = settings[i][0], unit = settings[i][1], whole = bytes / unit;
        assert_int_equal(bk_strategy_weighted(unit, 1, &strategy), BK_OK);
        double p = (double)(bytes % unit) / (double)unit, more = 0;
        for (int done = 0; done < DRAWS; done++) {
            struct bk_row row = {.id = draw_bits(&draw), .bytes = bytes};
            more += (double)(bk_weight(&strategy, &row) - whole);
        }
        double off = more - DRAWS * p, mean = DRAWS * p < 900 ? 900 : DRAWS * p;
        assert_true(off * off <= 64 * mean);
    }
}

static void test_advance_count_keeps_the_newest_bucket(void **state)
{
    (void)state;
    struct draw draw = {.state = 10};
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
    struct bk_key_state key = {0};
    int64_t newest = 0, changed_ns = 0;
    for (int i = 0; i < 1000; i++) {
        struct bk_row row = {.time_ns = i + 1, .sequence = draw_below(&draw, 10u * (unsigned)(i + 1))};
        struct bk_effect effect = {7, 7, true};
        bool rolls = (int64_t)(row.sequence / 10) > newest;
        if (rolls) {
            newest = (int64_t)(row.sequence / 10);
            changed_ns = row.time_ns;
        }
        assert_int_equal(bk_advance(&strategy, &key, &row, &effect), BK_OK);
        assert_true(key.bucket == newest && key.counter == 0 && key.last_change_ns == changed_ns);
        /* The number comes from outside, so nothing is written for it. */
        assert_true(effect.counter_increments == 0 && effect.state_writes == 0 && effect.rolled == rolls);
    }
}

static void test_advance_stateless_kinds_change_nothing(void **state)
{
    (void)state;
    struct draw draw = {.state = 11};
    for (int i = 0; i < 20000; i++) {
        struct bk_strategy strategy = draw_strategy(&draw);
        if (bk_kind_fires(strategy.kind) || strategy.kind == BK_KIND_COUNT)
            continue;
        struct bk_key_state key = draw_state(&draw, &strategy), before = key;
        struct bk_row row = draw_row(&draw);
        struct bk_effect effect = {7, 7, true};
        assert_int_equal(bk_advance(&strategy, &key, &row, &effect), BK_OK);
        assert_memory_equal(&key, &before, sizeof key);
        assert_true(effect.counter_increments == 0 && effect.state_writes == 0 && !effect.rolled);
    }
}

#define ROWS 400

/* Counts rows in steps that end where the validity ends, and advances only for the rows that fire. */
static void place_by_jumps(const struct bk_strategy *strategy, const int64_t *times_ns, const uint64_t *ids,
                           const uint64_t *bytes, int64_t *buckets)
{
    struct bk_key_state key = {0};
    size_t i = 0;
    while (i < ROWS) {
        struct bk_row row = {times_ns[i], i, ids[i], bytes[i]};
        struct bk_placement route;
        assert_int_equal(bk_route(strategy, &key, &row, &route), BK_OK);
        size_t end = bk_first_firing(strategy, ids, bytes, i, ROWS);
        for (; i < end && times_ns[i] < route.until_ns && i < route.sequence_high; i++)
            buckets[i] = route.bucket;
        if (i == end && i < ROWS && times_ns[i] < route.until_ns) {
            row = (struct bk_row){times_ns[i], i, ids[i], bytes[i]};
            buckets[i++] = route.bucket;
            assert_int_equal(bk_advance(strategy, &key, &row, NULL), BK_OK);
        }
    }
}

static void test_route_host_that_jumps_places_as_one_that_asks(void **state)
{
    (void)state;
    struct draw draw = {.state = 12};
    for (int run = 0; run < 2000; run++) {
        struct bk_strategy strategy;
        uint64_t threshold = 1 + draw_below(&draw, 4);
        enum bk_status made =
            run % 4 == 0   ? bk_strategy_time(1000 + (int64_t)draw_below(&draw, 9000), 77, &strategy)
            : run % 4 == 1 ? bk_strategy_count(1 + draw_below(&draw, 50), &strategy)
            : run % 4 == 2 ? bk_strategy_probabilistic((uint32_t)draw_below(&draw, 6), threshold, &strategy)
                           : bk_strategy_weighted(1 + draw_below(&draw, 6), threshold, &strategy);
        assert_int_equal(made, BK_OK);
        int64_t times_ns[ROWS], asked[ROWS], jumped[ROWS], now_ns = -50000;
        uint64_t ids[ROWS], bytes[ROWS];
        struct bk_key_state key = {0};
        for (size_t i = 0; i < ROWS; i++) {
            times_ns[i] = now_ns += (int64_t)draw_below(&draw, 600);
            ids[i] = draw_bits(&draw);
            bytes[i] = draw_below(&draw, 3);
            struct bk_row row = {times_ns[i], i, ids[i], bytes[i]};
            asked[i] = bucket_at(&strategy, &key, &row);
            assert_int_equal(bk_advance(&strategy, &key, &row, NULL), BK_OK);
        }
        place_by_jumps(&strategy, times_ns, ids, bytes, jumped);
        assert_memory_equal(asked, jumped, sizeof asked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_route_validity_holds_within_and_ends_beyond),
        cmocka_unit_test(test_route_count_is_the_sequence_divided),
        cmocka_unit_test(test_route_hash_uses_the_id_only),
        cmocka_unit_test(test_route_probabilistic_gives_the_states_bucket),
        cmocka_unit_test(test_fires_random_ids_agree_with_the_naive_rule),
        cmocka_unit_test(test_fires_chance_is_exact_to_the_last_id),
        cmocka_unit_test(test_first_firing_equals_a_test_of_each_row),
        cmocka_unit_test(test_first_firing_weighted_equals_a_test_of_each_row),
        cmocka_unit_test(test_fires_fraction_is_the_chance),
        cmocka_unit_test(test_advance_follows_a_naive_counter),
        cmocka_unit_test(test_advance_weighted_follows_a_naive_counter),
        cmocka_unit_test(test_weight_is_bytes_over_the_unit_on_average),
        cmocka_unit_test(test_advance_count_keeps_the_newest_bucket),
        cmocka_unit_test(test_advance_stateless_kinds_change_nothing),
        cmocka_unit_test(test_route_host_that_jumps_places_as_one_that_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
