/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a history of settings keeps the guarantees of history.h: a later reader finds every row, a route is
 * valid as far as it says, no bucket is used by two eras that place rows differently, and a history of one
 * era is the plain strategy.
 * Method: random histories and rows, some of them late, are compared with a list of all placed rows: a
 * reader must visit each of their buckets once, from the top down; a host that jumps to the end of each
 * validity range must place rows like a host that routes each row. There are known answers for each kind,
 * and cases at the ends of the number line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bucketing/history.h"

#include <string.h>

#include "draw.h"

#define DAY_NS  INT64_C(86400000000000)
#define ROWS    600
#define SPAN_NS (INT64_C(100) * DAY_NS)

static struct bk_strategy draw_strategy(struct draw *draw, enum bk_kind kind)
{
    struct bk_strategy strategy;
    enum bk_status status = BK_OK;
    switch (kind) {
    case BK_KIND_TIME:
        if (draw_below(draw, 4) == 0)
            status = bk_strategy_calendar((enum bk_calendar)(1 + draw_below(draw, 4)), &strategy);
        else
            status = bk_strategy_time(DAY_NS / 8 + (int64_t)draw_below(draw, 20 * (uint64_t)DAY_NS),
                                      ((int64_t)draw_below(draw, 2000) - 1000) * DAY_NS, &strategy);
        break;
    case BK_KIND_COUNT:
        status = bk_strategy_count(1 + draw_below(draw, 80), &strategy);
        break;
    case BK_KIND_PROBABILISTIC:
        status =
            bk_strategy_probabilistic((uint32_t)draw_below(draw, 5), 1 + draw_below(draw, 12), &strategy);
        break;
    case BK_KIND_WEIGHTED:
        status = bk_strategy_weighted(1 + draw_below(draw, 50), 1 + draw_below(draw, 12), &strategy);
        break;
    case BK_KIND_HASH:
        status = bk_strategy_hash(1 + (uint32_t)draw_below(draw, 40), &strategy);
        break;
    default:
        status = bk_strategy_unbucketed(&strategy);
    }
    if (status == BK_OK && kind != BK_KIND_UNBUCKETED && kind != BK_KIND_HASH && draw_below(draw, 3) == 0)
        status = bk_strategy_shards(1 + (uint32_t)draw_below(draw, 9), &strategy);
    assert_int_equal(status, BK_OK);
    return strategy;
}

static struct bk_history draw_history(struct draw *draw)
{
    struct bk_history history;
    enum bk_kind kind = (enum bk_kind)draw_below(draw, BK_KINDS);
    struct bk_strategy strategy = draw_strategy(draw, kind);
    assert_int_equal(bk_history_begin(&strategy, &history), BK_OK);
    int64_t from_ns = 0;
    for (uint64_t more = draw_below(draw, BK_ERAS_MAX); more > 0; more--) {
        from_ns += 1 + (int64_t)draw_below(draw, (uint64_t)SPAN_NS / 4);
        if (kind != BK_KIND_COUNT && !bk_kind_fires(kind) && draw_below(draw, 2) == 0)
            kind = (enum bk_kind)draw_below(draw, BK_KINDS);
        const struct bk_strategy last = strategy;
        strategy = draw_strategy(draw, kind);
        if (last.kind == BK_KIND_COUNT || bk_kind_fires(last.kind)) {
            if (strategy.shards + (strategy.shards == 0) != last.shards + (last.shards == 0))
                assert_int_equal(bk_history_change(&history, from_ns, &strategy), BK_ERROR_SHARDS);
            strategy.shards = last.shards;
        }
        assert_int_equal(bk_history_change(&history, from_ns, &strategy), BK_OK);
    }
    assert_int_equal(bk_history_check(&history), BK_OK);
    return history;
}

/* The rows are mostly in order of time and number. */
static void draw_rows(struct draw *draw, struct bk_row *rows, size_t count)
{
    int64_t time_ns = (int64_t)draw_below(draw, (uint64_t)SPAN_NS / 2);
    bool is_late = draw_below(draw, 2) == 0;
    for (size_t i = 0; i < count; i++) {
        time_ns += (int64_t)draw_below(draw, (uint64_t)SPAN_NS / ROWS * 2);
        rows[i] = (struct bk_row){time_ns, i, draw_bits(draw), 100};
        if (is_late && draw_below(draw, 8) == 0)
            rows[i].time_ns -= (int64_t)draw_below(draw, (uint64_t)time_ns + 1);
    }
    uint64_t reach = draw_below(draw, 2) == 0 ? 1 : 1 + draw_below(draw, 200);
    for (size_t i = 0; i + reach < count; i++) {
        size_t other = i + draw_below(draw, reach);
        uint64_t sequence = rows[i].sequence;
        rows[i].sequence = rows[other].sequence;
        rows[other].sequence = sequence;
    }
}

static bool is_counted(const struct bk_history *history, int64_t time_ns)
{
    return history->eras[bk_history_era_at(history, time_ns)].strategy.kind == BK_KIND_COUNT;
}

