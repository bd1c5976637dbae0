/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: for every strategy, query and plan a reader gets exactly the rows that a full scan would, queries no
 * bucket twice and none outside the history, and stays within its bound. Method: random histories with empty
 * buckets; a host that answers each step from them; a full scan for comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../share.h"
#include "bucketing/read.h"

#include <stdlib.h>
#include <string.h>

#include "draw.h"

#define ROWS_MAX    200
#define BUCKETS_MAX 1600
#define WINDOW_NS   1000
#define EPOCH_NS    INT64_C(-7000)

struct stored {
    int64_t time_ns, bucket;
    bool is_taken;
};

/* Rows in the order in which they were written; a later row is a newer row. */
struct history {
    struct bk_strategy strategy;
    struct bk_key_state state;
    struct stored rows[ROWS_MAX];
    size_t count;
    int64_t birth_ns, now_ns;
    int64_t lowest, highest; /* buckets that a reader may query */
    bool is_asked[BUCKETS_MAX];
    uint64_t asked;
    bool tells_older;
};

static struct bk_strategy draw_strategy(struct draw *draw, enum bk_kind kind)
{
    struct bk_strategy strategy;
    enum bk_status status;
    switch (kind) {
    case BK_KIND_UNBUCKETED:
        status = bk_strategy_unbucketed(&strategy);
        break;
    case BK_KIND_TIME:
        status = bk_strategy_time(WINDOW_NS, EPOCH_NS, &strategy);
        break;
    case BK_KIND_COUNT:
        status = bk_strategy_count(1 + draw_below(draw, 20), &strategy);
        break;
    case BK_KIND_PROBABILISTIC:
        status = bk_strategy_probabilistic(1, 1 + draw_below(draw, 6), &strategy);
        break;
    case BK_KIND_WEIGHTED:
        status = bk_strategy_weighted(1 + draw_below(draw, 3), 1 + draw_below(draw, 6), &strategy);
        break;
    default:
        status = bk_strategy_hash(1 + (uint32_t)draw_below(draw, 40), &strategy);
    }
    if (kind != BK_KIND_UNBUCKETED && kind != BK_KIND_HASH && draw_below(draw, 2) == 0)
        status = bk_strategy_shards(1 + (uint32_t)draw_below(draw, 5), &strategy);
    assert_int_equal(status, BK_OK);
    return strategy;
}

static int64_t shards_of(const struct history *history)
{
    const struct bk_strategy *strategy = &history->strategy;
    uint32_t shards = strategy->kind == BK_KIND_TIME ? strategy->of.time.shards : strategy->shards;
    return shards > 0 ? shards : 1;
}

/* Draws gaps of all lengths and rows of equal times; for kinds that follow a sequence also an occasional
 * bucket without rows, as two simultaneous rolls leave behind. */
static void draw_history(struct draw *draw, enum bk_kind kind, struct history *history)
{
    memset(history, 0, sizeof *history);
    history->strategy = draw_strategy(draw, kind);
    history->count = draw_below(draw, 8) == 0 ? draw_below(draw, 3) : draw_below(draw, ROWS_MAX + 1);
    int64_t time_ns = EPOCH_NS + (int64_t)draw_below(draw, 50000), shift = 0;
    history->birth_ns = time_ns;
    uint64_t gap = 1 + draw_below(draw, 900);
    const int64_t shards = shards_of(history);
    for (size_t i = 0; i < history->count; i++) {
        if (i > 0)
            time_ns += (int64_t)(draw_below(draw, 4) == 0 ? 0 : draw_below(draw, gap));
        uint64_t id = draw_bits(draw);
        struct bk_row row = {time_ns, i, id, 1};
        struct bk_placement route;
        assert_int_equal(bk_route(&history->strategy, &history->state, &row, &route), BK_OK);
        bool is_sequence = kind == BK_KIND_COUNT || bk_kind_fires(kind);
        bool rolled =
            i > 0 && is_sequence && route.bucket / shards + shift > history->rows[i - 1].bucket / shards;
        shift += rolled && shift < 100 && draw_below(draw, 3) == 0 ? (int64_t)draw_below(draw, 4) : 0;
        history->rows[i] = (struct stored){time_ns, route.bucket + shift * shards, false};
        assert_int_equal(bk_advance(&history->strategy, &history->state, &row, NULL), BK_OK);
    }
    history->state.bucket += shift + (shift > 0 ? (int64_t)draw_below(draw, 3) : 0);
    history->now_ns = time_ns + (int64_t)draw_below(draw, 20000);
    history->lowest = kind == BK_KIND_TIME ? (history->birth_ns - EPOCH_NS) / WINDOW_NS * shards : 0;
    history->highest = kind == BK_KIND_TIME   ? ((history->now_ns - EPOCH_NS) / WINDOW_NS + 1) * shards - 1
                       : kind == BK_KIND_HASH ? history->strategy.of.hash.buckets - 1
                       : kind == BK_KIND_UNBUCKETED ? 0
                                                    : (history->state.bucket + 1) * shards - 1;
    assert_true(history->highest - history->lowest < BUCKETS_MAX);
}

