/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a reader finds the newest rows, never queries beyond the history, always ends, and counts the
 * partitions that it queries. Method: random histories (rows per bucket) are compared with a naive reader
 * that goes down bucket by bucket; skipping is compared with querying step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bucketing/read.h"

#include <string.h>

#include "draw.h"

#define BUCKETS   48
#define WINDOW_NS 1000
#define EPOCH_NS  INT64_C(-7000)

/* A key's rows: bucket floor + i holds rows[i]. */
struct history {
    struct bk_strategy strategy;
    struct bk_key_state state;
    int64_t now_ns, birth_ns;
    int64_t floor, newest;
    uint64_t rows[BUCKETS];
};

static struct history draw_history(struct draw *draw, enum bk_kind kind)
{
    struct history history = {.floor = 0, .newest = (int64_t)draw_below(draw, BUCKETS)};
    enum bk_status status = BK_OK;
    switch (kind) {
    case BK_KIND_UNBUCKETED:
        history.newest = 0;
        status = bk_strategy_unbucketed(&history.strategy);
        break;
    case BK_KIND_TIME:
        history.floor = (int64_t)draw_below(draw, 100) - 50;
        history.newest += history.floor;
        history.birth_ns = EPOCH_NS + history.floor * WINDOW_NS + (int64_t)draw_below(draw, WINDOW_NS);
        history.now_ns = EPOCH_NS + history.newest * WINDOW_NS + (int64_t)draw_below(draw, WINDOW_NS);
        status = bk_strategy_time(WINDOW_NS, EPOCH_NS, &history.strategy);
        break;
    case BK_KIND_COUNT:
        status = bk_strategy_count(5, &history.strategy);
        break;
    case BK_KIND_PROBABILISTIC:
        status = bk_strategy_probabilistic(3, 4, &history.strategy);
        break;
    case BK_KIND_WEIGHTED:
        status = bk_strategy_weighted(3, 4, &history.strategy);
        break;
    default:
        status = bk_strategy_hash((uint32_t)history.newest + 1, &history.strategy);
    }
    assert_int_equal(status, BK_OK);
    history.state.bucket =
        /* These kinds do not use the state. */
        kind == BK_KIND_TIME || kind == BK_KIND_HASH ? -1 : history.newest;
    uint64_t empty_in = 1 + draw_below(draw, 4), most = 1 + draw_below(draw, 12);
    for (int64_t i = 0; i <= history.newest - history.floor; i++)
        history.rows[i] = draw_below(draw, empty_in) == 0 ? draw_below(draw, most + 1) : 0;
    return history;
}

static struct bk_reader start(const struct history *history, uint64_t wanted, enum bk_plan plan)
{
    struct bk_reader reader;
    memset(&reader, 0xa5, sizeof reader);
    assert_int_equal(bk_read_latest(&history->strategy, &history->state, history->now_ns, history->birth_ns,
                                    wanted, plan, &reader),
                     BK_OK);
    return reader;
}

/* Reads the step's buckets with its LIMIT, newest first, and keeps the rows that are still wanted in kept[].
 */
static uint64_t ask(const struct history *history, const struct bk_read_step *step, uint64_t *kept)
{
    uint64_t found = 0;
    assert_true(step->bucket_low >= history->floor && step->bucket_high <= history->newest);
    assert_true(step->bucket_low <= step->bucket_high);
    for (int64_t bucket = step->bucket_high; bucket >= step->bucket_low; bucket--) {
        uint64_t rows = history->rows[bucket - history->floor];
        rows = rows < step->rows ? rows : step->rows;
        uint64_t left = step->rows - (found < step->rows ? found : step->rows);
        kept[bucket - history->floor] = rows < left ? rows : left;
        found += rows;
    }
    return found;
}

/* Compared with the whole history: exactly the newest rows were kept, and no more partitions were queried
 * than needed. */