/* A row within the validity ranges goes to the same bucket. A row just outside them goes to another bucket or
 * belongs to another era, or the range ends because a count or a window ends. */
static void check_validity(struct draw *draw, const struct bk_history *history,
                           const struct bk_history_state *state, const struct bk_row *row,
                           const struct bk_placement *route)
{
    if (route->scope == BK_SCOPE_ROW)
        return;
    assert_true(row->time_ns >= route->from_ns && row->time_ns < route->until_ns);
    assert_true(row->sequence >= route->sequence_low &&
                (row->sequence < route->sequence_high || route->sequence_high == UINT64_MAX));
    for (int i = 0; i < 4; i++) {
        struct bk_row other = *row;
        uint64_t sequences = route->sequence_high - route->sequence_low;
        int64_t low_ns = route->from_ns > -SPAN_NS ? route->from_ns : -SPAN_NS;
        int64_t high_ns = route->until_ns < 9 * SPAN_NS ? route->until_ns : 9 * SPAN_NS;
        other.sequence = route->sequence_low + draw_bits(draw) % (sequences < 5000 ? sequences : 5000);
        other.time_ns = low_ns + (int64_t)draw_below(draw, (uint64_t)(high_ns - low_ns));
        other.id = draw_bits(draw);
        struct bk_placement again;
        assert_int_equal(bk_history_route(history, state, &other, &again), BK_OK);
        assert_int_equal(again.bucket, route->bucket);
    }
    uint32_t era = bk_history_era_at(history, row->time_ns);
    if (route->until_ns < INT64_MAX && !is_counted(history, row->time_ns)) {
        struct bk_row next = *row;
        next.time_ns = route->until_ns;
        struct bk_placement after;
        assert_int_equal(bk_history_route(history, state, &next, &after), BK_OK);
        uint32_t era_after = bk_history_era_at(history, next.time_ns);
        if (after.scope == BK_SCOPE_RANGE && history->eras[era_after].strategy.kind != BK_KIND_WEIGHTED &&
            history->eras[era_after].strategy.kind != BK_KIND_PROBABILISTIC)
            assert_true(after.bucket > route->bucket);
        if (era_after != era)
            assert_int_equal(history->eras[era_after].from_ns, route->until_ns);
    }
}

static int by_bucket(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Every bucket that contains rows is in exactly one step of the read. */
static void check_reader(const struct bk_history *history, const struct bk_history_state *state,
                         int64_t now_ns, int64_t birth_ns, const int64_t *sorted, size_t count)
{
    struct bk_history_reader reader;
    struct bk_read_step step;
    assert_int_equal(
        bk_history_read_latest(history, state, now_ns, birth_ns, UINT64_MAX, BK_PLAN_DEFAULT, &reader),
        BK_OK);
    size_t left = count;
    int64_t below = INT64_MAX;
    uint64_t asked = 0;
    while (bk_history_read_next(history, &reader, &step)) {
        assert_true(step.bucket_low <= step.bucket_high && step.bucket_high < below);
        below = step.bucket_low;
        asked += (uint64_t)(step.bucket_high - step.bucket_low) + 1;
        uint64_t rows = 0;
        assert_true(left == 0 || sorted[left - 1] <= step.bucket_high);
        for (; left > 0 && sorted[left - 1] >= step.bucket_low; left--)
            rows++;
        bk_read_found(&reader.reader, rows);
    }
    assert_int_equal(left, 0);
    assert_int_equal(bk_history_rows_found(&reader), count);
    assert_int_equal(bk_history_partitions_asked(&reader), asked);
}

/* Every row of the range is in a step, and no bucket is in two steps. */
static void check_range(struct draw *draw, const struct bk_history *history,
                        const struct bk_history_state *state, int64_t now_ns, int64_t birth_ns,
                        const struct bk_row *rows, const int64_t *buckets, size_t count)
{
    static bool is_met[ROWS];
    struct bk_query query;
    struct bk_history_reader reader;
    struct bk_read_step step;
    memset(&query, 0, sizeof query);
    memset(is_met, 0, sizeof is_met);
    query.kind = BK_QUERY_RANGE;
    query.from_ns = rows[draw_below(draw, count)].time_ns - (int64_t)draw_below(draw, 2);
    query.until_ns = query.from_ns + 1 + (int64_t)draw_below(draw, (uint64_t)SPAN_NS / 3);
    query.now_ns = now_ns;
    query.birth_ns = birth_ns;
    assert_int_equal(bk_history_read_begin(history, state, &query, &reader), BK_OK);
    int64_t below = INT64_MAX;
    while (bk_history_read_next(history, &reader, &step)) {
        assert_true(step.bucket_low <= step.bucket_high && step.bucket_high < below);
        below = step.bucket_low;
        for (size_t i = 0; i < count; i++)
            is_met[i] = is_met[i] || (buckets[i] >= step.bucket_low && buckets[i] <= step.bucket_high);
        bk_read_found(&reader.reader, 1);
    }
    for (size_t i = 0; i < count; i++)
        assert_true(is_met[i] || rows[i].time_ns < query.from_ns || rows[i].time_ns >= query.until_ns);
}

/* A row that is routed again goes to its first bucket, unless a later row with its number or a higher number
 * has since opened an era of `count`. */
static void check_again(const struct bk_history *history, const struct bk_history_state *state,
                        const struct bk_row *rows, const int64_t *buckets, const bool *opens)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct bk_placement again;
        bool is_overtaken = !is_counted(history, rows[i].time_ns);
        for (size_t j = i + 1; j < ROWS && !is_overtaken; j++)
            is_overtaken = opens[j] && rows[j].sequence <= rows[i].sequence;
        if (is_overtaken)
            continue;
        assert_int_equal(bk_history_route(history, state, &rows[i], &again), BK_OK);
        assert_int_equal(again.bucket, buckets[i]);
    }
}