static struct bk_query draw_query(struct draw *draw, const struct history *history)
{
    static const enum bk_plan walks[] = {BK_PLAN_DEFAULT, BK_PLAN_WALK, BK_PLAN_PAIR, BK_PLAN_PARALLEL};
    static const enum bk_plan hashes[] = {BK_PLAN_DEFAULT, BK_PLAN_ALL, BK_PLAN_LAZY, BK_PLAN_PARALLEL};
    struct bk_query query;
    memset(&query, 0, sizeof query);
    query.kind = (enum bk_query_kind)draw_below(draw, 3);
    query.plan = (history->strategy.kind == BK_KIND_HASH ? hashes : walks)[draw_below(draw, 4)];
    query.at_once = (uint32_t)draw_below(draw, 12);
    query.rows = 1 + draw_below(draw, draw_below(draw, 4) == 0 ? 300 : 30);
    query.now_ns = history->now_ns;
    query.birth_ns = history->birth_ns;
    query.from_ns = history->birth_ns - 3000 +
                    (int64_t)draw_below(draw, (uint64_t)(history->now_ns - history->birth_ns) + 6000);
    query.until_ns = query.from_ns + 1 + (int64_t)draw_below(draw, draw_below(draw, 2) ? 3000 : 90000);
    if (history->count > 0 && draw_below(draw, 4) == 0)
        query.from_ns = history->rows[draw_below(draw, history->count)].time_ns;
    if (query.from_ns >= query.until_ns)
        query.until_ns = query.from_ns + 1;
    return query;
}

static bool is_wanted(const struct bk_query *query, const struct stored *row)
{
    return query->kind != BK_QUERY_RANGE ||
           (row->time_ns >= query->from_ns && row->time_ns < query->until_ns);
}

/* Finds each bucket's newest rows within the step's times, up to the LIMIT. Returns the number of rows, and
 * whether an older row was met. */
static uint64_t answer(struct history *history, const struct bk_read_step *step, bool *saw_older)
{
    uint64_t found = 0;
    assert_true(step->bucket_low <= step->bucket_high);
    assert_true(step->bucket_low >= history->lowest && step->bucket_high <= history->highest);
    *saw_older = false;
    for (int64_t bucket = step->bucket_high; bucket >= step->bucket_low; bucket--) {
        uint64_t left = step->rows;
        assert_false(history->is_asked[bucket - history->lowest]);
        history->is_asked[bucket - history->lowest] = true;
        history->asked++;
        for (size_t i = history->count; i-- > 0 && left > 0;) {
            struct stored *row = &history->rows[i];
            if (row->bucket != bucket || row->time_ns >= step->until_ns)
                continue;
            if (row->time_ns < step->from_ns) {
                *saw_older = true;
                break;
            }
            row->is_taken = true;
            left--;
            found++;
        }
    }
    return found;
}

static void read_all(struct history *history, struct bk_reader *reader, const struct bk_empties *known)
{
    struct bk_read_step step;
    bool saw_older;
    while (bk_read_next_known(reader, known, &step)) {
        uint64_t found = answer(history, &step, &saw_older);
        bk_read_found_range(reader, found, history->tells_older && saw_older);
    }
    assert_true(reader->partitions_asked == history->asked);
    assert_int_equal(reader->status, BK_OK);
}

/* The reader's rows are those of a full scan: all of them for a range or for all rows; for the newest n
 * exactly these if the reader reports an order, and otherwise any n. */
