/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: bk_route_batch() places rows, and leaves the key's state, exactly like bk_route() and bk_advance() row
 * by row. Method: strategies of all kinds, with numbers so small that windows, thresholds and ages meet
 * often; rows whose times and sequences advance, lag, repeat or jump to an end of their range; batches of any
 * length, one after another with one state. Each bucket and the whole state are compared. */
#include "../share.h"
#include "agent_host.h"
#include "bucketing/route.h"
#include "draw.h"

#define ROWS    300
#define BATCHES 8
#define DRAWS   20000

struct columns {
    int64_t times_ns[ROWS];
    uint64_t sequences[ROWS], ids[ROWS], bytes[ROWS];
};

static struct bk_strategy draw_strategy(struct draw *draw)
{
    struct bk_strategy strategy;
    enum bk_status status = BK_OK;
    uint64_t threshold = 1 + draw_below(draw, 4);
    switch (draw_below(draw, 8)) {
    case 0:
        status = bk_strategy_unbucketed(&strategy);
        break;
    case 1:
        status = bk_strategy_time(1000 + (int64_t)draw_below(draw, 1000), draw_time(draw), &strategy);
        break;
    case 2:
        status = bk_strategy_calendar((enum bk_calendar)(1 + draw_below(draw, 4)), &strategy);
        break;
    case 3:
        status = bk_strategy_count(1 + (draw_size(draw) >> draw_below(draw, 2)), &strategy);
        break;
    case 4:
        status = bk_strategy_probabilistic((uint32_t)draw_below(draw, 7), threshold, &strategy);
        break;
    case 5:
        status = bk_strategy_probabilistic_chance(1 + draw_below(draw, 3), 4 + draw_below(draw, 30),
                                                  threshold, &strategy);
        break;
    case 6:
        status = bk_strategy_hash(1 + (uint32_t)draw_below(draw, 40), &strategy);
        break;
    default:
        status = bk_strategy_weighted(1 + draw_below(draw, 2000), threshold, &strategy);
    }
    assert_int_equal(status, BK_OK);
    if (strategy.kind != BK_KIND_UNBUCKETED && strategy.kind != BK_KIND_HASH && draw_below(draw, 3) == 0)
        assert_int_equal(bk_strategy_shards(1 + (uint32_t)draw_below(draw, BK_SHARDS_MAX), &strategy), BK_OK);
    if ((strategy.kind == BK_KIND_COUNT || bk_kind_fires(strategy.kind)) && draw_below(draw, 3) == 0)
        assert_int_equal(bk_strategy_max_age(1000 + (int64_t)draw_below(draw, 5000), &strategy), BK_OK);
    return strategy;
}

/* Mostly in order, in small steps; some rows are late, some far away. */
static void draw_rows(struct draw *draw, struct columns *columns, int64_t *time_ns, uint64_t *sequence)
{
    int64_t step = 1 + (int64_t)draw_below(draw, 300);
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t fate = draw_below(draw, 64);
        columns->times_ns[i] = *time_ns = (int64_t)((uint64_t)*time_ns + draw_below(draw, (uint64_t)step));
        columns->sequences[i] = (*sequence)++;
        if (fate < 4) {
            columns->times_ns[i] -= (int64_t)draw_below(draw, 5000);
            columns->sequences[i] -= draw_below(draw, columns->sequences[i] + 1);
        } else if (fate == 4) {
            columns->times_ns[i] = draw_time(draw);
            columns->sequences[i] = draw_bits(draw) | (draw_bits(draw) << 1);
        } else if (fate == 5) {
            columns->times_ns[i] = draw_below(draw, 2) == 0 ? INT64_MIN : INT64_MAX;
            columns->sequences[i] = UINT64_MAX - draw_below(draw, 2);
        }
        columns->ids[i] = draw_bits(draw);
        columns->bytes[i] = draw_below(draw, 3000);
    }
}

static void place_by_row(const struct bk_strategy *strategy, struct bk_key_state *state,
                         const struct bk_rows *rows, size_t count, int64_t *buckets)
{
    for (size_t i = 0; i < count; i++) {
        struct bk_row row = {rows->times_ns != NULL ? rows->times_ns[i] : 0,
                             rows->sequences != NULL ? rows->sequences[i] : 0,
                             rows->ids != NULL ? rows->ids[i] : 0, rows->bytes != NULL ? rows->bytes[i] : 0};
        struct bk_placement route;
        assert_int_equal(bk_route(strategy, state, &row, &route), BK_OK);
        assert_int_equal(bk_advance(strategy, state, &row, NULL), BK_OK);
        buckets[i] = route.bucket;
    }
}

static void assert_states_equal(const struct bk_key_state *a, const struct bk_key_state *b)
{
    assert_true(a->bucket == b->bucket && a->counter == b->counter &&
                a->last_change_ns == b->last_change_ns && a->is_begun == b->is_begun &&
                a->until_ns == b->until_ns && a->first_sequence == b->first_sequence);
}