static void every_row_is_found(void **unused)
{
    (void)unused;
    struct draw draw = {.state = 1};
    static struct bk_row rows[ROWS];
    static int64_t buckets[ROWS], sorted[ROWS];
    static bool opens[ROWS];
    uint64_t openings = 0, rolls = 0, placed = 0;
    for (int round = 0; round < 1700; round++) {
        struct bk_history history = draw_history(&draw);
        struct bk_history_state state;
        memset(&state, 0, sizeof state);
        draw_rows(&draw, rows, ROWS);
        int64_t last_ns = INT64_MIN, first_ns = INT64_MAX;
        for (size_t i = 0; i < ROWS; i++) {
            struct bk_placement route;
            struct bk_effect effect;
            assert_int_equal(bk_history_route(&history, &state, &rows[i], &route), BK_OK);
            check_validity(&draw, &history, &state, &rows[i], &route);
            assert_int_equal(bk_history_advance(&history, &state, &rows[i], &effect), BK_OK);
            bool is_count = is_counted(&history, rows[i].time_ns);
            opens[i] = is_count && effect.state_writes;
            openings += opens[i];
            rolls += effect.rolled;
            buckets[i] = route.bucket;
            if (opens[i]) {
                /* The new era begins above the buckets of all earlier rows in eras of `count`. */
                for (size_t j = 0; j < i; j++)
                    assert_true(buckets[j] < route.bucket || !is_counted(&history, rows[j].time_ns));
            }
            last_ns = rows[i].time_ns > last_ns ? rows[i].time_ns : last_ns;
            first_ns = rows[i].time_ns < first_ns ? rows[i].time_ns : first_ns;
            placed++;
        }
        check_again(&history, &state, rows, buckets, opens);
        /* Eras of different kinds, or with different shifts, share no bucket. */
        for (size_t i = 1; i < ROWS; i++) {
            uint32_t a = bk_history_era_at(&history, rows[i - 1].time_ns);
            uint32_t b = bk_history_era_at(&history, rows[i].time_ns);
            if (history.eras[a].shift != history.eras[b].shift ||
                history.eras[a].strategy.kind == BK_KIND_TIME)
                assert_true(a == b || (a < b) == (buckets[i - 1] < buckets[i]));
        }
        check_range(&draw, &history, &state, last_ns, first_ns, rows, buckets, ROWS);
        memcpy(sorted, buckets, sizeof sorted);
        qsort(sorted, ROWS, sizeof *sorted, by_bucket);
        check_reader(&history, &state, last_ns, first_ns, sorted, ROWS);
    }
    assert_int_equal(placed, 1700 * ROWS);
    assert_true(openings > 100 && rolls > 1000);
}

/* The lab's lanes do the same: they route once for each stretch of rows. */
static void a_host_may_jump(void **unused)
{
    (void)unused;
    struct draw draw = {.state = 2};
    static struct bk_row rows[ROWS];
    for (int round = 0; round < 400; round++) {
        struct bk_history history = draw_history(&draw);
        struct bk_history_state slow, fast;
        memset(&slow, 0, sizeof slow);
        memset(&fast, 0, sizeof fast);
        draw_rows(&draw, rows, ROWS);
        for (size_t i = 0; i < ROWS;) {
            struct bk_placement stretch;
            assert_int_equal(bk_history_route(&history, &fast, &rows[i], &stretch), BK_OK);
            size_t end = i;
            do {
                struct bk_placement route;
                assert_int_equal(bk_history_route(&history, &slow, &rows[end], &route), BK_OK);
                assert_int_equal(route.bucket, stretch.bucket);
                bool fires = bk_history_fires(&history, &slow, &rows[end]);
                assert_int_equal(fires, bk_history_fires(&history, &fast, &rows[end]));
                assert_int_equal(bk_history_advance(&history, &slow, &rows[end], NULL), BK_OK);
                end++;
                if (fires)
                    break;
            } while (end < ROWS && stretch.scope == BK_SCOPE_RANGE && rows[end].time_ns >= stretch.from_ns &&
                     rows[end].time_ns < stretch.until_ns && rows[end].sequence >= stretch.sequence_low &&
                     rows[end].sequence < stretch.sequence_high);
            assert_int_equal(bk_history_advance(&history, &fast, &rows[end - 1], NULL), BK_OK);
            slow.key.last_change_ns = fast.key.last_change_ns; /* `count`: set by the stretch's last row */
            assert_memory_equal(&slow, &fast, sizeof slow);
            i = end;
        }
    }
}

