/* SPDX-License-Identifier: MIT */
/* Windows and calendar units of UTC on the int64 nanosecond line: which one holds a time, and from when to
 * when. */
#ifndef BUCKETING_CALENDAR_H
#define BUCKETING_CALENDAR_H

#include <stdint.h>

#include "bucketing/strategy.h"

struct bk_window {
    int64_t index;
    int64_t from_ns;  /* inclusive, cut at INT64_MIN */
    int64_t until_ns; /* exclusive, cut at INT64_MAX */
};

/* strategy: a checked BK_TIME. */
struct bk_window bk_window_of(const struct bk_strategy *strategy, int64_t time_ns);
/* Days since 1970-01-01 of the first day of a month; months count from 1970-01. */
int64_t bk_month_begin_days(int64_t month);

#endif
