/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a time falls into the right window or calendar unit, with the right bounds, over the whole int64 line.
 * Method: a naive reference: windows by 128-bit floor division, and by walking window by window near the
 * epoch; months by counting days month by month from 1970; and Discord's published buckets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bucketing/route.h"

#include "../cassandra/vectors.h"
#include "draw.h"

#define DAY_NS  INT64_C(86400000000000)
#define HOUR_NS INT64_C(3600000000000)

__extension__ typedef __int128 wide;

struct unit {
    int64_t bucket;
    wide from, until; /* before they are clamped to int64 */
};

static void assert_unit(const struct bk_strategy *strategy, int64_t time_ns, struct unit wanted)
{
    struct bk_row row = {.time_ns = time_ns, .sequence = 3, .id = 5};
    struct bk_placement route;
    assert_int_equal(bk_route(strategy, NULL, &row, &route), BK_OK);
    int64_t from = wanted.from < INT64_MIN ? INT64_MIN : (int64_t)wanted.from;
    int64_t until = wanted.until > INT64_MAX ? INT64_MAX : (int64_t)wanted.until;
    if (route.bucket != wanted.bucket || route.from_ns != from || route.until_ns != until)
        fail_msg("at %" PRId64 ": %" PRId64 " in [%" PRId64 ", %" PRId64 "), not %" PRId64 " in [%" PRId64
                 ", %" PRId64 ")",
                 time_ns, route.bucket, route.from_ns, route.until_ns, wanted.bucket, from, until);
    assert_int_equal(route.scope, BK_SCOPE_RANGE);
    assert_true(route.sequence_low == 0 && route.sequence_high == UINT64_MAX);
}

static struct unit window_at(int64_t time_ns, int64_t window_ns, int64_t epoch_ns)
{
    wide distance = (wide)time_ns - epoch_ns;
    wide index = distance / window_ns - (distance % window_ns < 0);
    return (struct unit){(int64_t)index, epoch_ns + index * window_ns, epoch_ns + (index + 1) * window_ns};
}

static void test_window_anywhere_is_that_of_floor_division(void **state)
{
    (void)state;
    struct draw draw = {.state = 1};
    for (int i = 0; i < 200000; i++) {
        int64_t window_ns = (int64_t)(draw_size(&draw) >> 1), epoch_ns = draw_time(&draw);
        window_ns = window_ns < 1000 ? 1000 + window_ns : window_ns;
        if (i % 50 == 0)
            window_ns = i % 100 == 0 ? INT64_MAX : 1000;
        struct bk_strategy strategy;
        assert_int_equal(bk_strategy_time(window_ns, epoch_ns, &strategy), BK_OK);
        int64_t time_ns = draw_time(&draw);
        struct unit unit = window_at(time_ns, window_ns, epoch_ns);
        assert_unit(&strategy, time_ns, unit);
        /* The same at both edges, where the next window begins. */
        for (int side = 0; side < 4; side++) {
            wide at = (side < 2 ? unit.from : unit.until) - (side & 1);
            if (at >= INT64_MIN && at <= INT64_MAX)
                assert_unit(&strategy, (int64_t)at, window_at((int64_t)at, window_ns, epoch_ns));
        }
    }
}

static void test_window_ends_of_the_time_line_are_cut(void **state)
{
    (void)state;
    static const int64_t epochs[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    static const int64_t windows[] = {1000, 1001, DAY_NS, INT64_MAX - 1, INT64_MAX};
    for (size_t e = 0; e < sizeof epochs / sizeof *epochs; e++) {
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            struct bk_strategy strategy;
            assert_int_equal(bk_strategy_time(windows[w], epochs[e], &strategy), BK_OK);
            for (size_t t = 0; t < sizeof epochs / sizeof *epochs; t++)
                assert_unit(&strategy, epochs[t], window_at(epochs[t], windows[w], epochs[e]));
        }
    }
}

/* The rule without a division: the window that a walk from the epoch reaches. */
static void test_window_near_the_epoch_equals_counting_windows(void **state)
{
    (void)state;
    struct draw draw = {.state = 2};
    for (int i = 0; i < 3000; i++) {
        int64_t window_ns = 1000 + (int64_t)draw_below(&draw, 50),
                epoch_ns = (int64_t)draw_below(&draw, 9999);
        int64_t time_ns = epoch_ns + (int64_t)draw_below(&draw, 100000) - 50000;
        struct unit unit = {0, epoch_ns, epoch_ns + window_ns};
        for (; time_ns < unit.from; unit.bucket--) {
            unit.until = unit.from;
            unit.from -= window_ns;
        }
        for (; time_ns >= unit.until; unit.bucket++) {
            unit.from = unit.until;
            unit.until += window_ns;
        }
        struct bk_strategy strategy;
        assert_int_equal(bk_strategy_time(window_ns, epoch_ns, &strategy), BK_OK);
        assert_unit(&strategy, time_ns, unit);
    }
}