static void one_era_is_the_strategy(void **unused)
{
    (void)unused;
    struct draw draw = {.state = 3};
    for (int round = 0; round < 200000; round++) {
        struct bk_strategy strategy = draw_strategy(&draw, (enum bk_kind)draw_below(&draw, BK_KINDS));
        struct bk_history history;
        assert_int_equal(bk_history_begin(&strategy, &history), BK_OK);
        struct bk_history_state state;
        memset(&state, 0, sizeof state);
        state.key.bucket = (int64_t)draw_size(&draw);
        state.key.counter = draw_below(&draw, 14);
        struct bk_key_state key = state.key;
        struct bk_row row = {draw_time(&draw), draw_size(&draw), draw_bits(&draw), 0};
        struct bk_placement expected, route;
        assert_int_equal(bk_history_route(&history, &state, &row, &route),
                         bk_route(&strategy, &key, &row, &expected));
        assert_memory_equal(&route, &expected, sizeof route);
        assert_int_equal(bk_history_fires(&history, &state, &row), bk_fires(&strategy, &row));
        struct bk_effect effect, expected_effect;
        assert_int_equal(bk_history_advance(&history, &state, &row, &effect),
                         bk_advance(&strategy, &key, &row, &expected_effect));
        assert_memory_equal(&state.key, &key, sizeof key);
        assert_int_equal(effect.rolled, expected_effect.rolled);
        assert_int_equal(effect.state_writes, expected_effect.state_writes);
        assert_int_equal(effect.counter_increments, expected_effect.counter_increments);
        struct bk_history_reader reader;
        struct bk_reader plain;
        enum bk_plan plan = (enum bk_plan)draw_below(&draw, 5);
        int64_t age_ns = (int64_t)draw_below(&draw, (uint64_t)DAY_NS);
        int64_t birth_ns = row.time_ns < INT64_MIN + age_ns ? INT64_MIN : row.time_ns - age_ns;
        assert_int_equal(bk_history_read_latest(&history, &state, row.time_ns, birth_ns, 40, plan, &reader),
                         bk_read_latest(&strategy, &key, row.time_ns, birth_ns, 40, plan, &plain));
        assert_memory_equal(&reader.reader, &plain, sizeof plain);
    }
}

static int64_t bucket_at(const struct bk_history *history, const struct bk_history_state *state,
                         int64_t time_ns, uint64_t sequence)
{
    struct bk_row row = {time_ns, sequence, UINT64_MAX, 0};
    struct bk_placement route;
    assert_int_equal(bk_history_route(history, state, &row, &route), BK_OK);
    return route.bucket;
}

static void windows_go_on_where_the_old_ones_end(void **unused)
{
    (void)unused;
    struct bk_strategy day, ten;
    struct bk_history history;
    bk_strategy_time(DAY_NS, 0, &day);
    bk_strategy_time(10 * DAY_NS, 0, &ten);
    assert_int_equal(bk_history_begin(&day, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, 35 * DAY_NS, &ten), BK_OK);
    assert_int_equal(bucket_at(&history, NULL, 35 * DAY_NS - 1, 0), 34);
    assert_int_equal(bucket_at(&history, NULL, 35 * DAY_NS, 0), 35);
    assert_int_equal(bucket_at(&history, NULL, 40 * DAY_NS - 1, 0), 35); /* the change ends the window */
    assert_int_equal(bucket_at(&history, NULL, 40 * DAY_NS, 0), 36);
    assert_int_equal(bucket_at(&history, NULL, 12 * DAY_NS, 0), 12); /* a late row */
    assert_int_equal(bucket_at(&history, NULL, -1, 0), -1);
}

static void hash_eras_are_read_one_after_the_other(void **unused)
{
    (void)unused;
    struct bk_strategy few, many;
    struct bk_history history;
    struct bk_history_reader reader;
    struct bk_read_step step;
    bk_strategy_hash(4, &few);
    bk_strategy_hash(256, &many);
    assert_int_equal(bk_history_begin(&few, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, 30 * DAY_NS, &many), BK_OK);
    assert_int_equal(bk_history_read_latest(&history, NULL, 31 * DAY_NS, 0, 10, BK_PLAN_ALL, &reader), BK_OK);
    assert_true(bk_history_read_next(&history, &reader, &step));
    assert_int_equal(step.bucket_low, 4);
    assert_int_equal(step.bucket_high, 259);
    bk_read_found(&reader.reader, 3);
    assert_true(bk_history_read_next(&history, &reader, &step));
    assert_int_equal(step.bucket_low, 0);
    assert_int_equal(step.bucket_high, 3);
    assert_int_equal(step.rows, 7);
    bk_read_found(&reader.reader, 3);
    assert_false(bk_history_read_next(&history, &reader, &step));
    assert_int_equal(bk_history_partitions_asked(&reader), 260);
    /* A key with a later birth has no rows in the first era. Before the date of the change a read skips the
     * second era. */
    bk_history_read_latest(&history, NULL, 32 * DAY_NS, 30 * DAY_NS, 10, BK_PLAN_ALL, &reader);
    assert_true(bk_history_read_next(&history, &reader, &step));
    bk_read_found(&reader.reader, 0);
    assert_false(bk_history_read_next(&history, &reader, &step));
    bk_history_read_latest(&history, NULL, 30 * DAY_NS - 1, 0, 10, BK_PLAN_ALL, &reader);
    assert_true(bk_history_read_next(&history, &reader, &step));
    assert_int_equal(step.bucket_high, 3);
}