static void assert_is_full_scan(const struct history *history, const struct bk_query *query,
                                const struct bk_reader *reader)
{
    uint64_t wanted = query->kind == BK_QUERY_LATEST ? query->rows : UINT64_MAX, due = 0, taken = 0;
    for (size_t i = history->count; i-- > 0;) {
        const struct stored *row = &history->rows[i];
        taken += row->is_taken;
        if (!is_wanted(query, row)) {
            assert_false(row->is_taken);
            continue;
        }
        if (due < wanted && (query->kind != BK_QUERY_LATEST || reader->order != BK_ORDER_NONE))
            assert_true(row->is_taken);
        due += due < wanted;
    }
    assert_true(taken >= due);
    assert_true(reader->rows_found == taken);
}

/* BK_ORDER_NEWEST_FIRST: the steps' buckets, from the highest down, return rows from the newest down. */
static void assert_order(const struct history *history, const struct bk_reader *reader)
{
    int64_t bucket = INT64_MAX;
    for (size_t i = history->count; reader->order == BK_ORDER_NEWEST_FIRST && i-- > 0;) {
        if (!history->rows[i].is_taken)
            continue;
        assert_true(history->rows[i].bucket <= bucket);
        bucket = history->rows[i].bucket;
    }
}

/* The bucket starts, each with the time of the bucket's first row; with `draw` only some of them. */
static size_t find_starts(struct draw *draw, const struct history *history, struct bk_bucket_start *starts)
{
    size_t count = 0;
    for (size_t i = 1; i < history->count; i++) {
        const struct stored *row = &history->rows[i];
        int64_t bucket = row->bucket / shards_of(history);
        if (bucket > row[-1].bucket / shards_of(history) && (draw == NULL || draw_below(draw, 3) > 0))
            starts[count++] = (struct bk_bucket_start){bucket, row->time_ns};
    }
    return count;
}

static void test_read_every_strategy_query_and_plan_equals_a_full_scan(void **state)
{
    (void)state;
    static struct history history;
    struct bk_bucket_start starts[ROWS_MAX];
    struct draw draw = {.state = 11};
    uint64_t saved = 0;
    for (int i = 0; i < 60000; i++) {
        draw_history(&draw, (enum bk_kind)(i % BK_KINDS), &history);
        struct bk_query query = draw_query(&draw, &history);
        bool is_sequence = history.strategy.kind == BK_KIND_COUNT || bk_kind_fires(history.strategy.kind);
        history.tells_older = draw_below(&draw, 4) > 0;
        if (is_sequence && draw_below(&draw, 2) == 0) {
            query.start_count = find_starts(&draw, &history, starts);
            query.starts = starts;
        }
        struct bk_reader reader;
        assert_int_equal(bk_read_begin(&history.strategy, &history.state, &query, &reader), BK_OK);
        read_all(&history, &reader, NULL);
        assert_is_full_scan(&history, &query, &reader);
        assert_order(&history, &reader);
        saved += is_sequence && query.kind == BK_QUERY_RANGE && reader.order != BK_ORDER_NONE &&
                 reader.partitions_asked < (uint64_t)history.highest + 1;
    }
    assert_true(saved > 1000); /* starts and older rows do end reads early */
}

static void test_read_range_with_all_starts_queries_no_useless_bucket(void **state)
{
    (void)state;
    static struct history history;
    struct draw draw = {.state = 12};
    for (int i = 0; i < 2000; i++) {
        draw_history(&draw, BK_KIND_COUNT, &history);
        struct bk_bucket_start starts[ROWS_MAX];
        struct bk_query query = draw_query(&draw, &history);
        query.kind = BK_QUERY_RANGE;
        query.plan = BK_PLAN_WALK;
        query.start_count = find_starts(NULL, &history, starts);
        query.starts = starts;
        struct bk_reader reader;
        assert_int_equal(bk_read_begin(&history.strategy, &history.state, &query, &reader), BK_OK);
        int64_t next = reader.next, floor = reader.floor;
        read_all(&history, &reader, NULL);
        assert_is_full_scan(&history, &query, &reader);
        for (size_t j = 0; j < query.start_count; j++) {
            const int64_t first = starts[j].bucket * shards_of(&history);
            assert_false(starts[j].start_ns >= query.until_ns && first <= next);
            assert_false(starts[j].start_ns < query.from_ns && first > floor);
        }
    }
}