static void test_calendar_hours_days_weeks_are_utc(void **state)
{
    (void)state;
    struct bk_strategy hour, day, week;
    assert_int_equal(bk_strategy_calendar(BK_CALENDAR_HOUR, &hour), BK_OK);
    assert_int_equal(bk_strategy_calendar(BK_CALENDAR_DAY, &day), BK_OK);
    assert_int_equal(bk_strategy_calendar(BK_CALENDAR_WEEK, &week), BK_OK);
    struct draw draw = {.state = 3};
    for (int i = 0; i < 100000; i++) {
        int64_t time_ns = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : draw_time(&draw);
        assert_unit(&hour, time_ns, window_at(time_ns, HOUR_NS, 0));
        struct unit today = window_at(time_ns, DAY_NS, 0);
        assert_unit(&day, time_ns, today);
        /* Day 0 was a Thursday: weekday 0 is a Monday. */
        int64_t weekday = ((today.bucket + 3) % 7 + 7) % 7, monday = today.bucket - weekday;
        assert_unit(&week, time_ns,
                    (struct unit){(monday + 3) / 7, (wide)monday * DAY_NS, (wide)(monday + 7) * DAY_NS});
    }
    /* 1970-01-01 is in week 0, and so is the Monday before it, 1969-12-29; 1970-01-05 begins week 1. */
    assert_unit(&week, 0, (struct unit){0, -3 * DAY_NS, 4 * DAY_NS});
    assert_unit(&week, 4 * DAY_NS, (struct unit){1, 4 * DAY_NS, 11 * DAY_NS});
    /* 2026-01-01, a Thursday, is day 20454. */
    assert_unit(&week, 20454 * DAY_NS, (struct unit){2922, 20451 * DAY_NS, 20458 * DAY_NS});
}

static int month_days(int64_t year, int month_from_0)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month_from_0] + (month_from_0 == 1 && is_leap);
}

static void check_month(const struct bk_strategy *strategy, int64_t month, int64_t first_day,
                        int64_t next_day)
{
    struct unit unit = {month, (wide)first_day * DAY_NS, (wide)next_day * DAY_NS};
    wide at[] = {unit.from, unit.from + 1, (unit.from + unit.until) / 2, unit.until - DAY_NS, unit.until - 1,
                 INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        if (at[i] >= unit.from && at[i] < unit.until && at[i] >= INT64_MIN && at[i] <= INT64_MAX)
            assert_unit(strategy, (int64_t)at[i], unit);
    }
}

static void test_calendar_every_month_of_the_time_line_is_counted_out(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_calendar(BK_CALENDAR_MONTH, &strategy), BK_OK);
    /* The line extends from 1677-09-21 to 2262-04-11. */
    int64_t month = 0, day = 0;
    for (int64_t year = 1970; year <= 2262; year++) {
        for (int m = 0; m < 12 && day * (wide)DAY_NS <= INT64_MAX; m++, month++) {
            check_month(&strategy, month, day, day + month_days(year, m));
            day += month_days(year, m);
        }
    }
    assert_int_equal(month, 292 * 12 + 4);
    month = 0, day = 0;
    for (int64_t year = 1969; year >= 1677; year--) {
        for (int m = 11; m >= 0 && day * (wide)DAY_NS > INT64_MIN; m--) {
            month--;
            check_month(&strategy, month, day - month_days(year, m), day);
            day -= month_days(year, m);
        }
    }
    assert_int_equal(month, -292 * 12 - 4);
}

static void test_calendar_leap_days_end_february(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_calendar(BK_CALENDAR_MONTH, &strategy), BK_OK);
    /* The last day of February: day number, year, its length; from `date -u -d 2000-03-01 +%s`. */
    static const struct {
        int64_t march_first;
        int year, days;
    } leaps[] = {{-25508, 1900, 28}, {11017, 2000, 29}, {19783, 2024, 29}, {47541, 2100, 28}};
    for (size_t i = 0; i < sizeof leaps / sizeof *leaps; i++) {
        int64_t march = (leaps[i].year - 1970) * 12 + 2, day = leaps[i].march_first;
        assert_unit(&strategy, day * DAY_NS - 1,
                    (struct unit){march - 1, (day - leaps[i].days) * (wide)DAY_NS, day * (wide)DAY_NS});
        assert_unit(&strategy, day * DAY_NS,
                    (struct unit){march, day * (wide)DAY_NS, (day + 31) * (wide)DAY_NS});
    }
}

static void test_window_of_ten_days_gives_discords_buckets(void **state)
{
    (void)state;
    json_t *root = vectors_load(), *section = vectors_get(root, "discord_bucket"), *vector;
    json_t *vectors = vectors_get(section, "vectors");
    assert_int_equal(json_array_size(vectors), 6);
    int64_t window_ms = json_integer_value(vectors_get(section, "bucket_size_ms")), epoch_ms = 1420070400000;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_time(window_ms * 1000000, epoch_ms * 1000000, &strategy), BK_OK);
    size_t index;
    json_array_foreach(vectors, index, vector)
    {
        uint64_t id = strtoull(vectors_string(vector, "id"), NULL, 10);
        int64_t since_ms = vectors_int64(vectors_string(vector, "rel_ms"));
        assert_int_equal(id >> 22, since_ms);
        struct bk_row row = {.time_ns = (epoch_ms + since_ms) * 1000000};
        struct bk_placement route;
        /* The largest snowflakes are after 2262. */
        if (since_ms > INT64_MAX / 1000000 - epoch_ms)
            continue;
        assert_int_equal(bk_route(&strategy, NULL, &row, &route), BK_OK);
        assert_int_equal(route.bucket, json_integer_value(vectors_get(vector, "bucket")));
        assert_int_equal(route.from_ns, (epoch_ms + route.bucket * window_ms) * 1000000);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_anywhere_is_that_of_floor_division),
        cmocka_unit_test(test_window_ends_of_the_time_line_are_cut),
        cmocka_unit_test(test_window_near_the_epoch_equals_counting_windows),
        cmocka_unit_test(test_calendar_hours_days_weeks_are_utc),
        cmocka_unit_test(test_calendar_every_month_of_the_time_line_is_counted_out),
        cmocka_unit_test(test_calendar_leap_days_end_february),
        cmocka_unit_test(test_window_of_ten_days_gives_discords_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