/* A read has one limit on partitions for all of its eras, and its order is the loosest order of any era. */
static void limit_and_order_are_of_the_whole_read(void **unused)
{
    (void)unused;
    struct bk_strategy one, four;
    struct bk_history history;
    struct bk_history_reader reader;
    struct bk_read_step step;
    bk_strategy_hash(1, &one);
    bk_strategy_hash(4, &four);
    bk_history_begin(&one, &history);
    assert_int_equal(bk_history_change(&history, 1, &four), BK_OK);
    assert_int_equal(bk_history_change(&history, 2, &one), BK_OK);
    struct bk_query query = {.kind = BK_QUERY_ALL, .now_ns = 3, .partitions_max = 6};
    for (uint64_t max = 1; max <= 6; max++) {
        query.partitions_max = max;
        assert_int_equal(bk_history_read_begin(&history, NULL, &query, &reader), BK_OK);
        while (bk_history_read_next(&history, &reader, &step))
            bk_read_found(&reader.reader, 1);
        assert_int_equal(bk_history_partitions_asked(&reader), max);
        assert_int_equal(reader.reader.status, max < 6 ? BK_ERROR_WALK_TOO_LONG : BK_OK);
        assert_int_equal(reader.reader.order, BK_ORDER_MERGED);
    }
}

/* No correct host passes such a start. */
static void a_start_below_all_buckets_is_refused(void **unused)
{
    (void)unused;
    struct bk_strategy ten;
    struct bk_history history;
    struct bk_history_state state;
    struct bk_placement route;
    bk_strategy_count(10, &ten);
    bk_history_begin(&ten, &history);
    assert_int_equal(bk_history_change(&history, 1, &ten), BK_OK);
    assert_int_equal(bk_history_change(&history, 2, &ten), BK_OK);
    memset(&state, 0, sizeof state);
    state.opened = 1;
    state.starts[1].bucket = INT64_MIN;
    assert_int_equal(bk_history_route(&history, &state, &(struct bk_row){2, 0, 0, 0}, &route),
                     BK_ERROR_STATE);
}

static void a_count_begins_anew(void **unused)
{
    (void)unused;
    struct bk_strategy ten, four;
    struct bk_history history;
    struct bk_history_state state;
    memset(&state, 0, sizeof state);
    bk_strategy_count(10, &ten);
    bk_strategy_count(4, &four);
    assert_int_equal(bk_history_begin(&ten, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, DAY_NS, &four), BK_OK);
    struct bk_row row = {0, 0, 0, 0};
    for (; row.sequence < 23; row.sequence++)
        assert_int_equal(bk_history_advance(&history, &state, &row, NULL), BK_OK);
    row.time_ns = DAY_NS;
    assert_true(bk_history_fires(&history, &state, &row));
    assert_int_equal(bucket_at(&history, &state, DAY_NS, 23), 3);
    struct bk_effect effect;
    assert_int_equal(bk_history_advance(&history, &state, &row, &effect), BK_OK);
    assert_int_equal(effect.state_writes, 1);
    assert_false(bk_history_fires(&history, &state, &row));
    assert_int_equal(bucket_at(&history, &state, DAY_NS, 26), 3);
    assert_int_equal(bucket_at(&history, &state, DAY_NS, 27), 4);
    assert_int_equal(bucket_at(&history, &state, 0, 27), 4); /* the number decides, not the time */
    assert_int_equal(bucket_at(&history, &state, DAY_NS, 22), 2);
    /* Without the state the start of the new count is unknown. */
    struct bk_placement route;
    assert_int_equal(bk_history_route(&history, NULL, &row, &route), BK_ERROR_NULL);
    /* An era in which the key has no rows owns no buckets: numbers below the start of the next era keep their
     * buckets. */
    bk_history_change(&history, 2 * DAY_NS, &ten);
    bk_history_change(&history, 3 * DAY_NS, &four);
    row.time_ns = 3 * DAY_NS;
    row.sequence = 33;
    assert_int_equal(bk_history_advance(&history, &state, &row, NULL), BK_OK);
    assert_int_equal(bucket_at(&history, &state, 3 * DAY_NS, 33), 6);
    assert_int_equal(bucket_at(&history, &state, 3 * DAY_NS, 32), 5);
    /* A key with a later birth begins with bucket 0. */
    memset(&state, 0, sizeof state);
    assert_int_equal(bucket_at(&history, &state, DAY_NS, 0), 0);
}