static void check_read(const struct history *history, uint64_t wanted, enum bk_plan plan, int64_t width)
{
    struct bk_reader reader = start(history, wanted, plan);
    struct bk_read_step step, again;
    uint64_t kept[BUCKETS] = {0}, asked = 0, steps = 0;
    while (bk_read_next(&reader, &step)) {
        assert_true(bk_read_next(&reader, &again));
        assert_memory_equal(&step, &again, sizeof step);
        assert_true(step.rows == wanted - reader.rows_found);
        assert_true(++steps <= BUCKETS);
        asked += (uint64_t)(step.bucket_high - step.bucket_low) + 1;
        bk_read_found(&reader, ask(history, &step, kept));
    }
    assert_false(bk_read_next(&reader, &step));
    assert_true(reader.partitions_asked == asked);

    uint64_t left = wanted, total = 0, needed = 0;
    for (int64_t i = history->newest - history->floor; i >= 0; i--) {
        uint64_t newest_rows = history->rows[i] < left ? history->rows[i] : left;
        if (history->strategy.kind != BK_KIND_HASH)
            assert_true(kept[i] == newest_rows);
        needed += left > 0;
        left -= newest_rows;
        total += kept[i];
    }
    assert_true(total == wanted - left);
    assert_true(left == 0 ? reader.rows_found >= wanted : reader.rows_found == wanted - left);
    uint64_t all = (uint64_t)(history->newest - history->floor) + 1, w = (uint64_t)width;
    uint64_t in_steps = (needed + w - 1) / w * w;
    assert_true(asked == (in_steps < all ? in_steps : all));
}

static void test_read_random_histories_newest_rows_are_found(void **state)
{
    (void)state;
    struct draw draw = {.state = 1};
    for (int i = 0; i < 40000; i++) {
        enum bk_kind kind = (enum bk_kind)(i % BK_KINDS);
        struct history history = draw_history(&draw, kind);
        uint64_t wanted = i % 10 == 0 ? UINT64_MAX : 1 + draw_below(&draw, 60);
        if (kind == BK_KIND_HASH) {
            check_read(&history, wanted, i % 2 == 0 ? BK_PLAN_ALL : BK_PLAN_DEFAULT, history.newest + 1);
            continue;
        }
        check_read(&history, wanted, i % 2 == 0 ? BK_PLAN_WALK : BK_PLAN_DEFAULT, 1);
        check_read(&history, wanted, BK_PLAN_PAIR, 2);
    }
}

/* When the history is short, the published loop queries the same bucket forever. */
static void test_read_short_history_ends_at_its_beginning(void **state)
{
    (void)state;
    struct draw draw = {.state = 2};
    for (int i = 0; i < 1000; i++) {
        struct history history = draw_history(&draw, (enum bk_kind)(i % BK_KINDS));
        memset(history.rows, 0, sizeof history.rows);
        history.rows[0] = 3;
        uint64_t kept[BUCKETS] = {0};
        bool is_hash = history.strategy.kind == BK_KIND_HASH;
        struct bk_reader reader = start(&history, 50, is_hash || i % 2 == 0 ? BK_PLAN_DEFAULT : BK_PLAN_PAIR);
        struct bk_read_step step = {.rows = 0};
        for (int steps = 0; bk_read_next(&reader, &step); steps++) {
            assert_true(steps < BUCKETS);
            bk_read_found(&reader, ask(&history, &step, kept));
        }
        assert_true(step.bucket_low == history.floor && reader.rows_found == 3);
        assert_true(reader.partitions_asked == (uint64_t)(history.newest - history.floor) + 1);
    }
}

static void assert_same_reader(const struct bk_reader *a, const struct bk_reader *b)
{
    assert_true(a->next == b->next && a->floor == b->floor && a->width == b->width);
    assert_true(a->rows_wanted == b->rows_wanted && a->rows_found == b->rows_found);
    assert_true(a->partitions_asked == b->partitions_asked && a->step_open == b->step_open);
}

/* The rule of the header: the whole steps above `bucket`, each queried and answered with 0. */
static void skip_by_asking(struct bk_reader *reader, int64_t bucket)
{
    for (;;) {
        struct bk_reader next = *reader;
        struct bk_read_step step;
        if (!bk_read_next(&next, &step) || step.bucket_low <= bucket)
            return;
        bk_read_found(&next, 0);
        *reader = next;
    }
}

