/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a strategy is made only from valid settings. Method: each constructor at the edges of its settings;
 * the check of a struct that was filled by hand must agree with the constructors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bucketing/strategy.h"

#include <string.h>

#include "draw.h"

static struct bk_strategy soiled(void)
{
    struct bk_strategy strategy;
    memset(&strategy, 0xa5, sizeof strategy);
    return strategy;
}

static void test_strategy_sound_settings_are_kept(void **state)
{
    (void)state;
    struct bk_strategy made = soiled();
    assert_int_equal(bk_strategy_unbucketed(&made), BK_OK);
    assert_int_equal(made.kind, BK_KIND_UNBUCKETED);

    assert_int_equal(bk_strategy_time(1000, INT64_MIN, &made), BK_OK);
    assert_int_equal(made.kind, BK_KIND_TIME);
    assert_int_equal(made.of.time.calendar, BK_CALENDAR_NONE);
    assert_int_equal(made.of.time.window_ns, 1000);
    assert_int_equal(made.of.time.epoch_ns, INT64_MIN);
    assert_int_equal(bk_strategy_time(INT64_MAX, INT64_MAX, &made), BK_OK);
    assert_int_equal(made.of.time.window_ns, INT64_MAX);

    for (int unit = BK_CALENDAR_HOUR; unit <= BK_CALENDAR_MONTH; unit++) {
        assert_int_equal(bk_strategy_calendar((enum bk_calendar)unit, &made), BK_OK);
        assert_int_equal(made.kind, BK_KIND_TIME);
        assert_int_equal(made.of.time.calendar, unit);
    }
    assert_int_equal(bk_strategy_count(UINT64_MAX, &made), BK_OK);
    assert_int_equal(made.kind, BK_KIND_COUNT);
    assert_true(made.of.count.rows == UINT64_MAX);
    assert_int_equal(bk_strategy_count(1, &made), BK_OK);

    for (uint32_t bits = 0; bits <= BK_BITS_MAX; bits++) {
        assert_int_equal(bk_strategy_probabilistic(bits, bits + 1, &made), BK_OK);
        assert_int_equal(made.kind, BK_KIND_PROBABILISTIC);
        assert_int_equal(made.of.probabilistic.bits, bits);
        assert_int_equal(made.of.probabilistic.chance_denominator, 0);
        assert_int_equal(made.of.probabilistic.threshold, bits + 1);
    }
    assert_int_equal(bk_strategy_probabilistic_chance(UINT64_MAX, UINT64_MAX, UINT64_MAX, &made), BK_OK);
    assert_int_equal(made.kind, BK_KIND_PROBABILISTIC);
    assert_true(made.of.probabilistic.chance_numerator == UINT64_MAX);
    assert_true(made.of.probabilistic.chance_denominator == UINT64_MAX);
    assert_true(made.of.probabilistic.threshold == UINT64_MAX);
    assert_int_equal(bk_strategy_probabilistic_chance(1, 300, 1, &made), BK_OK);

    assert_int_equal(bk_strategy_hash(1, &made), BK_OK);
    assert_int_equal(made.kind, BK_KIND_HASH);
    assert_int_equal(bk_strategy_hash(BK_BUCKETS_MAX, &made), BK_OK);
    assert_int_equal(made.of.hash.buckets, BK_BUCKETS_MAX);

    assert_int_equal(bk_strategy_weighted(512000, 40, &made), BK_OK);
    assert_int_equal(made.kind, BK_KIND_WEIGHTED);
    assert_true(made.of.weighted.bytes == 512000 && made.of.weighted.threshold == 40);
    assert_int_equal(bk_strategy_weighted(UINT64_MAX, UINT64_MAX, &made), BK_OK);
    assert_true(made.of.weighted.bytes == UINT64_MAX && made.of.weighted.threshold == UINT64_MAX);
}

static void test_strategy_thresholds_are_of_the_kinds_that_fire(void **state)
{
    (void)state;
    struct bk_strategy made;
    assert_int_equal(bk_strategy_weighted(512000, 40, &made), BK_OK);
    assert_true(bk_kind_fires(made.kind) && bk_threshold(&made) == 40);
    assert_int_equal(bk_strategy_probabilistic(9, 41, &made), BK_OK);
    assert_true(bk_kind_fires(made.kind) && bk_threshold(&made) == 41);
    assert_int_equal(bk_strategy_count(42, &made), BK_OK);
    assert_true(!bk_kind_fires(made.kind) && bk_threshold(&made) == 0);
    assert_true(bk_threshold(NULL) == 0);
}

