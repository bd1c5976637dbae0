/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: with a greatest age no bucket holds rows from both sides of a line, no bucket below the newest is
 * empty, and a route is valid as far as it says, for the state before the row and the state after it. Method:
 * random walks compared with a naive model that keeps every bucket, and every route tested at every row near
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bucketing/agent.h"
#include "bucketing/history.h"
#include "bucketing/route.h"

#include <string.h>

#include "draw.h"

#define AGE_NS    1000
#define TIMES_MAX 6000
#define ROWS_MAX  500

/* Small numbers, so that lines, thresholds and rows meet often. */
static struct bk_strategy draw_strategy(struct draw *draw)
{
    struct bk_strategy strategy;
    enum bk_status status;
    uint64_t threshold = 1 + draw_below(draw, 4);
    switch (draw_below(draw, 3)) {
    case 0:
        status = bk_strategy_count(1 + draw_below(draw, 6), &strategy);
        break;
    case 1:
        status = bk_strategy_probabilistic(1 + (uint32_t)draw_below(draw, 2), threshold, &strategy);
        break;
    default:
        status = bk_strategy_weighted(100, threshold, &strategy);
    }
    assert_int_equal(status, BK_OK);
    assert_int_equal(bk_strategy_max_age(AGE_NS, &strategy), BK_OK);
    return strategy;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* A bucket of the naive model. */
struct bucket {
    uint64_t rows, count, first;
    int64_t cell;
};

struct naive {
    struct bucket buckets[ROWS_MAX + 2];
    size_t newest;
};

/* Returns the row's bucket by the words of the header, and adds the row to it. */
static size_t place_naively(struct naive *naive, const struct bk_strategy *strategy, const struct bk_row *row)
{
    struct bucket *open = &naive->buckets[naive->newest];
    int64_t cell = floor_divide(row->time_ns, AGE_NS);
    bool is_full = strategy->kind == BK_KIND_COUNT && open->rows > 0 && row->sequence >= open->first &&
                   row->sequence - open->first >= strategy->of.count.rows;
    if (open->rows > 0 && (cell > open->cell || is_full)) {
        naive->newest++;
        if (cell < open->cell)
            cell = open->cell;
        open++;
    }
    if (open->rows == 0) {
        open->cell = cell;
        open->first = row->sequence;
    }
    size_t placed = naive->newest;
    open->rows++;
    open->count += bk_weight(strategy, row);
    if (bk_kind_fires(strategy->kind) && open->count >= bk_threshold(strategy))
        naive->newest++;
    return placed;
}

static struct bk_row draw_row(struct draw *draw, int64_t time_ns, uint64_t sequence)
{
    return (struct bk_row){time_ns, sequence, draw_bits(draw), draw_below(draw, 150)};
}

/* Rows in order, or sometimes a row that is late, or whose number is lower or far ahead. */
static void walk(struct draw *draw, bool in_order, uint64_t *rolled_by_age)
{
    static struct naive naive;
    struct bk_strategy strategy = draw_strategy(draw);
    struct bk_key_state state = {0};
    int64_t now_ns = (int64_t)draw_below(draw, 2 * TIMES_MAX) - TIMES_MAX;
    uint64_t gap = 1 + draw_below(draw, 3000);
    size_t count = draw_below(draw, ROWS_MAX);
    int64_t cell_of_bucket[ROWS_MAX];
    memset(&naive, 0, sizeof naive);
    for (uint64_t i = 0; i < count; i++) {
        now_ns += (int64_t)draw_below(draw, gap);
        int64_t time_ns = now_ns;
        uint64_t sequence = i;
        if (!in_order && draw_below(draw, 4) == 0) {
            time_ns -= (int64_t)draw_below(draw, 3000);
            sequence += draw_below(draw, 20) - (i < 10 ? 0 : 10);
        }
        struct bk_row row = draw_row(draw, time_ns, sequence);
        struct bk_placement route;
        struct bk_effect effect;
        struct bk_key_state before = state;
        assert_int_equal(bk_route(&strategy, &state, &row, &route), BK_OK);
        assert_memory_equal(&before, &state, sizeof state);
        uint64_t rows_of_bucket = naive.buckets[route.bucket].rows;
        size_t expected = place_naively(&naive, &strategy, &row);
        assert_true(route.bucket == (int64_t)expected);
        assert_int_equal(route.begins, rows_of_bucket == 0);
        assert_int_equal(bk_advance(&strategy, &state, &row, &effect), BK_OK);
        assert_true(state.bucket == (int64_t)naive.newest);
        assert_true(!bk_kind_fires(strategy.kind) ||
                    state.is_begun == (naive.buckets[naive.newest].rows > 0));
        assert_int_equal(effect.rolled, state.bucket != before.bucket);
        assert_int_equal(effect.state_writes, route.begins || effect.rolled);
        assert_int_equal(effect.counter_increments, bk_weight(&strategy, &row) > 0);
        *rolled_by_age += route.bucket != before.bucket;
        if (!in_order)
            continue;
        /* The property itself: rows of one bucket belong to one cell. */
        int64_t cell = floor_divide(time_ns, AGE_NS);
        if (route.begins)
            cell_of_bucket[route.bucket] = cell;
        assert_true(cell_of_bucket[route.bucket] == cell);
    }
    for (size_t i = 0; i < naive.newest; i++)
        assert_true(naive.buckets[i].rows > 0);
}

static void test_age_no_bucket_spans_a_line_and_none_below_is_empty(void **unused)
{
    (void)unused;
    struct draw draw = {.state = 1};
    uint64_t rolled = 0;
    for (int i = 0; i < 1000; i++)
        walk(&draw, true, &rolled);
    assert_true(rolled > 50000);
}

static void test_age_late_rows_go_to_the_newest_bucket(void **unused)
{
    (void)unused;
    struct draw draw = {.state = 2};
    uint64_t rolled = 0;
    for (int i = 0; i < 1000; i++)
        walk(&draw, false, &rolled);
    assert_true(rolled > 50000);
}

static int64_t bucket_at(const struct bk_strategy *strategy, const struct bk_key_state *state,
                         const struct bk_row *row)
{
    struct bk_placement route;
    assert_int_equal(bk_route(strategy, state, row, &route), BK_OK);
    return route.bucket;
}

/* A row that does not fire, at any time and number. */
static struct bk_row quiet_row(int64_t time_ns, uint64_t sequence)
{
    return (struct bk_row){time_ns, sequence, 0, 0};
}

static void check_route(const struct bk_strategy *strategy, const struct bk_key_state *state,
                        const struct bk_row *row)
{
    struct bk_placement route;
    struct bk_key_state after = *state;
    assert_int_equal(bk_route(strategy, state, row, &route), BK_OK);
    assert_int_equal(route.scope, BK_SCOPE_RANGE);
    assert_true(route.from_ns <= row->time_ns && row->time_ns < route.until_ns);
    assert_true(route.sequence_low <= row->sequence && row->sequence < route.sequence_high);
    assert_int_equal(bk_advance(strategy, &after, row, NULL), BK_OK);
    bool has_rolled = after.bucket != route.bucket;
    for (int64_t time_ns = row->time_ns - 2500; time_ns < row->time_ns + 2500; time_ns += 83) {
        for (uint64_t i = 0; i < 18; i++) {
            uint64_t sequence = row->sequence + i < 9 ? i : row->sequence + i - 9;
            struct bk_row other = quiet_row(time_ns, sequence);
            if (time_ns < route.from_ns || time_ns >= route.until_ns || sequence < route.sequence_low ||
                sequence >= route.sequence_high)
                continue;
            assert_true(bucket_at(strategy, state, &other) == route.bucket);
            assert_true(has_rolled || bucket_at(strategy, &after, &other) == route.bucket);
        }
    }
    /* The route ends where it says: the next row would begin the next bucket. */
    struct bk_row beyond = quiet_row(route.until_ns, row->sequence);
    if (!has_rolled)
        assert_true(bucket_at(strategy, &after, &beyond) == route.bucket + 1);
    beyond = quiet_row(row->time_ns, route.sequence_high);
    if (strategy->kind == BK_KIND_COUNT)
        assert_true(bucket_at(strategy, &after, &beyond) == route.bucket + 1);
}

static void test_age_routes_are_valid_for_as_long_as_they_state(void **unused)
{
    (void)unused;
    struct draw draw = {.state = 3};
    for (int i = 0; i < 400; i++) {
        struct bk_strategy strategy = draw_strategy(&draw);
        struct bk_key_state state = {0};
        int64_t now_ns = (int64_t)draw_below(&draw, 2 * TIMES_MAX) - TIMES_MAX;
        for (uint64_t sequence = 0; sequence < 20; sequence++) {
            now_ns += (int64_t)draw_below(&draw, 1200);
            struct bk_row row = draw_row(&draw, now_ns, sequence);
            check_route(&strategy, &state, &row);
            struct bk_row late =
                draw_row(&draw, now_ns - (int64_t)draw_below(&draw, 2500), draw_below(&draw, 30));
            check_route(&strategy, &state, &late);
            assert_int_equal(bk_advance(&strategy, &state, &row, NULL), BK_OK);
        }
    }
}

/* A host that counts whole ranges, and advances only when it must, places rows like a host that routes each
 * row. */
static void test_age_host_that_jumps_places_as_one_that_routes_each_row(void **unused)
{
    (void)unused;
    struct draw draw = {.state = 4};
    for (int run = 0; run < 2000; run++) {
        struct bk_strategy strategy = draw_strategy(&draw);
        struct bk_row rows[200];
        uint64_t ids[200], bytes[200], gap = 1 + draw_below(&draw, 900);
        int64_t asked[200], now_ns = -3000;
        struct bk_key_state state = {0};
        for (size_t i = 0; i < 200; i++) {
            now_ns += (int64_t)draw_below(&draw, gap);
            rows[i] = draw_row(&draw, now_ns, i);
            ids[i] = rows[i].id;
            bytes[i] = rows[i].bytes;
            asked[i] = bucket_at(&strategy, &state, &rows[i]);
            assert_int_equal(bk_advance(&strategy, &state, &rows[i], NULL), BK_OK);
        }
        struct bk_key_state jumping = {0};
        for (size_t i = 0; i < 200;) {
            struct bk_placement route;
            assert_int_equal(bk_route(&strategy, &jumping, &rows[i], &route), BK_OK);
            size_t firing = bk_first_firing(&strategy, ids, bytes, i, 200), end = i;
            while (end < 200 && end <= firing && rows[end].time_ns < route.until_ns &&
                   rows[end].sequence < route.sequence_high) {
                assert_true(asked[end] == route.bucket);
                end++;
            }
            assert_true(end > i);
            if (route.begins)
                assert_int_equal(bk_advance(&strategy, &jumping, &rows[i], NULL), BK_OK);
            if (firing < end && (firing != i || !route.begins))
                assert_int_equal(bk_advance(&strategy, &jumping, &rows[firing], NULL), BK_OK);
            i = end;
        }
        assert_memory_equal(&jumping, &state, sizeof state);
    }
}

static void test_age_works_at_both_ends_of_the_time_range(void **unused)
{
    (void)unused;
    struct bk_strategy strategy;
    struct bk_key_state state = {0};
    struct bk_placement route;
    assert_int_equal(bk_strategy_probabilistic(32, 1, &strategy), BK_OK);
    assert_int_equal(bk_strategy_max_age(INT64_MAX, &strategy), BK_OK);
    struct bk_row row = quiet_row(INT64_MIN, 0);
    assert_int_equal(bk_advance(&strategy, &state, &row, NULL), BK_OK);
    row.time_ns = -1;
    assert_int_equal(bk_advance(&strategy, &state, &row, NULL), BK_OK);
    int64_t before = state.bucket;
    row.time_ns = 0;
    assert_true(bucket_at(&strategy, &state, &row) == before + 1);
    assert_int_equal(bk_advance(&strategy, &state, &row, NULL), BK_OK);
    row.time_ns = INT64_MAX; /* no line is at or above it */
    assert_int_equal(bk_route(&strategy, &state, &row, &route), BK_OK);
    assert_true(route.bucket == before + 1 && route.until_ns == INT64_MAX && !route.begins);
    /* The end of the numbers. */
    struct bk_strategy five;
    struct bk_key_state counted = {0};
    struct bk_row number = {.time_ns = 1, .sequence = UINT64_MAX - 4};
    assert_int_equal(bk_strategy_count(5, &five), BK_OK);
    assert_int_equal(bk_strategy_max_age(1000, &five), BK_OK);
    assert_int_equal(bk_advance(&five, &counted, &number, NULL), BK_OK);
    number.sequence = UINT64_MAX;
    assert_int_equal(bk_route(&five, &counted, &number, &route), BK_OK);
    assert_true(route.bucket == 0 && route.sequence_high == UINT64_MAX);
    /* The end of the buckets. */
    static const struct bk_key_state last = {.bucket = INT64_MAX - 2, .is_begun = true, .until_ns = 0};
    static const struct bk_key_state none[] = {
        {.bucket = INT64_MAX - 1}, {.bucket = -1}, {.counter = 1}, {.bucket = INT64_MAX}};
    assert_int_equal(bk_strategy_probabilistic(0, 1, &strategy), BK_OK);
    assert_int_equal(bk_strategy_max_age(1000, &strategy), BK_OK);
    state = last;
    assert_int_equal(bk_advance(&strategy, &state, &row, NULL), BK_OK);
    assert_true(state.bucket == INT64_MAX);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct bk_key_state kept = none[i];
        assert_int_equal(bk_route(&strategy, &none[i], &row, &route), BK_ERROR_STATE);
        assert_int_equal(bk_advance(&strategy, &kept, &row, NULL), BK_ERROR_STATE);
        assert_memory_equal(&kept, &none[i], sizeof kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_age_no_bucket_spans_a_line_and_none_below_is_empty),
        cmocka_unit_test(test_age_late_rows_go_to_the_newest_bucket),
        cmocka_unit_test(test_age_routes_are_valid_for_as_long_as_they_state),
        cmocka_unit_test(test_age_host_that_jumps_places_as_one_that_routes_each_row),
        cmocka_unit_test(test_age_works_at_both_ends_of_the_time_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