/* The count of the old threshold is kept: 30 of 40 is more than 10, so the next row that fires is the last
 * row of its bucket. A row that does not fire changes nothing. */
static void a_count_above_the_new_threshold_rolls_next(void **unused)
{
    (void)unused;
    struct bk_strategy old, new;
    struct bk_history history;
    struct bk_history_state state;
    memset(&state, 0, sizeof state);
    state.key = (struct bk_key_state){.bucket = 5, .counter = 30};
    bk_strategy_probabilistic(1, 40, &old);
    bk_strategy_probabilistic(2, 10, &new);
    assert_int_equal(bk_history_begin(&old, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, DAY_NS, &new), BK_OK);
    struct bk_row silent = {DAY_NS, 0, 1, 0}, firing = {DAY_NS, 0, 3, 0}, late = {DAY_NS - 1, 0, 1, 0};
    struct bk_effect effect;
    assert_int_equal(bk_history_advance(&history, &state, &silent, &effect), BK_OK);
    assert_int_equal(state.key.counter, 30);
    /* The settings at the row's own time apply: one bit is enough to fire, and 31 is below 40. */
    assert_int_equal(bk_history_advance(&history, &state, &late, &effect), BK_OK);
    assert_int_equal(state.key.counter, 31);
    assert_int_equal(bk_history_advance(&history, &state, &firing, &effect), BK_OK);
    assert_true(effect.rolled);
    assert_int_equal(state.key.bucket, 6);
    assert_int_equal(state.key.counter, 0);
    state.key.counter = 40; /* a counter that no era allows */
    struct bk_history_state before = state;
    assert_int_equal(bk_history_advance(&history, &state, &firing, &effect), BK_ERROR_STATE);
    assert_memory_equal(&state, &before, sizeof state);
}

static void the_last_bucket_is_never_passed(void **unused)
{
    (void)unused;
    struct bk_strategy one, two;
    struct bk_history history;
    struct bk_history_state state;
    struct bk_placement route;
    memset(&state, 0, sizeof state);
    bk_strategy_count(1, &one);
    bk_strategy_count(2, &two);
    bk_history_begin(&one, &history);
    bk_history_change(&history, DAY_NS, &two);
    /* Numbers from 2^63 on share the last bucket of the first era. There is no bucket above it. */
    assert_int_equal(bucket_at(&history, &state, 0, UINT64_MAX), INT64_MAX);
    struct bk_row row = {DAY_NS, (UINT64_C(1) << 63) + 1, 0, 0};
    struct bk_history_state before = state;
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_ERROR_BUCKET);
    assert_int_equal(route.until_ns, 0);
    assert_int_equal(bk_history_advance(&history, &state, &row, NULL), BK_ERROR_BUCKET);
    assert_memory_equal(&state, &before, sizeof state);
    /* A number just below fits: the new era begins in the last bucket and ends with it. */
    row.sequence = (UINT64_C(1) << 63) - 1;
    assert_int_equal(bk_history_advance(&history, &state, &row, NULL), BK_OK);
    assert_int_equal(state.key.bucket, INT64_MAX);
    row.sequence++;
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_OK);
    assert_int_equal(route.bucket, INT64_MAX);
    row.sequence++;
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_ERROR_BUCKET);
    /* A probabilistic era after windows: the shift is added to a bucket. */
    struct bk_strategy day, sixteen;
    bk_strategy_time(DAY_NS, 0, &day);
    bk_strategy_probabilistic(0, 16, &sixteen);
    bk_history_begin(&day, &history);
    bk_history_change(&history, DAY_NS * 7, &sixteen);
    memset(&state, 0, sizeof state);
    state.key.bucket = INT64_MAX - 7;
    row.time_ns = 8 * DAY_NS;
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_OK);
    assert_int_equal(route.bucket, INT64_MAX);
    state.key.bucket++;
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_ERROR_BUCKET);
}

/* The last number opens an era like any other number, and the validity range never exceeds it. */
static void the_last_number_is_like_any_other(void **unused)
{
    (void)unused;
    struct bk_strategy many, ten, none;
    struct bk_history history, behind;
    struct bk_history_state state;
    struct bk_placement route;
    bk_strategy_count(UINT64_C(1) << 62, &many);
    bk_strategy_count(10, &ten);
    bk_strategy_unbucketed(&none);
    bk_history_begin(&many, &history);
    bk_history_change(&history, DAY_NS, &ten);
    memset(&state, 0, sizeof state);
    struct bk_row row = {DAY_NS, UINT64_MAX, 0, 0};
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_OK);
    assert_true(route.sequence_low == UINT64_MAX && route.sequence_high == UINT64_MAX);
    row.sequence = UINT64_MAX - 3;
    assert_int_equal(bk_history_advance(&history, &state, &row, NULL), BK_OK);
    assert_int_equal(state.key.bucket, 4);
    row.sequence = UINT64_MAX;
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_OK);
    assert_true(route.bucket == 4 && route.sequence_high == UINT64_MAX);
    /* After windows or `unbucketed`, numbers are counted only from the date of the change on. */
    bk_history_begin(&none, &behind);
    bk_history_change(&behind, DAY_NS, &ten);
    memset(&state, 0, sizeof state);
    row.sequence = 25;
    assert_int_equal(bk_history_route(&behind, &state, &row, &route), BK_OK);
    assert_true(route.bucket == 3 && route.from_ns == DAY_NS && route.until_ns == INT64_MAX);
}