static void test_read_skip_equals_single_steps(void **state)
{
    (void)state;
    struct draw draw = {.state = 3};
    int skips = 0;
    for (int i = 0; i < 40000; i++) {
        struct history history = draw_history(&draw, (enum bk_kind)(i % BK_KINDS));
        bool is_hash = history.strategy.kind == BK_KIND_HASH;
        enum bk_plan plan = is_hash || draw_below(&draw, 2) == 0 ? BK_PLAN_DEFAULT : BK_PLAN_PAIR;
        struct bk_reader reader = start(&history, 1 + draw_below(&draw, 20), plan);
        for (int turn = 0; turn < 6; turn++) {
            struct bk_read_step step;
            uint64_t kept[BUCKETS];
            /* With and without an open step, and after the end of the read. */
            if (draw_below(&draw, 3) > 0 && bk_read_next(&reader, &step) && draw_below(&draw, 2) == 0)
                bk_read_found(&reader, ask(&history, &step, kept));
            static const int64_t ends[] = {INT64_MIN, INT64_MAX, -1, 0};
            int64_t bucket = draw_below(&draw, 6) == 0 ? ends[draw_below(&draw, 4)]
                                                       : reader.next + 2 - (int64_t)draw_below(&draw, 10);
            struct bk_reader skipped = reader, asked = reader;
            uint64_t partitions = bk_read_skip_to(&skipped, bucket);
            skip_by_asking(&asked, bucket);
            assert_same_reader(&skipped, &asked);
            assert_true(partitions == skipped.partitions_asked - reader.partitions_asked);
            skips += partitions > 0;
            reader = skipped;
        }
    }
    assert_true(skips > 10000);
}

static void test_read_time_walks_from_now_to_birth(void **state)
{
    (void)state;
    struct bk_strategy day;
    struct bk_reader reader;
    struct bk_read_step step;
    int64_t day_ns = INT64_C(86400000000000);
    assert_int_equal(bk_strategy_calendar(BK_CALENDAR_DAY, &day), BK_OK);
    assert_int_equal(bk_read_latest(&day, NULL, 5 * day_ns, -1, 9, BK_PLAN_WALK, &reader), BK_OK);
    assert_true(reader.next == 5 && reader.floor == -1);
    /* The birth is after the reader's now, by a clock that is ahead. */
    assert_int_equal(bk_read_latest(&day, NULL, 5 * day_ns, 9 * day_ns, 9, BK_PLAN_PAIR, &reader), BK_OK);
    assert_true(bk_read_next(&reader, &step));
    assert_true(step.bucket_low == 5 && step.bucket_high == 5);
    bk_read_found(&reader, 0);
    assert_false(bk_read_next(&reader, &step));
    assert_true(reader.partitions_asked == 1);
}

static void test_read_reports_out_of_turn_change_nothing(void **state)
{
    (void)state;
    struct bk_strategy count;
    struct bk_key_state key = {.bucket = 4};
    struct bk_reader reader, before;
    struct bk_read_step step;
    assert_int_equal(bk_strategy_count(5, &count), BK_OK);
    assert_int_equal(bk_read_latest(&count, &key, 0, 0, 9, BK_PLAN_PAIR, &reader), BK_OK);
    before = reader;
    bk_read_found(&reader, 7);
    assert_same_reader(&reader, &before);
    assert_true(bk_read_next(&reader, &step));
    bk_read_found(&reader, 2);
    before = reader;
    bk_read_found(&reader, 7);
    assert_same_reader(&reader, &before);
    /* More rows than a counter can hold are enough rows. */
    assert_true(bk_read_next(&reader, &step));
    bk_read_found(&reader, UINT64_MAX);
    assert_true(reader.rows_found == UINT64_MAX && reader.partitions_asked == 4);
    assert_false(bk_read_next(&reader, &step));
    before = reader;
    assert_int_equal(bk_read_skip_to(&reader, -1), 0);
    assert_same_reader(&reader, &before);
    assert_false(bk_read_next(NULL, &step));
    assert_false(bk_read_next(&reader, NULL));
    assert_int_equal(bk_read_skip_to(NULL, 0), 0);
    bk_read_found(NULL, 1);
}

/* Skips all 2^63 buckets that a count can have in one call. */
static void test_read_skips_as_many_buckets_as_there_are(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    struct bk_reader reader;
    struct bk_read_step step;
    const struct bk_key_state newest = {.bucket = INT64_MAX};
    const struct bk_query query = {.kind = BK_QUERY_ALL, .partitions_max = UINT64_MAX};
    assert_int_equal(bk_strategy_count(1, &strategy), BK_OK);
    assert_int_equal(bk_read_begin(&strategy, &newest, &query, &reader), BK_OK);
    assert_true(bk_read_skip_to(&reader, -1) == UINT64_C(1) << 63);
    assert_int_equal(reader.next, -1);
    assert_false(bk_read_next(&reader, &step));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_random_histories_newest_rows_are_found),
        cmocka_unit_test(test_read_short_history_ends_at_its_beginning),
        cmocka_unit_test(test_read_skip_equals_single_steps),
        cmocka_unit_test(test_read_time_walks_from_now_to_birth),
        cmocka_unit_test(test_read_reports_out_of_turn_change_nothing),
        cmocka_unit_test(test_read_skips_as_many_buckets_as_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