/* Sometimes without the columns that the strategy does not need. */
static struct bk_rows rows_of(struct draw *draw, const struct bk_strategy *strategy,
                              const struct columns *columns)
{
    struct bk_rows rows = {columns->times_ns, columns->sequences, columns->ids, columns->bytes};
    uint64_t left_out = draw_below(draw, 4) == 0 ? draw_bits(draw) : 0;
    if (left_out & 1 && strategy->kind != BK_KIND_TIME && strategy->max_age_ns == 0)
        rows.times_ns = NULL;
    if (left_out & 2 && strategy->kind != BK_KIND_COUNT)
        rows.sequences = NULL;
    if (left_out & 4 && strategy->kind != BK_KIND_HASH && !bk_kind_fires(strategy->kind) &&
        strategy->shards < 2 && (strategy->kind != BK_KIND_TIME || strategy->of.time.shards < 2))
        rows.ids = NULL;
    if (left_out & 8 && strategy->kind != BK_KIND_WEIGHTED)
        rows.bytes = NULL;
    return rows;
}

static void test_batch_equals_row_by_row(void **unused)
{
    (void)unused;
    static struct columns columns;
    struct draw draw = {.state = 1};
    uint64_t rolls = 0, late = 0;
    for (int i = 0; i < (int)test_part(DRAWS / BATCHES); i++) {
        struct bk_strategy strategy = draw_strategy(&draw);
        struct bk_key_state by_batch = {0}, by_row = {0};
        int64_t time_ns = draw_time(&draw) / 2;
        uint64_t sequence = draw_below(&draw, 3) == 0 ? draw_size(&draw) / 2 : 0;
        for (int j = 0; j < BATCHES; j++) {
            int64_t buckets[ROWS], wanted[ROWS];
            size_t count = draw_below(&draw, 4) == 0 ? draw_below(&draw, 3) : draw_below(&draw, ROWS + 1);
            draw_rows(&draw, &columns, &time_ns, &sequence);
            struct bk_rows rows = rows_of(&draw, &strategy, &columns);
            assert_int_equal(bk_route_batch(&strategy, &by_batch, &rows, count, buckets), BK_OK);
            place_by_row(&strategy, &by_row, &rows, count, wanted);
            for (size_t k = 0; k < count; k++) {
                assert_true(buckets[k] == wanted[k]);
                rolls += k > 0 && wanted[k] > wanted[k - 1];
                late += k > 0 && wanted[k] < wanted[k - 1];
            }
            assert_states_equal(&by_batch, &by_row);
        }
    }
    assert_true(rolls > test_part(10000) && late > test_part(10000));
}

static void test_batch_without_a_state_places_rows_of_stateless_kinds(void **unused)
{
    (void)unused;
    const int64_t times_ns[] = {5, 1500, -1, 2500};
    const uint64_t ids[] = {1, 2, 3, 4};
    const struct bk_rows rows = {.times_ns = times_ns, .ids = ids};
    struct bk_strategy windows, hashes, unbucketed;
    int64_t buckets[4];
    bk_strategy_time(1000, 0, &windows);
    bk_strategy_hash(7, &hashes);
    bk_strategy_unbucketed(&unbucketed);
    assert_int_equal(bk_route_batch(&windows, NULL, &rows, 4, buckets), BK_OK);
    assert_true(buckets[0] == 0 && buckets[1] == 1 && buckets[2] == -1 && buckets[3] == 2);
    assert_int_equal(bk_route_batch(&hashes, NULL, &rows, 4, buckets), BK_OK);
    for (int i = 0; i < 4; i++)
        assert_true(buckets[i] == bk_bucket_of_id(ids[i], 7));
    assert_int_equal(bk_route_batch(&unbucketed, NULL, &(struct bk_rows){0}, 4, buckets), BK_OK);
    assert_true(buckets[0] == 0 && buckets[3] == 0);
    assert_int_equal(bk_route_batch(&unbucketed, NULL, &(struct bk_rows){0}, 0, NULL), BK_OK);
}

/* The first row rolls into the last bucket that a state may name; the second row has no bucket to roll into.
 */
static void test_batch_that_runs_out_of_buckets_leaves_the_state(void **unused)
{
    (void)unused;
    const uint64_t ids[] = {1, 1, 1};
    const struct bk_rows rows = {.ids = ids};
    const struct bk_key_state before = {.bucket = INT64_MAX - 1};
    struct bk_key_state state = before;
    struct bk_strategy strategy;
    int64_t buckets[3];
    bk_strategy_probabilistic(1, 1, &strategy);
    assert_int_equal(bk_route_batch(&strategy, &state, &rows, 3, buckets), BK_ERROR_STATE);
    assert_states_equal(&state, &before);
    assert_int_equal(bk_route_batch(&strategy, &state, &rows, 1, buckets), BK_OK);
    assert_true(buckets[0] == INT64_MAX - 1 && state.bucket == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_equals_row_by_row),
        cmocka_unit_test(test_batch_without_a_state_places_rows_of_stateless_kinds),
        cmocka_unit_test(test_batch_that_runs_out_of_buckets_leaves_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