/* A read of a time range skips eras that are entirely before or after the range. */
static void eras_outside_a_span_are_not_asked(void **unused)
{
    (void)unused;
    struct bk_strategy four;
    struct bk_history history;
    struct bk_history_reader reader;
    struct bk_read_step step;
    bk_strategy_hash(4, &four);
    bk_history_begin(&four, &history);
    bk_history_change(&history, DAY_NS, &four);
    bk_history_change(&history, 2 * DAY_NS, &four);
    struct bk_query query = {.kind = BK_QUERY_RANGE,
                             .from_ns = DAY_NS,
                             .until_ns = 2 * DAY_NS,
                             .now_ns = 9 * DAY_NS,
                             .birth_ns = INT64_MIN};
    assert_int_equal(bk_history_read_begin(&history, NULL, &query, &reader), BK_OK);
    assert_true(bk_history_read_next(&history, &reader, &step));
    assert_true(step.bucket_low == 4 && step.bucket_high == 7);
    bk_read_found_range(&reader.reader, 9, false);
    assert_false(bk_history_read_next(&history, &reader, &step));
    assert_int_equal(bk_history_partitions_asked(&reader), 4);
    assert_int_equal(bk_history_rows_found(&reader), 9);
    /* A key whose birth is in the future has rows of the current time at most. */
    query.birth_ns = 10 * DAY_NS;
    query.kind = BK_QUERY_ALL;
    assert_int_equal(bk_history_read_begin(&history, NULL, &query, &reader), BK_OK);
    assert_true(bk_history_read_next(&history, &reader, &step));
    assert_true(step.bucket_low == 8 && step.bucket_high == 11);
    bk_read_found(&reader.reader, 1);
    assert_false(bk_history_read_next(&history, &reader, &step));
    /* A reader whose query was altered during the read ends where the altered query is invalid for the next
     * era. */
    query.birth_ns = INT64_MIN;
    assert_int_equal(bk_history_read_begin(&history, NULL, &query, &reader), BK_OK);
    assert_true(bk_history_read_next(&history, &reader, &step));
    bk_read_found(&reader.reader, 1);
    reader.query.plan = BK_PLAN_WALK;
    assert_false(bk_history_read_next(&history, &reader, &step));
    assert_int_equal(bk_history_partitions_asked(&reader), 4);
}

static void wrong_changes_are_refused(void **unused)
{
    (void)unused;
    struct bk_strategy day, ten, bits, wrong = {.kind = BK_KIND_COUNT};
    struct bk_history history, made;
    bk_strategy_time(DAY_NS, 0, &day);
    bk_strategy_count(10, &ten);
    bk_strategy_probabilistic(9, 40, &bits);
    assert_int_equal(bk_history_begin(NULL, &history), BK_ERROR_NULL);
    assert_int_equal(bk_history_begin(&day, NULL), BK_ERROR_NULL);
    assert_int_equal(bk_history_begin(&wrong, &history), BK_ERROR_ROWS);
    assert_int_equal(history.count, 0);
    assert_int_equal(bk_history_change(&history, 1, &day), BK_ERROR_ERAS);
    bk_history_begin(&day, &history);
    assert_int_equal(bk_history_change(&history, INT64_MIN, &day), BK_ERROR_ERA_TIME);
    assert_int_equal(bk_history_change(&history, 5, &wrong), BK_ERROR_ROWS);
    assert_int_equal(bk_history_change(&history, 5, NULL), BK_ERROR_NULL);
    assert_int_equal(bk_history_change(NULL, 5, &day), BK_ERROR_NULL);
    assert_int_equal(bk_history_change(&history, 5, &day), BK_OK);
    made = history;
    assert_int_equal(bk_history_change(&history, 5, &day), BK_ERROR_ERA_TIME);
    assert_memory_equal(&history, &made, sizeof made);
    assert_int_equal(bk_history_change(&history, 6, &bits), BK_OK);
    assert_int_equal(bk_history_change(&history, 7, &ten), BK_ERROR_ERA_KIND);
    assert_int_equal(bk_history_change(&history, 7, &day), BK_ERROR_ERA_KIND);
    for (int64_t i = 7; i < 12; i++)
        assert_int_equal(bk_history_change(&history, i, &bits), BK_OK);
    assert_int_equal(bk_history_change(&history, 12, &bits), BK_ERROR_ERAS);
    /* A history with an altered shift is refused. */
    history.eras[1].shift++;
    assert_int_equal(bk_history_check(&history), BK_ERROR_BUCKET);
    history.eras[1].shift--;
    history.eras[0].from_ns = 0;
    assert_int_equal(bk_history_check(&history), BK_ERROR_ERA_TIME);
    history.eras[0].from_ns = INT64_MIN;
    assert_int_equal(bk_history_check(&history), BK_OK);
    history.count = BK_ERAS_MAX + 1;
    struct bk_row row = {0, 0, 0, 0};
    struct bk_placement route;
    struct bk_history_state state;
    struct bk_history_reader reader;
    struct bk_read_step step;
    memset(&state, 0, sizeof state);
    assert_int_equal(bk_history_route(&history, &state, &row, &route), BK_ERROR_ERAS);
    assert_int_equal(bk_history_advance(&history, &state, &row, NULL), BK_ERROR_ERAS);
    assert_false(bk_history_fires(&history, &state, &row));
    assert_int_equal(bk_history_read_latest(&history, &state, 0, 0, 1, BK_PLAN_DEFAULT, &reader),
                     BK_ERROR_ERAS);
    assert_false(bk_history_read_next(&history, &reader, &step));
}