static bool has_rows(const struct history *history, const struct bk_read_step *step, int64_t bucket)
{
    for (size_t i = 0; i < history->count; i++) {
        const struct stored *row = &history->rows[i];
        if (row->bucket == bucket && row->time_ns >= step->from_ns && row->time_ns < step->until_ns)
            return true;
    }
    return false;
}

/* Reads feed the memory as time advances. Rows arrive late, but not later than the memory allows. */
static void test_read_memory_of_empty_windows_loses_no_row_and_saves_requests(void **state)
{
    (void)state;
    static struct history all, seen;
    struct draw draw = {.state = 13};
    uint64_t asked = 0, spared = 0;
    for (int i = 0; i < 3000; i++) {
        draw_history(&draw, BK_KIND_TIME, &all);
        int64_t late_ns = (int64_t)draw_below(&draw, 4000), delay_ns[ROWS_MAX];
        for (size_t j = 0; j < all.count; j++)
            delay_ns[j] = draw_below(&draw, 3) > 0 ? 0 : (int64_t)draw_below(&draw, (uint64_t)late_ns + 1);
        struct bk_empties known;
        memset(&known, 0, sizeof known);
        for (int64_t now_ns = all.birth_ns; now_ns <= all.now_ns;
             now_ns += 1 + (int64_t)draw_below(&draw, 9000)) {
            seen = all;
            seen.count = 0;
            for (size_t j = 0; j < all.count; j++) {
                if (all.rows[j].time_ns + delay_ns[j] <= now_ns)
                    seen.rows[seen.count++] = all.rows[j];
            }
            seen.now_ns = now_ns;
            const int64_t shards = shards_of(&all);
            seen.highest = ((now_ns - EPOCH_NS) / WINDOW_NS + 1) * shards - 1;
            struct bk_query query = draw_query(&draw, &seen);
            struct bk_reader reader;
            assert_int_equal(bk_read_begin(&seen.strategy, NULL, &query, &reader), BK_OK);
            struct bk_read_step step;
            while (bk_read_next_known(&reader, &known, &step)) {
                bool saw_older;
                for (int64_t bucket = step.bucket_low; bucket <= step.bucket_high; bucket++)
                    assert_true(bk_empties_pass(&known, bucket) == bucket);
                uint64_t found = answer(&seen, &step, &saw_older);
                for (int64_t bucket = step.bucket_low; bucket <= step.bucket_high; bucket += shards) {
                    bool is_empty = true;
                    for (int64_t shard = 0; shard < shards; shard++)
                        is_empty = is_empty && !has_rows(&seen, &step, bucket + shard);
                    if (is_empty)
                        assert_int_equal(bk_empties_learn(&known, &seen.strategy, &reader, now_ns, late_ns,
                                                          bucket, bucket + shards - 1),
                                         BK_OK);
                }
                bk_read_found(&reader, found);
            }
            assert_is_full_scan(&seen, &query, &reader);
            asked += reader.partitions_asked;
            spared += reader.partitions_spared;
        }
    }
    assert_true(spared > 5000 && asked > 5000);
}

static bool is_remembered(const struct bk_empties *empties, int64_t bucket)
{
    return bk_empties_pass(empties, bucket) != bucket;
}

/* A run that is forgotten to make room, or that finds none, is no longer than any that is remembered. */
static void assert_shortest_was_dropped(const struct bk_empties *before, const struct bk_empties *after,
                                        int64_t low, int64_t high)
{
    int64_t longest = is_remembered(after, low) ? -1 : high - low;
    for (uint32_t i = 0; i < before->count; i++) {
        const struct bk_window_run *run = &before->runs[i];
        if (!is_remembered(after, run->low) && run->high - run->low > longest)
            longest = run->high - run->low;
    }
    assert_true(longest < 0 || after->count == BK_EMPTY_RUNS_MAX);
    for (uint32_t i = 0; i < after->count; i++)
        assert_true(after->runs[i].high - after->runs[i].low >= longest);
}