static void test_strategy_filled_by_hand_is_checked_as_constructed(void **state)
{
    (void)state;
    struct bk_strategy made, filled;
    struct draw draw = {.state = 1};
    for (int i = 0; i < 20000; i++) {
        uint64_t a = draw_size(&draw), b = draw_size(&draw), c = draw_below(&draw, 3);
        memset(&filled, 0, sizeof filled);
        enum bk_status wanted;
        switch (i % 6) {
        case 0:
            filled.kind = BK_KIND_TIME;
            filled.of.time.window_ns = (int64_t)a;
            filled.of.time.epoch_ns = (int64_t)b;
            wanted = bk_strategy_time((int64_t)a, (int64_t)b, &made);
            break;
        case 1:
            filled.kind = BK_KIND_COUNT;
            filled.of.count.rows = c;
            wanted = bk_strategy_count(c, &made);
            break;
        case 2:
            filled.kind = BK_KIND_PROBABILISTIC;
            filled.of.probabilistic.bits = (uint32_t)(a % 64);
            filled.of.probabilistic.threshold = c;
            wanted = bk_strategy_probabilistic((uint32_t)(a % 64), c, &made);
            break;
        case 3:
            b += b == 0; /* without a denominator the bits apply */
            filled.kind = BK_KIND_PROBABILISTIC;
            filled.of.probabilistic.chance_numerator = a;
            filled.of.probabilistic.chance_denominator = b;
            filled.of.probabilistic.threshold = c;
            wanted = bk_strategy_probabilistic_chance(a, b, c, &made);
            break;
        case 4:
            filled.kind = BK_KIND_WEIGHTED;
            filled.of.weighted.bytes = b % 3;
            filled.of.weighted.threshold = c;
            wanted = bk_strategy_weighted(b % 3, c, &made);
            break;
        default:
            filled.kind = BK_KIND_HASH;
            filled.of.hash.buckets = (uint32_t)a;
            wanted = bk_strategy_hash((uint32_t)a, &made);
        }
        assert_int_equal(bk_strategy_check(&filled), wanted);
        if (wanted == BK_OK)
            assert_int_equal(bk_strategy_check(&made), BK_OK);
    }
    filled = (struct bk_strategy){.kind = BK_KIND_TIME, .of.time = {(enum bk_calendar)5, 1000, 0, 0}};
    assert_int_equal(bk_strategy_check(&filled), BK_ERROR_CALENDAR);
    filled = (struct bk_strategy){.kind = BK_KINDS};
    assert_int_equal(bk_strategy_check(&filled), BK_ERROR_KIND);
    filled.kind = (enum bk_kind)INT32_MAX;
    assert_int_equal(bk_strategy_check(&filled), BK_ERROR_KIND);
    memset(&filled, 0, sizeof filled);
    assert_int_equal(bk_strategy_check(&filled), BK_OK);
}

static void test_strategy_names_and_texts_are_total(void **state)
{
    (void)state;
    static const char *const names[] = {"unbucketed", "time", "count", "probabilistic", "hash", "weighted"};
    for (int kind = 0; kind < BK_KINDS; kind++)
        assert_string_equal(bk_kind_name((enum bk_kind)kind), names[kind]);
    assert_string_equal(bk_kind_name(BK_KINDS), "unknown");
    assert_string_equal(bk_kind_name((enum bk_kind)INT32_MAX), "unknown");
    for (int a = BK_OK; a <= BK_ERROR_SHARDS; a++) {
        const char *text = bk_status_text((enum bk_status)a);
        assert_string_not_equal(text, "unknown status");
        for (int b = 0; b < a; b++)
            assert_string_not_equal(text, bk_status_text((enum bk_status)b));
    }
    assert_string_equal(bk_status_text((enum bk_status)(BK_ERROR_SHARDS + 1)), "unknown status");
    assert_string_equal(bk_status_text((enum bk_status)INT32_MAX), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strategy_sound_settings_are_kept),
        cmocka_unit_test(test_strategy_thresholds_are_of_the_kinds_that_fire),
        cmocka_unit_test(test_strategy_filled_by_hand_is_checked_as_constructed),
        cmocka_unit_test(test_strategy_names_and_texts_are_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
