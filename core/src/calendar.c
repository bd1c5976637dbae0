/* SPDX-License-Identifier: MIT */
/* Finds the window or UTC calendar unit that contains a time. Days are computed by Howard Hinnant's
 * algorithms for the civil calendar. */
#include "calendar.h"

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

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Years begin in March here, so that the leap day is the last day of a year. Source: Hinnant,
 * chrono-Compatible Low-Level Date Algorithms, days_from_civil. */
int64_t bk_month_begin_days(int64_t month)
{
    int64_t from_march = month - 2;
    int64_t year = 1970 + floor_divide(from_march, 12);
    int64_t month_of_year = from_march - 12 * floor_divide(from_march, 12);
    int64_t era = floor_divide(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * month_of_year + 2) / 5;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static struct bk_window month_window(int64_t time_ns)
{
    int64_t days = floor_divide(time_ns, DAY_NS);
    /* A mean month lasts 30.436875 days, so the estimate is off by at most one. */
    int64_t month = floor_divide(days * 10000, 304369);
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