/* Rows of chance 2^-32 do not fire. The lines of the greatest age are the multiples of 1000. */
static void aged_eras_roll_at_lines_and_keep_the_bucket_at_the_date(void **state)
{
    (void)state;
    struct bk_strategy rare, full, plain, count;
    struct bk_history history, copy;
    struct bk_history_state key;
    const struct {
        struct bk_row row;
        int64_t bucket;
        bool begins;
    } rows[] = {
        {{100, 0, 0, 0}, 0, true}, /* the first row of a new key */
        {{900, 0, 0, 0}, 0, false},
        {{1000, 0, 0, 0}, 1, true},  /* beyond the line */
        {{1700, 0, 0, 0}, 1, false}, /* in the new era: the bucket stays */
        {{1800, 0, 0, 0}, 1, false},
        {{1900, 0, UINT64_MAX, 0}, 1, false}, /* fires, and the threshold is 1 */
        {{1950, 0, 0, 0}, 2, true},
        {{5500, 0, 0, 0}, 3, true},  /* first row after several lines: no bucket is left empty */
        {{1400, 0, 0, 0}, 3, false}, /* late: the settings of its time apply */
        {{5999, 0, 0, 0}, 3, false},
        {{6000, 0, UINT64_MAX, 0}, 4, true}, /* begins a bucket and fills it */
        {{6001, 0, 0, 0}, 5, true},
    };
    bk_strategy_probabilistic(32, 9, &rare);
    bk_strategy_probabilistic(16, 1, &full);
    plain = full;
    assert_int_equal(bk_strategy_max_age(1000, &rare), BK_OK);
    assert_int_equal(bk_strategy_max_age(1000, &full), BK_OK);
    assert_int_equal(bk_history_begin(&rare, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, 1500, &full), BK_OK);
    memset(&key, 0, sizeof key);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bk_placement route;
        assert_int_equal(bk_history_route(&history, &key, &rows[i].row, &route), BK_OK);
        assert_int_equal(route.bucket, rows[i].bucket);
        assert_int_equal(route.begins, rows[i].begins);
        assert_int_equal(bk_history_advance(&history, &key, &rows[i].row, NULL), BK_OK);
    }
    /* An age may end with an era but not begin with one. An era of `count` has no age. */
    assert_int_equal(bk_history_change(&history, 7000, &plain), BK_OK);
    assert_int_equal(bk_history_change(&history, 8000, &full), BK_ERROR_AGE);
    copy = history;
    copy.eras[1].strategy = copy.eras[0].strategy = plain;
    assert_int_equal(bk_history_check(&copy), BK_OK);
    copy.eras[2].strategy = full;
    assert_int_equal(bk_history_check(&copy), BK_ERROR_AGE);
    bk_strategy_count(5, &count);
    assert_int_equal(bk_strategy_max_age(1000, &count), BK_OK);
    assert_int_equal(bk_history_begin(&count, &history), BK_ERROR_AGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found),
        cmocka_unit_test(a_host_may_jump),
        cmocka_unit_test(one_era_is_the_strategy),
        cmocka_unit_test(windows_go_on_where_the_old_ones_end),
        cmocka_unit_test(hash_eras_are_read_one_after_the_other),
        cmocka_unit_test(limit_and_order_are_of_the_whole_read),
        cmocka_unit_test(a_start_below_all_buckets_is_refused),
        cmocka_unit_test(a_count_begins_anew),
        cmocka_unit_test(a_count_above_the_new_threshold_rolls_next),
        cmocka_unit_test(the_last_bucket_is_never_passed),
        cmocka_unit_test(the_last_number_is_like_any_other),
        cmocka_unit_test(eras_outside_a_span_are_not_asked),
        cmocka_unit_test(aged_eras_roll_at_lines_and_keep_the_bucket_at_the_date),
        cmocka_unit_test(wrong_changes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