/* Compared with a plain list of windows, with more runs than the memory can hold. */
static void test_empties_random_runs_equal_a_plain_list(void **state)
{
    (void)state;
    struct draw draw = {.state = 14};
    struct bk_strategy window;
    struct bk_query query;
    struct bk_reader reader;
    memset(&query, 0, sizeof query);
    query.kind = BK_QUERY_ALL;
    assert_int_equal(bk_strategy_time(WINDOW_NS, 0, &window), BK_OK);
    assert_int_equal(bk_read_begin(&window, NULL, &query, &reader), BK_OK);
    for (int i = 0; i < (int)test_part(4000); i++) {
        /* Few enough windows for the memory to keep all runs, or more. */
        int64_t span = i % 2 == 0 ? 40 : i % 4 == 1 ? 300 : 600;
        bool is_known[600] = {false};
        struct bk_empties empties;
        memset(&empties, 0, sizeof empties);
        for (int turn = 0; turn < (span < 600 ? 60 : 120); turn++) {
            int64_t low = (int64_t)draw_below(&draw, (uint64_t)span);
            int64_t high = low + (int64_t)draw_below(&draw, 4) + (i % 4 == 3 && turn < 110 ? 2 : 0);
            high = high < span ? high : span - 1;
            bool learns = draw_below(&draw, 4) > 0;
            const struct bk_empties before = empties;
            if (learns) {
                assert_int_equal(bk_empties_learn(&empties, &window, &reader, span * WINDOW_NS, 0, low, high),
                                 BK_OK);
                assert_shortest_was_dropped(&before, &empties, low, high);
            } else {
                bk_empties_forget(&empties, low);
            }
            for (int64_t j = low; j <= (learns ? high : low); j++)
                is_known[j] = learns;
            assert_true(empties.count <= BK_EMPTY_RUNS_MAX);
            for (int64_t bucket = 0; bucket < span; bucket++) {
                bool knows = bk_empties_pass(&empties, bucket) != bucket;
                assert_true(knows ? is_known[bucket] : span > 40 || !is_known[bucket]);
                int64_t top = bk_empties_top(&empties, bucket);
                assert_true(knows ? top == bucket : top < bucket);
                assert_true(top == INT64_MIN || bk_empties_pass(&empties, top) < top);
            }
        }
    }
}

static void test_empties_open_late_and_cut_windows_are_never_kept(void **state)
{
    (void)state;
    struct bk_strategy window, count;
    struct bk_empties empties;
    struct bk_query query;
    struct bk_reader reader;
    memset(&empties, 0, sizeof empties);
    memset(&query, 0, sizeof query);
    query.kind = BK_QUERY_RANGE;
    query.from_ns = 2500;
    query.until_ns = 7500;
    query.now_ns = 9000;
    assert_int_equal(bk_strategy_time(1000, 0, &window), BK_OK);
    assert_int_equal(bk_strategy_count(9, &count), BK_OK);
    assert_int_equal(bk_read_begin(&window, NULL, &query, &reader), BK_OK);
    assert_int_equal(bk_empties_learn(&empties, &window, &reader, 20000, 0, 2, 7), BK_OK);
    assert_true(empties.count == 1 && empties.runs[0].low == 3 && empties.runs[0].high == 6);
    query.kind = BK_QUERY_ALL;
    assert_int_equal(bk_read_begin(&window, NULL, &query, &reader), BK_OK);
    assert_int_equal(bk_empties_learn(&empties, &window, &reader, 9999, 0, 9, 9), BK_OK);
    assert_int_equal(bk_empties_learn(&empties, &window, &reader, 10999, 1000, 9, 9), BK_OK);
    assert_true(empties.count == 1);
    assert_int_equal(bk_empties_learn(&empties, &window, &reader, 11000, 1000, 9, 9), BK_OK);
    assert_true(empties.count == 2 && empties.runs[1].low == 9 && empties.runs[1].high == 9);
    struct bk_empties before = empties;
    assert_int_equal(bk_empties_learn(NULL, &window, &reader, 0, 0, 0, 0), BK_ERROR_NULL);
    assert_int_equal(bk_empties_learn(&empties, NULL, &reader, 0, 0, 0, 0), BK_ERROR_NULL);
    assert_int_equal(bk_empties_learn(&empties, &window, NULL, 0, 0, 0, 0), BK_ERROR_NULL);
    assert_int_equal(bk_empties_learn(&empties, &count, &reader, 9999, 0, 0, 0), BK_ERROR_KIND);
    assert_int_equal(bk_empties_learn(&empties, &window, &reader, 9999, -1, 0, 0), BK_ERROR_RANGE);
    assert_int_equal(bk_empties_learn(&empties, &window, &reader, INT64_MIN, INT64_MAX, 0, 5), BK_OK);
    bk_empties_forget(NULL, 3);
    bk_empties_forget(&empties, 8);
    assert_memory_equal(&empties, &before, sizeof before);
}

/* Runs that another program made, up to the ends of the number line: the reader does not count beyond the
 * ends. */
static void test_empties_runs_at_the_ends_of_the_line_are_sound(void **state)
{
    (void)state;
    struct bk_strategy window;
    struct bk_query query = {.kind = BK_QUERY_ALL, .now_ns = 9000};
    struct bk_reader reader;
    struct bk_empties empties = {.count = 2, .runs = {{INT64_MIN, -7}, {5, INT64_MAX}}};
    assert_true(bk_empties_pass(&empties, -7) == INT64_MIN);
    assert_true(bk_empties_pass(&empties, INT64_MAX) == 4);
    assert_true(bk_empties_top(&empties, INT64_MIN) == INT64_MIN);
    assert_int_equal(bk_strategy_time(1000, 0, &window), BK_OK);
    assert_int_equal(bk_read_begin(&window, NULL, &query, &reader), BK_OK);
    assert_int_equal(bk_empties_learn(&empties, &window, &reader, 20000, 0, 4, 8), BK_OK);
    assert_int_equal(empties.count, 2);
    assert_true(empties.runs[1].low == 4 && empties.runs[1].high == INT64_MAX);
}

/* The published GetRows requests bucket - 1 in its loop and never lowers `bucket`: if the two newest buckets
 * have fewer rows than wanted, it requests the same bucket without end. */
static void test_read_published_get_rows_repeats_a_bucket_and_this_reader_ends(void **state)
{
    (void)state;
    const uint64_t rows[5] = {3, 0, 0, 0, 2};
    int64_t bucket = 4;
    uint64_t found = rows[bucket], turns = 0;
    while (found < 50 && bucket > 0 && turns < 1000) { /* as published, except for the bound */
        found += rows[bucket - 1];
        turns++;
    }
    assert_true(turns == 1000 && found == 2);

    struct bk_strategy strategy;
    struct bk_key_state key = {.bucket = 4};
    struct bk_reader reader;
    struct bk_read_step step;
    assert_int_equal(bk_strategy_probabilistic(9, 40, &strategy), BK_OK);
    assert_int_equal(bk_read_latest(&strategy, &key, 0, 0, 50, BK_PLAN_WALK, &reader), BK_OK);
    for (turns = 0; bk_read_next(&reader, &step); turns++)
        bk_read_found(&reader, rows[step.bucket_low]);
    assert_true(turns == 5 && reader.rows_found == 5);
}

/* The published iterator over hash buckets ends at the first empty bucket. */
static void test_read_published_iterator_ends_at_an_empty_bucket_and_this_one_does_not(void **state)
{
    (void)state;
    const uint64_t rows[6] = {4, 0, 7, 0, 0, 1};
    uint64_t published = 0;
    for (int bucket = 5; bucket >= 0 && rows[bucket] > 0; bucket--)
        published += rows[bucket];
    assert_true(published == 1);

    struct bk_strategy strategy;
    struct bk_reader reader;
    struct bk_read_step step;
    struct bk_query query;
    memset(&query, 0, sizeof query);
    query.kind = BK_QUERY_ALL;
    query.plan = BK_PLAN_LAZY;
    assert_int_equal(bk_strategy_hash(6, &strategy), BK_OK);
    assert_int_equal(bk_read_begin(&strategy, NULL, &query, &reader), BK_OK);
    while (bk_read_next(&reader, &step))
        bk_read_found(&reader, rows[step.bucket_low]);
    assert_true(reader.rows_found == 12 && reader.partitions_asked == 6);
    /* The reader queries a bucket only when it is needed. */
    query.kind = BK_QUERY_LATEST;
    query.rows = 8;
    assert_int_equal(bk_read_begin(&strategy, NULL, &query, &reader), BK_OK);
    assert_int_equal(reader.order, BK_ORDER_NONE);
    while (bk_read_next(&reader, &step))
        bk_read_found(&reader, rows[step.bucket_low]);
    assert_true(reader.rows_found == 8 && reader.partitions_asked == 4);
}

static void test_read_parallel_queries_no_more_at_once_than_allowed(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    struct bk_query query;
    memset(&query, 0, sizeof query);
    query.kind = BK_QUERY_LATEST;
    query.rows = 5;
    query.plan = BK_PLAN_PARALLEL;
    for (uint32_t at_once = 0; at_once < 40; at_once++) {
        struct bk_reader reader;
        struct bk_read_step step;
        uint32_t most = at_once == 0 ? BK_AT_ONCE_DEFAULT : at_once;
        query.at_once = at_once;
        assert_int_equal(bk_strategy_hash(30, &strategy), BK_OK);
        assert_int_equal(bk_read_begin(&strategy, NULL, &query, &reader), BK_OK);
        assert_int_equal(reader.order, BK_ORDER_MERGED);
        for (int64_t next = 29; bk_read_next(&reader, &step); next = step.bucket_low - 1) {
            assert_true(step.bucket_high == next && step.rows == 5);
            assert_true(step.bucket_high - step.bucket_low < (int64_t)most);
            bk_read_found(&reader, 5);
        }
        assert_true(reader.partitions_asked == 30); /* enough rows, but any bucket may hold newer ones */
    }
}

/* The state, the birth or the unit is wrong by a factor of a million. */
static void test_read_every_walk_is_bounded(void **state)
{
    (void)state;
    static const enum bk_plan plans[] = {BK_PLAN_WALK, BK_PLAN_PAIR, BK_PLAN_PARALLEL};
    struct bk_strategy strategies[3];
    struct bk_key_state key = {.bucket = INT64_MAX - 1};
    assert_int_equal(bk_strategy_count(1, &strategies[0]), BK_OK);
    assert_int_equal(bk_strategy_probabilistic(9, 40, &strategies[1]), BK_OK);
    assert_int_equal(bk_strategy_time(1000, 0, &strategies[2]), BK_OK);
    for (int i = 0; i < 3 * 3 * 3; i++) {
        struct bk_query query;
        struct bk_reader reader, skipper;
        struct bk_read_step step;
        memset(&query, 0, sizeof query);
        query.kind = (enum bk_query_kind)(i % 3);
        query.plan = plans[i / 3 % 3];
        query.rows = 9;
        query.from_ns = 0;
        query.until_ns = query.now_ns = 90000000;
        query.partitions_max = 1001;
        assert_int_equal(bk_read_begin(&strategies[i / 9], &key, &query, &reader), BK_OK);
        skipper = reader;
        uint64_t asked = 0;
        while (bk_read_next(&reader, &step)) {
            asked += (uint64_t)(step.bucket_high - step.bucket_low) + 1;
            assert_true(asked <= 1001);
            bk_read_found(&reader, 0);
        }
        assert_true(asked == 1001 && reader.partitions_asked == 1001);
        assert_int_equal(reader.status, BK_ERROR_WALK_TOO_LONG);
        assert_false(bk_read_next(&reader, &step));
        /* A host that skips windows known to be empty is bounded too. */
        while (bk_read_skip_to(&skipper, INT64_MIN) > 0 || bk_read_next(&skipper, &step))
            bk_read_found(&skipper, 0);
        assert_true(skipper.partitions_asked == 1001);
        assert_int_equal(skipper.status, BK_ERROR_WALK_TOO_LONG);
        /* A read that needs exactly its limit is complete. */
        query.partitions_max = 1;
        query.until_ns = query.now_ns = 500;
        assert_int_equal(bk_read_begin(&strategies[2], NULL, &query, &reader), BK_OK);
        assert_true(bk_read_next(&reader, &step));
        bk_read_found(&reader, 0);
        assert_false(bk_read_next(&reader, &step));
        assert_int_equal(reader.status, BK_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_every_strategy_query_and_plan_equals_a_full_scan),
        cmocka_unit_test(test_read_range_with_all_starts_queries_no_useless_bucket),
        cmocka_unit_test(test_read_memory_of_empty_windows_loses_no_row_and_saves_requests),
        cmocka_unit_test(test_empties_random_runs_equal_a_plain_list),
        cmocka_unit_test(test_empties_runs_at_the_ends_of_the_line_are_sound),
        cmocka_unit_test(test_empties_open_late_and_cut_windows_are_never_kept),
        cmocka_unit_test(test_read_published_get_rows_repeats_a_bucket_and_this_reader_ends),
        cmocka_unit_test(test_read_published_iterator_ends_at_an_empty_bucket_and_this_one_does_not),
        cmocka_unit_test(test_read_parallel_queries_no_more_at_once_than_allowed),
        cmocka_unit_test(test_read_every_walk_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
